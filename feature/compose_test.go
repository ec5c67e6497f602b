package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// composedCases has chains and sums.
func composedCases() []mapCase {
	narrow := kernel.Kernel{Name: "rbf", Gamma: 2}
	parts := []Config{{Map: "rff", Kernel: rbf, Features: 8}, {Map: "rff", Kernel: narrow, Features: 8}}
	return []mapCase{{
		Config: Config{Map: "sum", Steps: parts, Weights: []float64{0.25, 3}}, proof: -1,
		want: func(x, y []float32) float64 { return 0.25*rbf.Eval(x, y) + 3*narrow.Eval(x, y) },
		variance: func(x, y []float32) float64 {
			return 0.25*0.25*variance(parts[0], x, y) + 9*variance(parts[1], x, y)
		},
	}, {
		Config: Config{Map: "sum", Steps: []Config{{Map: "orf", Kernel: rbf, Features: 6, Seed: 3}}}, proof: -1,
		want: rbf.Eval, biased: true, drawsNothing: true, // its only seed is given
	}, {
		// A chain of one map is that map.
		Config: Config{Map: "chain", Steps: []Config{{Map: "rff", Kernel: rbf, Features: 16}}}, proof: -1,
		want: rbf.Eval, variance: func(x, y []float32) float64 { c := parts[0]; c.Features = 16; return variance(c, x, y) },
	}, {
		// A sum in a chain in a sum.
		Config: Config{Map: "sum", Steps: []Config{
			{Map: "chain", Steps: []Config{{Map: "sum", Steps: parts[:1]}, {Map: "rff", Kernel: narrow, Features: 10}}},
			{Map: "orf", Kernel: narrow, Features: 4},
		}}, proof: -1, biased: true,
	}}
}

func TestChainAppliesItsMapsInTurn(t *testing.T) {
	dense, sparse := someRows(600, 30)
	first, second := Config{Map: "rff", Kernel: rbf, Features: 20, Seed: 5}, Config{Map: "orf", Kernel: laplacian, Features: 50, Seed: 6}
	second.Kernel = rbf
	whole, err := New(Config{Map: "chain", Steps: []Config{first, second}}, 30)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []matrix.Rows{dense, sparse} {
		want := transform(draw(t, second, 20), matrix.Rows{Dense: transform(draw(t, first, 30), x)})
		if !slices.Equal(transform(whole, x).Data, want.Data) {
			t.Error("a chain gives other features than its maps")
		}
	}
}

func TestSumStandsItsMapsSideBySide(t *testing.T) {
	dense, _ := someRows(9, 30)
	a, b := Config{Map: "rff", Kernel: rbf, Features: 20, Seed: 5}, Config{Map: "orf", Kernel: rbf, Features: 12, Seed: 6}
	whole, err := New(Config{Map: "sum", Steps: []Config{a, b}, Weights: []float64{4, 9}}, 30)
	if err != nil {
		t.Fatal(err)
	}
	za, zb, z := transform(draw(t, a, 30), dense), transform(draw(t, b, 30), dense), transform(whole, dense)
	for i := range z.Rows {
		for j, v := range z.Row(i) {
			want := 2 * za.Row(i)[min(j, 19)]
			if j >= 20 {
				want = 3 * zb.Row(i)[j-20]
			}
			if v != want {
				t.Fatalf("feature %d of row %d is %g, want %g", j, i, v, want)
			}
		}
	}
}

// Equal steps without seeds draw different numbers, so that more steps mean less variance.
func TestStepsOfASumAreIndependent(t *testing.T) {
	step := Config{Map: "rff", Kernel: rbf, Features: 8}
	m, err := New(Config{Map: "sum", Seed: 1, Steps: []Config{step, step}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	dense, _ := someRows(1, 10)
	z := transform(m, dense).Row(0)
	if slices.Equal(z[:8], z[8:]) {
		t.Error("two equal steps draw the same numbers")
	}
}

func TestCompositionSaysWhatIsWrong(t *testing.T) {
	step := Config{Map: "rff", Kernel: rbf, Features: 8}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Map: "chain"}, "chain: no steps"},
		{Config{Map: "sum"}, "sum: no steps"},
		{Config{Map: "sum", Steps: []Config{step}, Weights: []float64{1, 2}}, "2 weights for 1 steps"},
		{Config{Map: "sum", Steps: []Config{step}, Weights: []float64{0}}, "weight 1 is 0"},
		{Config{Map: "sum", Steps: []Config{step}, Weights: []float64{math.NaN()}}, "weight 1 is NaN"},
		{Config{Map: "chain", Steps: []Config{step}, Weights: []float64{1}}, "weights belong to a sum"},
		{Config{Map: "chain", Steps: []Config{step}, Kernel: rbf}, "the kernel belongs to the steps"},
		{Config{Map: "chain", Steps: []Config{step, {Map: "rff", Kernel: rbf, Features: 3}}}, "step 2: feature: rff: features is 3"},
		{Config{Map: "sum", Steps: []Config{step, {Map: "magic"}}}, `step 2: feature: "magic" is not a map`},
		{Config{Map: "sum", Steps: []Config{step}, Features: 9}, "features is 9, but the map gives 8"},
		{Config{Map: "rff", Kernel: rbf, Features: 8, Steps: []Config{step}}, "rff has no steps"},
		{Config{Map: "rff", Kernel: rbf, Features: 8, Options: Options{Rank: 3}}, "rff has no option rank"},
		{Config{Map: "chain", Steps: []Config{step}, Options: Options{Form: "phase"}}, "chain has no option form; it belongs to rff"},
		{Config{Map: "chain", MaxBytes: 100, Steps: []Config{step}}, "of 100 B at most"},
	} {
		if _, err := New(c.cfg, 10); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}
