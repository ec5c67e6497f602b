package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// singles are groups of one feature each.
func singles(d int) []Group {
	var groups []Group
	for j := range d {
		groups = append(groups, Group{Name: fmt.Sprint(j), Features: []int{j}})
	}
	return groups
}

// lasso fits by FitLasso, or FitGroupLasso if l1Ratio is 0, with weights in float64.
func lasso(t *testing.T, z *matrix.Dense, y, w []float64, opt Lasso) (*Linear, *LassoReport) {
	t.Helper()
	s := moments.New(z.Cols, len(y)/z.Rows)
	s.Add(z, y, w)
	fit := FitLasso
	if opt.L1Ratio == 0 {
		fit = FitGroupLasso
	}
	l, report, err := fit(context.Background(), s, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Converged {
		t.Errorf("%+v: not converged: %+v", opt.Lambda, report)
	}
	return l, report
}

// TestLassoAgreesWithScikitLearn compares with testdata/lasso.json, which lasso.py wrote.
func TestLassoAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/lasso.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		D, K    int
		X       []float32
		Y       []float64
		Weights []float64
		Cases   []struct {
			Kind     string
			Lambda   float64
			L1Ratio  float64 `json:"l1_ratio"`
			Weighted bool
			W        [][]float64
			B        []float64
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	n := len(r.X) / r.D
	z := &matrix.Dense{Rows: n, Cols: r.D, Stride: r.D, Data: r.X}
	for _, c := range r.Cases {
		var w []float64
		if c.Weighted {
			w = r.Weights
		}
		opt := Lasso{Lambda: c.Lambda, L1Ratio: c.L1Ratio, Tolerance: 1e-10}
		if c.Kind == "multi-task" {
			opt.L1Ratio, opt.Groups = 0, singles(r.D)
		}
		l, _ := lasso(t, z, r.Y, w, opt)
		for o := range r.K {
			for j, want := range c.W[o] {
				if got := float64(l.W.Row(j)[o]); math.Abs(got-want) > 2e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%s, λ = %g, α = %g, weighted %v: weight %d of output %d is %g, scikit-learn's %g", c.Kind,
						c.Lambda, c.L1Ratio, c.Weighted, j, o, got, want)
				}
			}
			if math.Abs(l.B[o]-c.B[o]) > 1e-5 {
				t.Errorf("%s, λ = %g, α = %g: intercept %d is %g, scikit-learn's %g", c.Kind, c.Lambda, c.L1Ratio, o, l.B[o], c.B[o])
			}
		}
	}
}

// hard are rows with features that make trouble: 0 and 1 the same, 2 constant, 3 constant and
// large, 4 the sum of two others, 5 nearly 6, the rest independent.
func hard(seed uint64, n, d, k int) (*matrix.Dense, []float64) {
	s := random.New(seed, "hard")
	z, y := matrix.NewDense(n, d), make([]float64, n*k)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(s.Normal())
		}
		row[1], row[2], row[3] = row[0], 0, 1e5
		row[4] = row[6] + row[7]
		row[5] = row[6] + 1e-3*row[5]
		for t := range k {
			y[i*k+t] = 2*float64(row[0]) - float64(row[(6+t)%d]) + 0.5*float64(row[d-1]) + 1 + 0.3*s.Normal()
		}
	}
	return z, y
}

// slopes are minus the gradient of the mean of half the squared errors, K×D, and of b, from
// the rows themselves.
func slopes(l *Linear, z *matrix.Dense, y, w []float64) (g []float64, b float64) {
	d, k := l.W.Rows, l.W.Cols
	g = make([]float64, k*d)
	total := 0.0
	for i := range z.Rows {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		total += weight
	}
	for i := range z.Rows {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		for t := range k {
			r := y[i*k+t] - l.B[t]
			for j, x := range z.Row(i) {
				r -= float64(l.W.Row(j)[t]) * float64(x)
			}
			for j, x := range z.Row(i) {
				g[t*d+j] += weight * r * float64(x) / total
			}
			b = math.Max(b, math.Abs(weight*r/total))
		}
	}
	return g, b
}

