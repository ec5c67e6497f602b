package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// A training on rows of kernel values is that of the kernel itself.
func TestPrecomputedKernel(t *testing.T) {
	r := random.New(1, "precomputed")
	x := make([][2]float64, 90)
	y := make([]float64, len(x))
	for i := range x {
		x[i] = [2]float64{r.Normal(), r.Normal()}
		y[i] = math.Sin(2*x[i][0]) + x[i][1]
	}
	values := func(from, to int, m int) string {
		var text strings.Builder
		for i := from; i < to; i++ {
			for j := range m {
				d := (x[i][0]-x[j][0])*(x[i][0]-x[j][0]) + (x[i][1]-x[j][1])*(x[i][1]-x[j][1])
				fmt.Fprintf(&text, "%.9g,", math.Exp(-0.7*d))
			}
			fmt.Fprintf(&text, "%.9g\n", y[i])
		}
		return text.String()
	}
	var plain strings.Builder
	for i := range x {
		fmt.Fprintf(&plain, "%.17g,%.17g,%.9g\n", x[i][0], x[i][1], y[i])
	}
	dir := t.TempDir()
	lines := strings.SplitAfter(plain.String(), "\n")
	train, test := write(t, dir, "k.csv", values(0, 60, 60)), write(t, dir, "t.csv", values(60, 90, 60))
	rows, others := write(t, dir, "x.csv", strings.Join(lines[:60], "")), write(t, dir, "o.csv", strings.Join(lines[60:90], ""))
	m, own := filepath.Join(dir, "m.mercer"), filepath.Join(dir, "own.mercer")
	ok(t, "train", train, "-o", m, "--kernel", "precomputed", "--learner", "ridge", "--lambda", "0.5")
	at := write(t, dir, "at.csv", strings.Join(cut(strings.Join(lines[:60], "")), "\n")+"\n")
	ok(t, "train", rows, "-o", own, "--gamma", "0.7", "--scale", "none", "--map", "nystrom", "--landmarks", at, "--features", "60",
		"--learner", "ridge", "--lambda", "0.5")
	same := func(a, b string, within float64) {
		t.Helper()
		for i, line := range strings.Fields(a) {
			var u, v float64
			fmt.Sscan(line, &u)
			fmt.Sscan(strings.Fields(b)[i], &v)
			if math.Abs(u-v) > within {
				t.Fatalf("row %d: %g and %g", i, u, v)
			}
		}
	}
	same(ok(t, "predict", m, test), ok(t, "predict", own, others), 1e-3)
	for _, learner := range []string{"kernel-ridge --lambda 0.5", "kernel-svm --task regress --c 3 --tolerance 1e-6", "knn --neighbours 4 --neighbour-weights uniform"} {
		flags := append([]string{"--learner"}, strings.Fields(learner)...)
		ok(t, append([]string{"train", train, "-o", m, "--kernel", "precomputed"}, flags...)...)
		ok(t, append([]string{"train", rows, "-o", own, "--gamma", "0.7", "--scale", "none"}, flags...)...)
		same(ok(t, "predict", m, test), ok(t, "predict", own, others), 1e-3)
	}
	// Landmarks: 20 of the rows.
	gram := write(t, dir, "l.csv", strings.Join(cut(values(0, 20, 20)), "\n")+"\n")
	out := ok(t, "train", write(t, dir, "k20.csv", values(0, 60, 20)), "-o", m, "--kernel", "precomputed", "--landmarks", gram, "--learner", "ridge")
	if !strings.Contains(out, "20 columns") {
		t.Error(out)
	}
	for want, flags := range map[string][]string{
		"the matrix of training rows is square": {"--holdout", "0.2"},
		"a precomputed one takes others":        {"--learner", "falkon"},
		"are not scaled":                        {"--scale", "standard"},
	} {
		if r := mercer(t, append([]string{"train", train, "-o", m, "--kernel", "precomputed"}, flags...)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %s, want %q", flags, r.stderr, want)
		}
	}
}

// cut leaves out the last column of a table.
func cut(table string) (lines []string) {
	for line := range strings.Lines(table) {
		lines = append(lines, line[:strings.LastIndex(line, ",")])
	}
	return lines
}
