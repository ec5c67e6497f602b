package feature

import (
	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// TensorSketch approximates the poly kernel by p count sketches C_k of x̃ = [√γ·x, √c],
// convolved: F⁻¹(F C_1(x̃) ∘ … ∘ F C_p(x̃)), F the Fourier transform (Pham and Pagh, "Fast and
// scalable polynomial kernels via explicit feature maps", 2013). That is the count sketch of
// x̃⊗⋯⊗x̃ with bucket h_1(i_1) + … + h_p(i_p) mod D and sign s_1(i_1)⋯s_p(i_p).
//
// z(x)·z(y) is unbiased. Its second moment is a sum over four indices of x̃⊗⋯⊗x̃, which in
// each of the p positions have to be equal in pairs, in one of three ways that sum to
//
//	a = (x̃·ỹ)²,  b = Σ_{i≠j} x̃_i²ỹ_j²,  c = Σ_{i≠j} x̃_iỹ_ix̃_jỹ_j.
//
// The probability that their buckets agree follows from the Fourier transform of the distribution of h(i)-h(j),
// which is λ at all frequencies except 0. With g = 2 for even D and 1 for odd, the variance is
//
//	(1/D²)·[g·(a+b+c)^p + (D-g)·((a+b+λc)^p + (a+λb+c)^p) + (D²-2D+g)·(a+λb+λc)^p] - a^p.
//
// For hash pairwise, λ = 0 and this is (1/D)·[(a+b)^p + (a+c)^p - 2a^p] and less than g/D²
// times (a+b+c)^p: at most ((2^(p+1)-2)/D + g·3^p/D²)·‖x̃‖^2p·‖ỹ‖^2p. So the constant 3^p,
// which papers give for 1/D, belongs to 1/D². The first part is the variance of complex [Maclaurin].
//
// For hash balanced, λ = (Dρ-1)/(D-1), ρ as for [CountSketch]: -1/(D-1) for D at least the width
// of x̃, which removes the terms linear in b and c. That is everything for p = 1, half of it
// for p = 2 and similar rows, and less for higher p; for smaller D λ is about -1/(d-1).
//
// A row takes O(p·(d + D·log D)) operations, a sparse one O(p·(nnz + D·log D)), fast if D is
// a power of two and about fifty times slower otherwise. The map takes 4p bytes per dimension.
// Use it for sparse rows, for many dimensions, and when time matters most.
const TensorSketch = "tensorsketch"

// tensorSketch is the map [TensorSketch].
type tensorSketch struct {
	augmented
	features int
	tables   []hashTable
	fft      *vec.FFT
	work     freelist.Slices[float32]
}

func newTensorSketch(cfg Config, dim int) (*tensorSketch, error) {
	h, err := newAugmented(cfg, dim)
	if err != nil {
		return nil, err
	}
	if err := affordable(cfg, dim, 4*float64(h.width())*float64(h.degree)); err != nil {
		return nil, err
	}
	t := &tensorSketch{augmented: h, features: cfg.Features}
	for k := range h.degree {
		table, err := newHashTable(cfg, h.width(), random.New(cfg.Seed, "feature.tensorsketch", uint64(k)))
		if err != nil {
			return nil, err
		}
		t.tables = append(t.tables, table)
	}
	t.fft = vec.NewFFT(cfg.Features)
	return t, nil
}

// Dims returns d and D.
func (t *tensorSketch) Dims() (in, out int) { return t.dim, t.features }

// Bytes counts the tables and the plan of the Fourier transform.
func (t *tensorSketch) Bytes() int64 {
	return 4 * (int64(t.degree)*int64(t.width()) + int64(t.features))
}

// Transform multiplies the spectra of the sketches in the rows of dst.
func (t *tensorSketch) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(t.dim, t.features, dst, x)
	eachRow(t, dst, x)
}

func (t *tensorSketch) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	work := t.work.Get(t.features)
	for i := lo; i < hi; i++ {
		z := dst.Row(i)
		t.factor(0, z, x, i)
		if t.degree == 1 {
			continue
		}
		t.fft.Forward(z, z)
		for k := 1; k < t.degree; k++ {
			t.factor(k, work, x, i)
			t.fft.MulForward(z, work)
		}
		t.fft.Inverse(z, z)
	}
	t.work.Put(work)
}

// factor writes the count sketch k of x̃_i to z.
func (t *tensorSketch) factor(k int, z []float32, x matrix.Rows, i int) {
	table := t.tables[k]
	table.sketch(z, x, i, t.scale)
	if t.constant != 0 {
		table.add(z, t.dim, t.constant)
	}
}
