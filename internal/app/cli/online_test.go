package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// svmRows writes rows of LIBSVM text with labels that follow from the numbers.
func svmRows(from, to int, label func(a, b float64) string) string {
	var out strings.Builder
	for i := from; i < to; i++ {
		a, b := math.Sin(float64(7*i)), math.Cos(float64(11*i))
		fmt.Fprintf(&out, "%s 1:%.4f 2:%.4f\n", label(a, b), a, b)
	}
	return out.String()
}

func inside(a, b float64) string {
	if a*a+b*b < 1 {
		return "1"
	}
	return "-1"
}

func TestTrainGoesOn(t *testing.T) {
	dir := t.TempDir()
	first, second := svmRows(0, 1500, inside), svmRows(1500, 4000, inside)
	a, b, both := write(t, dir, "a", first), write(t, dir, "b", second), write(t, dir, "both", first+second)
	m := func(name string) string { return filepath.Join(dir, name) }
	ok(t, "train", both, "-o", m("whole"), "--online", "--features", "64", "--survey-rows", "1500")
	ok(t, "train", a, "-o", m("one"), "--learner", "online", "--features", "64", "--survey-rows", "1500")
	text := ok(t, "train", "--continue", m("one"), b, "-o", m("two"), "--test", both)
	if shown := ok(t, "inspect", m("two")); !strings.Contains(shown, "progressive validation: loss, error\n  1 ") ||
		!strings.Contains(shown, "\n  2,048 ") || !strings.Contains(shown, "\n  4,000 ") {
		t.Error(shown)
	}
	for _, want := range []string{"4,000 rows", "logistic by sgd", "before learning: error", "accuracy", "log loss"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if ok(t, "predict", m("whole"), both, "--scores", "--proba") != ok(t, "predict", m("two"), both, "--scores", "--proba") {
		t.Error("a continued model predicts something else than one of a single training")
	}
	// A file is no pipe: its columns of text may be looked at beforehand.
	ok(t, "train", write(t, dir, "flowers.csv", flowers(200)), "-o", m("flowers"), "--online", "--features", "16", "--survey-rows", "50")
	// The same from a pipe, which is read as it comes.
	cmd := exec.Command(program(t), "train", "-", "-o", m("piped"), "--online", "--features", "64", "--survey-rows", "1500")
	cmd.Stdin = io.MultiReader(strings.NewReader(first), strings.NewReader(second)) // no file: the program gets a pipe
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if ok(t, "predict", m("whole"), both, "--scores") != ok(t, "predict", m("piped"), both, "--scores") {
		t.Error("a model from a pipe predicts something else than one from the file")
	}
	cmd = exec.Command(program(t), "train", "--continue", m("one"), "-", "-o", m("piped"))
	cmd.Stdin = io.MultiReader(strings.NewReader(second))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if ok(t, "predict", m("whole"), both, "--scores") != ok(t, "predict", m("piped"), both, "--scores") {
		t.Error("a model continued from a pipe predicts something else than one from the file")
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--continue", m("one"), b, "-o", m("x"), "--features", "32", "--lambda", "1"},
			2, "--features, --lambda cannot be given with --continue"},
		{[]string{"--continue", m("one"), b}, 2, "give -o MODEL"},
		{[]string{"--continue", m("one"), write(t, dir, "new", "3 1:1\n"), "-o", m("x")}, 1,
			`the label "3" is none of the classes that the model was begun with (-1, 1)`},
		{[]string{both, "-o", m("x"), "--online", "--learner", "svm"}, 2, "two learners"},
		{[]string{both, "-o", m("x"), "--online", "--survey-rows", "10", "--epochs", "2"}, 2, "--epochs 2"},
		{[]string{both, "-o", m("x"), "--online", "--survey-rows", "10", "--holdout", "0.1"}, 2, "--holdout"},
		{[]string{both, "-o", m("x"), "--online", "--survey-rows", "10", "--calibrate", "platt"}, 2, "--calibrate"},
		{[]string{both, "-o", m("x"), "--survey-rows", "10"}, 2, "belongs to the learner online"},
	} {
		r := mercer(t, append([]string{"train"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("train %v: %d, %s; want %s", c.args, r.code, r.stderr, c.want)
		}
	}
	ok(t, "train", a, "-o", m("svm"), "--learner", "svm", "--features", "16")
	if r := mercer(t, "train", "--continue", m("svm"), b, "-o", m("x")); r.code != 1 ||
		!strings.Contains(r.stderr, "train with --learner online") {
		t.Errorf("an svm is continued: %s", r.stderr)
	}
}

func TestProgressiveValidationIsPrintedWhileItTrains(t *testing.T) {
	path := write(t, t.TempDir(), "a", svmRows(0, 600, inside))
	r := mercer(t, "train", path, "-o", path+".m", "--online", "--features", "64", "--progress", "always")
	if r.code != 0 || !strings.Contains(r.stderr, "after 512 rows") {
		t.Errorf("%d: %q", r.code, r.stderr)
	}
}

func TestProbabilitiesArePrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "a", svmRows(0, 300, func(a, b float64) string {
		return strconv.Itoa(min(2, int(2*(a*a+b*b))))
	}))
	m := filepath.Join(dir, "m")
	for _, learner := range []string{"ridge", "svm --c 1", "kernel-svm", "falkon", "kernel-ridge", "lasso"} {
		text := ok(t, append([]string{"train", path, "-o", m, "--learner"}, strings.Fields(learner)...)...)
		if want := " rows of 2 of 2 folds"; !strings.Contains(text, want) {
			t.Errorf("%s: no %q in:\n%s", learner, want, text)
		}
		if rows := strings.Count(ok(t, "predict", m, path, "--proba"), "\n"); rows != 300 {
			t.Errorf("%s: probabilities of %d rows", learner, rows)
		}
	}
	ok(t, "train", path, "-o", m, "--features", "64", "--learner", "ridge", "--calibrate", "none")
	if r := mercer(t, "predict", m, path, "--proba"); r.code != 1 ||
		!strings.Contains(r.stderr, "train it with --calibrate platt") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	text := ok(t, "train", path, "-o", m, "--features", "64", "--calibrate", "isotonic", "--calibrate-folds", "3")
	if want := "isotonic, fitted to the scores of 300 rows of 3 of 3 folds"; !strings.Contains(text, want) ||
		!strings.Contains(ok(t, "inspect", m), want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	for line := range strings.Lines(ok(t, "predict", m, path, "--proba")) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		sum := 0.0
		for _, p := range f[1:] {
			v, err := strconv.ParseFloat(p, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		if len(f) != 4 || math.Abs(sum-1) > 1e-5 {
			t.Fatalf("%q", line)
		}
	}
	line, _, _ := strings.Cut(ok(t, "predict", m, path, "--json"), "\n")
	var v struct {
		Prediction    string
		Probabilities map[string]float64
	}
	if err := json.Unmarshal([]byte(line), &v); err != nil || len(v.Probabilities) != 3 || !(v.Probabilities[v.Prediction] > 1./3) {
		t.Errorf("%s: %v", line, err)
	}
	var metrics map[string]any
	if err := json.Unmarshal([]byte(ok(t, "eval", m, path, "--json")), &metrics); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"log_loss", "brier", "ece", "accuracy"} {
		if v, ok := metrics[key].(float64); !ok || v < 0 || v > 1 {
			t.Errorf("%s: %v", key, metrics[key])
		}
	}
}

func TestLabelsOfAnyNumber(t *testing.T) {
	dir := t.TempDir()
	list := func(sep string) func(a, b float64) string {
		return func(a, b float64) string {
			var l []string
			if a > 0.2 {
				l = append(l, "3")
			}
			if b > 0 {
				l = append(l, "7")
			}
			return strings.Join(l, sep)
		}
	}
	svm := write(t, dir, "rows.svm", svmRows(0, 600, list(",")))
	var csv, columns bytes.Buffer
	csv.WriteString("a,b,tags\n")
	columns.WriteString("a,b,three,seven\n")
	for line := range strings.Lines(svmRows(0, 600, list("|"))) {
		label, rest, _ := strings.Cut(line, " ")
		f := strings.Fields(strings.NewReplacer("1:", "", "2:", "").Replace(rest))
		fmt.Fprintf(&csv, "%s,%s,%s\n", f[0], f[1], label)
		fmt.Fprintf(&columns, "%s,%s,%v,%v\n", f[0], f[1], strings.Contains(label, "3"), strings.Contains(label, "7"))
	}
	m := filepath.Join(dir, "m")
	var predictions []string
	for _, c := range [][]string{
		{svm},
		{write(t, dir, "rows.csv", csv.String()), "--label-separator", "|"},
		{write(t, dir, "columns.csv", columns.String()), "--label", "three,seven", "--task", "multilabel"},
	} {
		text := ok(t, append([]string{"train", "-o", m, "--features", "64", "--learner", "svm", "--test", c[0]}, c...)...)
		for _, want := range []string{"multi-label, 2 labels", "exact", "Hamming", "micro F1", "macro F1", "precision"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in:\n%s", c[0], want, text)
			}
		}
		if !strings.Contains(ok(t, "inspect", m), "multi-label, 2 labels") {
			t.Error("inspect does not tell the labels")
		}
		var metrics struct {
			Exact  *float64 `json:"subset_accuracy"`
			Labels []struct{ F1 float64 }
		}
		err := json.Unmarshal([]byte(ok(t, "eval", m, c[0], "--json")), &metrics)
		if err != nil || *metrics.Exact < 0.9 || len(metrics.Labels) != 2 {
			t.Errorf("%+v, %v", metrics, err)
		}
		predictions = append(predictions, strings.NewReplacer("three", "3", "seven", "7").Replace(ok(t, "predict", m, c[0])))
	}
	if predictions[0] != predictions[1] || predictions[0] != predictions[2] {
		t.Error("the same rows in three forms are predicted otherwise")
	}
	if !strings.HasPrefix(ok(t, "predict", m, svm, "--label-separator", ","), "seven\n") ||
		!strings.Contains(predictions[0], "3,7\n") || !strings.Contains(predictions[0], "\n\n") {
		t.Errorf("%.100q", predictions[0])
	}
	if text := ok(t, "inspect", svm); !strings.Contains(text, "2, multi-label (rows have lists of labels): 3, 7") {
		t.Error(text)
	}
}
