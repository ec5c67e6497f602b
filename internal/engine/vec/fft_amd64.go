//go:build amd64 && !purego

package vec

import "math/bits"

// cachedFFT is how many numbers a pass processes at a time: they fit the L1 cache. Larger
// nodes are split one by one.
const cachedFFT = 8192

// callFFT is how many numbers one call takes: assembly cannot be preempted, and this
// takes less than 100 µs even if each page is touched for the first time.
const callFFT = 1 << 15

// fftLanes is the lanes of the kernels for n numbers; a kernel takes at least lanes² of them.
func fftLanes(n int) int {
	switch {
	case level == avx512 && n >= 16*16:
		return 16
	case level >= avx2 && n >= 8*8:
		return 8
	}
	return 1
}

// prepare chooses the passes and arranges the twiddles of the last levels.
func (f *FFT) prepare() {
	if f.lanes == 1 {
		return
	}
	f.splits, f.joins = f.passes(false), f.passes(true)
	f.leaf = make([]float32, 0, 8*f.n/f.lanes)
	for group := range f.n / (f.lanes * f.lanes) {
		f.appendLeaf(group)
	}
}

// passes cuts the levels down to nodes of lanes complex numbers into passes, the fewest that the
// registers allow. But 16 streams at distances of a multiple of 4 KB do not fit
// the 12 ways of an L1 cache, and half as many are faster, unless both x and the result
// need room.
func (f *FFT) passes(inPlace bool) []int {
	var steps []int
	size, levels := f.n, bits.TrailingZeros(uint(f.n/(2*f.lanes)))
	for levels > 0 {
		e := 2
		switch {
		case f.lanes == 8:
			e = min(levels, 2)
		case inPlace && size >= 16*1024:
		case levels == 3 || levels > 4:
			e = 3
		}
		steps = append(steps, e)
		size, levels, inPlace = size>>e, levels-e, true
	}
	return steps
}

// appendLeaf appends the twiddles of a group's last levels as the kernels read them; gen defines
// which register and lane has which node.
func (f *FFT) appendLeaf(group int) {
	v := bits.TrailingZeros(uint(f.lanes))
	half := f.lanes / 2
	for stage := 1; stage <= v; stage++ {
		bit, flag := 1<<(v-2), 1
		switch {
		case stage == 1:
			flag = 0
		case stage < v:
			bit, flag = 1<<(v-1-stage), 1<<(v-stage)
		}
		period := f.lanes
		if f.lanes == 16 {
			period = 1 << stage
		}
		for i := range half {
			if i&(bit|flag) != 0 {
				continue
			}
			at := len(f.leaf)
			f.leaf = append(f.leaf, make([]float32, 2*period)...)
			for lane := range period {
				c, t := nodeTwiddle(f.leafNode(group, stage, i, lane))
				f.leaf[at+lane], f.leaf[at+period+lane] = c, t
			}
		}
	}
}

// leafNode is the node that a lane of the register i holds at a stage.
func (f *FFT) leafNode(group, stage, i, lane int) int {
	v := bits.TrailingZeros(uint(f.lanes))
	first := group * f.lanes / 2
	if stage == v {
		return (2*first+lane)<<(v-2) | i&(1<<(v-2)-1)
	}
	if f.lanes == 8 {
		// The bits of the lane number that identify nodes, highest first: 2, then 0.
		lane = []int{0, lane >> 2, lane>>2<<1 | lane&1}[stage]
	}
	rest := v - 1 - stage
	return (first+lane<<rest|i&(1<<rest-1))<<(stage-1) + i>>(rest+1)
}

// forward computes the spectrum of x, in dst or to multiply dst, by way of work, which is dst
// or other memory.
func (f *FFT) forward(dst, work, x []float32, times bool) {
	if f.lanes == 1 {
		f.forwardGo(dst, work, x, times)
		return
	}
	f.down(dst, work, x, 0, f.splits, times)
}

// down splits a node into the leaves.
func (f *FFT) down(dst, work, src []float32, node int, steps []int, times bool) {
	if len(src) > cachedFFT {
		f.split(work, src, node, 1, steps[0])
		size := len(src) >> steps[0]
		for j := range 1 << steps[0] {
			child := work[j*size : (j+1)*size]
			f.down(dst[j*size:(j+1)*size], child, child, node<<steps[0]+j, steps[1:], times)
		}
		return
	}
	nodes := 1
	for _, e := range steps {
		f.split(work, src, node, nodes, e)
		src = work
		node, nodes = node<<e, nodes<<e
	}
	f.finish(dst, work, node/(f.lanes/2), times)
}

