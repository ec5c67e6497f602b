package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// The learner predicts what exact's machines predict of the scaled rows, for two classes and more,
// by votes and by the largest score, and a loaded model does the same to the bit.
func TestKernelSVMPredictsAsItsMachines(t *testing.T) {
	for _, c := range []struct {
		classes    int
		multiclass string
	}{{2, ""}, {2, "ovr"}, {4, "ovo"}, {4, "ovr"}} {
		x, names := rings(21, 400, c.classes)
		rows := matrix.Rows{Dense: x}
		m := fitted(t, source(t, rows, nil, 0, names), Config{Learner: KernelSVM{C: 3, Multiclass: c.multiclass},
			Kernel: Kernel{Gamma: "2"}, Scale: "none"})
		class := make([]int, 400)
		for i, name := range names {
			class[i] = slices.Index(m.Classes(), name)
		}
		machine, _, err := exact.FitSVC(t.Context(), kernel.Kernel{Name: "rbf", Gamma: 2}, rows, class, c.classes,
			exact.SVM{C: 3, Multiclass: c.multiclass})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int, 400)
		if err := machine.Predict(want, rows); err != nil {
			t.Fatal(err)
		}
		loaded, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		a, b := matrix.NewDense(400, m.Outputs()), matrix.NewDense(400, m.Outputs())
		if err := errors.Join(m.Scores(a, rows), loaded.Scores(b, rows)); err != nil {
			t.Fatal(err)
		}
		right := 0
		for i := range 400 {
			if !slices.Equal(a.Row(i), b.Row(i)) {
				t.Fatalf("%+v: row %d: scores %v trained, %v loaded", c, i, a.Row(i), b.Row(i))
			}
			if got := m.Class(a.Row(i)); got != want[i] {
				t.Errorf("%+v: row %d: class %d, the machine's is %d", c, i, got, want[i])
			}
			if want[i] == class[i] {
				right++
			}
		}
		if right < 370 {
			t.Errorf("%+v: %d of 400 rows are right", c, right)
		}
	}
}

func TestKernelSVMOfNumbersStaysInItsTube(t *testing.T) {
	w := wide(2, 300, 20)
	y := make([]float64, 300)
	for i := range y {
		_, val := w.Row(i)
		for _, v := range val {
			y[i] += float64(v) * float64(v)
		}
	}
	m := fitted(t, source(t, matrix.Rows{CSR: w}, y, 1, nil), Config{Learner: KernelSVM{C: 1000, Epsilon: 0.05}, Task: "regress"})
	scores := matrix.NewDense(300, 1)
	if err := m.Scores(scores, matrix.Rows{CSR: w}); err != nil {
		t.Fatal(err)
	}
	r := model.ReportOf[*exact.SVMReport](&m.Info().Training)
	if r.Kind != "epsilon-svr" || !r.Converged {
		t.Errorf("%+v", r)
	}
	outside := 0
	for i, v := range scores.Data {
		if math.Abs(float64(v)-y[i]) > 0.052 {
			outside++
		}
	}
	if outside > r.AtBound {
		t.Errorf("%d numbers are outside of the tube, with %d weights at the bound", outside, r.AtBound)
	}
}

// Of rows that are alike but for some far away, those are outliers, and about as many rows of the
// training as were asked for.
func TestKernelSVMTellsOutliers(t *testing.T) {
	x, _ := rings(5, 400, 1)
	for i := range 10 {
		x.Row(40 * i)[0] += float32(9 * (i + 1))
	}
	m := fitted(t, source(t, matrix.Rows{Dense: x}, make([]float64, 400), 1, nil),
		Config{Learner: KernelSVM{Outliers: 0.05}, Task: "outliers", Scale: "none", Kernel: Kernel{Gamma: "0.5"}})
	scores := matrix.NewDense(400, 1)
	if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	outside := 0
	for i, v := range scores.Data {
		label := m.Classes()[m.Class(scores.Row(i))]
		if (label == "-1") != (v <= 0) {
			t.Errorf("row %d: %s with a score of %g", i, label, v)
		}
		if v < -1e-3 {
			outside++
		} else if i%40 == 0 && v > 1e-3 {
			t.Errorf("row %d, far from all others, has a score of %g", i, v)
		}
	}
	if outside > 20 || outside < 5 {
		t.Errorf("%d of 400 rows are outside", outside)
	}
	if _, err := read(fileOf(t, m)); err != nil {
		t.Error(err)
	}
}

func TestKernelSVMBytesDoNotDependOnThreads(t *testing.T) {
	x, names := rings(1, 500, 3)
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads)
	for _, multiclass := range []string{"ovo", "ovr"} {
		var first []byte
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			for _, size := range []int{17, 4096} {
				b := fileOf(t, fitted(t, &batched{source(t, matrix.Rows{Dense: x}, nil, 0, names), size},
					Config{Learner: KernelSVM{Multiclass: multiclass}, ClassWeight: "a=2"}))
				if first == nil {
					first = b
				} else if !bytes.Equal(first, b) {
					t.Errorf("%s: other bytes with %d threads and batches of %d", multiclass, procs, size)
				}
			}
		}
	}
}

