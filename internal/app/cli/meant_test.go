package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A word that is slightly off is answered with the one that was meant.
func TestDidYouMean(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", "1,2,a\n")
	for _, c := range []struct{ args, want, not string }{
		{"trian x.csv", `"trian" is no command; did you mean train? mercer --help`, ""},
		{"trian x.csv -o m --features 3", `"trian" is no command; did you mean train?`, ""},
		{"predit m x", "did you mean predict?", ""},
		{"liblinear_train x", "did you mean liblinear-train?", ""},
		{"cluster-of-things", `"cluster-of-things" is no command; mercer --help lists them`, "did you mean"},
		{data, data + `" is a file and no command; what is to be done with it?`, ""},
		{"train x.csv -o m --featurs 3", "unknown flag: --featurs; did you mean --features? (mercer train --help lists the flags)", ""},
		{"train x.csv -o m --learnr=svm", "did you mean --learner?", ""},
		{"train x.csv -o m -kernel rbf", "did you mean --kernel?", ""},
		{"eval m x --per-clas", "did you mean --per-class?", ""},
		{"train x.csv -o m --zzzzzz", "unknown flag: --zzzzzz (mercer train", "did you mean"},
		{"tune x.csv -o m --varianc", "unknown flag: --varianc", "did you mean --variance?"}, // tune hides it
		{"train x.csv -o m --learner svmm", `learner "svmm" is not known; did you mean svm?`, ""},
		{"train x.csv -o m --learner logistic-regression", "it is called logistic here", ""},
	} {
		r := mercer(t, strings.Fields(c.args)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(r.stderr, c.not) ||
			strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
	}
	for _, args := range []string{"help train", "completion bash", "--version", "__complete tra"} {
		if r := mercer(t, strings.Fields(args)...); r.code != 0 {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// Where MODEL and DATA stand in the wrong order it is said which is which.
func TestWrongOrderOfModelAndData(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "flowers.csv", flowers(60)), filepath.Join(dir, "m") // the name tells nothing
	ok(t, "train", data, "-o", m, "--features", "16", "--learner", "ridge", "--lambda", "1")
	svm := write(t, dir, "x.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n")
	linear := filepath.Join(dir, "linear")
	ok(t, "liblinear-train", "-q", svm, linear)
	for _, c := range []struct{ args, want string }{
		{"predict " + data + " " + m, m + " is a model and " + data + " is not; the model comes first: mercer predict"},
		{"predict " + svm + " " + linear, linear + " is a model and " + svm + " is not; the model comes first"},
		{"eval " + data + " " + m, m + " is a model and " + data + " is not; the model comes first: mercer eval"},
		{"transform " + data + " " + m + " -o z.npy", m + " is a model and " + data + " is not; the model comes first: mercer transform"},
		{"compare " + m + " " + data + " " + m, m + " is a model and " + data + " is not; the data come first: mercer compare"},
		{"compare " + m + " " + m, m + " is a model; the data come first"},
		{"inspect " + m + " " + data, "2 arguments; usage: mercer inspect [flags] MODEL|DATA"},
	} {
		if r := mercer(t, strings.Fields(c.args)...); r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
	}
	for _, args := range []string{"train " + m + " -o n", "predict " + m + " " + m, "approx " + m, "kernel " + m + " -o k.npy"} {
		if r := mercer(t, strings.Fields(args)...); r.code != 1 ||
			!strings.Contains(r.stderr, m+": is a model or another file of tensors; give a data file") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if r := mercer(t, "predict", filepath.Join(dir, "none"), m); r.code != 1 || !strings.Contains(r.stderr, "none") {
		t.Errorf("a model that is not there: %+v", r)
	}
}
