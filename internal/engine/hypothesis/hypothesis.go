// Package hypothesis compares methods: over data sets by their ranks, over rows by pairs.
//
// Over data sets it follows Demšar ("Statistical comparisons of classifiers over multiple data
// sets", 2006): Friedman's test says whether the methods differ at all, and what comes after it
// says which; two methods have Wilcoxon's signed ranks. Over the rows of one data set it has
// McNemar's test and the bootstrap, and over the folds of a cross-validation the corrected t-test.
//
// p-values are two-sided. Everything is exact or an approximation that is named, and runs in memory of
// the size of its arguments but where a function says otherwise.
package hypothesis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// meanRanks returns the mean ranks of the methods over data sets: scores has a row a data set and a
// column a method. The best of a row, the largest where higher is better, has rank 1; equal scores
// share the mean of their ranks. It fails on rows of different lengths and on scores that are not
// finite. It also returns Σ(t³ - t) over the groups of t equal scores in a row.
func meanRanks(scores [][]float64, higher bool) (ranks []float64, ties float64, err error) {
	if len(scores) == 0 || len(scores[0]) == 0 {
		return nil, 0, fmt.Errorf("rank: no scores")
	}
	ranks = make([]float64, len(scores[0]))
	row := make([]float64, len(ranks))
	for i, values := range scores {
		if len(values) != len(ranks) {
			return nil, 0, fmt.Errorf("rank: data set %d has %d scores, but data set 1 has %d", i+1, len(values), len(ranks))
		}
		for j, v := range values {
			if v-v != 0 {
				return nil, 0, fmt.Errorf("rank: data set %d, method %d: %g is not a finite number", i+1, j+1, v)
			}
			row[j] = v
			if higher {
				row[j] = -v
			}
		}
		of, t := ranked(row)
		for j, r := range of {
			ranks[j] += r
		}
		ties += t
	}
	for j := range ranks {
		ranks[j] /= float64(len(scores))
	}
	return ranks, ties, nil
}

// ranked gives each value its rank from 1, the smallest first, equal ones their mean, and
// Σ(t³ - t) over the groups of t equal ones.
func ranked(values []float64) (ranks []float64, ties float64) {
	order := Order(values)
	ranks = make([]float64, len(values))
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && values[order[hi]] == values[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			ranks[i] = float64(lo+hi+1) / 2
		}
		t := float64(hi - lo)
		ties += t*t*t - t
		lo = hi
	}
	return ranks, ties
}

// Order lists the indices of values from the smallest to the largest, equal ones as they stand: of
// mean ranks, the methods from the best to the worst.
func Order(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// normalTail is P(|Z| ≥ |z|) of a standard normal Z.
func normalTail(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
