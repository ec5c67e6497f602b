package feature

import (
	"fmt"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// structured is a map whose frequencies are the rows of stacked square blocks of order n,
// a power of two at or above d; a block is a product of diagonals, permutations and
// Hadamard matrices. Transforming a row takes O(m log d) operations for m frequencies, dense
// or sparse (a sparse row is made dense), and the map holds 16 bytes for each of them, rounded
// up to whole blocks.
type structured struct {
	waves
	dim, n int
	stacks []stack
	free   freelist.List[workspace]
}

// stack is a few blocks that are processed together, for the frequencies [lo, hi). The last
// block may have more rows than needed.
type stack struct {
	lo, hi, size int
	blocks
}

// blocks are what a stack multiplies by.
type blocks interface {
	// scratch is how many numbers of work memory multiply takes.
	scratch() int

	// multiply writes the products with rows of src of width numbers, dst_r = V·src_r.
	multiply(rows, width int, src []float32, lds int, dst []float32, ldd int, work []float32)
}

// workspace is the memory of a goroutine, allocated when first needed.
type workspace struct {
	rows []float32 // sparse rows, written out
	last []float32 // products that do not go to the output: only some of a block are needed, or all are streamed
	work []float32 // for the product
}

const (
	// tileRows is how many rows are done together: the diagonals are read once for all.
	tileRows = 16
	// tileColumns is about how many of their projections: these stay in the cache until
	// they are features.
	tileColumns = 2048
	// mostOrder is the largest order of a block.
	mostOrder = 1 << 20
)

// order is the power of two at or above dim and least.
func order(dim, least int) int {
	n := 1
	for n < min(max(dim, least), mostOrder) {
		n *= 2
	}
	return n
}

// newStructured makes a map of blocks of order n, for m frequencies with the law l. What draw returns makes size/n
// blocks, the first of which is block number first.
func newStructured(cfg Config, dim, n int, draw func(l law, m int) func(first, size int) (blocks, error)) (Map, error) {
	if dim > mostOrder {
		return nil, fmt.Errorf("feature: %s: rows of %d dimensions; it has at most %d: use map rff", cfg.Map, dim, mostOrder)
	}
	waves := newWaves(cfg)
	if err := affordable(cfg, dim, 16*(float64(waves.m)+float64(n))); err != nil {
		return nil, err
	}
	waves.drawPhases(cfg.Seed)
	f := &structured{waves: waves, dim: dim, n: n}
	step := max(n, tileColumns)
	whole := f.m / n * n
	for lo := 0; lo < whole; lo += step {
		hi := min(lo+step, whole)
		f.stacks = append(f.stacks, stack{lo: lo, hi: hi, size: hi - lo})
	}
	if whole < f.m {
		f.stacks = append(f.stacks, stack{lo: whole, hi: f.m, size: n})
	}
	of := draw(newLaw(cfg.Kernel), f.m)
	errs := make([]error, len(f.stacks))
	vec.Parallel(len(f.stacks), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p := &f.stacks[i]
			p.blocks, errs[i] = of(p.lo/n, p.size)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *structured) Dims() (in, out int) { return f.dim, f.features }

// Bytes counts the factors and phases.
func (f *structured) Bytes() int64 {
	return 16*int64((f.m+f.n-1)/f.n*f.n) + 4*int64(len(f.phases))
}

// Transform writes the projections where the sines or the features will be, and turns each
// stack of them into features as soon as it is computed.
func (f *structured) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.dim, f.features, dst, x)
	if n := x.Len(); n > few {
		vec.Parallel(n, f.tile(), func(lo, hi int) { f.rows(dst, x, lo, hi) })
	} else if n > 0 {
		f.rows(dst, x, 0, n)
	}
}

// tile is how many rows are processed together: fewer if they are long.
func (f *structured) tile() int { return max(4, min(tileRows, 1<<16/f.n)) }

// rows transforms rows [lo, hi) of x.
func (f *structured) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	s := f.take()
	stream := f.streams(dst)
	if need := f.tile() * f.stacks[0].size; stream && len(s.last) < need {
		s.last = make([]float32, need)
	}
	for step := f.tile(); lo < hi; lo += step {
		rows := min(step, hi-lo)
		src, lds := f.source(s, x, lo, rows)
		for i := range f.stacks {
			p := &f.stacks[i]
			z := dst.Data[lo*dst.Stride+f.at()+p.lo:]
			if p.hi-p.lo == p.size && !stream {
				p.multiply(rows, f.dim, src, lds, z, dst.Stride, s.work)
				f.finish(dst, lo, p.lo, rows, p.hi-p.lo)
				continue
			}
			p.multiply(rows, f.dim, src, lds, s.last, p.size, s.work)
			if stream {
				f.stream(dst, lo, p.lo, rows, p.hi-p.lo, s.last, p.size)
				continue
			}
			for r := range rows {
				copy(z[r*dst.Stride:][:p.hi-p.lo], s.last[r*p.size:])
			}
			f.finish(dst, lo, p.lo, rows, p.hi-p.lo)
		}
	}
	if stream {
		vec.Streamed()
	}
	f.free.Put(s)
}

// source is the rows from lo on, dense.
func (f *structured) source(s *workspace, x matrix.Rows, lo, rows int) (src []float32, stride int) {
	if x.CSR == nil {
		return x.Dense.Data[lo*x.Dense.Stride:], x.Dense.Stride
	}
	if s.rows == nil {
		s.rows = make([]float32, f.tile()*f.dim)
	}
	src = s.rows[:rows*f.dim]
	clear(src)
	for r := range rows {
		idx, val := x.CSR.Row(lo + r)
		row := src[r*f.dim : (r+1)*f.dim]
		for t, i := range idx {
			row[i] = val[t]
		}
	}
	return src, f.dim
}

func (f *structured) take() *workspace {
	s := f.free.Get()
	if s.work == nil {
		s.work = make([]float32, f.stacks[0].scratch())
		if f.m%f.n != 0 {
			s.last = make([]float32, f.tile()*f.n)
		}
	}
	return s
}
