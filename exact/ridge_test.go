package exact

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// recorded is scikit-learn's KernelRidge on centred targets; testdata/ridge.py wrote it.
type recorded struct {
	X, XT  []float32
	Y      []float64
	Scores map[string][]float64
}

func load(t *testing.T) *recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/ridge.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func rows(data []float32) matrix.Rows {
	return matrix.Rows{Dense: &matrix.Dense{Rows: len(data) / 3, Cols: 3, Stride: 3, Data: data}}
}

var kernels = []kernel.Kernel{
	{Name: "rbf", Gamma: 0.3}, {Name: "laplacian", Gamma: 0.2},
	{Name: "poly", Gamma: 0.5, Degree: 2, Coef0: 1}, {Name: "linear"},
}

func TestRidgeAgreesWithScikitLearn(t *testing.T) {
	r := load(t)
	for _, k := range kernels {
		m, err := Fit(k, rows(r.X), r.Y, 2, Options{Lambda: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		got := matrix.NewDense(10, 2)
		if err := m.Scores(got, rows(r.XT)); err != nil {
			t.Fatal(err)
		}
		for i, want := range r.Scores[k.Name] {
			if math.Abs(float64(got.Data[i])-want) > 1e-5*math.Max(1, math.Abs(want)) {
				t.Errorf("%s, score %d: %g, scikit-learn gives %g", k.Name, i, got.Data[i], want)
			}
		}
	}
}

func TestFitErrors(t *testing.T) {
	r := load(t)
	x := rows(r.X)
	for _, c := range []struct {
		x    matrix.Rows
		y    []float64
		opt  Options
		want string
	}{
		{x, r.Y, Options{}, "not a positive number"},
		{x, r.Y, Options{Lambda: math.NaN()}, "not a positive number"},
		{x, r.Y, Options{Lambda: 1, Memory: 1000}, "8·n²"},
		{rows(nil), nil, Options{Lambda: 1}, "no rows"},
	} {
		if _, err := Fit(kernels[0], c.x, c.y, 2, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	if _, err := Fit(kernel.Kernel{Name: "magic"}, x, r.Y, 2, Options{Lambda: 1}); err == nil {
		t.Error("an unknown kernel was accepted")
	}
}

func TestScoresFromManyGoroutines(t *testing.T) {
	r := load(t)
	m, err := Fit(kernels[0], rows(r.X), r.Y, 2, Options{Lambda: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	want := matrix.NewDense(10, 2)
	if err := m.Scores(want, rows(r.XT)); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			got := matrix.NewDense(10, 2)
			if err := m.Scores(got, rows(r.XT)); err != nil {
				t.Error(err)
			}
			for i, v := range got.Data {
				if v != want.Data[i] {
					t.Errorf("score %d: %g, alone %g", i, v, want.Data[i])
				}
			}
		})
	}
	wait.Wait()
}

func TestFitOfASingularMatrix(t *testing.T) {
	x := rows([]float32{1, 0, 0, 1, 0, 0}) // equal rows, so K is all ones
	_, err := Fit(kernel.Kernel{Name: "linear"}, x, []float64{1, 2}, 1, Options{Lambda: 1e-300})
	const want = "the matrix K + λI is not positive definite with λ = 1e-300; give a larger λ"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}
