// Package moments collects what one pass over rows can tell a linear learner: the weighted
// first and second moments of features and targets. Ridge regression, principal components
// and everything else that follows from them needs no second look at the rows.
package moments

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// statsBlock is how many rows are gathered before they are multiplied. It is part of the
// result's bits: sums have the same order however the rows arrive.
const statsBlock = 1024

// atOnce is with how many targets features are multiplied at a time, which kernels take together.
const atOnce = 12

// narrowFrom is from how many features on the products of a block are summed in float32, in
// half the time. The error that this adds to an element of h is about 3·10⁻⁷ of it, a few
// times what the rounding of the features to float32 has done already.
const narrowFrom = 512

// Stats are the moments of weighted pairs (z, y), z of D features and y of K targets: all
// that ridge regression needs to know of the rows. They are collected in one pass, and
// merging two of them is addition. Rows without targets add to the moments of z alone.
//
// Products of features are summed around a fixed shift, the mean of the first block, so that
// nothing cancels where the mean is large. From D = 512 on, all sums are of differences z-shift
// in float32. Memory: 8·(D² + D·K) + 4096·D bytes, and 8192·D more for D < 512, beside some
// vectors.
type Stats struct {
	d, k int

	rows   int
	weight float64 // Σw

	// Of the rows with targets: how many have a weight above 0, and Σw.
	used     int
	labelled float64

	shiftZ, shiftY []float64 // nil before the first block, and the first row with targets
	centred        bool      // shiftZ is the mean, which float32 need not hold
	sumZ           []float64 // Σw(z-shift)
	sumL, sumY     []float64 // Σw(z-shift), Σw(y-shift) of rows with targets; sumL nil: all have
	h              []float64 // D×D, upper triangle: Σw(z-shift)(z-shift)ᵀ
	v              []float64 // D×K: Σw(z-shift)(y-shift)ᵀ, of rows with targets
	yy             []float64 // K: Σw(y-shift)²

	rough bool // products were summed in float32, if in more features than these

	// The block that is being gathered.
	held  int
	z     []float32 // statsBlock×D
	y     []float64 // statsBlock×(K+2): targets, the weight, and the weight of rows with targets or 0
	w     []float64 // statsBlock
	blank []bool    // statsBlock: the row has no targets

	wide     []float64 // statsBlock×D, if D is small: z-shift, which is multiplied
	narrow   []float32 // D, else: the shift, less which rows are gathered; nil if they are gathered as they are
	products []float64 // D×atOnce
}

// New returns the statistics of no rows, for d features and k targets.
func New(d, k int) *Stats {
	if d < 1 || k < 1 {
		panic(fmt.Sprintf("moments: New(%d, %d): both must be positive", d, k))
	}
	s := &Stats{
		d: d, k: k,
		sumZ: make([]float64, d), sumY: make([]float64, k),
		h: vec.FreshUpper64(d), v: make([]float64, d*k), yy: make([]float64, k),
	}
	return s
}

// gather makes the memory of the block, which statistics that only are merged do without.
func (s *Stats) gather() {
	s.z, s.y = make([]float32, statsBlock*s.d), make([]float64, statsBlock*(s.k+2))
	s.w, s.blank = make([]float64, statsBlock), make([]bool, statsBlock)
	s.products = make([]float64, s.d*atOnce)
	if s.d < narrowFrom {
		s.wide = make([]float64, statsBlock*s.d)
	}
}

// Dims are the numbers D of features and K of targets.
func (s *Stats) Dims() (d, k int) { return s.d, s.k }

// Rows is the number of rows added so far.
func (s *Stats) Rows() int { return s.rows + s.held }

// Add adds the rows of z with their targets y (row-major, z.Rows×K) and weights w (nil: all
// 1). The result does not depend on how rows are divided among calls.
func (s *Stats) Add(z *matrix.Dense, y []float64, w []float64) {
	if z.Cols != s.d || len(y) != z.Rows*s.k || w != nil && len(w) != z.Rows {
		panic(fmt.Sprintf("moments: Stats of %d features and %d targets given %d×%d features, %d targets, %d weights",
			s.d, s.k, z.Rows, z.Cols, len(y), len(w)))
	}
	for lo := 0; lo < z.Rows; {
		n := min(z.Rows-lo, s.room())
		vec.Parallel(n, gathered, func(from, to int) {
			for i := from; i < to; i++ {
				s.put(i, z.Row(lo+i))
			}
		})
		for i := range n {
			weight := 1.0
			if w != nil {
				weight = w[lo+i]
			}
			s.label(i, y[(lo+i)*s.k:(lo+i+1)*s.k], weight)
		}
		s.take(n)
		lo += n
	}
}

