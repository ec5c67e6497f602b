package exact

import (
	"math"
	"slices"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// Over many draws, the mean of a score is within 4 standard errors of the whole expansion's, and
// its variance is the formula's.
func TestSubsampleIsUnbiasedWithItsVariance(t *testing.T) {
	const n, p, draws = 60, 12, 3000
	x, xt := randomRows(n, 3, 1, 1), randomRows(1, 3, 1, 2)
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	m, err := NewMachine(k, x, randomNumbers(n, 1), []float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	terms, mean, s2 := make([]float64, n), 0.0, 0.0
	for j := range terms {
		terms[j] = m.Alpha()[j] * k.Eval(xt.Dense.Row(0), x.Dense.Row(j))
		mean += terms[j] / n
	}
	for _, v := range terms {
		s2 += (v - mean) * (v - mean) / (n - 1)
	}
	variance := float64(n*n) * (1 - float64(p)/n) / p * s2
	dst, sum, square := matrix.NewDense(1, 1), 0.0, 0.0
	for seed := range uint64(draws) {
		s, err := m.Subsample(p, seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Scores(dst, xt); err != nil {
			t.Fatal(err)
		}
		d := float64(dst.Data[0]) - (n*mean + 0.5)
		sum += d / draws
		square += d * d / draws
	}
	if math.Abs(sum) > 4*math.Sqrt(variance/draws) {
		t.Errorf("the mean is off by %g, a standard error is %g", sum, math.Sqrt(variance/draws))
	}
	// The scores are nearly normal: their squares scatter by √2 of the variance.
	if math.Abs(square/variance-1) > 5*math.Sqrt(2.0/draws) {
		t.Errorf("the variance is %g, the formula says %g", square, variance)
	}
}

func TestSubsampleOfAllIsTheMachine(t *testing.T) {
	m, err := NewMachine(kernel.Kernel{Name: "rbf", Gamma: 1}, sparsely(randomRows(20, 3, 0.5, 1)), randomNumbers(40, 1), []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Subsample(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Alpha(), m.Alpha()) {
		t.Error("other weights")
	}
	for _, p := range []int{0, 21} {
		if _, err := m.Subsample(p, 1); err == nil {
			t.Errorf("took %d of 20 terms", p)
		}
	}
}
