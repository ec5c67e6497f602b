package dataset

import (
	"maps"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
)

// The set has what a map has, whatever the numbers: whole ones, whose bits end in zeros, neighbours, and the extremes.
func TestNumberSetIsAMap(t *testing.T) {
	s := random.New(1, "numbers")
	for name, next := range map[string]func(i int) float64{
		"whole":      func(i int) float64 { return float64(i % 3000) },
		"powers":     func(i int) float64 { return math.Ldexp(1, i%2000-1000) },
		"neighbours": func(i int) float64 { return math.Float64frombits(math.Float64bits(1) + uint64(i%5000)) },
		"uniform":    func(int) float64 { return math.Trunc(1e4*s.Uniform()) / 1e4 },
		"zeros":      func(i int) float64 { return math.Copysign(float64(i%2), float64(i%3-1)) },
		"extremes":   func(i int) float64 { return []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}[i%4] },
	} {
		var set numberSet
		want := map[float64]bool{}
		for i := range 20_000 {
			v := next(i)
			if set.add(v) == want[v] {
				t.Fatalf("%s: %g is new %t", name, v, want[v])
			}
			want[v] = true
		}
		if got := set.sorted(); set.n != len(want) || !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: %d numbers, of which %d are listed, and not the %d", name, set.n, len(got), len(want))
		}
		if room := len(set.slots); room > 16 && 5*set.n < 2*room {
			t.Errorf("%s: %d slots for %d numbers", name, room, set.n)
		}
	}
}
