package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// AutoOptions say how Auto chooses. The zero value has no budget, so that the model depends on
// data and Config alone.
type AutoOptions struct {
	// Config is what is given: its fields that are not zero hold for all candidates.
	Config model.Config

	// Budget is the time that choosing and training may take; 0 means no bound.
	Budget time.Duration

	// Training is passed on to trainings; its Memory holds for the choice too.
	Training model.Options

	// Progress, if not nil, is told now and then what is being done, in words.
	Progress func(what string)

	clock func() time.Time // nil: the real one
	fit   func(ctx context.Context, src dataset.Source, cfg model.Config, opt model.Options) (*model.Model, *model.Report, error)
}

// AutoReport says what Auto tried and why it chose what it did.
type AutoReport struct {
	// Facts are what the data are.
	Facts Facts `json:"facts"`

	// Heats are the races: of kernels, and of what can be varied about the best.
	Heats []*RaceResult `json:"heats"`

	// Config is the configuration that was trained: model.Fit with it gives the same model.
	// Why says what decided, in words.
	Config model.Config `json:"config"`
	Why    []string     `json:"why"`

	// Cost is what the training was predicted to take, nil where there was no budget.
	Cost *Cost `json:"cost,omitempty"`

	// Exact is what a support vector machine with the kernel itself would have needed, nil where
	// none could be trained.
	Exact *ExactCost `json:"exact,omitempty"`

	// Seconds is what choosing took, and Total what it took with the training.
	Seconds float64 `json:"seconds"`
	Total   float64 `json:"total_seconds"`
}

// Facts are what Auto looks at before it chooses candidates.
type Facts struct {
	Rows    int     `json:"rows"`
	Dim     int     `json:"dim"`
	Density float64 `json:"density"`
	Task    string  `json:"task"`

	// Classes is the number of classes, and Least and Most the shares of the smallest and of
	// the largest.
	Classes int     `json:"classes,omitempty"`
	Least   float64 `json:"least_share,omitempty"`
	Most    float64 `json:"most_share,omitempty"`

	// Deviation is that of the numbers to predict: the error of always guessing their mean.
	Deviation float64 `json:"deviation,omitempty"`

	// Positive says that no number is negative, and Histograms that rows look like histograms:
	// they have about the same sum, or they are sparse counts.
	Positive   bool `json:"positive"`
	Histograms bool `json:"histograms"`
}

// The shares of the budget that may go into the two heats, of which the second may have what the
// first leaves, and into the extrapolation of an exact
// machine; the rest is for reading, for predicting the cost and for the training.
const (
	firstShare  = 0.28
	secondShare = 0.32
	exactShare  = 0.03
	costShare   = 0.06
)

// drawnRows is how many rows of large data candidates are tried on and judged by: a third of them
// is held out. drawnBytes bounds what they take.
const (
	drawnRows  = 24_000
	drawnBytes = 1 << 29
)

// Of more than manyClasses classes no learner is tried that has a problem to solve for each.
const manyClasses = 50

// D of the candidates in the two heats: twice and as much as the rows of the first rungs would get
// by default. Fewer would favour kernels that need few.
const (
	firstFeatures  = 512
	secondFeatures = 1024
)

// Auto chooses a configuration by racing candidates on growing samples of the rows, and trains it
// on all of them. It looks at the data first: what to predict, how many rows, whether they are
// histograms. The first heat is of kernels: linear, rbf with γ at, above and below that of the median
// distance, laplacian, polynomials, and additive ones where no number is negative; the second of γ, scaling and learner around the
// best. With a budget, the number of features D is the largest whose predicted time and
// memory are within it.
//
// Memory: the sample, 512 MiB at most, and that of the trainings.
func Auto(ctx context.Context, src dataset.Source, opt AutoOptions) (*model.Model, *model.Report, *AutoReport, error) {
	a := &auto{AutoOptions: opt, ctx: ctx, src: src, report: &AutoReport{}}
	if a.now = time.Now; a.clock != nil {
		a.now = a.clock
	}
	if a.fit == nil {
		a.fit = model.Fit
	}
	a.start = a.now()
	if err := a.Config.Check(); err != nil {
		return nil, nil, nil, err
	}
	if err := a.choose(); err != nil {
		return nil, nil, nil, err
	}
	a.report.Seconds = a.now().Sub(a.start).Seconds()
	m, report, err := a.train()
	if err != nil {
		return nil, nil, nil, err
	}
	a.report.Total = a.now().Sub(a.start).Seconds()
	return m, report, a.report, nil
}

