package liblinear

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// recorded are models and predictions of LIBLINEAR; testdata/models.py made them.
type recorded struct {
	Sets map[string]struct{ Train, Test string }

	Cases []struct {
		Solver        Solver
		Bias          float64
		Set           string
		Model         string
		Said          string
		Predicted     string
		Probabilities string
	}
}

func load(t testing.TB) *recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// rowsOf reads LIBSVM text.
func rowsOf(t testing.TB, text string) (matrix.Rows, []float64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := dataset.Open(context.Background(), path, dataset.Options{Format: "libsvm"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	all, err := dataset.Collect(context.Background(), src, 0)
	if err != nil {
		t.Fatal(err)
	}
	return all.X, all.Y
}

func TestModelsOfLIBLINEARPredictWhatItPredicts(t *testing.T) {
	r := load(t)
	for _, c := range r.Cases {
		name := fmt.Sprintf("-s %d -B %g on %s", c.Solver, c.Bias, c.Set)
		m, err := Read(strings.NewReader(c.Model))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Solver != c.Solver || m.Bias != c.Bias {
			t.Errorf("%s: read as %+v", name, m)
		}
		x, _ := rowsOf(t, r.Sets[c.Set].Test)
		var predicted, probabilities strings.Builder
		values := make([]float64, m.Outputs)
		if c.Probabilities != "" {
			probabilities.WriteString("labels")
			for _, l := range m.Labels {
				fmt.Fprintf(&probabilities, " %d", l)
			}
			probabilities.WriteString("\n")
		}
		for i := range x.Len() {
			m.Values(values, x, i)
			fmt.Fprintf(&predicted, "%.17g\n", m.Predict(values))
			if c.Probabilities != "" {
				p := make([]float64, len(m.Labels))
				m.Probabilities(p, values)
				fmt.Fprintf(&probabilities, "%.6g", m.Predict(values))
				for _, v := range p {
					fmt.Fprintf(&probabilities, " %.6g", v)
				}
				probabilities.WriteString("\n")
			}
		}
		if !alike(predicted.String(), c.Predicted) {
			t.Errorf("%s: predicts\n%s LIBLINEAR\n%s", name, predicted.String(), c.Predicted)
		}
		if !alike(strings.ReplaceAll(probabilities.String(), " \n", "\n"), strings.ReplaceAll(c.Probabilities, " \n", "\n")) {
			t.Errorf("%s: probabilities\n%s LIBLINEAR\n%s", name, probabilities.String(), c.Probabilities)
		}
	}
}

// alike compares two texts word by word, numbers to what rows in float32 leave of them.
func alike(a, b string) bool {
	return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(a, b string) bool {
		var v, w float64
		if n, _ := fmt.Sscan(a, &v); n == 0 {
			return a == b
		}
		if n, _ := fmt.Sscan(b, &w); n == 0 {
			return false
		}
		return max(v-w, w-v) <= 2e-6*max(1, w, -w)
	})
}

func TestModelsAreWrittenAsLIBLINEARWritesThem(t *testing.T) {
	for _, c := range load(t).Cases {
		m, err := Read(strings.NewReader(c.Model))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.Model {
			t.Fatalf("-s %d: written\n%s LIBLINEAR\n%s", c.Solver, b.String(), c.Model)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.W, m.W) || !slices.Equal(again.Labels, m.Labels) {
			t.Errorf("-s %d: another model is read than was written", c.Solver)
		}
	}
}

func TestOneClassModels(t *testing.T) {
	m, err := Read(strings.NewReader("solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 2\nbias -1\nrho 0.5\nw\n1 \n-1 \n"))
	if err != nil {
		t.Fatal(err)
	}
	x := matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 0, 1, 0.75}}}
	for i, want := range []float64{0.5, -0.25} {
		v := make([]float64, 1)
		m.Values(v, x, i)
		if v[0] != want || m.Predict(v) != want/max(want, -want) {
			t.Errorf("row %d: %g, predicted %g, want %g", i, v[0], m.Predict(v), want)
		}
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil || !strings.Contains(b.String(), "rho 0.5\nw\n") {
		t.Errorf("written as %q, %v", b.String(), err)
	}
}

func TestWrongModelFiles(t *testing.T) {
	good := "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n1 \n2 \n"
	for _, c := range []struct{ from, to, want string }{
		{"L2R_LR", "L3R_LR", `line 1: solver_type "L3R_LR" is not known`},
		{"nr_class 2", "nr_class two", `line 2: nr_class "two" is not a whole number`},
		{"label 1 -1", "label 1", "1 labels of 2 classes"},
		{"label 1 -1\n", "", "0 labels of 2 classes"},
		{"label 1 -1", "label 1 x", `line 3: label "x" is not a whole number`},
		{"nr_feature 2\n", "", `the weights begin before "nr_feature" is given`},
		{"nr_feature 2", "nr_feature 3", "line 8: the file ends after 2 of 3 rows of weights; it was cut short"},
		{"nr_feature 2", "nr_feature 1", "line 8: text after the last of 1 rows of weights"},
		{"nr_feature 2", "nr_feature 99999999999", "nr_feature"},
		{"bias -1", "bias 1", "after 2 of 3 rows"},
		{"bias -1", "bias nan", `"nan" is not a finite number`},
		{"bias -1", "bias -1\nbias -1", `line 6: "bias" for the second time`},
		{"1 \n2 ", "1 \nInf ", `line 8: weight "Inf" is not a finite number`},
		{"1 \n2 ", "1 2 \n2 ", "line 7: 2 weights; expected 1"},
		{"w\n", "weights\n", `line 6: "weights" is not known`},
		{"w\n1 \n2 \n", "", "line 5: the file ends before its weights"},
		{"L2R_LR", "L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR has labels"},
		{good, "", "line 0: the file ends before its weights"},
	} {
		_, err := Read(strings.NewReader(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: %v, want %q", c.to, c.from, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader(good)); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range load(f).Cases[:30] {
		f.Add([]byte(c.Model))
	}
	f.Add([]byte("solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nrho 0.5\nw\n1 \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil || !slices.Equal(again.W, m.W) {
			t.Fatalf("a model that was read is not when it is written: %v", err)
		}
		v := make([]float64, m.Outputs)
		m.Values(v, matrix.Rows{Dense: matrix.NewDense(1, 3)}, 0)
		m.Predict(v)
	})
}
