package kernel

import (
	"fmt"
	"sync"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Gram computes the matrix K_ij = k(x_i, y_j), or the squared distances of x_i and y_j in the kernel's
// feature space, by blocks of rows. It holds O(n + d) numbers and never the matrix. Any number of
// goroutines may use it, as long as nothing changes x and y.
//
// Dot products are computed as matrix products, and so is ‖x-y‖² = ‖x‖² + ‖y‖² - 2x·y of rbf and matern.
// Dense rows are centred on the mean of y first. Where terms still cancel, the value is computed again
// from the two rows. So near rows and data far from 0 lose no digits: a value is within about
// 10⁻¹³·√(k(x, x)k(y, y)) of [Kernel.Eval], and the relative error of a distance is about 10⁻¹². Such
// pairs cost d operations each, which is slow if nearly all pairs are of this sort, as with sparse rows
// far from 0. laplacian, cauchy and all kernels of histograms except hellinger take d operations a value
// for dense y, and as many as y_j has elements for sparse y.
type Gram struct {
	engine engine
	unit   bool // k(x, x) is 1
	x, y   matrix.Rows
	same   bool

	value    frame
	distance func() frame
}

// engine computes blocks of kernel values. It turns dot products of rows, or sums over the dimensions,
// into values and distances.
type engine interface {
	// sums are the sums that values (or distances) are computed from; nil means dot products.
	sums(distances bool) *sums

	// numbers is applied to every element of the rows before dot products; nil leaves them as they are.
	numbers() func(float64) float64

	// moves says whether rows are to be centred before dot products.
	moves() bool

	// frame prepares what values (or distances) need of all rows.
	frame(g *Gram, distances bool) frame

	// values turns the dot products (or sums) of row r and the rows of y from lo on into kernel values,
	// distances2 into squared distances.
	values(b *block, r, lo int, s []float64)
	distances2(b *block, r, lo int, s []float64)

	// against turns the dot products (or sums) of a row and the fixed rows into kernel values. norm is
	// the squared length of the row.
	against(a *Against, norm float64, s []float64)
}

// frame is the frame of reference of dot products: the mean that is subtracted from all rows, nil for
// none, and for each row its ‖·‖² after that, or another number that the engine needs.
type frame struct {
	mean         []float64
	xNorm, yNorm []float64
	yMost        float64 // the largest of yNorm
}

// NewGram prepares the Gram matrix of the rows of x and y, each dense or sparse. For the Gram matrix of
// x alone, pass x twice: then the diagonal is exactly 1 for kernels with k(x, x) = 1. It fails if the
// kernel is not valid, if x and y differ in dimension, or if they have values outside the kernel's domain
// ([Kernel.CheckRows]).
func NewGram(k Kernel, x, y matrix.Rows) (*Gram, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if x.Dim() != y.Dim() {
		return nil, fmt.Errorf("kernel: rows of %d and of %d dimensions do not go together", x.Dim(), y.Dim())
	}
	if err := k.CheckRows(x); err != nil {
		return nil, err
	}
	if x != y {
		if err := k.CheckRows(y); err != nil {
			return nil, err
		}
	}
	family := k.Kind().family
	g := &Gram{engine: family.engine(k), unit: family.unit(), x: x, y: y, same: x == y}
	g.value = g.engine.frame(g, false)
	g.distance = sync.OnceValue(func() frame { return g.engine.frame(g, true) })
	return g, nil
}

// lengths is the frame with the squared lengths of rows. If move is set, dense rows are centred on the
// mean of y.
func (g *Gram) lengths(move bool) frame {
	var mean []float64
	if move && g.x.Dense != nil && g.y.Dense != nil {
		mean = meanOf(g.y.Dense)
	}
	f := g.selves(func(x matrix.Rows) []float64 { return norms(x, mean) })
	f.mean = mean
	for _, v := range f.yNorm {
		f.yMost = max(f.yMost, v)
	}
	return f
}

// selves is the frame with a number for each row.
func (g *Gram) selves(of func(x matrix.Rows) []float64) frame {
	f := frame{yNorm: of(g.y)}
	f.xNorm = f.yNorm
	if !g.same {
		f.xNorm = of(g.x)
	}
	return f
}

func meanOf(m *matrix.Dense) []float64 {
	sum := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			sum[j] += float64(v)
		}
	}
	for j := range sum {
		sum[j] /= float64(max(m.Rows, 1))
	}
	return sum
}

