package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// medianPairs is the number of pairs whose median MedianGamma takes. The standard error of the median of
// so many is a third of a percentile.
const medianPairs = 20_000

// gammaRule says how γ follows from data.
type gammaRule struct {
	// distance is the distance of two rows whose median sets the kernel's width; nil means that the
	// squared lengths of rows set it.
	distance func(x, y []float32) float64 `may:"be nil"`

	// median is γ from the median m.
	median func(m float64) float64

	// power is p of k(x/l, y/l) with γ = k(x, y) with γ/l^p.
	power float64

	// scale is γ from the number of dimensions and the variance of all numbers.
	scale func(dim, variance float64) float64

	// byMedian and byScale are the formulas of median and scale.
	byMedian, byScale string
}

// The rules of γ for kernels of γ‖x-y‖², γ‖x-y‖₁, γ²(x_j-y_j)², γ x·y, and γ Σ (x_j-y_j)²/(x_j+y_j),
// which grows like the numbers and not like their squares.
var (
	gammaOfSquares = &gammaRule{
		distance: squared, median: reciprocal, scale: reciprocalProduct,
		byMedian: "1/median‖x-y‖²", byScale: "1/(d·variance)", power: 2,
	}
	gammaOfAbsolutes = &gammaRule{
		distance: absolute, median: reciprocal, scale: reciprocalProduct,
		byMedian: "1/median‖x-y‖₁", byScale: "1/(d·variance)", power: 1,
	}
	gammaOfRootSquares = &gammaRule{
		distance: squared, median: func(m float64) float64 { return 1 / math.Sqrt(m) },
		scale:    func(dim, variance float64) float64 { return math.Sqrt(reciprocalProduct(dim, variance)) },
		byMedian: "1/√median‖x-y‖²", byScale: "1/√(d·variance)", power: 1,
	}
	gammaOfLengths = &gammaRule{
		median: reciprocal, scale: reciprocalProduct,
		byMedian: "1/median‖x‖²", byScale: "1/(d·variance)", power: 2,
	}
	gammaOfChi2 = &gammaRule{
		distance: chi2Distance, median: reciprocal,
		scale:    func(dim, variance float64) float64 { return 1 / (dim * math.Sqrt(variance)) },
		byMedian: "1/median Σ(x_j-y_j)²/(x_j+y_j)", byScale: "1/(d·standard deviation)", power: 1,
	}
)

func reciprocal(m float64) float64 { return 1 / m }

func reciprocalProduct(dim, variance float64) float64 { return 1 / (dim * variance) }

// GammaRule returns the formulas of [MedianGamma] and [ScaleGamma] for the kernel, "" if it has no γ.
func (k *Kind) GammaRule() (median, scale string) {
	if k.gamma == nil {
		return "", ""
	}
	return k.gamma.byMedian, k.gamma.byScale
}

// GammaOfLength is the factor of γ that makes the kernel length times as wide, so that k(x·length,
// y·length) is what k(x, y) was: 1/length² for rbf, 1/length for laplacian; 1 if there is no γ.
func (k *Kind) GammaOfLength(length float64) float64 {
	if k.gamma == nil {
		return 1
	}
	return math.Pow(length, -k.gamma.power)
}

// MedianOf says what [MedianGamma] takes the median of: "distance" between rows, "length" of rows, or
// "" if the kernel has no γ.
func (k *Kind) MedianOf() string {
	switch {
	case k.gamma == nil:
		return ""
	case k.gamma.distance == nil:
		return "length"
	}
	return "distance"
}

// ErrEqual says that there is no median distance because all distances are 0.
var ErrEqual = errors.New("all rows are equal")

// MedianGamma returns γ by the median distance between the rows of x, or by the median length for kernels
// of x·y; [Kind.GammaRule] has the formulas. For rbf a pair at the median distance has k = 1/e; for poly a
// row of median length has γ‖x‖² = 1. It returns 1 for kernels without γ.
//
// The median distance is over all pairs of different rows if there are at most 20,000, and over 20,000
// random pairs if there are more; these depend on seed alone. The median length is over all rows. If more
// than half of the distances or lengths are 0, the median is over the others. It fails for a name that
// is no kernel's, if all rows are equal (or 0, for lengths), and for values outside the kernel's domain.
func MedianGamma(x matrix.Rows, seed uint64, kernelName string) (gamma float64, err error) {
	kind, err := Find(kernelName)
	if err != nil {
		return 0, err
	}
	var numbers []float64
	what, rule := kind.MedianOf(), kind.gamma
	switch n := x.Len(); {
	case rule == nil:
		return 1, nil
	case rule.distance == nil:
		if n == 0 {
			return 0, errors.New("kernel: gamma by the median length needs rows; give gamma as a number")
		}
		numbers = norms(x, nil)
	default:
		if n < 2 {
			return 0, fmt.Errorf("kernel: gamma by the median distance needs two rows or more, not %d; give gamma as a number", n)
		}
		if err := (Kernel{Name: kernelName}).CheckRows(x); err != nil {
			return 0, err
		}
		numbers = distances(x, randomPairs(n, seed), rule.distance)
	}
	slices.Sort(numbers)
	m := median(numbers)
	if m == 0 {
		positive := slices.IndexFunc(numbers, func(d float64) bool { return d > 0 })
		if positive < 0 {
			if rule.distance == nil {
				return 0, fmt.Errorf("kernel: gamma by the median %s: all rows are 0; give gamma as a number", what)
			}
			return 0, fmt.Errorf("kernel: gamma by the median %s: %w; give gamma as a number", what, ErrEqual)
		}
		m = median(numbers[positive:])
	}
	gamma = rule.median(m)
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by the median %s: the median %g is out of range; scale the data or give gamma as a number", what, m)
	}
	return gamma, nil
}

// randomPairs returns all pairs i < j < n if there are at most medianPairs, else medianPairs random pairs
// of different indices.
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

// median is the median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// distances returns the distances of pairs of rows.
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

// ScaleGamma returns γ by the variance of the data, 1/(dim·variance) for rbf, which scikit-learn calls
// "scale"; [Kind.GammaRule] has the formulas. variance is that of all elements of the data together. It
// returns 1 for kernels without γ and for names that are no kernel's.
func ScaleGamma(dim int, variance float64, kernelName string) (float64, error) {
	kind := byName[kernelName]
	if kind == nil || kind.gamma == nil {
		return 1, nil
	}
	gamma := kind.gamma.scale(float64(dim), variance)
	if !(gamma > 0 && gamma <= math.MaxFloat64) {
		return 0, fmt.Errorf("kernel: gamma by scale: %d dimensions of variance %g give none; give gamma as a number", dim, variance)
	}
	return gamma, nil
}
