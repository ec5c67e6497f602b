package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// entries is the distribution of the independent elements of a random projection's matrix, of
// mean 0 and variance 1.
//
//	normal  N(0, 1)
//	sparse  √s·{+1 with probability 1/(2s), 0, -1 with probability 1/(2s)} (Achlioptas,
//	        "Database-friendly random projections", 2001, for s = 1 and 3; Li, Hastie and
//	        Church, "Very sparse random projections", 2006, for √d)
//
// A projection's variance depends on them only through their fourth moment, 3 or s.
type entries struct {
	sparse bool
	s      float64
}

// mostSparsity bounds s.
const mostSparsity = 1 << 30

// projectionEntries reads the entries of a configuration. Sparse ones have s = 3 by default.
func projectionEntries(cfg Config) (entries, error) {
	e := entries{s: cfg.Sparsity}
	switch {
	case cfg.Entries == "sparse", cfg.Entries == "" && cfg.Sparsity != 0:
		e.sparse = true
	case cfg.Entries == "", cfg.Entries == "normal":
		if cfg.Sparsity != 0 {
			return e, fmt.Errorf("feature: %s: normal entries have no sparsity; use entries sparse", cfg.Map)
		}
		return e, nil
	default:
		return e, fmt.Errorf("feature: %s: %q are not entries; known are normal, sparse", cfg.Map, cfg.Entries)
	}
	if e.s == 0 {
		e.s = 3
	}
	if !(e.s >= 1 && e.s <= mostSparsity) {
		return e, fmt.Errorf("feature: %s: sparsity is %g; it must be from 1 to %d", cfg.Map, e.s, mostSparsity)
	}
	return e, nil
}

// scale is the factor by which drawn numbers have to be multiplied for variance 1.
func (e entries) scale() float64 {
	if e.sparse {
		return math.Sqrt(e.s)
	}
	return 1
}

// drawer returns the function that draws the next entry without the scale: a normal number,
// or -1, 0 or 1.
func (e entries) drawer() func(*random.Stream) float64 {
	if !e.sparse {
		return (*random.Stream).Normal
	}
	limit := uint64(0x1p63 / e.s) // how many of 2⁶³ numbers are nonzero
	return func(r *random.Stream) float64 {
		switch u := r.Uint64(); {
		case u>>1 >= limit:
			return 0
		case u&1 == 0:
			return 1
		}
		return -1
	}
}

// projection is a random matrix R, d×m, that rows are multiplied with. Column j depends on
// the seed, the name and j alone, so a wider matrix begins with the columns of a narrower
// one.
//
// A matrix that is dense, or not very sparse, takes 4dm bytes and products of 2dm operations
// a row. A very sparse one is kept as the lists of its entries, by columns and by rows, in
// 8dm/s bytes: a row takes dm/s sums and differences and m multiplications, a sparse row
// nnz·m/s.
type projection struct {
	d, m  int
	shift []float32 // added to every product, for a constant coordinate of all rows; or nil

	packed *vec.Packed[float32]

	columns, rows signs            // instead of packed
	table         *vec.SparseSigns // the columns
	scale         float32
}

// signs are lists of the entries +1 and -1 of a matrix: those of line j are
// idx[ptr[2j]:ptr[2j+1]] and idx[ptr[2j+1]:ptr[2j+2]].
type signs struct {
	ptr []int
	idx []int32
}

func (s *signs) line(j int) (plus, minus []int32) {
	p := s.ptr[2*j:][:3]
	return s.idx[p[0]:p[1]], s.idx[p[1]:p[2]]
}

// listed reports whether R is worth keeping as lists. A product costs about a hundredth
// of a nanosecond per element of R, or a twentieth per element in lists, plus the
// transposition of the rows. The order of sums depends on this choice, so it depends on nothing
// but R and must not change: a map is the same everywhere.
func (e entries) listed(d, m int) bool {
	return e.sparse && e.s >= 8 && float64(d)*float64(m) >= 256*(float64(d)+float64(m))
}

// bytes is what a projection holds.
func (e entries) bytes(d, m int) float64 {
	if e.listed(d, m) {
		return 8*float64(d)*float64(m)/e.s + 16*(float64(d)+float64(m))
	}
	return 4 * float64(d) * float64(m)
}

