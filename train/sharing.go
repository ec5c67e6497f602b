package train

import (
	"context"

	"mercer/learn"
	"mercer/model"
	"mercer/moments"
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
func (l *Learner) Setting() string {
	if l == nil {
		return ""
	}
	return l.sharing.setting
}

// SharesStatistics says whether trainings share statistics of parts of the rows (FitParts), if they
// share anything.
func (l *Learner) SharesStatistics() bool { return l != nil && l.sharing.parts != nil }

// Shares says whether the training of c for a task can share statistics (FitParts) or features
// (Prepared.FitPath) with trainings of the same learner.
func (l *Learner) Shares(c *Config, task string) bool {
	if l == nil || l.sharing.able == nil || c.calibrates() || c.discriminates() || c.Variance || c.Conformal != 0 || c.Path {
		return false
	}
	return l.sharing.able(c, task)
}

// FitParts begins trainings on statistics of parts of the rows, for a learner that shares them.
func (l *Learner) FitParts(parts []*moments.Stats) (PartsFit, error) { return l.sharing.parts(parts) }

// OffPath returns a configuration without the setting that its learner has a path over, and the value of
// that setting.
func (l *Learner) OffPath(c Config) (Config, float64) {
	value := 0.0
	switch l.Setting() {
	case "lambda":
		value, c.Lambda, c.LambdaBy = c.Lambda, 0, ""
	case "c":
		value, c.C = c.C, 0
	}
	return c, value
}

// BeforeLearner returns a configuration with the learner's settings removed: configurations for which it is equal
// see the same features.
func (c Config) BeforeLearner() Config {
	c.Learner, c.Lambda, c.LambdaBy, c.C, c.Loss, c.Multiclass, c.Penalty, c.Solver = ridgeLearner.name, 0, "", 0, "", "", "", ""
	c.Priors = ""
	if !c.discriminates() {
		c.Shrinkage, c.ShrinkageGiven = 0, false
	}
	c.Epsilon, c.EpsilonGiven, c.Tolerance, c.MaxIter = 0, false, 0, 0
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
	l := LearnerOf(first.Learner)
	values := make([]float64, len(cfgs))
	for i, c := range cfgs {
		_, values[i] = l.OffPath(c)
	}
	return l.sharing.path(ctx, rows, &p.f.info, &first, values, solved)
}

// resolve fills in defaults from a configuration with the same task.
func (p *Prepared) resolve(cfg Config) (Config, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return cfg, err
	}
	if cfg.Learner == "auto" {
		cfg.Learner = p.f.learner.name
	}
	task := cfg.Task
	cfg.Task = p.f.info.Task
	err = cfg.checkLearner()
	cfg.Task = task
	return cfg, err
}