// auto is the state of Auto.
type auto struct {
	AutoOptions
	ctx    context.Context
	src    dataset.Source
	report *AutoReport
	now    func() time.Time
	start  time.Time
	sample *Sample
}

func (a *auto) say(format string, args ...any) {
	if a.Progress != nil {
		a.Progress(fmt.Sprintf(format, args...))
	}
}

func (a *auto) why(format string, args ...any) {
	a.report.Why = append(a.report.Why, fmt.Sprintf(format, args...))
}

// left is how much of the budget is left.
func (a *auto) left() time.Duration { return a.Budget - a.now().Sub(a.start) }

// share is a share of the budget, or what is left of it; 0 where there is no budget.
func (a *auto) share(of float64) time.Duration {
	if a.Budget <= 0 {
		return 0
	}
	return max(min(time.Duration(of*float64(a.Budget)), a.left()), 1)
}

// secondShare is the second heat's share of the budget with what is left of the first's.
func (a *auto) secondShare() time.Duration {
	if a.Budget <= 0 {
		return 0
	}
	return max(time.Duration((firstShare+secondShare)*float64(a.Budget))-a.now().Sub(a.start), 1)
}

// choose looks at the data and races the candidates.
func (a *auto) choose() error {
	a.say("looks at the data")
	rows := drawnRows
	if d := a.src.Schema().Dim; d > 0 {
		rows = min(rows, max(2000, drawnBytes/4/d))
	}
	var err error
	if a.sample, err = Draw(a.ctx, a.src, rows, a.Config.Task, max(a.Config.Seed, 1)); err != nil {
		return err
	}
	a.report.Facts = a.sample.facts()
	kernels := a.kernels()
	first, err := a.heat("kernels", kernels, firstFeatures, a.share(firstShare), []int{1000, 4000})
	if err != nil {
		return err
	}
	best := kernels[first.Winner]
	rivals := []candidate{best}
	for i, r := range first.Racers {
		// Others that were no worse within the noise.
		if i != first.Winner && r.Dropped == "" && len(r.Runs) > 0 && len(rivals) < 3 {
			rivals = append(rivals, kernels[i])
		}
	}
	second := a.variations(rivals)
	if len(second) > 1 {
		heat, err := a.heat("variations", second, secondFeatures, a.secondShare(), []int{1000, 4000, 16_000})
		switch {
		case err == nil:
			best = second[heat.Winner]
		case a.ctx.Err() != nil:
			return a.ctx.Err()
		}
	}
	a.explain()
	c := best.Config
	if a.Config.Features == 0 {
		c.Features = 0
	}
	a.report.Config = c
	a.exactCost()
	return a.ctx.Err()
}

// facts are those of a sample's source.
func (s *Sample) facts() Facts {
	sum := s.Summary
	f := Facts{Rows: s.Rows(), Dim: sum.Dim, Density: sum.Density(), Task: s.Task, Positive: true}
	integer := true
	for _, c := range sum.Columns {
		f.Positive = f.Positive && c.Min >= 0
		integer = integer && c.Integer
	}
	if f.Positive {
		least, most := math.Inf(1), 0.0
		for i := range s.rows.X.Len() {
			total := 0.0
			for _, v := range rowValues(s.rows.X, i) {
				total += float64(v)
			}
			least, most = min(least, total), max(most, total)
		}
		f.Histograms = sum.Dim >= 8 && (least > 0.9*most || integer && sum.Sparse && f.Density < 0.25)
	}
	switch s.Task {
	case "classify":
		counts := map[int]int{}
		classes, _ := sum.Classes() // they were there when the sample was drawn
		for i := range s.from {
			counts[classes.Of(s.rows, i)]++
		}
		f.Classes, f.Least = len(classes.Labels()), 1
		for _, n := range counts {
			share := float64(n) / float64(len(s.from))
			f.Least, f.Most = min(f.Least, share), max(f.Most, share)
		}
	case "regress":
		k := s.rows.Outputs
		for t := range k {
			y := make([]float64, len(s.from))
			for i := range y {
				y[i] = s.rows.Y[i*k+t]
			}
			_, se := meanError(y)
			f.Deviation += se * se * float64(len(y))
		}
		f.Deviation = math.Sqrt(f.Deviation)
	}
	return f
}

