package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"mercer/internal/app/bench"
)

// The keys are a contract with tests outside this repository.
func TestBenchJSON(t *testing.T) {
	var report map[string]any
	if err := json.Unmarshal([]byte(ok(t, "bench", "--quick", "--json", "--only", "sgemm,fwht32", "--threads", "2")), &report); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string { return strings.Join(slices.Sorted(maps.Keys(v.(map[string]any))), " ") }
	if got := keys(report); got != "level peak results" {
		t.Errorf("keys %q", got)
	}
	if got := keys(report["peak"]); got != "f32_gflops f64_gflops read_gbs triad_gbs" {
		t.Errorf("keys of the peak: %q", got)
	}
	results := report["results"].([]any)
	if len(results) != 2*(4+4) {
		t.Errorf("%d results", len(results))
	}
	for _, r := range results {
		if got := keys(r); got != "name shape share threads unit value" {
			t.Errorf("keys of a result: %q", got)
		}
	}
	var one map[string]any
	if err := json.Unmarshal([]byte(ok(t, "bench", "--map", "orf", "--d", "10", "--features", "64", "--rows", "50", "--json")),
		&one); err != nil {
		t.Fatal(err)
	}
	if got := keys(one); got != "d features kernel map rows threads us_one_row us_per_row" {
		t.Errorf("keys of a map: %q", got)
	}
}

func TestBenchOnlySome(t *testing.T) {
	out := ok(t, "bench", "--quick", "--only", "cos32,dpotrf", "--threads", "1")
	if !strings.Contains(out, "cos32") || !strings.Contains(out, "dpotrf") || strings.Contains(out, "sgemm") {
		t.Errorf("%s", out)
	}
	if r := mercer(t, "bench", "--only", "sorcery"); r.code != 2 ||
		!strings.Contains(r.stderr, `--only "sorcery" is not known; known are sgemm`) {
		t.Errorf("%d %s", r.code, r.stderr)
	}
}

func TestBenchOfAMap(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, nnz := range []string{"0", "3"} {
		var r bench.MapReport
		if err := json.Unmarshal([]byte(ok(t, "bench", "--map", "orf", "--d", "10", "--features", "64", "--rows", "50",
			"--nnz", nnz, "--json")), &r); err != nil {
			t.Fatal(err)
		}
		if r.Map != "orf" || r.PerRow <= 0 || r.OneRow <= 0 || r.D != 10 || r.Features != 64 {
			t.Errorf("%+v", r)
		}
	}
	for _, args := range [][]string{
		{"--map", "sorf", "--kernel", "matern", "--nu", "0.5", "--form", "phase"},
		{"--map", "sorf", "--radius", "fixed"},
		{"--map", "fastfood", "--kernel", "arccos", "--degree", "0"},
		{"--map", "qmc", "--kernel", "cauchy", "--gamma", "0.1"},
		{"--map", "rff", "--kernel", "arccos"},
	} {
		var r bench.MapReport
		if err := json.Unmarshal([]byte(ok(t, append([]string{"bench", "--d", "10", "--features", "64", "--rows", "50", "--json"},
			args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		if r.Map != args[1] || r.PerRow <= 0 || r.Features != 64 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if out := ok(t, "bench", "--map", "rff", "--rows", "20"); !strings.Contains(out, "µs a row") {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{"--map", "magic"}, {"--map", "rff", "--nnz", "1000"}, {"--map", "rff", "--rows", "0"},
		{"--map", "rff", "--features", "3"},
		{"--map", "sorf", "--kernel", "laplacian"}, {"--map", "rff", "--kernel", "arccos", "--form", "pair"}, {"--map", "rff", "--d", "0"}} {
		if r := mercer(t, append([]string{"bench"}, args...)...); r.code != 2 {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
