package reduce

import (
	"fmt"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// Projection maps D features z to K components Uᵀ(z - z̄). It does not change and is safe for
// concurrent use.
type Projection struct {
	d, k int
	mean []float64     // z̄
	u    []float64     // K×D: a component a row
	wide *matrix.Dense // D×K: U in the layout for multiplying rows
}

// narrow makes the matrix for multiplying rows.
func (p *Projection) narrow() {
	p.wide = matrix.NewDense(p.d, p.k)
	vec.Parallel(p.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for c := range p.k {
				p.wide.Data[i*p.k+c] = float32(p.u[c*p.d+i])
			}
		}
	})
}

// Dims are the numbers D of features and K of components.
func (p *Projection) Dims() (d, k int) { return p.d, p.k }

// Component is component c as a direction of the features, of unit length unless whitened;
// it must not be changed.
func (p *Projection) Component(c int) []float64 { return p.u[c*p.d : (c+1)*p.d] }

// Mean is z̄; it must not be changed.
func (p *Projection) Mean() []float64 { return p.mean }

// Bytes is the memory of the projection.
func (p *Projection) Bytes() int64 { return 12*int64(p.d)*int64(p.k) + 8*int64(p.d) }

// Transform writes the components of the rows z into dst, which must be Len×K. The components of a row do not
// depend on the other rows. work holds the centred rows, 4·Len·D bytes.
func (p *Projection) Transform(dst *matrix.Dense, z matrix.Rows, work *matrix.Dense) {
	if z.Dim() != p.d || dst.Rows != z.Len() || dst.Cols != p.k {
		panic(fmt.Sprintf("reduce: Transform of %d×%d rows by a projection of %d to %d into %d×%d", z.Len(), z.Dim(), p.d, p.k, dst.Rows,
			dst.Cols))
	}
	// Centre first: a large mean would cost the digits of the differences from it.
	if z.CSR != nil {
		z.CSR.Densify(work)
	} else {
		work.Reshape(z.Dense.Rows, z.Dense.Cols)
		for i := range work.Rows {
			copy(work.Row(i), z.Dense.Row(i))
		}
	}
	for i := range work.Rows {
		for j, v := range work.Row(i) {
			work.Data[i*work.Stride+j] = float32(float64(v) - p.mean[j])
		}
	}
	vec.Gemm32(work.Rows, p.k, p.d, work.Data, work.Stride, p.wide.Data, p.wide.Stride, dst.Data, dst.Stride)
}

// Fold turns weights W' and intercepts b' on components into weights W = UW' and intercepts
// b = b' - Wᵀz̄ on features: the scores zW + b equal those of the components of z. W is rounded
// to float32 before its product with z̄, so that the score of the mean row is exact to the last digit.
func (p *Projection) Fold(w *matrix.Dense, b []float64) (*matrix.Dense, []float64) {
	if w.Rows != p.k || w.Cols != len(b) {
		panic(fmt.Sprintf("reduce: Fold of %d×%d weights and %d intercepts on %d components", w.Rows, w.Cols, len(b), p.k))
	}
	n := w.Cols
	small, wide := make([]float64, p.k*n), make([]float64, p.d*n)
	for c := range p.k {
		for t, v := range w.Row(c) {
			small[c*n+t] = float64(v)
		}
	}
	vec.GemmAddTN(p.d, n, p.k, p.u, p.d, small, n, wide, n)
	folded, shifted := matrix.NewDense(p.d, n), append([]float64(nil), b...)
	for i := range p.d {
		row := folded.Row(i)
		for t := range row {
			row[t] = float32(wide[i*n+t])
			shifted[t] -= float64(row[t]) * p.mean[i]
		}
	}
	return folded, shifted
}

// Statistics turns the statistics of rows into those of their components, without reading
// the rows again: D²K multiply-adds.
func (p *Projection) Statistics(s *moments.Stats) *moments.Stats { return s.Project(p.k, p.u, p.mean) }

// Joined combines several projections side by side, each on its own features: from D = ΣD_i
// features to K = ΣK_i components.
func Joined(parts []*Projection) *Projection {
	q := &Projection{}
	for _, p := range parts {
		q.d, q.k = q.d+p.d, q.k+p.k
		q.mean = append(q.mean, p.mean...)
	}
	q.u = make([]float64, q.k*q.d)
	c, at := 0, 0
	for _, p := range parts {
		for i := range p.k {
			copy(q.u[(c+i)*q.d+at:], p.Component(i))
		}
		c, at = c+p.k, at+p.d
	}
	q.narrow()
	return q
}

// Then combines the projection p and next, a projection of the components of p, into one.
func (p *Projection) Then(next *Projection) *Projection {
	if next.d != p.k {
		panic(fmt.Sprintf("reduce: a projection of %d features after one to %d", next.d, p.k))
	}
	q := &Projection{d: p.d, k: next.k, mean: append([]float64(nil), p.mean...), u: make([]float64, next.k*p.d)}
	// u = u_next·u_p
	t := make([]float64, p.k*next.k)
	for c := range next.k {
		for i, v := range next.Component(c) {
			t[i*next.k+c] = v
		}
	}
	vec.GemmAddTN(next.k, p.d, p.k, t, next.k, p.u, p.d, q.u, p.d)
	// next centres the components of p: if their mean is not 0, it moves z̄ by a vector
	// that p maps to it, U(UᵀU)⁻¹·mean; the rows of u are orthogonal.
	for i, v := range next.mean {
		row := p.Component(i)
		if v != 0 {
			vec.Axpy64(v/vec.Dot64(row, row), row, q.mean)
		}
	}
	q.narrow()
	return q
}
