package train

import (
	"context"

	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/model"
)

// sharing is what trainings of a learner on the same features have in common. They differ in at most one setting,
// over which there may be a path. A learner has parts, or a path, or neither.
type sharing struct {
	// setting is the one worth a search, by its JSON name: "lambda" or "c"; "" if there is none.
	setting string

	// able says whether a training of c for a task can share; nil means that none can.
	able func(c *Config, task string) bool

	// parts begins trainings on statistics of parts of the rows.
	parts func(parts []*moments.Stats) (PartsFit, error)

	// path trains for each value of the setting on kept features; cfg has all other settings. It
	// calls solved with each model, in order.
	path func(ctx context.Context, rows *PathRows, info *model.Info, cfg *Config, values []float64, solved func(i int, l *learn.Linear)) error
}

// PartsFit trains configurations on some parts of the rows, given by number. A configuration that could not be
// trained has an error in place of a model.
type PartsFit func(ctx context.Context, some []int, cfgs []Config) (models []*learn.Linear, errs []error)

// Setting is the setting that a search varies by default, by its JSON name: "lambda",
// "c", or "" for none.
func (l *Traits) Setting() string {
	if l == nil {
		return ""
	}
	return l.sharing.setting
}

// SharesStatistics says whether trainings share statistics of parts of the rows (FitParts), if they
// share anything.
func (l *Traits) SharesStatistics() bool { return l != nil && l.sharing.parts != nil }

// Shares says whether the training of c for a task can share statistics (FitParts) or features
// (Prepared.FitPath) with trainings of the same learner.
func (l *Traits) Shares(c *Config, task string) bool {
	if l == nil || l.sharing.able == nil || c.calibrates() || c.discriminates() || c.Map.GroupWeights != "" {
		return false
	}
	return l.sharing.able(c, task)
}

// FitParts begins trainings on statistics of parts of the rows, for a learner that shares them.
func (l *Traits) FitParts(parts []*moments.Stats) (PartsFit, error) { return l.sharing.parts(parts) }

// OffPath returns a configuration without the setting that its learner has a path over, and the value of
// that setting.
func (l *Traits) OffPath(c Config) (Config, float64) {
	setting := l.Setting()
	if setting == "" {
		return c, 0
	}
	value := c.Get(setting).(float64)
	if c.Set(setting, 0); setting == "lambda" {
		c.Set("lambda_by", "")
	}
	return c, value
}

// BeforeLearner returns a configuration with the learner's settings removed: configurations for which it is equal
// see the same features.
func (c Config) BeforeLearner() Config {
	c.Learner = Ridge{}
	if !c.discriminates() {
		c.Shrinkage = Shrinkage{}
	}
	if !c.pipeline().Mapped() && !c.machine() {
		c.Kernel.Gamma = ""
	}
	return c
}

// PathRows are rows with their features, for several trainings. A weight of 0 leaves a row out.
type PathRows struct {
	Z       learn.Features
	Class   []int     // from 0 on; nil: no classes
	Y       []float64 // row-major Len×Outputs
	Weights []float64
}

// FitPath trains configurations on the same features that differ only in their learner's setting, in
// the order of its values, each starting from the last if the solver can. It calls solved with each model.
func (p *Prepared) FitPath(ctx context.Context, rows *PathRows, cfgs []Config, solved func(i int, l *learn.Linear)) error {
	first, err := p.resolve(cfgs[0])
	if err != nil {
		return err
	}
	l := first.Traits()
	values := make([]float64, len(cfgs))
	for i, c := range cfgs {
		_, values[i] = l.OffPath(c)
	}
	return l.sharing.path(ctx, rows, &p.info, &first, values, solved)
}

// resolve fills in defaults from a configuration with the same task.
func (p *Prepared) resolve(cfg Config) (Config, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return cfg, err
	}
	if cfg.automatic() {
		cfg.SetLearner(p.f.learner.name)
	}
	task := cfg.Task
	cfg.Task = p.f.task
	if err = cfg.settleLearner(); err == nil {
		err = cfg.checkLearner()
	}
	cfg.Task = task
	return cfg, err
}
