package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/matrix"
)

// Wavelets maps each dimension to a wavelet basis, the one that Kumar 2010 names beside Fourier bases. With u = (x - lo)/(hi - lo),
// lo and hi the least and the largest number of the dimension in the sample, and u held within [0, 1], the features are the scaling
// functions and the wavelets of J levels whose support meets [0, 1]:
//
//	φ(u - k), ψ(2^j·u - k), j = 0 … J-1
//
// They are orthogonal functions of the line; 2^(j/2)·ψ(2^j·u - k) are orthonormal (Daubechies, "Ten Lectures on Wavelets", 1992). Without that
// factor a penalty ‖w‖² is larger for finer wavelets, so that a linear model is a smooth one where the data do not ask for more. Option form is
//
//	db2   Daubechies's wavelets of two vanishing moments, continuous; straight lines are sums of the φ(u - k) alone; the default
//	haar  steps: φ is 1 on [0, 1), ψ is 1 on [0, ½) and -1 on [½, 1)
//
// With L = 3 for db2 and L = 1 for haar a dimension has L + 2^J - 1 + J(L-1) features. J is the largest number of levels with at most terms of
// them: 26 of 32 for db2 and 32 for haar by default. A linear model of them is a sum of functions of single dimensions; a
// chain with a map of the poly kernel multiplies them.
//
// The functions of db2 have no formula: they are exact where u is a multiple of 2^-(J+4), by their two-scale equations, and linear between.
//
// z(x)·z(y) approximates no kernel, and the kernel of the configuration is ignored. A row takes O(D) operations; the map holds 8d bytes and
// a table of 2^J·16 times the features of a dimension (a 16th of that for haar), in float32. The features of a dimension are adjacent, by levels.
const Wavelets = "wavelets"

// wavelets is the map [Wavelets].
type wavelets struct {
	span   *matrix.Dense // 2×d: lo, hi
	levels int           // J
	at     *matrix.Dense // (N+1)×m: the m features of a dimension at u = i/N
	step   bool          // features are constant from one of these u to the next, not linear
}

// usualWavelets bounds the features of a dimension unless the configuration does, mostWavelets in any case: the table has about 16 times their square.
const usualWavelets, mostWavelets = 32, 512

// waveletLength is L.
func waveletLength(cfg Config) int {
	if cfg.Form == "haar" {
		return 1
	}
	return 3
}

// waveletsOf is the number of features of a dimension.
func waveletsOf(length, levels int) int { return length + 1<<levels - 1 + levels*(length-1) }

func checkWavelets(cfg Config) error {
	if cfg.Form != "" && cfg.Form != "db2" && cfg.Form != "haar" {
		return fmt.Errorf("feature: wavelets: form %q is not known; known are db2, haar", cfg.Form)
	}
	if least := waveletLength(cfg); cfg.Terms != 0 && (cfg.Terms < least || cfg.Terms > mostWavelets) {
		return fmt.Errorf("feature: wavelets: terms is %d; it must be from %d to %d, or 0 for the usual number", cfg.Terms, least, mostWavelets)
	}
	return nil
}

func fitWavelets(_ context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	d := sample.Dim()
	span := matrix.NewDense(2, d)
	lo, hi := span.Row(0), span.Row(1)
	row := make([]float64, d)
	for i := range sample.Len() {
		widen(sample, i, row)
		for c, v := range row {
			if v := float32(v); i == 0 {
				lo[c], hi[c] = v, v
			} else {
				lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
			}
		}
	}
	if err := finite(span); err != nil {
		return nil, fmt.Errorf("feature: wavelets: %w; scale the data", err)
	}
	return newWavelets(cfg, span)
}

func restoreWavelets(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	span := state["span"]
	if span == nil || span.Rows != 2 || span.Cols != dim {
		return nil, fmt.Errorf("feature: wavelets: the state has no least and largest number of each of %d dimensions", dim)
	}
	if err := finite(span); err != nil {
		return nil, fmt.Errorf("feature: wavelets: the state's least and largest numbers: %w", err)
	}
	for c, lo := range span.Row(0) {
		if hi := span.Row(1)[c]; lo > hi {
			return nil, fmt.Errorf("feature: wavelets: the state's least number of dimension %d is %g, above the largest, %g", c, lo, hi)
		}
	}
	return newWavelets(cfg, span)
}

func newWavelets(cfg Config, span *matrix.Dense) (Fitted, error) {
	length := waveletLength(cfg)
	f := &wavelets{span: span, step: cfg.Form == "haar"}
	for waveletsOf(length, f.levels+1) <= cfg.terms(usualWavelets) {
		f.levels++
	}
	each := waveletsOf(length, f.levels)
	if out := float64(span.Cols) * float64(each); out > math.MaxInt32 {
		return nil, fmt.Errorf("feature: wavelets: %d dimensions with %d features each are too many", span.Cols, each)
	}
	n := 1 << f.levels
	phi, psi := haarSteps(n)
	if !f.step {
		n *= 16
		phi, psi = db2(n)
	}
	f.at = matrix.NewDense(n+1, each)
	for i := range n + 1 {
		row := f.at.Row(i)[:0]
		write := func(table []float64, level int) {
			for k := 1 - length; k < 1<<level; k++ {
				v := 0.0
				if t := i<<level - k*n; t >= 0 && t < len(table) {
					v = table[t]
				}
				row = append(row, float32(v))
			}
		}
		write(phi, 0)
		for level := range f.levels {
			write(psi, level)
		}
	}
	return f, cfg.decided(span.Cols * each)
}