// rowValues are the values of a row, of a sparse one those that are there.
func rowValues(x matrix.Rows, i int) []float32 {
	if x.CSR != nil {
		_, val := x.CSR.Row(i)
		return val
	}
	return x.Dense.Row(i)
}

// unset says that a word of a configuration leaves the choice to the data.
func unset(word string) bool { return word == "" || word == "auto" }

// candidate is a configuration with what its γ is a multiple of.
type candidate struct {
	model.Config
	median float64 // that of the median distance of its kernel and scaling; 0: it has no γ
	factor float64
}

// withGamma is the candidate with γ at a multiple of that of the median distance.
func (c candidate) withGamma(factor float64) candidate {
	c.factor = factor
	// Four digits are plenty, and keep the command line that repeats it short.
	c.Gamma = strconv.FormatFloat(c.median*factor, 'g', 4, 64)
	return c
}

// candidateOf is a candidate of a kernel and a scaling; ok is false where its γ is not known.
func (a *auto) candidateOf(c model.Config) (candidate, bool) {
	if c.Gamma == "" {
		c.Gamma = "median" // as the command line calls it
	}
	out := candidate{Config: c}
	if c.Kernel == "linear" || !kernel.Has(c.Kernel, "gamma") || c.Kernel == "poly" || c.Gamma != "median" || c.Sigma != 0 {
		return out, true
	}
	kind := c.Scale
	if unset(kind) {
		if kind, _ = dataset.ChooseScale(a.sample.Summary); c.Kernel == "exp-chi2" {
			kind, _ = dataset.ChooseHistogramScale(a.sample.Summary)
		}
	}
	scaler, err := dataset.NewScaler(kind, a.sample.Summary)
	if err != nil {
		return out, false
	}
	gamma, err := kernel.MedianGamma(scaler.Apply(a.sample.Summary.Sample, &dataset.Workspace{}), max(c.Seed, 1), c.Kernel)
	if err != nil {
		return out, false
	}
	out.median = gamma
	return out.withGamma(1), true
}

// kernels are the candidates of the first heat, the simplest first and the most different ones
// before those that are alike, in case time runs out.
func (a *auto) kernels() (all []candidate) {
	f, given := a.report.Facts, a.Config
	given.Task = f.Task
	if unset(given.Learner) {
		given.Learner = map[string]string{"regress": "ridge"}[f.Task]
		switch {
		case given.Learner != "":
		case f.Classes > manyClasses:
			given.Learner = "ridge" // whose time hardly depends on them
		default:
			given.Learner = "svm"
		}
		if given.Check() != nil { // the options that are given belong to others
			given.Learner = a.Config.Learner
		}
	}
	add := func(set func(c *model.Config), factors ...float64) {
		c := given
		set(&c)
		if given.Kernel != "" && c.Kernel != given.Kernel || given.Map != "" && c.Map != given.Map ||
			!unset(given.Scale) && c.Scale != given.Scale || c.Check() != nil {
			return
		}
		x, ok := a.candidateOf(c)
		switch {
		case !ok:
		case x.median == 0 || len(factors) == 0:
			all = append(all, x)
		default:
			for _, factor := range factors {
				all = append(all, x.withGamma(factor))
			}
		}
	}
	kernelOf := func(name string) func(c *model.Config) {
		return func(c *model.Config) { c.Kernel = name }
	}
	poly := func(degree int) func(c *model.Config) {
		return func(c *model.Config) {
			c.Kernel, c.Degree, c.Coef0 = "poly", degree, 1
			if monomials(f.Dim, degree) <= 2048 && c.Features == 0 && c.Map == "" {
				c.Map = "explicit-poly"
			}
		}
	}
	if given.Map == "" {
		add(kernelOf("linear"))
	}
	add(kernelOf("rbf"), 1)
	add(kernelOf("laplacian"), 1)
	if f.Dim <= 2000 {
		add(poly(2))
	}
	if f.Positive && f.Dim >= 4 {
		// Sums of functions of one dimension each.
		add(kernelOf("chi2"))
		add(kernelOf("intersection"))
	}
	if f.Histograms {
		add(kernelOf("exp-chi2"), 1)
	}
	add(kernelOf("rbf"), 0.25, 4)
	add(kernelOf("laplacian"), 0.25)
	if f.Dim <= 2000 {
		add(poly(3))
	}
	if len(all) == 0 { // a kernel that is none of these
		add(func(c *model.Config) {}, 1, 0.25, 4)
	}
	if len(all) == 0 {
		all = append(all, candidate{Config: given})
	}
	return all
}

