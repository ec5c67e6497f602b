package feature

import (
	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// tensorSketch approximates the poly kernel (x·y)^p by the count sketch of the p-fold tensor
// x⊗⋯⊗x with the hash function h_1(i_1) + … + h_p(i_p) mod D and the sign s_1(i_1)⋯s_p(i_p),
// which is the circular convolution of the p count sketches of x (Pham and Pagh, "Fast and
// scalable polynomial kernels via explicit feature maps", 2013). γ and c enter by the row
// x̃ = [√γ·x, √c].
//
// The features are F⁻¹(F C_1(x̃) ∘ … ∘ F C_p(x̃)), F the Fourier transform: p + 1 of them.
// They are fast for D a power of two; others work, several ten times slower.
//
// z(x)·z(y) is unbiased. A pair of tensor indices differs in some of p coordinates; taking
// four indices that make a term of the second moment, in each coordinate they are equal in
// pairs in one of three ways. With
//
//	a = (x̃·ỹ)², b = Σ_{i≠j} x̃_i²ỹ_j², c = Σ_{i≠j} x̃_iỹ_ix̃_jỹ_j
//
// for the three, g = 2 for even D and 1 for odd, and λ the Fourier transform of the distribution of
// h(i)-h(j) at any frequency but 0, that is λ = 0 for hash pairwise and λ = (Dρ-1)/(D-1) for
// balanced (ρ as in countSketch), the variance is
//
//	(1/D²)·[g·(a+b+c)^p + (D-g)·(a+b+λc)^p + (D-g)·(a+λb+c)^p + (D²-2D+g)·(a+λb+λc)^p] - a^p.
//
// For hash pairwise this is (1/D)·[(a+b)^p + (a+c)^p - 2a^p] and a term in g/D² that grows like 3^p:
// a, b, c ≤ ‖x̃‖²‖ỹ‖², which gives the bound (2^(p+1)-2)/D + g·3^p/D² times ‖x̃‖^2p·‖ỹ‖^2p,
// where papers prove 3^p/D. In balanced sketches with D ≥ d, λ = -1/(D-1) takes away what is
// linear in b and c: all of it at p = 1, and most where rows are alike.
//
// A row takes O(p·d + p·D·log D) operations, a sparse one O(p·nnz + p·D·log D), and the map
// 4pd bytes. Choose it for sparse rows of many dimensions, and for speed.
type tensorSketch struct {
	homogeneous
	features int
	tables   []hashTable
	fft      *vec.FFT
	work     lender[float32]
}

func newTensorSketch(cfg Config, dim int) (*tensorSketch, error) {
	h, err := newHomogeneous(cfg, dim)
	if err != nil {
		return nil, err
	}
	if err := affordable(cfg, dim, 4*float64(h.width())*float64(h.degree)); err != nil {
		return nil, err
	}
	t := &tensorSketch{homogeneous: h, features: cfg.Features}
	for k := range h.degree {
		table, err := newHashTable(cfg, h.width(), random.New(cfg.Seed, "feature.tensorsketch", uint64(k)))
		if err != nil {
			return nil, err
		}
		t.tables = append(t.tables, table)
	}
	t.fft, t.work = vec.NewFFT(cfg.Features), newLender[float32]()
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
	work := t.work.get(t.features)[:t.features]
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
	t.work.put(work)
}

// factor writes the count sketch k of x̃_i to z.
func (t *tensorSketch) factor(k int, z []float32, x matrix.Rows, i int) {
	table := t.tables[k]
	table.sketch(z, x, i, t.scale)
	if t.constant != 0 {
		table.add(z, t.dim, t.constant)
	}
}