// haarSteps has Haar's functions at i/n, n a power of two: of 1 the value is that before it.
func haarSteps(n int) (phi, psi []float64) {
	phi, psi = make([]float64, n), make([]float64, n)
	for i := range n {
		phi[i], psi[i] = 1, 1
		if i >= n/2 && n > 1 {
			psi[i] = -1
		}
	}
	return phi, psi
}

// db2 has Daubechies's functions at i/n, i = 0 … 3n, n a power of two, by φ(t) = √2·Σ h_k φ(2t - k) and ψ(t) = √2·Σ (-1)^k h_{3-k} φ(2t - k)
// from φ(1) = (1 + √3)/2 and φ(2) = (1 - √3)/2.
func db2(n int) (phi, psi []float64) {
	root := math.Sqrt(3)
	h := [4]float64{(1 + root) / 4, (3 + root) / 4, (3 - root) / 4, (1 - root) / 4} // √2·h_k
	phi, psi = make([]float64, 3*n+1), make([]float64, 3*n+1)
	at := func(i int) float64 {
		if i < 0 || i > 3*n {
			return 0
		}
		return phi[i]
	}
	phi[n], phi[2*n] = (1+root)/2, (1-root)/2
	for step := n / 2; step > 0; step /= 2 {
		for i := step; i < 3*n; i += 2 * step {
			for k, v := range h {
				phi[i] += float64(v * at(2*i-k*n))
			}
		}
	}
	for i := range psi {
		for k := range h {
			psi[i] += float64(float64(1-k%2*2) * h[3-k] * at(2*i-k*n))
		}
	}
	return phi, psi
}

// State has the least and the largest number of each dimension.
func (f *wavelets) State() map[string]*matrix.Dense { return map[string]*matrix.Dense{"span": f.span} }

// Dims returns d and D.
func (f *wavelets) Dims() (in, out int) { return f.span.Cols, f.span.Cols * f.at.Cols }

// Bytes counts the numbers of the dimensions and the table.
func (f *wavelets) Bytes() int64 { return 8*int64(f.span.Cols) + 4*int64(len(f.at.Data)) }

// Chosen tells the number of features and of levels.
func (f *wavelets) Chosen() string {
	return fmt.Sprintf("%d functions a dimension, %d levels of wavelets", f.at.Cols, f.levels)
}

// unit is 1/(hi - lo) of a dimension, 0 where they are equal.
func (f *wavelets) unit(c int) float64 {
	if lo, hi := f.span.Row(0)[c], f.span.Row(1)[c]; lo < hi {
		return 1 / (float64(hi) - float64(lo))
	}
	return 0
}

func (f *wavelets) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

func (f *wavelets) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	row := make([]float64, f.span.Cols)
	n, m := f.at.Rows-1, f.at.Cols
	for ; i < end; i++ {
		widen(x, i, row)
		z := dst.Row(i)
		for c, v := range row {
			t := float64(n) * min(max((v-float64(f.span.Row(0)[c]))*f.unit(c), 0), 1)
			at := min(int(t), n-1)
			z := z[c*m:][:m]
			share := float32(t - float64(at)) // of the next
			if copy(z, f.at.Row(at)); !f.step && share != 0 {
				for j, next := range f.at.Row(at + 1) {
					z[j] += share * (next - z[j])
				}
			}
		}
	}
}

// wavelets appends the table by thermometer code of n cells a dimension, whose fractions are linear in u: the features are those at 0 and, for each cell, its
// part of their difference from the cell before.
func (p *Program) wavelets(f *wavelets, x int) (int, error) {
	n, m, d := f.at.Rows-1, f.at.Cols, f.span.Cols
	least, stretch := make([]float32, d), make([]float32, d)
	for c := range least {
		least[c], stretch[c] = -f.span.Row(0)[c], float32(f.unit(c))
		if f.step { // what is rounded begins at the middles of cells
			least[c] -= float32(0.5 / float64(n) * (float64(f.span.Row(1)[c]) - float64(f.span.Row(0)[c])))
		}
	}
	w, err := newWritten(n, m)
	if err != nil {
		return 0, err
	}
	for i := range n {
		for j := range m {
			w.Row(i)[j] = f.at.Row(i + 1)[j] - f.at.Row(i)[j]
		}
	}
	if f.step {
		clear(w.Row(n - 1)) // 1 is in the last cell
	}
	code := p.step(Step{Op: OpThermometer, N: n, V: stretch, Round: f.step, Width: d * n}, p.step(Step{Op: OpShift, V: least}, x))
	var parts []int
	for c := range d {
		cells := make([]int32, n)
		for i := range cells {
			cells[i] = int32(c*n + i)
		}
		parts = append(parts, p.step(Step{Op: OpShift, V: f.at.Row(0)}, p.product(w, p.pick(cells, code))))
	}
	return p.join(parts...), nil
}
