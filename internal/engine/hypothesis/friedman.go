package hypothesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"mercer/internal/engine/random"
)

// FriedmanTest is the outcome of Friedman's test, from which the comparisons of single methods follow.
type FriedmanTest struct {
	DataSets int // N
	Methods  int // k

	// Ranks are the mean ranks of the methods, 1 being the best.
	Ranks []float64

	// ChiSquare is Friedman's statistic, corrected for ties, and P its p-value by the χ²
	// distribution of DF = k-1 degrees of freedom, which is rough for fewer than about ten data sets.
	ChiSquare float64
	DF        int
	P         float64

	// F is the less conservative statistic of Iman and Davenport (1980),
	// F = (N-1)χ²/(N(k-1) - χ²), and FP its p-value by the F distribution of k-1 and
	// FDF = (k-1)(N-1) degrees of freedom. Where all data sets rank all methods alike F is +Inf.
	F   float64
	FDF int
	FP  float64
}

// Friedman tests whether methods differ by their scores on data sets. scores has a row a data set
// and a column a method, at least two of each; higher says that the larger score is the better.
//
//	χ² = 12·Σⱼ(Rⱼ - N(k+1)/2)² / (N·k(k+1) - Σ(t³-t)/(k-1))
//
// for the rank sums Rⱼ and the groups of t equal scores in a row (Friedman 1937; ties as in
// Hollander and Wolfe, Nonparametric Statistical Methods). It fails on scores that are not finite,
// and where in every row all scores are equal.
func Friedman(scores [][]float64, higher bool) (*FriedmanTest, error) {
	ranks, ties, err := meanRanks(scores, higher)
	if err != nil {
		return nil, err
	}
	t := &FriedmanTest{DataSets: len(scores), Methods: len(ranks), Ranks: ranks}
	if t.Methods < 2 {
		return nil, fmt.Errorf("rank: one method cannot be compared; give two or more")
	}
	if t.DataSets < 2 {
		return nil, fmt.Errorf("rank: one data set cannot tell methods apart; give two or more")
	}
	n, k := float64(t.DataSets), float64(t.Methods)
	spread := 0.0
	for _, r := range ranks {
		d := n * (r - (k+1)/2)
		spread += d * d
	}
	scale := n*k*(k+1) - ties/(k-1)
	if !(scale > 0) {
		return nil, fmt.Errorf("rank: all methods have equal scores on every data set; there is nothing to compare")
	}
	t.ChiSquare = 12 * spread / scale
	t.DF = t.Methods - 1
	t.P = mathext.GammaIncRegComp((k-1)/2, t.ChiSquare/2)

	t.FDF = (t.Methods - 1) * (t.DataSets - 1)
	if rest := n*(k-1) - t.ChiSquare; rest > 1e-12*n*k {
		t.F = (n - 1) * t.ChiSquare / rest
		t.FP = mathext.RegIncBeta(float64(t.FDF)/2, (k-1)/2, float64(t.FDF)/(float64(t.FDF)+(k-1)*t.F))
	} else {
		t.F = math.Inf(1)
	}
	return t, nil
}

// StandardError is that of the difference of two mean ranks where no method is better than another,
// √(k(k+1)/(6N)).
func (t *FriedmanTest) StandardError() float64 {
	return math.Sqrt(float64(t.Methods) * float64(t.Methods+1) / (6 * float64(t.DataSets)))
}

// Compare compares two methods by z, the difference of their mean ranks in standard errors,
// negative where i is better, with the normal distribution's p-value. Of several comparisons p has to
// be adjusted.
func (t *FriedmanTest) Compare(i, j int) (z, p float64) {
	z = (t.Ranks[i] - t.Ranks[j]) / t.StandardError()
	return z, normalTail(z)
}

// Nemenyi is the p-value of the comparison of two methods among all pairs of the k methods, by
// Nemenyi's test (1963): √2·|z| has the distribution of the studentized range.
func (t *FriedmanTest) Nemenyi(i, j int) float64 {
	z, _ := t.Compare(i, j)
	return StudentizedRangeTail(math.Sqrt2*math.Abs(z), t.Methods)
}

// NemenyiDifference is the critical difference of mean ranks: two of the k methods that lie further apart
// differ at level alpha, 0 < alpha < 1, all pairs taken together.
func (t *FriedmanTest) NemenyiDifference(alpha float64) float64 {
	return StudentizedRangeQuantile(alpha, t.Methods) / math.Sqrt2 * t.StandardError()
}

// DunnDifference is the critical difference of mean ranks to one control: methods that lie further from it
// differ from it at level alpha, the k-1 comparisons taken together by Bonferroni's inequality (Dunn 1961).
func (t *FriedmanTest) DunnDifference(alpha float64) float64 {
	return -random.NormalQuantile(alpha/(2*float64(t.Methods-1))) * t.StandardError()
}

// Groups are the groups of a critical-difference diagram: methods whose mean ranks all lie within
// difference of one another, each group as large as it can be and of two methods or more. A group
// lists methods, the best first, and groups are in the order of their best.
func Groups(ranks []float64, difference float64) [][]int {
	order := Order(ranks)
	var groups [][]int
	end := 0
	for lo := range order {
		hi := lo
		for hi < len(order) && ranks[order[hi]]-ranks[order[lo]] <= difference {
			hi++
		}
		if hi > end && hi-lo > 1 {
			groups = append(groups, order[lo:hi:hi])
		}
		end = max(end, hi)
	}
	return groups
}
