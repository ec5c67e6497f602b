package hypothesis

import "slices"

// The adjusted p-values of several hypotheses: to reject those that have at most α holds the
// probability of any wrong rejection below α, whichever hypotheses are true. All return a new slice
// in the order of p, and none has a value above 1.

// Bonferroni multiplies p-values by their number m: min(1, m·p).
func Bonferroni(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	for i, v := range p {
		adjusted[i] = min(1, float64(len(p))*v)
	}
	return adjusted
}

// Holm steps down from the smallest p-value (Holm 1979): for p sorted upwards
// max over j ≤ i of (m-j+1)·pⱼ. It is never larger than Bonferroni's.
func Holm(p []float64) []float64 {
	return stepDown(p, func(j int) int { return len(p) - j })
}

// Shaffer is Holm's procedure for the comparisons of all pairs of k methods, len(p) = k(k-1)/2, which
// cannot be true in any number: pⱼ is multiplied by the most of them that can be true when j-1 are
// false (Shaffer 1986, the static procedure). It panics if len(p) is not that of k methods.
func Shaffer(p []float64, k int) []float64 {
	if len(p) != k*(k-1)/2 {
		panic("rank: Shaffer: p is not of all pairs of the methods")
	}
	can := possiblyTrue(k)
	return stepDown(p, func(j int) int {
		most := len(p) - j
		for !can[most] {
			most--
		}
		return most
	})
}

// possiblyTrue says which numbers of the pairwise equalities of k methods can be true together: the methods
// fall into classes of equal ones, and a class of c has c(c-1)/2.
func possiblyTrue(k int) []bool {
	sets := make([][]bool, k+1)
	sets[0] = []bool{true}
	for n := 1; n <= k; n++ {
		sets[n] = make([]bool, n*(n-1)/2+1)
		for c := 1; c <= n; c++ {
			for rest, can := range sets[n-c] {
				if can {
					sets[n][c*(c-1)/2+rest] = true
				}
			}
		}
	}
	return sets[k]
}

// stepDown multiplies the j-th smallest p-value, from 0, by factor(j) and lets none be below one before it.
func stepDown(p []float64, factor func(j int) int) []float64 {
	adjusted := make([]float64, len(p))
	largest := 0.0
	for j, i := range Order(p) {
		largest = max(largest, min(1, float64(factor(j))*p[i]))
		adjusted[i] = largest
	}
	return adjusted
}

// Hochberg steps up from the largest p-value (Hochberg 1988): for p sorted upwards
// min over j ≥ i of (m-j+1)·pⱼ. It is never larger than Holm's, but holds its level only where the
// tests are independent or depend positively on one another, as comparisons with one control do.
func Hochberg(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	order := Order(p)
	slices.Reverse(order)
	smallest := 1.0
	for j, i := range order {
		smallest = min(smallest, float64(j+1)*p[i])
		adjusted[i] = smallest
	}
	return adjusted
}
