package kernel

import "mercer/matrix"

// smooth is a family of functions of x·y, ‖x‖² and ‖y‖² alone.
type smooth interface {
	// ofProducts is k(x, y).
	ofProducts(k Kernel, xy, xx, yy float64) float64

	// slopes are p and q of the gradient ∂k(x, y)/∂y = p·x + q·y, 0 where there is none.
	slopes(k Kernel, xy, xx, yy float64) (p, q float64)
}

func (k Kernel) smooth() (s smooth, ok bool) {
	if kind := k.Kind(); kind != nil {
		s, ok = kind.family.(smooth)
	}
	return s, ok
}

// Smooth says whether the kernel depends on x·y, ‖x‖² and ‖y‖² alone, so that it has
// [Kernel.OfProducts] and [Kernel.Slopes].
func (k Kernel) Smooth() bool {
	_, ok := k.smooth()
	return ok
}

// OfProducts returns k(x, y) from x·y, ‖x‖² and ‖y‖². The kernel must be [Kernel.Smooth]. Where x and y
// are near, it is less accurate than [Kernel.Eval].
func (k Kernel) OfProducts(xy, xx, yy float64) float64 {
	return k.mustBeSmooth().ofProducts(k, xy, xx, yy)
}

// Slopes returns p and q of the gradient ∂k(x, y)/∂y = p·x + q·y, from x·y, ‖x‖² and ‖y‖². The kernel
// must be [Kernel.Smooth]. The gradient is taken as 0 where there is none: for matern with ν ≤ ½ at
// x = y, for arccos at θ = 0 and at rows of zeros.
func (k Kernel) Slopes(xy, xx, yy float64) (p, q float64) {
	return k.mustBeSmooth().slopes(k, xy, xx, yy)
}

// SlopesOfRow writes [Kernel.Slopes] of rows x_j and one row y into p and q, from x_j·y, ‖y‖² and
// ‖x_j‖².
func (k Kernel) SlopesOfRow(products []float64, yy float64, norms, p, q []float64) {
	s := k.mustBeSmooth()
	if f, ok := s.(radial); ok {
		f.slopesOfRow(k, products, yy, norms, p, q)
		return
	}
	for j, xy := range products {
		p[j], q[j] = s.slopes(k, xy, norms[j], yy)
	}
}

func (k Kernel) mustBeSmooth() smooth {
	s, ok := k.smooth()
	if !ok {
		panic("kernel: " + k.Name + " is no function of products of rows")
	}
	return s
}

// AddGradient adds Σ_i w_i ∂k(x_i, y)/∂y over the rows of x to dst, for any kernel. A partial derivative
// is taken as 0 where there is none: for laplacian and the intersection kernels at x_j = y_j, for
// hellinger and jensen-shannon at y_j = 0.
func (k Kernel) AddGradient(dst, w []float64, x *matrix.Dense, y []float32) {
	if x.Rows == 0 {
		return
	}
	family := k.check(x.Row(0), y)
	for i, w := range w[:x.Rows] {
		family.addGradient(k, dst, w, x.Row(i), y)
	}
}

// addAlong adds w(p·x + q·y) to dst.
func addAlong(dst []float64, w float64, x, y []float32, p, q float64) {
	for j, v := range x {
		dst[j] += float64(w * (float64(p*float64(v)) + float64(q*float64(y[j]))))
	}
}

// addByDimension adds w times the partial derivatives by the coordinates of y to dst. It leaves out those
// that are not finite.
func addByDimension(dst []float64, w float64, x, y []float32, derivative func(x, y float64) float64) {
	for j := range x {
		if g := derivative(float64(x[j]), float64(y[j])); g-g == 0 {
			dst[j] += float64(w * g)
		}
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