// AddSome is Add for the rows of z that are listed, by their numbers in z, y and w.
func (s *Stats) AddSome(rows []int, z *matrix.Dense, y, w []float64) {
	for len(rows) > 0 {
		n := min(len(rows), s.room())
		vec.Parallel(n, gathered, func(from, to int) {
			for i := from; i < to; i++ {
				s.put(i, z.Row(rows[i]))
			}
		})
		for i, r := range rows[:n] {
			weight := 1.0
			if w != nil {
				weight = w[r]
			}
			s.label(i, y[r*s.k:(r+1)*s.k], weight)
		}
		s.take(n)
		rows = rows[n:]
	}
}

// AddRow is Add for one row; y is nil for a row without targets, which counts for the mean
// and the products of features alone.
func (s *Stats) AddRow(z []float32, y []float64, w float64) {
	s.room()
	s.put(0, z)
	s.label(0, y, w)
	s.take(1)
}

// gathered is how many rows a goroutine takes at a time.
const gathered = 32

// room is how many rows fit into the block; there is always some.
func (s *Stats) room() int {
	if s.z == nil {
		s.gather()
	}
	return statsBlock - s.held
}

// put makes z the i-th row behind those that are gathered.
func (s *Stats) put(i int, z []float32) {
	row := s.z[(s.held+i)*s.d : (s.held+i+1)*s.d]
	copy(row, z)
	if s.narrow != nil {
		vec.Axpy32(-1, s.narrow, row)
	}
}

// label gives the i-th row behind those that are gathered its targets and weight.
func (s *Stats) label(i int, y []float64, w float64) {
	i += s.held
	copy(s.targets(i), y)
	s.w[i], s.blank[i] = w, y == nil
}

// targets are those of the i-th gathered row.
func (s *Stats) targets(i int) []float64 { return s.y[i*(s.k+2) : i*(s.k+2)+s.k] }

// take makes n more rows count as gathered.
func (s *Stats) take(n int) {
	if s.held += n; s.held == statsBlock {
		s.flush()
	}
}

// flush adds the gathered rows to the sums.
func (s *Stats) flush() {
	n := s.held
	if n == 0 {
		return
	}
	s.held = 0
	if s.shiftZ == nil {
		s.shiftZ = s.firstMean(n)
	}
	if s.centred {
		// Differences from a shift that float32 holds are rounded once.
		at := make([]float64, s.d)
		for j, v := range s.shiftZ {
			at[j] = float64(float32(v))
		}
		s.move(at, s.shiftY)
		s.centred = false
	}
	blank := false
	for i := range n {
		s.weight += s.w[i]
		blank = blank || s.blank[i]
	}
	if blank && s.sumL == nil {
		s.sumL = append([]float64(nil), s.sumZ...)
	}
	s.addTargets(n)
	s.subtract(n)
	s.addProducts(n)
	s.weigh(n)
	if s.wide != nil {
		vec.SyrkAdd(s.d, n, s.wide, s.d, s.h, s.d)
	} else {
		vec.SyrkAddWide(s.d, n, s.z, s.d, s.h, s.d)
	}
	s.rows += n
}

// addTargets adds the gathered targets and leaves w(y-shift) in their place, and the weights behind.
func (s *Stats) addTargets(n int) {
	if s.shiftY == nil {
		s.shiftY = s.firstTargets(n)
	}
	for i := range n {
		y, w := s.targets(i), s.w[i]
		weights := y[s.k : s.k+2]
		weights[0], weights[1] = w, w
		if s.blank[i] {
			clear(y)
			weights[1] = 0
			continue
		}
		s.labelled += w
		if w > 0 {
			s.used++
		}
		for t := range y {
			e := y[t] - s.shiftY[t]
			y[t] = w * e
			s.sumY[t] += y[t]
			s.yy[t] += float64(y[t] * e)
		}
	}
}

// subtract takes the shift from the gathered rows, where that was not done as they came.
func (s *Stats) subtract(n int) {
	each := func(row func(i int)) {
		vec.Parallel(n, gathered, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row(i)
			}
		})
	}
	if s.wide != nil {
		minus := make([]float64, s.d)
		for j, v := range s.shiftZ {
			minus[j] = -v
		}
		each(func(i int) {
			x := s.wide[i*s.d : (i+1)*s.d]
			copy(x, minus)
			vec.AxpyWide(1, s.z[i*s.d:(i+1)*s.d], x)
		})
		return
	}
	if s.narrow == nil {
		s.narrow = make([]float32, s.d)
		for j, v := range s.shiftZ {
			s.narrow[j] = float32(v)
		}
		each(func(i int) { vec.Axpy32(-1, s.narrow, s.z[i*s.d:(i+1)*s.d]) })
	}
}

