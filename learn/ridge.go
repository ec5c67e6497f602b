package learn

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"mercer/internal/vec"
	"mercer/matrix"
	"mercer/moments"
)

// Ridge says how to fit ridge regression,
//
//	min over W, b of Σ w‖y - Wᵀz - b‖² + λ‖W‖²,
//
// whose solution is W = (H + λI)⁻¹V, b = ȳ - Wᵀz̄ with the centred moments H and V.
type Ridge struct {
	// Lambda is λ. 0 means that it is to be chosen, unless By is "given".
	Lambda float64

	// By says who chooses λ, one of LambdaBy; "" means "given" if Lambda is not 0, and "auto"
	// otherwise. Auto goes by the number of parts that the statistics have: two are for
	// held-out, five for folds, and λ of one part is chosen by evidence. A λ of 0 that is given asks for least squares, of least norm where
	// features are collinear.
	By string

	// Path asks for all λ of the path in the report, not only those that a search tried.
	Path bool

	// Rows goes over all rows once more, for "loo": body gets their features, targets
	// (row-major) and weights (nil: all 1), which it does not keep.
	Rows func(body func(z *matrix.Dense, y, w []float64) error) error

	// Variance asks for the predictive variance.
	Variance bool

	// Room is where to solve, of one Fit at a time; nil: made when it is needed.
	Room *Room
}

// LambdaBy are the ways to choose λ, with what each is.
//
// Held-out and folds solve for every λ that they try by Cholesky, the others for all λ at
// once from one eigendecomposition H = UDUᵀ, which takes as long as 20 to 50 Cholesky
// factorisations. Only loo looks at the rows again.
func LambdaBy() (names, about []string) {
	for _, r := range lambdaRoutes {
		names, about = append(names, r[0]), append(about, r[1])
	}
	return names, about
}

var lambdaRoutes = [][2]string{
	{"auto", "folds for fewer than 20,000 rows and up to 2,048 features, else held-out"},
	{"given", "λ as it is given, also 0"},
	{"trace", "λ as it is given times tr(H)/D, the features' mean sum of squares around their means"},
	{"held-out", "least error on a tenth of the rows"},
	{"folds", "least error over five folds"},
	{"gcv", "least generalised cross-validation error"},
	{"loo", "least leave-one-out error, in a second pass over the rows"},
	{"evidence", "largest likelihood of the targets under a normal prior of the weights"},
}

// Folds is how many statistics "folds" wants.
const Folds = 5

// AutoLambda is what "auto" stands for with n rows and d features: the cheapest way that is
// sound. A tenth of many rows suffices to tell one λ from another; of fewer rows all are
// wanted. (On real data gcv, which costs no more than folds, likes too small a λ where some
// rows have much more leverage than others.)
func AutoLambda(n, d int) string {
	if n < 20000 && d <= 2048 {
		return "folds"
	}
	return "held-out"
}

// Parts is how many statistics of disjoint sets of rows a way to choose λ wants.
func Parts(by string) int {
	switch by {
	case "held-out":
		return 2
	case "folds":
		return Folds
	}
	return 1
}

// RidgeReport says what was chosen.
type RidgeReport struct {
	// Lambda is the λ of the final fit.
	Lambda float64 `json:"lambda"`

	// By is how it was chosen, one of LambdaBy but auto.
	By string `json:"by,omitempty"`

	// HeldOut is the number of rows that chose λ, if they were held out.
	HeldOut int `json:"held_out,omitempty"`

	// Path has the λ that were tried, in the order of λ, held-out ones fitted without the
	// held-out rows; nil if λ was given.
	Path []PathPoint `json:"path,omitempty"`

	// Whole says that Path was asked for.
	Whole bool `json:"whole_path,omitempty"`

	// Rank is the number of directions that a λ of 0 was fitted in; the rest of the D are
	// collinear with them.
	Rank int `json:"rank,omitempty"`

	// Parameters is the effective number of parameters, Σ dᵢ/(dᵢ+λ) over the eigenvalues d
	// of H, where they were computed.
	Parameters float64 `json:"parameters,omitempty"`

	// Noise is the estimated deviation of each target's noise, with Variance.
	Noise []float64 `json:"noise,omitempty"`

	// Conformal are the intervals of predictions, nil if none were asked for.
	Conformal *Conformal `json:"conformal,omitempty"`

	// Seconds is what choosing λ took. It is in no file: a model does not depend on it.
	Seconds float64 `json:"-"`
}

