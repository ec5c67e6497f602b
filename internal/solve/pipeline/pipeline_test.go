package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/kernel"
	"mercer/matrix"
)

// surveyed are n rows of d numbers, positive if asked, with their summary.
func surveyed(t testing.TB, n, d int, positive bool) (*matrix.Dense, Rows) {
	t.Helper()
	s := random.New(1, "pipeline")
	x := matrix.NewDense(n, d)
	for i := range x.Data {
		x.Data[i] = float32(3 + 2*s.Normal())
		if positive {
			x.Data[i] = float32(math.Abs(float64(x.Data[i])))
		}
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, nil, 1, slices.Repeat([]string{"a", "b"}, n/2))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := dataset.Survey(context.Background(), src, dataset.SurveyOptions{Seed: 1, Sample: n})
	if err != nil {
		t.Fatal(err)
	}
	return x, Rows{Name: "rows", Schema: src.Schema(), Summary: sum}
}

func settled(t testing.TB, cfg Config, rows Rows) (*Pipeline, map[string]string) {
	t.Helper()
	cfg, err := cfg.WithDefaults("rbf")
	if err != nil {
		t.Fatal(err)
	}
	p, why, err := Settle(t.Context(), cfg, rows)
	if err != nil {
		t.Fatal(err)
	}
	return p, why
}

// What Settle makes is scaling and then the map with γ of the scaled rows, each of which can be had apart.
func TestSettleIsScalingGammaAndMap(t *testing.T) {
	x, rows := surveyed(t, 300, 6, false)
	for _, gamma := range []string{"median", "scale", "median*4", "0.3"} {
		cfg, err := Config{Scale: "standard", Gamma: gamma, Map: "rff", Features: 32, Seed: 3}.WithDefaults("rbf")
		if err != nil {
			t.Fatal(err)
		}
		p, why, err := Settle(t.Context(), cfg, rows)
		if err != nil {
			t.Fatal(err)
		}
		scaler, err := dataset.NewScaler("standard", rows.Summary)
		if err != nil {
			t.Fatal(err)
		}
		scaled := scaler.Apply(rows.Summary.Sample, &dataset.Workspace{})
		g, text, err := cfg.GammaOf(scaled)
		if err != nil || p.Feature().Kernel.Gamma != g || why["gamma"] != text {
			t.Errorf("γ %s: %g (%s), %v; apart %g (%s)", gamma, p.Feature().Kernel.Gamma, why["gamma"], err, g, text)
		}
		m, err := feature.Fit(t.Context(), *p.Feature(), scaled)
		if err != nil {
			t.Fatal(err)
		}
		got, want := matrix.NewDense(300, 32), matrix.NewDense(300, 32)
		if err := p.Transform(got, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		copy(want.Data, feature.Apply(m, scaler.Apply(matrix.Rows{Dense: x}, &dataset.Workspace{}), &matrix.Dense{}, &matrix.CSR{}).Dense.Data)
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("γ %s: other features", gamma)
		}
	}
}

