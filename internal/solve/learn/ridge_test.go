package learn

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// gradient is the largest violation of ridge's optimality conditions
// Σw(y - Wᵀz - b)zᵀ = λW and Σw(y - Wᵀz - b) = 0, relative to Σ|w·y·z|.
func gradient(l *Linear, z *matrix.Dense, y, w []float64, lambda float64) float64 {
	d, k := l.W.Rows, l.W.Cols
	worst := 0.0
	for t := range k {
		g := make([]float64, d+1)
		size := 1e-300
		for i := range z.Rows {
			r := y[i*k+t] - l.B[t]
			for j, x := range z.Row(i) {
				r -= float64(l.W.Row(j)[t]) * float64(x)
			}
			for j, x := range z.Row(i) {
				g[j] += w[i] * r * float64(x)
				size = math.Max(size, math.Abs(w[i]*y[i*k+t]*float64(x)))
			}
			g[d] += w[i] * r
		}
		for j := range d {
			g[j] -= lambda * float64(l.W.Row(j)[t])
		}
		for _, v := range g {
			worst = math.Max(worst, math.Abs(v)/(size*float64(z.Rows)))
		}
	}
	return worst
}

func TestRidgeMeetsItsOptimalityConditions(t *testing.T) {
	z, y := sample(10, 500, 12, 3, 2)
	for _, lambda := range []float64{1e-3, 1, 1e3} {
		s := moments.New(12, 3)
		s.Add(z, y, nil)
		l, report, err := fitRidge(t.Context(), s, nil, Ridge{Lambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		if report.Lambda != lambda || report.Path != nil || report.By != "given" {
			t.Errorf("λ = %g was given, the report says %+v", lambda, report)
		}
		// The weights are rounded to float32.
		if g := gradient(l, z, y, ones(500), lambda); g > 1e-7 {
			t.Errorf("λ = %g: the gradient is %g", lambda, g)
		}
	}
}

func TestRidgeWithMoreFeaturesThanRows(t *testing.T) {
	z, y := sample(11, 20, 64, 1, 0)
	s := moments.New(64, 1)
	s.Add(z, y, nil)
	l, _, err := fitRidge(t.Context(), s, nil, Ridge{Lambda: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if g := gradient(l, z, y, ones(20), 0.1); g > 1e-6 {
		t.Errorf("the gradient is %g", g)
	}
}

func TestRidgeHeldOutErrorIsThatOfPredictions(t *testing.T) {
	z, y := sample(12, 400, 8, 2, 1)
	main, held := moments.New(8, 2), moments.New(8, 2)
	main.Add(z.Slice(0, 300), y[:600], nil)
	held.Add(z.Slice(300, 400), y[600:], nil)
	m := main.Moments()
	solver := newSolver(8, 2)
	if err := solver.solve(t.Context(), m, 7); err != nil {
		t.Fatal(err)
	}
	got := solver.heldOut(m.MeanZ, m.MeanY, held.Moments()) / 100
	want := 0.0
	for i := 300; i < 400; i++ {
		for c := range 2 {
			e := y[i*2+c] - m.MeanY[c]
			for j, x := range z.Row(i) {
				e -= solver.w[j*2+c] * (float64(x) - m.MeanZ[j])
			}
			want += e * e / 100
		}
	}
	if math.Abs(got-want) > 1e-10*want {
		t.Errorf("held-out error %.15g from moments, %.15g from predictions", got, want)
	}
}

func TestRidgeChoosesTheBestOfItsPath(t *testing.T) {
	// Few rows, many features, much noise: the best λ is far from where the path starts.
	z, y := sample(13, 150, 100, 1, 0)
	noise, _ := sample(14, 150, 1, 1, 0)
	for i := range y {
		y[i] += 4 * float64(noise.Data[i])
	}
	fit := func() (*Linear, *RidgeReport) {
		main, held := moments.New(100, 1), moments.New(100, 1)
		main.Add(z.Slice(0, 120), y[:120], nil)
		held.Add(z.Slice(120, 150), y[120:], nil)
		l, report, err := fitRidge(t.Context(), main, held, Ridge{})
		if err != nil {
			t.Fatal(err)
		}
		return l, report
	}
	l, report := fit()
	chosen := PathPoint{}
	for _, p := range report.Path {
		if p.Chosen {
			chosen = p
		}
	}
	if report.HeldOut != 30 || len(report.Path) < 5 || chosen.Lambda == 0 {
		t.Fatalf("report %+v", report)
	}
	for i, p := range report.Path {
		if p.Error < chosen.Error {
			t.Errorf("λ = %g errs less (%g) than the chosen %+v", p.Lambda, p.Error, chosen)
		}
		if i > 0 && p.Lambda <= report.Path[i-1].Lambda {
			t.Error("the path is not in the order of λ")
		}
	}
	if want := chosen.Lambda * 150 / 120; math.Abs(report.Lambda-want) > 1e-9*want {
		t.Errorf("refitted with λ = %g, want %g in proportion to the rows", report.Lambda, want)
	}
	if g := gradient(l, z, y, ones(150), report.Lambda); g > 1e-6 {
		t.Errorf("the refit's gradient on all rows is %g", g)
	}
}

func TestRidgeErrors(t *testing.T) {
	if _, _, err := fitRidge(t.Context(), moments.New(3, 1), moments.New(3, 1), Ridge{}); err == nil {
		t.Error("no rows were accepted")
	}
	// Two equal columns and no λ to speak of: not positive definite.
	z := matrix.NewDense(4, 2)
	copy(z.Data, []float32{1, 1, 2, 2, 3, 3, 4, 4})
	s := moments.New(2, 1)
	s.Add(z, []float64{1, 2, 3, 4}, nil)
	if _, _, err := fitRidge(t.Context(), s, nil, Ridge{Lambda: 1e-300}); err == nil {
		t.Error("a singular system was solved")
	}
}

func TestRidgeOfConstantFeaturesIsTheMean(t *testing.T) {
	z := matrix.NewDense(10, 2)
	for i := range z.Data {
		z.Data[i] = 5
	}
	y := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	main, held := moments.New(2, 1), moments.New(2, 1)
	main.Add(z.Slice(0, 9), y[:9], nil)
	held.Add(z.Slice(9, 10), y[9:], nil)
	l, _, err := fitRidge(t.Context(), main, held, Ridge{})
	if err != nil {
		t.Fatal(err)
	}
	got := matrix.NewDense(1, 1)
	l.Scores(got, matrix.Rows{Dense: z.Slice(0, 1)})
	if math.Abs(float64(got.Data[0])-4.5) > 1e-6 {
		t.Errorf("predicts %g, want the mean 4.5", got.Data[0])
	}
}

// sample draws n rows of d features around mean with K targets that depend on them.
func sample(seed uint64, n, d, k int, mean float64) (*matrix.Dense, []float64) {
	s := random.New(seed, "learn-test")
	z := matrix.NewDense(n, d)
	y := make([]float64, n*k)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(mean + s.Normal())
		}
		for t := range k {
			y[i*k+t] = float64(row[t%d]) - 0.5*float64(row[(t+1)%d]) + 3 + 0.1*s.Normal()
		}
	}
	return z, y
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// fitRidge fits on main and held together; held is used to choose λ and may
// be nil if λ is given. It is [Ridge.Fit] for the simple case.
func fitRidge(ctx context.Context, main, held *moments.Stats, opt Ridge) (*Linear, *RidgeReport, error) {
	parts := []*moments.Stats{main}
	if held != nil {
		parts = append(parts, held)
		if opt.Lambda == 0 && opt.By == "" {
			opt.By = "held-out"
		}
	}
	fit, err := opt.Fit(ctx, parts)
	if err != nil {
		return nil, nil, err
	}
	return fit.Linear, fit.Report, nil
}