// norms returns the squared length of every row less mean.
func norms(rows matrix.Rows, mean []float64) []float64 {
	norm := make([]float64, rows.Len())
	vec.Parallel(len(norm), 64, func(lo, hi int) {
		row := make([]float64, len(mean))
		for i := lo; i < hi; i++ {
			sum := 0.0
			switch {
			case mean != nil:
				expand(rows, i, row, mean)
				for _, v := range row {
					sum += v * v
				}
			case rows.CSR != nil:
				_, val := rows.CSR.Row(i)
				sum = product(val, val)
			default:
				row := rows.Dense.Row(i)
				sum = product(row, row)
			}
			norm[i] = sum
		}
	})
	return norm
}

// expand writes row i of rows into dst, in float64; mean is subtracted from dense rows.
func expand(rows matrix.Rows, i int, dst, mean []float64) {
	if rows.CSR != nil {
		clear(dst)
		idx, val := rows.CSR.Row(i)
		for k, j := range idx {
			dst[j] = float64(val[k])
		}
		return
	}
	for j, v := range rows.Dense.Row(i) {
		dst[j] = float64(v)
	}
	for j, m := range mean {
		dst[j] -= m
	}
}

// Dims returns the numbers of rows and columns of the matrix: the rows of x and of y.
func (g *Gram) Dims() (rows, cols int) { return g.x.Len(), g.y.Len() }

// Rows writes rows [i, j) of the matrix into dst, which has (j-i)·cols elements, row by row. It runs on
// all threads. Each holds about 4 MB, or two rows in float64 if these are longer; 64 rows for kernels that
// take d operations a value.
func (g *Gram) Rows(i, j int, dst []float64) { g.rows(i, j, dst, g.value, false) }

// Distances2 writes rows [i, j) of the matrix of [Kernel.Distance2] into dst, as Rows does.
// All are ≥ 0, and 0 for equal rows.
func (g *Gram) Distances2(i, j int, dst []float64) { g.rows(i, j, dst, g.distance(), true) }

func (g *Gram) rows(i, j int, dst []float64, f frame, distances bool) {
	rows, cols := g.Dims()
	if i < 0 || j < i || j > rows {
		panic(fmt.Sprintf("kernel: rows [%d, %d) of %d", i, j, rows))
	}
	if len(dst) != (j-i)*cols {
		panic(fmt.Sprintf("kernel: %d elements for %d rows of %d", len(dst), j-i, cols))
	}
	sums := g.engine.sums(distances)
	width, least := g.x.Dim(), 1
	if sums != nil {
		width, least = sums.of.Width(g.x.Dim()), 32 // sums with fewer rows of y take as long
	}
	height := min(max(1<<18/max(width, 1), least), 256) // 2 MB of rows
	vec.Parallel(j-i, height, func(lo, hi int) {
		b := &block{Gram: g, frame: f, distances: distances, sums: sums, width: width, height: height, xs: make([]float64, height*width)}
		switch {
		case sums != nil && g.y.Dense != nil:
			b.pairs = vec.NewPairs(sums.of, g.x.Dim(), min(height, cols))
			b.ys = make([]float64, width)
		case sums == nil && g.y.Dense != nil:
			b.ys = make([]float64, height*width)
		}
		for r := lo; r < hi; r += height {
			end := min(r+height, hi)
			b.fill(i+r, i+end, dst[r*cols:end*cols])
		}
	})
}

// block is the work memory of one goroutine.
type block struct {
	*Gram
	frame
	distances     bool
	sums          *sums      // nil for dot products
	pairs         *vec.Pairs // for sums: height rows of y, if it is dense
	yNumbers      []float64  // for sums: the numbers of as many rows, if y is sparse
	width, height int
	xs, ys        []float64 // height expanded rows each; with sums, ys has room for one
	pair          pair
}

// expand writes row i of rows into dst, in the form that the engine works on.
func (b *block) expand(rows matrix.Rows, i int, dst []float64) {
	if b.sums != nil {
		b.sums.expand(rows, i, dst)
		return
	}
	expand(rows, i, dst, b.mean)
	if of := b.engine.numbers(); of != nil {
		for j, v := range dst {
			dst[j] = of(v)
		}
	}
}

