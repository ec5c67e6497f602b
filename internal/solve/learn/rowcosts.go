package learn

import (
	"fmt"
	"math"
)

// costs are the cᵢ.
func costs(n int, weights []float64, c float64) ([]float64, error) {
	if !(c > 0) || math.IsInf(c, 0) {
		return nil, fmt.Errorf("the losses cannot be weighed by C = %g: it is a number above 0", c)
	}
	cost := make([]float64, n)
	any := false
	for i := range cost {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("row %d has the weight %g: weights are numbers of at least 0", i, w)
		}
		cost[i] = c * w
		any = any || w > 0
	}
	if !any {
		return nil, fmt.Errorf("no row has a weight above 0: there is nothing to train on")
	}
	return cost, nil
}

// weighClasses multiplies the costs of rows by the weights of their classes: for one class, or
// for all if that is -1.
func weighClasses(cost []float64, class []int, weights []float64, only int) {
	for i, c := range class {
		if only < 0 || c == only {
			cost[i] *= weights[c]
		}
	}
}

// checkClassWeights finds invalid class weights; checking their number is up to the caller.
func checkClassWeights(weights []float64, classes int) error {
	if weights != nil && len(weights) != classes {
		panic(fmt.Sprintf("learn: %d classes given %d class weights", classes, len(weights)))
	}
	for c, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("class %d has the weight %g: weights are numbers of at least 0", c, w)
		}
	}
	return nil
}

// side is the target of a class in output t of k: 1 in its own, -1 in the others; of a single
// output, 1 for the second class.
func side(class, t, k int) float64 {
	if k == 1 && class == 1 || k > 1 && class == t {
		return 1
	}
	return -1
}

// smallestSides is, for each of k outputs, the share of the rows of its smaller side, but at
// least that of one row.
func smallestSides(class []int, cost []float64, k int) []float64 {
	share := make([]float64, k)
	count := make([]float64, max(k, 2))
	total := 0.0
	for i, c := range class {
		if cost[i] > 0 {
			count[c]++
			total++
		}
	}
	for t := range share {
		positive := count[t]
		if k == 1 {
			positive = count[1]
		}
		share[t] = max(min(positive, total-positive), 1) / total
	}
	return share
}
