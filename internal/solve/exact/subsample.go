package exact

import (
	"fmt"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Subsample returns a machine of p of the n terms of another's expansion, drawn uniformly without
// replacement, their weights times n/p (Kumar's lecture of 2010): it predicts at p/n of the cost.
// A score is unbiased over the draws. With the terms t_j = α_j·k(x, x_j), their mean t̄ and S²
// = Σ(t_j - t̄)²/(n-1), its variance is
//
//	n²·(1 - p/n)/p·S²,
//
// that of sampling from a finite population. Falkon instead trains with p of the
// terms, rather than dropping terms after training with all.
func (m *Machine) Subsample(p int, seed uint64) (*Machine, error) {
	n, k := m.x.Len(), len(m.b)
	if p < 1 || p > n {
		return nil, fmt.Errorf("exact: %d of %d terms; it takes 1 or more, and no more than there are", p, n)
	}
	chosen := random.New(seed, "exact.subsample").Perm(n)[:p]
	slices.Sort(chosen)
	scale := float64(n) / float64(p)
	alpha := make([]float64, 0, p*k)
	for _, i := range chosen {
		for _, a := range m.alpha[i*k:][:k] {
			alpha = append(alpha, a*scale)
		}
	}
	return NewMachine(m.kernel, matrix.Pick(m.x, chosen), alpha, m.b)
}