// A subgradient of the objective is 0, as the rows and the final weights tell it. The weights are
// rounded to float32, which moves the slopes by up to about 2⁻²⁴·Σ|w|·max|z|².
func TestElasticNetMeetsItsOptimalityConditions(t *testing.T) {
	for _, c := range []struct{ n, d int }{{400, 14}, {20, 40}} {
		z, y := hard(1, c.n, c.d, 2)
		for i := range z.Rows {
			z.Row(i)[3] = 50 // large, but such that its square does not drown the test
		}
		for _, ratio := range []float64{1, 0.5, 0.01} {
			for _, lambda := range []float64{0.5, 0.05, 1e-3} {
				for _, weighted := range []bool{false, true} {
					var w []float64
					if weighted {
						w = make([]float64, c.n)
						for i := range w {
							w[i] = float64(i % 3)
						}
					}
					l, _ := lasso(t, z, y, w, Lasso{Lambda: lambda, L1Ratio: ratio, Tolerance: 1e-7})
					g, _ := slopes(l, z, y, w)
					for o := range 2 {
						for j := range c.d {
							v, s := float64(l.W.Row(j)[o]), g[o*c.d+j]
							bad := math.Abs(s) - lambda*ratio
							if v != 0 {
								bad = math.Abs(s - lambda*(1-ratio)*v - math.Copysign(lambda*ratio, v))
							}
							allowed := 1e-6
							if j == 3 {
								allowed = 1e-4 // 50 times as large
							}
							if bad > allowed {
								t.Errorf("n = %d, λ = %g, α = %g, weighted %v: the condition of weight %d of output "+
									"%d, %g, is off by %g", c.n, lambda, ratio, weighted, j, o, v, bad)
							}
						}
						if l.W.Row(2)[o] != 0 || l.W.Row(3)[o] != 0 {
							t.Errorf("a constant feature has a weight: %g, %g", l.W.Row(2)[o], l.W.Row(3)[o])
						}
					}
				}
			}
		}
	}
}

func TestGroupLassoMeetsItsOptimalityConditions(t *testing.T) {
	for _, c := range []struct{ n, d int }{{400, 14}, {20, 40}} {
		z, y := hard(2, c.n, c.d, 3)
		for i := range z.Rows {
			z.Row(i)[3] = 50
		}
		// The groups are not in order.
		groups := []Group{{"ends", []int{c.d - 1, 0}}, {"one", []int{1}}, {"constant", []int{3, 2}}, {"near", []int{6, 4, 5}}}
		var rest []int
		for j := 7; j < c.d-1; j++ {
			rest = append(rest, j)
		}
		groups = append(groups, Group{"rest", rest})
		for _, lambda := range []float64{0.5, 0.05, 1e-2} {
			l, report := lasso(t, z, y, nil, Lasso{Lambda: lambda, Groups: groups, Tolerance: 1e-7})
			g, _ := slopes(l, z, y, nil)
			for _, group := range groups {
				limit := lambda * math.Sqrt(float64(len(group.Features)))
				size, slope := 0.0, 0.0
				for _, j := range group.Features {
					for o := range 3 {
						size = math.Hypot(size, float64(l.W.Row(j)[o]))
						slope = math.Hypot(slope, g[o*c.d+j])
					}
				}
				bad := slope - limit
				if size > 0 {
					bad = 0
					for _, j := range group.Features {
						for o := range 3 {
							bad = math.Hypot(bad, g[o*c.d+j]-limit*float64(l.W.Row(j)[o])/size)
						}
					}
				}
				allowed := 2e-6
				if group.Name == "constant" {
					allowed = 1e-3
				}
				if bad > allowed {
					t.Errorf("n = %d, λ = %g: the condition of group %s is off by %g", c.n, lambda, group.Name, bad)
				}
				if (size > 0) != slices.Contains(report.Kept, group.Name) || (size == 0) != slices.Contains(report.Dropped, group.Name) {
					t.Errorf("group %s has weights of length %g, but the report says %+v", group.Name, size, report)
				}
			}
		}
	}
}

