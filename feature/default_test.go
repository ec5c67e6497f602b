package feature

import (
	"slices"
	"testing"

	"mercer/kernel"
)

// The map by the numbers of dimensions and features: evenly spread points where they are dense.
func TestChooseByDimensionsAndFeatures(t *testing.T) {
	chi2 := kernel.Kernel{Name: "exp-chi2", Gamma: 1}
	for _, c := range []struct {
		cfg    Config
		dim    int
		want   string
		radius string
		order  int
	}{
		{Config{Kernel: rbf, Features: 512}, 3, "qmc", "", 0},
		{Config{Kernel: rbf, Features: 1024}, 10, "qmc", "", 0},
		{Config{Kernel: rbf, Features: 256}, 10, "orf", "coupled", 0},
		{Config{Kernel: rbf, Features: 2048}, 16, "qmc", "", 0},
		{Config{Kernel: rbf, Features: 2046}, 16, "orf", "coupled", 0},
		{Config{Kernel: rbf, Features: 1 << 20}, 17, "sorf", "coupled", 32},
		{Config{Kernel: matern(1.5), Features: 1024}, 8, "qmc", "", 0},
		{Config{Kernel: matern(1.5), Features: 1024}, 80, "sorf", "coupled", 64},
		{Config{Kernel: arccos(0), Features: 1024}, 80, "sorf", "coupled", 256},
		{Config{Kernel: laplacian, Features: 64}, 16, "qmc", "", 0},
		{Config{Kernel: cauchy, Features: 64}, 16, "qmc", "", 0},
		{Config{Kernel: arccos(1), Features: 64}, 16, "qmc", "", 0},
		{Config{Kernel: arccos(0), Features: 64}, 16, "orf", "coupled", 0},
		{Config{Kernel: laplacian, Features: 1024}, 30, "rff", "", 0},
		{Config{Kernel: rbf}, 3, "orf", "coupled", 0}, // whatever D is
		{Config{Kernel: rbf, Features: 1024, Options: Options{Form: "phase"}}, 3, "orf", "coupled", 0},
		{Config{Kernel: rbf, Features: 1024, Options: Options{Radius: "chi"}}, 3, "orf", "chi", 0},
		{Config{Map: "sorf", Kernel: rbf, Features: 1024, Options: Options{Radius: "fixed", Order: 8}}, 3, "sorf", "fixed", 8},
		{Config{Map: "rff", Kernel: rbf, Features: 1024}, 3, "rff", "", 0},
		{Config{Map: "fastfood", Kernel: rbf, Features: 1024}, 3, "fastfood", "", 0},
		{Config{Kernel: chi2, Features: 1024}, 3, "sorf", "coupled", 32},
		{Config{Map: "homogeneous", Kernel: chi2, Features: 1024}, 3, "homogeneous", "coupled", 0}, // and then orf
		{Config{Map: "homogeneous", Kernel: chi2, Features: 1024}, 4, "homogeneous", "coupled", 32},
		{Config{Map: "rff", Kernel: chi2, Features: 1024}, 4, "rff", "", 0},
		{Config{Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}, Features: 1024}, 3, "tensorsketch", "", 0},
		{Config{Kernel: kernel.Kernel{Name: "linear"}}, 3, "", "", 0},
		{Config{Map: "nonsense", Kernel: rbf, Features: 1024}, 3, "nonsense", "", 0},
	} {
		got := Choose(c.cfg, c.dim)
		if got.Map != c.want || got.Radius != c.radius || got.Order != c.order {
			t.Errorf("%+v of %d dimensions: %s, radius %q, order %d, want %s, %q, %d",
				c.cfg, c.dim, got.Map, got.Radius, got.Order, c.want, c.radius, c.order)
		}
		if got.Map == "" || got.Map == "nonsense" {
			continue
		}
		sample, _ := someRows(20, c.dim)
		if got.Features == 0 {
			got.Features = 16
		}
		got.Features = min(got.Features, 1024)
		if _, err := Fit(t.Context(), got, mapCase{histograms: true}.rows(sample)); err != nil {
			t.Errorf("%+v: %v", got, err)
		}
	}
}

// Steps are completed too, and those that were given stay as they are.
func TestChooseCompletesSteps(t *testing.T) {
	steps := []Config{{Map: "countsketch", Features: 64}, {Map: "sorf", Kernel: rbf, Features: 128}}
	got := Choose(Config{Map: Chain, Steps: steps}, 1000)
	if got.Steps[0].Map != "countsketch" || got.Steps[1].Radius != "coupled" || got.Steps[1].Order != 32 {
		t.Errorf("%+v", got)
	}
	if steps[1].Radius != "" {
		t.Error("the steps that were given are changed")
	}
	if again := Choose(got, 1000); !slices.EqualFunc(again.Steps, got.Steps, func(a, b Config) bool { return a.Radius == b.Radius && a.Order == b.Order }) {
		t.Errorf("%+v changes to %+v", got, again)
	}
}
