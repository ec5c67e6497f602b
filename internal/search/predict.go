package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"mercer/internal/engine/units"
	"mercer/kernel"
	"mercer/train"
)

// Prediction is the predicted cost of a training.
type Prediction struct {
	// Rows is n, the number of rows; RowsGuessed says that it is an estimate from the share of the
	// source that was read.
	Rows        int  `json:"rows"`
	RowsGuessed bool `json:"rows_guessed,omitempty"`

	// Plan says what the training would do, and its Bytes how much memory it would hold.
	Plan *train.Plan `json:"plan"`

	// Read, Metric, Map and Solve are seconds as in train.Report, Seconds their sum.
	Read    float64 `json:"read_seconds"`
	Metric  float64 `json:"metric_seconds"`
	Map     float64 `json:"map_seconds"`
	Solve   float64 `json:"solve_seconds"`
	Seconds float64 `json:"seconds"`

	// Trials are the small trainings that the prediction is based on.
	Trials []Timing `json:"trials"`

	model *costModel
}

// PredictOptions say how a cost is predicted.
type PredictOptions struct {
	// Memory is the number of bytes that the training may hold; 0 means no limit.
	Memory int64

	// Seconds is about how long the trials may take, twice that if they need many features; 0 means 3.
	Seconds float64

	known []Timing // existing trials
	quick bool     // make no others if there are any
	lab
}

// Predict predicts the time and the memory of training cfg on as many rows as the source of the sample
// has, by trials on a few of them.
//
// Memory follows from the learners' own formulas. Time is the sum of the stages: reading and mapping, which
// grow like n and n·D; and solving. For statistics, solving takes a·n·D² + b·D^2.5 with a and b from the
// trials, those with the most features if they can tell both apart. For learners that go through rows it takes
// c·n^p·D with p ∈ [1, 3/2] from the trials, and as much again for the choice of C on a part of them;
// for those that use the kernel itself c·n^p with p ∈ [1, 3], and c·n from the rows on that bring no more centres.
// A metric of m rows and l landmarks takes c·(m·l² + l³), from one trial on few rows.
func Predict(ctx context.Context, s *Sample, cfg train.Config, opt PredictOptions) (*Prediction, error) {
	plan, err := s.Plan(ctx, cfg, s.all, opt.Memory)
	if err != nil {
		return nil, err
	}
	c := &Prediction{Rows: s.all, RowsGuessed: s.guessed, Plan: plan}
	if c.Trials, err = trials(ctx, s, plan, opt); err != nil {
		return nil, err
	}
	runtime.GC() // memory of the trials is not counted in what follows
	c.model = newCostModel(plan, c.Trials)
	c.Read, c.Map, c.Solve = c.model.seconds(c.Rows, plan.Features)
	// The source is read once to survey it and once to train, and once more to choose λ by leave-one-out.
	passes := 2.0
	if train.As[train.Ridge](cfg.Learner).LambdaBy == "loo" {
		passes++
	}
	c.Read += passes * s.perRow * float64(c.Rows)
	c.Metric = c.model.metric * metricWork(plan, c.Rows)
	c.Seconds = c.Read + c.Metric + c.Map + c.Solve
	return c, nil
}

// slowest is the number of operations per second that any computer can do.
const slowest = 4e9