// A model of several numbers predicts what models of each predict, also when it was saved.
func TestKernelSVMOfSeveralNumbersIsThatOfEach(t *testing.T) {
	const outputs = 3
	n := 250
	if testing.Short() {
		n = 60
	}
	x, _ := rings(3, n, 2)
	rows := matrix.Rows{Dense: x}
	y := make([]float64, n*outputs)
	for i := range n {
		a, b := float64(x.Row(i)[0]), float64(x.Row(i)[1])
		copy(y[i*outputs:], []float64{a * b, 10 + a - b, math.Sin(2 * a)})
	}
	for _, cfg := range []Config{
		{Learner: KernelSVM{C: 10, Epsilon: 0.05}, Kernel: Kernel{Gamma: "1"}},
		{Learner: KernelSVM{C: 10, Nu: 0.3}, Kernel: Kernel{Gamma: "1"}},
	} {
		m := fitted(t, source(t, rows, y, outputs, nil), cfg)
		loaded, err := read(fileOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		got, again := matrix.NewDense(n, outputs), matrix.NewDense(n, outputs)
		if err := errors.Join(m.Scores(got, rows), loaded.Scores(again, rows)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Data, again.Data) {
			t.Errorf("%+v: other scores when loaded", cfg)
		}
		for p := range outputs {
			one := make([]float64, n)
			for i := range one {
				one[i] = y[i*outputs+p]
			}
			want := matrix.NewDense(n, 1)
			single := fitted(t, source(t, rows, one, 1, nil), cfg)
			if err := single.Scores(want, rows); err != nil {
				t.Fatal(err)
			}
			for i, v := range want.Data {
				if d := math.Abs(float64(got.Row(i)[p] - v)); d > 1e-5 {
					t.Fatalf("%+v: row %d, number %d: %g, alone %g", cfg, i, p, got.Row(i)[p], v)
				}
			}
			if r, alone := model.ReportOf[*exact.SVMReport](&m.Info().Training),
				model.ReportOf[*exact.SVMReport](&single.Info().Training); r.Objective[p] != alone.Objective[0] || r.Epsilon[p] != alone.Epsilon[0] {
				t.Errorf("%+v: number %d: %+v, alone %+v", cfg, p, r, alone)
			}
		}
	}
}

func TestKernelSVMErrors(t *testing.T) {
	x, names := rings(1, 60, 3)
	for _, c := range []struct {
		cfg  Config
		opt  Options
		want string
	}{
		{Config{Learner: KernelSVM{Multiclass: "crammer-singer"}}, Options{}, `has no multiclass "crammer-singer"; it has ovo, ovr`},
		{Config{Learner: KernelSVM{}, Map: Map{Name: "rff"}}, Options{}, "takes the kernel itself"},
		{Config{Learner: KernelSVM{}, Map: Map{Features: 100}}, Options{}, "takes the kernel itself"},
		{Config{Learner: Named{Name: "kernel-svm", Options: map[string]any{"lambda": 1}}}, Options{}, "has no option lambda"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"multiclass": "ovr"}}}, Options{},
			"has no option multiclass; it belongs to"},
		{Config{Learner: KernelSVM{Outliers: 0.1}}, Options{}, "give the task outliers as well"},
		{Config{Learner: KernelRidge{}, Task: "outliers"}, Options{}, "does not detect outliers; use one-class or kernel-svm"},
		{Config{Learner: KernelSVM{}}, Options{Memory: 100_000}, "kernel-svm with n = 60 rows"},
		{Config{Learner: KernelSVM{Nu: 0.99}}, Options{}, "svm-nu is 0.99, but the classes "},
		{Config{Learner: KernelSVM{Nu: 0.99, Multiclass: "ovr"}}, Options{}, " and all others, "},
		{Config{Learner: KernelSVM{Nu: 0.5}, ClassWeight: "b=9"}, Options{}, " in weight, allow 0."},
		{Config{Learner: KernelSVM{Nu: 1.5}}, Options{}, "svm-nu 1.5 is not a number above 0 and up to 1"},
		{Config{Learner: KernelSVM{Nu: math.NaN()}}, Options{}, "svm-nu NaN is not a number above 0"},
		{Config{Learner: KernelSVM{Nu: 0.5, C: 1}}, Options{}, "svm-nu takes the place of c"},
		{Config{Learner: KernelSVM{Nu: 0.5, Epsilon: 1}, Task: "regress"}, Options{}, "svm-nu chooses epsilon"},
		{Config{Learner: KernelSVM{Nu: 0.5}, Task: "outliers"}, Options{}, "the share of outliers is called outliers"},
		{Config{Learner: KernelSVM{Nu: 0.5, EpsilonGiven: true}, Task: "regress"}, Options{}, "svm-nu chooses epsilon"},
		{Config{Learner: KernelSVM{EpsilonGiven: true}}, Options{}, "epsilon is for numbers to predict"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"epsilon_given": true}}}, Options{},
			"has no option epsilon; it belongs to svr, online, kernel-svm"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"svm_nu": 0.5}}}, Options{},
			"has no option svm-nu; it belongs to kernel-svm"},
		{Config{Learner: Named{Options: map[string]any{"svm_nu": 0.5}}}, Options{},
			"the option svm-nu belongs to the learner kernel-svm; name it"},
	} {
		src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
		if _, _, err := Fit(t.Context(), src, c.cfg, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// A file whose votes do not fit its machine is refused.
func TestKernelSVMFilesAreChecked(t *testing.T) {
	x, names := rings(21, 100, 4)
	data := fileOf(t, fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Learner: KernelSVM{}}))
	bad := rewritten(t, data, func(header map[string]any) {
		meta := header["__metadata__"].(map[string]any)
		meta["model"] = strings.Replace(meta["model"].(string), `"multiclass":"ovo"`, `"multiclass":"ovr"`, 1)
	})
	if _, err := read(bad); err == nil || !strings.Contains(err.Error(), "machine.alpha") {
		t.Errorf("%v", err)
	}
}

