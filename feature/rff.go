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
// map holds 4dm bytes and works in dst alone.
type fourier struct {
	features int
	w        *matrix.Dense // d×m: column j is ω_j
	phases   []float32     // b, or nil in the pair form
	scale    float32       // √(2/D)
}

// maxBytes bounds the matrix of frequencies: what is larger is a mistake.
const maxBytes = 1 << 40

func newFourier(cfg Config, dim int) (*fourier, error) {
	name, k, features := cfg.Map, cfg.Kernel, cfg.Features
	switch k.Name {
	case "rbf":
	case "laplacian":
		if name == "orf" {
			return nil, fmt.Errorf("feature: orf draws frequencies for the rbf kernel only, not for laplacian, whose frequencies have no direction-free law; use map rff")
		}
	default:
		return nil, fmt.Errorf("feature: %s does not approximate the %s kernel; rff approximates rbf and laplacian, orf rbf", name, k.Name)
	}
	frequencies := features
	switch cfg.Form {
	case "", "pair":
		if features%2 != 0 {
			return nil, fmt.Errorf("feature: %s: features is %d, but a cos and a sin make two: use %d, or form phase", name, features, features+1)
		}
		frequencies /= 2
	case "phase":
	default:
		return nil, fmt.Errorf("feature: %s: %q is not a form; known are pair, phase", name, cfg.Form)
	}
	if bytes := 4 * float64(dim) * float64(frequencies); bytes > min(maxBytes, math.MaxInt) {
		return nil, fmt.Errorf("feature: %s: %d features of %d dimensions take %.3g bytes; use fewer features", name, features, dim, bytes)
	}

	f := &fourier{
		features: features,
		w:        matrix.NewDense(dim, frequencies),
		scale:    float32(math.Sqrt(2 / float64(features))),
	}
	switch {
	case name == "orf":
		orthogonal(f.w, cfg.Seed, math.Sqrt(2*k.Gamma))
	case k.Name == "rbf":
		independent(f.w, cfg.Seed, (*random.Stream).Normal, math.Sqrt(2*k.Gamma))
	default:
		independent(f.w, cfg.Seed, (*random.Stream).Cauchy, k.Gamma)
	}
	for _, v := range f.w.Data {
		if v-v != 0 {
			return nil, fmt.Errorf("feature: %s: gamma is %g, too large for float32; scale the data up and gamma down", name, k.Gamma)
		}
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

func (f *fourier) Dims() (in, out int) { return f.w.Rows, f.features }

// step is how many rows are mapped at a time: enough for the product to pay for packing the
// frequencies, few enough that their features stay near the core.
const step = 256

func (f *fourier) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(f.w.Rows, f.features, dst, x)
	n := x.Len()
	for i := 0; i < n; i += step {
		f.rows(dst, x, i, min(i+step, n))
	}
}

// rows transforms rows [i, j). The projections x·ω are written where the sines or the
// features will be.
func (f *fourier) rows(dst *matrix.Dense, x matrix.Rows, i, j int) {
	m := f.w.Cols
	first := f.features - m
	if i == j {
		return
	}
	if x.Dense != nil {
		vec.Gemm32(j-i, m, f.w.Rows, x.Dense.Data[i*x.Dense.Stride:], x.Dense.Stride,
			f.w.Data, f.w.Stride, dst.Data[i*dst.Stride+first:], dst.Stride)
	}
	if j-i == 1 {
		f.waves(dst, x, i, j)
		return
	}
	vec.Parallel(j-i, 8, func(lo, hi int) { f.waves(dst, x, i+lo, i+hi) })
}

// waves turns the projections of rows [i, j) into features; those of sparse rows it computes
// first.
func (f *fourier) waves(dst *matrix.Dense, x matrix.Rows, i, j int) {
	m := f.w.Cols
	first := f.features - m
	for r := i; r < j; r++ {
		z := dst.Row(r)
		if x.CSR != nil {
			projection := z[first:]
			clear(projection)
			idx, val := x.CSR.Row(r)
			for k, column := range idx {
				vec.Axpy32(val[k], f.w.Row(int(column)), projection)
			}
		}
		if f.phases == nil {
			vec.SinCos32(z[m:], z[:m], z[m:], f.scale)
			continue
		}
		for k, b := range f.phases {
			z[k] += b
		}
		vec.Cos32(z, z, f.scale)
	}
}
