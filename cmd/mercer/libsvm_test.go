package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const libsvmModel = `svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0.5
label 7 -3
probA -2
probB 0
nr_sv 1 1
SV
1 1:1 
-1 2:1 
`

func TestPredictTakesAModelOfLIBSVM(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, "m.model", libsvmModel)
	data := write(t, dir, "data.svm", "7 1:2\n-3 2:1\n7 1:1.5 2:1\n-3 4:9\n")
	if got, want := ok(t, "predict", m, data), "7\n-3\n-3\n-3\n"; got != want {
		t.Errorf("predicts %q, want %q", got, want)
	}
	if got, want := ok(t, "predict", m, data, "--scores", "--proba"), "7\t1.5\t0.95"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	var v struct {
		Prediction            float64
		Scores, Probabilities []float64
	}
	line, _, _ := strings.Cut(ok(t, "predict", m, data, "--json", "--proba"), "\n")
	if err := json.Unmarshal([]byte(line), &v); err != nil || v.Prediction != 7 || len(v.Probabilities) != 2 || v.Scores[0] != 1.5 {
		t.Errorf("%s: %v", line, err)
	}
	csv := write(t, dir, "data.csv", "2,0,7\n0,1,-3\n")
	if got, want := ok(t, "predict", m, csv), "7\n-3\n"; got != want {
		t.Errorf("of CSV %q, want %q", got, want)
	}
	if got := ok(t, "inspect", m); !strings.Contains(got, "LIBSVM c_svc, kernel linear") || !strings.Contains(got, "labels 7 (1 vectors), -3 (1 vectors)") {
		t.Errorf("inspect: %s", got)
	}
	if got := ok(t, "inspect", m, "--json"); !strings.Contains(got, `"libsvm-model"`) {
		t.Errorf("inspect --json: %s", got)
	}
}

func TestErrorsOfModelsOfLIBSVM(t *testing.T) {
	dir := t.TempDir()
	bad := write(t, dir, "bad.model", strings.Replace(libsvmModel, "1 1:1", "1 0:1", 1))
	plain := write(t, dir, "plain.model", strings.Replace(strings.Replace(libsvmModel, "probA -2\n", "", 1), "probB 0\n", "", 1))
	narrow := write(t, dir, "narrow.csv", "1,7\n2,-3\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", bad, narrow}, "bad.model: line 11: \"0:1\": the index is not a whole number from 1"},
		{[]string{"predict", plain, narrow, "--proba"}, "plain.model: has no probabilities; those of LIBSVM trained with -b 1 have"},
		{[]string{"predict", plain, narrow}, "narrow.csv: the rows have 1 columns; the support vectors have up to 2"},
		{[]string{"inspect", bad}, "line 11"},
	} {
		r := mercer(t, c.args...)
		if r.code != 1 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit code %d, %q, want %q", c.args, r.code, r.stderr, c.want)
		}
	}
}

func TestPredictTakesAModelOfLIBLINEAR(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, "m.model", "solver_type L2R_LR\nnr_class 2\nlabel 7 -3\nnr_feature 2\nbias 1\nw\n1 \n-2 \n0.5 \n")
	data := write(t, dir, "data.svm", "7 1:2\n-3 2:1\n7 4:9\n")
	if got, want := ok(t, "predict", m, data, "--scores"), "7\t2.5\n-3\t-1.5\n7\t0.5\n"; got != want {
		t.Errorf("predicts %q, want %q", got, want)
	}
	if got, want := ok(t, "predict", m, data, "--proba"), "7\t0.924"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	if got := ok(t, "inspect", m); !strings.Contains(got, "LIBLINEAR, L2R_LR, 2 dimensions") || !strings.Contains(got, "2 classes: 7 -3") {
		t.Errorf("inspect: %s", got)
	}
	if got := ok(t, "inspect", m, "--json"); !strings.Contains(got, `"liblinear-model"`) || !strings.Contains(got, `"L2R_LR"`) {
		t.Errorf("inspect --json: %s", got)
	}
	cut := write(t, dir, "cut.model", "solver_type L2R_LR\nnr_class 2\n")
	if r := mercer(t, "predict", cut, data); r.code != 1 || !strings.Contains(r.stderr, "cut.model: line 2: the file ends before its weights") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}
