package hypothesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ResampledTest is the outcome of the corrected resampled t-test.
type ResampledTest struct {
	// Mean is that of the differences, and StandardError the corrected one of this mean.
	Mean, StandardError float64

	// T = Mean/StandardError has Student's distribution of DF degrees of freedom, and P is its p-value.
	T  float64
	DF int
	P  float64
}

// CorrectedT tests whether two methods differ by the differences of their scores over the J parts of a
// cross-validation, repeated or not, or over random splits. The trainings share rows, so that the differences depend
// on one another and the plain t-test finds too much. Nadeau and Bengio ("Inference for the generalization error",
// 2003) put 1/J + n₂/n₁ in place of 1/J,
//
//	t = mean / √((1/J + n₂/n₁)·variance),  J-1 degrees of freedom,
//
// with ratio = n₂/n₁ the rows tested by rows trained: 1/(k-1) for k folds (repeated: Bouckaert and Frank 2004).
// Where all differences are equal, p is 1 if they are 0 and 0 otherwise. It fails for fewer than two
// differences and where one is not finite.
func CorrectedT(differences []float64, ratio float64) (*ResampledTest, error) {
	j := float64(len(differences))
	if j < 2 {
		return nil, fmt.Errorf("rank: %d differences; a t-test takes two or more", len(differences))
	}
	if !(ratio >= 0) || math.IsInf(ratio, 0) {
		return nil, fmt.Errorf("rank: %g rows tested a row trained; give n₂/n₁", ratio)
	}
	t := &ResampledTest{DF: len(differences) - 1}
	same := true
	for i, d := range differences {
		if d-d != 0 {
			return nil, fmt.Errorf("rank: difference %d is %g, not a finite number", i+1, d)
		}
		t.Mean += d / j
		same = same && d == differences[0]
	}
	if same {
		t.Mean = differences[0]
		if t.Mean == 0 {
			t.P = 1
		} else {
			t.T = math.Copysign(math.Inf(1), t.Mean)
		}
		return t, nil
	}
	spread := 0.0
	for _, d := range differences {
		spread += (d - t.Mean) * (d - t.Mean)
	}
	t.StandardError = math.Sqrt((1/j + ratio) * spread / (j - 1))
	t.T = t.Mean / t.StandardError
	t.P = studentTail(t.T, t.DF)
	return t, nil
}

// Interval is the confidence interval of the mean difference at a level such as 0.95.
func (t *ResampledTest) Interval(level float64) (low, high float64) {
	// The quantile by bisection on the tail.
	lo, hi := 0.0, 1.0
	for studentTail(hi, t.DF) > 1-level && hi < 1e12 {
		lo, hi = hi, 2*hi
	}
	for range 100 {
		if mid := (lo + hi) / 2; studentTail(mid, t.DF) > 1-level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return t.Mean - hi*t.StandardError, t.Mean + hi*t.StandardError
}

// studentTail is P(|T| ≥ |t|) of Student's T with df degrees of freedom.
func studentTail(t float64, df int) float64 {
	v := float64(df)
	return mathext.RegIncBeta(v/2, 0.5, v/(v+t*t))
}