// split splits nodes by e levels, to dst.
func (f *FFT) split(dst, src []float32, node, nodes, e int) {
	size := len(src) / nodes
	m := size >> (e + 1)
	if nodes == 1 && size > callFFT {
		step := callFFT >> (e + 1)
		for j := 0; j < m; j += step {
			f.splitCall(dst[j:], src[j:], m, step/f.lanes, node, 1, e)
		}
		return
	}
	f.splitCall(dst, src, m, m/f.lanes, node, nodes, e)
}

func (f *FFT) splitCall(dst, src []float32, m, columns, node, nodes, e int) {
	if node == 0 {
		switch {
		case f.lanes == 16 && e == 3:
			splitReal8x32_avx512(&dst[0], &src[0], m, columns, &f.w[0])
		case f.lanes == 16:
			splitReal4x32_avx512(&dst[0], &src[0], m, columns, &f.w[0])
		case e == 2:
			splitReal4x32_avx2(&dst[0], &src[0], m, columns, &f.w[0])
		default:
			splitReal2x32_avx2(&dst[0], &src[0], m, columns, &f.w[0])
		}
		if nodes == 1 {
			return
		}
		node, nodes = 1, nodes-1
		dst, src = dst[m<<(e+1):], src[m<<(e+1):]
	}
	switch {
	case f.lanes == 16 && e == 3:
		split8x32_avx512(&dst[0], &src[0], m, columns, &f.w[0], node, nodes)
	case f.lanes == 16:
		split4x32_avx512(&dst[0], &src[0], m, columns, &f.w[0], node, nodes)
	case e == 2:
		split4x32_avx2(&dst[0], &src[0], m, columns, &f.w[0], node, nodes)
	default:
		split2x32_avx2(&dst[0], &src[0], m, columns, &f.w[0], node, nodes)
	}
}

// finish does the last levels of the groups from group on.
func (f *FFT) finish(dst, src []float32, group int, times bool) {
	size := f.lanes * f.lanes
	w := f.leaf[group*(len(f.leaf)*size/f.n):]
	if group == 0 {
		switch {
		case f.lanes == 16 && times:
			leafFirstTimes32_avx512(&dst[0], &src[0], &w[0])
		case f.lanes == 16:
			leafFirst32_avx512(&dst[0], &src[0], &w[0])
		case times:
			leafFirstTimes32_avx2(&dst[0], &src[0], &w[0])
		default:
			leafFirst32_avx2(&dst[0], &src[0], &w[0])
		}
		if len(src) == size {
			return
		}
		w = w[len(f.leaf)*size/f.n:]
		dst, src = dst[size:], src[size:]
	}
	groups := len(src) / size
	switch {
	case f.lanes == 16 && times:
		leafTimes32_avx512(&dst[0], &src[0], &w[0], groups)
	case f.lanes == 16:
		leaf32_avx512(&dst[0], &src[0], &w[0], groups)
	case times:
		leafTimes32_avx2(&dst[0], &src[0], &w[0], groups)
	default:
		leaf32_avx2(&dst[0], &src[0], &w[0], groups)
	}
}

// inverse computes x from its spectrum: a, or a·b if b is not nil.
func (f *FFT) inverse(dst, a, b []float32) {
	if f.lanes == 1 {
		f.inverseGo(dst, a, b)
		return
	}
	f.up(dst, a, b, 0, f.joins)
}

// up joins the leaves into a node.
func (f *FFT) up(dst, a, b []float32, node int, steps []int) {
	if len(dst) > cachedFFT {
		size := len(dst) >> steps[0]
		for j := range 1 << steps[0] {
			lo, hi := j*size, (j+1)*size
			f.up(dst[lo:hi], a[lo:hi], part(b, lo, hi), node<<steps[0]+j, steps[1:])
		}
		f.join(dst, node, 1, steps[0])
		return
	}
	nodes := 1
	for _, e := range steps {
		node, nodes = node<<e, nodes<<e
	}
	f.begin(dst, a, b, node/(f.lanes/2))
	for i := len(steps) - 1; i >= 0; i-- {
		node, nodes = node>>steps[i], nodes>>steps[i]
		f.join(dst, node, nodes, steps[i])
	}
}

