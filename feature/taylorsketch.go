package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// TaylorSketch approximates the exp kernel by tensor sketches of the terms of its series, side by side
// (Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", 2013), and by it the rbf
// kernel:
//
//	exp(γ x·y) = Σ_n aₙ·(γ x·y)ⁿ, aₙ = 1/n!,
//	exp(-γ‖x-y‖²) = exp(-γ‖u‖²)·exp(-γ‖v‖²)·exp(2γ u·v),  u = x - μ, v = y - μ,
//
// where μ is the mean of a sample of rows: the kernel does not depend on it, and short rows have short series.
// The sketch of a difference is the difference of sketches, so that sparse rows stay sparse.
//
// Terms 0 to P have features of their own: one for the constant, which has no variance, and D_n for term n, the
// count sketch of n = 1 and the [TensorSketch] of degree n beyond. The papers cut the series off there, which
// is a bias. Here one more sketch stands for all other terms up to n = 50: that of one degree N > P, drawn with
// probabilities q_n, times √(a_N/q_N). So z(x)·z(y) is unbiased, up to the terms above 50.
//
// A sample of rows decides on P, the D_n and the q_n: those with the least variance of the estimates between
// rows of the sample. The D_n are powers of two, except D_1, which has what is left. Hash is balanced by default: with D_1 of the
// number of dimensions or more term 1 is then exact.
//
// Let t be γ x·y or 2γ u·v, and S_n(m) the variance of a tensor sketch of degree n with m features of the rows
// √γ·x or √(2γ)·u. The variance of z(x)·z(y) is
//
//	Σ_{n=1..P} aₙ²·S_n(D_n) + Σ_{n>P} (aₙ²/q_n)·(S_n(D') + t²ⁿ) - (Σ_{n>P} aₙ·tⁿ)²,
//
// D' being the features of the last sketch, and for rbf this times exp(-2γ‖u‖² - 2γ‖v‖²).
//
// A row takes O(Σ n·(nnz + D_n log D_n)) operations, and the map holds 4 bytes for each of Σn·d elements of hash
// tables and 4·Σn·D_n for rbf; the sums go over the sketches, five to ten of them. Use it for the exp kernel, where it has less than half
// the error of [Maclaurin], and for the rbf kernel of rows that are no more than a few kernel widths apart, if D is several times d:
// then it has less error than [SORF], at more time.
const TaylorSketch = "taylorsketch"

// taylorSketch is the map [TaylorSketch].
type taylorSketch struct {
	dim, features int
	gamma         float64   // of γ x·y, or half of that of the rbf kernel's 2γ u·v
	root          float64   // √γ, or √(2γ)
	centre        []float32 // μ; nil for exp
	norm2         float64   // ‖μ‖²
	levels        []taylorLevel
	state         map[string]*matrix.Dense
	work          freelist.Slices[float32]
}

// taylorLevel is the sketch of one term.
type taylorLevel struct {
	degree      int
	coefficient float64 // log √aₙ, or log √(a_N/q_N)
	at, m       int     // its features are those from at on, m of them
	tables      []hashTable
	centres     [][]float32 // the sketches of μ by the tables
	fft         *vec.FFT
}

func takesTaylor(k kernel.Kernel) bool { return k.Kind() == kernel.Exp || k.Kind() == kernel.RBF }

func checkTaylor(cfg Config) error {
	if cfg.Features < 2 {
		return fmt.Errorf("feature: taylorsketch: features is %d; it takes 2 or more: one is for the constant", cfg.Features)
	}
	return checkHash(cfg)
}

// taylorRoot is the number by which rows are multiplied before they are sketched.
func taylorRoot(k kernel.Kernel) float64 {
	if k.Kind() == kernel.RBF {
		return math.Sqrt(2 * k.Gamma)
	}
	return math.Sqrt(k.Gamma)
}

