package landmarks

import (
	"slices"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Raw is what the kernel of rows and landmarks is computed from (kernel.Against.Raw). It takes nearly all the time for wide rows, and serves
// every γ.
type Raw struct {
	m      int
	values []float64 // rows×m
	norms  []float64
}

// Row is that of a row, m numbers and its squared length, to be finished by kernel.Against.Finish.
func (r *Raw) Row(i int) (values []float64, norm float64) { return r.values[i*r.m:][:r.m], r.norms[i] }

// Place takes other landmarks, as many as there were, without their kernel: Widen has to follow.
func (r *Ridge) Place(k kernel.Kernel, landmarks *matrix.Dense) (err error) {
	r.against, err = kernel.NewAgainst(k, matrix.Rows{Dense: landmarks})
	return err
}

// Raw computes what Widen and RawValues take, in the memory of to if that suffices.
func (r *Ridge) Raw(to *Raw, x *matrix.Dense) {
	m := r.m
	to.m = m
	to.values = slices.Grow(to.values[:0], x.Rows*m)[:x.Rows*m]
	to.norms = slices.Grow(to.norms[:0], x.Rows)[:x.Rows]
	vec.Parallel((x.Rows+valueRows-1)/valueRows, 1, func(lo, hi int) {
		work := make([]float64, valueRows*r.against.Work())
		for b := lo; b < hi; b++ {
			i, j := b*valueRows, min((b+1)*valueRows, x.Rows)
			r.against.Raw(matrix.Rows{Dense: x}, i, j, to.values[i*m:j*m], to.norms[i:j], work)
		}
	})
}

// Widen begins anew with the kernel k, which differs from the one before in γ alone. The landmarks are these of the rows of raw.
func (r *Ridge) Widen(k kernel.Kernel, raw *Raw, landmarks []int) (err error) {
	clear(r.square)
	clear(r.right)
	if r.against, err = r.against.WithGamma(k); err != nil {
		return err
	}
	m := r.m
	vec.Parallel(m, valueRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := r.landmarks[i*m:][:m]
			copy(to, raw.values[landmarks[i]*m:][:m])
			r.against.Finish(raw.norms[landmarks[i]:][:1], to)
		}
	})
	return r.check()
}

// RawValues is Values of rows [i, j) of raw.
func (r *Ridge) RawValues(dst []float32, raw *Raw, i, j int) []float32 {
	m := r.m
	dst = slices.Grow(dst[:0], (j-i)*m)[:(j-i)*m]
	vec.Parallel(j-i, valueRows, func(lo, hi int) {
		out := make([]float64, m)
		for row := lo; row < hi; row++ {
			copy(out, raw.values[(i+row)*m:][:m])
			r.against.Finish(raw.norms[i+row:][:1], out)
			vec.RoundValues(dst[row*m:][:m], out)
		}
	})
	return dst
}