// part is z[lo:hi] of a slice that may be nil.
func part(z []float32, lo, hi int) []float32 {
	if z == nil {
		return nil
	}
	return z[lo:hi]
}

// begin does the first levels of the groups from group on.
func (f *FFT) begin(dst, a, b []float32, group int) {
	size := f.lanes * f.lanes
	scale := 2 / float32(f.n)
	w := f.leaf[group*(len(f.leaf)*size/f.n):]
	if group == 0 {
		switch {
		case f.lanes == 16 && b != nil:
			seedFirstTimes32_avx512(&dst[0], &a[0], &b[0], &w[0], scale)
		case f.lanes == 16:
			seedFirst32_avx512(&dst[0], &a[0], &w[0], scale)
		case b != nil:
			seedFirstTimes32_avx2(&dst[0], &a[0], &b[0], &w[0], scale)
		default:
			seedFirst32_avx2(&dst[0], &a[0], &w[0], scale)
		}
		if len(a) == size {
			return
		}
		w = w[len(f.leaf)*size/f.n:]
		dst, a, b = dst[size:], a[size:], part(b, size, len(a))
	}
	groups := len(a) / size
	switch {
	case f.lanes == 16 && b != nil:
		seedTimes32_avx512(&dst[0], &a[0], &b[0], &w[0], groups, scale)
	case f.lanes == 16:
		seed32_avx512(&dst[0], &a[0], &w[0], groups, scale)
	case b != nil:
		seedTimes32_avx2(&dst[0], &a[0], &b[0], &w[0], groups, scale)
	default:
		seed32_avx2(&dst[0], &a[0], &w[0], groups, scale)
	}
}

// join joins nodes by e levels.
func (f *FFT) join(dst []float32, node, nodes, e int) {
	size := len(dst) / nodes
	m := size >> (e + 1)
	if nodes == 1 && size > callFFT {
		step := callFFT >> (e + 1)
		for j := 0; j < m; j += step {
			f.joinCall(dst[j:], m, step/f.lanes, node, 1, e)
		}
		return
	}
	f.joinCall(dst, m, m/f.lanes, node, nodes, e)
}

func (f *FFT) joinCall(dst []float32, m, columns, node, nodes, e int) {
	if node == 0 {
		switch {
		case f.lanes == 16 && e == 3:
			joinReal8x32_avx512(&dst[0], &dst[0], m, columns, &f.w[0])
		case f.lanes == 16:
			joinReal4x32_avx512(&dst[0], &dst[0], m, columns, &f.w[0])
		case e == 2:
			joinReal4x32_avx2(&dst[0], &dst[0], m, columns, &f.w[0])
		default:
			joinReal2x32_avx2(&dst[0], &dst[0], m, columns, &f.w[0])
		}
		if nodes == 1 {
			return
		}
		node, nodes = 1, nodes-1
		dst = dst[m<<(e+1):]
	}
	switch {
	case f.lanes == 16 && e == 3:
		join8x32_avx512(&dst[0], &dst[0], m, columns, &f.w[0], node, nodes)
	case f.lanes == 16:
		join4x32_avx512(&dst[0], &dst[0], m, columns, &f.w[0], node, nodes)
	case e == 2:
		join4x32_avx2(&dst[0], &dst[0], m, columns, &f.w[0], node, nodes)
	default:
		join2x32_avx2(&dst[0], &dst[0], m, columns, &f.w[0], node, nodes)
	}
}

// mul multiplies spectra.
func (f *FFT) mul(dst, a, b []float32) {
	if f.lanes == 1 {
		mulGo(dst, a, b)
		return
	}
	re, im := mulReal(a[0], a[f.lanes], b[0], b[f.lanes])
	for j := 0; j < f.n; j += callFFT {
		pairs := min(callFFT, f.n-j) / (2 * f.lanes)
		if f.lanes == 16 {
			product32_avx512(&dst[j], &a[j], &b[j], pairs)
		} else {
			product32_avx2(&dst[j], &a[j], &b[j], pairs)
		}
	}
	dst[0], dst[f.lanes] = re, im
}
