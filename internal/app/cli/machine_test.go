package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// The learners that take the kernel itself are trained, shown, evaluated and predict on the command
// line like all others.
func TestKernelMachines(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	train, test := digitFiles(t)
	dir := t.TempDir()
	model := filepath.Join(dir, "m.mercer")
	rows := write(t, dir, "landmarks.csv", strings.Repeat("0,", 63)+"16\n"+strings.Repeat("16,", 63)+"0\n")
	for _, c := range []struct {
		args  []string
		shown string
		least float64
	}{
		{[]string{"--learner", "kernel-ridge", "--lambda", "0.01"}, "by Cholesky", 0.97},
		{[]string{"--learner", "kernel-ridge", "--product", "threshold", "--lambda", "1", "--gamma", "0.05"},
			"iterations of conjugate gradients", 0.9},
		{[]string{"--learner", "kernel-ridge", "--kernel", "intersection", "--lookup", "64", "--lambda", "1"}, "kernel-ridge", 0.95},
		{[]string{"--learner", "falkon", "--features", "300", "--landmarks", "kmeans", "--lambda", "0.01"}, "300 centres", 0.95},
		{[]string{"--learner", "falkon", "--landmarks", rows, "--lambda", "0.01"}, "2 centres", 0},
	} {
		report := object(t, ok(t, append([]string{"train", train, "-o", model, "--json", "--test", test}, c.args...)...))
		if a, _ := report["accuracy"].(float64); a < c.least {
			t.Errorf("%v: accuracy %v, want %v", c.args, report["accuracy"], c.least)
		}
		if again := object(t, ok(t, "eval", model, test, "--json")); again["accuracy"] != report["accuracy"] {
			t.Errorf("%v: eval says %v, train said %v", c.args, again["accuracy"], report["accuracy"])
		}
		if shown := ok(t, "inspect", model); !strings.Contains(shown, c.shown) {
			t.Errorf("%v: inspect does not show %q:\n%s", c.args, c.shown, shown)
		}
		if lines := strings.Count(ok(t, "predict", model, test), "\n"); lines < 300 {
			t.Errorf("%v: %d predictions", c.args, lines)
		}
	}
	r := mercer(t, "train", train, "-o", model, "--learner", "kernel-ridge", "--memory", "1MB")
	if r.code != 1 || !strings.Contains(r.stderr, "24·n²") || !strings.Contains(r.stderr, "--learner falkon") {
		t.Errorf("%d, %q", r.code, r.stderr)
	}
}