// fitTaylorSketch centres the rows, and shares the features out.
func fitTaylorSketch(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	state := map[string]*matrix.Dense{}
	centre := make([]float64, sample.Dim())
	if cfg.Kernel.Kind() == kernel.RBF {
		mean := matrix.NewDense(1, sample.Dim())
		for i := range sample.Len() {
			addRow(centre, sample, i)
		}
		for j, v := range centre {
			mean.Data[j] = float32(v / float64(sample.Len()))
			centre[j] = float64(mean.Data[j])
		}
		state["centre"] = mean
	}
	shares := shareTaylor(cfg, sample.Dim(), taylorPairs(cfg, sample, centre))
	state["levels"] = matrix.NewDense(len(shares), 3)
	for i, s := range shares {
		copy(state["levels"].Row(i), []float32{float32(s.degree), float32(s.m), float32(s.q)})
	}
	return restoreTaylorSketch(cfg, sample.Dim(), state)
}

// addRow adds row i of x to sum.
func addRow(sum []float64, x matrix.Rows, i int) {
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		for k, j := range idx {
			sum[j] += float64(val[k])
		}
		return
	}
	for j, v := range x.Dense.Row(i) {
		sum[j] += float64(v)
	}
}

// restoreTaylorSketch draws the hash functions of levels that are known.
func restoreTaylorSketch(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	wrong := func(what string) error { return fmt.Errorf("feature: taylorsketch: the state's %s", what) }
	t := &taylorSketch{dim: dim, features: cfg.Features, gamma: cfg.Kernel.Gamma, root: taylorRoot(cfg.Kernel), state: state}
	if err := inRange(cfg, float32(t.root), 0); err != nil {
		return nil, err
	}
	levels := state["levels"]
	if levels == nil || levels.Cols != 3 || levels.Rows < 2 || levels.Rows > mostTerms+1 {
		return nil, wrong("levels are not those of sketches")
	}
	if cfg.Kernel.Kind() == kernel.RBF {
		mean := state["centre"]
		if mean == nil || mean.Rows != 1 || mean.Cols != dim {
			return nil, wrong(fmt.Sprintf("centre is no row of %d dimensions", dim))
		}
		if err := finite(mean); err != nil {
			return nil, fmt.Errorf("feature: taylorsketch: the state's centre: %w", err)
		}
		t.centre, t.norm2 = mean.Row(0), norm64(mean.Row(0))
	}
	at, bytes := 0, 0.0
	for i := range levels.Rows {
		row := levels.Row(i)
		l := taylorLevel{degree: int(row[0]), at: at, m: int(row[1])}
		if float32(l.degree) != row[0] || l.degree < 0 || l.degree > mostTerms || (l.degree == 0) != (i == 0) || float32(l.m) != row[1] ||
			l.m < 1 || l.m > cfg.Features-at || l.degree == 0 && l.m > 1 || !(row[2] > 0 && row[2] <= 1) {
			return nil, wrong(fmt.Sprintf("level %d is not one of a sketch: %v", i+1, row))
		}
		factorial, _ := math.Lgamma(float64(l.degree) + 1)
		l.coefficient = -(factorial + math.Log(float64(row[2]))) / 2
		at += l.m
		bytes += 4 * float64(l.degree) * (float64(dim) + float64(l.m))
		t.levels = append(t.levels, l)
	}
	if at != cfg.Features {
		return nil, wrong(fmt.Sprintf("levels have %d features, not %d", at, cfg.Features))
	}
	if err := affordable(cfg, dim, bytes); err != nil {
		return nil, err
	}
	return t, t.draw(cfg)
}

// draw makes the tables of all levels, and sketches the centre.
func (t *taylorSketch) draw(cfg Config) error {
	for i := range t.levels {
		l := &t.levels[i]
		own := cfg
		if own.Features = l.m; own.Hash == "" {
			own.Hash = "balanced"
		}
		for k := range l.degree {
			table, err := newHashTable(own, t.dim, random.New(cfg.Seed, "feature.taylorsketch", uint64(i), uint64(k)))
			if err != nil {
				return err
			}
			l.tables = append(l.tables, table)
			if t.centre != nil {
				z := make([]float32, l.m)
				table.sketch(z, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: t.dim, Stride: t.dim, Data: t.centre}}, 0, 1)
				l.centres = append(l.centres, z)
			}
		}
		if l.degree > 1 {
			l.fft = vec.NewFFT(l.m)
		}
	}
	return nil
}

