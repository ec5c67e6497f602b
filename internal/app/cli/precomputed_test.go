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
	if r := mercer(t, "train", filepath.Join(dir, "k20.csv"), "-o", m, "--kernel", "precomputed", "--holdout", "0.2"); !strings.Contains(r.stderr, "has 20 values: it is square") {
		t.Error(r.stderr)
	}
	for want, flags := range map[string][]string{
		"a precomputed one takes others": {"--learner", "falkon"},
		"are not scaled":                 {"--scale", "standard"},
	} {
		if r := mercer(t, append([]string{"train", train, "-o", m, "--kernel", "precomputed"}, flags...)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %s, want %q", flags, r.stderr, want)
		}
	}
}

// Folds and rows that are held back divide the columns of a precomputed kernel with its rows, as scikit-learn does (testdata/precomputed.py), and
// curves and comparisons are those of the kernel itself.
func TestPrecomputedKernelInFolds(t *testing.T) {
	t.Parallel()
	const n = 120
	var x [n][2]float64
	var kernel, plain strings.Builder
	for i := range n {
		v := float64(i)
		x[i] = [2]float64{math.Sin(1.3*v + v*v), math.Cos(0.7 * v * v)}
		fmt.Fprintf(&kernel, "k%d,", i)
	}
	kernel.WriteString("fold,part,class,y\n")
	plain.WriteString("a,b,y\n")
	for i := range n {
		for j := range n {
			fmt.Fprintf(&kernel, "%.9g,", math.Exp(-0.7*(math.Pow(x[i][0]-x[j][0], 2)+math.Pow(x[i][1]-x[j][1], 2))))
		}
		y := math.Sin(3*x[i][0]) + x[i][1] + 0.3*math.Sin(17*float64(i))
		part, class := "train", "a"
		if i*7%4 == 0 {
			part = "test"
		}
		if y > 0 {
			class = "b"
		}
		fmt.Fprintf(&kernel, "%d,%s,%s,%.9g\n", i*7%4, part, class, y)
		fmt.Fprintf(&plain, "%.17g,%.17g,%.9g\n", x[i][0], x[i][1], y)
	}
	dir := t.TempDir()
	data, rows, m := write(t, dir, "k.csv", kernel.String()), write(t, dir, "x.csv", plain.String()), filepath.Join(dir, "m.mercer")
	near := func(what string, got any, want float64) {
		t.Helper()
		if g := got.(float64); math.Abs(g-want) > 1e-4*want {
			t.Errorf("%s: %v, want %v", what, g, want)
		}
	}
	svm := []string{"--learner", "kernel-svm", "--c", "3", "--tolerance", "1e-6"}
	for _, c := range []struct {
		label, metric string
		flags         []string
		want          [4]float64 // of scikit-learn
	}{
		{"class", "accuracy", svm, [4]float64{0.8, 0.9, 0.866667, 0.866667}},
		{"y", "rmse", svm, [4]float64{0.265732, 0.272894, 0.265075, 0.260081}},
		{"y", "rmse", []string{"--learner", "kernel-ridge", "--lambda", "0.5"}, [4]float64{0.35956, 0.346911, 0.340161, 0.338075}},
	} {
		given := append([]string{data, "-o", m, "--kernel", "precomputed", "--json", "--label", c.label}, c.flags...)
		other := map[string]string{"class": "y", "y": "class"}[c.label]
		out := object(t, ok(t, append([]string{"tune", "--ignore", other + ",part", "--fold-group", "fold", "--folds", "4"}, given...)...))
		scores := out["search"].(map[string]any)["candidates"].([]any)[0].(map[string]any)["scores"].([]any)
		for i, fold := range []int{1, 0, 2, 3} { // the order in which groups are dealt
			near(fmt.Sprint("tune ", c, " fold ", fold), scores[i], c.want[fold])
		}
		out = object(t, ok(t, append([]string{"train", "--ignore", other + ",fold", "--split-column", "part"}, given...)...))
		near(fmt.Sprint("train ", c), out[c.metric], c.want[0])
	}
	ok(t, append([]string{"tune", data, "-o", m, "--kernel", "precomputed", "--label", "class", "--ignore", "y,part", "--fold-group", "fold", "--folds", "3",
		"--holdout", "0.25"}, svm...)...)
	config := []string{"--kernel precomputed --learner kernel-ridge --lambda 0.5", "--gamma 0.7 --scale none --learner kernel-ridge --lambda 0.5"}
	var compared, curves [2]any
	for i, c := range config {
		file := [][]string{{data, "--ignore", "class,fold,part"}, {rows}}[i]
		out := object(t, ok(t, append([]string{"compare", "--json", "--label", "y", "--config", c, "--config", c + " --seed 2"}, file...)...))
		compared[i] = out["configs"].([]any)[0].(map[string]any)["mean"]
		out = object(t, ok(t, append(append([]string{"curve", "--json", "--label", "y", "--at-rows", "40"}, strings.Fields(c)...), file...)...))
		curves[i] = out["by_rows"].([]any)[0].(map[string]any)["test"]
	}
	near("compare", compared[0], compared[1].(float64))
	near("curve", curves[0], curves[1].(float64))
}

// cut leaves out the last column of a table.
func cut(table string) (lines []string) {
	for line := range strings.Lines(table) {
		lines = append(lines, line[:strings.LastIndex(line, ",")])
	}
	return lines
}