// Short says whether the training of cfg on all rows of a sample's source takes less than the given number of
// seconds, without a trial: by a generous count of its operations. If it is false the
// training may still be short.
func Short(ctx context.Context, s *Sample, cfg train.Config, memory int64, seconds float64) (bool, error) {
	p, err := s.planFrom(ctx, trialRows, cfg, s.all, memory)
	if err != nil {
		return false, err
	}
	n, d, k := float64(s.all), float64(p.Features), float64(p.Outputs)
	work := n*float64(s.summary.Dim)*d + metricRounds*metricWork(p, s.all) // the map, and a metric
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

// stages are the seconds of reading, mapping and solving n rows of d features, without the time spent
// waiting for the source.
func (c *Prediction) stages(n, d int) (read, mapping, solve float64) { return c.model.seconds(n, d) }

// withFeatures is the predicted number of seconds with d features instead of those of the plan.
func (c *Prediction) withFeatures(d int) float64 {
	_, mapping, solve := c.stages(c.Rows, d)
	return c.Seconds - c.Map - c.Solve + mapping + solve
}

// resize changes the prediction to d features, as in the plan.
func (c *Prediction) resize(plan *train.Plan, d int) {
	c.Seconds = c.withFeatures(d)
	_, c.Map, c.Solve = c.stages(c.Rows, d)
	c.Plan = plan
}

// Text is the cost in one line, such as "about 3 min and 1.2 GB for 10,000,000 rows".
func (c *Prediction) Text() string {
	return fmt.Sprintf("about %s and %s for %s rows", units.Roughly(c.Seconds), units.Bytes(c.Plan.Bytes), units.Count(c.Rows))
}

// The trials begin with trialRows rows and trialFeatures features.
const (
	trialRows     = 1000
	trialFeatures = 512
)

// trials trains on few rows: first on trialRows, then on twice as many until half of the time
// is used up, and then with twice as many features, up to those of the training.
func trials(ctx context.Context, s *Sample, plan *train.Plan, opt PredictOptions) ([]Timing, error) {
	all := slices.Clone(opt.known)
	if opt.quick && len(all) > 0 {
		return all, nil
	}
	most, start, limit := s.trainRows(), opt.now(), cmp.Or(opt.Seconds, 3)
	spent := func() float64 { return opt.now().Sub(start).Seconds() }
	learned := plan.Config.Metric.Form != "" && !plan.Config.Traits().ChoosesKernels()
	once := func(rows, features int) error {
		cfg := plan.Config
		if learned && len(all) > 0 {
			cfg.Metric.Form = "" // the first trial tells what it takes
		}
		if !plan.Fixed {
			cfg.Map.Features = features
		}
		_, report, err := opt.train(ctx, s.train(0, rows), cfg, train.Options{Memory: opt.Memory})
		if err == nil {
			all = append(all, timingOf(rows, features, report))
		}
		return err
	}
	d := plan.Features
	if !plan.Fixed {
		d = min(d, trialFeatures)
	}
	rows, grown := min(trialRows, max(most/4, 1)), false
	if len(all) > 0 {
		// How the time grows with the rows may not have been tried yet.
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
		grown = rows == most || len(all) >= 2 && spent() > limit/2
		rows = min(2*rows, most)
	}
	rows = 0
	for _, t := range all {
		rows, d = max(rows, t.Rows), max(d, t.Features)
	}
	// Features are doubled on the rows of the largest trial, or on 2·D of them (but at least trialRows) if that is less.
	for d < plan.Features && !plan.Fixed {
		d = min(2*d, plan.Features)
		if err := once(min(rows, max(2*d, trialRows)), d); err != nil {
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, err
			}
			break // beyond the memory or the time
		}
		// The next takes four to eight times as long, and may use twice the time: errors in the part that depends on
		// D alone matter most.
		if last := all[len(all)-1]; spent()+4*(last.Map+last.Solve) > 2*limit {
			break
		}
	}
	return all, nil
}

// ExactPrediction is the predicted cost of an exact kernel machine on all rows of a sample's source.
type ExactPrediction struct {
	// Rows is n; Bytes is the size of its Gram matrix, 4·n².
	Rows  int     `json:"rows"`
	Bytes float64 `json:"gram_bytes"`

	// Seconds is extrapolated to n rows as c·n^Exponent from Trials, which are trainings of an
	// exact support vector machine. C and γ are assumed to be known: a search for them
	// takes as long for every point.
	Seconds  float64  `json:"seconds_extrapolated"`
	Exponent float64  `json:"exponent"`
	Trials   []Timing `json:"trials"`
}

