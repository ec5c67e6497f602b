package search

import (
	"context"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/model"
	"mercer/train"
)

// AutoOptions say how Auto chooses. The zero value has no budget, so that the model depends on
// data and Config alone.
type AutoOptions struct {
	// Config holds the given settings: its nonzero fields apply to all contenders.
	Config train.Config

	// Budget is the time that choosing and training may take; 0 means no limit.
	Budget time.Duration

	// Training is passed on to trainings. Its Memory also limits the choice, and its Surveyed is
	// called for all rows, before the first training.
	Training train.Options

	// Progress, if not nil, is called now and then with a description of the current step.
	Progress func(what string)

	lab
	trial      tryout // of races
	predictFit fitter // of predictions
}

// AutoReport says what Auto tried and why it chose what it did.
type AutoReport struct {
	// Facts describe the data.
	Facts Facts `json:"facts"`

	// Heats are the races: of kernels, of variations of the best, and of finalists with
	// as many features as the training has.
	Heats []*RaceResult `json:"heats"`

	// Config is the configuration that was trained: train.Fit with it gives the same model.
	// Why gives the reasons for the choice.
	Config train.Config `json:"config"`
	Why    []string     `json:"why"`

	// Rows is the number of rows that the model was trained on. If it is less than all rows,
	// because the budget had no time for more, Short says so, and Wanted is a sufficient budget in
	// seconds.
	Rows   int     `json:"trained_rows"`
	Short  string  `json:"short,omitempty"`
	Wanted float64 `json:"wanted_budget_seconds,omitempty"`

	// Cost is the predicted cost of the training, nil without a budget.
	Cost *Prediction `json:"cost,omitempty"`

	// Exact is the predicted cost of a support vector machine with the kernel itself, nil if
	// none could be trained.
	Exact *ExactPrediction `json:"exact,omitempty"`

	// Seconds is the time spent choosing, and Total includes the training.
	Seconds float64 `json:"seconds"`
	Total   float64 `json:"total_seconds"`
}

// The shares of the budget by which the three heats end, and those that may go into the
// last of them, into the extrapolation of an exact machine and into predicting the cost of a
// training. The rest, and what the heats leave, is for the training; time that the training is not
// expected to need may be used by the heats.
const (
	firstEnd    = 0.18
	secondEnd   = 0.3
	finalsEnd   = 0.5
	finalsShare = 0.2
	exactShare  = 0.02
	costShare   = 0.04
)

// Auto chooses a configuration by racing contenders on growing samples of the rows, and trains it on all
// of them. It first surveys the data: what to predict, how many rows, whether they are histograms. The
// first heat is over kernels: linear, rbf with γ at, above and below that of the median distance,
// laplacian, polynomials, and additive ones if no number is negative. The second is over γ, scaling and
// learner around the best. The third is between the best and what train.Fit trains by default, with as
// many features as the training has. With a budget, the number of features D is the largest whose
// predicted time and memory fit.
//
// If not even a training with few features fits in the budget, the model is trained on as
// many rows as there is time for; it is at least the winner of the last heat as trained
// there, and AutoReport.Short says so. It is an error only if the very first small training does
// not finish within 110 % of the budget.
//
// Memory: the sample, at most 512 MiB, and that of the trainings.
func Auto(ctx context.Context, src dataset.Source, opt AutoOptions) (*model.Model, *train.Report, *AutoReport, error) {
	a := &auto{AutoOptions: opt, ctx: ctx, src: src, report: &AutoReport{}}
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
	start  time.Time
	sample *Sample
	lent   time.Duration // to the heats from the training's part of the budget
	won    *trained      // the winner of the last heat
	spent  time.Duration // on the last training of all rows
	ridges []Timing      // those of the last prediction for ridge, whose time depends on D alone
}

func (a *auto) say(format string, args ...any) {
	if a.Progress != nil {
		a.Progress(fmt.Sprintf(format, args...))
	}
}

func (a *auto) why(format string, args ...any) {
	a.report.Why = append(a.report.Why, fmt.Sprintf(format, args...))
}

// left is the remaining part of the budget.
func (a *auto) left() time.Duration { return a.Budget - a.now().Sub(a.start) }

// share is a share of the budget, or what is left of it if that is less; 0 without a budget.
func (a *auto) share(of float64) time.Duration {
	if a.Budget <= 0 {
		return 0
	}
	return max(min(time.Duration(of*float64(a.Budget)), a.left()), 1)
}

// until is the time by which a share of the budget is spent, extended by what was lent; 0 without a budget.
func (a *auto) until(end float64) time.Duration {
	return a.share(end - (a.now().Sub(a.start)-a.lent).Seconds()/max(a.Budget.Seconds(), 1e-9))
}

// limited is a context that ends when a share of the budget, times a factor, is over; that of the choice if there is no budget.
func (a *auto) limited(limit time.Duration) (context.Context, context.CancelFunc) {
	if a.Budget <= 0 || a.clock != nil {
		return a.ctx, func() {}
	}
	return context.WithTimeout(a.ctx, limit)
}

// explain lists the reasons for the choice.
func (a *auto) explain() {
	for _, h := range a.report.Heats {
		order := h.Ranking()
		w, next := &h.Racers[order[0]], &h.Racers[order[min(1, len(order)-1)]]
		last, ok := w.Last()
		behind, found := next.Last()
		switch {
		case !ok:
		case found && next != w:
			a.why("of %d %s %s was the best on %s rows; the next, %s, was behind by %s", len(h.Racers), h.Of, w.Name, units.Count(last.Rows),
				next.Name, h.gapText(behind, w))
		case h.Stopped != "":
			a.why("of the %s %s was the only one that there was time for", h.Of, w.Name)
		default:
			a.why("of the %s %s was the only one that could be trained", h.Of, w.Name)
		}
	}
}

// exactCost extrapolates the cost of an exact machine.
func (a *auto) exactCost() {
	if !a.has(useShare) {
		return
	}
	opt, share := PredictOptions{Memory: a.Training.Memory}, a.share(exactShare)
	if a.Budget > 0 {
		opt.Seconds = min(3, share.Seconds())
	}
	ctx, cancel := a.limited(2 * share)
	defer cancel()
	a.say("an exact machine on few rows")
	// If it cannot be trained, the choice stands.
	a.report.Exact, _ = predictExact(ctx, a.sample, a.report.Config, opt)
}