// proximal minimises the group lasso's objective by proximal gradient steps on the rows: slow,
// simple, and nothing like the solver.
func proximal(z *matrix.Dense, y []float64, k int, groups []Group, lambda float64, steps int) *Linear {
	n, d := z.Rows, z.Cols
	mean, my := make([]float64, d), make([]float64, k)
	for i := range n {
		for j, v := range z.Row(i) {
			mean[j] += float64(v) / float64(n)
		}
		for t := range k {
			my[t] += y[i*k+t] / float64(n)
		}
	}
	square := 0.0 // of the centred rows: at least the largest eigenvalue of H
	for i := range n {
		for j, v := range z.Row(i) {
			square += (float64(v) - mean[j]) * (float64(v) - mean[j])
		}
	}
	step := float64(n) / square
	w := make([]float64, d*k)
	for range steps {
		g := make([]float64, d*k)
		for i := range n {
			for t := range k {
				r := y[i*k+t] - my[t]
				for j, v := range z.Row(i) {
					r -= w[j*k+t] * (float64(v) - mean[j])
				}
				for j, v := range z.Row(i) {
					g[j*k+t] += r * (float64(v) - mean[j]) / float64(n)
				}
			}
		}
		for i := range w {
			w[i] += step * g[i]
		}
		for _, group := range groups {
			size := 0.0
			for _, j := range group.Features {
				for t := range k {
					size = math.Hypot(size, w[j*k+t])
				}
			}
			f := math.Max(0, 1-step*lambda*math.Sqrt(float64(len(group.Features)))/size)
			for _, j := range group.Features {
				for t := range k {
					w[j*k+t] *= f
				}
			}
		}
	}
	l := &Linear{W: matrix.NewDense(d, k), B: my}
	for i, v := range w {
		l.W.Data[i] = float32(v)
		l.B[i%k] -= v * mean[i/k]
	}
	return l
}

func TestGroupLassoIsWhatProximalStepsComeTo(t *testing.T) {
	const n, d, k = 80, 9, 2
	s := random.New(4, "proximal")
	z, y := matrix.NewDense(n, d), make([]float64, n*k)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(s.Normal() + float64(j)/4)
		}
		y[i*k] = float64(row[0]) - float64(row[1]) + 0.2*float64(row[5]) + 0.5*s.Normal()
		y[i*k+1] = 2*float64(row[1]) + 0.5*s.Normal()
	}
	groups := []Group{{"a", []int{0, 1, 2}}, {"b", []int{3, 4}}, {"c", []int{5}}, {"d", []int{6, 7, 8}}}
	for _, lambda := range []float64{0.3, 0.1, 0.02} {
		l, _ := lasso(t, z, y, nil, Lasso{Lambda: lambda, Groups: groups, Tolerance: 1e-9})
		want := proximal(z, y, k, groups, lambda, 3000)
		for i, v := range l.W.Data {
			if math.Abs(float64(v-want.W.Data[i])) > 1e-6 {
				t.Errorf("λ = %g: weight %d is %g, by proximal steps %g", lambda, i, v, want.W.Data[i])
			}
		}
		for o := range k {
			if math.Abs(l.B[o]-want.B[o]) > 1e-5 {
				t.Errorf("λ = %g: intercept %d is %g, by proximal steps %g", lambda, o, l.B[o], want.B[o])
			}
		}
	}
}

func TestSmallLambdaIsLeastSquares(t *testing.T) {
	z, y := sample(10, 300, 8, 2, 1)
	s := moments.New(8, 2)
	s.Add(z, y, nil)
	want, _, err := fitRidge(t.Context(), s, nil, Ridge{Lambda: 1e-7})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Lasso{{L1Ratio: 1}, {L1Ratio: 0.3}, {Groups: singles(8)}} {
		opt.Lambda, opt.Tolerance = 1e-9, 1e-3
		l, _ := lasso(t, z, y, nil, opt)
		for i, v := range l.W.Data {
			if math.Abs(float64(v-want.W.Data[i])) > 1e-6 {
				t.Errorf("α = %g: weight %d is %g, of least squares %g", opt.L1Ratio, i, v, want.W.Data[i])
			}
		}
	}
}