// Lines tell a person what was chosen.
func (r *RidgeReport) Lines() []string {
	chosen := "given"
	switch r.By {
	case "held-out":
		chosen = fmt.Sprintf("the best of %d on a held-out tenth", len(r.Path))
	case "folds":
		chosen = fmt.Sprintf("the best of %d over %d folds", len(r.Path), Folds)
	case "gcv":
		chosen = fmt.Sprintf("the best of %d by generalised cross-validation", len(r.Path))
	case "loo":
		chosen = fmt.Sprintf("the best of %d by leave-one-out", len(r.Path))
	case "evidence":
		chosen = fmt.Sprintf("the best of %d by evidence", len(r.Path))
	case "trace":
		chosen = "given in parts of tr(H)/D"
	case "": // a file of an older program
		if n := len(r.Path); n > 0 {
			chosen = fmt.Sprintf("the best of %d on a held-out tenth", n)
		}
	}
	if r.Rank > 0 {
		chosen += fmt.Sprintf(", least squares in %d directions", r.Rank)
	}
	lines := []string{fmt.Sprintf("λ = %.3g (%s)", r.Lambda, chosen)}
	if r.Parameters > 0 {
		lines = append(lines, fmt.Sprintf("%.4g effective parameters", r.Parameters))
	}
	if r.Noise != nil {
		lines = append(lines, fmt.Sprintf("noise of deviation %.4g", r.Noise))
	}
	if r.Conformal != nil {
		lines = append(lines, r.Conformal.line())
	}
	if r.Whole {
		lines = append(lines, pathTable(r.Path)...)
	}
	return lines
}

