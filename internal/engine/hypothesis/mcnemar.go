package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// McNemarTest is the outcome of McNemar's test of two classifiers on the same rows.
type McNemarTest struct {
	// OnlyA and OnlyB are the rows that one of the two has right and the other wrong.
	OnlyA, OnlyB int

	// P is the p-value of the exact test: under the hypothesis OnlyA is binomial with probability ½.
	P float64

	// ChiSquare is the statistic with the continuity correction (Edwards 1948), of one degree of freedom, and
	// ChiSquareP its p-value: (|OnlyA - OnlyB| - 1)²/(OnlyA + OnlyB).
	ChiSquare, ChiSquareP float64
}

// McNemar tests whether two classifiers err on equally many rows, by the numbers of rows that only the first and
// only the second has right. Without such rows p is 1.
func McNemar(onlyA, onlyB int) *McNemarTest {
	t := &McNemarTest{OnlyA: onlyA, OnlyB: onlyB, P: binomialHalf(onlyA, onlyB), ChiSquareP: 1}
	if d := math.Abs(float64(onlyA) - float64(onlyB)); d > 0 {
		t.ChiSquare = (d - 1) * (d - 1) / float64(onlyA+onlyB)
		t.ChiSquareP = normalTail(math.Sqrt(t.ChiSquare))
	}
	return t
}

// binomialHalf is min(1, 2·P(X ≤ min(a, b))) for X binomial of a+b trials and probability ½:
// P(X ≤ m) = I_½(n-m, m+1).
func binomialHalf(a, b int) float64 {
	if a == b {
		return 1
	}
	m, n := float64(min(a, b)), float64(a+b)
	return min(1, 2*mathext.RegIncBeta(n-m, m+1, 0.5))
}