func TestLassoOfTheLargestLambdaIsTheMean(t *testing.T) {
	z, y := hard(3, 200, 12, 2)
	for _, opt := range []Lasso{{L1Ratio: 1}, {L1Ratio: 0.5}, {Groups: singles(12)}} {
		s := moments.New(12, 2)
		s.Add(z, y, nil)
		q := newQuadratic(s.Moments(), nil)
		largest := (&elasticNet{quadratic: q, ratio: opt.L1Ratio}).largest()
		if opt.Groups != nil {
			g, err := newGroupLasso(t.Context(), q, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
			if err != nil {
				t.Fatal(err)
			}
			largest = g.largest()
		}
		opt.Lambda, opt.Tolerance = largest*(1+1e-9), 1e-12
		l, report := lasso(t, z, y, nil, opt)
		if report.Weights != 0 || report.Features != 0 {
			t.Errorf("α = %g: %+v", opt.L1Ratio, report)
		}
		for o, b := range l.B {
			if math.Abs(b-s.Moments().MeanY[o]) > 1e-12*math.Abs(b) {
				t.Errorf("intercept %g, mean %g", b, s.Moments().MeanY[o])
			}
		}
		opt.Lambda = largest * 0.99
		if _, report = lasso(t, z, y, nil, opt); report.Weights == 0 {
			t.Errorf("α = %g: no weights just below the largest λ", opt.L1Ratio)
		}
	}
}

// split are statistics of rows with each tenth held out.
func split(z *matrix.Dense, y []float64, k int) (main, held *moments.Stats) {
	main, held = moments.New(z.Cols, k), moments.New(z.Cols, k)
	for i := range z.Rows {
		into := main
		if i%10 == 0 {
			into = held
		}
		into.AddRow(z.Row(i), y[i*k:(i+1)*k], 1)
	}
	return main, held
}

func TestPathIsSeparateFitsAndItsErrorsAreThoseOfTheRows(t *testing.T) {
	z, y := hard(5, 300, 15, 2)
	for i := range z.Rows {
		// No features that depend on others: with them, weights are not unique.
		row := z.Row(i)
		row[1], row[3], row[4] = float32(i*37%11), 7, float32(i*i%13)
	}
	for _, opt := range []Lasso{{L1Ratio: 1}, {L1Ratio: 0.4},
		{Groups: []Group{{"a", []int{0, 1, 2, 3, 4}}, {"b", []int{9, 8, 7, 6, 5}}, {"c", []int{10, 11, 12, 13, 14}}}}} {
		fit := FitLasso
		if opt.L1Ratio == 0 {
			fit = FitGroupLasso
		}
		opt.Tolerance = 1e-9
		main, held := split(z, y, 2)
		l, report, err := fit(context.Background(), main, held, opt)
		if err != nil {
			t.Fatal(err)
		}
		if report.HeldOut != 30 || len(report.Path) < 10 || report.Path[0].Weights != 0 || main.Rows() != 300 {
			t.Fatalf("%+v", report)
		}
		best := slices.MinFunc(report.Path, func(a, b LassoPoint) int { return int(math.Copysign(1, a.Error-b.Error)) })
		if best.Lambda != report.Lambda || !best.Chosen {
			t.Errorf("λ = %g was chosen, %g is best", report.Lambda, best.Lambda)
		}
		for _, i := range []int{5, len(report.Path) - 1} {
			point := report.Path[i]
			main, _ := split(z, y, 2)
			alone := opt
			alone.Lambda = point.Lambda
			l, r, err := fit(context.Background(), main, nil, alone)
			if err != nil {
				t.Fatal(err)
			}
			if r.Weights != point.Weights {
				t.Errorf("λ = %g: %d weights on the path, %d alone", point.Lambda, point.Weights, r.Weights)
			}
			sum, n := 0.0, 0.0
			for i := 0; i < z.Rows; i += 10 {
				n++
				for t := range 2 {
					e := y[i*2+t] - l.B[t]
					for j, x := range z.Row(i) {
						e -= float64(l.W.Row(j)[t]) * float64(x)
					}
					sum += e * e
				}
			}
			if math.Abs(sum/n-point.Error) > 1e-5*point.Error {
				t.Errorf("λ = %g: the path says an error of %g, the rows %g", point.Lambda, point.Error, sum/n)
			}
		}
		whole := moments.New(15, 2)
		whole.Add(z, y, nil)
		alone := opt
		alone.Lambda = report.Lambda
		want, _, err := fit(context.Background(), whole, nil, alone)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range l.W.Data {
			if math.Abs(float64(v-want.W.Data[i])) > 1e-4 {
				t.Errorf("weight %d is %g, fitted with the chosen λ %g", i, v, want.W.Data[i])
			}
		}
	}
}

func TestLassoHasTheSameBitsOnAnyThreads(t *testing.T) {
	z, y := hard(6, 500, 60, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, opt := range []Lasso{{L1Ratio: 1}, {Groups: []Group{{"a", nil}, {"b", nil}}}} {
		for j := range 60 {
			if opt.Groups != nil {
				opt.Groups[j%2].Features = append(opt.Groups[j%2].Features, j)
			}
		}
		var first *Linear
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			main, held := split(z, y, 3)
			fit := FitLasso
			if opt.Groups != nil {
				fit = FitGroupLasso
			}
			l, _, err := fit(context.Background(), main, held, opt)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = l
			}
			if !slices.Equal(first.W.Data, l.W.Data) || !slices.Equal(first.B, l.B) {
				t.Errorf("α = %g: %d threads give other bits", opt.L1Ratio, threads)
			}
		}
	}
}

