package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSVRCommand(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "curve.csv", curve(300)), filepath.Join(dir, "m")
	said := ok(t, "train", data, "-o", m, "--learner", "svr", "--epsilon", "0.05", "--c", "5", "--holdout", "0.2")
	for _, want := range []string{"svr, squared_epsilon, C = 5 (given), ε = 0.05", "duality gap", "features in memory"} {
		if !strings.Contains(said, want) {
			t.Errorf("train says %q, want %q", said, want)
		}
	}
	r := object(t, ok(t, "train", data, "-o", m, "--learner", "svr", "--loss", "epsilon", "--epsilon", "0.05", "--c", "1",
		"--holdout", "0.2", "--memory", "100KB", "--json"))
	if r["features_in"] != "in a temporary file" || r["r2"].(float64) < 0.8 {
		t.Errorf("in a file: %v", r)
	}
	said = ok(t, "train", data, "-o", m, "--learner", "svr", "--epsilon", "0.05", "--solver", "primal", "--holdout", "0.2",
		"--report", filepath.Join(dir, "r.html"))
	if !strings.Contains(said, "squared_epsilon loss, C = ") || !strings.Contains(said, "in the primal: converged") {
		t.Errorf("train says %q", said)
	}
}

func TestOneClassCommand(t *testing.T) {
	dir := t.TempDir()
	text := sides(400, 2, false)
	data, m := write(t, dir, "rows.svm", text), filepath.Join(dir, "m")
	said := ok(t, "train", data, "-o", m, "--learner", "one-class", "--outliers", "0.1")
	for _, want := range []string{"outlier detection: outliers are -1, all other rows 1 (of the learner)",
		"one-class, ν = 0.1", "of the rows lie outside"} {
		if !strings.Contains(said, want) {
			t.Errorf("train says %q, want %q", said, want)
		}
	}
	predicted := strings.Fields(ok(t, "predict", m, data))
	outside := 0
	for _, p := range predicted {
		if p == "-1" {
			outside++
		}
	}
	if len(predicted) != 400 || outside < 30 || outside > 50 {
		t.Errorf("%d of %d rows are outliers, want some 40", outside, len(predicted))
	}
	// A table without labels.
	var table strings.Builder
	table.WriteString("a,b\n")
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i%2 == 0 {
			f := strings.Fields(line)
			table.WriteString(strings.TrimPrefix(f[1], "1:") + "," + strings.TrimPrefix(f[2], "3:") + "\n")
		}
	}
	csv := write(t, dir, "rows.csv", table.String())
	ok(t, "train", csv, "--label", "none", "-o", m, "--task", "outliers")
	if got := strings.Fields(ok(t, "predict", m, csv)); len(got) != 200 {
		t.Errorf("%d predictions of 200 rows", len(got))
	}
}

func TestCrammerSingerCommand(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "flowers.csv", flowers(300)), filepath.Join(dir, "m")
	r := object(t, ok(t, "train", data, "-o", m, "--learner", "svm", "--multiclass", "crammer-singer", "--c", "1",
		"--holdout", "0.3", "--json"))
	svm := r["trained"].(map[string]any)["training"].(map[string]any)["svm"].(map[string]any)
	if svm["loss"] != "hinge" || r["accuracy"].(float64) < 0.7 {
		t.Errorf("%v", r)
	}
}

// TestFewRowsAreTrainedByTheUsualC says where C comes from: nobody gave one, and there is none to choose.
func TestFewRowsAreTrainedByTheUsualC(t *testing.T) {
	dir := t.TempDir()
	classes, numbers := write(t, dir, "flowers.csv", flowers(60)), write(t, dir, "curve.csv", curve(60))
	for args, data := range map[string]string{"svm": classes, "logistic --solver dual": classes, "svr": numbers} {
		train := append([]string{"train", data, "-o", filepath.Join(dir, "m"), "--features", "16", "--learner"}, strings.Fields(args)...)
		if said := ok(t, train...); !strings.Contains(said, "(the usual one: there are too few rows to choose by)") {
			t.Errorf("%s: %s", args, said)
		}
		if said := ok(t, append(train, "--c", "2")...); !strings.Contains(said, "C = 2 (given)") {
			t.Errorf("%s with C: %s", args, said)
		}
	}
}

func TestAClassHasOneWeight(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "rows.svm", sides(40, 2, false))
	r := mercer(t, "train", data, "-o", filepath.Join(dir, "m"), "--features", "16", "--class-weight", "1=2,1=3")
	if want := `class weight "1=3": the class "1" has a weight already`; r.code != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("%d, %s; want %s", r.code, r.stderr, want)
	}
}
