package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// twoOfDigits trains two models of the digits.
func twoOfDigits(t *testing.T) (test, linear, rbf string) {
	train, test := digitFiles(t)
	dir := t.TempDir()
	linear, rbf = filepath.Join(dir, "linear.mercer"), filepath.Join(dir, "rbf.mercer")
	ok(t, "train", train, "-o", linear, "--kernel", "linear", "--learner", "ridge")
	ok(t, "train", train, "-o", rbf, "--features", "512", "--learner", "ridge")
	return test, linear, rbf
}

func TestCompareSaysWhatEvalSays(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	test, linear, rbf := twoOfDigits(t)
	got := object(t, ok(t, "compare", test, linear, rbf, "--json", "--resamples", "500"))
	models := got["models"].([]any)
	for i, path := range []string{linear, rbf} {
		m := models[i].(map[string]any)
		want := object(t, ok(t, "eval", path, test, "--json"))["accuracy"].(float64)
		if v := m["value"].(float64); math.Abs(v-want) > 1e-12 {
			t.Errorf("%s: accuracy %g, eval says %g", m["name"], v, want)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if m["bytes"] != float64(st.Size()) || !(m["us_per_row"].(float64) > 0) {
			t.Errorf("%v", m)
		}
	}
	if got["n"] != 460.0 || got["metric"] != "accuracy" || got["test"] != "mcnemar" || got["reference"] != 1.0 ||
		got["chosen_by_these_rows"] != true {
		t.Errorf("%v", got)
	}
	d := models[0].(map[string]any)["difference"].(map[string]any)
	if models[1].(map[string]any)["difference"] != nil || !(d["p"].(float64) <= d["holm"].(float64)) || d["value"].(float64) >= 0 {
		t.Errorf("difference %v", d)
	}

	text := ok(t, "compare", test, linear, rbf, "--resamples", "500", "--control", "linear.mercer")
	for _, want := range []string{"test.csv: 460 rows", "accuracy %", "to linear.mercer", "control", "p (Holm)", "McNemar"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "flatters") {
		t.Errorf("a control was not chosen by the rows:\n%s", text)
	}
	if second := ok(t, "compare", test, linear, rbf, "--resamples", "500", "--control", "1"); !strings.Contains(second, "to linear.mercer") {
		t.Errorf("--control 1:\n%s", second)
	}
}

// TestCompareWithModelsOfOthers: LIBSVM's and LIBLINEAR's models have the accuracy that their own programs tell, and their scores
// and probabilities are of the right class, whichever comes first in their files.
func TestCompareWithModelsOfOthers(t *testing.T) {
	for _, program := range []string{"svm-train", "svm-predict", "liblinear-train", "liblinear-predict"} {
		testenv.Program(t, program)
	}
	program := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, labels := range [][2]string{{"1", "2"}, {"2", "1"}} {
		dir := t.TempDir()
		t.Chdir(dir)
		var rows strings.Builder
		for i := range 300 {
			label := labels[0]
			if (i%7)*(i%5) > 6+i%3 {
				label = labels[1]
			}
			fmt.Fprintf(&rows, "%s 1:%d 2:%d\n", label, 1+i%7, 1+i%5)
		}
		write(t, dir, "rows.svm", rows.String())
		program("svm-train", "-q", "-c", "10", "-b", "1", "rows.svm", "svm.model")
		program("liblinear-train", "-q", "-s", "0", "-B", "1", "rows.svm", "linear.model")
		ok(t, "train", "rows.svm", "-o", "m.mercer", "--kernel", "linear", "--learner", "logistic", "--c", "1")
		values := func(args ...string) (values []float64) {
			for _, m := range object(t, ok(t, append([]string{"compare", "rows.svm", "--json", "--resamples", "100"},
				args...)...))["models"].([]any) {
				values = append(values, m.(map[string]any)["value"].(float64))
			}
			return values
		}
		accuracy := values("svm.model", "m.mercer", "linear.model")
		for i, said := range map[int]string{0: program("svm-predict", "rows.svm", "svm.model", "out"),
			2: program("liblinear-predict", "rows.svm", "linear.model", "out")} {
			if want := fmt.Sprintf("(%.0f/300)", 300*accuracy[i]); !strings.Contains(said, want) {
				t.Errorf("%s right, but the program says %s", want, said)
			}
		}
		// Chance has an AUC of ½ and a log loss of log 2; models without one of Mercer's among them, too.
		for _, v := range values("svm.model", "linear.model", "--metric", "auc") {
			if v < 0.9 {
				t.Errorf("label %s first: AUC %g", labels[0], v)
			}
		}
		for _, v := range values("svm.model", "m.mercer", "linear.model", "--metric", "log_loss") {
			if v > 0.4 {
				t.Errorf("label %s first: log loss %g", labels[0], v)
			}
		}
	}
}

func TestLongComparisonsAreAnnounced(t *testing.T) {
	announceAll(t)
	t.Chdir(t.TempDir())
	write(t, ".", "curve.csv", curve(120))
	args := []string{"compare", "curve.csv", "--config", "--quick --features 32 --metric none",
		"--config", "--kernel linear --learner ridge", "--folds", "2"}
	r := mercer(t, args...)
	if want := "mercer compare: note: 2 configurations, 4 trainings: about "; r.code != 0 ||
		!strings.HasPrefix(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d: on standard error %q, want %q", r.code, r.stderr, want)
	}
	if r := mercer(t, append(args, "--progress", "never")...); r.code != 0 || r.stderr != "" {
		t.Errorf("code %d: on standard error %q", r.code, r.stderr)
	}
}

func TestCompareConfigurations(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var parabola strings.Builder
	for i := range 300 {
		x := float64(i) / 300
		fmt.Fprintf(&parabola, "%g,%g\n", x, 3*x*(1-x)+float64(i%10)/1000)
	}
	write(t, dir, "parabola.csv", parabola.String())
	write(t, dir, "linear.json", `{"kernel":"linear","learner":"ridge"}`)
	write(t, dir, "rbf.json", `{"features":64,"learner":"ridge"}`)
	got := object(t, ok(t, "compare", "parabola.csv", "--configs", "linear.json", "rbf.json",
		"--config", "--features 32 --learner ridge", "--folds", "4", "--json"))
	configs := got["configs"].([]any)
	if len(configs) != 3 || got["metric"] != "rmse" || got["folds"] != 4.0 || got["n"] != 300.0 || got["test"] != "corrected_t" {
		t.Fatalf("%v", got)
	}
	for i, want := range []string{"linear.json", "rbf.json", "--features 32 --learner ridge"} {
		c := configs[i].(map[string]any)
		if c["name"] != want || len(c["fold_values"].([]any)) != 4 {
			t.Errorf("%v, want %s", c, want)
		}
	}
	if d := configs[0].(map[string]any)["difference"].(map[string]any); !(d["value"].(float64) > 0 && d["p"].(float64) < 0.05) {
		t.Errorf("linear on a parabola: %v", d)
	}
	text := ok(t, "compare", "parabola.csv", "--configs", "linear.json", "rbf.json", "--folds", "3", "--repeats", "2")
	for _, want := range []string{"300 rows in 3 folds, 2 times", "RMSE", "to rbf.json", "corrected resampled t-test", "flatters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

// TestAConfigurationOfTrainCanBeCompared: what train --json shows is a configuration.
func TestAConfigurationOfTrainCanBeCompared(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "curve.csv", curve(200))
	trained := object(t, ok(t, "train", "curve.csv", "-o", "m", "--features", "32", "--learner", "ridge",
		"--json"))["trained"].(map[string]any)
	text, err := json.Marshal(trained["config"])
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "trained.json", string(text))
	got := object(t, ok(t, "compare", "curve.csv", "--configs", "trained.json", "--config", "--features 32 --learner ridge",
		"--folds", "2", "--json"))
	if d := got["configs"].([]any)[1].(map[string]any)["difference"].(map[string]any); d["value"] != 0.0 || d["p"] != 1.0 {
		t.Errorf("the same configuration by JSON and by flags: %v", d)
	}
}

func TestCompareErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string) string { return filepath.Base(write(t, dir, name, text)) }
	plain := file("plain.csv", "1,2,3,a\n2,3,4,b\n3,4,6,a\n4,4,4,b\n9,8,7,a\n2,2,7,b\n")
	file("wide.csv", "1,2,3,4,a\n2,3,4,5,b\n3,4,6,7,a\n4,4,4,4,b\n9,8,7,6,a\n")
	file("other.csv", "1,2,3,a\n2,3,4,c\n3,4,6,a\n4,4,4,c\n9,8,7,a\n")
	for _, name := range []string{"plain", "wide", "other"} {
		ok(t, "train", name+".csv", "-o", name+".mercer", "--kernel", "linear", "--learner", "ridge", "--lambda", "1")
	}
	file("curve.csv", curve(100))
	ok(t, "train", "curve.csv", "-o", "curve.mercer", "--kernel", "linear", "--learner", "ridge")
	good, bad := file("good.json", `{"kernel":"linear"}`), file("bad.json", `{"kernel":"magic"}`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 2, "no data; usage: mercer compare"},
		{[]string{plain, "plain.mercer"}, 2, "1 model to compare; give two or more, or configurations with --configs"},
		{[]string{plain, "plain.mercer", "plain.mercer", "--control", "x"}, 2, `--control "x" is none of plain.mercer, plain.mercer`},
		{[]string{plain, "plain.mercer", "plain.mercer", "--metric", "beauty"}, 2,
			`there is no metric "beauty"; models are compared by accuracy`},
		{[]string{plain, "plain.mercer", "plain.mercer", "--metric", "top_5_accuracy"}, 2,
			"models cannot be compared by top_5_accuracy, but by accuracy, error"},
		{[]string{plain, "plain.mercer", "plain.mercer", "--metric", "rmse"}, 1, "the metric rmse is not for the task classify"},
		{[]string{plain, "plain.mercer", "plain.mercer", "--folds", "3"}, 2, "--folds is for configurations"},
		{[]string{plain, "plain.mercer", "plain.mercer", "--level", "95"}, 2, "--level 95 is not between 0 and 1"},
		{[]string{plain, "plain.mercer", "plain.mercer", "--resamples", "9"}, 2, "--resamples 9 are too few"},
		{[]string{plain, "plain.mercer", "none.mercer"}, 1, "none.mercer"},
		{[]string{"none.csv", "plain.mercer", "plain.mercer"}, 1, "none.csv"},
		{[]string{plain, "plain.mercer", "wide.mercer"}, 1,
			"plain.mercer and wide.mercer do not read the same rows: they have 3 and 4 input dimensions"},
		{[]string{plain, "plain.mercer", "other.mercer"}, 1, `plain.mercer knows the class "b", other.mercer does not`},
		{[]string{"other.csv", "plain.mercer", "plain.mercer"}, 1, `other.csv: row 2: the label "c" is none of the classes of the models, a, b`},
		{[]string{"curve.csv", "curve.mercer", "curve.mercer", "--config", "--kernel linear"}, 2,
			"curve.mercer is a model beside configurations"},
		{[]string{plain, "--configs", good}, 2, "1 configuration to compare; give two or more"},
		{[]string{plain, "--configs", good, bad}, 1, `bad.json: "magic" is not a kernel`},
		{[]string{plain, "--configs", good, file("typo.json", `{"kernal":"rbf"}`)}, 1,
			`typo.json: not a configuration in JSON, such as {"kernel":"rbf","features":1024}: unknown field "kernal"`},
		{[]string{plain, "--config", "--kernel linear", "--config", "--colour red"}, 2,
			`--config "--colour red": unknown flag: --colour; it takes the flags of mercer train`},
		{[]string{plain, "--config", "--kernel linear", "--config", "linear"}, 2, `--config "linear": "linear" is no flag`},
		{[]string{plain, "--config", "--kernel linear", "--config", "--kernel magic"}, 2, `--config "--kernel magic": "magic" is not a kernel`},
		{[]string{plain, "--config", "--kernel linear", "--config", "", "--test", "z"}, 2, `--test "z" is not known; known are t, mcnemar`},
		{[]string{"curve.csv", "--config", "--kernel linear", "--config", "--features 32", "--test", "mcnemar"}, 1,
			"McNemar's test is for accuracy and error, and the metric is rmse"},
	} {
		r := mercer(t, append([]string{"compare"}, c.args...)...)
		if r.code != c.code || !strings.HasPrefix(r.stderr, "mercer compare: ") || !strings.Contains(r.stderr, c.want) ||
			strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.args, r.code, r.stderr, c.code, c.want)
		}
	}
}
