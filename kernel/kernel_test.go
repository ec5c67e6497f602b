package kernel

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"mercer/matrix"
)

func TestValuesMatchScikitLearn(t *testing.T) {
	data, err := os.ReadFile("testdata/kernels.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Kernel Kernel
		X, Y   [][]float32
		K      [][]float64
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 20 {
		t.Fatalf("%d cases recorded", len(cases))
	}
	for _, c := range cases {
		x, y := matrix.NewDense(len(c.X), 4), matrix.NewDense(len(c.Y), 4)
		for i, row := range c.X {
			copy(x.Row(i), row)
		}
		for i, row := range c.Y {
			copy(y.Row(i), row)
		}
		gram, err := NewGram(c.Kernel, matrix.Rows{Dense: x}, matrix.Rows{Dense: y})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(c.X)*len(c.Y))
		gram.Rows(0, len(c.X), got)
		tolerance := 1e-14
		if c.Kernel.Name == "matern" {
			tolerance = 1e-13 // scikit-learn's own error
		}
		for i, row := range c.K {
			for j, want := range row {
				if v := c.Kernel.Eval(c.X[i], c.Y[j]); !near(v, want, tolerance) {
					t.Errorf("%+v: k(x%d, y%d) = %g, want %g", c.Kernel, i, j, v, want)
				}
				if v := got[i*len(c.Y)+j]; !near(v, want, tolerance) {
					t.Errorf("%+v: K[%d,%d] = %g, want %g", c.Kernel, i, j, v, want)
				}
			}
		}
	}
}

// near allows a relative error, and the same absolute one around 0.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

func TestPolynomialOfEveryDegree(t *testing.T) {
	x, y := []float32{1, 0.5}, []float32{0.25, 2}
	want := 1.0
	for p := 1; p <= 20; p++ {
		want *= 2*1.25 - 0.5 + 1 // all exact: 3
		if got := (Kernel{Name: "poly", Gamma: 2, Degree: p, Coef0: 0.5}).Eval(x, y); got != want {
			t.Errorf("degree %d: %g, want %g", p, got, want)
		}
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, kernels := range map[string][]Kernel{
		"known are linear, poly, exp, arccos, rbf, laplacian, cauchy, matern": {{}, {Name: "RBF"}, {Name: "gauss"}},
		"rbf: gamma is":       {{Name: "rbf"}, {Name: "rbf", Gamma: -1}, {Name: "rbf", Gamma: nan}, {Name: "rbf", Gamma: inf}},
		"laplacian: gamma is": {{Name: "laplacian"}},
		"poly: gamma is":      {{Name: "poly", Degree: 2}},
		"poly: degree is 0":   {{Name: "poly", Gamma: 1}},
		"poly: degree is -2":  {{Name: "poly", Gamma: 1, Degree: -2}},
		"exp: gamma is":       {{Name: "exp"}},
		"cauchy: gamma is":    {{Name: "cauchy", Gamma: -2}},
		"matern: gamma is":    {{Name: "matern", Nu: 1}},
		"matern: nu is": {{Name: "matern", Gamma: 1}, {Name: "matern", Gamma: 1, Nu: -1}, {Name: "matern", Gamma: 1, Nu: nan},
			{Name: "matern", Gamma: 1, Nu: 101}},
		"arccos: degree is":    {{Name: "arccos", Degree: -1}, {Name: "arccos", Degree: 2}},
		"chi2: homogeneity is": {{Name: "chi2", Homogeneity: -1}, {Name: "chi2", Homogeneity: nan}, {Name: "chi2", Homogeneity: 17}},
		"exp-chi2: gamma is":   {{Name: "exp-chi2"}},
		"skewed-chi2: coef0 is": {{Name: "skewed-chi2"}, {Name: "skewed-chi2", Coef0: -1}, {Name: "skewed-chi2", Coef0: 1e-46},
			{Name: "skewed-chi2", Coef0: inf}, {Name: "skewed-chi2", Coef0: nan}},
		"poly: coef0 is": {{Name: "poly", Gamma: 1, Degree: 1, Coef0: -1}, {Name: "poly", Gamma: 1, Degree: 1, Coef0: nan}},
	} {
		for _, k := range kernels {
			if err := k.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", k, err, want)
			}
		}
	}
	for _, k := range append(everyKernel, histogramKernels...) {
		if err := k.Validate(); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
}

var everyKernel = []Kernel{
	{Name: "linear"},
	{Name: "rbf", Gamma: 0.05},
	{Name: "laplacian", Gamma: 0.03},
	{Name: "poly", Gamma: 0.1, Degree: 3, Coef0: 1},
	{Name: "poly", Gamma: 0.2, Degree: 2},
	{Name: "exp", Gamma: 0.1},
	{Name: "arccos", Degree: 0},
	{Name: "arccos", Degree: 1},
	{Name: "cauchy", Gamma: 0.1},
	{Name: "matern", Gamma: 0.05, Nu: 0.5},
	{Name: "matern", Gamma: 0.05, Nu: 1.5},
	{Name: "matern", Gamma: 0.05, Nu: 2.5},
	{Name: "matern", Gamma: 0.05, Nu: 0.3},
	{Name: "matern", Gamma: 0.05, Nu: 1},
	{Name: "matern", Gamma: 0.05, Nu: 20},
}

func TestOwnKeepsWhatAKernelHas(t *testing.T) {
	all := Kernel{Gamma: 1, Degree: 2, Coef0: 3, Nu: 4, Homogeneity: 5}
	for _, want := range []Kernel{
		{Name: "linear"}, {Name: "poly", Gamma: 1, Degree: 2, Coef0: 3}, {Name: "arccos", Degree: 2}, {Name: "matern", Gamma: 1, Nu: 4},
		{Name: "jensen-shannon", Homogeneity: 5}, {Name: "exp-chi2", Gamma: 1}, {Name: "skewed-intersection", Coef0: 3},
	} {
		k := all
		k.Name = want.Name
		if got := k.Own(); got != want {
			t.Errorf("%s keeps %+v", k.Name, got)
		}
	}
	if Has("magic", "gamma") || Has("rbf", "coef0") || !Has("exp-chi2", "gamma") {
		t.Error("Has is wrong")
	}
}

func TestEvalPanicsOnDifferentLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Eval of 1 and 2 dimensions gave a number")
		}
	}()
	Kernel{Name: "linear"}.Eval([]float32{1}, []float32{1, 2})
}
