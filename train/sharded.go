package train

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/rfm"
	"mercer/model"
)

// Sharded is a training whose rows are read in pieces, by several processes: of a learner that needs nothing of them but
// sums. Each process makes the same one from the survey of all rows, so that all map rows alike. There are learners that take
// statistics in one pass (Collect, Fit), others that take many passes (Passes, Pass, Advance, Passed), and one with leaves that grow apart (Apart).
type Sharded struct {
	f      *job
	passes passes   // nil: none
	top    *rfm.Top // nil: no leaves, or not settled yet

	means    *dataset.MeanSource // nil: no column has mean targets, or it is not settled yet
	meansWhy string
}

// CheckSharded checks a configuration for a training in pieces, and returns it with its learner, or without one where the survey of the rows is to
// decide, as for a training in one place.
func CheckSharded(cfg Config) (Config, error) {
	if cfg.open() {
		for _, l := range []Learner{RFM{}, Ridge{}} {
			c := cfg
			c.SetLearner(l.learner())
			if _, err := CheckSharded(c); err != nil {
				return cfg, err
			}
		}
		return cfg, nil
	}
	if cfg.automatic() {
		name := ridgeLearner.name
		if ridgeLearner.lacks(&cfg) != "" && svmLearner.lacks(&cfg) == "" {
			name = svmLearner.name
		}
		cfg.SetLearner(name)
	}
	if err := cfg.Check(); err != nil {
		return cfg, err
	}
	c, err := cfg.withDefaults()
	if err != nil {
		return cfg, err
	}
	l := c.Traits()
	ridge := As[Ridge](c.Learner)
	switch {
	case l.shared != nil && l.shared(&c) == "":
		return cfg, option.Errorf("in pieces the learner %s is trained in the primal, with the penalty l2 and a smooth loss, each class against the rest or "+
			"multinomial; leave out %s, %s, %s and %s, or take others", l.name, option.Ref("penalty"), option.Ref("solver"), option.Ref("loss"),
			option.Ref("multiclass"))
	case l.shared != nil && As[SVM](c.Learner).C == 0:
		return cfg, option.Errorf("C is chosen on rows in memory, which a training in pieces does not have; give %s, such as the one that a training on a "+
			"sample of the rows chooses", option.Ref("c"))
	case l.passes != nil && c.reduces():
		return cfg, option.Errorf("the learner %s in pieces takes no principal components", l.name)
	case l.parts == nil && l.passes == nil && !l.apart:
		var can []string
		for _, other := range learners() {
			if other.parts != nil || other.passes != nil || other.apart {
				can = append(can, other.name)
			}
		}
		return cfg, option.Errorf("the learner %s needs its rows in one place, which a training in pieces does not have; take %s", l.name,
			option.Set("learner", strings.Join(can, " or ")))
	case c.Bag != nil:
		return cfg, errors.New("bags are not trained in pieces; make rows of them first (transform)")
	case c.Metric.Form != "" && c.Metric.Form != "none" && !l.apart:
		return cfg, errors.New("a metric is learned in passes of its own, which a training in pieces does not have; leave metric out")
	case c.Map.Given != nil:
		return cfg, errors.New("landmarks of a file are not in the manifest of a training in pieces; take those of its own rows")
	case ridge.Conformal != 0:
		return cfg, errors.New("intervals take one more pass, over rows held back, which a training in pieces does not have; ask for the variance")
	case c.Threshold != "":
		return cfg, errors.New("a threshold takes rows that the learner has not seen, which a training in pieces does not have; give one to predict")
	case c.calibrates():
		return cfg, errors.New("probabilities take rows that the learner has not seen, in passes that a training in pieces does not have")
	case c.Reduce.MapComponents > 0:
		return cfg, errors.New("components of each map take all rows once more; ask for components of all features")
	case ridge.LambdaBy == "loo" || ridge.Path && ridge.LambdaBy == "":
		return cfg, errors.New("leaving rows out takes all of them once more; choose λ by evidence, folds or held-out rows")
	case c.surveyRows() > 0:
		return cfg, errors.New("survey_rows is for streams; the survey of pieces is of all rows")
	}
	if l.inPieces != nil {
		if err := l.inPieces(&c); err != nil {
			return cfg, err
		}
	}
	if l.sharded != nil {
		l.sharded(&cfg)
	}
	return cfg, nil
}

// SurveyOptions are those of the survey that a training of c begins with.
func (c Config) SurveyOptions() (dataset.SurveyOptions, error) {
	all, err := c.withDefaults()
	r := run{cfg: all, asked: c}
	o := r.surveyOptions()
	if l := all.Traits(); l != nil && l.sample != nil {
		o.Sample = max(o.Sample, l.sample(&all))
	}
	return o, err
}

// decided is the configuration with the learner that rows with such a survey get in pieces where none was asked for, and why: that of a training in one
// place with all the memory it wants, but no svm, whose C is chosen on rows in memory.
func (t *training) decided() (cfg Config, why string, err error) {
	cfg = t.asked
	if t.answers, err = t.findTask(); err != nil {
		return cfg, "", err
	}
	if t.cfg, t.lacking, err = t.chooseDefault(); err != nil {
		return cfg, "", err
	}
	name := t.cfg.LearnerName()
	switch {
	case !t.cfg.automatic():
		why = t.why["learner"]
	case t.classes != nil:
		name, why = ridgeLearner.name, fmt.Sprintf("as an %s in pieces wants a given C", svmLearner.name)+t.lacking
	default:
		name, why = ridgeLearner.name, "for numbers to predict"+t.lacking
	}
	cfg.SetLearner(name)
	cfg, err = CheckSharded(cfg)
	return cfg, why, err
}

