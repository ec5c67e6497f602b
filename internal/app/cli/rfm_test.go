package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A model of rfm is inspected, predicted with, evaluated, explained and reported on as any other; --leaf alone asks for
// one.
func TestRFM(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	data, more := write(t, dir, "houses.csv", relevant(600, 1)), write(t, dir, "more.csv", relevant(100, 2))
	file, report := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "p.html")
	told := ok(t, "train", data, "-o", file, "--leaf", "400", "--features", "150", "--kernel", "matern", "--test", more, "--report", report)
	for _, text := range []string{told, ok(t, "inspect", file)} {
		for _, want := range []string{"learner   rfm", "matern with a ", "2 leaves of at most 400 rows", "relevance size ", "town "} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		for _, wrong := range []string{"first rows", "linear"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%q in\n%s", wrong, text)
			}
		}
	}
	readPage(t, report).has(t, "Relevance of columns", "2 leaves of at most 400 rows")

	inspected := object(t, ok(t, "inspect", file, "--json"))
	share := 0.0
	for _, r := range inspected["relevance"].([]any)[:2] {
		if c := r.(map[string]any); c["column"] == "size" || c["column"] == "town" {
			share += c["share"].(float64)
		}
	}
	if share < 0.8 {
		t.Errorf("size and town have %.2f of the relevance: %v", share, inspected["relevance"])
	}
	metrics := object(t, ok(t, "eval", file, more, "--json"))
	if r2 := metrics["r2"].(float64); metrics["n"] != 100.0 || r2 < 0.8 {
		t.Errorf("eval: %v", metrics)
	}
	if rows := predicted(t, file, more); len(rows) != 100 {
		t.Errorf("%d predictions", len(rows))
	}
	explained := ok(t, "explain", file, more, "--permutations", "2", "--dependence", "1")
	if first := strings.Index(explained, "\n  size "); first < 0 || strings.Index(explained, "\n  town ") < first {
		t.Errorf("size is not the first column:\n%s", explained)
	}
	if text := ok(t, "explain", file, more, "--rows", "1", "--background", "20"); !strings.Contains(text, "row 1: predicted ") {
		t.Error(text)
	}
}

func TestRFMFlags(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	data := write(t, dir, "houses.csv", relevant(300, 1))
	file := filepath.Join(dir, "m.mercer")
	for _, c := range []struct {
		args string
		want string
	}{
		{"--leaf 200 --learner svm", "the learner svm has no option leaf; it belongs to rfm"},
		{"--members 1 --learner ridge", "the learner ridge has no option members; it belongs to rfm"},
		{"--learner rfm --gamma 3", "leave out --gamma and --sigma"},
		{"--learner rfm --gamma median*2", "leave out --gamma and --sigma"},
		{"--leaf 200 --sigma 3", "leave out --gamma and --sigma"},
		{"--learner rfm --map rff", "leave out the map"},
		{"--learner rfm --save-stats " + filepath.Join(dir, "s"), "ridge"},
		{"--leaf 20", "--leaf 20 is not a number of rows"},
		{"--members -1", "--members -1 is not a positive number"},
		{"--learner rfm --memory 1MiB", "use fewer --features, which are"},
	} {
		r := mercer(t, append([]string{"train", data, "-o", file}, strings.Fields(c.args)...)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %d, %s, want %q", c.args, r.code, r.stderr, c.want)
		}
	}
	for args, want := range map[string]string{"--quick": "ridge", "": "rfm", "--members 1 --kernel rbf --features 40": "rfm"} {
		text := ok(t, append([]string{"train", data, "-o", file}, strings.Fields(args)...)...)
		if !strings.Contains(text, "learner   "+want) {
			t.Errorf("%q: no %s in\n%s", args, want, text)
		}
	}
}