// addProducts adds the products of the gathered rows with their targets to v. The sums of z are
// products with the weights.
func (s *Stats) addProducts(n int) {
	columns := s.k + 1
	if s.sumL != nil {
		columns++
	}
	for lo := 0; lo < columns; lo += atOnce {
		c := min(atOnce, columns-lo)
		clear(s.products)
		if s.wide != nil {
			vec.GemmAddTN(s.d, c, n, s.wide, s.d, s.y[lo:], s.k+2, s.products, c)
		} else {
			vec.GemmAddTNWide(s.d, c, n, s.z, s.d, s.y[lo:], s.k+2, s.products, c)
		}
		for j := range s.d {
			for t, p := range s.products[j*c : (j+1)*c] {
				switch t += lo; t {
				case s.k:
					s.sumZ[j] += p
				case s.k + 1:
					s.sumL[j] += p
				default:
					s.v[j*s.k+t] += p
				}
			}
		}
	}
}

// weigh multiplies the gathered rows by √w.
func (s *Stats) weigh(n int) {
	vec.Parallel(n, gathered, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if s.w[i] == 1 {
				continue
			}
			root := math.Sqrt(s.w[i])
			if s.wide != nil {
				x := s.wide[i*s.d : (i+1)*s.d]
				for j := range x {
					x[j] *= root
				}
				continue
			}
			z := s.z[i*s.d : (i+1)*s.d]
			for j, v := range z {
				z[j] = float32(root * float64(v))
			}
		}
	})
}

// firstMean is the plain mean of the n gathered rows, rounded to float32.
func (s *Stats) firstMean(n int) []float64 {
	m := make([]float64, s.d)
	for i := range n {
		vec.AxpyWide(1, s.z[i*s.d:(i+1)*s.d], m)
	}
	for j := range m {
		m[j] = float64(float32(m[j] / float64(n)))
	}
	return m
}

// firstTargets is the plain mean of the gathered targets, nil if there are none.
func (s *Stats) firstTargets(n int) []float64 {
	m, count := make([]float64, s.k), 0
	for i := range n {
		if s.blank[i] {
			continue
		}
		count++
		for t, y := range s.targets(i) {
			m[t] += y
		}
	}
	if count == 0 {
		return nil
	}
	for t := range m {
		m[t] /= float64(count)
	}
	return m
}

// move changes the shifts to z and y, y nil if no row has targets. With e = z - shift and
// sum' = sum - We,
//
//	Σw(z-shift-e)(z-shift-e)ᵀ = H - sum·eᵀ - e·sum'ᵀ,
//
// and V likewise with the sums of rows with targets.
func (s *Stats) move(z, y []float64) {
	ez, ey := make([]float64, s.d), make([]float64, s.k)
	newZ, newY := make([]float64, s.d), make([]float64, s.k)
	sumL := s.sumL
	if sumL == nil {
		sumL = s.sumZ
	}
	for j := range ez {
		ez[j] = z[j] - s.shiftZ[j]
		newZ[j] = s.sumZ[j] - float64(s.weight*ez[j])
	}
	for t := range y {
		ey[t] = y[t] - s.shiftY[t]
		newY[t] = s.sumY[t] - float64(s.labelled*ey[t])
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vec.Axpy64(-s.sumZ[i], ez[i:], s.h[i*s.d+i:(i+1)*s.d])
			vec.Axpy64(-ez[i], newZ[i:], s.h[i*s.d+i:(i+1)*s.d])
			for t := range y {
				s.v[i*s.k+t] -= float64(sumL[i]*ey[t]) + float64(ez[i]*newY[t])
			}
		}
	})
	for t := range y {
		s.yy[t] -= float64(s.sumY[t]*ey[t]) + float64(ey[t]*newY[t])
	}
	for j := range s.sumL {
		s.sumL[j] -= float64(s.labelled * ez[j])
	}
	s.shiftZ, s.sumZ, s.sumY = z, newZ, newY
	if y != nil {
		s.shiftY = y
	}
}

// center moves the shifts to the means, so that h, v and yy are the centred moments.
func (s *Stats) center() {
	s.flush()
	if s.centred || s.weight == 0 {
		return
	}
	z, y := make([]float64, s.d), []float64(nil)
	for j, v := range s.sumZ {
		z[j] = s.shiftZ[j] + v/s.weight
	}
	if s.labelled > 0 {
		y = make([]float64, s.k)
		for t, v := range s.sumY {
			y[t] = s.shiftY[t] + v/s.labelled
		}
	}
	s.move(z, y)
	s.narrow = nil
	// What rounding left of the sums is as far from the mean as float64 can tell.
	clear(s.sumZ)
	clear(s.sumY)
	s.centred = true
}

