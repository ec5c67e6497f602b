package feature

import (
	"context"
	"fmt"

	"mercer/internal/engine/freelist"
	"mercer/kernel"
	"mercer/matrix"
)

// Maps whose features are the kernel's values with m rows (Kumar, "Large-scale machine learning:
// kernel methods", 2010). A linear model on them has the form Σ_j w_j k(x, h_j) of a kernel machine,
// but penalises ‖w‖² instead of wᵀK_hh w: z(x)·z(y) is a kernel, but not k.
//
// A row takes O(md) operations, in float64; the map holds 12md bytes.
const (
	// Empirical is the empirical kernel map, z(x) = [k(x, h_1), …, k(x, h_m)] with landmarks h_j.
	Empirical = "empirical"

	// RBFNetwork is radial basis functions around cluster centres, exp(-‖x-μ_j‖²/s²),
	// s² = 1/γ of the rbf kernel, or s_j² for each centre (Options.Widths).
	RBFNetwork = "rbf-network"
)

// compared is the maps [Empirical] and [RBFNetwork].
type compared struct {
	at      *matrix.Dense // h_j
	kernel  kernel.Kernel
	against *kernel.Against
	height  int
	free    freelist.Slices[float64]
}

func fitCompared(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(ctx, cfg, sample, "uniform")
	if err != nil {
		return nil, err
	}
	return newCompared(cfg, h)
}

func newCompared(cfg Config, h *matrix.Dense) (*compared, error) {
	against, err := kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: h})
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	height := max(1, min(56, 1<<18/(h.Cols+h.Rows)))
	return &compared{at: h, kernel: cfg.Kernel, against: against, height: height}, nil
}

// State has the rows.
func (f *compared) State() map[string]*matrix.Dense { return map[string]*matrix.Dense{"rows": f.at} }

func restoreCompared(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	h := state["rows"]
	if h == nil || h.Cols != dim || h.Rows < 1 || h.Rows > cfg.Features {
		return nil, fmt.Errorf("feature: %s: the state is not that of %d features of %d dimensions", cfg.Map, cfg.Features, dim)
	}
	if err := finite(h); err != nil {
		return nil, fmt.Errorf("feature: %s: the state's rows: %w", cfg.Map, err)
	}
	return newCompared(cfg, h)
}

func (f *compared) Dims() (in, out int) { return f.at.Cols, f.at.Rows }

// Bytes counts the rows, as they are stored and as they are packed.
func (f *compared) Bytes() int64 {
	return f.against.Bytes() + 4*int64(f.at.Rows)*int64(f.at.Cols)
}

// Chosen is the number of rows.
func (f *compared) Chosen() string { return fmt.Sprintf("%d landmarks", f.at.Rows) }

func (f *compared) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

func (f *compared) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m := f.at.Rows
	height := min(f.height, end-i)
	work := f.free.Get(height * (m + f.against.Work()))
	defer f.free.Put(work)
	k, rest := work[:height*m], work[height*m:]
	for ; i < end; i += height {
		n := min(height, end-i)
		f.against.Rows(x, i, i+n, k, rest)
		for r := range n {
			out := dst.Row(i + r)
			for j, v := range k[r*m:][:m] {
				out[j] = float32(v)
			}
		}
	}
}
