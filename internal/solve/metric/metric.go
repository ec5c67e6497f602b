// Package metric learns which distances matter. A first kernel machine shows along which directions
// the answer changes, by the average outer product of its gradients, and from then on that product
// defines the distances:
//
//	‖x - y‖² becomes (x - y)ᵀM(x - y),  M ∝ (1/n) Σ_i Σ_l ∇f_l(x_i) ∇f_l(x_i)ᵀ
//
// over the rows x_i and the outputs f_l. This is the recursive feature machine of Radhakrishnan,
// Beaglehole, Pandit and Belkin ("Mechanism for feature learning in neural networks and
// backpropagation-free machine learning models", Science 2024). As M = AᵀA, an unchanged kernel
// on rows u = Ax has these distances: every feature map and every machine works with them as it is.
package metric

import (
	"context"
	"errors"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Metric turns rows x into u = Ax, whose distances are those of M = AᵀA. It never changes and is safe
// for concurrent use.
type Metric struct {
	// Weights is the diagonal of a diagonal A, nil if there are Axes.
	Weights []float32

	// Axes is Aᵀ, d×r.
	Axes *matrix.Dense
}

// Dims is the number of dimensions of x and of u.
func (m *Metric) Dims() (in, out int) {
	if m.Axes != nil {
		return m.Axes.Rows, m.Axes.Cols
	}
	return len(m.Weights), len(m.Weights)
}

// Work is the memory that Apply writes to; the zero value is ready to use.
type Work struct {
	wide, dense matrix.Dense
	csr         matrix.CSR
}

// Apply returns u for the rows x. The result lives in w; x is not changed. Sparse rows stay sparse with weights,
// and become dense with axes.
func (m *Metric) Apply(x matrix.Rows, w *Work) matrix.Rows {
	if in, _ := m.Dims(); x.Dim() != in {
		panic(fmt.Sprintf("metric: rows of %d dimensions, but the metric is for %d", x.Dim(), in))
	}
	switch {
	case m.Axes != nil:
		rows := x.Dense
		if x.CSR != nil {
			x.CSR.Densify(&w.wide)
			rows = &w.wide
		}
		d, r := m.Axes.Rows, m.Axes.Cols
		w.dense.Reshape(rows.Rows, r)
		vec.Gemm32(rows.Rows, r, d, rows.Data, rows.Stride, m.Axes.Data, m.Axes.Stride, w.dense.Data, w.dense.Stride)
		return matrix.Rows{Dense: &w.dense}
	case x.CSR != nil:
		from, to := x.CSR.Ptr[0], x.CSR.Ptr[x.CSR.Rows]
		out := &w.csr
		out.Rows, out.Cols, out.Idx = x.CSR.Rows, x.CSR.Cols, x.CSR.Idx[from:to]
		out.Ptr = out.Ptr[:0]
		for _, p := range x.CSR.Ptr[:x.CSR.Rows+1] {
			out.Ptr = append(out.Ptr, p-from)
		}
		out.Val = append(out.Val[:0], x.CSR.Val[from:to]...)
		for k, j := range out.Idx {
			out.Val[k] *= m.Weights[j]
		}
		return matrix.Rows{CSR: out}
	}
	w.dense.Reshape(x.Dense.Rows, x.Dense.Cols)
	for i := range x.Dense.Rows {
		row := w.dense.Row(i)
		for j, v := range x.Dense.Row(i) {
			row[j] = v * m.Weights[j]
		}
	}
	return matrix.Rows{Dense: &w.dense}
}

// Relevance is the diagonal of M: how much distances along each dimension count.
func (m *Metric) Relevance() []float64 {
	in, _ := m.Dims()
	diagonal := make([]float64, in)
	for j, w := range m.Weights {
		diagonal[j] = float64(w) * float64(w)
	}
	if m.Axes != nil {
		for j := range in {
			for _, a := range m.Axes.Row(j) {
				diagonal[j] += float64(a) * float64(a)
			}
		}
	}
	return diagonal
}

// Check says whether m is a metric of dim dimensions.
func (m *Metric) Check(dim int) error {
	if (m.Weights == nil) == (m.Axes == nil) {
		return errors.New("a metric has either weights or axes")
	}
	in, out := m.Dims()
	if in != dim || out < 1 {
		return fmt.Errorf("a metric from %d to %d dimensions for rows of %d", in, out, dim)
	}
	finite := func(values []float32) error {
		for _, v := range values {
			if v-v != 0 {
				return fmt.Errorf("a metric that holds %g", v)
			}
		}
		return nil
	}
	if m.Axes == nil {
		return finite(m.Weights)
	}
	for i := range m.Axes.Rows {
		if err := finite(m.Axes.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// diagonalOf is the metric for G = diag(g), divided by its mean; dimensions that do not count get no weight. g is
// overwritten. It is nil if g is 0.
func diagonalOf(g []float64, shape Shape) *Metric {
	shape.of(g)
	mean := 0.0
	for _, v := range g {
		mean += v
	}
	if mean /= float64(len(g)); !(mean > 0) || math.IsInf(mean, 0) {
		return nil
	}
	m := &Metric{Weights: make([]float32, len(g))}
	for j, v := range g {
		m.Weights[j] = float32(math.Sqrt(v / mean))
	}
	return m
}

// axesOf is the metric for the average outer product G, divided by its mean diagonal, for G d×d, of which the upper triangle is read
// and everything is overwritten. It keeps the rank largest eigenvectors, 0 meaning all, except those whose
// eigenvalue is below that of rounding. It is nil if G is 0, or if the context ended.
func axesOf(ctx context.Context, g []float64, d, rank int, shape Shape) *Metric {
	trace := 0.0
	for j := range d {
		trace += g[j*d+j]
	}
	values := make([]float64, d)
	if !(trace > 0) || math.IsInf(trace, 0) || !vec.EigenSym(ctx, d, g, d, values, true) {
		return nil
	}
	if !shape.plain() {
		shape.of(values)
		trace = 0
		for _, v := range values {
			trace += v
		}
	}
	r := 0
	for r < d && values[d-1-r] > smallestAxis*values[d-1] && (rank == 0 || r < rank) {
		r++
	}
	m := &Metric{Axes: matrix.NewDense(d, r)}
	for k := range r {
		vector := g[(d-1-k)*d:][:d]
		root := math.Copysign(math.Sqrt(values[d-1-k]*float64(d)/trace), largest(vector))
		for j, v := range vector {
			m.Axes.Row(j)[k] = float32(root * v)
		}
	}
	return m
}

// smallestAxis is the eigenvalue, as a share of the largest, below which an axis is left out: a
// thousandth of the longest.
const smallestAxis = 1e-6

// largest is the element of the largest absolute value. Its sign becomes the sign of its eigenvector, which
// would otherwise depend on rounding.
func largest(vector []float64) float64 {
	most := 0.0
	for _, v := range vector {
		if math.Abs(v) > math.Abs(most) {
			most = v
		}
	}
	return most
}
