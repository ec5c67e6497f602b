package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with a table is said with its columns: the label that tells nothing, the column that a model misses and is there under a
// name like it, and what a file of kinds may say.
func TestWrongColumnsAreNamed(t *testing.T) {
	dir := t.TempDir()
	var rows, many strings.Builder
	rows.WriteString("size,price,name,sold\n")
	many.WriteString("a,name\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%d,n%d,%d\n", i%7, i%11, i, i%2)
	}
	for i := range 100_001 {
		fmt.Fprintf(&many, "%d,n%d\n", i%7, i)
	}
	data, model := write(t, dir, "data.csv", rows.String()), filepath.Join(dir, "m.mercer")
	big := write(t, dir, "big.csv", many.String())
	other := write(t, dir, "other.csv", "size,Price,price2\n1,2,3\n2,3,4\n")
	typo := write(t, dir, "typo.csv", "siz,price\n1,2\n2,3\n")
	far := write(t, dir, "far.csv", "size,weight\n1,2\n2,3\n")
	kinds := write(t, dir, "kinds.json", `{"columns":[{"name":"size","kind":"ordinal","levels":["1","2"]}]}`)
	if r := mercer(t, "train", data, "--label", "sold", "--ignore", "name", "--quick", "-o", model); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"train " + data + " --label name -o x", `the label, column "name", has 60 different values in 60 rows, so it says nothing`, 1},
		{"train " + big + " -o x", `the label, column "name", has more than 100,000 different values in 100,001 rows, too many for classes; name another column with --label`, 1},
		{"predict " + model + " " + other, `there is no column "price", which the model was trained on (is it "Price"?); the columns are`, 1},
		{"predict " + model + " " + typo, `there is no column "size", which the model was trained on (is it "siz"?); the columns are`, 1},
		{"predict " + model + " " + far, `there is no column "price", which the model was trained on; the columns are`, 1},
		{"train " + data + " --label sold -o x --schema " + kinds, `unknown field "levels"; a column may have "name", "kind", "order", "layouts", "na", "buckets"`, 2},
	} {
		if r := mercer(t, strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
	}
}

// A word that is slightly off is answered with the one that was meant.
func TestDidYouMean(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", "1,2,a\n")
	for _, c := range []struct{ args, want, not string }{
		{"trian x.csv", `"trian" is no command; did you mean train? mercer --help`, ""},
		{"trian x.csv -o m --features 3", `"trian" is no command; did you mean train?`, ""},
		{"tran x.csv", `"tran" is no command; did you mean train?`, ""},
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