// State has the centre, and of each sketch its degree, the number of its features and the probability of the degree.
func (t *taylorSketch) State() map[string]*matrix.Dense { return t.state }

// Dims returns d and D.
func (t *taylorSketch) Dims() (in, out int) { return t.dim, t.features }

// Bytes counts the tables, the sketches of the centre and the plans of the transforms.
func (t *taylorSketch) Bytes() int64 {
	bytes := 4 * int64(len(t.centre))
	for _, l := range t.levels {
		bytes += 4 * (int64(l.degree)*int64(t.dim) + int64(len(l.centres))*int64(l.m) + int64(l.m))
	}
	return bytes
}

// Chosen says which terms have features, and how many.
func (t *taylorSketch) Chosen() string {
	last := t.levels[len(t.levels)-1]
	return fmt.Sprintf("terms up to degree %d, one of degree %d for the rest", len(t.levels)-2, last.degree)
}

// Transform sketches each row level by level.
func (t *taylorSketch) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(t.dim, t.features, dst, x)
	eachRow(t, dst, x)
}

func (t *taylorSketch) rows(dst *matrix.Dense, x matrix.Rows, lo, hi int) {
	work := t.work.Get(t.features)
	for i := lo; i < hi; i++ {
		z := dst.Row(i)
		power := 0.0 // log of the factor that the row has outside of the series
		if t.centre != nil {
			power = -t.gamma * t.distance2(x, i)
		}
		for k := range t.levels {
			l := &t.levels[k]
			l.sketch(z[l.at:l.at+l.m], work[:l.m], x, i, t.root, power)
		}
	}
	t.work.Put(work)
}

// sketch writes the features of row i. All of their factors have an equal share of the coefficient and of
// exp(power), so that none of them leaves the range of float32 on the way to a product within it.
func (l *taylorLevel) sketch(z, work []float32, x matrix.Rows, i int, root, power float64) {
	if l.degree == 0 {
		z[0] = float32(math.Exp(power + l.coefficient))
		return
	}
	scale := float32(root * math.Exp((power+l.coefficient)/float64(l.degree)))
	l.factor(0, z, x, i, scale)
	if l.degree == 1 {
		return
	}
	l.fft.Forward(z, z)
	for k := 1; k < l.degree; k++ {
		l.factor(k, work, x, i, scale)
		l.fft.MulForward(z, work)
	}
	l.fft.Inverse(z, z)
}

// factor writes scale times the count sketch k of row i less the centre.
func (l *taylorLevel) factor(k int, z []float32, x matrix.Rows, i int, scale float32) {
	l.tables[k].sketch(z, x, i, scale)
	if l.centres != nil {
		vec.Axpy32(-scale, l.centres[k], z)
	}
}

// distance2 is ‖x_i - μ‖².
func (t *taylorSketch) distance2(x matrix.Rows, i int) float64 {
	return apart2(x, i, t.centre, t.norm2)
}

// apart2 is ‖x_i - c‖², for ‖c‖² = norm2.
func apart2(x matrix.Rows, i int, c []float32, norm2 float64) float64 {
	sum := 0.0
	if x.CSR != nil {
		idx, val := x.CSR.Row(i)
		for k, j := range idx {
			v := float64(val[k])
			sum += float64(v * (v - 2*float64(c[j])))
		}
		return math.Max(0, sum+norm2)
	}
	for j, v := range x.Dense.Row(i) {
		d := float64(v) - float64(c[j])
		sum += float64(d * d)
	}
	return sum
}

func norm64(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return sum
}
