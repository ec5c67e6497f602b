package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// RaceOptions say how candidates race. The zero value has no budget, so that its result depends
// on the sample alone.
type RaceOptions struct {
	// Rungs are the growing numbers of rows that candidates are trained on; nil means 1000, 4000,
	// 16,000 … up to all that the sample has to train on.
	Rungs []int

	// Budget is the time that a race may take; 0 means no bound. Near it fewer candidates go on, those
	// with the best scores, and at its end the race is decided by what is known.
	Budget time.Duration

	// Memory is how many bytes a training may hold; 0 means no bound.
	Memory int64

	// Progress, if not nil, is told before each training: the candidate's name, which of how many of
	// its rung it is, and on how many rows.
	Progress func(name string, candidate, candidates, rows int)

	fair  bool             // each candidate of a rung has no more time than its share of what is left
	names []string         // of the candidates; nil: by Describe
	now   func() time.Time // nil: the real clock
	trial func(ctx context.Context, s *Sample, fold, rows int, cfg model.Config) (outcome, error)
}

// outcome is what a training in a race gave: the losses of the held-out rows, what it took, and
// the model.
type outcome struct {
	loss   []float64
	took   Trial
	model  *model.Model
	report *model.Report
}

// RaceResult is what a race of candidates found.
type RaceResult struct {
	// Of says what raced, "" if that is for the caller to say.
	Of string `json:"of,omitempty"`

	// Metric is what scores are: "accuracy", "rmse", or "hamming" for labels of which a row may
	// have any number, the share of wrong ones.
	Metric string `json:"metric"`

	// Held is the number of rows that candidates were judged by, Folds how often each was trained.
	Held  int `json:"held_rows"`
	Folds int `json:"folds"`

	// Rungs are the numbers of rows that candidates were trained on.
	Rungs []int `json:"rungs"`

	// Racers are the candidates in the order given; Winner is the number of the best.
	Racers []Racer `json:"candidates"`
	Winner int     `json:"winner"`

	// Stopped says why the race ended before its last rung, "" if it did not.
	Stopped string `json:"stopped,omitempty"`

	Seconds float64 `json:"seconds"`
}

// Racer is a candidate and how it did.
type Racer struct {
	Name   string       `json:"name"`
	Config model.Config `json:"config"`

	// Runs are its trainings, one a rung.
	Runs []Run `json:"runs"`

	// Dropped says why it left the race, "" for those that were in it at the end.
	Dropped string `json:"dropped,omitempty"`

	loss []float64 // of the held-out rows on its last rung
	last *trained  // on it, without the rows of the first fold; the winner's alone is kept
}

// Run is a candidate on one rung.
type Run struct {
	Rows    int     `json:"rows"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`

	// Gap is by how much its mean loss on the held-out rows is above that of the best on this
	// rung, and Noise the standard error of that difference, which is one of pairs: both judged
	// by the same rows. The loss is the error of classes, the squared error of numbers.
	Gap   float64 `json:"gap"`
	Noise float64 `json:"noise"`

	trial Trial // what the training took, the mean of the folds
}

// Last is the racer's run on the most rows; ok is false if it has none.
func (r *Racer) Last() (run Run, ok bool) {
	if len(r.Runs) == 0 {
		return Run{}, false
	}
	return r.Runs[len(r.Runs)-1], true
}

// Ranking are the numbers of the candidates, the winner first: those trained on most rows
// before others, and of as many rows by the loss.
func (r *RaceResult) Ranking() []int {
	all := make([]int, len(r.Racers))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		x, okX := r.Racers[a].Last()
		y, okY := r.Racers[b].Last()
		switch {
		case (a == r.Winner) != (b == r.Winner):
			return map[bool]int{true: -1, false: 1}[a == r.Winner]
		case okX != okY:
			return map[bool]int{true: -1, false: 1}[okX]
		}
		return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Gap, y.Gap))
	})
	return all
}

