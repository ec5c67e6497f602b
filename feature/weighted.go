package feature

import (
	"fmt"
	"math"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// weighted maps by weighted sums of a kernel's values with m rows h_i:
//
//	z_c(x) = Σ_i w_ic k(h_i, x), c = 1 … D
//
// It is the second half of all maps that are fitted to kernel values: they differ in the
// rows and the weights. Values and sums are float64, or float32 if light reports that this
// loses nothing. A row takes O(md + mD) operations. The map holds 12md + 16mD bytes, or 8md + 8mD.
type weighted struct {
	at  *matrix.Dense // h_i
	w   *matrix.Dense // m×D
	low *matrix.Dense // their rounding error in float32; nil: float32 is enough

	kernel   kernel.Kernel
	against  *kernel.Against
	weights  *vec.Packed[float64]
	weights4 *vec.Packed[float32] // of 4 bytes, instead of weights and, if it is rbf, against
	moved    *gaussians
	height   int // rows of a block
	free     freelist.Slices[float64]
	free4    freelist.Slices[float32]
}

// newWeighted makes the map of weights w, m×D. lean means that it may be computed in float32.
func newWeighted(k kernel.Kernel, rows *matrix.Dense, w []float64, features int, lean bool) (*weighted, error) {
	m := rows.Rows
	f := &weighted{at: rows, w: matrix.NewDense(m, features)}
	if !lean {
		f.low = matrix.NewDense(m, features)
	}
	for i := range m {
		high := f.w.Row(i)
		for c, v := range w[i*features:][:features] {
			high[c] = float32(v)
			if high[c]-high[c] != 0 {
				return nil, fmt.Errorf("the kernel's values are too small for float32 weights; scale the data")
			}
			if !lean {
				f.low.Row(i)[c] = float32(v - float64(high[c]))
			}
		}
	}
	return f, f.prepare(k)
}

// prepare packs what Transform multiplies by.
func (f *weighted) prepare(k kernel.Kernel) error {
	f.kernel = k
	m, d, features := f.at.Rows, f.at.Cols, f.w.Cols
	f.height = max(1, min(56, 1<<18/(d+m+features)))
	if f.low != nil {
		w := make([]float64, m*features)
		for i := range m {
			high, low := f.w.Row(i), f.low.Row(i)
			for c := range high {
				w[i*features+c] = float64(high[c]) + float64(low[c])
			}
		}
		f.weights = vec.Pack64(m, features, w, features)
	} else {
		f.weights4 = vec.Pack32(m, features, f.w.Data, f.w.Stride)
		if k.Kind() == kernel.RBF {
			f.moved = newGaussians(k.Gamma, f.at)
			f.height = max(1, min(112, 1<<19/(d+m)))
			return nil
		}
	}
	var err error
	f.against, err = kernel.NewAgainst(k, matrix.Rows{Dense: f.at})
	return err
}

// State has the rows and the weights, these in two parts if they are float64.
func (f *weighted) State() map[string]*matrix.Dense {
	state := map[string]*matrix.Dense{"rows": f.at, "weights": f.w}
	if f.low != nil {
		state["weights.low"] = f.low
	}
	return state
}

// restoreWeighted rebuilds the map from its State, with at most features outputs.
func restoreWeighted(cfg Config, dim int, state map[string]*matrix.Dense) (*weighted, error) {
	f := &weighted{at: state["rows"], w: state["weights"], low: state["weights.low"]}
	if f.at == nil || f.w == nil || f.at.Cols != dim || f.at.Rows < 1 || f.w.Cols < 1 ||
		f.w.Rows != f.at.Rows || f.w.Cols > cfg.Features || f.low != nil && (f.low.Rows != f.w.Rows || f.low.Cols != f.w.Cols) {
		return nil, fmt.Errorf("feature: %s: the state is not that of %d features of %d dimensions", cfg.Map, cfg.Features, dim)
	}
	for name, part := range state {
		if err := finite(part); err != nil {
			return nil, fmt.Errorf("feature: %s: the state's %s: %w", cfg.Map, name, err)
		}
	}
	if err := f.prepare(cfg.Kernel); err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	return f, nil
}

// finite reports the first number that is not finite.
func finite(m *matrix.Dense) error {
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("row %d, column %d is %g", i+1, j+1, v)
			}
		}
	}
	return nil
}

func (f *weighted) Dims() (in, out int) { return f.at.Cols, f.w.Cols }

// Bytes counts the rows and the weights, as they are stored and as they are packed.
func (f *weighted) Bytes() int64 {
	m := int64(f.at.Rows)
	n := 4 * m * (int64(f.at.Cols) + int64(f.w.Cols))
	if f.against != nil {
		n += f.against.Bytes()
	}
	if f.moved != nil {
		n += 4 * m * int64(f.at.Cols+2)
	}
	if f.low == nil {
		return n + 4*m*int64(f.w.Cols)
	}
	return n + 12*m*int64(f.w.Cols)
}

func (f *weighted) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

