package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/train"
)

// Cost is what a training is predicted to take.
type Cost struct {
	// Rows is n, the number of rows; RowsGuessed says that it is an estimate by the share of the
	// source that was read.
	Rows        int  `json:"rows"`
	RowsGuessed bool `json:"rows_guessed,omitempty"`

	// Plan says what the training would do, and its Bytes what it would hold.
	Plan *train.Plan `json:"plan"`

	// Read, Map and Solve are seconds as in train.Report, Seconds their sum.
	Read    float64 `json:"read_seconds"`
	Map     float64 `json:"map_seconds"`
	Solve   float64 `json:"solve_seconds"`
	Seconds float64 `json:"seconds"`

	// Trials are the small trainings that this is from.
	Trials []Trial `json:"trials"`

	model *costModel
}

// Trial is a training on few rows and what it took: n rows, D features, and seconds.
type Trial struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"`
	Read     float64 `json:"read_seconds"`
	Map      float64 `json:"map_seconds"`
	Solve    float64 `json:"solve_seconds"`

	// Collect is the part of Solve that added rows to statistics, where that is known.
	Collect float64 `json:"collect_seconds,omitempty"`

	// Choose is the part of Solve that chose C, of learners that go through rows.
	Choose float64 `json:"choose_seconds,omitempty"`
}

// CostOptions say how a cost is predicted.
type CostOptions struct {
	// Memory is how many bytes the training may hold; 0 means no bound.
	Memory int64

	// Seconds is about how long the trials may take, twice that where they need many features; 0 means 3.
	Seconds float64

	known []Trial // that have been made already
	quick bool    // no others are made if any are known
	now   func() time.Time
	fit   func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*train.Report, error)
}

// filled has defaults for what was not given.
func (o CostOptions) filled() CostOptions {
	o.Seconds = cmp.Or(o.Seconds, 3)
	if o.now == nil {
		o.now = time.Now
	}
	if o.fit == nil {
		o.fit = func(ctx context.Context, src dataset.Source, cfg train.Config, opt train.Options) (*train.Report, error) {
			_, report, err := train.Fit(ctx, src, cfg, opt)
			return report, err
		}
	}
	return o
}

// PredictCost predicts the time and the memory that the training of cfg takes on as many rows as
// the source of the sample has, by trials on a few of them.
//
// Memory is by the learners' own formulas. Time is the sum of stages: reading and mapping, which
// grow like n and n·D; and solving, which for statistics is a·n·D² + b·D^2.5 with a and b from the
// trials, of the most features where they tell both apart, for learners that go through rows c·n^p·D with p ∈ [1, 3/2] from the trials, and as much again for the choice of C on a part of them, and for those
// that take the kernel itself c·n^p with p ∈ [1, 3].
func PredictCost(ctx context.Context, s *Sample, cfg train.Config, opt CostOptions) (*Cost, error) {
	opt = opt.filled()
	cfg.Task = s.Task
	n := s.Rows()
	plan, err := train.NewPlan(ctx, s.Train(0, s.TrainRows()), n, cfg, train.Options{Memory: opt.Memory})
	if err != nil {
		return nil, err
	}
	c := &Cost{Rows: n, RowsGuessed: s.guessed, Plan: plan}
	if c.Trials, err = trials(ctx, s, plan, opt); err != nil {
		return nil, err
	}
	letGo()
	c.model = newCostModel(plan, c.Trials)
	c.Read, c.Map, c.Solve = c.model.seconds(n, plan.Features)
	c.Read += s.readSeconds(n, cfg)
	c.Seconds = c.Read + c.Map + c.Solve
	return c, nil
}

// slowest is how many operations a second any machine does.
const slowest = 4e9

// Short says that the training of cfg on all rows of the source of a sample takes fewer than so many
// seconds, without a trial: by a generous count of its operations. Where it is false the
// training may still be short.
func Short(ctx context.Context, s *Sample, cfg train.Config, memory int64, seconds float64) (bool, error) {
	cfg.Task = s.Task
	p, err := train.NewPlan(ctx, s.Train(0, min(trialRows, s.TrainRows())), s.Rows(), cfg, train.Options{Memory: memory})
	if err != nil {
		return false, err
	}
	n, d, k := float64(s.Rows()), float64(p.Features), float64(p.Outputs)
	work := n * float64(s.Summary.Dim) * d // the map
	switch {
	case p.Exact:
		work += n * n * n
	case p.Statistics:
		work += n*d*d + 12*d*d*d // a few λ in a few folds
	default:
		work += 200 * n * d * k
	}
	return work < seconds*slowest, nil
}