// monomials is the number of those of at most a degree in d variables.
func monomials(d, degree int) float64 {
	n := 1.0
	for i := range degree {
		n = n * float64(d+i+1) / float64(i+1)
	}
	return n
}

// variations are the candidates of the second heat: the rivals as they are, the first of them
// with other γ, scalings and learners.
func (a *auto) variations(rivals []candidate) []candidate {
	best, given, f := rivals[0], a.Config, a.report.Facts
	all := slices.Clone(rivals)
	add := func(c candidate) {
		same := func(o candidate) bool { return Describe(o.Config) == Describe(c.Config) }
		if c.Check() == nil && !slices.ContainsFunc(all, same) {
			all = append(all, c)
		}
	}
	if best.median > 0 {
		factors := []float64{0.5, 2}
		if best.factor > 1 {
			factors = append(factors, 4)
		} else if best.factor < 1 {
			factors = append(factors, 0.25)
		}
		for _, factor := range factors {
			add(best.withGamma(best.factor * factor))
		}
	}
	if unset(given.Learner) {
		for _, name := range a.learners() {
			c := best
			c.Learner = name
			add(c)
		}
	}
	if unset(given.Scale) && unset(best.Scale) && !f.Histograms && !slices.Contains(additive, best.Kernel) {
		for _, kind := range []string{"standard", "minmax", "none"} {
			chosen, _ := dataset.ChooseScale(a.sample.Summary)
			if kind == chosen || kind == "none" && !a.alike() {
				continue
			}
			c := best.Config
			c.Scale = kind
			if best.median > 0 {
				c.Gamma = ""
			}
			if x, ok := a.candidateOf(c); ok {
				if best.median > 0 {
					x = x.withGamma(best.factor)
				}
				add(x)
			}
		}
	}
	if f.Rows <= 10_000 && f.Task == "classify" && f.Classes <= manyClasses && unset(given.Learner) && given.Features == 0 && slices.Contains([]string{"rbf", "laplacian"}, best.Kernel) && given.Map == "" {
		for _, weight := range []float64{1, 10, 100} {
			c := best
			c.Learner, c.C = "kernel-svm", weight
			add(c)
		}
	}
	if f.Rows <= 3000 && f.Task == "regress" && unset(given.Learner) && given.Features == 0 && best.Kernel == "rbf" && given.Map == "" {
		c := best
		c.Learner = "kernel-ridge"
		add(c)
	}
	return all
}

// learners are those beside the usual one of a task.
func (a *auto) learners() []string {
	switch f := a.report.Facts; {
	case f.Classes > manyClasses:
	case f.Task == "classify":
		return []string{"ridge", "logistic"}
	case f.Task == "multilabel":
		return []string{"ridge"}
	}
	return nil
}

// alike says that dimensions have deviations of about the same size, so that scaling may be left
// out.
func (a *auto) alike() bool {
	least, most := math.Inf(1), 0.0
	for _, c := range a.sample.Summary.Columns {
		if c.Variance > 0 {
			least, most = min(least, c.Variance), max(most, c.Variance)
		}
	}
	return most <= 1e4*least
}

// heat races candidates.
func (a *auto) heat(what string, candidates []candidate, features int, budget time.Duration, rungs []int) (*RaceResult, error) {
	configs, names := make([]model.Config, len(candidates)), make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = Describe(c.Config)
		if configs[i] = c.Config; featured(c.Config) {
			configs[i].Features = min(features, max(leastFeatures, a.sample.TrainRows()))
		}
	}
	r, err := Race(a.ctx, a.sample, configs, RaceOptions{
		Rungs: rungs, Budget: budget, Memory: a.Training.Memory, now: a.clock, names: names,
		Progress: func(name string, k, of, rows int) {
			a.say("%s, %s rows: %d of %d, %s", what, thousands(rows), k, of, name)
		},
	})
	if err == nil {
		a.report.Heats = append(a.report.Heats, r)
	}
	return r, err
}

