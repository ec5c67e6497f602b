package tune

import (
	"math"
	"slices"

	"mercer/train"
)

// pick finds the candidate with the best mean, and by "one-se" the simplest of those whose mean is worse
// by at most its standard error (Breiman, Friedman, Olshen and Stone 1984). Simplest means, in this order:
// the fewest features or principal components, for which a machine with the kernel itself counts its
// training rows or landmarks; the lowest degree; the learner of the candidate with the best mean; the
// strongest penalty, which is the largest λ or the smallest C; and the best mean. Ties are broken by the
// order of the candidates.
func pick(all []*Candidate, larger bool, rule string) (best, picked *Candidate) {
	better := func(a, b *Candidate) bool {
		if larger {
			return a.Mean > b.Mean
		}
		return a.Mean < b.Mean
	}
	best = all[0]
	for _, c := range all {
		if better(c, best) {
			best = c
		}
	}
	if rule != "one-se" {
		return best, best
	}
	left := slices.DeleteFunc(slices.Clone(all), func(c *Candidate) bool { return math.Abs(c.Mean-best.Mean) > best.SE })
	least := func(of func(c *Candidate) float64) {
		low := math.Inf(1)
		for _, c := range left {
			low = min(low, of(c))
		}
		left = slices.DeleteFunc(left, func(c *Candidate) bool { return of(c) > low })
	}
	least(func(c *Candidate) float64 { return float64(c.Size) })
	least(func(c *Candidate) float64 { return float64(c.Config.Kernel.Degree) })
	first := left[0]
	for _, c := range left {
		if better(c, first) {
			first = c
		}
	}
	ridge := func(c *Candidate) train.Ridge { return train.As[train.Ridge](c.Config.Learner) }
	left = slices.DeleteFunc(left, func(c *Candidate) bool {
		return c.Config.LearnerName() != first.Config.LearnerName() || ridge(c).LambdaBy != ridge(first).LambdaBy
	})
	least(func(c *Candidate) float64 { return -ridge(c).Lambda })
	least(func(c *Candidate) float64 { return train.As[train.SVM](c.Config.Learner).C })
	picked = left[0]
	for _, c := range left {
		if better(c, picked) {
			picked = c
		}
	}
	return best, picked
}
