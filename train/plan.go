package train

import (
	"context"
	"fmt"
	"math"

	"mercer/dataset"
	"mercer/rfm"
)

// Plan is what a training on many rows would do, worked out from a few of them.
type Plan struct {
	// Config is the configuration with everything filled in that was left to the data: task, scaling,
	// learner, map, the number of features and the way to choose λ.
	Config Config `json:"config"`

	// Features is D, the number of dimensions that the learner sees, and Outputs K, the number of
	// its scores per row.
	Features int `json:"features"`
	Outputs  int `json:"outputs"`

	// Exact says that the learner uses the kernel itself; Fixed that the number of features cannot
	// be set, because the map decides it or there is no map; Statistics that it trains on
	// the moments of the features, in a time that does not depend on the targets.
	Exact      bool `json:"exact"`
	Fixed      bool `json:"fixed"`
	Statistics bool `json:"statistics"`

	// LinearFrom is the number of rows from which the time of a learner that uses the kernel itself grows no faster than
	// they, because it takes no more centres; 0 means that there is none.
	LinearFrom int `json:"linear_from,omitempty"`

	// Bytes is the memory of the training besides the data that are read, by Formula. MapBytes of
	// these are for the steps before the learner. FeatureBytes is the size of the features of all
	// rows, which not every learner holds.
	Bytes        int64  `json:"bytes"`
	MapBytes     int64  `json:"map_bytes"`
	FeatureBytes int64  `json:"feature_bytes"`
	Formula      string `json:"formula"`
}

// NewPlan plans the training of cfg on the given number of rows like those of src, which is read once.
// opt.Memory is the memory limit, or 0; a learner that can adapt to it does.
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
	p := &Plan{Config: f.asked, Features: f.learnDim(), Outputs: f.info.Outputs, Exact: f.learner.exact, Statistics: f.learner.parts != nil}
	bytes, formula := f.learner.memory(f, f.sum)
	pipeline := f.pipelineMemory()
	p.Bytes, p.MapBytes, p.Formula = int64(math.Ceil(bytes+pipeline)), int64(math.Ceil(pipeline)), formula
	features, _ := f.rowsMemory(f.sum)
	p.FeatureBytes = int64(math.Ceil(features))
	c := &p.Config
	c.Task, c.Scale, c.Kernel, c.Learner = f.info.Task, f.info.Scale, f.cfg.Kernel, f.learner.name
	switch f.learner.name {
	case falkonLearner.name:
		p.LinearFrom = f.mostCentresFrom()
	case rfmLearner.name:
		p.LinearFrom = rfm.LeafRows(f.rfmOptions(f.sum))
	}
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

// extrapolate scales the summary to the number of rows that is planned for. The task and the classes
// stay those of the rows of the sample.
func (f *fit) extrapolate() error {
	f.sum.NonZero = int64(float64(f.sum.NonZero) * float64(f.planned) / float64(f.sum.Rows))
	f.sum.Rows = f.planned
	return nil
}
