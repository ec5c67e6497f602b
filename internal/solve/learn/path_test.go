package learn

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// regression is a random problem: features of several sizes, targets that depend on them, and
// weights, some of them 0.
type regression struct {
	n, d, k int
	z       *matrix.Dense
	y, w    []float64
}

func draw(seed uint64, n, d, k int, noise float64) *regression {
	s := random.New(seed, "learn-path-test")
	p := &regression{n, d, k, matrix.NewDense(n, d), make([]float64, n*k), make([]float64, n)}
	beta := make([]float64, d*k)
	for i := range beta {
		beta[i] = s.Normal()
	}
	for i := range n {
		p.w[i] = 0.2 + 2*s.Uniform()
		if i%7 == 3 {
			p.w[i] = 0
		}
		for j := range d {
			v := (1 + float64(j%3)) * s.Normal()
			p.z.Row(i)[j] = float32(v + 2)
			for t := range k {
				p.y[i*k+t] += beta[j*k+t] * float64(p.z.Row(i)[j])
			}
		}
		for t := range k {
			p.y[i*k+t] += 10 + noise*s.Normal()
		}
	}
	return p
}

// stats are those of all rows but the i-th; -1: of all.
func (p *regression) stats(but int) *moments.Stats {
	s := moments.New(p.d, p.k)
	for i := range p.n {
		if i != but {
			s.AddRow(p.z.Row(i), p.y[i*p.k:(i+1)*p.k], p.w[i])
		}
	}
	return s
}

// rows goes over the rows in uneven pieces.
func (p *regression) rows(body func(z *matrix.Dense, y, w []float64) error) error {
	for i, step := 0, 1; i < p.n; i, step = i+step, step+3 {
		j := min(i+step, p.n)
		if err := body(p.z.Slice(i, j), p.y[i*p.k:j*p.k], p.w[i:j]); err != nil {
			return err
		}
	}
	return nil
}

// solution is W in float64 for a given λ.
func (p *regression) solution(t *testing.T, s *moments.Stats, lambda float64) (*solver, *moments.Moments) {
	t.Helper()
	m := s.Moments()
	solver := newSolver(p.d, p.k)
	if err := solver.solve(t.Context(), m, lambda); err != nil {
		t.Fatal(err)
	}
	return solver, m
}

// squared is the squared error of a solution on row i.
func (p *regression) squared(s *solver, m *moments.Moments, i int) float64 {
	sum := 0.0
	for t := range p.k {
		e := p.y[i*p.k+t] - m.MeanY[t]
		for j, v := range p.z.Row(i) {
			e -= s.w[j*p.k+t] * (float64(v) - m.MeanZ[j])
		}
		sum += e * e
	}
	return sum
}

func TestLeaveOneOutByFormulaIsByRefitting(t *testing.T) {
	cases := random.New(1, "learn-loo-cases")
	for c := range 50 {
		n, d, k := 12+int(cases.Uint64()%25), 1+int(cases.Uint64()%30), 1+int(cases.Uint64()%3)
		p := draw(uint64(c), n, d, k, 3)
		fit, err := Ridge{By: "loo", Rows: p.rows}.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		path := fit.Report.Path
		for a := int(cases.Uint64() % 4); a < len(path); a += 5 {
			want, total := 0.0, 0.0
			for i := range n {
				if p.w[i] > 0 {
					s, m := p.solution(t, p.stats(i), path[a].Lambda)
					want += p.w[i] * p.squared(s, m, i)
					total += p.w[i]
				}
			}
			want /= total
			// Solutions are off by the condition's share of rounding.
			tolerance := 1e-7 + 1e-14*unit(p.stats(-1).Moments())/path[a].Lambda
			if got := *path[a].LOO; math.Abs(got-want) > tolerance*want {
				t.Errorf("case %d (n=%d, D=%d, K=%d), λ = %.3g: %.10g by the formula, %.10g by refitting", c, n, d, k, path[a].Lambda, got, want)
			}
		}
		for _, q := range path {
			if q.Chosen != (q.Lambda == fit.Report.Lambda) || q.Error < 0 || q.Chosen && q.Error != *q.LOO {
				t.Errorf("case %d: %+v on the path, λ = %g", c, q, fit.Report.Lambda)
			}
		}
	}
}

