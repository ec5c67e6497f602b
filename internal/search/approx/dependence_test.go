package approx

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
)

// By the definition in numpy (testdata/distance_correlation.py): with x, and with 2x rounded, which
// has ties.
func TestDistanceCorrelationMatchesTheDefinition(t *testing.T) {
	all := recorded(t, "testdata/distance_correlation.txt")
	x := all["x"]
	rounded := make([]float64, len(x))
	for i, v := range x {
		rounded[i] = math.RoundToEven(2 * v)
	}
	for name, line := range all {
		if name == "x" {
			continue
		}
		y := line[2:]
		for i, a := range [][]float64{x, rounded} {
			if got := distanceCorrelation(a, y); math.Abs(got-line[i]) > 1e-7 {
				t.Errorf("%s: %.12g, by the definition %.12g", name, got, line[i])
			}
			if forth, back := distanceCorrelation(a, y), distanceCorrelation(y, a); math.Abs(forth-back) > 1e-9 {
				t.Errorf("%s: %g one way and %g the other", name, forth, back)
			}
		}
	}
}

// Of independent numbers it falls like 1/√n; of functions it stays, correlated or not.
func TestDistanceCorrelationFindsDependence(t *testing.T) {
	r := random.New(3, "approx.test.dependence")
	at := func(n int) (independent, square float64) {
		x, y, s := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = r.Normal(), r.Normal()
			s[i] = x[i] * x[i]
		}
		return distanceCorrelation(x, y), distanceCorrelation(x, s)
	}
	for _, n := range []int{100, 10_000} {
		independent, square := at(n)
		// n·dCov²/(ā·b̄) is 1 in the mean; with ā/√dVar = 1.8 of normal numbers dCor is about 1.8/√n.
		if limit := 3 / math.Sqrt(float64(n)); independent > limit {
			t.Errorf("%d independent pairs: %g, above %g", n, independent, limit)
		}
		if !(square > 0.45 && square < 0.6) {
			t.Errorf("%d pairs (x, x²): %g", n, square)
		}
	}
}

func TestDistanceCorrelationOfFewNumbers(t *testing.T) {
	if v := distanceCorrelation(nil, nil); v != 0 {
		t.Errorf("of none: %g", v)
	}
	if v := distanceCorrelation([]float64{1}, []float64{2}); v != 0 {
		t.Errorf("of one: %g", v)
	}
	if v := distanceCorrelation([]float64{1, 2}, []float64{5, 3}); math.Abs(v-1) > 1e-12 {
		t.Errorf("of two: %g", v)
	}
}

func TestDistanceCorrelationsAreThoseOfPairs(t *testing.T) {
	x := normal(50, 4, 8).Dense
	all := DistanceCorrelations(x)
	column := func(j int) []float64 {
		v := make([]float64, 50)
		for i := range v {
			v[i] = float64(x.Row(i)[j])
		}
		return v
	}
	for i := range 4 {
		for j := range 4 {
			want := distanceCorrelation(column(i), column(j))
			if i == j {
				want = 1
			}
			if math.Abs(all[i*4+j]-want) > 1e-12 {
				t.Errorf("columns %d and %d: %g, want %g", i, j, all[i*4+j], want)
			}
		}
	}
}

func distanceCorrelation(x, y []float64) float64 { return newRanked(x).correlation(newRanked(y)) }
