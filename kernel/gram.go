package kernel

import (
	"fmt"
	"math"

	"mercer/internal/vec"
	"mercer/matrix"
)

// Gram is the matrix of K_ij = k(x_i, y_j). It holds O(n + d) numbers, not K, whose rows
// are computed when asked for. Any number of goroutines may use it, as long as nothing
// changes x and y.
//
// The rbf kernel's ‖x-y‖² is taken from ‖x‖² + ‖y‖² - 2x·y, with dense rows moved to the
// mean of y first, so that data far from 0 lose no digits.
type Gram struct {
	kernel Kernel
	x, y   matrix.Rows
	same   bool

	// For rbf: the mean of y where both are dense, and ‖·‖² of every moved row.
	mean         []float64
	xNorm, yNorm []float64
}

// NewGram prepares the Gram matrix of the rows of x and y, each dense or sparse. For that of
// x with itself, pass x twice; the diagonal of rbf and laplacian is then exactly 1. It
// fails if the kernel is not valid or the rows differ in dimension.
func NewGram(k Kernel, x, y matrix.Rows) (*Gram, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if x.Dim() != y.Dim() {
		return nil, fmt.Errorf("kernel: rows of %d and of %d dimensions do not go together", x.Dim(), y.Dim())
	}
	g := &Gram{kernel: k, x: x, y: y, same: x == y}
	if k.Name != "rbf" {
		return g, nil
	}
	if x.Dense != nil && y.Dense != nil {
		g.mean = mean(y.Dense)
	}
	g.yNorm = g.norms(y)
	g.xNorm = g.yNorm
	if !g.same {
		g.xNorm = g.norms(x)
	}
	return g, nil
}

func mean(m *matrix.Dense) []float64 {
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

// norms returns the squared length of every row after its move.
func (g *Gram) norms(rows matrix.Rows) []float64 {
	norm := make([]float64, rows.Len())
	vec.Parallel(len(norm), 64, func(lo, hi int) {
		row := make([]float64, rows.Dim())
		for i := lo; i < hi; i++ {
			if rows.CSR != nil {
				_, val := rows.CSR.Row(i)
				for _, v := range val {
					norm[i] += float64(v) * float64(v)
				}
				continue
			}
			g.expand(rows, i, row)
			for _, v := range row {
				norm[i] += v * v
			}
		}
	})
	return norm
}

// expand writes row i of rows into dst, in float64, moved.
func (g *Gram) expand(rows matrix.Rows, i int, dst []float64) {
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
	for j, m := range g.mean {
		dst[j] -= m
	}
}

// Dims returns the numbers of rows and columns, those of x and of y.
func (g *Gram) Dims() (rows, cols int) { return g.x.Len(), g.y.Len() }

// Rows writes rows [i, j) of the matrix into dst, which has (j-i)·cols elements, row by row.
// It runs on all threads and holds about 4 MB a thread, or two rows in float64 if they are
// longer.
func (g *Gram) Rows(i, j int, dst []float64) {
	rows, cols := g.Dims()
	if i < 0 || j < i || j > rows {
		panic(fmt.Sprintf("kernel: rows [%d, %d) of %d", i, j, rows))
	}
	if len(dst) != (j-i)*cols {
		panic(fmt.Sprintf("kernel: %d elements for %d rows of %d", len(dst), j-i, cols))
	}
	height := g.height()
	vec.Parallel(j-i, height, func(lo, hi int) {
		xs := make([]float64, height*g.x.Dim())
		var ys []float64
		if g.y.Dense != nil {
			ys = make([]float64, height*g.y.Dim())
		}
		for a := lo; a < hi; a += height {
			b := min(a+height, hi)
			g.block(i+a, i+b, dst[a*cols:b*cols], xs, ys)
		}
	})
}

// height is the number of rows that are expanded to float64 at a time: 2 MB of them.
func (g *Gram) height() int {
	return min(max(1<<18/max(g.x.Dim(), 1), 1), 256)
}

// block writes rows [i, j) of the matrix. xs and ys have room for height expanded rows.
func (g *Gram) block(i, j int, dst, xs, ys []float64) {
	d, cols := g.x.Dim(), g.y.Len()
	for r := i; r < j; r++ {
		g.expand(g.x, r, xs[(r-i)*d:][:d])
	}
	height := g.height()
	for lo := 0; lo < cols; lo += height {
		hi := min(lo+height, cols)
		l1 := g.kernel.Name == "laplacian"
		if g.y.Dense != nil && !l1 {
			for c := lo; c < hi; c++ {
				g.expand(g.y, c, ys[(c-lo)*d:][:d])
			}
			vec.GemmNT(j-i, hi-lo, d, xs, d, ys, d, dst[lo:], cols)
		} else {
			for r := range j - i {
				out := dst[r*cols:][lo:hi]
				switch x := xs[r*d:][:d]; {
				case g.y.Dense != nil:
					for c := range out {
						out[c] = distance1(x, g.y.Dense.Row(lo+c))
					}
				case l1:
					g.sparseDistances1(out, x, lo)
				default:
					g.sparseDots(out, x, lo)
				}
			}
		}
		for r := i; r < j; r++ {
			g.values(r, lo, dst[(r-i)*cols:][lo:hi])
		}
	}
	if g.same && g.kernel.Name != "linear" && g.kernel.Name != "poly" {
		for r := i; r < j; r++ {
			dst[(r-i)*cols+r] = 1
		}
	}
}

// values turns row r's dot products with (or distances to) y's rows from lo on into kernel
// values.
func (g *Gram) values(r, lo int, s []float64) {
	switch g.kernel.Name {
	case "linear":
		return
	case "rbf":
		for c, dot := range s {
			s[c] = max(0, g.xNorm[r]+g.yNorm[lo+c]-2*dot)
		}
	}
	if g.kernel.Name == "poly" {
		for c := range s {
			s[c] = g.kernel.of(s[c])
		}
		return
	}
	for c := range s {
		s[c] *= -g.kernel.Gamma
	}
	vec.Exp64(s, s)
}

// distance1 is ‖x-y‖₁, in four sums so that they do not wait for each other.
func distance1(x []float64, y []float32) float64 {
	x = x[:len(y)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(y); i += 4 {
		a += math.Abs(x[i] - float64(y[i]))
		b += math.Abs(x[i+1] - float64(y[i+1]))
		c += math.Abs(x[i+2] - float64(y[i+2]))
		d += math.Abs(x[i+3] - float64(y[i+3]))
	}
	for ; i < len(y); i++ {
		a += math.Abs(x[i] - float64(y[i]))
	}
	return (a + b) + (c + d)
}

// sparseDots writes x·y_c for the sparse rows of y from lo on.
func (g *Gram) sparseDots(out, x []float64, lo int) {
	for c := range out {
		idx, val := g.y.CSR.Row(lo + c)
		sum := 0.0
		for k, j := range idx {
			sum += x[j] * float64(val[k])
		}
		out[c] = sum
	}
}

// sparseDistances1 writes ‖x-y_c‖₁ for the sparse rows of y from lo on: ‖x‖₁, corrected
// where y_c is not 0.
func (g *Gram) sparseDistances1(out, x []float64, lo int) {
	norm := 0.0
	for _, v := range x {
		norm += math.Abs(v)
	}
	for c := range out {
		idx, val := g.y.CSR.Row(lo + c)
		sum := norm
		for k, j := range idx {
			sum += math.Abs(x[j]-float64(val[k])) - math.Abs(x[j])
		}
		out[c] = max(0, sum)
	}
}