// Moments are the centred moments of rows, as views of the statistics they come from.
type Moments struct {
	D, K int

	Rows   int
	Weight float64 // Σw

	MeanZ []float64 // D: z̄
	H     []float64 // D×D, upper triangle: Σw(z-z̄)(z-z̄)ᵀ

	// Of the rows with targets, which usually are all: their number without those of weight
	// 0, Σw, the means of z and y, and the products around them.
	Used     int
	Labelled float64
	MeanL    []float64 // D
	MeanY    []float64 // K: ȳ
	V        []float64 // D×K: Σw(z-z̄)(y-ȳ)ᵀ
	YY       []float64 // K: Σw(y-ȳ)²

	// Noise is how far elements of H may be off by rounding, in parts of √(H_ii·H_jj).
	Noise float64
}

// Moments are the moments of all rows so far. They share the memory of s and are valid until
// rows are added to it or it is merged into.
func (s *Stats) Moments() *Moments {
	s.center()
	m := &Moments{
		D: s.d, K: s.k, Rows: s.rows, Weight: s.weight, MeanZ: s.shiftZ, H: s.h,
		Used: s.used, Labelled: s.labelled, MeanL: s.shiftZ, MeanY: s.shiftY, V: s.v, YY: s.yy,
		Noise: 0x1p-50,
	}
	if s.d >= narrowFrom || s.rough {
		m.Noise = 4e-7
	}
	if m.MeanZ == nil {
		m.MeanZ = make([]float64, s.d)
		m.MeanL = m.MeanZ
	}
	if m.MeanY == nil {
		m.MeanY = make([]float64, s.k)
	}
	if s.sumL != nil && s.labelled > 0 {
		m.MeanL = make([]float64, s.d)
		for j, v := range s.sumL {
			m.MeanL[j] = m.MeanZ[j] + v/s.labelled
		}
	}
	return m
}

// Merge adds the rows of o, which has the same sizes and is left as it is but for being
// centred, by the formulas of Chan, Golub and LeVeque (1979): centred moments add up, plus
// the outer product of the difference of the means. But for rounding it does not matter in
// which order and in which groups statistics are merged.
func (s *Stats) Merge(o *Stats) {
	if s.d != o.d || s.k != o.k {
		panic(fmt.Sprintf("moments: Merge of %d×%d into %d×%d", o.d, o.k, s.d, s.k))
	}
	a, b := s.Moments(), o.Moments()
	if b.Rows == 0 {
		return
	}
	all, labelled := chan1979(a.Weight, b.Weight), chan1979(a.Labelled, b.Labelled)
	dz, dl, dy := difference(b.MeanZ, a.MeanZ), difference(b.MeanL, a.MeanL), difference(b.MeanY, a.MeanY)
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := s.h[i*s.d+i : (i+1)*s.d]
			vec.Axpy64(1, o.h[i*s.d+i:(i+1)*s.d], row)
			vec.Axpy64(all.product*dz[i], dz[i:], row)
			for t := range dy {
				s.v[i*s.k+t] += o.v[i*s.k+t] + float64(labelled.product*dl[i]*dy[t])
			}
		}
	})
	meanZ, meanL, meanY := make([]float64, s.d), make([]float64, s.d), make([]float64, s.k)
	for j := range dz {
		meanZ[j] = a.MeanZ[j] + float64(all.share*dz[j])
		meanL[j] = a.MeanL[j] + float64(labelled.share*dl[j])
	}
	for t := range dy {
		s.yy[t] += o.yy[t] + float64(labelled.product*dy[t]*dy[t])
		meanY[t] = a.MeanY[t] + float64(labelled.share*dy[t])
	}
	s.rows += o.rows
	s.rough = s.rough || o.rough
	s.weight += o.weight
	s.used += o.used
	s.labelled += o.labelled
	if s.sumL != nil || o.sumL != nil {
		s.sumL = make([]float64, s.d)
		for j := range s.sumL {
			s.sumL[j] = float64(s.labelled * (meanL[j] - meanZ[j]))
		}
	}
	s.shiftZ, s.centred = meanZ, true
	if s.labelled > 0 {
		s.shiftY = meanY
	}
}

// weights are what two parts weigh in a whole: the second's share, and the factor
// ab/(a+b) of the product of differences between their means.
type weights struct{ share, product float64 }

func chan1979(a, b float64) weights {
	if b == 0 {
		return weights{}
	}
	return weights{share: b / (a + b), product: a * (b / (a + b))}
}

// difference is x - y.
func difference(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = v - y[i]
	}
	return d
}
