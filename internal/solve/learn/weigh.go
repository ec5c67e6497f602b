package learn

import (
	"context"
	"errors"
	"math"

	"mercer/internal/solve/moments"
)

// Align weighs the kernels whose features lie side by side, widths[g] of the kernel g, by centred alignment (Cortes, Mohri and
// Rostamizadeh 2012): the sum Σ μ_g K_g, μ ≥ 0, whose cosine with YYᵀ is largest. All that takes is in the moments,
// because ⟨K_g, K_h⟩ = ‖H_gh‖² and ⟨K_g, YYᵀ⟩ = ‖V_g‖². The sum has the trace that it has with equal weights.
func Align(m *moments.Moments, widths []int) []float64 {
	n := len(widths)
	first := starts(widths)
	products, target := make([]float64, n*n), make([]float64, n)
	for g := range n {
		for i := first[g]; i < first[g+1]; i++ {
			for t := range m.K {
				target[g] += m.V[i*m.K+t] * m.V[i*m.K+t]
			}
			for h := g; h < n; h++ {
				sum := 0.0
				for j := max(i, first[h]); j < first[h+1]; j++ {
					v := m.H[i*m.D+j]
					if sum += v * v; h == g && j > i {
						sum += v * v
					}
				}
				products[g*n+h] += sum
			}
		}
	}
	for g := range n {
		for h := range g {
			products[g*n+h] = products[h*n+g]
		}
	}
	// min μᵀMμ - 2μᵀa over μ ≥ 0, one weight after the other.
	mu := make([]float64, n)
	for range 10_000 {
		moved := 0.0
		for g := range n {
			if products[g*n+g] == 0 {
				continue
			}
			rest := target[g]
			for h := range n {
				if h != g {
					rest -= products[g*n+h] * mu[h]
				}
			}
			to := max(0, rest/products[g*n+g])
			moved = max(moved, math.Abs(to-mu[g])*math.Sqrt(products[g*n+g]))
			mu[g] = to
		}
		if moved <= 1e-12*math.Sqrt(products[0]) {
			break
		}
	}
	return levelled(m, first, mu)
}

// starts are the numbers of the first features, and of all.
func starts(widths []int) []int {
	first := make([]int, len(widths)+1)
	for g, w := range widths {
		first[g+1] = first[g] + w
	}
	return first
}

// leastWeight is that of a kernel which is better left out, as a part of the largest.
const leastWeight = 1e-6

// levelled makes the trace of the weighted sum that of equal weights, and no weight 0.
func levelled(m *moments.Moments, first []int, mu []float64) []float64 {
	most, all, weighted := 0.0, 0.0, 0.0
	for _, v := range mu {
		most = max(most, v)
	}
	for g := range mu {
		if most == 0 {
			mu[g] = 1
		}
		mu[g] = max(mu[g], leastWeight*most)
		for i := first[g]; i < first[g+1]; i++ {
			h := m.H[i*m.D+i]
			all, weighted = all+h, weighted+mu[g]*h
		}
	}
	for g := range mu {
		if weighted > 0 {
			mu[g] *= all / weighted
		}
	}
	return mu
}

// weighFactors are those by which a weight is changed, one after the other, as long as that brings something.
var weighFactors = []float64{4, 2}

// Weigh weighs the kernels whose features lie side by side, widths[g] of the kernel g, by the error of ridge regression on
// held-out rows (two parts, the second of which is held out) or folds: λ by the path, then one weight after the other by
// factors of 4 and 2, up and down. Each trial is a Cholesky factorisation of (H + λ diag(1/μ)), or one a fold.
func Weigh(ctx context.Context, parts []*moments.Stats, widths []int) ([]float64, error) {
	m := parts[0].Moments()
	f := &ridgeFit{ctx: ctx, solver: newSolver(m.D, m.K), report: &RidgeReport{}}
	whole, _, judge := f.judge(parts)
	if judge == nil {
		return nil, errors.New("there are too few rows to weigh kernels by held-out ones")
	}
	first, mu := starts(widths), make([]float64, len(widths))
	f.solver.penalty = make([]float64, m.D)
	set := func(g int, v float64) {
		mu[g] = v
		for i := first[g]; i < first[g+1]; i++ {
			f.solver.penalty[i] = 1 / v
		}
	}
	for g := range mu {
		set(g, 1)
	}
	if err := f.search(whole, judge); err != nil {
		return nil, err
	}
	least, err := judge(f.report.Lambda)
	if err != nil {
		return nil, err
	}
	for _, factor := range weighFactors {
		for better, rounds := true, 0; better && rounds < 3; rounds++ {
			better = false
			for g := range mu {
				for _, by := range []float64{factor, 1 / factor} {
					for moves := 0; moves < 4; moves++ {
						before := mu[g]
						set(g, before*by)
						e, err := judge(f.report.Lambda)
						if ctx.Err() != nil {
							return nil, ctx.Err()
						}
						if err != nil || !(e < least*(1-1e-4)) {
							set(g, before)
							break
						}
						least, better = e, true
					}
				}
			}
		}
	}
	return levelled(whole, first, mu), nil
}