// additive are the kernels of histograms whose maps have few features a dimension. They take no
// negative numbers, which a shifting scaling makes of rows outside of the training's range.
var additive = []string{"chi2", "intersection", "hellinger", "jensen-shannon"}

// featured says that a number of features is to be chosen for a configuration.
func featured(c model.Config) bool {
	return c.Features == 0 && c.Kernel != "linear" && c.Map != "explicit-poly" && c.Learner != "kernel-svm" && c.Learner != "kernel-ridge" &&
		!slices.Contains(additive, c.Kernel)
}

// explain says what decided.
func (a *auto) explain() {
	for i, h := range a.report.Heats {
		w := &h.Racers[h.Winner]
		last, ok := w.Last()
		if !ok {
			continue
		}
		second, found := 0, false
		for k := range h.Racers {
			r, ok := h.Racers[k].Last()
			if !ok || k == h.Winner {
				continue
			}
			b, _ := h.Racers[second].Last()
			if !found || r.Rows > b.Rows || r.Rows == b.Rows && r.Gap < b.Gap {
				second, found = k, true
			}
		}
		heat := []string{"kernels", "variations"}[i]
		if !found {
			a.why("of the %s %s was the only one that could be trained", heat, w.Name)
			continue
		}
		r, _ := h.Racers[second].Last()
		a.why("of %d %s %s was the best on %s rows; the next, %s, was behind by %s", len(h.Racers), heat, w.Name, thousands(last.Rows),
			h.Racers[second].Name, gapText(h.Metric, r, *w))
	}
}

// exactCost extrapolates what an exact machine would need.
func (a *auto) exactCost() {
	opt := CostOptions{Memory: a.Training.Memory, Seconds: 3}
	ctx := a.ctx
	if a.Budget > 0 {
		share := a.share(exactShare)
		opt.Seconds = min(opt.Seconds, share.Seconds())
		limited, cancel := context.WithTimeout(ctx, 2*share)
		defer cancel()
		ctx = limited
	}
	a.say("an exact machine on few rows")
	// That it cannot be trained takes nothing away from what was chosen.
	a.report.Exact, _ = PredictExact(ctx, a.sample, a.report.Config, opt)
}

// features are the numbers of features that are tried, largest first. More than half as many
// as rows tell nothing new.
func (a *auto) features() (all []int) {
	for d := usualMost; d >= leastFeatures; d /= 2 {
		if d <= max(leastFeatures, a.report.Facts.Rows/2) {
			all = append(all, d)
		}
	}
	return all
}

// usualMost is the most features that are taken, however large the budget is.
const usualMost = 8192

// train trains the chosen configuration on all rows, with as many features as the budget has room
// for.
func (a *auto) train() (*model.Model, *model.Report, error) {
	c := &a.report.Config
	if a.Budget <= 0 {
		a.say("trains %s on all rows", Describe(*c))
		return a.fit(a.ctx, a.src, *c, a.Training)
	}
	cost, d, err := a.affordable(*c)
	if err != nil {
		return nil, nil, err
	}
	if other := *c; d < heldLearner && (d == 0 || !cost.Plan.Fixed && a.rivals("ridge")) && unset(a.Config.Learner) && c.Learner != "ridge" && a.report.Facts.Rows > 2*d {
		// Statistics take less time a row than many passes over rows.
		other.Learner, other.C = "ridge", 0
		if cost2, d2, err := a.affordable(other); err == nil && other.Check() == nil && (d2 >= 4*d || d == 0 && d2 > 0) {
			a.why("%s has room for D = %s within the budget; ridge, which takes one pass, for %s", c.Learner, thousands(d), thousands(d2))
			*c, cost, d = other, cost2, d2
		}
	}
	a.report.Cost = cost
	if !cost.Plan.Fixed && a.Config.Features == 0 {
		if d == 0 {
			d = leastFeatures
			a.why("the budget has hardly room for D = %s features", thousands(d))
		}
		c.Features = d
		if err := a.resize(cost, d); err != nil {
			return nil, nil, err
		}
		a.why("D = %s: predicted to take %s of the %s that are left, and %s", thousands(d), roughly(cost.Seconds), roughly(a.left().Seconds()), roughBytes(cost.Plan.Bytes))
	}
	// A training that takes longer than predicted is given up while there is time for one with
	// fewer features.
	less := max(leastFeatures, c.Features/4)
	if !cost.Plan.Fixed && a.Config.Features == 0 && less < c.Features {
		if reserve := time.Duration(1.5 * cost.at(less) * float64(time.Second)); reserve < a.left()/2 {
			m, report, err := a.within(a.left() - reserve)
			if !errors.Is(err, context.DeadlineExceeded) || a.ctx.Err() != nil {
				return m, report, err
			}
			a.why("that took longer than predicted, so that it was given up for D = %s", thousands(less))
			c.Features = less
		}
	}
	m, report, err := a.within(a.left() + a.Budget/10)
	if errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil {
		return nil, nil, fmt.Errorf("%s: %s did not get done within the budget of %s; give a larger one", a.src.Name(), Describe(*c), a.Budget)
	}
	return m, report, err
}