// rows transforms rows [i, end) of x by kernel values in float64.
func (f *weighted) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	if f.moved != nil {
		f.rows4(dst, x, i, end)
		return
	}
	m, width := f.at.Rows, f.w.Cols
	rows := min(f.height, end-i)
	work := f.free.Get(rows * (m + width + f.against.Work()))
	defer f.free.Put(work)
	k, z, rest := work[:rows*m], work[rows*m:][:rows*width], work[rows*(m+width):]
	var k4 []float32
	if f.low == nil {
		k4 = f.free4.Get(rows * m)
		defer f.free4.Put(k4)
	}
	for ; i < end; i += rows {
		n := min(rows, end-i)
		f.against.Rows(x, i, i+n, k, rest)
		if f.low == nil {
			for t, v := range k[:n*m] {
				k4[t] = float32(v)
			}
			f.weights4.Multiply(n, k4, m, dst.Data[i*dst.Stride:], dst.Stride, nil)
			continue
		}
		f.weights.Multiply(n, k, m, z, width, nil)
		for r := range n {
			out := dst.Row(i + r)
			for c, v := range z[r*width:][:width] {
				out[c] = float32(v)
			}
		}
	}
}

// rows4 transforms rows [i, end) of x by values of the rbf kernel in float32.
func (f *weighted) rows4(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m, width := f.at.Rows, f.at.Cols+2
	rows := min(f.height, end-i)
	work := f.free4.Get(rows * (m + width))
	defer f.free4.Put(work)
	k, rest := work[:rows*m], work[rows*m:]
	for ; i < end; i += rows {
		n := min(rows, end-i)
		f.moved.values(x, i, i+n, k, rest)
		f.weights4.Multiply(n, k, m, dst.Data[i*dst.Stride:], dst.Stride, nil)
	}
}

// gaussians evaluates the rbf kernel between rows and m rows h_j in float32. With all rows centred
// at the mean of h, -γ‖x-h‖² = 2γ h·x - γ‖x‖² - γ‖h‖² is one product of d+2 terms.
//
// The error of the sum is about 2⁻²⁴·γ(‖x‖² + ‖h‖²), which matters only for rows near h:
// if ‖x‖ > 2‖h‖, the kernel is at most exp(-γ‖x‖²/4).
type gaussians struct {
	d, m   int
	gamma  float64
	mean   []float64
	packed *vec.Packed[float32] // (d+2)×m: 2γh_j, 1, -γ‖h_j‖²
}

func newGaussians(gamma float64, h *matrix.Dense) *gaussians {
	d, m := h.Cols, h.Rows
	g := &gaussians{d: d, m: m, gamma: gamma, mean: meanOf(h)}
	columns := make([]float32, (d+2)*m)
	for j := range m {
		norm := 0.0
		for c, v := range h.Row(j) {
			v := float32(float64(v) - g.mean[c])
			norm += float64(v) * float64(v)
			columns[c*m+j] = float32(2 * gamma * float64(v))
		}
		columns[d*m+j] = 1
		columns[(d+1)*m+j] = float32(-gamma * norm)
	}
	g.packed = vec.Pack32(d+2, m, columns, m)
	return g
}

// meanOf is the mean of the rows.
func meanOf(x *matrix.Dense) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for c, v := range x.Row(i) {
			mean[c] += float64(v)
		}
	}
	for c := range mean {
		mean[c] /= float64(max(x.Rows, 1))
	}
	return mean
}

// values writes the kernel's values of rows [i, j) of x into k, (j-i)×m. work has d+2 numbers
// per row.
func (g *gaussians) values(x matrix.Rows, i, j int, k, work []float32) {
	width := g.d + 2
	for r := i; r < j; r++ {
		row := work[(r-i)*width:][:width]
		if x.CSR != nil {
			laidOut(x.CSR, r, row[:g.d])
			for c, v := range g.mean {
				row[c] = float32(float64(row[c]) - v)
			}
		} else {
			from := x.Dense.Row(r)
			for c, v := range g.mean {
				row[c] = float32(float64(from[c]) - v)
			}
		}
		row[g.d] = float32(max(-g.gamma*vec.DotWide(row[:g.d], row[:g.d]), -math.MaxFloat32))
		row[g.d+1] = 1
	}
	n := j - i
	g.packed.Multiply(n, work, width, k, g.m, nil)
	vec.Exp32(k[:n*g.m], k[:n*g.m])
}

// laidOut writes row i of a sparse matrix in dense form.
func laidOut(m *matrix.CSR, i int, dst []float32) {
	clear(dst)
	idx, val := m.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
}

// light reports whether float32 is enough for weights w on values of the kernel k with rows h.
// Two errors have to be small. That of features is about 2⁻²⁴·k(h, h)·‖w‖_F times 1 to 3 in root
// mean square on data of all sorts (TestLightFeaturesAreNearlyThoseOfFloat64). And that of
// single values of rbf, for rows near a landmark, grows to 2⁻²⁴·4γR², R being how far the
// landmarks are from their mean.
func light(k kernel.Kernel, rows *matrix.Dense, w []float64) bool {
	largest, times := 0.0, 4.0
	for _, v := range k.Diagonal(matrix.Rows{Dense: rows}) {
		largest = max(largest, v)
	}
	if k.Kind() == kernel.RBF {
		mean, most := meanOf(rows), 0.0
		for i := range rows.Rows {
			r := 0.0
			for c, v := range rows.Row(i) {
				v := float64(v) - mean[c]
				r += float64(v * v)
			}
			most = max(most, r)
		}
		if 0x1p-24*4*k.Gamma*most > nearly {
			return false
		}
		times += k.Gamma * most / 4
	}
	return 0x1p-24*times*math.Sqrt(largest*vec.Dot64(w, w)) <= lightly
}

// lightly is the largest error of features that counts as negligible, relative to √k(h, h), roughly
// the length of z(h); inner products differ by less. nearly is that of single values.
const lightly, nearly = 3e-5, 1e-5