func TestThePathIsThatOfSeparateSolves(t *testing.T) {
	p := draw(100, 80, 25, 2, 2)
	s := p.stats(-1)
	fit, err := Ridge{By: "gcv"}.Fit(t.Context(), []*moments.Stats{s})
	if err != nil {
		t.Fatal(err)
	}
	used, total := 0.0, 0.0
	for _, w := range p.w {
		if w > 0 {
			used++
			total += w
		}
	}
	spectrumOf, err := newSpectrum(t.Context(), s.Moments(), newSolver(p.d, p.k))
	if err != nil {
		t.Fatal(err)
	}
	on := newSolver(p.d, p.k)
	for _, q := range fit.Report.Path {
		want, m := p.solution(t, s, q.Lambda)
		spectrumOf.solve(q.Lambda, on)
		size := 0.0
		for _, w := range want.w {
			size = math.Max(size, math.Abs(w))
		}
		for i, w := range want.w {
			// The smallest λ is 10⁻⁹ of the mean eigenvalue.
			if math.Abs(on.w[i]-w) > 1e-9*size {
				t.Fatalf("λ = %.3g: w[%d] is %.12g on the diagonal, %.12g by Cholesky", q.Lambda, i, on.w[i], w)
			}
		}
		// The trace of the hat matrix as its derivative says: of H(H+λI)⁻¹, column by column.
		trace := 0.0
		for j := range p.d {
			unit := &moments.Moments{D: p.d, K: 1, H: m.H, V: make([]float64, p.d)}
			for i := range p.d {
				unit.V[i] = m.H[min(i, j)*p.d+max(i, j)]
			}
			one := newSolver(p.d, 1)
			if err := one.solve(t.Context(), unit, q.Lambda); err != nil {
				t.Fatal(err)
			}
			trace += one.w[j]
		}
		if math.Abs(trace-q.Parameters) > 1e-7*trace {
			t.Errorf("λ = %.3g: %.12g effective parameters, want %.12g", q.Lambda, q.Parameters, trace)
		}
		rss := 0.0
		for i := range p.n {
			rss += p.w[i] * p.squared(want, m, i)
		}
		gcv := rss / total * math.Pow(used/(used-1-trace), 2)
		if math.Abs(*q.GCV-gcv) > 1e-7*gcv {
			t.Errorf("λ = %.3g: GCV %.12g, want %.12g", q.Lambda, *q.GCV, gcv)
		}
	}
	if g := gradient(fit.Linear, p.z, p.y, p.w, fit.Report.Lambda); g > 1e-6 {
		t.Errorf("the final fit's gradient is %g", g)
	}
}

func TestFoldsAreJudgedByFitsWithoutThem(t *testing.T) {
	p := draw(200, 90, 8, 2, 3)
	var parts, again []*moments.Stats
	for range Folds {
		parts, again = append(parts, moments.New(p.d, p.k)), append(again, moments.New(p.d, p.k))
	}
	for i := range p.n {
		for _, s := range []*moments.Stats{parts[i%Folds], again[i%Folds]} {
			s.AddRow(p.z.Row(i), p.y[i*p.k:(i+1)*p.k], p.w[i])
		}
	}
	fit, err := Ridge{By: "folds"}.Fit(t.Context(), parts)
	if err != nil {
		t.Fatal(err)
	}
	best := PathPoint{Error: math.Inf(1)}
	for _, q := range fit.Report.Path {
		want, total := 0.0, 0.0
		for held := range Folds {
			rest := moments.New(p.d, p.k)
			for f, s := range again {
				if f != held {
					rest.Merge(s)
				}
			}
			s, m := p.solution(t, rest, q.Lambda)
			for i := held; i < p.n; i += Folds {
				want += p.w[i] * p.squared(s, m, i)
				total += p.w[i]
			}
		}
		if want /= total; math.Abs(q.Error-want) > 1e-9*want {
			t.Errorf("λ = %.3g: error %.12g, want %.12g", q.Lambda, q.Error, want)
		}
		if q.Error < best.Error {
			best = q
		}
	}
	if want := best.Lambda * Folds / (Folds - 1); !best.Chosen || math.Abs(fit.Report.Lambda-want) > 1e-12*want {
		t.Errorf("the best is %+v, the final λ %g", best, fit.Report.Lambda)
	}
	if g := gradient(fit.Linear, p.z, p.y, p.w, fit.Report.Lambda); g > 1e-6 {
		t.Errorf("the final fit's gradient on all rows is %g", g)
	}
}