// at is the predicted number of seconds with d features in place of those of the plan.
func (c *Cost) at(d int) float64 {
	old, oldMap, oldSolve := c.model.seconds(c.Rows, c.Plan.Features)
	read, mapping, solve := c.model.seconds(c.Rows, d)
	return c.Seconds - old - oldMap - oldSolve + read + mapping + solve
}

// Rows is the number of rows of the source.
func (s *Sample) Rows() int { return s.rowsAll }

// readSeconds is how long the source is waited for in a training on n rows, by what that took
// while the sample was drawn: it is read once to survey it and once to train, and once more to
// choose λ by leave-one-out.
func (s *Sample) readSeconds(n int, cfg train.Config) float64 {
	passes := 2.0
	if cfg.LambdaBy == "loo" {
		passes++
	}
	return passes * s.perRow * float64(n)
}

// solveExponent is how the time to solve for statistics of D features grows with D.
const solveExponent = 2.5

// The trials begin with trialRows rows and trialFeatures features.
const (
	trialRows     = 1000
	trialFeatures = 512
)

// trials trains on few rows: at first on trialRows, then on twice as many until half of the time
// is used up, and then with twice as many features, up to those of the training.
func trials(ctx context.Context, s *Sample, plan *train.Plan, opt CostOptions) ([]Trial, error) {
	most := s.TrainRows()
	start := opt.now()
	var all []Trial
	once := func(rows, features int) error {
		cfg := plan.Config
		if !plan.Fixed {
			cfg.Features = features
		}
		report, err := opt.fit(ctx, s.Train(0, rows), cfg, train.Options{Memory: opt.Memory})
		if err != nil {
			return err
		}
		all = append(all, trialOf(rows, features, report))
		return nil
	}
	d := plan.Features
	if !plan.Fixed {
		d = min(d, trialFeatures)
	}
	rows := min(trialRows, max(most/4, 1))
	all = slices.Clone(opt.known)
	if opt.quick && len(all) > 0 {
		return all, nil
	}
	grown := false
	if len(all) > 0 {
		// What may not have been tried is how the time grows with rows.
		d = all[0].Features
		few, many := all[0].Rows, all[0].Rows
		for _, t := range all {
			if t.Features == d {
				few, many = min(few, t.Rows), max(many, t.Rows)
			}
		}
		grown, rows = many >= 2*few || many == most, min(2*many, most)
	}
	for !grown {
		if err := once(rows, d); err != nil {
			if len(all) > 0 && !errors.Is(ctx.Err(), context.Canceled) {
				break // what is known is better than nothing
			}
			return nil, err
		}
		spent := opt.now().Sub(start).Seconds()
		if rows == most || len(all) >= 2 && spent > opt.Seconds/2 {
			break
		}
		rows = min(2*rows, most)
	}
	rows = 0
	for _, t := range all {
		rows, d = max(rows, t.Rows), max(d, t.Features)
	}
	// Features are doubled on the rows of the largest trial, or as many as there are of them.
	for d < plan.Features && !plan.Fixed {
		d = min(2*d, plan.Features)
		if err := once(min(rows, max(2*d, trialRows)), d); err != nil {
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, err
			}
			break // more than the memory, or the time, has room for
		}
		// The next takes four to eight times as long. It is worth twice the time: errors in what depends on D alone count most.
		last := all[len(all)-1]
		if spent := opt.now().Sub(start).Seconds(); spent+4*(last.Map+last.Solve) > 2*opt.Seconds {
			break
		}
	}
	return all, nil
}

// chooseRows is from how many rows on the choice of C takes no longer: learn.ChooseC fits
// two thirds of them, 4,096 at most.
const chooseRows = 6144

// trialOf is what a report tells of a trial.
func trialOf(rows, features int, r *train.Report) Trial {
	t := Trial{Rows: rows, Features: features, Read: r.Read, Map: r.Map, Solve: r.Solve, Collect: r.Collect}
	if r.Collect == 0 {
		t.Choose = r.Choose
	}
	return t
}

// costModel predicts seconds of the stages of a training.
type costModel struct {
	read, each float64 // seconds a row, and a row and feature to map
	solve      func(n, d int) float64

	// exponent is p of the rows, where it is from the trials.
	exponent float64
}