// predictExact extrapolates the cost of an exact support vector machine of the rbf kernel on as many
// rows as the source of the sample has, from trainings on growing subsamples that together take about
// the given number of seconds.
func predictExact(ctx context.Context, s *Sample, cfg train.Config, opt PredictOptions) (*ExactPrediction, error) {
	if s.Task == "multilabel" {
		return nil, errors.New("an exact support vector machine predicts one class, or one number")
	}
	exact := train.Config{Task: s.Task, Learner: train.Named{Name: train.ExactSVM().Name(), Options: map[string]any{"c": 10}},
		Kernel: train.Kernel{Name: kernel.RBF.Name(), Gamma: cfg.Kernel.Gamma}, Scale: cfg.Scale, Seed: cfg.Seed}
	if cfg.KernelName() != exact.Kernel.Name {
		exact.Kernel.Gamma = "" // γ of another kernel says nothing about this one's
	}
	all, err := trials(ctx, s, &train.Plan{Config: exact, Exact: true, Fixed: true}, opt)
	if err != nil {
		return nil, err
	}
	var rows, seconds []float64
	for _, t := range all[max(0, len(all)-3):] {
		rows, seconds = append(rows, float64(t.Rows)), append(seconds, t.Solve)
	}
	_, p := powerLaw(rows, seconds)
	n, last := float64(s.all), all[len(all)-1]
	p = min(max(p, 1), 3)
	return &ExactPrediction{Rows: s.all, Bytes: 4 * n * n, Seconds: last.Solve * math.Pow(n/float64(last.Rows), p), Exponent: p, Trials: all}, nil
}