func TestLassoRefusesWhatItCannotDo(t *testing.T) {
	s := moments.New(3, 1)
	for i := range 10 {
		s.AddRow([]float32{float32(i), 1, float32(i * i)}, []float64{float64(i)}, 1)
	}
	for _, c := range []struct {
		group bool
		opt   Lasso
		want  string
	}{
		{false, Lasso{Lambda: -1}, "not a positive number"},
		{false, Lasso{Lambda: math.NaN()}, "not a positive number"},
		{false, Lasso{Lambda: 1, L1Ratio: 1.5}, "l1_ratio 1.5"},
		{true, Lasso{Lambda: 1}, "3 of 3 features are in no group"},
		{true, Lasso{Lambda: 1, Groups: []Group{{"a", []int{0, 1}}, {"b", []int{1, 2}}}}, `group "b": feature 1`},
		{true, Lasso{Lambda: 1, Groups: []Group{{"a", []int{0, 1, 2}}, {"b", nil}}}, `group "b" has no features`},
	} {
		fit := FitLasso
		if c.group {
			fit = FitGroupLasso
		}
		if _, _, err := fit(context.Background(), s, nil, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
	if _, _, err := FitLasso(context.Background(), moments.New(3, 1), nil, Lasso{Lambda: 1}); err == nil {
		t.Error("no error without rows")
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := FitLasso(stopped, s, nil, Lasso{Lambda: 1e-3}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// Targets that no feature explains, and a path of them.
func TestLassoOfConstantTargets(t *testing.T) {
	z, _ := hard(7, 50, 10, 1)
	main, held := split(z, make([]float64, 50), 1)
	l, report, err := FitLasso(context.Background(), main, held, Lasso{})
	if err != nil || report.Weights != 0 || l.B[0] != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// BenchmarkLasso walks paths on Fourier features of 4,096 rows for 10 classes.
func BenchmarkLasso(b *testing.B) {
	const n, d, k, in = 4096, 1024, 10, 8
	s := random.New(1, "bench")
	omega := make([]float64, d/2*in)
	for i := range omega {
		omega[i] = 0.5 * s.Normal()
	}
	z, y := matrix.NewDense(n, d), make([]float64, n*k)
	for i := range n {
		var x [in]float64
		for j := range x {
			x[j] = s.Normal()
		}
		for j := range d / 2 {
			a := 0.0
			for l, v := range x {
				a += v * omega[j*in+l]
			}
			z.Row(i)[2*j], z.Row(i)[2*j+1] = float32(math.Cos(a)/math.Sqrt(d/2)), float32(math.Sin(a)/math.Sqrt(d/2))
		}
		class := 0
		for j := range x {
			if x[j] > x[class] {
				class = j
			}
		}
		Target(y[i*k:(i+1)*k], class)
	}
	for _, c := range []struct {
		name string
		opt  Lasso
	}{{"lasso", Lasso{L1Ratio: 1}}, {"elastic net", Lasso{L1Ratio: 0.5}}, {"group lasso",
		Lasso{Groups: []Group{{"a", nil}, {"b", nil}, {"c", nil}, {"d", nil}}}}} {
		for j := range d {
			if c.opt.Groups != nil {
				c.opt.Groups[4*j/d].Features = append(c.opt.Groups[4*j/d].Features, j)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				main, held := split(z, y, k)
				fit := FitLasso
				if c.opt.Groups != nil {
					fit = FitGroupLasso
				}
				_, report, err := fit(context.Background(), main, held, c.opt)
				if err != nil {
					b.Fatal(err)
				}
				last := report.Path[len(report.Path)-1]
				b.Logf("%d steps to λ = %.3g, %d of %d weights; chosen %.3g, %d turns, off by %.1g", len(report.Path),
					last.Lambda, last.Weights, report.All, report.Lambda, report.Turns, report.Violation)
			}
		})
	}
}