// within trains the chosen configuration, and gives up after so much time.
func (a *auto) within(limit time.Duration) (*model.Model, *model.Report, error) {
	ctx := a.ctx
	if a.clock == nil {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	a.say("trains %s on all rows", Describe(a.report.Config))
	return a.fit(ctx, a.src, a.report.Config, a.Training)
}

// Of the time that is left, useShare may be predicted for the training: predictions are good to a
// factor of two at worst.
const useShare = 0.6

// A map has leastFeatures at least. Where a learner that goes through rows many times has room for
// fewer than heldLearner, one of statistics is looked at.
const (
	leastFeatures = 256
	heldLearner   = 1024
)

// rivals says that a learner was not dropped for a larger loss.
func (a *auto) rivals(learner string) bool {
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Config.Learner == learner && len(r.Runs) > 0 && !strings.HasPrefix(r.Dropped, "behind") {
				return true
			}
		}
	}
	return false
}

// known are the trainings of a configuration in the races, of those with as many features as the
// last.
func (a *auto) known(c model.Config) (trials []Trial) {
	c.Features, c.Task = 0, a.sample.Task
	name := Describe(c)
	for _, h := range a.report.Heats {
		for _, r := range h.Racers {
			if r.Name != name {
				continue
			}
			for _, run := range r.Runs {
				if len(trials) > 0 && trials[0].Features != run.trial.Features {
					trials = nil
				}
				trials = append(trials, run.trial)
			}
		}
	}
	return trials
}

// affordable predicts the cost of a configuration, and finds the largest D whose predicted time
// and memory there is room for, 0 if there is none. Of a configuration whose features are
// fixed D is what they are.
func (a *auto) affordable(c model.Config) (*Cost, int, error) {
	a.say("predicts the cost of %s", Describe(c))
	cost, err := PredictCost(a.ctx, a.sample, c, CostOptions{Memory: a.Training.Memory, Seconds: a.share(costShare).Seconds(), now: a.clock, known: a.known(c)})
	if err != nil {
		return nil, 0, err
	}
	room := useShare * a.left().Seconds()
	if cost.Plan.Fixed || a.Config.Features > 0 {
		if cost.Seconds > room {
			return cost, 0, nil
		}
		return cost, cost.Plan.Features, nil
	}
	for _, d := range a.features() {
		if cost.at(d) > room {
			continue
		}
		sized := c
		sized.Features = d
		plan, err := a.plan(sized, cost.Rows)
		if err != nil {
			return nil, 0, err
		}
		if a.Training.Memory <= 0 || plan.Bytes <= a.Training.Memory {
			return cost, d, nil
		}
	}
	return cost, 0, nil
}

// plan is that of a configuration for n rows.
func (a *auto) plan(c model.Config, n int) (*model.Plan, error) {
	return model.NewPlan(a.ctx, a.sample.Train(0, a.sample.TrainRows()), n, c, model.Options{Memory: a.Training.Memory})
}

// resize makes a cost one of D features.
func (a *auto) resize(cost *Cost, d int) error {
	plan, err := a.plan(a.report.Config, cost.Rows)
	if err != nil {
		return err
	}
	oldMap, oldSolve := cost.Map, cost.Solve
	_, cost.Map, cost.Solve = cost.model.seconds(cost.Rows, d)
	cost.Seconds += cost.Map - oldMap + cost.Solve - oldSolve
	cost.Plan = plan
	return nil
}