// Forecast is the remaining cost of many trainings before they begin: of a search before
// candidates are judged on all rows, or of a learning curve.
type Forecast struct {
	// Configurations are those to judge, or the points of a curve; Trainings is the number of their trainings left.
	Configurations int `json:"configurations"`
	Trainings      int `json:"trainings"`

	// Seconds is about how long these take, Bytes about how much memory they hold at most, besides the
	// data that are read.
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// Text is the forecast in one line, such as "9 configurations, 45 trainings: about 3 min and 1.2 GB",
// where what names the things that are trained.
func (f Forecast) Text(what string) string {
	return fmt.Sprintf("%s %s, %s trainings: about %s and %s", units.Count(f.Configurations), what, units.Count(f.Trainings),
		units.Roughly(f.Seconds), units.Bytes(f.Bytes))
}

// solveExponent says how the time to solve for statistics of D features grows with D.
const solveExponent = 2.5

// chooseRows is the number of rows beyond which choosing C takes no longer: learn.ChooseC fits
// two thirds of them, at most 4,096.
const chooseRows = 6144

// costModel predicts the seconds of the stages of a training.
type costModel struct {
	read, each float64 // seconds per row, and per row and feature to map
	solve      func(n, d int) float64
	metric     float64 // seconds for a unit of metricWork
}

// newCostModel fits the model to trials.
func newCostModel(plan *train.Plan, trials []Timing) *costModel {
	m := &costModel{}
	m.read = leastRatio(trials, func(t Timing) (float64, float64) { return float64(t.Rows), t.Read })
	m.each = leastRatio(trials, func(t Timing) (float64, float64) { return float64(t.Rows) * float64(t.Features), t.Map })
	m.metric = leastRatio(trials, func(t Timing) (float64, float64) {
		if t.Metric == 0 {
			return 0, 0
		}
		return metricWork(plan, t.Rows), t.Metric
	})
	nd2 := func(n, d int) float64 { return float64(n) * float64(d) * float64(d) }
	// Factorising takes D³ operations, but in this range their speed grows with D: from D = 512 to
	// 4096 the measured time grew like D^2.2 to D^2.5.
	solving := func(n, d int) float64 { return math.Pow(float64(d), solveExponent) }
	if plan.Statistics {
		a, b := leastPair(trials, nd2, solving)
		if wide := widest(trials); wide[0].Collect > 0 {
			// With more features each of their products is faster.
			a = leastRatio(wide, func(t Timing) (float64, float64) { return nd2(t.Rows, t.Features), t.Collect })
			b = leastRatio(wide, func(t Timing) (float64, float64) { return solving(t.Rows, t.Features), t.Solve - t.Collect })
		}
		m.solve = func(n, d int) float64 { return a*nd2(n, d) + b*solving(n, d) }
		return m
	}
	// Use the trials with as many features as the first.
	var n, t []float64
	for _, x := range trials {
		if plan.LinearFrom > 0 && x.Rows > plan.LinearFrom && len(n) >= 2 {
			continue
		}
		if x.Features == trials[0].Features || plan.Fixed {
			n, t = append(n, float64(x.Rows)), append(t, x.Solve-x.Choose)
		}
	}
	low, high, byFeatures := 1.0, 1.5, 1.0
	if plan.Exact {
		low, high, byFeatures = 1, 3, 0
	}
	_, p := powerLaw(n, t)
	// Times on few rows are uncertain: eightfold growth is trusted, less growth only in part.
	usual := (low + high) / 2
	trust := min(math.Log2(slices.Max(n)/slices.Min(n))/3, 1)
	if plan.Exact {
		trust = 1 // their time grows steadily
	}
	p = usual + trust*(min(max(p, low), high)-usual)
	work := func(n, d int) float64 {
		times := 1.0
		if from := plan.LinearFrom; from > 0 && n > from {
			n, times = from, float64(n)/float64(from)
		}
		return times * math.Pow(float64(n), p) * math.Pow(float64(d), byFeatures)
	}
	c := leastRatio(trials, func(t Timing) (float64, float64) { return work(t.Rows, t.Features), t.Solve - t.Choose })
	choosing := func(n, d int) float64 { return work(min(n, chooseRows), d) }
	choose := leastRatio(trials, func(t Timing) (float64, float64) { return choosing(t.Rows, t.Features), t.Choose })
	m.solve = func(n, d int) float64 { return c*work(n, d) + choose*choosing(n, d) }
	return m
}

// metricRounds is about how many machines are fitted to learn a metric.
const metricRounds = 20

// metricWork grows like the time of learning a metric from n rows, which fits machines on landmarks, as often on many rows as on few.
func metricWork(plan *train.Plan, n int) float64 {
	m := float64(min(n, plan.MetricRows))
	l := min(m, float64(plan.MetricCentres))
	return m*l*l + l*l*l
}

// widest returns the trials with the most features.
func widest(trials []Timing) (wide []Timing) {
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

// seconds returns the seconds of reading, mapping and solving n rows of d features.
func (m *costModel) seconds(n, d int) (read, mapping, solve float64) {
	return m.read * float64(n), m.each * float64(n) * float64(d), m.solve(n, d)
}

// weight of a trial in a fit: errors are relative to the time it took, and larger
// trials, which resemble the training more, count more.
func weight(t Timing, seconds float64) float64 {
	return float64(t.Rows) * float64(t.Features) / max(seconds*seconds, 1e-12)
}

// leastRatio is c of seconds = c·work with the least squared relative error.
func leastRatio(trials []Timing, of func(t Timing) (work, seconds float64)) float64 {
	ab, aa := 0.0, 0.0
	for _, t := range trials {
		work, seconds := of(t)
		w := weight(t, seconds)
		ab += w * work * seconds
		aa += w * work * work
	}
	if aa == 0 {
		return 0
	}
	return ab / aa
}

// leastPair returns a, b ≥ 0 of a·f + b·g seconds for solving, with the least squared relative error.
func leastPair(trials []Timing, f, g func(n, d int) float64) (a, b float64) {
	var ff, fg, gg, ft, gt float64
	for _, t := range trials {
		x, y, w := f(t.Rows, t.Features), g(t.Rows, t.Features), weight(t, t.Solve)
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

// powerLaw fits t = c·n^p by least squares of logarithms; numbers that are not positive are
// ignored. With fewer than two different n it sets p = 1.
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
