package search

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"os"
	"slices"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/matrix"
	"mercer/train"
)

// TuneOptions say how to search a space. The zero value judges every point of the grid by
// five-fold cross-validation and picks the best.
type TuneOptions struct {
	// Folds say how the rows are divided.
	Folds Folds

	// Times, if not nil, are those of the rows of the source. Folds of the kind time, which is the default then, are in
	// their order instead of the rows', with the rows of one time in one part.
	Times []float64

	// Metric judges; "" means accuracy for classes, rmse for numbers, micro_f1 for multiple labels per
	// row.
	Metric string

	// Pick is "best" (or ""), or "one-se": the simplest configuration whose mean is within one
	// standard error of the best one's.
	Pick string

	// Search is "grid" (or ""), "random", which draws Trials points, or "halving", which races
	// the points of the grid, or Trials of them, on growing samples of the rows (see Race) and
	// judges only the best quarter on all rows. In the race learners choose λ and C themselves, so
	// points that differ in nothing else race as one. Samples keep groups whole; with an order
	// of time they are the rows that precede a fold. In both of these cases each λ and C races, because learners
	// choose on random rows.
	Search string
	Trials int

	// Seed draws the points of a random search; 0 means 1.
	Seed uint64

	// Strict fits scaling, γ, the map and principal components separately on the training rows of each
	// fold. Otherwise they are fitted once, on all rows without their labels.
	Strict bool

	// Alone trains every configuration on every fold separately and shares nothing. It is the baseline
	// for the gain from sharing.
	Alone bool

	// Memory is the number of bytes that the search may hold; 0 means no limit.
	Memory int64

	// Journal is a file that records finished work, so that a killed search can resume from
	// it; "" means none. The file is kept, unless no configuration could be trained.
	Journal string

	// Progress, if not nil, is called with the number of finished trainings of a stage and their total. Stages are "tune"
	// and, before that, "race on" a number of rows. While rows are mapped for some trainings it is called
	// with the share of "map" that is done.
	Progress func(stage string, done, all float64)

	// Forecast, if not nil, is called before candidates are judged on all rows with what to expect,
	// estimated by small trainings of each learner, if that is ForecastFrom seconds or more.
	Forecast     func(Forecast)
	ForecastFrom float64

	// Surveyed, if not nil, is called after the survey and before anything is judged, with the schema by which
	// the rows to be predicted are read. Its error ends the search.
	Surveyed func(dataset.Schema) error

	// Note, if not nil, is called with remarks while the search is running.
	Note func(text string)
}

// Tune judges the configurations of a space by cross-validation on the rows of src and picks one,
// which train.Fit can then train on all of them.
//
// Work that configurations have in common is done once. Rows are scaled and mapped once for each
// scaling and map. Ridge regressions share the statistics of each fold (moments.Stats), and the
// statistics of all rows except a fold are a difference, so that each λ costs one Cholesky
// factorisation per fold. Support vector machines, support vector regressions and logistic regressions
// share the features, and each C starts from the last. All other learners, and these if an
// option needs more (calibration, an L1 penalty, λ or C chosen by the learner itself), are trained
// by train.Fit for each fold.
//
// Memory for K folds and L values of λ, D features and n rows: for ridge 8·D²·(K + 3) + 4·L·K·D·outputs bytes;
// for the features 4·n·D bytes if TuneOptions.Memory has room for them, otherwise they are in a temporary file,
// or for ridge alone computed twice; 2·n bytes for each repeat of the folds.
func Tune(ctx context.Context, src dataset.Source, space Space, opt TuneOptions) (*TuneResult, error) {
	s := &tuning{ctx: ctx, src: src, opt: opt}
	if err := s.check(space); err != nil {
		return nil, err
	}
	if err := s.look(space); err != nil {
		return nil, err
	}
	if err := s.choose(space); err != nil {
		return nil, err
	}
	if err := s.openJournal(); err != nil {
		return nil, err
	}
	defer s.journal.file.Close()
	if err := s.race(); err != nil {
		return nil, err
	}
	if s.forecast(); s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	if err := s.judgeAll(); err != nil {
		return nil, err
	}
	r, err := s.finish()
	if err != nil && s.opt.Journal != "" {
		_ = os.Remove(s.opt.Journal) // it holds nothing but failures
	}
	return r, err
}

