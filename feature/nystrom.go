package feature

import (
	"context"
	"fmt"
	"math"

	"mercer/kernel"
	"mercer/matrix"
)

// Nystrom maps by Nyström's method (Williams and Seeger, "Using the Nyström method to speed up
// kernel machines", 2001): with K_hh = VΛVᵀ the Gram matrix of m landmarks h_i,
//
//	z(x) = Λ^(-1/2) Vᵀ k_h(x),  k_h(x) = [k(h_1, x), …, k(h_m, x)]
//
// so that z(x)·z(y) = k_h(x)ᵀ K_hh⁺ k_h(y) is the inner product of x and y after projection
// onto the span of the landmarks in the kernel's feature space. It equals k(x,
// y) if one of the two is a landmark, and k(x, x) - z(x)·z(x) ≥ 0 is the squared length
// of the lost part.
//
// Features are the kernel principal components (not centred), the largest first. The usual V
// Λ^(-1/2) Vᵀ differs only by a rotation, which changes no inner product; without it,
// every eigenvalue that is dropped saves a feature: those below 10⁻¹⁰ of the largest,
// from duplicate landmarks, say, and all but the rank largest. So D is the rank.
//
// Fitting takes O(m²d + m³) operations plus those of the choice of landmarks; a row
// then O(md + mD). The map holds 12md + 16mD bytes, or 8md + 8mD if products in float32 are accurate enough.
const Nystrom = "nystrom"

// nystrom is the map [Nystrom].
type nystrom struct{ *weighted }

func fitNystrom(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(ctx, cfg, sample, "uniform")
	if err != nil {
		return nil, err
	}
	return newNystrom(ctx, cfg, h)
}

// newNystrom makes the map of landmarks.
func newNystrom(ctx context.Context, cfg Config, h *matrix.Dense) (*nystrom, error) {
	w, r, err := nystromWeights(ctx, cfg, h)
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	f, err := newWeighted(cfg.Kernel, h, w, r, light(cfg.Kernel, h, w))
	if err != nil {
		return nil, fmt.Errorf("feature: %s: %w", cfg.Map, err)
	}
	return &nystrom{f}, nil
}

// nystromWeights returns VΛ^(-1/2), m×r, and r.
func nystromWeights(ctx context.Context, cfg Config, h *matrix.Dense) (w []float64, r int, err error) {
	against, err := kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: h})
	if err != nil {
		return nil, 0, err
	}
	gram, largest, err := gramOf(ctx, against, h)
	if err != nil {
		return nil, 0, err
	}
	values, v, err := positiveEigen(ctx, h.Rows, gram, largest)
	if err != nil {
		return nil, 0, err
	}
	all := len(values)
	if all == 0 {
		return nil, 0, fmt.Errorf("the kernel of all landmarks is 0; it takes others")
	}
	if r = all; cfg.Rank > 0 {
		r = min(r, cfg.Rank)
	}
	w = make([]float64, h.Rows*r)
	for k := range r {
		root := math.Sqrt(values[k])
		for i := range h.Rows {
			w[i*r+k] = v[i*all+k] / root
		}
	}
	return w, r, nil
}

func restoreNystrom(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f, err := restoreWeighted(cfg, dim, state)
	if err != nil {
		return nil, err
	}
	return &nystrom{f}, nil
}

// Chosen is the rank.
func (f *nystrom) Chosen() string {
	return fmt.Sprintf("rank %d of %d landmarks", f.w.Cols, f.at.Rows)
}
