package kernel

import (
	"math"
	"testing"

	"mercer/matrix"
)

var histogramKernels = []Kernel{
	{Name: "hellinger"},
	{Name: "hellinger", Homogeneity: 0.5},
	{Name: "chi2"},
	{Name: "chi2", Homogeneity: 2},
	{Name: "chi2", Homogeneity: 0.3},
	{Name: "intersection"},
	{Name: "intersection", Homogeneity: 1.7},
	{Name: "jensen-shannon"},
	{Name: "jensen-shannon", Homogeneity: 0.6},
	{Name: "exp-chi2", Gamma: 0.1},
	{Name: "exp-chi2", Gamma: 30},
	{Name: "skewed-chi2", Coef0: 1},
	{Name: "skewed-chi2", Coef0: 0.01},
	{Name: "skewed-intersection", Coef0: 1},
	{Name: "skewed-intersection", Coef0: 0.03},
}

// histograms are rows without what is below 0.
func histograms(name string, n, d int, zero float64) *matrix.Dense {
	x := rows(name, n, d, zero)
	for i, v := range x.Data {
		x.Data[i] = float32(math.Abs(float64(v)))
	}
	return x
}

// 260 and 270 rows are more than one block, and 13 dimensions no multiple of anything. Some
// rows are 0, equal, near or parallel.
func TestGramOfHistogramsMatchesSingleValues(t *testing.T) {
	x, y := histograms("x", 260, 13, 0.5), histograms("y", 270, 13, 0.5)
	clear(x.Row(74))
	clear(y.Row(3))
	copy(y.Row(5), x.Row(37))
	for j, v := range x.Row(111) {
		y.Row(10)[j] = v * (1 + 1e-6*float32(j))
		y.Row(11)[j] = v + 1e-12
		y.Row(12)[j] = 3 * v
	}
	for _, k := range histogramKernels {
		checkGram(t, k, x, y, 1e-13, 2e-12)
		few := x.Slice(50, 120)
		checkGram(t, k, few, few, 1e-13, 2e-12)
	}
}

func TestGramOfWideHistogramsMatchesSingleValues(t *testing.T) {
	x := histograms("wide", 3, 1<<17+1, 0.99)
	for _, k := range histogramKernels {
		k.Gamma /= 100
		checkGram(t, k, x, x, 1e-12, 1e-11)
	}
}