// A learner that takes the kernel itself has a kernel and no map; the linear kernel has neither.
func TestExactAndLinearPipelinesScaleOnly(t *testing.T) {
	x, rows := surveyed(t, 100, 4, false)
	exact, _ := settled(t, Config{Exact: true}, rows)
	linear, _ := settled(t, Config{Kernel: kernel.Kernel{Name: "linear"}}, rows)
	if exact.Kernel() == nil || exact.Kernel().Gamma <= 0 || exact.Map() != nil || linear.Kernel() != nil || linear.Map() != nil {
		t.Errorf("kernels %v and %v, maps %v and %v", exact.Kernel(), linear.Kernel(), exact.Map(), linear.Map())
	}
	for _, p := range []*Pipeline{exact, linear} {
		if in, out := p.Dims(); in != 4 || out != 4 {
			t.Errorf("%d to %d dimensions", in, out)
		}
		z := matrix.NewDense(100, 4)
		if err := p.Transform(z, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		scaled, err := p.Scale(matrix.Rows{Dense: x})
		if err != nil || !slices.Equal(z.Data, scaled.Dense.Data) {
			t.Errorf("the features are not the scaled rows: %v", err)
		}
	}
}

// A number that the kernel does not take is found by row and dimension, in the sample too.
func TestNumbersOutsideTheDomainAreFound(t *testing.T) {
	x, rows := surveyed(t, 60, 3, true)
	p, _ := settled(t, Config{Kernel: kernel.Kernel{Name: "chi2"}, Scale: "none"}, rows)
	bad := matrix.NewDense(60, 3)
	copy(bad.Data, x.Data)
	bad.Row(17)[2] = -1
	var at *dataset.RowError
	if err := p.Transform(matrix.NewDense(60, p.Features()), matrix.Rows{Dense: bad}); !errors.As(err, &at) || at.Row != 17 || at.Dim != 2 {
		t.Errorf("%v", err)
	}
	if at := p.Outside(matrix.Rows{Dense: bad}); at == nil || at.Row != 17 {
		t.Errorf("%v", at)
	}
	bad.Row(17)[2] = float32(math.NaN())
	if err := p.Transform(matrix.NewDense(60, p.Features()), matrix.Rows{Dense: bad}); !errors.As(err, &at) ||
		!strings.Contains(at.Err.Error(), "not a finite number") {
		t.Errorf("%v", err)
	}
	one := matrix.NewDense(1, 3)
	copy(one.Data, bad.Row(17))
	if _, err := p.Pass().Row(one); !errors.As(err, &at) || at.Dim != 2 {
		t.Errorf("%v", err)
	}
	_, negative := surveyed(t, 60, 3, false)
	found := false
	negative.Find = func(*Pipeline) error { found = true; return nil }
	cfg, err := Config{Kernel: kernel.Kernel{Name: "chi2"}, Scale: "none"}.WithDefaults("rbf")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Settle(t.Context(), cfg, negative); err == nil || !found {
		t.Errorf("negative numbers for chi2: %v, looked for: %v", err, found)
	}
}

// A pipeline comes back from its description and its tensors.
func TestRestoreGivesTheSameFeatures(t *testing.T) {
	x, rows := surveyed(t, 120, 5, true)
	for _, cfg := range []Config{
		{Scale: "standard", Map: "orf", Features: 16}, {Scale: "minmax", Map: "nystrom", Features: 9},
		{Scale: "l2", Kernel: kernel.Kernel{Name: "chi2"}}, {Exact: true},
	} {
		p, _ := settled(t, cfg, rows)
		tensors := map[string]*safetensors.Tensor{}
		p.AddTensors(tensors, "")
		q, err := Restore(Description{In: 5, Scale: p.Scaler().Kind,
			Densify: p.Scaler().Densify, Kernel: p.Kernel(), Feature: p.Feature()}, tensors)
		if err != nil {
			t.Fatal(err)
		}
		_, d := p.Dims()
		a, b := matrix.NewDense(120, d), matrix.NewDense(120, d)
		if err := errors.Join(p.Transform(a, matrix.Rows{Dense: x}), q.Transform(b, matrix.Rows{Dense: x})); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("%+v: other features", cfg)
		}
		delete(tensors, "scale.factor")
		if tensors["scale.shift"] != nil {
			if _, err := Restore(Description{In: 5, Scale: p.Scaler().Kind, Feature: p.Feature()}, tensors); err == nil {
				t.Errorf("%+v: restored without a tensor", cfg)
			}
		}
	}
}

// Landmarks of another width are refused, and say from which file they are.
func TestGivenLandmarksHaveToFit(t *testing.T) {
	_, rows := surveyed(t, 50, 3, false)
	p, _ := settled(t, Config{Kernel: kernel.Kernel{Name: "linear"}}, rows)
	if _, err := p.Landmarks(matrix.NewDense(4, 2), "marks.csv", "rows", rows.Schema); err == nil ||
		!strings.HasPrefix(err.Error(), "marks.csv: ") {
		t.Errorf("%v", err)
	}
	if got, err := p.Landmarks(nil, "", "rows", rows.Schema); got != nil || err != nil {
		t.Errorf("no landmarks: %v, %v", got, err)
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	for want, cfg := range map[string]Config{
		`scale "big"`: {Scale: "big"}, `"gauss" is not a kernel`: {Kernel: kernel.Kernel{Name: "gauss"}}, `gamma "wide"`: {Gamma: "wide"},
		"sigma -1": {Sigma: -1}, "two names": {Gamma: "1", Sigma: 1}, "features -3": {Features: -3},
		"leave out features": {Kernel: kernel.Kernel{Name: "linear"}, Features: 8},
	} {
		if _, err := cfg.WithDefaults("rbf"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", cfg, err, want)
		}
	}
}