// newProjection draws R with entries of the given standard deviation. If last is not 0, rows
// have one more coordinate of value 1, whose entries have the standard deviation last.
// Columns have the streams of name and index.
func newProjection(e entries, d, m int, deviation, last float64, seed uint64, name string, index ...uint64) *projection {
	p := &projection{d: d, m: m}
	deviation *= e.scale()
	last *= e.scale()
	if last != 0 {
		p.shift = make([]float32, m)
	}
	stream := func(j int) *random.Stream {
		return random.New(seed, name, append(index[:len(index):len(index)], uint64(j))...)
	}
	draw := e.drawer()
	if e.listed(d, m) {
		p.scale = float32(deviation)
		p.drawLists(draw, stream, last)
		return p
	}
	w := matrix.NewDense(d, m)
	const group = 16 // columns of one cache line
	vec.Parallel(m, group, func(lo, hi int) {
		for ; lo < hi; lo += group {
			var streams [group]*random.Stream
			n := min(group, hi-lo)
			for c := range n {
				streams[c] = stream(lo + c)
			}
			for i := range d {
				row := w.Row(i)[lo:][:n]
				for c := range row {
					row[c] = float32(deviation * draw(streams[c]))
				}
			}
			for c := range n {
				if last != 0 {
					p.shift[lo+c] = float32(last * draw(streams[c]))
				}
			}
		}
	})
	p.packed = vec.Pack32(d, m, w.Data, w.Stride)
	return p
}

// representable fails if γ or c are too large or too small for float32.
func representable(cfg Config) error {
	for _, v := range []float64{math.Sqrt(cfg.Kernel.Gamma), math.Sqrt(cfg.Kernel.Coef0)} {
		if v != 0 && !(v > 1e-18 && v < 1e18) {
			return fmt.Errorf("feature: %s: gamma %g or coef0 %g is out of the range of float32; scale the data", cfg.Map,
				cfg.Kernel.Gamma, cfg.Kernel.Coef0)
		}
	}
	return nil
}

// drawLists draws the lists of columns and turns them into those of rows.
func (p *projection) drawLists(draw func(*random.Stream) float64, stream func(int) *random.Stream, last float64) {
	lists := make([][2][]int32, p.m)
	vec.Parallel(p.m, 16, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			r := stream(j)
			for i := range p.d {
				switch v := draw(r); {
				case v > 0:
					lists[j][0] = append(lists[j][0], int32(i))
				case v < 0:
					lists[j][1] = append(lists[j][1], int32(i))
				}
			}
			if last != 0 {
				p.shift[j] = float32(last * draw(r))
			}
		}
	})
	count := 0
	p.rows.ptr = make([]int, 2*p.d+1)
	p.columns.ptr = append(make([]int, 0, 2*p.m+1), 0)
	for _, l := range lists {
		for sign, list := range l {
			count += len(list)
			p.columns.ptr = append(p.columns.ptr, count)
			for _, i := range list {
				p.rows.ptr[2*int(i)+sign+1]++
			}
		}
	}
	for i := range 2 * p.d {
		p.rows.ptr[i+1] += p.rows.ptr[i]
	}
	p.columns.idx, p.rows.idx = make([]int32, 0, count), make([]int32, count)
	next := append([]int(nil), p.rows.ptr...)
	for j, l := range lists {
		for sign, list := range l {
			p.columns.idx = append(p.columns.idx, list...)
			for _, i := range list {
				p.rows.idx[next[2*int(i)+sign]] = int32(j)
				next[2*int(i)+sign]++
			}
		}
	}
	p.table = vec.NewSparseSigns(p.d, p.columns.ptr, p.columns.idx)
}

// bytes is what p holds.
func (p *projection) bytes() int64 {
	if p.packed != nil {
		return 4 * (int64(p.d)*int64(p.m) + int64(len(p.shift)))
	}
	return 4*int64(len(p.columns.idx)+len(p.rows.idx)+len(p.shift)) + 8*int64(len(p.columns.ptr)+len(p.rows.ptr))
}

// tile is how many rows are multiplied together: a multiple of the heights of all
// micro-kernels.
const tile = 252

// sideColumns is how many columns are computed before they are transposed.
const sideColumns = 128

