package hypothesis

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
)

func TestBinomialHasItsDistribution(t *testing.T) {
	const draws = 20000
	for _, c := range []struct {
		n int
		p float64
	}{{1, 0.3}, {12, 0.5}, {50, 0.02}, {40, 0.3}, {40, 0.9}, {1000, 0.4}, {100000, 0.0002}, {3000, 0.004}} {
		r := random.New(1, "binomial", uint64(c.n), math.Float64bits(c.p))
		counts := make([]int, c.n+1)
		for range draws {
			counts[binomial(r, c.n, c.p)]++
		}
		// χ² over the values expected five times or more, the others together.
		chi, cells, restWant, restGot := 0.0, 0, 0.0, 0
		for k, got := range counts {
			choose := logFactorial(float64(c.n)) - logFactorial(float64(k)) - logFactorial(float64(c.n-k))
			want := draws * math.Exp(choose+float64(k)*math.Log(c.p)+float64(c.n-k)*math.Log1p(-c.p))
			if want < 5 {
				restWant += want
				restGot += got
				continue
			}
			chi += (float64(got) - want) * (float64(got) - want) / want
			cells++
		}
		if restWant > 0.5 {
			chi += (float64(restGot) - restWant) * (float64(restGot) - restWant) / restWant
			cells++
		}
		// χ² of f degrees of freedom has mean f and variance 2f.
		if f := float64(cells - 1); chi > f+5*math.Sqrt(2*f) {
			t.Errorf("n = %d, p = %g: χ² = %.1f of %g degrees of freedom", c.n, c.p, chi, f)
		}
	}
}

// TestCopiesAreRows: rows that stand for several equal ones have the same bootstrap distribution, and the same
// acceleration, as these rows.
func TestCopiesAreRows(t *testing.T) {
	values, copies := []float64{0, 1, 5}, []int32{100, 60, 20}
	var all []float64
	for i, n := range copies {
		for range n {
			all = append(all, values[i])
		}
	}
	mean := func(of []float64) func(weights []int32, q []float64) {
		return func(weights []int32, q []float64) {
			sum, n := 0.0, 0.0
			for i, w := range weights {
				sum += float64(w) * of[i]
				n += float64(w)
			}
			q[0] = sum / n
		}
	}
	few, err := Bootstrap(context.Background(),
		Resampling{Rows: 3, Copies: copies, Resamples: 20000, Seed: 1, Quantities: 1, Statistic: mean(values)})
	if err != nil {
		t.Fatal(err)
	}
	many, err := Bootstrap(context.Background(), Resampling{Rows: len(all), Resamples: 20000, Seed: 2, Quantities: 1, Statistic: mean(all)})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "estimate", few[0].Estimate, many[0].Estimate, 1e-12)
	near(t, "acceleration", few[0].acceleration(), many[0].acceleration(), 1e-9)
	low, high := few[0].BCa(0.95)
	wantLow, wantHigh := many[0].BCa(0.95)
	// As in TestBootstrapIntervalsMatchScipy, but both err.
	if bound := 4 * 0.019 * math.Sqrt2 * (wantHigh - wantLow) / 4; math.Abs(low-wantLow) > bound || math.Abs(high-wantHigh) > bound {
		t.Errorf("[%g, %g], of the rows themselves [%g, %g]", low, high, wantLow, wantHigh)
	}
}