// How far, in standard errors, a candidate has to be behind to be dropped: at once on the first
// rung, where a map that is better with more rows may still be behind; on later ones; and if it is
// in the worse half of those that are left.
const (
	firstBehind = 3
	laterBehind = 2
	halfBehind  = 1.5
)

// usualExponent is how the time of a training grows with its rows as long as nothing is known: D
// grows with them too, up to a bound.
const usualExponent = 1.5

// Race races candidates by successive halving (Jamieson and Talwalkar 2016): all are trained on
// few rows and judged by rows that none is trained on, and those that are left are trained on
// more, nested rows. A candidate is dropped where its loss is above the best one's by more than
// the noise of that difference, and is not about to catch up; by rank alone only where
// opt.Budget forces it.
//
// Each candidate has to be trainable; one that is not is dropped with its error, and if all are
// Race fails. Without a budget the result depends on sample and candidates alone.
func Race(ctx context.Context, s *Sample, candidates []model.Config, opt RaceOptions) (*RaceResult, error) {
	if len(candidates) == 0 {
		return nil, errors.New("a race takes one candidate at least")
	}
	r := &racing{RaceOptions: opt, sample: s, ctx: ctx}
	if r.trial == nil {
		r.trial = r.train
	}
	if r.now == nil {
		r.now = time.Now
		if r.Budget > 0 { // a training that is under way ends with the budget
			limited, cancel := context.WithTimeout(ctx, r.Budget)
			defer cancel()
			r.ctx = limited
		}
	}
	r.result = &RaceResult{Metric: map[string]string{"classify": "accuracy", "multilabel": "hamming"}[s.Task], Held: s.HeldRows(), Folds: s.Folds}
	if r.result.Metric == "" {
		r.result.Metric = "rmse"
	}
	for i, c := range candidates {
		c.Task = s.Task
		name := Describe(c)
		if opt.names != nil {
			name = opt.names[i]
		}
		r.result.Racers = append(r.result.Racers, Racer{Name: name, Config: c})
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

// racing is the state of a race.
type racing struct {
	RaceOptions
	ctx    context.Context
	sample *Sample
	result *RaceResult
	start  time.Time
}

// rungs are the numbers of rows, not more than there are.
func (r *racing) rungs() []int {
	most := r.sample.TrainRows()
	if len(r.Rungs) == 0 {
		var all []int
		for n := 1000; n < most; n *= 4 {
			all = append(all, n)
		}
		// A last rung that is hardly larger than the one before tells nothing new.
		if k := len(all); k > 0 && 2*all[k-1] > most {
			all = all[:k-1]
		}
		return append(all, most)
	}
	all := make([]int, len(r.Rungs))
	for i, n := range r.Rungs {
		all[i] = min(max(n, 1), most)
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// run goes from rung to rung.
func (r *racing) run(ctx context.Context) error {
	r.start = r.now()
	res := r.result
	alive := make([]int, len(res.Racers))
	for i := range alive {
		alive[i] = i
	}
	rungs := r.rungs()
	for i, rows := range rungs {
		if i > 0 {
			if len(alive) == 1 {
				res.Stopped = "one candidate was left"
				break
			}
			next := r.affordable(alive, rows)
			if len(next) < 2 {
				res.Stopped = fmt.Sprintf("the budget has no room for two candidates on %s rows", thousands(rows))
				break
			}
			alive = next
		}
		var done []int
		for k, c := range alive {
			if r.Progress != nil {
				r.Progress(res.Racers[c].Name, k+1, len(alive), rows)
			}
			err := r.within(&res.Racers[c], rows, len(alive)-k)
			switch {
			case err == nil:
				done = append(done, c)
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, errShare):
				res.Racers[c].Dropped = fmt.Sprintf("took more than its share of the time on %s rows", thousands(rows))
			case errors.Is(err, errSpent):
				res.Stopped = "the budget was spent"
			default:
				res.Racers[c].Dropped = strings.TrimPrefix(err.Error(), r.sample.source.Name()+": ")
			}
		}
		if len(done) == 0 {
			break
		}
		res.Rungs = append(res.Rungs, rows)
		r.compare(done)
		if res.Stopped != "" {
			// Those that were not reached are known from fewer rows only.
			for _, c := range alive {
				if !slices.Contains(done, c) && res.Racers[c].Dropped == "" {
					res.Racers[c].Dropped = fmt.Sprintf("no time was left for it on %s rows", thousands(rows))
				}
			}
			alive = done
			break
		}
		if alive = done; i < len(rungs)-1 {
			alive = r.drop(done)
		}
	}
	res.Seconds = r.now().Sub(r.start).Seconds()
	return r.decide(alive)
}

var errSpent = errors.New("the budget is spent")

var errShare = errors.New("the candidate's share of the budget is spent")

// within is attempt, in a fair race with no more time than the share of a candidate of so many
// that are left.
func (r *racing) within(c *Racer, rows, candidates int) error {
	if !r.fair || r.Budget <= 0 || candidates == 1 {
		return r.attempt(c, rows)
	}
	all := r.ctx
	limited, cancel := context.WithTimeout(all, (r.Budget-r.now().Sub(r.start))/time.Duration(candidates))
	defer cancel()
	r.ctx = limited
	err := r.attempt(c, rows)
	r.ctx = all
	if errors.Is(err, errSpent) && all.Err() == nil {
		return errShare
	}
	return err
}

// attempt trains and judges a candidate on every fold.
func (r *racing) attempt(c *Racer, rows int) error {
	start := r.now()
	var all []float64
	var took Trial
	var first *trained
	for fold := range r.sample.Folds {
		if r.Budget > 0 && r.now().Sub(r.start) >= r.Budget {
			return errSpent
		}
		out, err := r.trial(r.ctx, r.sample, fold, rows, c.Config)
		if err != nil {
			if r.ctx.Err() != nil {
				return errSpent
			}
			return err
		}
		all = append(all, out.loss...)
		if fold == 0 {
			first = &trained{out.model, out.report, c.Config, rows}
		}
		t, folds := out.took, float64(r.sample.Folds)
		took = Trial{Rows: rows, Features: t.Features, Read: took.Read + t.Read/folds, Map: took.Map + t.Map/folds, Solve: took.Solve + t.Solve/folds}
	}
	mean, _ := meanError(all)
	if r.sample.Task == "classify" {
		mean = 1 - mean
	} else if r.sample.Task == "regress" {
		mean = math.Sqrt(mean)
	}
	c.loss, c.last = all, first
	c.Runs = append(c.Runs, Run{Rows: rows, Score: mean, Seconds: r.now().Sub(start).Seconds(), trial: took})
	return nil
}

// train trains a candidate and judges it.
func (r *racing) train(ctx context.Context, s *Sample, fold, rows int, cfg model.Config) (outcome, error) {
	m, report, err := model.Fit(ctx, s.Train(fold, rows), cfg, model.Options{Memory: r.Memory})
	if err != nil {
		return outcome{}, err
	}
	_, d := m.Mapping().Dims()
	loss, err := losses(ctx, m, s.Held(fold))
	return outcome{loss, Trial{Rows: rows, Features: d, Read: report.Read, Map: report.Map, Solve: report.Solve}, m, report}, err
}

// compare fills in how far the candidates of a rung are behind its best, and sorts them, best
// first.
func (r *racing) compare(done []int) {
	racers := r.result.Racers
	mean := func(c int) float64 { m, _ := meanError(racers[c].loss); return m }
	slices.SortStableFunc(done, func(a, b int) int { return cmp.Compare(mean(a), mean(b)) })
	best := racers[done[0]].loss
	for _, c := range done {
		d := make([]float64, len(best))
		for i, v := range racers[c].loss {
			d[i] = v - best[i]
		}
		last := &racers[c].Runs[len(racers[c].Runs)-1]
		if of := r.sample.clusters; of == nil {
			last.Gap, last.Noise = meanError(d)
		} else {
			last.Gap, last.Noise = clusterError(d, of)
		}
	}
}

// drop drops candidates that are behind for good; done is sorted, best first. It returns those
// that are left.
func (r *racing) drop(done []int) (left []int) {
	racers := r.result.Racers
	for rank, c := range done {
		runs := racers[c].Runs
		last := runs[len(runs)-1]
		needed := float64(laterBehind)
		switch {
		case len(runs) == 1:
			needed = firstBehind
		case rank >= (len(done)+1)/2:
			needed = halfBehind
		}
		behind := last.Gap > needed*last.Noise && rank > 0
		if len(runs) > 1 {
			// Where the gap, narrowing as it did, is closed on the next rung, the candidate stays.
			before := runs[len(runs)-2]
			behind = behind && 2*last.Gap-before.Gap > last.Noise
		}
		if !behind {
			left = append(left, c)
			continue
		}
		racers[c].last = nil
		racers[c].Dropped = "behind " + racers[done[0]].Name + " by " + gapText(r.result.Metric, last, racers[done[0]])
	}
	return left
}

// gapText is a gap with its noise, in words.
func gapText(metric string, run Run, best Racer) string {
	if metric != "rmse" {
		return fmt.Sprintf("%s ± %s points on %s rows", twoDigits(100*run.Gap), twoDigits(100*run.Noise), thousands(run.Rows))
	}
	loss, _ := meanError(best.loss)
	if loss == 0 {
		return fmt.Sprintf("a squared error of %.2g ± %.1g on %s rows", run.Gap, run.Noise, thousands(run.Rows))
	}
	gap, noise := 100*run.Gap/loss, 100*run.Noise/loss
	return fmt.Sprintf("%s ± %s %% of its squared error on %s rows", twoDigits(gap), twoDigits(noise), thousands(run.Rows))
}

// twoDigits is a number with two digits before rounding to a whole one.
func twoDigits(v float64) string {
	if v >= 9.95 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// affordable are as many of the candidates, best first, as there is time to train on that many
// rows. The others are dropped.
func (r *racing) affordable(alive []int, rows int) []int {
	if r.Budget <= 0 {
		return alive
	}
	left := (r.Budget - r.now().Sub(r.start)).Seconds()
	for k, c := range alive {
		racer := &r.result.Racers[c]
		left -= racer.predicted(rows)
		if left >= 0 {
			continue
		}
		if k < 2 {
			return nil
		}
		for _, c := range alive[k:] {
			last := r.result.Racers[c].Runs[len(r.result.Racers[c].Runs)-1]
			r.result.Racers[c].Dropped = fmt.Sprintf("the budget has room for %d candidates on %s rows, and it is behind %s by %s", k, thousands(rows), r.result.Racers[alive[0]].Name, gapText(r.result.Metric, last, r.result.Racers[alive[0]]))
		}
		return alive[:k]
	}
	return alive
}

// predicted is how many seconds the candidate's next run is to take.
func (r *Racer) predicted(rows int) float64 {
	last := r.Runs[len(r.Runs)-1]
	p := usualExponent
	if len(r.Runs) > 1 {
		before := r.Runs[len(r.Runs)-2]
		p = math.Log(last.Seconds/before.Seconds) / math.Log(float64(last.Rows)/float64(before.Rows))
		p = min(max(p, 1), 3)
	}
	return last.Seconds * math.Pow(float64(rows)/float64(last.Rows), p)
}

// decide names the winner: of those that were left, the one with the least loss on most rows.
func (r *racing) decide(alive []int) error {
	res := r.result
	best := -1
	for _, c := range alive {
		if len(res.Racers[c].Runs) == 0 {
			continue
		}
		if best < 0 || res.Racers[c].better(&res.Racers[best]) {
			best = c
		}
	}
	if best >= 0 {
		res.Winner = best
		for c := range res.Racers {
			if c != best {
				res.Racers[c].last = nil
			}
		}
		for _, c := range alive {
			if c == best || res.Racers[c].Dropped != "" {
				continue
			}
			if last, ok := res.Racers[c].Last(); !ok {
				res.Racers[c].Dropped = "no time was left to train it"
			} else if b, _ := res.Racers[best].Last(); last.Rows < b.Rows {
				res.Racers[c].Dropped = fmt.Sprintf("no time was left for it on %s rows", thousands(b.Rows))
			}
		}
		return nil
	}
	if res.Stopped != "" {
		return fmt.Errorf("%s: %w: no candidate was trained within %s; give a larger budget", r.sample.source.Name(), errSpent, r.Budget)
	}
	return fmt.Errorf("%s: no candidate can be trained: %s", r.sample.source.Name(), res.Racers[0].Dropped)
}

// better says that a candidate has been trained on more rows than another, or on as many and
// with less loss.
func (r *Racer) better(than *Racer) bool {
	a, b := r.Runs[len(r.Runs)-1], than.Runs[len(than.Runs)-1]
	if a.Rows != b.Rows {
		return a.Rows > b.Rows
	}
	la, _ := meanError(r.loss)
	lb, _ := meanError(than.loss)
	return la < lb
}

// meanError is the mean of numbers and its standard error.
func meanError(v []float64) (mean, se float64) {
	for _, x := range v {
		mean += x
	}
	n := float64(len(v))
	mean /= n
	if n < 2 {
		return mean, 0
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// Describe is a configuration in a few words, to tell candidates apart: kernel, its parameters,
// learner and what else is not automatic.
func Describe(c model.Config) string {
	parts := []string{cmp.Or(c.Kernel, "rbf")}
	add := func(format string, v any) { parts = append(parts, fmt.Sprintf(format, v)) }
	if c.Degree != 0 {
		add("%d", c.Degree)
	}
	if c.Gamma != "" && c.Gamma != "median" {
		add("γ %s", c.Gamma)
	}
	if c.Sigma != 0 {
		add("σ %g", c.Sigma)
	}
	if c.Map != "" {
		add("%s", c.Map)
	}
	if c.Features != 0 {
		add("D %d", c.Features)
	}
	if c.Scale != "" && c.Scale != "auto" {
		add("%s", c.Scale)
	}
	if c.Learner != "" && c.Learner != "auto" {
		add("%s", c.Learner)
	}
	if c.C != 0 {
		add("C %g", c.C)
	}
	switch {
	case c.LambdaBy == "trace":
		add("λ trace*%g", c.Lambda)
	case c.Lambda != 0:
		add("λ %g", c.Lambda)
	}
	return strings.Join(parts, " ")
}

// losses are those of the rows of src, in its order: 0 or 1 for classes, the share of wrong
// labels for sets of them, the squared error summed over the outputs for numbers.
func losses(ctx context.Context, m *model.Model, src dataset.Source) ([]float64, error) {
	r, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var classes *dataset.Classes
	if m.Classes() != nil {
		classes = dataset.NewClasses(m.Classes())
	}
	sets := m.LabelSets()
	var out []float64
	var scores matrix.Dense
	has := make([]bool, m.Outputs())
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		scores.Reshape(b.X.Len(), m.Outputs())
		if err := m.Scores(&scores, b.X); err != nil {
			return nil, model.Located(err, src, b.First)
		}
		for i := range b.X.Len() {
			row, loss := scores.Row(i), 0.0
			switch {
			case classes != nil:
				if classes.Of(b, i) != m.Class(row) {
					loss = 1
				}
			case sets != nil:
				unknown, err := sets.Of(b, i, has)
				if err != nil {
					return nil, err
				}
				loss = float64(len(unknown))
				for t, v := range row {
					if has[t] != (v > 0) {
						loss++
					}
				}
				loss /= float64(len(row) + len(unknown))
			default:
				for t, v := range row {
					e := b.Y[i*b.Outputs+t] - float64(v)
					loss += e * e
				}
			}
			out = append(out, loss)
		}
	}
}