// work is how many numbers of work memory multiply needs for the given number of rows at a time.
func (p *projection) work(rows int) int {
	if p.packed != nil || rows <= few {
		return 0
	}
	return (p.d + sideColumns) * vec.SignLanes
}

// multiply writes the products of rows [lo, hi) of x, at most tile unless the matrix is packed,
// into the rows of dst. It uses the caller's goroutine, and others only if they are idle. work
// has p.work(hi-lo) numbers.
func (p *projection) multiply(dst []float32, stride int, x matrix.Rows, lo, hi int, work []float32) {
	n := hi - lo
	switch {
	case n == 0:
		return
	case p.packed != nil:
		if x.CSR != nil {
			p.packed.MultiplySparse(x.CSR.Ptr[lo:hi+1], x.CSR.Idx, x.CSR.Val, dst, stride, nil)
		} else {
			p.packed.Multiply(n, x.Dense.Data[lo*x.Dense.Stride:], x.Dense.Stride, dst, stride, nil)
		}
		if p.shift != nil {
			for r := range n {
				vec.Axpy32(1, p.shift, dst[r*stride:][:p.m])
			}
		}
		return
	case x.CSR != nil:
		for r := range n {
			idx, val := x.CSR.Row(lo + r)
			p.sparse(dst[r*stride:][:p.m], idx, val)
		}
		return
	case n <= few:
		for r := range n {
			p.single(dst[r*stride:][:p.m], x.Dense.Row(lo+r))
		}
		return
	}
	for ; lo < hi; lo += vec.SignLanes {
		rows := min(vec.SignLanes, hi-lo)
		xt, zt := work[:p.d*vec.SignLanes], work[p.d*vec.SignLanes:][:sideColumns*vec.SignLanes]
		p.interleave(xt, x.Dense, lo, rows)
		for j := 0; j < p.m; j += sideColumns {
			m := min(sideColumns, p.m-j)
			p.side(zt, sideColumns, j, m, xt)
			for r := 0; r < rows; r += vec.Lanes {
				vec.Deinterleave32(min(vec.Lanes, rows-r), m, dst[r*stride+j:], stride, zt[r*sideColumns:], vec.Lanes)
			}
		}
		dst = dst[min(len(dst), rows*stride):]
	}
}

// finish turns the sums of signed elements for columns from j on into products.
func (p *projection) finish(z []float32, j int) {
	if p.shift == nil {
		for c, v := range z {
			z[c] = p.scale * v
		}
		return
	}
	for c, v := range p.shift[j:][:len(z)] {
		z[c] = float32(p.scale*z[c]) + v
	}
}

// sparse multiplies a sparse row with signs.
func (p *projection) sparse(z []float32, idx []int32, val []float32) {
	clear(z)
	for t, i := range idx {
		v := val[t]
		plus, minus := p.rows.line(int(i))
		for _, j := range plus {
			z[j] += v
		}
		for _, j := range minus {
			z[j] -= v
		}
	}
	p.finish(z, 0)
}

// single multiplies one dense row.
func (p *projection) single(z, x []float32) {
	for j := range z {
		plus, minus := p.columns.line(j)
		var sum float32
		for _, i := range plus {
			sum += x[i]
		}
		for _, i := range minus {
			sum -= x[i]
		}
		z[j] = sum
	}
	p.finish(z, 0)
}

// interleave puts up to vec.SignLanes dense rows side by side, padding with
// copies of the last row.
func (p *projection) interleave(xt []float32, x *matrix.Dense, lo, rows int) {
	for i := 0; i < vec.SignLanes; i += vec.Lanes {
		r := min(i, rows-1)
		vec.Interleave32(min(vec.Lanes, rows-r), p.d, xt[i:], vec.SignLanes, x.Data[(lo+r)*x.Stride:], x.Stride)
	}
}

// side multiplies rows side by side with columns [j, j+n): it does to all of them, by vector
// instructions and in the same order, what single does to one row. For each vec.Lanes rows, the
// products with a column are adjacent, followed by those with the next column; those of the next rows
// are m·vec.Lanes numbers further on.
func (p *projection) side(zt []float32, m, j, n int, xt []float32) {
	shift := p.shift
	if shift != nil {
		shift = shift[j:]
	}
	p.table.Multiply(j, n, zt, vec.Lanes, m*vec.Lanes, xt, p.scale, shift)
}
