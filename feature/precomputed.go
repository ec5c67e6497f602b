package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Precomputed maps rows that are kernel values k(x, h_1), …, k(x, h_m) with fixed rows h, such as those of a training
// (Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel eigenvalue problem", 1998): with
// K_hh = UΛUᵀ it is z(x) = Λ^(-1/2) Uᵀ k_h(x), so that z(x)·z(y) is k(x, y) where one of the two is an h, and Nyström's
// approximation for others. Every linear learner on z is a machine of the kernel itself.
//
// K_hh is the sample itself, which then is the square matrix of the training rows in their order, or its columns Config.Own, where it is a part
// of these rows and the others are not seen; or the option Landmarks is given. Eigenvalues below 10⁻⁶ of the largest are dropped, since values are float32; so are all but the Rank
// largest. Fitting takes O(m³) operations and 8m² bytes, a row O(mD). The map holds 16mD bytes.
const Precomputed = "precomputed"

// precomputed is the map [Precomputed].
type precomputed struct {
	w, low *matrix.Dense // m×D, and its rounding error in float32
	packed *vec.Packed[float64]
	free   freelist.Slices[float64]
}

// noise is the part of the largest eigenvalue below which others tell nothing, and negative a part that no rounding makes of 0.
const noise, negative = 1e-6, 1e-4

func checkPrecomputed(cfg Config) error {
	if cfg.Landmarks != "" && cfg.Landmarks != "columns" && cfg.Landmarks != "given" || cfg.Rank < 0 {
		return fmt.Errorf("feature: precomputed: landmarks %q, rank %d: landmarks are columns or given, a rank is 1 or more, or 0 for all",
			cfg.Landmarks, cfg.Rank)
	}
	return nil
}

func fitPrecomputed(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	var gram *matrix.Dense
	m := sample.Dim()
	switch {
	case cfg.Landmarks == "given":
		if gram = cfg.Given; gram == nil || gram.Rows != m || gram.Cols != m {
			return nil, fmt.Errorf("feature: precomputed: rows have %d kernel values, so that the given matrix of these landmarks is %d×%d", m, m, m)
		}
	case sample.Len() != m && len(cfg.Own) != sample.Len():
		return nil, fmt.Errorf("feature: precomputed: %d rows of %d kernel values: the matrix of training rows is square, in their order; give it, "+
			"or the matrix of the columns' own rows as landmarks (%d rows at most)", sample.Len(), m, precomputedRows)
	case sample.CSR != nil:
		gram = new(matrix.Dense)
		sample.CSR.Densify(gram)
	default:
		gram = sample.Dense
	}
	own := cfg.Own
	if sample.Len() == m || cfg.Landmarks == "given" {
		own = nil
	}
	if own == nil {
		for i := range m {
			own = append(own, i)
		}
	} else if last := slices.Max(own); last >= m {
		return nil, fmt.Errorf("feature: precomputed: row %d of the matrix has %d values: it is square, in the order of its rows", last+1, m)
	}
	in := m
	m = len(own)
	if err := affordable(cfg, m, 24*float64(m)*float64(m)); err != nil {
		return nil, err
	}
	k := make([]float64, m*m)
	largest := 0.0
	for i := range m {
		largest = max(largest, math.Abs(float64(gram.Row(i)[own[i]])))
	}
	for i := range m {
		for j := range m {
			v, other := gram.Row(i)[own[j]], gram.Row(j)[own[i]]
			if d := float64(v) - float64(other); !(math.Abs(d) <= 1e-4*largest) {
				return nil, fmt.Errorf("feature: precomputed: the matrix is not symmetric: row %d, column %d is %g, and row %d, column %d is %g (from 1)",
					own[i]+1, own[j]+1, v, own[j]+1, own[i]+1, other)
			}
			k[i*m+j] = (float64(v) + float64(other)) / 2
		}
	}
	ascending := make([]float64, m)
	if !vec.EigenSym(ctx, m, k, m, ascending, true) {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("feature: precomputed: the eigenvalues of the matrix did not converge"))
	}
	most := ascending[m-1]
	switch {
	case !(most > 0):
		return nil, fmt.Errorf("feature: precomputed: the matrix has no eigenvalue above 0, so it is no kernel")
	case ascending[0] < -negative*most:
		return nil, fmt.Errorf("feature: precomputed: the matrix is no kernel: its least eigenvalue is %.4g, its largest %.4g. Add %.4g to the "+
			"diagonal, or take the product of the matrix with itself", ascending[0], most, -ascending[0])
	}
	r := 0
	for r < m && ascending[m-1-r] > noise*most && (cfg.Rank == 0 || r < cfg.Rank) {
		r++
	}
	f := &precomputed{w: matrix.NewDense(in, r), low: matrix.NewDense(in, r)}
	for c := range r {
		vector, sum := k[(m-1-c)*m:][:m], 0.0
		for _, v := range vector {
			sum += v
		}
		root := math.Copysign(1/math.Sqrt(ascending[m-1-c]), sum)
		for i, v := range vector {
			f.w.Row(own[i])[c] = float32(v * root)
			f.low.Row(own[i])[c] = float32(v*root - float64(f.w.Row(own[i])[c]))
		}
	}
	f.pack()
	return f, nil
}

func restorePrecomputed(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f := &precomputed{w: state["weights"], low: state["weights.low"]}
	if f.w == nil || f.low == nil || f.w.Rows != dim || f.w.Cols < 1 || f.low.Rows != dim || f.low.Cols != f.w.Cols {
		return nil, fmt.Errorf("feature: precomputed: the state is not that of rows of %d values", dim)
	}
	for name, part := range state {
		if err := finite(part); err != nil {
			return nil, fmt.Errorf("feature: precomputed: the state's %s: %w", name, err)
		}
	}
	f.pack()
	return f, nil
}

// pack lays the weights out for products.
func (f *precomputed) pack() {
	w := make([]float64, 0, f.w.Rows*f.w.Cols)
	for i := range f.w.Rows {
		for c, v := range f.w.Row(i) {
			w = append(w, float64(v)+float64(f.low.Row(i)[c]))
		}
	}
	f.packed = vec.Pack64(f.w.Rows, f.w.Cols, w, f.w.Cols)
}

// State has the weights in two parts.
func (f *precomputed) State() map[string]*matrix.Dense {
	return map[string]*matrix.Dense{"weights": f.w, "weights.low": f.low}
}

func (f *precomputed) Dims() (in, out int) { return f.w.Rows, f.w.Cols }

// Bytes counts the weights, as they are stored and as they are packed.
func (f *precomputed) Bytes() int64 { return 16 * int64(f.w.Rows) * int64(f.w.Cols) }

// Chosen is the rank.
func (f *precomputed) Chosen() string {
	return fmt.Sprintf("rank %d of %d columns", f.w.Cols, f.w.Rows)
}

func (f *precomputed) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

// rows transforms rows [i, end) of x.
func (f *precomputed) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m, width := f.w.Rows, f.w.Cols
	work := f.free.Get(m + width)
	defer f.free.Put(work)
	row, z := work[:m], work[m:]
	for ; i < end; i++ {
		if x.CSR != nil {
			clear(row)
			idx, val := x.CSR.Row(i)
			for k, j := range idx {
				row[j] = float64(val[k])
			}
		} else {
			for j, v := range x.Dense.Row(i) {
				row[j] = float64(v)
			}
		}
		f.packed.Multiply(1, row, m, z, width, nil)
		for c, v := range z {
			dst.Row(i)[c] = float32(v)
		}
	}
}

// precomputedRows is the most columns of a square matrix that is the sample.
const precomputedRows = 1 << 14