// NewSharded goes on from the survey of all rows: it decides on the learner if there is none, and settles scaling, kernel and map. name is that of
// the data, and schema how they are read. cfg has passed CheckSharded.
func NewSharded(ctx context.Context, name string, schema dataset.Schema, sum *dataset.Summary, cfg Config, opt Options) (*Sharded, error) {
	if opt.Keep != nil || opt.Unlabelled != nil {
		return nil, errors.New("a training in pieces takes no unlabelled rows and keeps no statistics")
	}
	why := ""
	if cfg.automatic() {
		t, err := beginRows(ctx, unread{name, schema}, cfg, Options{})
		if err != nil {
			return nil, err
		}
		t.surveyed = t.run.surveyed(t.src, nil, sum)
		if cfg, why, err = t.decided(); err != nil {
			return nil, err
		}
	}
	t, err := beginRows(ctx, unread{name, schema}, cfg, opt)
	if err != nil {
		return nil, err
	}
	if why != "" {
		t.why["learner"] = why
	}
	t.surveyed = t.run.surveyed(t.src, nil, sum)
	if cfg.Apart() {
		t.opt.Memory = 0 // by which leaves would be divided otherwise
		err = t.take(ofPasses)
		return &Sharded{f: t.job}, err
	}
	if !cfg.Passes() {
		err = t.take(ofPieces)
		return &Sharded{f: t.job}, err
	}
	if err := t.take(ofPasses); err != nil {
		return nil, err
	}
	p, err := t.job.learner.passes(t.job, ctx)
	return &Sharded{f: t.job, passes: p}, err
}

// Config is the configuration with its learner.
func (s *Sharded) Config() Config { return s.f.asked }

// Why says why that learner was taken, "" if it was asked for.
func (s *Sharded) Why() string { return s.f.why["learner"] }

// goOn is the rest of the training.
func (s *Sharded) goOn(ctx context.Context) *training {
	f := *s.f
	f.ctx = ctx
	return &training{problem: f.problem, job: &f}
}

// Empty are the statistics of no rows, one for each part that rows are divided into.
func (s *Sharded) Empty() []*moments.Stats { return s.f.newParts(s.f.learner.parts(s.f)) }

// Collect passes over rows, of which first is the number of the first one, and returns their statistics.
func (s *Sharded) Collect(ctx context.Context, src dataset.Source, first int) ([]*moments.Stats, error) {
	f := *s.f
	f.ctx, f.src, f.report = ctx, src, &Report{}
	parts := s.Empty()
	return parts, f.collect(parts, first)
}

// Fit trains on the statistics of all rows, which it uses up.
func (s *Sharded) Fit(ctx context.Context, parts []*moments.Stats) (*model.Model, *Report, error) {
	start := time.Now()
	f := s.f
	rows := 0
	for _, p := range parts {
		rows += p.Rows()
	}
	if rows != f.sum.Rows {
		return nil, nil, fmt.Errorf("%s: the statistics are of %d rows, the survey of %d", f.src.Name(), rows, f.sum.Rows)
	}
	t := s.goOn(ctx)
	t.job.collected = parts
	return t.trained(start, t.take(ofSums))
}

// unread is the source of rows that other processes read.
type unread struct {
	name   string
	schema dataset.Schema
}

func (u unread) Name() string            { return u.name }
func (u unread) Schema() *dataset.Schema { return &u.schema }
func (u unread) Open(context.Context) (dataset.Reader, error) {
	return nil, fmt.Errorf("%s: is read in pieces; this asks for another pass over all rows", u.name)
}

// ShardedCost is what a training in pieces holds.
type ShardedCost struct {
	Features, Targets, Parts int

	// Sum is the number of bytes of the statistics in memory, File that of a file of them. Worker is what a worker holds beside
	// them and its rows, Solver what making the model takes beside them.
	Sum, File, Worker, Solver int64
}

// Cost says what the training holds.
func (s *Sharded) Cost() ShardedCost {
	f := s.f
	c := ShardedCost{Features: f.mapDim(), Targets: f.outputs, Parts: f.learner.parts(f)}
	d, p := int64(c.Features), int64(c.Parts)
	c.Sum = 8*p*d*d + 8*p*d*int64(c.Targets)
	c.File = 4*p*d*(d+1) + 8*p*d*int64(c.Targets)
	c.Worker = int64(f.pipelineMemory()) + 4096*p*d
	all, _ := f.learner.memory(f)
	c.Solver = max(0, int64(all+f.pipelineMemory())-c.Sum)
	return c
}

// Take takes the rows that were surveyed for so many, to try what these would take.
func (s *Sharded) Take(rows int) {
	sum := *s.f.sum
	sum.Rows = rows
	s.f.sum = &sum
}

// Fixed is a configuration that makes the same features from fewer rows.
func (s *Sharded) Fixed() Config {
	c := s.f.asked
	if m := s.f.pipe.Feature(); m != nil && !m.Decides() {
		c.Map.Features = s.f.mapDim()
	}
	if s.f.learner.resolve != nil {
		s.f.learner.resolve(s.f, &c)
	}
	return c
}
