package cli

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
		Prediction    float64
		Scores        []float64
		Probabilities map[string]float64
	}
	line, _, _ := strings.Cut(ok(t, "predict", m, data, "--json", "--proba"), "\n")
	if err := json.Unmarshal([]byte(line), &v); err != nil || v.Prediction != 7 || len(v.Probabilities) != 2 || v.Probabilities["7"] < 0.95 || v.Scores[0] != 1.5 {
		t.Errorf("%s: %v", line, err)
	}
	csv := write(t, dir, "data.csv", "2,0,7\n0,1,-3\n")
	if got, want := ok(t, "predict", m, csv), "7\n-3\n"; got != want {
		t.Errorf("of CSV %q, want %q", got, want)
	}
	if got := ok(t, "inspect", m); !strings.Contains(got, "LIBSVM c_svc, kernel linear") ||
		!strings.Contains(got, "labels 7 (1 vectors), -3 (1 vectors)") {
		t.Errorf("inspect: %s", got)
	}
	if got := ok(t, "inspect", m, "--json"); !strings.Contains(got, `"libsvm-model"`) {
		t.Errorf("inspect --json: %s", got)
	}
}

// A model that svm-train -t 4 -c 10 wrote (LIBSVM 3.24), six rows of kernel values, and what svm-predict
// says of them.
const (
	precomputedModel = `svm_type c_svc
kernel_type precomputed
nr_class 3
total_sv 5
rho -0.38776607808031044 0.32352946147906886 0.41961216972949478
label 3 1 2
nr_sv 2 1 2
SV
0.52072143287438166 8.676470761579969 0:2 
0.895640795039366 1.3235292384200323 0:8 
-1.4163622279137478 1.5089823866101759 0:9 
-10 -0.98960314152453366 0:6 
-0 -0.51937924508564248 0:10 
`
	precomputedRows = `3 0:1 1:0.96 2:0.87 3:1.3 4:0.86 5:0.62 6:0.84 7:1.04 8:1.51 9:0.9 10:0.58
1 0:2 1:0.19 2:0.41 3:0.41 4:1.82 5:0.83 6:0.77 7:0.09 8:1.33 9:1.77 10:0.88
2 0:3 1:1.24 2:1.4 3:0.44 4:1.16 5:1.88 6:1.4 7:1.08 8:-0.2 9:1.08 10:1.96
2 0:4 1:0.66 2:0.75 3:0.76 4:1.34 5:0.92 6:0.9 7:0.62 8:1.15 9:1.32 10:0.94
3 0:5 1:1.48 2:1.42 3:1.12 4:0.64 5:1.36 6:1.24 7:1.48 8:0.46 9:0.64 10:1.36
3 0:6 1:1.69 2:1.58 3:1.25 4:0.44 5:1.43 6:1.31 7:1.71 8:0.34 9:0.45 10:1.42
`
	precomputedLabels = "3\n1\n2\n1\n3\n3\n"
)

func TestPredictTakesAPrecomputedKernelOfLIBSVM(t *testing.T) {
	dir := t.TempDir()
	m := write(t, dir, "m.model", precomputedModel)
	if got := ok(t, "predict", m, write(t, dir, "rows", precomputedRows)); got != precomputedLabels {
		t.Errorf("predicts %q, svm-predict %q", got, precomputedLabels)
	}
	// As a table, rows have the values alone.
	var csv strings.Builder
	for line := range strings.Lines(precomputedRows) {
		for _, pair := range strings.Fields(line)[2:] {
			_, value, _ := strings.Cut(pair, ":")
			csv.WriteString(value + ",")
		}
		csv.WriteString(line[:1] + "\n")
	}
	if got := ok(t, "predict", m, write(t, dir, "rows.csv", csv.String())); got != precomputedLabels {
		t.Errorf("of CSV %q, svm-predict %q", got, precomputedLabels)
	}
	narrow := write(t, dir, "narrow", "3 0:1 1:0.96 2:0.87\n")
	if r := mercer(t, "predict", m, narrow); r.code != 1 ||
		!strings.Contains(r.stderr, "the rows have 2 kernel values; support vectors are up to the training row 10") {
		t.Errorf("of too few values: exit code %d, %s", r.code, r.stderr)
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
	if r := mercer(t, "predict", cut, data); r.code != 1 ||
		!strings.Contains(r.stderr, "cut.model: line 2: the file ends before its weights") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}
