package pipeline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// SettleScaling scales as Settle does, and takes the same numbers, without a map.
func TestSettleScalingIsSettleWithoutAMap(t *testing.T) {
	x, rows := surveyed(t, 100, 5, true)
	for _, name := range []string{"rbf", "poly", "chi2", "linear", "exp-chi2"} {
		cfg, err := Config{Kernel: kernel.Kernel{Name: name}, Exact: true}.WithDefaults("rbf")
		if err != nil {
			t.Fatal(err)
		}
		want, why := settled(t, cfg, rows)
		got, whyScaled, err := SettleScaling(cfg, rows)
		if err != nil {
			t.Fatal(err)
		}
		if got.Kernel() != nil || got.Map() != nil || got.Scaler().Kind != want.Scaler().Kind ||
			whyScaled["scale"] != why["scale"] || len(whyScaled) != 1 {
			t.Errorf("%s: scaled by %s (%v), want %s (%v)", name, got.Scaler().Kind, whyScaled, want.Scaler().Kind, why)
		}
		a, err := got.Scale(matrix.Rows{Dense: x})
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Scale(matrix.Rows{Dense: x})
		if err != nil || !slices.Equal(a.Dense.Data, b.Dense.Data) {
			t.Errorf("%s: other numbers, %v", name, err)
		}
	}
}

// A number that the kernel does not take is found in the sample, and by a pass over all rows with its place.
func TestFindOutside(t *testing.T) {
	_, rows := surveyed(t, 20, 3, false)
	cfg, err := Config{Scale: "none", Kernel: kernel.Kernel{Name: "chi2"}, Exact: true}.WithDefaults("rbf")
	if err != nil {
		t.Fatal(err)
	}
	bad := matrix.NewDense(4, 3)
	bad.Row(2)[1] = -7
	src, err := dataset.FromRows(matrix.Rows{Dense: bad}, nil, 1, []string{"a", "b", "a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	rows.Summary.Sample = matrix.Rows{Dense: bad}
	if _, _, err := SettleScaling(cfg, rows); err == nil || !strings.Contains(err.Error(), "-7 is too small") {
		t.Errorf("%v", err)
	}
	passes := 0
	rows.Find = func(p *Pipeline) error { passes++; return p.FindOutside(context.Background(), src) }
	_, _, err = SettleScaling(cfg, rows)
	if err == nil || !strings.Contains(err.Error(), "row 3, ") || !strings.Contains(err.Error(), "-7 is too small") ||
		!strings.Contains(err.Error(), "use another kernel, or a scale") || passes != 1 {
		t.Errorf("%v after %d passes", err, passes)
	}
	clear(bad.Data)
	if p, _, err := SettleScaling(cfg, rows); err != nil || p.FindOutside(context.Background(), src) != nil {
		t.Errorf("rows that the kernel takes: %v", err)
	}
}

func TestShortenedKeepsTheMapBehindASketch(t *testing.T) {
	cfg := Shortened(feature.Config{Map: "sorf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}, Features: 64, Seed: 9})
	if cfg.Map != "chain" || cfg.Seed != 9 || len(cfg.Steps) != 2 || cfg.Steps[0].Map != "countsketch" ||
		cfg.Steps[1].Map != "sorf" || cfg.Steps[1].Seed != 0 || cfg.Steps[1].Kernel.Gamma != 0.5 {
		t.Errorf("%+v", cfg)
	}
	if Wide(1<<14) || !Wide(1<<14+1) {
		t.Error("rows are wide from another number of dimensions on")
	}
}
