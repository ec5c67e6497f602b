package feature

import (
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
// so that z(x)·z(y) = k_h(x)ᵀ K_hh⁺ k_h(y) is the inner product of what is left of x and y in
// the kernel's feature space when they are projected on the span of the landmarks. It is
// k(x, y) if one of the two is a landmark, and k(x, x) - z(x)·z(x) ≥ 0 is the squared length
// of what is lost.
//
// Features are the kernel principal components (not centred), the largest first. V Λ^(-1/2) Vᵀ,
// which others multiply by, is the same but for a rotation, so that no inner product differs;
// without it, eigenvalues that are dropped cost no features: those below 10⁻¹⁰ of the largest,
// of landmarks that come twice, say, and all but the rank largest. So D is the rank.
//
// Fitting takes O(m²d + m³) operations and what the choice of landmarks takes; a row then O(md + mD).
// The map holds 12md + 16mD bytes, or 8md + 8mD where products in float32 are exact enough.
const Nystrom = "nystrom"

// nystrom is the map [Nystrom].
type nystrom struct{ *weighted }

func fitNystrom(cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(cfg, sample, "uniform")
	if err != nil {
		return nil, err
	}
	return newNystrom(cfg, h)
}

// newNystrom makes the map of landmarks.
func newNystrom(cfg Config, h *matrix.Dense) (*nystrom, error) {
	w, r, err := nystromWeights(cfg, h)
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
func nystromWeights(cfg Config, h *matrix.Dense) (w []float64, r int, err error) {
	against, err := kernel.NewAgainst(cfg.Kernel, matrix.Rows{Dense: h})
	if err != nil {
		return nil, 0, err
	}
	gram, largest, err := gramOf(against, h)
	if err != nil {
		return nil, 0, err
	}
	values, v, err := positiveEigen(h.Rows, gram, largest)
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

// Chosen tells the rank.
func (f *nystrom) Chosen() string {
	return fmt.Sprintf("rank %d of %d landmarks", f.w.Cols, f.at.Rows)
}
