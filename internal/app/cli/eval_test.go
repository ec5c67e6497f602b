package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// steps are rows of an input and the class of its whole part; of every tenth row the class
// is the next one.
func steps(rows, classes int, names ...string) string {
	var b strings.Builder
	b.WriteString("x,class\n")
	for i := range rows {
		k := i % classes
		label := k
		if i%10 == 9 {
			label = (k + 1) % classes
		}
		name := fmt.Sprintf("class %02d", label)
		if names != nil {
			name = names[label]
		}
		fmt.Fprintf(&b, "%g,%s\n", float64(k)+float64(i%7)/10, name)
	}
	return b.String()
}

// stepModel trains on steps without errors, so that every tenth row of steps is wrong.
func stepModel(t *testing.T, dir string, classes int, names ...string) (model string) {
	t.Helper()
	var right strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(steps(10*classes*7, classes, names...)), "\n") {
		if i%10 != 0 || i == 0 {
			right.WriteString(line + "\n")
		}
	}
	model = filepath.Join(dir, "steps.mercer")
	ok(t, "train", write(t, dir, "right.csv", right.String()), "-o", model, "--learner", "ridge", "--lambda", "1e-6",
		"--features", "128", "--sigma", "0.3", "--scale", "none")
	return model
}

func TestEvalPrintsWhatMattersFirst(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 2, "no", "yes")
	test := write(t, dir, "test.csv", steps(140, 2, "no", "yes"))
	text := ok(t, "eval", m, test)
	head := "  rows      140\n  accuracy  90.00 %\n  error     10.00 %\n  macro F1  "
	if !strings.HasPrefix(text, head) {
		t.Errorf("eval begins\n%s\nwant\n%s", text, head)
	}
	for _, want := range []string{"\n  F1        ", "\n  AUC       ", "\n  precision ", "rows of yes that are found", "\n  Matthews  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	short := ok(t, "train", test, "-o", filepath.Join(dir, "m"), "--features", "16", "--test", test)
	if strings.Contains(short, "Matthews") || !strings.Contains(short, "\n  AUC       ") {
		t.Errorf("train prints\n%s", short)
	}
	long := object(t, ok(t, "train", test, "-o", filepath.Join(dir, "m"), "--features", "16", "--test", test, "--json"))
	if long["confusion"] != nil || long["mcc"] == nil || long["auc"] == nil {
		t.Errorf("train --json: %v", long)
	}
}

// TestEveryAverageIsToldAndJudges has precision, recall and F1 in every average in text
// and page of eval, and as a metric of tune and compare.
func TestEveryAverageIsToldAndJudges(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 3, "low", "middle", "high")
	test, page := write(t, dir, "test.csv", steps(210, 3, "low", "middle", "high")), filepath.Join(dir, "page.html")
	text := ok(t, "eval", m, test, "--report", page)
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := object(t, ok(t, "eval", m, test, "--json"))
	for _, average := range []string{"micro", "macro", "weighted"} {
		for name, title := range map[string]string{"precision": "precision", "recall": "recall", "f1": "F1", "average_precision": "PR AUC"} {
			if average == "micro" && name == "average_precision" {
				continue // decisions have no order
			}
			name, title = average+"_"+name, average+" "+title
			if all[name] == nil {
				t.Errorf("eval --json has no %s", name)
			}
			if !strings.Contains(text, "\n  "+title+" ") {
				t.Errorf("eval prints no %s:\n%s", title, text)
			}
			// The page says nothing twice: these are the accuracy and, where every class has rows, the balanced accuracy.
			twice := average == "micro" || name == "weighted_recall" || name == "macro_recall"
			if twice == (strings.Contains(string(html), ">"+title+"</th>") || strings.Contains(string(html), "<dt>"+title+"</dt>")) {
				t.Errorf("%s is on the page of eval: %v", title, !twice)
			}
		}
	}
	for _, name := range []string{"micro_precision", "weighted-recall", "weighted_precision"} {
		if out := object(t, ok(t, "compare", test, m, m, "--metric", name, "--resamples", "100",
			"--json")); out["metric"] != strings.ReplaceAll(name, "-", "_") {
			t.Errorf("compare --metric %s judges by %v", name, out["metric"])
		}
	}
	for _, name := range []string{"micro_recall", "weighted_precision", "weighted_average_precision"} {
		out := object(t, ok(t, "tune", test, "-o", filepath.Join(dir, name), "--metric", name, "--features", "16", "--folds", "2",
			"--gamma", "median", "--learner", "ridge", "--lambda", "1", "--json"))
		if search, _ := out["search"].(map[string]any); search["metric"] != name {
			t.Errorf("tune --metric %s judges by %v", name, search["metric"])
		}
	}
}

