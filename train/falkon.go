package train

import (
	"fmt"
	"time"

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
	memory:  (*fit).falkonMemory,
	fewer:   option.Phrasef("fewer %s, which are the landmarks, or a map (%s)", option.Ref("features"), option.Set("learner", Ridge{}.learner())),
	train:   (*fit).falkon,

	linearFrom: (*fit).mostCentresFrom,

	keeps: func(r model.Report) int { return r.(*exact.FalkonReport).Centres },
	fix:   func(c *Config, r model.Report) { c.Set("lambda", r.(*exact.FalkonReport).Lambda) },
}

// usualCentres is the number of landmarks for many rows.
const usualCentres = 2048

// centres returns the number of landmarks of falkon: as asked for, or else 2,048, or a quarter of
// the rows but at least 256, if that is fewer.
func (f *fit) centres(rows int) int {
	m := f.cfg.Map.Features
	if f.cfg.Map.Given != nil {
		return f.cfg.Map.Given.Rows
	}
	if m == 0 {
		m = min(usualCentres, max(256, rows/4))
	}
	return min(m, rows)
}

// mostCentresFrom is the number of rows from which there are no more centres.
func (f *fit) mostCentresFrom() int {
	switch {
	case f.cfg.Map.Given != nil:
		return 1
	case f.cfg.Map.Features > 0:
		return f.cfg.Map.Features
	}
	return 4 * usualCentres
}

// falkonMemory is the number of bytes that the training holds at least; K_nm, 4·n·m, comes on top if
// allowed.
func (f *fit) falkonMemory() (bytes float64, formula string) {
	rows, _ := f.rowsMemory()
	rows += f.lookupMemory()
	m := f.centres(f.sum.Rows)
	bytes = rows + float64(exact.FalkonBytes(f.sum.Rows, f.learnDim(), m, f.info.Outputs, false))
	return bytes, fmt.Sprintf("4·n·D and 16·m² for m = %d landmarks", m)
}

// falkon trains on all rows.
func (f *fit) falkon() (*solution, error) {
	all, err := f.gather()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	f.progress("solve", 0, -1)
	rows, _ := f.rowsMemory()
	o := f.cfg.Learner.(Falkon)
	opt := exact.Falkon{
		Centres: f.centres(f.sum.Rows), Landmarks: f.cfg.Map.Landmarks, Lambda: o.Lambda, Tolerance: o.Tolerance, MaxIter: o.MaxIter,
		Memory: f.machineMemory(rows), Seed: f.cfg.Seed,
	}
	if opt.Given, err = f.pipe.Landmarks(f.cfg.Map.Given, f.cfg.Map.GivenFile, f.src.Name(), &f.info.Schema); err != nil {
		return nil, err
	}
	if f.opt.Memory <= 0 {
		opt.Memory = 0 // K_nm is kept where it takes no more than a few GB
	}
	machine, report, err := exact.FitFalkon(f.ctx, *f.info.Kernel, all.x, f.allTargets(all), f.info.Outputs, all.weights, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	return f.expanded(machine, report)
}