// newCostModel fits the model to trials.
func newCostModel(plan *train.Plan, trials []Trial) *costModel {
	m := &costModel{}
	m.read = leastRatio(trials, func(t Trial) (float64, float64) { return float64(t.Rows), t.Read })
	m.each = leastRatio(trials, func(t Trial) (float64, float64) { return float64(t.Rows) * float64(t.Features), t.Map })
	nd2 := func(n, d int) float64 { return float64(n) * float64(d) * float64(d) }
	// Factorising takes D³ operations, but in this range their speed grows with D: from D = 512 to
	// 4096 the time was measured to grow like D^2.2 to D^2.5.
	solving := func(n, d int) float64 { return math.Pow(float64(d), solveExponent) }
	if plan.Statistics {
		a, b := leastPair(trials, nd2, solving)
		if wide := widest(trials); wide[0].Collect > 0 {
			// More features are faster, for each of their products.
			a = leastRatio(wide, func(t Trial) (float64, float64) { return nd2(t.Rows, t.Features), t.Collect })
			b = leastRatio(wide, func(t Trial) (float64, float64) { return solving(t.Rows, t.Features), t.Solve - t.Collect })
		}
		m.solve = func(n, d int) float64 { return a*nd2(n, d) + b*solving(n, d) }
		m.exponent = 1
		return m
	}
	// Of the trials with the features of the first.
	var n, t []float64
	for _, x := range trials {
		if x.Features == trials[0].Features || plan.Fixed {
			n, t = append(n, float64(x.Rows)), append(t, x.Solve-x.Choose)
		}
	}
	low, high, byFeatures := 1.0, 1.5, 1.0
	if plan.Exact {
		low, high, byFeatures = 1, 3, 0
	}
	_, p := powerLaw(n, t)
	// Times of few rows are uncertain: what grows eightfold is trusted, what grows less in part.
	usual := (low + high) / 2
	trust := min(math.Log2(slices.Max(n)/slices.Min(n))/3, 1)
	if plan.Exact {
		trust = 1 // their time grows steadily
	}
	m.exponent = usual + trust*(min(max(p, low), high)-usual)
	work := func(n, d int) float64 {
		return math.Pow(float64(n), m.exponent) * math.Pow(float64(d), byFeatures)
	}
	c := leastRatio(trials, func(t Trial) (float64, float64) { return work(t.Rows, t.Features), t.Solve - t.Choose })
	choosing := func(n, d int) float64 { return work(min(n, chooseRows), d) }
	choose := leastRatio(trials, func(t Trial) (float64, float64) { return choosing(t.Rows, t.Features), t.Choose })
	m.solve = func(n, d int) float64 { return c*work(n, d) + choose*choosing(n, d) }
	return m
}

// widest are the trials with the most features.
func widest(trials []Trial) (wide []Trial) {
	for _, t := range trials {
		if wide != nil && t.Features > wide[0].Features {
			wide = nil
		}
		if wide == nil || t.Features == wide[0].Features {
			wide = append(wide, t)
		}
	}
	return wide
}

// seconds are those of reading, mapping and solving n rows of d features.
func (m *costModel) seconds(n, d int) (read, mapping, solve float64) {
	return m.read * float64(n), m.each * float64(n) * float64(d), m.solve(n, d)
}

// weight of a trial in a fit: errors count relative to the time it took, and of larger
// trials, which are more like the training, more.
func (t Trial) weight(seconds float64) float64 {
	return float64(t.Rows) * float64(t.Features) / max(seconds*seconds, 1e-12)
}

// leastRatio is c of seconds = c·work with the least squared relative error.
func leastRatio(trials []Trial, of func(t Trial) (work, seconds float64)) float64 {
	ab, aa := 0.0, 0.0
	for _, t := range trials {
		work, seconds := of(t)
		w := t.weight(seconds)
		ab += w * work * seconds
		aa += w * work * work
	}
	if aa == 0 {
		return 0
	}
	return ab / aa
}

// leastPair are a, b ≥ 0 of solving in a·f + b·g seconds with the least squared relative error.
func leastPair(trials []Trial, f, g func(n, d int) float64) (a, b float64) {
	var ff, fg, gg, ft, gt float64
	for _, t := range trials {
		x, y, w := f(t.Rows, t.Features), g(t.Rows, t.Features), t.weight(t.Solve)
		ff, fg, gg = ff+w*x*x, fg+w*x*y, gg+w*y*y
		ft, gt = ft+w*x*t.Solve, gt+w*y*t.Solve
	}
	if det := ff*gg - fg*fg; det > 1e-9*ff*gg {
		a, b = (ft*gg-gt*fg)/det, (gt*ff-ft*fg)/det
		if a >= 0 && b >= 0 {
			return a, b
		}
	}
	if b < 0 || gg == 0 || gt <= 0 {
		return ft / max(ff, math.SmallestNonzeroFloat64), 0
	}
	return 0, gt / gg
}