// PathPoint is one λ that was tried.
type PathPoint struct {
	Lambda float64 `json:"lambda"`

	// Error is the mean of the squared error, summed over the targets, by which λ was chosen:
	// of held-out rows, of rows left out one by one, or as generalised cross-validation
	// estimates it (also for evidence, which looks at Evidence).
	Error float64 `json:"error"`

	// GCV, LOO and Evidence are there as far as they were computed. Evidence is -2 times the
	// logarithm of the likelihood but for a constant.
	GCV      *float64 `json:"gcv,omitempty"`
	LOO      *float64 `json:"loo,omitempty"`
	Evidence *float64 `json:"evidence,omitempty"`

	// Parameters is the effective number of parameters.
	Parameters float64 `json:"parameters,omitempty"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

// pathTable is a path in lines.
func pathTable(path []PathPoint) []string {
	text := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.6g", *v)
	}
	lines := []string{fmt.Sprintf("%-12s%-14s%-14s%-14s%-14s%s", "λ", "error", "gcv", "loo", "-2 log ev.", "parameters")}
	for _, p := range path {
		mark := ""
		if p.Chosen {
			mark = "  chosen"
		}
		lines = append(lines, fmt.Sprintf("%-12.3g%-14.6g%-14s%-14s%-14s%.5g%s", p.Lambda, p.Error, text(p.GCV), text(p.LOO), text(p.Evidence), p.Parameters, mark))
	}
	return lines
}

// The path runs over λ = tr(H)/D·10^e. A search starts at pathStart, goes downhill in steps of
// ten until the error rises, and then tries the two half steps beside the best: the error as
// a function of λ has one valley, so that a few factorisations find its bottom. Below pathLow
// the rounding of float32 features is larger than λ.
const (
	pathStart = -3.0
	pathLow   = -9.0
	pathHigh  = 4.0
	pathStep  = 0.5
)

// RidgeFit is a fitted ridge regression.
type RidgeFit struct {
	Linear   *Linear
	Variance *Variance // nil if it was not asked for
	Report   *RidgeReport
}

// FitRidge fits on main and held together; held chooses λ if it is to be chosen and may be
// nil otherwise. It is [Ridge.Fit] for those who have no more than that.
func FitRidge(main, held *moments.Stats, opt Ridge) (*Linear, *RidgeReport, error) {
	parts := []*moments.Stats{main}
	if held != nil {
		parts = append(parts, held)
		if opt.Lambda == 0 && opt.By == "" {
			opt.By = "held-out"
		}
	}
	fit, err := opt.Fit(parts)
	if err != nil {
		return nil, nil, err
	}
	return fit.Linear, fit.Report, nil
}

// Fit fits on the rows of all parts together, which are merged into the first. Held-out wants
// two parts, of which the second is held out, and folds [Folds]; to all others the parts are
// one. A λ that was chosen without some rows grows in proportion to the number of rows for the
// final fit. A λ to be chosen from too few rows for that is 10⁻³·tr(H)/D.
//
// Memory beyond the statistics, in bytes: 8·D² + 16·D·K for a given λ and held-out, 16·D² for
// folds, 24·D² where eigenvectors are wanted: for gcv, loo, evidence, Variance and a λ of 0
// with collinear features.
func (opt Ridge) Fit(parts []*moments.Stats) (*RidgeFit, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	m := parts[0].Moments()
	by := opt.By
	switch {
	case by == "" && opt.Lambda != 0:
		by = "given"
	case by == "" || by == "auto":
		by = opt.auto(len(parts))
	}
	if n := Parts(by); n > 1 && len(parts) != n {
		return nil, fmt.Errorf("to choose λ by %s takes statistics in %d parts, these have %d; choose it by evidence, or give it", by, n, len(parts))
	}
	if by == "loo" && opt.Rows == nil {
		return nil, errors.New("to choose λ by loo takes the rows once more, which are not at hand; choose it by evidence")
	}
	for _, p := range parts {
		m := p.Moments()
		if err := usable(m); err != nil {
			return nil, err
		}
	}
	f := &ridgeFit{opt: opt, solver: opt.Room.solver(m.D, m.K), report: &RidgeReport{By: by, Lambda: opt.Lambda, Whole: opt.Path && by != "given" && by != "trace"}}
	if err := f.fit(parts); err != nil {
		return nil, err
	}
	return &RidgeFit{Linear: f.solver.linear(f.m.MeanZ, f.m.MeanY), Variance: f.variance, Report: f.report}, nil
}

func (opt Ridge) check() error {
	if opt.Lambda < 0 || opt.Lambda-opt.Lambda != 0 {
		return fmt.Errorf("λ = %g is not a number of 0 or more", opt.Lambda)
	}
	names, _ := LambdaBy()
	if opt.By != "" && !slices.Contains(names, opt.By) {
		return fmt.Errorf("λ by %q is not known; known are %v", opt.By, names)
	}
	if opt.Lambda == 0 && opt.By == "trace" {
		return errors.New("λ by trace is a number times tr(H)/D; give the number")
	}
	if opt.Lambda != 0 && opt.By != "" && opt.By != "given" && opt.By != "trace" {
		return fmt.Errorf("λ = %g is given, so that %s has nothing to choose; leave one of them out", opt.Lambda, opt.By)
	}
	return nil
}

// auto is what auto stands for where the statistics have so many parts.
func (opt Ridge) auto(parts int) string {
	switch {
	case opt.Path && opt.Rows != nil && !opt.Variance:
		return "loo"
	case opt.Path || opt.Variance || parts != 2 && parts != Folds:
		return "evidence"
	case parts == 2:
		return "held-out"
	}
	return "folds"
}

// usable finds what keeps statistics from being solved.
func usable(m *moments.Moments) error {
	if m.Labelled != m.Weight {
		return errors.New("some rows have no targets; a regression takes statistics of the others alone")
	}
	for i := range m.D {
		if v := m.H[i*m.D+i]; v-v != 0 {
			return fmt.Errorf("feature %d is so large that its square overflows; scale the inputs", i)
		}
	}
	for t, v := range m.YY {
		if v-v != 0 {
			return fmt.Errorf("target %d is so large that its square overflows; scale it", t)
		}
	}
	return nil
}

// ridgeFit is a fit in the making.
type ridgeFit struct {
	opt      Ridge
	solver   *solver
	report   *RidgeReport
	m        *moments.Moments
	variance *Variance
}

func (f *ridgeFit) fit(parts []*moments.Stats) error {
	start := time.Now()
	main, r := parts[0], f.report
	switch r.By {
	case "held-out":
		m, h := main.Moments(), parts[1].Moments()
		if h.Weight > 0 && m.Weight > 0 {
			r.HeldOut = h.Rows
			if err := f.search(m, func(lambda float64) (float64, error) {
				if err := f.solver.solve(m, lambda); err != nil {
					return 0, err
				}
				return f.solver.heldOut(m.MeanZ, m.MeanY, h) / h.Weight, nil
			}); err != nil {
				return err
			}
			r.Lambda *= (m.Weight + h.Weight) / m.Weight
		}
	case "folds":
		if err := f.folds(parts); err != nil {
			return err
		}
	}
	for _, p := range parts[1:] {
		main.Merge(p)
	}
	m := main.Moments()
	if m.Weight == 0 {
		return errors.New("no rows to fit a ridge regression on")
	}
	f.m = m
	if r.By == "trace" {
		r.Lambda *= unit(m)
	}
	var s *spectrum
	if r.By == "gcv" || r.By == "loo" || r.By == "evidence" || f.opt.Variance {
		var err error
		if s, err = newSpectrum(m, f.solver); err != nil {
			return err
		}
		if r.By != "held-out" && r.By != "folds" && r.By != "given" && r.By != "trace" {
			if err := s.choose(f.opt.Rows, r); err != nil {
				return err
			}
		}
	}
	if r.Lambda == 0 && r.By != "given" {
		// Too few rows to choose by.
		r.Lambda = unit(m) * math.Pow(10, pathStart)
	}
	if r.By != "given" && r.By != "trace" {
		r.Seconds = time.Since(start).Seconds()
	}
	switch {
	case s != nil:
		r.Rank = s.solve(r.Lambda, f.solver)
		r.Parameters = s.parameters(r.Lambda)
		if f.opt.Variance {
			f.variance = s.variance(r.Lambda)
			for _, v := range f.variance.Noise {
				r.Noise = append(r.Noise, math.Sqrt(v))
			}
		}
		return nil
	case r.Lambda == 0:
		return f.leastSquares()
	}
	return f.solver.solve(m, r.Lambda)
}

// unit is tr(H)/D, the scale of λ; 1 if no feature varies.
func unit(s *moments.Moments) float64 {
	t := 0.0
	for i := range s.D {
		t += s.H[i*s.D+i]
	}
	if t <= 0 {
		return 1
	}
	return t / float64(s.D)
}

// search walks the path of m downhill, or all of it if it was asked for, and sets the report's
// λ and path. An error of judge stands for a λ that cannot be fitted.
func (f *ridgeFit) search(m *moments.Moments, judge func(lambda float64) (float64, error)) error {
	scale := unit(m)
	tried := map[float64]float64{} // exponent → error
	try := func(e float64) float64 {
		if err, ok := tried[e]; ok {
			return err
		}
		tried[e] = math.Inf(1)
		if v, err := judge(scale * math.Pow(10, e)); err == nil && v-v == 0 {
			tried[e] = v
		}
		return tried[e]
	}
	best := pathStart
	if f.opt.Path {
		for e := pathLow; e <= pathHigh; e += pathStep {
			if try(e) < try(best) {
				best = e
			}
		}
	} else {
		for _, step := range []float64{-1, 1} {
			for e := best + step; e >= pathLow && e <= pathHigh && try(e) < try(best); e += step {
				best = e
			}
			if best != pathStart {
				break
			}
		}
		for _, e := range []float64{best - pathStep, best + pathStep} {
			if try(e) < try(best) {
				best = e
			}
		}
	}
	if math.IsInf(try(best), 1) {
		return fmt.Errorf("no λ from %.2g to %.2g makes the system of %d features positive definite; scale the inputs, or give a larger λ",
			scale*math.Pow(10, pathLow), scale*math.Pow(10, pathHigh), m.D)
	}
	r := f.report
	r.Lambda = scale * math.Pow(10, best)
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		if !math.IsInf(tried[e], 1) {
			r.Path = append(r.Path, PathPoint{Lambda: scale * math.Pow(10, e), Error: tried[e], Chosen: e == best})
		}
	}
	return nil
}

// folds chooses λ by the error of each part under the fit of all others, whose moments are
// those of all parts less its own.
func (f *ridgeFit) folds(parts []*moments.Stats) error {
	total := moments.New(f.solver.d, f.solver.k)
	filled := 0
	for _, p := range parts {
		total.Merge(p)
		if p.Moments().Weight > 0 {
			filled++
		}
	}
	if filled < 2 {
		return nil
	}
	all := total.Moments()
	if err := f.search(all, func(lambda float64) (float64, error) {
		sum := 0.0
		for _, p := range parts {
			fold := p.Moments()
			if fold.Weight == 0 {
				continue
			}
			z, y, err := f.solver.solveWithout(all, fold, lambda)
			if err != nil {
				return 0, err
			}
			sum += f.solver.heldOut(z, y, fold)
		}
		return sum / all.Weight, nil
	}); err != nil {
		return err
	}
	f.report.Lambda *= float64(filled) / float64(filled-1)
	return nil
}

// leastSquares solves for λ = 0: by Cholesky where the features, each scaled to a variance
// of 1, are far enough from collinear; otherwise in the directions in which they vary at all.
func (f *ridgeFit) leastSquares() error {
	m, s := f.m, f.solver
	d, k := s.d, s.k
	scale := make([]float64, d)
	rank := 0
	for i := range d {
		if h := m.H[i*d+i]; h > 0 {
			scale[i] = 1 / math.Sqrt(h)
			rank++
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			s.factor[i*d+j] = m.H[i*d+j] * scale[i] * scale[j]
		}
		if scale[i] == 0 {
			s.factor[i*d+i] = 1
		}
		for t := range k {
			s.w[i*k+t] = m.V[i*k+t] * scale[i]
		}
	}
	if vec.CholeskySolve(d, s.factor, d, k, s.w, k) {
		least := 1.0
		for i := range d {
			least = min(least, s.factor[i*d+i]*s.factor[i*d+i])
		}
		if least > 64*math.Sqrt(float64(d))*m.Noise {
			for i := range d {
				for t := range k {
					s.w[i*k+t] *= scale[i]
				}
			}
			f.report.Rank = rank
			return nil
		}
	}
	spectrum, err := newSpectrum(m, s)
	if err != nil {
		return err
	}
	f.report.Rank = spectrum.solve(0, s)
	return nil
}

// solver holds the memory of a solution.
type solver struct {
	d, k   int
	factor []float64 // D×D
	w      []float64 // D×K: the solution
	wt     []float64 // K×D: Wᵀ
}

func newSolver(d, k int) *solver {
	return &solver{d: d, k: k, factor: vec.Fresh64(d * d), w: make([]float64, d*k), wt: make([]float64, d*k)}
}

// Room is the memory of solutions, 8·D² + 16·D·K bytes. Of what is made before rows are read
// only the half that is used becomes resident; later the runtime may have to clear memory that
// it used before, and then all of it is resident for a moment.
type Room struct{ s *solver }

// NewRoom makes room for d features and k outputs.
func NewRoom(d, k int) *Room { return &Room{newSolver(d, k)} }

// solver gives the room, or, where there is none for so many features and outputs, makes it.
func (r *Room) solver(d, k int) *solver {
	if r == nil || r.s.d != d || r.s.k != k {
		return newSolver(d, k)
	}
	return r.s
}

// solve sets w = (H + λI)⁻¹V.
func (s *solver) solve(m *moments.Moments, lambda float64) error {
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(s.factor[i*s.d+i:(i+1)*s.d], m.H[i*s.d+i:]) // pages of the other half stay untouched
		}
	})
	copy(s.w, m.V)
	return s.finish(lambda)
}

// finish solves for w in place, the factor being H.
func (s *solver) finish(lambda float64) error {
	for i := range s.d {
		s.factor[i*s.d+i] += lambda
	}
	if !vec.CholeskySolve(s.d, s.factor, s.d, s.k, s.w, s.k) {
		return fmt.Errorf("λ = %.3g is too small for %d features: the system is not positive definite; give a larger λ", lambda, s.d)
	}
	return nil
}

// solveWithout is solve for the rows of all that are not in the fold, whose means it returns:
// the formulas of Chan, Golub and LeVeque backwards. With the weights W of all, F of the fold
// and W-F,
//
//	z̄' = z̄ + F/(W-F)·(z̄ - z̄_fold),  H' = H - H_fold - F·W/(W-F)·(z̄ - z̄_fold)(z̄ - z̄_fold)ᵀ.
func (s *solver) solveWithout(all, fold *moments.Moments, lambda float64) (meanZ, meanY []float64, err error) {
	rest := all.Weight - fold.Weight
	if !(rest > 0) {
		return nil, nil, errors.New("a fold has all rows")
	}
	share := fold.Weight / rest
	product := share * all.Weight
	dz, dy := make([]float64, s.d), make([]float64, s.k)
	meanZ, meanY = make([]float64, s.d), make([]float64, s.k)
	for i := range dz {
		dz[i] = all.MeanZ[i] - fold.MeanZ[i]
		meanZ[i] = all.MeanZ[i] + share*dz[i]
	}
	for t := range dy {
		dy[t] = all.MeanY[t] - fold.MeanY[t]
		meanY[t] = all.MeanY[t] + share*dy[t]
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := s.factor[i*s.d+i : (i+1)*s.d]
			copy(row, all.H[i*s.d+i:])
			vec.Axpy64(-1, fold.H[i*s.d+i:(i+1)*s.d], row)
			vec.Axpy64(-product*dz[i], dz[i:], row)
			for t := range dy {
				s.w[i*s.k+t] = all.V[i*s.k+t] - fold.V[i*s.k+t] - float64(product*dz[i]*dy[t])
			}
		}
	})
	return meanZ, meanY, s.finish(lambda)
}

// heldOut is the weighted sum of squared errors of w, fitted on rows of the given means, on
// the rows of held. With held's centred moments and e = (ȳ_held - ȳ) - Wᵀ(z̄_held - z̄), the
// mean residual,
//
//	Σ w‖y - Wᵀz - b‖² = YY - 2 tr(WᵀV) + tr(WᵀHW) + n‖e‖².
func (s *solver) heldOut(meanZ, meanY []float64, held *moments.Moments) float64 {
	for i := range s.d {
		for t := range s.k {
			s.wt[t*s.d+i] = s.w[i*s.k+t]
		}
	}
	whw := make([]float64, s.k)
	vec.QuadraticForms(whw, s.d, held.H, s.d, s.k, s.wt, s.d)
	sum := 0.0
	for t := range s.k {
		e := held.MeanY[t] - meanY[t]
		q := held.YY[t] + whw[t]
		for i := range s.d {
			w := s.w[i*s.k+t]
			e -= w * (held.MeanZ[i] - meanZ[i])
			q -= 2 * w * held.V[i*s.k+t]
		}
		sum += max(q, 0) + held.Weight*e*e
	}
	return sum
}