// The likelihood of y ~ N(b·1, σ²(I + ZZᵀ/λ)) with a flat prior of b, at the best σ², computed
// with matrices of n×n.
func TestEvidenceIsThatOfTheRows(t *testing.T) {
	const n, d = 30, 6
	p := draw(300, n, d, 1, 2)
	for i := range p.w {
		p.w[i] = 1
	}
	fit, err := Ridge{By: "evidence"}.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
	if err != nil {
		t.Fatal(err)
	}
	naive := func(lambda float64) float64 {
		// Rows less their mean; of the determinant, log|I + Z_cZ_cᵀ/λ|.
		mean := make([]float64, d)
		my := 0.0
		for i := range n {
			for j, v := range p.z.Row(i) {
				mean[j] += float64(v) / n
			}
			my += p.y[i] / n
		}
		a := make([]float64, n*n)
		e := make([]float64, n)
		for i := range n {
			e[i] = p.y[i] - my
			for l := range n {
				for j := range d {
					a[i*n+l] += (float64(p.z.Row(i)[j]) - mean[j]) * (float64(p.z.Row(l)[j]) - mean[j]) / lambda
				}
			}
			a[i*n+i]++
		}
		// Gaussian elimination.
		x := append([]float64(nil), e...)
		logdet := 0.0
		for i := range n {
			logdet += math.Log(a[i*n+i])
			for l := i + 1; l < n; l++ {
				f := a[l*n+i] / a[i*n+i]
				for j := i; j < n; j++ {
					a[l*n+j] -= f * a[i*n+j]
				}
				x[l] -= f * x[i]
			}
		}
		quadratic := 0.0
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				x[i] -= a[i*n+j] * x[j]
			}
			x[i] /= a[i*n+i]
			quadratic += x[i] * e[i]
		}
		return (n-1)*math.Log(quadratic/(n-1)) + logdet
	}
	least := math.Inf(1)
	for _, q := range fit.Report.Path {
		want := naive(q.Lambda)
		if math.Abs(*q.Evidence-want) > 1e-5*math.Abs(want) {
			t.Errorf("λ = %.3g: %.12g, want %.12g", q.Lambda, *q.Evidence, want)
		}
		least = math.Min(least, *q.Evidence)
		if q.Chosen && q.Lambda != fit.Report.Lambda {
			t.Errorf("chosen %g, fitted %g", q.Lambda, fit.Report.Lambda)
		}
	}
	for _, q := range fit.Report.Path {
		if q.Chosen && *q.Evidence != least {
			t.Errorf("chosen %+v, the least is %g", q, least)
		}
	}
}

// Targets drawn as the model supposes: evidence finds the noise and the prior.
func TestEvidenceFindsTheNoise(t *testing.T) {
	const n, d, sigma, prior = 2000, 40, 0.7, 0.3
	s := random.New(5, "learn-evidence-test")
	beta := make([]float64, d)
	for j := range beta {
		beta[j] = prior * s.Normal()
	}
	stats := moments.New(d, 1)
	row := make([]float32, d)
	for range n {
		y := 3 + sigma*s.Normal()
		for j := range row {
			row[j] = float32(s.Normal())
			y += beta[j] * float64(row[j])
		}
		stats.AddRow(row, []float64{y}, 1)
	}
	fit, err := Ridge{Variance: true}.Fit(t.Context(), []*moments.Stats{stats})
	if err != nil {
		t.Fatal(err)
	}
	// σ² from n-1-γ degrees of freedom has a relative deviation of √(2/1960); λ = σ²/prior²
	// rests on 40 weights, √(2/40), and on steps of 10^¼ either way. Four deviations.
	if got := fit.Report.Noise[0] * fit.Report.Noise[0] / (sigma * sigma); math.Abs(got-1) > 4*math.Sqrt(2.0/1960) {
		t.Errorf("the noise's variance is %g of what it is", got)
	}
	if got, want := fit.Report.Lambda, sigma*sigma/(prior*prior); fit.Report.By != "evidence" ||
		math.Abs(math.Log(got/want)) > 4*math.Sqrt(2.0/40)+math.Log(10)/4 {
		t.Errorf("λ = %g by %s, want about %g", got, fit.Report.By, want)
	}
}