// expandY expands rows [lo, hi) of y.
func (b *block) expandY(lo, hi int) {
	b.yNumbers = b.yNumbers[:0]
	of := b.engine.numbers()
	for c := lo; c < hi; c++ {
		switch {
		case b.sums != nil && b.y.Dense != nil:
			b.expand(b.y, c, b.ys)
			b.pairs.Set(c-lo, b.ys)
		case b.y.Dense != nil:
			b.expand(b.y, c, b.ys[(c-lo)*b.width:][:b.width])
		case b.sums != nil:
			_, val := b.y.CSR.Row(c)
			for _, v := range val {
				numbers := b.sums.numbers(float64(v))
				b.yNumbers = append(b.yNumbers, numbers[:b.sums.of.Arrays()]...)
			}
		case of != nil:
			_, val := b.y.CSR.Row(c)
			for _, v := range val {
				b.yNumbers = append(b.yNumbers, of(float64(v)))
			}
		}
	}
}

// fill writes rows [i, j) of the matrix.
func (b *block) fill(i, j int, dst []float64) {
	d, cols := b.width, b.y.Len()
	for r := i; r < j; r++ {
		b.expand(b.x, r, b.xs[(r-i)*d:][:d])
	}
	for lo := 0; lo < cols; lo += b.height {
		hi := min(lo+b.height, cols)
		b.expandY(lo, hi)
		if b.y.Dense != nil && b.sums != nil {
			b.pairs.Rows(j-i, hi-lo, b.xs, dst[lo:], cols)
		} else if b.y.Dense != nil {
			vec.GemmNT(j-i, hi-lo, d, b.xs, d, b.ys, d, dst[lo:], cols)
		}
		for r := i; r < j; r++ {
			out := dst[(r-i)*cols:][lo:hi]
			x := b.xs[(r-i)*d:][:d]
			switch {
			case b.y.CSR != nil && b.sums != nil:
				b.sparseSums(out, x, r, lo)
			case b.y.CSR != nil:
				b.sparseDots(out, x, lo)
			}
			if b.distances {
				b.engine.distances2(b, r, lo, out)
			} else {
				b.engine.values(b, r, lo, out)
			}
		}
	}
	if !b.same || !b.distances && !b.unit {
		return
	}
	diagonal := 1.0
	if b.distances {
		diagonal = 0
	}
	for r := i; r < j; r++ {
		dst[(r-i)*cols+r] = diagonal
	}
}

// nearRows is the share of ‖x‖² + ‖y‖² below which ‖x-y‖² is computed from the rows themselves. Computed
// from norms and products it has lost three digits there.
const nearRows = 1e-3

// squares turns dot products into ‖x-y‖², those of near rows exactly if asked for.
func (b *block) squares(r, lo int, s []float64, exactly bool) {
	xx := b.xNorm[r]
	yNorm := b.yNorm[lo:][:len(s)]
	for c, xy := range s {
		s[c] = max(0, xx+yNorm[c]-2*xy)
	}
	if !exactly {
		return
	}
	for c, v := range s {
		if v < nearRows*(xx+yNorm[c]) {
			s[c] = squared(b.rowsOf(r, lo+c))
		}
	}
}

// rowsOf returns row r of x and row c of y, element beside element.
func (b *block) rowsOf(r, c int) (x, y []float32) { return b.pair.of(b.x, r, b.y, c) }

// sparseDots writes the dot products of x and the sparse rows of y from lo on. If the engine maps their
// elements, these are in b.yNumbers.
func (b *block) sparseDots(out, x []float64, lo int) {
	if b.engine.numbers() != nil {
		numbers := b.yNumbers
		for c := range out {
			idx, _ := b.y.CSR.Row(lo + c)
			sum := 0.0
			for k, j := range idx {
				sum += x[j] * numbers[k]
			}
			out[c], numbers = sum, numbers[len(idx):]
		}
		return
	}
	for c := range out {
		idx, val := b.y.CSR.Row(lo + c)
		sum := 0.0
		for k, j := range idx {
			sum += x[j] * float64(val[k])
		}
		out[c] = sum
	}
}
