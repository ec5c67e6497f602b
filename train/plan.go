package train

import (
	"context"
	"fmt"
	"math"

	"mercer/dataset"
)

// Plan is what a training on many rows would do, found out from few of them.
type Plan struct {
	// Config is the configuration with what was left to the data filled in: task, scaling,
	// learner, map, the number of features and the way to choose λ.
	Config Config `json:"config"`

	// Features is D, the number of dimensions that the learner sees, and Outputs K, the number of
	// its scores a row.
	Features int `json:"features"`
	Outputs  int `json:"outputs"`

	// Exact says that the learner takes the kernel itself; Fixed that no number of features can
	// be asked for, because the map decides or there is none; Statistics that it trains on
	// the moments of the features, whose time does not depend on the targets.
	Exact      bool `json:"exact"`
	Fixed      bool `json:"fixed"`
	Statistics bool `json:"statistics"`

	// Bytes is what the training holds beside the data that are read, by Formula. MapBytes of
	// them are for what is before the learner; FeatureBytes is what the features of all rows would
	// take, which not every learner holds.
	Bytes        int64  `json:"bytes"`
	MapBytes     int64  `json:"map_bytes"`
	FeatureBytes int64  `json:"feature_bytes"`
	Formula      string `json:"formula"`
}

// NewPlan plans the training of cfg on so many rows like those of src, which is read once.
// opt.Memory is how much the training may hold, or 0; a learner that can do with less, does.
func NewPlan(ctx context.Context, src dataset.Source, rows int, cfg Config, opt Options) (*Plan, error) {
	if rows < 1 {
		return nil, fmt.Errorf("%s: a plan for %d rows", src.Name(), rows)
	}
	f, err := beginRows(ctx, src, cfg, Options{Memory: opt.Memory})
	if err != nil {
		return nil, err
	}
	f.planned = rows
	if err := f.run(planned); err != nil {
		return nil, err
	}
	p := &Plan{Config: f.asked, Features: f.learnDim(), Outputs: f.info.Outputs, Exact: f.learner.exact, Statistics: f.learner.statistics}
	bytes, formula := f.learner.memory(f, f.sum)
	pipeline := f.pipelineMemory()
	p.Bytes, p.MapBytes, p.Formula = int64(math.Ceil(bytes+pipeline)), int64(math.Ceil(pipeline)), formula
	features, _ := f.rowsMemory(f.sum)
	p.FeatureBytes = int64(math.Ceil(features))
	c := &p.Config
	c.Task, c.Scale, c.Kernel, c.Learner = f.info.Task, f.info.Scale, f.cfg.Kernel, f.learner.name
	if c.Learner == ridgeLearner.name && c.LambdaBy == "" && c.Lambda == 0 {
		c.LambdaBy = f.lambdaBy(rows)
	}
	p.Fixed = f.info.Feature == nil
	if m := f.info.Feature; m != nil {
		if c.Features == 0 {
			c.Features = m.Features
		}
		if c.Map == "" && m.Map != "chain" {
			c.Map = m.Map
		}
		p.Fixed = m.Decides()
		if p.Fixed {
			c.Features = 0
		}
	}
	return p, nil
}

// extrapolate makes the summary that of as many rows as are planned for: the task and the classes
// are those of the rows that are there, sizes those of all.
func (f *fit) extrapolate() error {
	f.sum.NonZero = int64(float64(f.sum.NonZero) * float64(f.planned) / float64(f.sum.Rows))
	f.sum.Rows = f.planned
	return nil
}