// powerLaw fits t = c·n^p by least squares of logarithms; numbers that are not positive do not
// count. Of fewer than two different n it takes p = 1.
func powerLaw(n, t []float64) (c, p float64) {
	var x, y []float64
	for i := range n {
		if n[i] > 0 && t[i] > 0 {
			x, y = append(x, math.Log(n[i])), append(y, math.Log(t[i]))
		}
	}
	if len(x) == 0 {
		return 0, 1
	}
	mx, _ := meanError(x)
	my, _ := meanError(y)
	xy, xx := 0.0, 0.0
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	p = 1
	if xx > 0 {
		p = xy / xx
	}
	return math.Exp(my - p*mx), p
}

// Text is the cost in a line, as of "about 3 min and 1.2 GB for 10,000,000 rows".
func (c *Cost) Text() string {
	return fmt.Sprintf("about %s and %s for %s rows", roughly(c.Seconds), roughBytes(c.Plan.Bytes), thousands(c.Rows))
}

// roughly is a number of seconds with two digits.
func roughly(s float64) string {
	switch {
	case s < 0.095:
		return fmt.Sprintf("%.1g s", max(s, 0.01))
	case s < 9.5:
		return fmt.Sprintf("%.2g s", s)
	case s < 99.5:
		return fmt.Sprintf("%.0f s", s)
	case s < 90*60:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 36*3600:
		return fmt.Sprintf("%.2g h", s/3600)
	}
	return thousands(int(s/86400+0.5)) + " days"
}

// roughBytes is a number of bytes with two digits, in units of 1000.
func roughBytes(n int64) string {
	v := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 995 {
			if v >= 9.5 {
				return fmt.Sprintf("%.0f %s", v, unit)
			}
			return fmt.Sprintf("%.2g %s", v, unit)
		}
		v /= 1000
	}
	return fmt.Sprintf("%.3g TB", v)
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ExactCost is what an exact kernel machine would have needed for all rows of a sample.
type ExactCost struct {
	// Rows is n; Bytes is the size of its Gram matrix, 4·n².
	Rows  int     `json:"rows"`
	Bytes float64 `json:"gram_bytes"`

	// Seconds is extrapolated to n rows as c·n^Exponent from Trials, which are trainings of an
	// exact support vector machine. It takes it that C and γ are known: a search for them
	// takes so much a point.
	Seconds  float64 `json:"seconds_extrapolated"`
	Exponent float64 `json:"exponent"`
	Trials   []Trial `json:"trials"`
}

// PredictExact extrapolates what an exact support vector machine of the rbf kernel needs for as many
// rows as the source of the sample has, from trainings on growing subsamples that take about so
// many seconds together.
func PredictExact(ctx context.Context, s *Sample, cfg train.Config, opt CostOptions) (*ExactCost, error) {
	n := s.Rows()
	g := &ExactCost{Rows: n, Bytes: 4 * float64(n) * float64(n)}
	exact := train.Config{Task: s.Task, Learner: "kernel-svm", Kernel: "rbf", Gamma: cfg.Gamma, Scale: cfg.Scale, C: 10, Seed: cfg.Seed}
	if cfg.Kernel != "" && cfg.Kernel != "rbf" {
		exact.Gamma = ""
	}
	if s.Task == "multilabel" {
		return nil, errors.New("an exact support vector machine predicts one class, or one number")
	}
	plan := &train.Plan{Config: exact, Exact: true, Fixed: true}
	var err error
	if g.Trials, err = trials(ctx, s, plan, opt.filled()); err != nil {
		return nil, err
	}
	var rows, seconds []float64
	for _, t := range g.Trials[max(0, len(g.Trials)-3):] {
		rows, seconds = append(rows, float64(t.Rows)), append(seconds, t.Solve)
	}
	_, g.Exponent = powerLaw(rows, seconds)
	g.Exponent = min(max(g.Exponent, 1), 3)
	last := g.Trials[len(g.Trials)-1]
	g.Seconds = last.Solve * math.Pow(float64(n)/float64(last.Rows), g.Exponent)
	return g, nil
}