func TestDeviationsAreThoseOfTheFormula(t *testing.T) {
	p := draw(400, 70, 9, 2, 2)
	s := p.stats(-1)
	fit, err := Ridge{Lambda: 3, Variance: true}.Fit(t.Context(), []*moments.Stats{s})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Moments()
	got := matrix.NewDense(p.n, p.k)
	fit.Variance.Deviations(got, matrix.Rows{Dense: p.z}, new(matrix.Dense))
	if len(fit.Report.Noise) != 2 || fit.Report.By != "given" {
		t.Fatalf("report %+v", fit.Report)
	}
	for i := range p.n {
		one := &moments.Moments{D: p.d, K: 1, H: m.H, V: make([]float64, p.d)}
		for j, v := range p.z.Row(i) {
			one.V[j] = float64(v) - m.MeanZ[j]
		}
		solver := newSolver(p.d, 1)
		if err := solver.solve(t.Context(), one, 3); err != nil {
			t.Fatal(err)
		}
		around := 1 + 1/m.Weight
		for j, v := range one.V {
			around += v * solver.w[j]
		}
		for c := range p.k {
			if want := fit.Report.Noise[c] * math.Sqrt(around); math.Abs(float64(got.Row(i)[c])-want) > 1e-5*want {
				t.Errorf("row %d: deviation %g, want %g", i, got.Row(i)[c], want)
			}
		}
	}
	// One row alone gives the same bits.
	alone := matrix.NewDense(1, p.k)
	fit.Variance.Deviations(alone, matrix.Rows{Dense: p.z.Slice(5, 6)}, new(matrix.Dense))
	if alone.Data[0] != got.Row(5)[0] {
		t.Errorf("alone %g, among others %g", alone.Data[0], got.Row(5)[0])
	}
}

