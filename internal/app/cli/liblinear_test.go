package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// sides are rows of LIBSVM text on two sides of a plane, three kinds if of three.
func sides(rows, classes int, number bool) string {
	r := random.New(1, "liblinear-test")
	var b strings.Builder
	for range rows {
		x, y := r.Normal(), r.Normal()
		s := x - 2*y + 0.2*r.Normal()
		label := strconv.FormatFloat(s, 'g', 5, 64)
		if !number {
			label = "-1"
			if s > 0.8 {
				label = "+1"
			} else if s > -0.8 && classes == 3 {
				label = "4"
			}
		}
		fmt.Fprintf(&b, "%s 1:%.4g 3:%.4g\n", label, x, y)
	}
	return b.String()
}

func TestLiblinearTrainAndPredict(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		options string
		text    string
		line    string // that prediction prints, to the number
		least   float64
	}{
		{"-s 0 -B 1", sides(200, 2, false), "Accuracy = ", 90},
		{"", sides(200, 2, false), "Accuracy = ", 70},
		{"-s 2 -B 1 -R", sides(200, 2, false), "Accuracy = ", 90},
		{"-s 3 -B 1 -c 10", sides(200, 3, false), "Accuracy = ", 60},
		{"-s 4 -B 1", sides(200, 3, false), "Accuracy = ", 85},
		{"-s 5 -B 1", sides(200, 2, false), "Accuracy = ", 90},
		{"-s 6 -B 1", sides(200, 2, false), "Accuracy = ", 90},
		{"-s 7 -w1 2 -w-1 0.5", sides(200, 2, false), "Accuracy = ", 70},
		{"-s 11", sides(200, 2, true), "Mean squared error = ", 0},
		{"-s 12 -p 0", sides(200, 2, true), "Mean squared error = ", 0},
		{"-s 13 -e 0.01", sides(200, 2, true), "Mean squared error = ", 0},
		{"-s 21 -n 0.2", sides(200, 2, false), "Accuracy = ", 0},
	} {
		data := write(t, dir, "rows", c.text)
		m, out := filepath.Join(dir, "m"), filepath.Join(dir, "out")
		said := ok(t, append(append([]string{"liblinear-train"}, strings.Fields(c.options)...), data, m)...)
		if !strings.Contains(said, "optimization finished, #iter = ") || !strings.Contains(said, "\nObjective value = ") {
			t.Errorf("%s: training says %q", c.options, said)
		}
		said = ok(t, "liblinear-predict", data, m, out)
		text, found := strings.CutPrefix(said, c.line)
		value, _ := strconv.ParseFloat(text[:strings.IndexAny(text+" ", "% ")], 64)
		if !found || value < c.least || c.line[0] == 'M' && value > 0.1 {
			t.Errorf("%s: prediction says %q", c.options, said)
		}
		if predicted, err := os.ReadFile(out); err != nil || strings.Count(string(predicted), "\n") != 200 {
			t.Errorf("%s: %d predictions, %v", c.options, strings.Count(string(predicted), "\n"), err)
		}
	}
}

func TestLiblinearProbabilities(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "rows", sides(100, 3, false))
	m, out := filepath.Join(dir, "m"), filepath.Join(dir, "out")
	if said := ok(t, "liblinear-train", "-q", "-s", "0", data, m); said != "" {
		t.Errorf("-q says %q", said)
	}
	if said := ok(t, "liblinear-predict", "-q", "-b", "1", data, m, out); said != "" {
		t.Errorf("-q says %q", said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 101 || !strings.HasPrefix(lines[0], "labels ") {
		t.Fatalf("%d lines, the first %q", len(lines), lines[0])
	}
	labels := strings.Fields(lines[0])[1:]
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		best, sum := 0, 0.0
		p := make([]float64, 3)
		for k := range p {
			p[k], _ = strconv.ParseFloat(fields[k+1], 64)
			sum += p[k]
			if p[k] > p[best] {
				best = k
			}
		}
		if len(fields) != 4 || sum < 0.9999 || sum > 1.0001 || labels[best] != fields[0] {
			t.Fatalf("%q of %q", line, lines[0])
		}
	}
}

