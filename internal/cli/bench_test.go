package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"mercer/internal/vec"
)

func TestBenchJSON(t *testing.T) {
	var report benchReport
	if err := json.Unmarshal([]byte(ok(t, "bench", "--quick", "--json", "--threads", "2")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Level != vec.Level() {
		t.Errorf("level %q", report.Level)
	}
	if p := report.Peak; !(p.F32 > 0 && p.F64 > 0 && p.Read > 0 && p.Triad > 0) {
		t.Errorf("peak %+v", p)
	}
	seen := map[string]int{}
	for _, r := range report.Results {
		seen[r.Name] |= r.Threads
		if !(r.Value > 0 && r.Share > 0) || r.Unit == "" || r.Shape == "" {
			t.Errorf("%+v", r)
		}
	}
	for _, name := range benchNames(benchCases(true)) {
		if seen[name] != 1|2 {
			t.Errorf("%s is measured at threads %b, want 1 and 2", name, seen[name])
		}
	}
}

func TestBenchOnlySome(t *testing.T) {
	out := ok(t, "bench", "--quick", "--only", "cos32,dpotrf", "--threads", "1")
	if !strings.Contains(out, "cos32") || !strings.Contains(out, "dpotrf") || strings.Contains(out, "sgemm") {
		t.Errorf("%s", out)
	}
	if r := mercer(t, "bench", "--only", "sorcery"); r.code != 2 || !strings.Contains(r.stderr, `--only "sorcery" is not known; known are sgemm`) {
		t.Errorf("%d %s", r.code, r.stderr)
	}
}

func TestBenchOfAMap(t *testing.T) {
	for _, nnz := range []string{"0", "3"} {
		var r mapReport
		if err := json.Unmarshal([]byte(ok(t, "bench", "--map", "orf", "--d", "10", "--features", "64", "--rows", "50", "--nnz", nnz, "--json")), &r); err != nil {
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
		var r mapReport
		if err := json.Unmarshal([]byte(ok(t, append([]string{"bench", "--d", "10", "--features", "64", "--rows", "50", "--json"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		if r.Map != args[1] || r.PerRow <= 0 || r.Features != 64 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if out := ok(t, "bench", "--map", "rff", "--rows", "20"); !strings.Contains(out, "µs a row") {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{"--map", "magic"}, {"--map", "rff", "--nnz", "1000"}, {"--map", "rff", "--rows", "0"}, {"--map", "rff", "--features", "3"},
		{"--map", "sorf", "--kernel", "laplacian"}, {"--map", "rff", "--kernel", "arccos", "--form", "pair"}, {"--map", "rff", "--d", "0"}} {
		if r := mercer(t, append([]string{"bench"}, args...)...); r.code != 2 {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
