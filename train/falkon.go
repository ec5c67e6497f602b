package train

import (
	"context"
	"fmt"
	"math"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/model"
)

// Falkon are the options of kernel ridge regression on landmarks, as many as Map.Features, drawn as Map.Landmarks says.
type Falkon struct {
	// Lambda is λ; 0 means that held-out rows choose it.
	Lambda float64 `json:"lambda,omitempty" range:"positive"`

	// Tolerance and MaxIter say where iterations stop, 0 being their defaults.
	Tolerance float64 `json:"tolerance,omitempty" range:"positive"`
	MaxIter   int     `json:"max_iter,omitempty" range:"positive"`

	Predict Prediction
}

func (Falkon) learner() string { return "falkon" }

// falkonLearner is kernel ridge regression on landmarks (as many as Features), without a map, by
// preconditioned conjugate gradients.
var falkonLearner = Traits{
	name:    Falkon{}.learner(),
	tasks:   []string{"classify", "regress"},
	options: Falkon{},
	squares: true,
	uses:    []string{"features", "landmarks"},
	exact:   true,
	memory:  (*job).falkonMemory,
	fewer:   option.Phrasef("fewer %s, which are the landmarks, or a map (%s)", option.Ref("features"), option.Set("learner", Ridge{}.learner())),
	train:   (*job).falkon,
	passes:  (*job).falkonPasses,
	sample:  func(c *Config) int { return exact.FalkonSample(c.Map.Landmarks, c.centres(math.MaxInt)) },
	inPieces: func(c *Config) error {
		if As[Falkon](c.Learner).Lambda > 0 {
			return nil
		}
		return option.Errorf("λ of %s is chosen on rows in memory, which a training in pieces does not have; give %s, such as the one that a training on a "+
			"sample of the rows chooses, times how many times as many there are; or take %s with %s, which chooses it and minimises the same on as many "+
			"landmarks in one pass", Falkon{}.learner(), option.Ref("lambda"), option.Set("learner", Ridge{}.learner()), option.Set("map", feature.Nystrom))
	},

	linearFrom: func(f *job) int { return f.cfg.mostCentresFrom() },

	keeps: func(r model.Report) int { return r.(*exact.FalkonReport).Centres },
	fix:   func(c *Config, r model.Report) { c.Set("lambda", r.(*exact.FalkonReport).Lambda) },
}

// usualCentres is the number of landmarks for many rows.
const usualCentres = 2048

// centres returns the number of landmarks of falkon: as asked for, or else 2,048, or a quarter of
// the rows but at least 256, if that is fewer.
func (c *Config) centres(rows int) int {
	m := c.Map.Features
	if c.Map.Given != nil {
		return c.Map.Given.Rows
	}
	if m == 0 {
		m = min(usualCentres, max(256, rows/4))
	}
	return min(m, rows)
}

// mostCentresFrom is the number of rows from which there are no more centres.
func (c *Config) mostCentresFrom() int {
	switch {
	case c.Map.Given != nil:
		return 1
	case c.Map.Features > 0:
		return c.Map.Features
	}
	return 4 * usualCentres
}

// falkonMemory is the number of bytes that the training holds at least; K_nm, 4·n·m, comes on top if
// allowed.
func (f *job) falkonMemory() (bytes float64, formula string) {
	rows, _ := f.rowsMemory()
	rows += f.lookupMemory()
	m := f.cfg.centres(f.sum.Rows)
	bytes = rows + float64(exact.FalkonBytes(f.sum.Rows, f.learnDim(), m, f.outputs, false))
	return bytes, fmt.Sprintf("4·n·D and 16·m² for m = %d landmarks", m)
}

// falkonOptions are those of a fit beside so many bytes of rows.
func (f *job) falkonOptions(rows float64) exact.Falkon {
	o := f.cfg.Learner.(Falkon)
	return exact.Falkon{
		Centres: f.cfg.centres(f.sum.Rows), Landmarks: f.cfg.Map.Landmarks, Lambda: o.Lambda, Tolerance: o.Tolerance, MaxIter: o.MaxIter,
		Memory: f.machineMemory(rows), Seed: f.cfg.Seed,
	}
}

// falkonPasses trains on rows in pieces, with landmarks among those of the survey's sample.
func (f *job) falkonPasses(ctx context.Context) (passes, error) {
	sample := f.pipe.Pass().Scale(f.sum.Sample)
	shared, err := exact.NewSharedFalkon(ctx, *f.pipe.Kernel(), sample, f.outputs, f.falkonOptions(0))
	if err != nil {
		return nil, f.located(err)
	}
	return falkonPasses{shared}, nil
}

// falkon trains on all rows.
func (f *job) falkon() (*solution, error) {
	all, err := f.gather()
	if err != nil {
		return nil, err
	}
	defer timed(&f.report.Solve)()
	f.progress("solve", 0, -1)
	rows, _ := f.rowsMemory()
	opt := f.falkonOptions(rows)
	if opt.Given, err = f.pipe.Landmarks(f.cfg.Map.Given, f.cfg.Map.GivenFile, f.src.Name(), &f.schema); err != nil {
		return nil, err
	}
	if f.opt.Memory <= 0 {
		opt.Memory = 0 // K_nm is kept where it takes no more than a few GB
	}
	machine, report, err := exact.FitFalkon(f.ctx, *f.pipe.Kernel(), all.x, f.allTargets(all), f.outputs, all.weights, opt)
	if err != nil {
		return nil, f.located(err)
	}
	return f.expanded(machine, report)
}
