package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/matrix"
)

func TestGammaInPartsOfTheMedian(t *testing.T) {
	x, y := waves(3, 300)
	src := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	gamma := func(text string) float64 {
		m := fitted(t, src, Config{Map: Map{Features: 32}, Kernel: Kernel{Gamma: text}, Learner: Named{Options: map[string]any{"lambda": 1}}})
		return m.Info().Feature.Kernel.Gamma
	}
	for _, of := range []string{"median", "scale"} {
		if got := gamma(of+"*4") / gamma(of); math.Abs(got-4) > 1e-12 {
			t.Errorf("%s*4 is %g times %s", of, got, of)
		}
	}
	for _, wrong := range []string{"median*", "median*-1", "median*0", "median*x", "mean*2", "2*median", "*2", "median*inf"} {
		if err := (Config{Kernel: Kernel{Gamma: wrong}}).Check(); err == nil || !strings.Contains(err.Error(), "gamma") {
			t.Errorf("gamma %q: %v", wrong, err)
		}
	}
}

// What Prepare maps is what the model of the same configuration maps.
func TestPreparedRowsAreThoseOfTheModel(t *testing.T) {
	x, y := waves(3, 700)
	src := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	for _, cfg := range []Config{{Map: Map{Features: 32}, Learner: Named{Options: map[string]any{"lambda": 1}}}, {Map: Map{Features: 32}, Learner: Named{Options: map[string]any{"lambda": 1}}, Scale: "standard", Kernel: Kernel{Gamma: "0.5"}}} {
		m := fitted(t, src, cfg)
		p, err := Prepare(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := matrix.NewDense(x.Rows, 32)
		if err := m.Pipeline().Transform(want, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		seen := 0
		if err := p.Each(context.Background(), src, nil, func(rows *MappedRows) error {
			for i := range rows.Z.Len() {
				for j, v := range rows.Z.Dense.Row(i) {
					if v != want.Row(seen)[j] {
						t.Fatalf("row %d, feature %d: %g, want %g", seen, j, v, want.Row(seen)[j])
					}
				}
				if rows.Y[2*i] != y[2*seen] || rows.Weights[i] != 1 || rows.First+i != seen {
					t.Fatalf("row %d: target %g, weight %g, number %d", seen, rows.Y[2*i], rows.Weights[i], rows.First+i)
				}
				seen++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if seen != x.Rows || p.Dim() != 32 || p.Learner() != "ridge" {
			t.Errorf("%d rows of %d features for %s", seen, p.Dim(), p.Learner())
		}
	}
}
