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
	trial func(ctx context.Context, s *Sample, fold, rows int, cfg model.Config) (outcome, error)

	costFit func(ctx context.Context, src dataset.Source, cfg model.Config, opt model.Options) (*model.Report, error)
}

// AutoReport says what Auto tried and why it chose what it did.
type AutoReport struct {
	// Facts are what the data are.
	Facts Facts `json:"facts"`

	// Heats are the races: of kernels, of what can be varied about the best, and of finalists with
	// as many features as the training has.
	Heats []*RaceResult `json:"heats"`

	// Config is the configuration that was trained: model.Fit with it gives the same model.
	// Why says what decided, in words.
	Config model.Config `json:"config"`
	Why    []string     `json:"why"`

	// Rows is the number of rows that the model was trained on. Where that is less than there are,
	// because the budget had no time for more, Short says so, and Wanted is a budget, in
	// seconds, that would do.
	Rows   int     `json:"trained_rows"`
	Short  string  `json:"short,omitempty"`
	Wanted float64 `json:"wanted_budget_seconds,omitempty"`

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

// The shares of the budget at whose end the three heats are over, and those that may go into the
// last of them, into the extrapolation of an exact machine and into predicting the cost of a
// training. The rest, with what the heats leave, is for the training.
const (
	firstEnd    = 0.18
	secondEnd   = 0.3
	finalsEnd   = 0.5
	finalsShare = 0.2
	exactShare  = 0.02
	costShare   = 0.04
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
// distance, laplacian, polynomials, and additive ones where no number is negative; the second of γ,
// scaling and learner around the best; the third is between the best and what model.Fit trains
// without being told anything, with as many features as the training has. With a budget,
// the number of features D is the largest whose predicted time and memory are within it.
//
// Where not even a training with few features gets done within the budget, the model is one of as
// many rows as there was time for, at least the winner of the last heat as it was trained
// there, and AutoReport.Short says so. It is an error only if the very first small training does
// not end within 110 % of the budget.
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
	if a.report.Rows == 0 {
		a.report.Rows = a.report.Facts.Rows
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
	won    *trained      // the winner of the last heat
	spent  time.Duration // on the last training of all rows
	ridges []Trial       // those of the last prediction for ridge, whose time is that of D alone
}

// trained is a model that is at hand, trained on some of the rows of the sample.
type trained struct {
	model  *model.Model
	report *model.Report
	config model.Config
	rows   int
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

// until is the time up to a share of the budget; 0 where there is no budget.
func (a *auto) until(end float64) time.Duration {
	return a.share(end - a.now().Sub(a.start).Seconds()/max(a.Budget.Seconds(), 1e-9))
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
	first, err := a.heat("kernels", kernels, firstFeatures, a.until(firstEnd), []int{1000, 4000})
	if errors.Is(err, errSpent) && a.ctx.Err() == nil && a.has(finalsEnd) {
		first, err = a.heat("kernels", kernels, leastFeatures, a.until(finalsEnd), []int{500})
	}
	if errors.Is(err, errSpent) && a.ctx.Err() == nil {
		return a.trainFirst(kernels[0])
	}
	if err != nil {
		return err
	}
	best := kernels[first.Winner]
	rivals := []candidate{best}
	for _, i := range first.Ranking() {
		// Others that were no worse within the noise.
		last, ok := first.Racers[i].Last()
		if i != first.Winner && ok && first.Racers[i].Dropped == "" && last.Gap <= laterBehind*last.Noise && len(rivals) < 3 {
			rivals = append(rivals, kernels[i])
		}
	}
	second := a.variations(rivals)
	if len(second) > 1 && a.has(secondEnd) {
		heat, err := a.heat("variations", second, secondFeatures, a.until(secondEnd), []int{1000, 4000, 16_000})
		switch {
		case err == nil:
			best = second[heat.Winner]
		case a.ctx.Err() != nil:
			return a.ctx.Err()
		}
	}
	if best, err = a.finals(best, kernels, first); err != nil {
		return err
	}
	a.explain()
	a.report.Config = best.Config
	a.exactCost()
	return a.ctx.Err()
}

// has says that there is time before a share of the budget is spent.
func (a *auto) has(end float64) bool {
	return a.Budget <= 0 || a.now().Sub(a.start).Seconds() < end*a.Budget.Seconds()
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

// heat races candidates, with so many features where it is for Auto to say.
func (a *auto) heat(what string, candidates []candidate, features int, budget time.Duration, rungs []int) (*RaceResult, error) {
	configs, names := make([]model.Config, len(candidates)), make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = Describe(c.Config)
		if configs[i] = c.Config; featured(c.Config) {
			configs[i].Features = cmp.Or(c.d, min(features, max(leastFeatures, a.sample.TrainRows())))
		}
	}
	r, err := Race(a.ctx, a.sample, configs, RaceOptions{
		Rungs: rungs, Budget: budget, Memory: a.Training.Memory, fair: what == "finalists", now: a.clock, trial: a.trial, names: names,
		Progress: func(name string, k, of, rows int) {
			a.say("%s, %s rows: %d of %d, %s", what, thousands(rows), k, of, name)
		},
	})
	if err != nil {
		return nil, err
	}
	r.Of = what
	a.report.Heats = append(a.report.Heats, r)
	if w := r.Racers[r.Winner].last; w != nil && (a.won == nil || w.rows >= a.won.rows) {
		a.won = w
	}
	return r, nil
}

// finals races the best candidate against what model.Fit would train if it were told nothing;
// against ridge in place of its learner, whose time is known best and allows the most features; and
// against the best of the kernels that get better with more features if it is none: they were at
// a disadvantage until now. They have as many features as the training on all rows would
// have, and are trained on as many rows as the sample has, so that what that takes is measured.
func (a *auto) finals(best candidate, kernels []candidate, first *RaceResult) (candidate, error) {
	finalists := []candidate{best}
	add := func(c candidate) {
		same := func(o candidate) bool { return Describe(o.Config) == Describe(c.Config) }
		if c.Check() == nil && !slices.ContainsFunc(finalists, same) {
			finalists = append(finalists, c)
		}
	}
	if c, ok := a.usual(); ok {
		add(c)
	}
	if unset(a.Config.Learner) && best.Learner != "kernel-svm" && best.Learner != "kernel-ridge" {
		c := best
		c.Learner, c.C = "ridge", 0
		add(c)
	}
	if !featured(best.Config) {
		for _, i := range first.Ranking() {
			if len(first.Racers[i].Runs) > 0 && featured(kernels[i].Config) {
				add(kernels[i])
				break
			}
		}
	}
	if len(finalists) < 2 {
		return best, a.ctx.Err()
	}
	// Those whose time is known best go first: what is left is for the others to use.
	slices.SortStableFunc(finalists, func(a, b candidate) int {
		return cmp.Compare(btoi(a.Learner != "ridge"), btoi(b.Learner != "ridge"))
	})
	rows := a.sample.TrainRows()
	var able []candidate
	for _, c := range finalists {
		if !a.has(finalsEnd) {
			break
		}
		if !featured(c.Config) {
			able = append(able, c)
			continue
		}
		cost, d, err := a.affordable(c.Config, c.Learner != "ridge")
		if a.ctx.Err() != nil {
			return best, a.ctx.Err()
		}
		if err != nil || d == 0 || cost == nil {
			continue // the race would say again that it cannot be trained, or takes too long
		}
		c.d = d
		if a.Budget > 0 && !cost.Plan.Fixed {
			room := useShare * min(a.until(finalsEnd), a.share(finalsShare)).Seconds() / float64(len(finalists)*a.sample.Folds)
			for _, c.d = range a.features() {
				_, mapping, solve := cost.model.seconds(rows, c.d)
				if c.d <= d && mapping+solve <= room {
					break
				}
			}
		}
		able = append(able, c)
	}
	at := slices.IndexFunc(able, func(c candidate) bool { return Describe(c.Config) == Describe(best.Config) })
	if len(able) == 0 || len(able) == 1 && at == 0 {
		return best, a.ctx.Err()
	}
	before := a.report.Heats[len(a.report.Heats)-1]
	heat, err := a.heat("finalists", able, 0, min(a.until(finalsEnd), a.share(finalsShare)), []int{rows})
	if err != nil {
		return best, a.ctx.Err() // the best stays what it is
	}
	if at < 0 || len(heat.Racers[at].Runs) == 0 {
		// All are judged by the same rows.
		was, _ := meanError(before.Racers[before.Winner].loss)
		if is, _ := meanError(heat.Racers[heat.Winner].loss); is >= was {
			a.why("%s was better on fewer rows than those that got done in the last race", Describe(best.Config))
			return best, nil
		}
	}
	if w := able[heat.Winner]; w.Learner == "ridge" && a.report.Facts.Task == "classify" {
		// Its squared error depends on how well rows far from any border are met.
		for i, r := range heat.Racers {
			if last, ok := r.Last(); ok && able[i].Learner != "ridge" && r.Dropped == "" && last.Gap <= last.Noise {
				a.why("ridge leads %s by no more than the noise, %s; a learner of margins is taken", r.Name, gapText(heat.Metric, last, heat.Racers[heat.Winner]))
				return able[i], nil
			}
		}
	}
	return able[heat.Winner], nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// usual is what model.Fit would train; ok is false if that is for what is given to say.
func (a *auto) usual() (candidate, bool) {
	if a.Config.Kernel != "" || a.Config.Map != "" {
		return candidate{}, false
	}
	c := a.Config
	c.Task, c.Kernel = a.report.Facts.Task, "rbf"
	if unset(c.Learner) {
		plan, err := a.plan(c, a.report.Facts.Rows)
		if err != nil {
			return candidate{}, false
		}
		c.Learner = plan.Config.Learner
	}
	return a.candidateOf(c)
}

// explain says what decided.
func (a *auto) explain() {
	for _, h := range a.report.Heats {
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
		heat := h.Of
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
	if !a.has(useShare) {
		return
	}
	a.say("an exact machine on few rows")
	// That it cannot be trained takes nothing away from what was chosen.
	a.report.Exact, _ = PredictExact(ctx, a.sample, a.report.Config, opt)
}
