package kernel

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Values and distances of pairs that are near, equal, opposite, parallel, tiny, large and
// far from 0 have nearly all digits of those computed with 400. What is small because x·y
// is has the error of x·y.
func TestValuesAndDistancesArePrecise(t *testing.T) {
	data, err := os.ReadFile("testdata/precise.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Pairs [][2][]float32
		Cases []struct {
			Kernel Kernel
			Values [][2]*float64
		}
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Cases) != 45 || len(recorded.Pairs) != 13 {
		t.Fatalf("%d cases of %d pairs recorded", len(recorded.Cases), len(recorded.Pairs))
	}
	for _, c := range recorded.Cases {
		k := c.Kernel
		for i, want := range c.Values { // nil: overflow
			x, y := recorded.Pairs[i][0], recorded.Pairs[i][1]
			got := [2]float64{k.Eval(x, y), k.Distance2(x, y)}
			for j, name := range []string{"k", "d²"} {
				w := math.Inf(1)
				if want[j] != nil {
					w = *want[j]
				}
				tolerance := 1e-13
				if k.Name == "arccos" {
					a := angleOf(x, y)
					tolerance += 1e-15 / min(a.theta, a.rest)
				}
				if e := relative(got[j], w); e > tolerance {
					t.Errorf("%s, %+v of pair %d: %g, want %g: relative error %.2g", name, k, i, got[j], w, e)
				}
			}
		}
	}
}

func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Abs(want)
}
