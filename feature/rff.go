package feature

import (
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// fourier maps by random Fourier features (Rahimi and Recht, "Random features for
// large-scale kernel machines", 2007): the frequencies ω are drawn from the Fourier
// transform of a shift-invariant kernel, so that E[cos ω·(x-y)] = k(x, y).
//
// In the pair form z(x) = √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2, z(x)·z(x) = 1 and the
// variance of z(x)·z(y) is [1 + k(2Δ) - 2k(Δ)²]/D, with Δ = x-y. In the phase form
// z(x) = √(2/D)·cos(ω_j·x + b_j), j = 1 … D, with b uniform on [0, 2π), it is
// [1 + ½k(2Δ) - k(Δ)²]/D.
//
// Transforming a row takes O(dm) operations, a sparse one O(nnz·m), for m frequencies; the
// map holds 4dm bytes (twice that while it is drawn) and works in dst alone.
type fourier struct {
	features int
	w        *vec.Packed[float32] // d×m: column j is ω_j
	phases   []float32            // b, or nil in the pair form
	scale    float32              // √(2/D)
}

// shiftInvariant are the maps of kernels of x-y.
func shiftInvariant() []kind {
	fourier := func(cfg Config, dim int) (Map, error) { return newFourier(cfg, dim) }
	return []kind{
		{name: "rff", about: "random Fourier features", options: []string{"form"}, kernels: []string{"rbf", "laplacian"}, check: checkForm, make: fourier},
		{name: "orf", about: "random Fourier features with orthogonal frequencies", options: []string{"form"}, kernels: []string{"rbf"}, check: checkForm, make: fourier},
	}
}

// checkForm checks the form, and that a pair has two features.
func checkForm(cfg Config) error {
	switch cfg.Form {
	case "", "pair":
		if n := cfg.Features; n%2 != 0 {
			return fmt.Errorf("feature: %s: features is %d, but a cos and a sin make two: use %d, or form phase", cfg.Map, n, n+1)
		}
	case "phase":
	default:
		return fmt.Errorf("feature: %s: form %q is not known; known are pair, phase", cfg.Map, cfg.Form)
	}
	return nil
}

func newFourier(cfg Config, dim int) (*fourier, error) {
	name, k, features := cfg.Map, cfg.Kernel, cfg.Features
	frequencies := features
	if cfg.Form != "phase" {
		frequencies /= 2
	}
	// The matrix is there twice while it is packed.
	if err := affordable(cfg, dim, 8*float64(dim)*float64(frequencies)); err != nil {
		return nil, err
	}

	w := matrix.NewDense(dim, frequencies)
	switch {
	case name == "orf":
		orthogonal(w, cfg.Seed, math.Sqrt(2*k.Gamma))
	case k.Name == "rbf":
		independent(w, cfg.Seed, (*random.Stream).Normal, math.Sqrt(2*k.Gamma))
	default:
		independent(w, cfg.Seed, (*random.Stream).Cauchy, k.Gamma)
	}
	for _, v := range w.Data {
		if v-v != 0 {
			return nil, fmt.Errorf("feature: %s: gamma is %g, too large for float32; scale the data up and gamma down", name, k.Gamma)
		}
	}
	f := &fourier{
		features: features,
		w:        vec.Pack32(dim, frequencies, w.Data, w.Stride),
		scale:    float32(math.Sqrt(2 / float64(features))),
	}
	if cfg.Form == "phase" {
		f.phases = make([]float32, frequencies)
		r := random.New(cfg.Seed, "feature.phase")
		for j := range f.phases {
			f.phases[j] = float32(2 * math.Pi * r.Uniform())
		}
	}
	return f, nil
}

func (f *fourier) Dims() (in, out int) {
	d, _ := f.w.Dims()
	return d, f.features
}

// Bytes counts the frequencies and phases.
func (f *fourier) Bytes() int64 {
	d, m := f.w.Dims()
	return 4 * (int64(d)*int64(m) + int64(len(f.phases)))
}

// few is how many rows are mapped on the caller's goroutine, without allocation.
const few = 8

// Transform writes the projections x·ω where the sines or the features will be, and turns
// each block of them into features as soon as it is computed.
func (f *fourier) Transform(dst *matrix.Dense, x matrix.Rows) {
	d, m := f.w.Dims()
	check(d, f.features, dst, x)
	n := x.Len()
	switch {
	case n == 0:
	case x.CSR != nil && n <= few:
		f.sparse(dst, x.CSR, 0, n)
	case x.CSR != nil:
		vec.Parallel(n, few, func(lo, hi int) { f.sparse(dst, x.CSR, lo, hi) })
	case n <= few:
		f.w.Multiply(n, x.Dense.Data, x.Dense.Stride, dst.Data[f.features-m:], dst.Stride, nil)
		f.waves(dst, 0, 0, n, m)
	default:
		f.w.Multiply(n, x.Dense.Data, x.Dense.Stride, dst.Data[f.features-m:], dst.Stride,
			func(i, j, rows, cols int) { f.waves(dst, i, j, rows, cols) })
	}
}

// sparse transforms rows [i, end) of x.
func (f *fourier) sparse(dst *matrix.Dense, x *matrix.CSR, i, end int) {
	_, m := f.w.Dims()
	for ; i < end; i++ {
		idx, val := x.Row(i)
		f.w.MultiplySparse(idx, val, dst.Row(i)[f.features-m:])
		f.waves(dst, i, 0, 1, m)
	}
}

// waves turns the projections on frequencies [j, j+cols) of rows [i, i+rows) into features.
func (f *fourier) waves(dst *matrix.Dense, i, j, rows, cols int) {
	_, m := f.w.Dims()
	for r := i; r < i+rows; r++ {
		z := dst.Row(r)
		if f.phases == nil {
			projections := z[m+j : m+j+cols]
			vec.SinCos32(projections, z[j:j+cols], projections, f.scale)
			continue
		}
		z = z[j : j+cols]
		vec.Axpy32(1, f.phases[j:j+cols], z)
		vec.Cos32(z, z, f.scale)
	}
}
