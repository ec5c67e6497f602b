package libsvm

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// recorded is what testdata/models.py wrote.
type recorded struct {
	Rows   []map[string]float32
	Models []struct {
		Options, Model         string
		Labels                 []int
		Predicted0, Predicted1 [][]float64
	}
}

func load(t testing.TB) (*recorded, matrix.Rows) {
	t.Helper()
	text, err := os.ReadFile("testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	m := matrix.NewDense(len(r.Rows), 6)
	for i, row := range r.Rows {
		for index, v := range row {
			m.Row(i)[index[0]-'1'] = v
		}
	}
	return &r, matrix.Rows{Dense: m}
}

func sparse(x matrix.Rows, cols int) matrix.Rows {
	m := &matrix.CSR{Rows: x.Len(), Cols: cols, Ptr: []int{0}}
	for i := range x.Len() {
		for j, v := range x.Dense.Row(i) {
			if v != 0 && j < cols {
				m.Idx, m.Val = append(m.Idx, int32(j)), append(m.Val, v)
			}
		}
		m.Ptr = append(m.Ptr, len(m.Idx))
	}
	return matrix.Rows{CSR: m}
}

// svm-predict writes six digits.
func near(a, b float64) bool { return math.Abs(a-b) <= 2e-5*math.Max(1, math.Abs(b)) }

func TestPredictionsAreThoseOfSVMPredict(t *testing.T) {
	r, x := load(t)
	for _, want := range r.Models {
		m, err := Read(strings.NewReader(want.Model))
		if err != nil {
			t.Fatalf("%s: %v", want.Options, err)
		}
		for name, x := range map[string]matrix.Rows{"dense": x, "sparse": sparse(x, 6), "wide": sparse(x, 9)} {
			i := 0
			err = m.Predict(x, false, func(v *Values) error {
				if got, w := v.Prediction, want.Predicted0[i][0]; m.Classifies() && got != w || !near(got, w) {
					t.Errorf("%s, %s: row %d: %g, svm-predict gives %g", want.Options, name, i, got, w)
				}
				i++
				return nil
			})
			if err != nil || i != x.Len() {
				t.Fatalf("%s, %s: %d rows, %v", want.Options, name, i, err)
			}
		}
		if want.Predicted1 == nil {
			if err := m.Predict(x, true, nil); err == nil {
				t.Errorf("%s: gives probabilities that it has not", want.Options)
			}
			continue
		}
		if !slices.Equal(m.Labels, want.Labels) {
			t.Errorf("%s: labels %v, svm-predict has %v", want.Options, m.Labels, want.Labels)
		}
		i := 0
		err = m.Predict(x, true, func(v *Values) error {
			w := want.Predicted1[i]
			if v.Prediction != w[0] {
				t.Errorf("%s: row %d: label %g, svm-predict -b 1 gives %g", want.Options, i, v.Prediction, w[0])
			}
			for c, p := range v.Probabilities {
				if !near(p, w[1+c]) {
					t.Errorf("%s: row %d: probability %g of %d, svm-predict gives %g", want.Options, i, p, m.Labels[c], w[1+c])
				}
			}
			i++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

const small = `svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 3
rho 0.25
label 1 -1
nr_sv 2 1
SV
1 1:0.5 3:2 
0.5 2:1 
-1.5 1:-1 
`

func TestReadErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("%q is not in the model", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	for _, c := range []struct{ text, want string }{
		{"", "line 1: the file ends before the line SV"},
		{small[:30], "line 3: the file ends before the line SV"},
		{change("c_svc", "svc"), `line 1: svm_type "svc" is not known; known are c_svc`},
		{change("rbf", "precomputed"), `line 10: "1:0.5 3:2" is not 0:NUMBER, that of a row from 1 on`},
		{strings.Replace(change("rbf", "precomputed"), "1:0.5 3:2", "0:0", 1), `line 10: "0:0" is not 0:NUMBER`},
		{strings.Replace(change("rbf", "precomputed"), "1:0.5 3:2", "0:4294967297", 1), `line 10: "0:4294967297" is not 0:NUMBER`},
		{change("rbf", "wave"), `line 2: kernel_type "wave" is not known`},
		{change("0.5", "x"), `line 3: gamma: "x" is not a finite number`},
		{change("0.5", "NaN"), `line 3: gamma: "NaN" is not a finite number`},
		{change("0.5", "-1"), "gamma is -1"},
		{change("0.5", ""), "line 3: gamma: gamma has 0 values; it takes one"},
		{change("gamma", "gama"), `line 3: "gama" is no key`},
		{change("gamma 0.5\n", ""), "gamma is missing"},
		{change("gamma 0.5", "nr_class 2"), "line 4: nr_class is there again; it was in line 3"},
		{change("nr_class 2", "nr_class 3"), "nr_class is 3, but there are 2 labels"},
		{change("nr_class 2", "nr_class 0"), `line 4: nr_class: "0" is not a whole number of 1 or more`},
		{change("total_sv 3", "total_sv 4"), "total_sv is 4, but nr_sv adds up to 3"},
		{change("total_sv 3", "total_sv 99999999999"), "is not a whole number"},
		{change("rho 0.25", "rho 0.25 1"), "rho has 2 numbers; it takes 1"},
		{change("rho 0.25", "rho 0.25\nprobA 1"), "probA and probB go together"},
		{change("rho 0.25", "rho 0.25\nprobA 1 2\nprobB 1"), "probA has 2 and probB 1 numbers"},
		{change("rho 0.25", "rho 0.25\nprob_density_marks 1"), "prob_density_marks are 1 numbers of c_svc"},
		{change("label 1 -1", "label 1 1"), "a label is there twice"},
		{change("nr_sv 2 1", "nr_sv 2 -1"), "line 8: nr_sv"},
		{change("-1.5 1:-1 \n", ""), "line 12: the file ends after 2 of 3 support vectors"},
		{small + "1 1:1\n", "line 13: there is more after the 3 support vectors"},
		{change("1 1:0.5", "x 1:0.5"), `line 10: coefficient: "x" is not a finite number`},
		{change("1 1:0.5", "Inf 1:0.5"), "line 10: coefficient"},
		{change("1:0.5 3:2", "3:0.5 1:2"), `line 10: "1:2": the index does not increase; before it is 3`},
		{change("1:0.5", "0:0.5"), `line 10: "0:0.5": the index is not a whole number from 1`},
		{change("1:0.5", "1:nan"), "line 10: \"1:nan\": the value is not a finite number"},
		{change("1:0.5", "1:1e39"), "line 10: \"1:1e39\": the value is not a finite number"},
		{change("1:0.5", "1=0.5"), `line 10: "1=0.5" is not index:value`},
		{change("c_svc", "epsilon_svr"), "epsilon_svr has label"},
	} {
		m, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %v, want %q", m, err, c.want)
		}
	}
	m, err := Read(strings.NewReader(strings.ReplaceAll(small, "\n", "\r\n")))
	if err != nil || m.Dim() != 3 {
		t.Errorf("with the line ends of Windows: %v", err)
	}
}

func TestNarrowDenseRowsAreAnError(t *testing.T) {
	m, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	err = m.Predict(matrix.Rows{Dense: matrix.NewDense(1, 2)}, false, nil)
	if err == nil || !strings.Contains(err.Error(), "the rows have 2 columns; the support vectors have up to 3") {
		t.Error(err)
	}
}

// Marks of newer versions give one_class the tenth that a decision value is in.
func TestDensityMarksGiveProbabilities(t *testing.T) {
	const text = "svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nprob_density_marks 0 1 2 3 4 5 6 7 8 9\nSV\n1 1:1\n"
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	x := &matrix.Dense{Rows: 5, Cols: 1, Stride: 1, Data: []float32{-1, 0.5, 4.5, 8.5, 10}}
	want := []float64{0.001, 0.1, 0.5, 0.9, 0.999}
	i := 0
	err = m.Predict(matrix.Rows{Dense: x}, true, func(v *Values) error {
		if math.Abs(v.Probabilities[0]-want[i]) > 1e-12 || math.Abs(v.Probabilities[0]+v.Probabilities[1]-1) > 1e-12 {
			t.Errorf("decision value %g: %v, want %g", x.Data[i], v.Probabilities, want[i])
		}
		i++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// If every r_ab is p_a/(p_a + p_b), coupling finds p.
func TestCouplingFindsConsistentProbabilities(t *testing.T) {
	want := []float64{0.5, 0.2, 0.25, 0.05}
	r := make([]float64, 16)
	for a, p := range want {
		for b, q := range want {
			r[a*4+b] = p / (p + q)
		}
	}
	got := make([]float64, 4)
	couple(r, got)
	sum := 0.0
	for a, p := range got {
		sum += p
		if math.Abs(p-want[a]) > 0.01 {
			t.Errorf("class %d: %g, want %g", a, p, want[a])
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("they add up to %g", sum)
	}
}

// Whatever the bytes, reading ends in a model that predicts or in an error.
func FuzzRead(f *testing.F) {
	r, x := load(f)
	for _, m := range r.Models {
		f.Add(m.Model)
	}
	f.Add(small)
	f.Fuzz(func(t *testing.T, text string) {
		defer testenv.Bounded(t, len(text))()
		m, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if m.Dim() > 1000 {
			return
		}
		if err := m.Predict(sparse(x, 6), m.HasProbabilities(), func(v *Values) error { return nil }); err != nil {
			t.Error(err)
		}
		m.Lines()
	})
}