// ν-SVC, ν-SVR and SVR without a tube through a model give LIBSVM's objectives, ε and predictions of
// other rows (testdata/libsvm.py).
func TestKernelSVMAgreesWithLIBSVM(t *testing.T) {
	text, err := os.ReadFile("testdata/libsvm.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		X, Test    []float32
		Two, Three []int
		Numbers    []float64
		Cases      []struct {
			Labels, Options      string
			Objective, Predicted []float64
			Epsilon              float64
			Vectors              int
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	rows := func(x []float32) matrix.Rows {
		return matrix.Rows{Dense: &matrix.Dense{Rows: len(x) / 3, Cols: 3, Stride: 3, Data: x}}
	}
	x, test := rows(r.X), rows(r.Test)
	for _, want := range r.Cases {
		o := KernelSVM{Tolerance: 1e-5}
		words := strings.Fields(want.Options)
		for i := 0; i < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			switch words[i] {
			case "-n":
				o.Nu = v
			case "-c":
				o.C = v
			case "-p":
				o.Epsilon, o.EpsilonGiven = v, true
			}
		}
		cfg := Config{Learner: o, Kernel: Kernel{Gamma: "0.4"}, Scale: "none"}
		y, outputs, kind := r.Numbers, 1, "nu-svr"
		var names []string
		if want.Labels != "numbers" {
			y, outputs, kind = nil, 0, "nu-svc"
			for _, c := range map[string][]int{"two": r.Two, "three": r.Three}[want.Labels] {
				names = append(names, strconv.Itoa(c))
			}
		}
		if cfg.Get("svm_nu").(float64) == 0 {
			kind = "epsilon-svr"
		}
		m := fitted(t, source(t, x, y, outputs, names), cfg)
		report := model.ReportOf[*exact.SVMReport](&m.Info().Training)
		if report.Kind != kind || report.Nu != cfg.Get("svm_nu").(float64) || !report.Converged {
			t.Errorf("%s %s: %+v", want.Labels, want.Options, report)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Max(1, math.Abs(b)) }
		if !slices.EqualFunc(report.Objective, want.Objective, near) {
			t.Errorf("%s %s: objectives %v, LIBSVM's %v", want.Labels, want.Options, report.Objective, want.Objective)
		}
		if names == nil && !(len(report.Epsilon) == 1 && near(report.Epsilon[0], want.Epsilon)) {
			t.Errorf("%s %s: ε = %v, LIBSVM's %g", want.Labels, want.Options, report.Epsilon, want.Epsilon)
		}
		if d := report.SupportVectors - want.Vectors; d < -2 || d > 2 {
			t.Errorf("%s %s: %d support vectors, LIBSVM's %d", want.Labels, want.Options, report.SupportVectors, want.Vectors)
		}
		scores := matrix.NewDense(test.Len(), m.Outputs())
		if err := m.Scores(scores, test); err != nil {
			t.Fatal(err)
		}
		for i, p := range want.Predicted {
			got := float64(scores.Row(i)[0])
			if names != nil {
				if got, err = strconv.ParseFloat(m.Classes()[m.Class(scores.Row(i))], 64); err != nil {
					t.Fatal(err)
				}
			}
			if math.Abs(got-p) > 1e-4 {
				t.Errorf("%s %s: row %d: %g, LIBSVM's %g", want.Labels, want.Options, i, got, p)
			}
		}
	}
}