func TestLeastSquares(t *testing.T) {
	zero := Ridge{By: "given"}
	t.Run("regular", func(t *testing.T) {
		p := draw(500, 60, 8, 2, 1)
		fit, err := zero.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		if g := gradient(fit.Linear, p.z, p.y, p.w, 0); g > 1e-7 || fit.Report.Rank != 8 || fit.Report.Lambda != 0 {
			t.Errorf("gradient %g, report %+v", g, fit.Report)
		}
	})
	t.Run("columns of very different size", func(t *testing.T) {
		p := draw(501, 60, 6, 1, 1)
		for i := range p.n {
			for j := range p.d {
				p.z.Row(i)[j] *= float32(math.Pow(1000, float64(j)-2))
			}
		}
		fit, err := zero.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		if fit.Report.Rank != 6 {
			t.Errorf("report %+v", fit.Report)
		}
		residual := 0.0
		got := matrix.NewDense(p.n, 1)
		fit.Linear.Scores(got, matrix.Rows{Dense: p.z})
		for i := range p.n {
			residual += p.w[i] * math.Pow(p.y[i]-float64(got.Data[i]), 2)
		}
		scaled := draw(501, 60, 6, 1, 1) // the same before the scaling
		s, m := scaled.solution(t, scaled.stats(-1), 1e-9)
		want := 0.0
		for i := range p.n {
			// y was made of the columns before they were scaled.
			want += p.w[i] * scaled.squared(s, m, i)
		}
		if math.Abs(residual-want) > 1e-4*want {
			t.Errorf("sum of squares %g, want %g", residual, want)
		}
	})
	// Features that are duplicates, sums and constants: what a column and its copies weigh in
	// all is what it weighs alone, equally shared by the least norm.
	t.Run("duplicate, collinear and constant columns", func(t *testing.T) {
		p := draw(502, 60, 4, 1, 1)
		wide := matrix.NewDense(p.n, 8)
		for i := range p.n {
			r := p.z.Row(i)
			copy(wide.Row(i), []float32{r[0], r[0], r[1], r[2], 7, r[3], r[3], r[3]})
		}
		alone, err := zero.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		s := moments.New(8, 1)
		s.Add(wide, p.y, p.w)
		fit, err := zero.Fit(t.Context(), []*moments.Stats{s})
		if err != nil {
			t.Fatal(err)
		}
		a := alone.Linear.W.Data
		for j, want := range []float32{a[0] / 2, a[0] / 2, a[1], a[2], 0, a[3] / 3, a[3] / 3, a[3] / 3} {
			if got := fit.Linear.W.Data[j]; math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("w[%d] = %g, want %g", j, got, want)
			}
		}
		if fit.Report.Rank != 4 {
			t.Errorf("rank %d, want 4", fit.Report.Rank)
		}
	})
	t.Run("fewer rows than features", func(t *testing.T) {
		p := draw(503, 10, 40, 1, 1)
		for i := range p.w {
			p.w[i] = 1
		}
		fit, err := zero.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		got := matrix.NewDense(p.n, 1)
		fit.Linear.Scores(got, matrix.Rows{Dense: p.z})
		for i, y := range p.y {
			if math.Abs(float64(got.Data[i])-y) > 1e-3 {
				t.Errorf("row %d: %g, want %g: there are enough features to fit all rows", i, got.Data[i], y)
			}
		}
		if fit.Report.Rank != 9 {
			t.Errorf("rank %d, want 9", fit.Report.Rank)
		}
		// Least norm: no part of w is orthogonal to all rows, so that among ridge solutions it
		// is the limit of small λ.
		near, err := Ridge{Lambda: 1e-5}.Fit(t.Context(), []*moments.Stats{p.stats(-1)})
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range fit.Linear.W.Data {
			if math.Abs(float64(w-near.Linear.W.Data[j])) > 1e-4 {
				t.Errorf("w[%d] = %g, at λ = 10⁻⁵ %g", j, w, near.Linear.W.Data[j])
			}
		}
	})
	t.Run("nothing varies", func(t *testing.T) {
		s := moments.New(3, 1)
		for i := range 5 {
			s.AddRow([]float32{1, 2, 0.1}, []float64{float64(i)}, 1)
		}
		fit, err := zero.Fit(t.Context(), []*moments.Stats{s})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(fit.Linear.B[0]-2) > 1e-9 || fit.Linear.W.Data[0] != 0 {
			t.Errorf("W = %v, b = %v, want the mean 2", fit.Linear.W.Data, fit.Linear.B)
		}
	})
}

// Every way to choose λ does something sensible with features that are awkward.
func TestEveryWayToChooseTakesAwkwardFeatures(t *testing.T) {
	names, _ := LambdaBy()
	for _, by := range names {
		for name, change := range map[string]func(p *regression){
			"duplicates": func(p *regression) {
				for i := range p.n {
					r := p.z.Row(i)
					copy(r[p.d/2:], r[:p.d/2])
				}
			},
			"a constant": func(p *regression) {
				for i := range p.n {
					p.z.Row(i)[0] = 1e6
				}
			},
			"all constant": func(p *regression) {
				for i := range p.z.Data {
					p.z.Data[i] = 3
				}
			},
			"a huge column": func(p *regression) {
				for i := range p.n {
					p.z.Row(i)[1] *= 1e6
				}
			},
			"constant targets": func(p *regression) {
				for i := range p.y {
					p.y[i] = 4
				}
			},
		} {
			for _, n := range []int{200, 20} { // more and fewer than features
				p := draw(600, n, 30, 2, 1)
				change(p)
				var parts []*moments.Stats
				for range Parts(by) {
					parts = append(parts, moments.New(p.d, p.k))
				}
				for i := range p.n {
					parts[(i/3)%len(parts)].AddRow(p.z.Row(i), p.y[i*p.k:(i+1)*p.k], p.w[i])
				}
				opt := Ridge{By: by, Rows: p.rows, Variance: by == "evidence"}
				if by == "trace" {
					opt.Lambda = 1e-3
				}
				fit, err := opt.Fit(t.Context(), parts)
				if err != nil {
					t.Errorf("%s, %s, n = %d: %v", by, name, n, err)
					continue
				}
				got := matrix.NewDense(p.n, p.k)
				fit.Linear.Scores(got, matrix.Rows{Dense: p.z})
				sum, spread, total := 0.0, 0.0, 0.0
				m := parts[0].Moments()
				for i := range p.n {
					total += p.w[i]
					for c := range p.k {
						e := p.y[i*p.k+c] - float64(got.Row(i)[c])
						sum += p.w[i] * e * e
					}
				}
				for _, v := range m.YY {
					spread += v
				}
				if !(sum <= spread*(1+1e-6)+1e-9*total) {
					t.Errorf("%s, %s, n = %d: sum of squares %g, that of the mean alone %g", by, name, n, sum, spread)
				}
			}
		}
	}
}

