package exact

import (
	"encoding/json"
	"math"
	"os"
	"slices"
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
		m, _, err := FitRidge(t.Context(), k, rows(r.X), r.Y, 2, nil, Ridge{Lambda: 0.1})
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

func TestRidgeErrors(t *testing.T) {
	r := load(t)
	x, n := rows(r.X), len(r.X)/3
	nan := slices.Clone(r.Y)
	nan[5] = math.NaN()
	ones := slices.Repeat([]float64{1}, n)
	negative := slices.Clone(ones)
	negative[2] = -1
	for _, c := range []struct {
		x    matrix.Rows
		y, w []float64
		opt  Ridge
		want string
	}{
		{x, r.Y, nil, Ridge{Lambda: -1}, "not a positive number"},
		{x, r.Y, nil, Ridge{Lambda: math.NaN()}, "not a positive number"},
		{x, r.Y, nil, Ridge{Lambda: 1, Memory: 1000}, "8·n²"},
		{x, r.Y, nil, Ridge{Memory: 2 * RidgeBytes(n, 3, 2, false)}, "a given lambda"},
		{rows(nil), nil, nil, Ridge{Lambda: 1}, "no rows"},
		{x, nan, nil, Ridge{Lambda: 1}, "row 3, output 2"},
		{x, r.Y, negative, Ridge{Lambda: 1}, "row 3: the weight -1"},
		{x, r.Y, make([]float64, n), Ridge{Lambda: 1}, "add up to 0"},
	} {
		if _, _, err := FitRidge(t.Context(), kernels[0], c.x, c.y, 2, c.w, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	if _, _, err := FitRidge(t.Context(), kernel.Kernel{Name: "magic"}, x, r.Y, 2, nil, Ridge{Lambda: 1}); err == nil {
		t.Error("an unknown kernel was accepted")
	}
}

func TestScoresFromManyGoroutines(t *testing.T) {
	r := load(t)
	m, _, err := FitRidge(t.Context(), kernels[0], rows(r.X), r.Y, 2, nil, Ridge{Lambda: 0.1})
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
	_, _, err := FitRidge(t.Context(), kernel.Kernel{Name: "linear"}, x, []float64{1, 2}, 1, nil, Ridge{Lambda: 1e-300})
	const want = "the matrix K + λI is not positive definite with λ = 1e-300; give a larger λ"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// residuals are the greatest of |λα - W(y - b - Kα)|, which is 0 at the optimum, and of y.
func optimality(t *testing.T, m *Machine, y, w []float64, lambda float64) (gap, size float64) {
	t.Helper()
	n, k := m.Rows().Len(), len(m.Intercepts())
	gram, err := kernel.NewGram(m.Kernel(), m.Rows(), m.Rows())
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, n)
	for i := range n {
		gram.Rows(i, i+1, row)
		for c := range k {
			sum := y[i*k+c] - m.Intercepts()[c]
			for j, v := range row {
				sum -= v * m.Alpha()[j*k+c]
			}
			gap = max(gap, math.Abs(lambda*m.Alpha()[i*k+c]-w[i]*sum))
			size = max(size, math.Abs(y[i*k+c]))
		}
	}
	return gap, size
}

func TestRidgeMeetsItsOptimalityConditions(t *testing.T) {
	const n = 60
	x, y := randomRows(n, 4, 1, 1), randomNumbers(n*2, 1)
	copy(x.Dense.Row(7), x.Dense.Row(8)) // the same row with other targets
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i%4) / 2 // some 0
	}
	for _, k := range manyKernels {
		for _, lambda := range []float64{1e-3, 1, 0} {
			m, report, err := FitRidge(t.Context(), k, x, y, 2, w, Ridge{Lambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			if gap, size := optimality(t, m, y, w, report.Lambda); gap > 1e-9*size {
				t.Errorf("%s, λ = %g: the gradient is %g", k.Name, report.Lambda, gap)
			}
		}
	}
}

// A row of weight 2 is that row twice, and one of weight 0 is none.
func TestRidgeWeightsAreRepetitions(t *testing.T) {
	x, y := randomRows(30, 3, 1, 5), randomNumbers(30, 5)
	w := make([]float64, 30)
	often := matrix.NewDense(0, 3)
	var oftenY []float64
	for i := range w {
		w[i] = float64(i % 3)
		for range i % 3 {
			often.Data, oftenY = append(often.Data, x.Dense.Row(i)...), append(oftenY, y[i])
			often.Rows++
		}
	}
	k := kernel.Kernel{Name: "rbf", Gamma: 2}
	weighted, _, err := FitRidge(t.Context(), k, x, y, 1, w, Ridge{Lambda: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	repeated, _, err := FitRidge(t.Context(), k, matrix.Rows{Dense: often}, oftenY, 1, nil, Ridge{Lambda: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	a, b := scores(t, weighted, x), scores(t, repeated, x)
	for i := range a.Data {
		if math.Abs(float64(a.Data[i]-b.Data[i])) > 1e-6 {
			t.Errorf("row %d: %g by weights, %g by repetition", i, a.Data[i], b.Data[i])
		}
	}
}

func scores(t *testing.T, m *Machine, x matrix.Rows) *matrix.Dense {
	t.Helper()
	dst := matrix.NewDense(x.Len(), len(m.Intercepts()))
	if err := m.Scores(dst, x); err != nil {
		t.Fatal(err)
	}
	return dst
}

// The formula's error of every λ is that of as many machines as there are rows.
func TestRidgeLeaveOneOutMatchesRefit(t *testing.T) {
	const n, outputs = 24, 2
	for seed := range uint64(3) {
		x, y, w := randomRows(n, 3, 1, seed), randomNumbers(n*outputs, seed), make([]float64, n)
		for i := range w {
			w[i] = 0.5 + float64(i%3)
		}
		k := kernel.Kernel{Name: "rbf", Gamma: 1.5}
		_, report, err := FitRidge(t.Context(), k, x, y, outputs, w, Ridge{})
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for _, p := range report.Path {
			best = min(best, p.LeaveOneOut)
			if p.Lambda < 1e-5 {
				continue // the refits are not exact enough
			}
			sum, total := 0.0, 0.0
			for i := range n {
				left := matrix.NewDense(n-1, 3)
				copy(left.Data, x.Dense.Data[:i*3])
				copy(left.Data[i*3:], x.Dense.Data[(i+1)*3:])
				m, _, err := FitRidge(t.Context(), k, matrix.Rows{Dense: left},
					slices.Delete(slices.Clone(y), i*outputs, (i+1)*outputs), outputs,
					slices.Delete(slices.Clone(w), i, i+1), Ridge{Lambda: p.Lambda})
				if err != nil {
					t.Fatal(err)
				}
				for c := range outputs {
					f := m.Intercepts()[c]
					for j := range n - 1 {
						f += m.Alpha()[j*outputs+c] * k.Eval(left.Row(j), x.Dense.Row(i))
					}
					sum += w[i] * (y[i*outputs+c] - f) * (y[i*outputs+c] - f)
				}
				total += w[i]
			}
			if want := sum / total; math.Abs(p.LeaveOneOut-want) > 1e-6*want {
				t.Errorf("λ = %g: %g by the formula, %g by refitting", p.Lambda, p.LeaveOneOut, want)
			}
		}
		if report.LeaveOneOut != best {
			t.Errorf("chose %g, the best is %g", report.LeaveOneOut, best)
		}
	}
}

func TestRidgeOfLittleData(t *testing.T) {
	one := rows([]float32{1, 2, 3})
	equal := rows([]float32{1, 2, 3, 1, 2, 3, 1, 2, 3})
	for _, k := range []kernel.Kernel{{Name: "rbf", Gamma: 1}, {Name: "linear"}} {
		for _, lambda := range []float64{0, 1} {
			m, _, err := FitRidge(t.Context(), k, one, []float64{5}, 1, nil, Ridge{Lambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			if got := scores(t, m, one).Data[0]; got != 5 {
				t.Errorf("%s: one row of target 5 gives %g", k.Name, got)
			}
			if m, _, err = FitRidge(t.Context(), k, equal, []float64{1, 2, 6}, 1, nil, Ridge{Lambda: lambda}); err != nil {
				t.Fatal(err)
			}
			if got := scores(t, m, one).Data[0]; math.Abs(float64(got)-3) > 1e-5 {
				t.Errorf("%s: equal rows of mean 3 give %g", k.Name, got)
			}
		}
	}
	// Columns that are constant, and one column twice, change nothing but the scale of the kernel.
	zero := matrix.Rows{Dense: matrix.NewDense(4, 2)}
	m, _, err := FitRidge(t.Context(), kernel.Kernel{Name: "linear"}, zero, []float64{1, 2, 3, 4}, 1, nil, Ridge{})
	if err != nil {
		t.Fatal(err)
	}
	if got := scores(t, m, zero).Data[0]; got != 2.5 {
		t.Errorf("rows of zeros give %g, the mean is 2.5", got)
	}
}
