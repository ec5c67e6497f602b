package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// medianPairs is how many pairs MedianGamma looks at. The median of so many has a standard
// error of a third of a percentile.
const medianPairs = 20_000

// MedianGamma returns the γ that puts the kernel's width at the median distance between rows
// of x: 1/(median ‖Δ‖²) for rbf, and 1/(median ‖Δ‖₁) for laplacian, so that a pair at the
// median has k = 1/e. The median is over all pairs of different rows if they are at most 20,000, else
// over so many random ones, which depend on seed alone. If more than half of the distances
// are 0, the others count. It fails for other kernels, and if all rows are equal.
func MedianGamma(x matrix.Rows, seed uint64, kernelName string) (gamma float64, err error) {
	if kernelName != "rbf" && kernelName != "laplacian" {
		return 0, fmt.Errorf("kernel: gamma by the median distance is for rbf and laplacian, not for %q; give a number or use scale", kernelName)
	}
	n := x.Len()
	if n < 2 {
		return 0, fmt.Errorf("kernel: gamma by the median distance needs two rows or more, not %d; give gamma as a number", n)
	}
	pairs := randomPairs(n, seed)
	distances := make([]float64, len(pairs))
	vec.Parallel(len(pairs), 256, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			distances[p] = distance(x, pairs[p][0], pairs[p][1], kernelName == "laplacian")
		}
	})
	slices.Sort(distances)
	m := median(distances)
	if m == 0 {
		positive := slices.IndexFunc(distances, func(d float64) bool { return d > 0 })
		if positive < 0 {
			return 0, errors.New("kernel: gamma by the median distance: all rows are equal; give gamma as a number")
		}
		m = median(distances[positive:])
	}
	gamma = 1 / m
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by the median distance: the median %g is out of range; scale the data or give gamma as a number", m)
	}
	return gamma, nil
}

// randomPairs returns all pairs i < j < n if they are at most medianPairs, else so many
// random pairs of different numbers.
func randomPairs(n int, seed uint64) [][2]int {
	pairs := make([][2]int, 0, medianPairs)
	if n <= 200 {
		for i := range n {
			for j := i + 1; j < n; j++ {
				pairs = append(pairs, [2]int{i, j})
			}
		}
		return pairs
	}
	r := random.New(seed, "kernel.median")
	for range medianPairs {
		i, j := r.Intn(n), r.Intn(n-1)
		if j >= i {
			j++
		}
		pairs = append(pairs, [2]int{i, j})
	}
	return pairs
}

// median is that of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// distance is ‖x_i-x_j‖₁ if l1, else ‖x_i-x_j‖².
func distance(x matrix.Rows, i, j int, l1 bool) float64 {
	sum := 0.0
	add := func(a, b float32) {
		if d := float64(a) - float64(b); l1 {
			sum += math.Abs(d)
		} else {
			sum += d * d
		}
	}
	if x.Dense != nil {
		b := x.Dense.Row(j)
		for k, v := range x.Dense.Row(i) {
			add(v, b[k])
		}
		return sum
	}
	aIdx, a := x.CSR.Row(i)
	bIdx, b := x.CSR.Row(j)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && aIdx[0] < bIdx[0]:
			add(a[0], 0)
			aIdx, a = aIdx[1:], a[1:]
		case len(a) == 0 || bIdx[0] < aIdx[0]:
			add(0, b[0])
			bIdx, b = bIdx[1:], b[1:]
		default:
			add(a[0], b[0])
			aIdx, a, bIdx, b = aIdx[1:], a[1:], bIdx[1:], b[1:]
		}
	}
	return sum
}

// ScaleGamma returns 1/(dim·variance), what scikit-learn calls "scale": variance is that of
// all elements of the data together.
func ScaleGamma(dim int, variance float64) (float64, error) {
	gamma := 1 / (float64(dim) * variance)
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by scale: %d dimensions of variance %g give none; give gamma as a number", dim, variance)
	}
	return gamma, nil
}