func TestRidgeRefusesWhatItCannotDo(t *testing.T) {
	p := draw(700, 30, 3, 1, 1)
	blank := moments.New(3, 1)
	blank.AddRow([]float32{1, 2, 3}, nil, 1)
	blank.AddRow([]float32{1, 2, 4}, []float64{1}, 1)
	large := moments.New(3, 1)
	large.AddRow([]float32{1, 2, 3}, []float64{1e200}, 1)
	large.AddRow([]float32{1, 2, 4}, []float64{-1e200}, 1)
	for name, c := range map[string]struct {
		opt   Ridge
		parts []*moments.Stats
	}{
		"a negative λ":        {Ridge{Lambda: -1}, []*moments.Stats{p.stats(-1)}},
		"an unknown way":      {Ridge{By: "luck"}, []*moments.Stats{p.stats(-1)}},
		"two ways":            {Ridge{Lambda: 2, By: "gcv"}, []*moments.Stats{p.stats(-1)}},
		"folds of one":        {Ridge{By: "folds"}, []*moments.Stats{p.stats(-1)}},
		"loo without rows":    {Ridge{By: "loo"}, []*moments.Stats{p.stats(-1)}},
		"rows without target": {Ridge{Lambda: 1}, []*moments.Stats{blank}},
		"targets too large":   {Ridge{Lambda: 1}, []*moments.Stats{large}},
		"other rows":          {Ridge{By: "loo", Rows: draw(1, 29, 3, 1, 1).rows}, []*moments.Stats{p.stats(-1)}},
	} {
		if _, err := c.opt.Fit(t.Context(), c.parts); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Of new rows, intervals of level 1-α hold the share that the theory says: given the
// calibration rows it is Beta(r, n+1-r)-distributed for r = ⌈(n+1)(1-α)⌉ and a continuous
// distribution, whatever that is.
func TestConformalIntervalsCover(t *testing.T) {
	const calibration, tested, seeds = 60, 40, 400
	for _, level := range []float64{0.5, 0.8, 0.9} {
		held := 0
		for seed := range seeds {
			s := random.New(uint64(seed), "learn-conformal-test")
			residual := func() float64 { return math.Exp(2 * s.Normal()) } // of long tails
			residuals := make([]float64, calibration)
			for i := range residuals {
				residuals[i] = residual()
			}
			c, err := NewConformal(level, residuals, 1, false)
			if err != nil {
				t.Fatal(err)
			}
			for range tested {
				if residual() <= c.Radius[0] {
					held++
				}
			}
		}
		r := math.Ceil((calibration + 1) * level)
		mean := r / (calibration + 1)
		// Of a seed's share: the variance of the Beta distribution, and of the binomial.
		beta := mean * (1 - mean) / (calibration + 2)
		deviation := math.Sqrt((beta + mean*(1-mean)/tested) / seeds)
		if got := float64(held) / (seeds * tested); math.Abs(got-mean) > 4*deviation || mean < level {
			t.Errorf("level %g: %g of new rows are held, want %g ± %g", level, got, mean, 4*deviation)
		}
	}
}

func TestConformalWantsEnoughRows(t *testing.T) {
	for n, ok := range map[int]bool{8: false, 9: true, 0: false} {
		if c, err := NewConformal(0.9, make([]float64, n), 1, false); (err == nil) != ok || ok && c.Rows != n {
			t.Errorf("%d rows for a level of 0.9: %v", n, err)
		}
	}
	for _, level := range []float64{0, 1, -1, math.NaN()} {
		if _, err := NewConformal(level, make([]float64, 100), 1, false); err == nil {
			t.Errorf("level %g was accepted", level)
		}
	}
}