func TestEvalShowsWhatIsTakenForWhat(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 3, "low", "middle", "high")
	// Of three classes in turns, of which every tenth row has the next one's label, every
	// 30 rows have one such row of each class. A label is new to the model.
	text := strings.Replace(steps(210, 3, "low", "middle", "high"), ",low\n", ",strange\n", 1)
	out := ok(t, "eval", m, write(t, dir, "test.csv", text), "--per-class")
	for _, want := range []string{
		"  unknown   1 row of labels that the model does not know; they count as errors\n",
		"\n  class                     rows  precision     recall         F1       AUC    PR AUC\n  high                        70 ",
		"\n  lines: truth, columns: prediction\n" +
			"               high     low  middle\n" +
			"  high           63       ·       7\n" +
			"  low             7      62       ·\n" +
			"  middle          ·       7      63\n" +
			"  (unknown)       ·       1       ·\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no\n%s\nin\n%s", want, out)
		}
	}
}

func TestEvalOfManyClassesShowsThePairsConfused(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 25)
	out := ok(t, "eval", m, write(t, dir, "test.csv", steps(700, 25)), "--per-class")
	if !regexp.MustCompile(`\n  most often, truth     is taken for                rows  of the truth's\n` +
		`  class \d\d              class \d\d +\d+ +\d+\.\d\d %\n`).MatchString(out) {
		t.Error(out)
	}
	if strings.Contains(out, "lines: truth") || strings.Count(out, "is taken for") != 1 || !strings.Contains(out, "\n  top 5 ") {
		t.Error(out)
	}
}

func TestEvalGivesCurvesWhenAsked(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 3)
	test := write(t, dir, "test.csv", steps(210, 3))
	plain, with := object(t, ok(t, "eval", m, test, "--json")), object(t, ok(t, "eval", m, test, "--json", "--curves"))
	if plain["curves"] != nil || len(plain["classes"].([]any)) != 3 {
		t.Errorf("%v", plain)
	}
	roc := with["curves"].(map[string]any)["roc"].([]any)
	if len(roc) != 3 || roc[2].(map[string]any)["label"] != "class 02" || with["accuracy"] != plain["accuracy"] {
		t.Errorf("%v", with)
	}
}

func TestEvalOfOneClassHasNoArea(t *testing.T) {
	dir := t.TempDir()
	m := stepModel(t, dir, 2, "no", "yes")
	for _, text := range []string{"x,class\n0.1,no\n0.2,no\n", "x,class\n1.5,yes\n"} {
		v := object(t, ok(t, "eval", m, write(t, dir, "test.csv", text), "--json"))
		if _, there := v["auc"]; there || v["accuracy"] != 1.0 {
			t.Errorf("%v", v)
		}
	}
}

func TestEvalOfNumbersTakesAQuantile(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "curve.csv", curve(300))
	m := filepath.Join(dir, "m")
	ok(t, "train", data, "-o", m, "--features", "64")
	half, high := object(t, ok(t, "eval", m, data, "--json")), object(t, ok(t, "eval", m, data, "--json", "--quantile", "0.9"))
	if d := half["pinball"].(float64) - half["mae"].(float64)/2; d > 1e-12 || d < -1e-12 || high["quantile"] != 0.9 ||
		high["pinball"] == half["pinball"] {
		t.Errorf("pinball %v, of the quantile %v %v; mae %v", half["pinball"], high["quantile"], high["pinball"], half["mae"])
	}
	if out := ok(t, "eval", m, data, "--quantile", "0.9"); !strings.Contains(out, "quantile loss of the quantile 0.9") {
		t.Error(out)
	}
	for _, c := range []struct{ flag, want string }{
		{"--quantile=1.5", "--quantile 1.5 is not between 0 and 1"},
		{"--curves", "--curves is for --json; give both"},
	} {
		if r := mercer(t, "eval", m, data, c.flag); r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit code %d, %s", c.flag, r.code, r.stderr)
		}
	}
}
