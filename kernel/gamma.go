package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/random"
	"mercer/internal/vec"
	"mercer/matrix"
)

// medianPairs is how many pairs MedianGamma looks at. The median of so many has a standard
// error of a third of a percentile.
const medianPairs = 20_000

// MedianGamma returns the γ that puts the kernel's width at the median distance between rows
// of x, and for kernels of x·y the median length:
//
//	rbf, matern      1/(median ‖Δ‖²), so that a pair at the median has k = 1/e for rbf
//	laplacian        1/(median ‖Δ‖₁)
//	cauchy           1/√(median ‖Δ‖²)
//	poly, exp        1/(median ‖x‖²), at which γ‖x‖² is then 1
//	exp-chi2         1/(median Σ Δ_j²/(x_j+y_j))
//	all others       1: they have no γ, and take any
//
// The median of distances is over all pairs of different rows if they are at most 20,000, else
// over so many random ones, which depend on seed alone; that of lengths is over all rows. If
// more than half of the numbers are 0, the others count. It fails for other names, if all
// rows are equal, or all 0, and for numbers that exp-chi2 does not take.
func MedianGamma(x matrix.Rows, seed uint64, kernelName string) (gamma float64, err error) {
	var what string
	var numbers []float64
	switch {
	case !slices.Contains(Names(), kernelName):
		return 0, fmt.Errorf("kernel: %q is not a kernel; known are %s", kernelName, strings.Join(Names(), ", "))
	case !Has(kernelName, "gamma"):
		return 1, nil
	case kernelName != "poly" && kernelName != "exp":
		what = "distance"
		n := x.Len()
		if n < 2 {
			return 0, fmt.Errorf("kernel: gamma by the median distance needs two rows or more, not %d; give gamma as a number", n)
		}
		if err := (Kernel{Name: kernelName}).CheckRows(x); err != nil {
			return 0, err
		}
		distance := squared
		switch kernelName {
		case "laplacian":
			distance = absolute
		case "exp-chi2":
			distance = chi2Distance
		}
		numbers = distances(x, randomPairs(n, seed), distance)
	default:
		what = "length"
		if x.Len() == 0 {
			return 0, errors.New("kernel: gamma by the median length needs rows; give gamma as a number")
		}
		numbers = norms(x, nil)
	}
	slices.Sort(numbers)
	m := median(numbers)
	if m == 0 {
		positive := slices.IndexFunc(numbers, func(d float64) bool { return d > 0 })
		if positive < 0 {
			are := "equal"
			if what == "length" {
				are = "0"
			}
			return 0, fmt.Errorf("kernel: gamma by the median %s: all rows are %s; give gamma as a number", what, are)
		}
		m = median(numbers[positive:])
	}
	gamma = 1 / m
	if kernelName == "cauchy" {
		gamma = 1 / math.Sqrt(m)
	}
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by the median %s: the median %g is out of range; scale the data or give gamma as a number", what, m)
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

// distances returns those of pairs of rows.
func distances(x matrix.Rows, pairs [][2]int, distance func(x, y []float32) float64) []float64 {
	distances := make([]float64, len(pairs))
	vec.Parallel(len(pairs), 256, func(lo, hi int) {
		var both pair
		for p := lo; p < hi; p++ {
			distances[p] = distance(both.of(x, pairs[p][0], x, pairs[p][1]))
		}
	})
	return distances
}

// ScaleGamma returns 1/(dim·variance), what scikit-learn calls "scale"; for cauchy, whose
// γ is in units of 1/‖Δ‖, its square root, and for exp-chi2, whose distance grows like the
// numbers and not like their squares, 1/(dim·√variance). variance is that of all elements of
// the data together. It is 1 for kernels that have no γ.
func ScaleGamma(dim int, variance float64, kernelName string) (float64, error) {
	gamma := 1 / (float64(dim) * variance)
	switch {
	case !Has(kernelName, "gamma"):
		return 1, nil
	case kernelName == "cauchy":
		gamma = math.Sqrt(gamma)
	case kernelName == "exp-chi2":
		gamma = 1 / (float64(dim) * math.Sqrt(variance))
	}
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by scale: %d dimensions of variance %g give none; give gamma as a number", dim, variance)
	}
	return gamma, nil
}