func TestLiblinearCrossValidationAndSearch(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	two, number := write(t, dir, "two", sides(120, 2, false)), write(t, dir, "number", sides(60, 2, true))
	for _, c := range []struct{ args, want string }{
		{"-v 5 -B 1 " + two, "Cross Validation Accuracy = 9"},
		{"-v 3 -s 11 " + number, "Cross Validation Squared correlation coefficient = 0.9"},
		{"-C -s 0 -B 1 -c 1 -v 3 " + two, "log2c=    0.00\trate="},
		{"-C -q -s 2 -B 1 -c 16 " + two, "Best C = "},
		{"-C -q -B 1 -c 16 " + two, "Best C = "}, // -s 2
		{"-C -s 11 -c 256 " + number, "Best p = "},
	} {
		if said := ok(t, append([]string{"liblinear-train"}, strings.Fields(c.args)...)...); !strings.Contains(said, c.want) {
			t.Errorf("%s says %q, want %q", c.args, said, c.want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("a model was written: %v", entries)
	}
	ok(t, "liblinear-train", two)
	if _, err := os.Stat("two.model"); err != nil {
		t.Error(err)
	}
}

func TestLiblinearErrors(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good", sides(20, 2, false))
	named := write(t, dir, "named", "yes 1:1\nno 2:1\n")
	bare := write(t, dir, "bare", "1:1\n2:1\n")
	m := filepath.Join(dir, "m")
	ok(t, "liblinear-train", good, m)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"liblinear-train", 2, "0 files"},
		{"liblinear-train -s", 2, "-s wants a value"},
		{"liblinear-train -s two " + good, 2, `-s "two" is not a whole number`},
		{"liblinear-train -s 8 " + good, 2, "solver 8 is not known"},
		{"liblinear-train -c 0 " + good, 2, "cost C 0 is not a positive number"},
		{"liblinear-train -e 0 " + good, 2, "-e 0 is not a positive number"},
		{"liblinear-train -v 1 " + good, 2, "-v 1 folds"},
		{"liblinear-train -w1x 2 " + good, 2, "-w1x is no option"},
		{"liblinear-train -C -s 1 " + good, 2, "-C finds parameters for the solvers 0, 2 and 11 only"},
		{"liblinear-train -v 2 -s 21 " + good, 2, "-v compares predictions with labels"},
		{"liblinear-train -w7 2 " + good + " " + m, 0, "WARNING: no row of " + good + " has the label 7, which -w7 gives a weight\n"},
		{"liblinear-train " + named + " " + m, 1, `row 1: the label "yes" is not a number`},
		{"liblinear-train " + bare + " " + m, 1, "row 1 has no label"},
		{"liblinear-train " + filepath.Join(dir, "none"), 1, "none"},
		{"liblinear-predict " + good + " " + m, 2, "2 files"},
		{"liblinear-predict -b 2 " + good + " " + m + " o", 2, `-b "2" is neither 0 nor 1`},
		{"liblinear-predict -b 1 " + good + " " + m + " o", 1, "has no probabilities; only logistic regression has"},
		{"liblinear-predict " + good + " " + good + " o", 1, "good: line 1: "},
		{"liblinear-predict " + named + " " + m + " " + filepath.Join(dir, "o"), 1, `row 1: the label "yes" is not a number`},
	} {
		r := mercer(t, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d, %s", c.args, r.code, r.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "o")); err == nil {
		t.Error("a failed prediction left a file")
	}
	if said := ok(t, "liblinear-predict", bare, m, filepath.Join(dir, "o")); said != "" {
		t.Errorf("of rows without labels it says %q", said)
	}
}