// tuning is the state of a search.
type tuning struct {
	ctx context.Context
	src dataset.Source
	opt TuneOptions

	base       *train.Prepared // by the space's base
	metric     metric
	division   *division
	rows       rowsInfo // cleared once the race has drawn some
	data       uint64   // a hash of the rows
	candidates []*Candidate
	running    []*Candidate // judged on all rows
	journal    *searchJournal
	result     *TuneResult

	done, all float64 // trainings
}

// check checks the options.
func (s *tuning) check(space Space) error {
	o := &s.opt
	for _, v := range []struct {
		name  string
		value *string
		known []string
	}{
		{"search", &o.Search, []string{"grid", "random", "halving"}},
		{"pick", &o.Pick, []string{"best", "one-se"}},
	} {
		if *v.value == "" {
			*v.value = v.known[0]
		}
		if !slices.Contains(v.known, *v.value) {
			return fmt.Errorf("%s %q is not known; known are %v", v.name, *v.value, v.known)
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	switch {
	case o.Trials < 0:
		return fmt.Errorf("%d trials: give 1 or more", o.Trials)
	case o.Search == "random" && o.Trials == 0:
		o.Trials = 20
	case o.Search == "grid" && o.Trials != 0:
		return fmt.Errorf("a grid has as many points as its values make; %d trials are for the search random or halving", o.Trials)
	case o.Memory < 0:
		return fmt.Errorf("memory of %d bytes: give 1 or more", o.Memory)
	case space.Base.Bag != nil:
		return errors.New("a search works on rows, not on bags; give it the rows of the bags (pipeline.Bags.Source)")
	}
	if task := space.Base.Task; task == "outliers" {
		return option.Errorf("outliers have no labels to judge a configuration by; train with %s one-class", option.Ref("learner"))
	}
	for i, a := range space.Axes {
		if len(a.Values) == 0 {
			return fmt.Errorf("the setting %s has no values", a.Name)
		}
		if axisNamed(space.Axes[:i], a.Name) >= 0 {
			return fmt.Errorf("the setting %s is there twice", a.Name)
		}
		for _, v := range a.Values {
			if err := set(new(train.Config), a.Name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose lists the configurations.
func (s *tuning) choose(space Space) error {
	usual, table := s.base.Default(space.Base)
	table = table && len(space.Axes) == 0
	space = space.withDefaults(s.base.Learner(), s.base.Info().Task)
	if table { // what train would take, beside the features that are searched
		space.Axes = append(space.Axes, Axis{Name: "learner", Values: []string{space.Base.LearnerName(), usual.LearnerName()}})
	}
	var c *combinations
	var err error
	if s.opt.Trials > 0 {
		c, err = space.random(s.opt.Trials, s.opt.Seed)
	} else {
		c, err = space.grid()
	}
	if err != nil {
		return err
	}
	s.candidates, s.running = c.trials, c.trials
	s.result.Wrong = c.wrong
	if c.wrong > 0 {
		s.result.Why = c.why.Error()
	}
	if s.opt.Search == "random" && len(c.trials) < s.opt.Trials {
		s.warn(fmt.Sprintf("the space has no more than %d different points, %d were asked for", len(c.trials), s.opt.Trials))
	}
	for _, t := range s.candidates {
		if t.Scores = nil; t.Config.Kernel.Name == "" && !t.Config.Traits().ChoosesKernels() {
			t.Config.Kernel.Name = t.Config.KernelName()
		}
	}
	return nil
}

func (s *tuning) warn(text string) {
	s.result.Warnings = append(s.result.Warnings, text)
	if s.opt.Note != nil {
		s.opt.Note(text)
	}
}

// fingerprint identifies what a journal belongs to: the rows, the configurations and how they are
// judged.
func (s *tuning) fingerprint() (string, error) {
	text, err := json.Marshal(struct {
		Rows       int
		Data       uint64
		Candidates []*Candidate
		Metric     string
		Folds      Folds
		Search     string
		Strict     bool
		Alone      bool
		Division   string
	}{s.result.Rows, s.data, s.candidates, s.metric.Name, s.opt.Folds, s.opt.Search, s.opt.Strict, s.opt.Alone, s.division.Kind})
	return string(text), err
}

// look surveys the data and divides the rows: one pass for the survey, one for the class and group of each
// row and a hash of all.
func (s *tuning) look(space Space) error {
	base, err := space.first()
	if err != nil {
		return err
	}
	base.Map.GroupWeights = "" // which are chosen in each fold
	if s.base, err = train.Prepare(s.ctx, s.src, base, train.Options{Memory: s.opt.Memory}); err != nil {
		return err
	}
	info := s.base.Info()
	if s.opt.Surveyed != nil {
		if err := s.opt.Surveyed(info.Schema); err != nil {
			return err
		}
	}
	s.result = &TuneResult{Task: info.Task, Rows: s.base.Summary().Rows}
	if s.metric, err = metricOf(s.opt.Metric, info.Task); err != nil {
		return err
	}
	s.result.Metric, s.result.Larger = s.metric.Name, s.metric.LargerIsBetter
	rows, err := s.lookAtRows()
	if err != nil {
		return err
	}
	if s.division, err = s.opt.Folds.divide(rows); err != nil {
		return fmt.Errorf("%s: %w", s.src.Name(), err)
	}
	if s.opt.Search == "halving" {
		s.rows = rows
	}
	s.opt.Folds.Kind = s.division.Kind
	s.result.Folds, s.result.Splits = s.opt.Folds, len(s.division.Splits)
	s.result.Timed = s.opt.Times != nil && s.division.Kind == "time"
	for _, w := range s.division.Warnings {
		s.warn(w)
	}
	return nil
}

// lookAtRows finds the class and the group of each row, and hashes them all.
func (s *tuning) lookAtRows() (rowsInfo, error) {
	info := rowsInfo{classes: s.base.Info().Classes, times: s.opt.Times}
	var classes *dataset.Classes
	if info.classes != nil {
		classes = dataset.NewClasses(info.classes)
	}
	groups := map[string]int32{}
	h := &rowHash{table: crc64.MakeTable(crc64.ECMA)}
	for b, err := range dataset.Each(s.ctx, s.src) {
		if err != nil {
			return info, err
		}
		for i := range b.X.Len() {
			if classes != nil {
				info.class = append(info.class, int32(classes.Of(b.Batch, i)))
			}
			h.row(b.Batch, i)
		}
		for _, key := range dataset.Groups(b.Pass) {
			if _, seen := groups[key]; !seen {
				groups[key] = int32(len(groups))
			}
			info.group = append(info.group, groups[key])
		}
		info.n += b.X.Len()
	}
	info.groups = len(groups)
	s.data = h.sum
	if info.n != s.base.Summary().Rows || info.group != nil && len(info.group) != info.n {
		return info, fmt.Errorf("%s: %d rows when they were read first and %d now; the data changed", s.src.Name(),
			s.base.Summary().Rows, info.n)
	}
	if info.times != nil && len(info.times) != info.n {
		return info, fmt.Errorf("%s: %d times for %d rows", s.src.Name(), len(info.times), info.n)
	}
	return info, nil
}

// rowHash is a hash of rows that does not depend on how they are batched.
type rowHash struct {
	table *crc64.Table
	sum   uint64
	bytes []byte
}

func (h *rowHash) row(b *matrix.Batch, i int) {
	h.bytes = h.bytes[:0]
	put := func(list any) { h.bytes, _ = binary.Append(h.bytes, binary.LittleEndian, list) }
	if b.X.CSR != nil {
		idx, val := b.X.CSR.Row(i)
		put(idx)
		put(val)
	} else {
		put(b.X.Dense.Row(i))
	}
	put(b.Y[i*b.Outputs : (i+1)*b.Outputs])
	if b.Weights != nil {
		put(b.Weights[i])
	}
	if b.Names != nil {
		h.bytes = append(h.bytes, b.Names[i]...)
	}
	h.bytes = append(h.bytes, '\n')
	h.sum = crc64.Update(h.sum, h.table, h.bytes)
}
