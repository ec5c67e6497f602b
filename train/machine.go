package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/exact"
	"mercer/model"
)

// What learners of the kernel itself share.

// Prediction is how a machine of the kernel itself predicts.
type Prediction struct {
	// Lookup is the number of bins of the tables from which a machine of the intersection kernel
	// predicts; 0 means exact predictions by bisection.
	Lookup int `json:"lookup,omitempty" search:"no"`

	// Form is what a table holds: "linear" (or ""), the ends of a line in each cell, or "constant", the value at its middle.
	Form string `json:"lookup_form,omitempty"`

	// Subsample keeps so many terms of the expansion of a machine, drawn at random, with weights that make its scores
	// unbiased; 0 means all.
	Subsample int `json:"subsample,omitempty"`
}

// predictionHelp is the help of these options.
var predictionHelp = map[string]*option.Phrase{
	"lookup": option.Phrasef("bins of the tables that a machine of the intersection kernel predicts from (default: no tables, exact)"),
	"lookup_form": option.Phrasef("what the tables of %s hold: linear, the ends of a line in each bin, or constant, the value at its "+
		"middle (default linear)", option.Ref("lookup")),
	"subsample": option.Phrasef("terms of the expansion of falkon, kernel-ridge or kernel-svm to keep, drawn at random (default: all)"),
}

// prediction is how the learner's machine is to predict.
func (c *Config) prediction() Prediction { return As[expansion](c.Learner).Prediction }

// expansion stands for the learners that have these options.
type expansion struct{ Prediction Prediction }

func (expansion) learner() string { return "" }

// lookupForms are what a table of a machine holds.
var lookupForms = strings.Fields("linear constant")

// checkPrediction rejects options that the kernel does not have.
func (c *Config) checkPrediction() error {
	switch p := c.prediction(); {
	case p.Lookup != 0 && !exact.LooksUp(c.pipeline().Kernel):
		return fmt.Errorf("lookup is for the intersection kernel, whose machines can be looked up in tables; the kernel is %s", c.Kernel.Name)
	case p.Lookup < 0 || p.Lookup > 1<<20:
		return fmt.Errorf("lookup %d is not a number of bins from 1 to %d", p.Lookup, 1<<20)
	case !slices.Contains(append([]string{""}, lookupForms...), p.Form):
		return option.Errorf("%s is not known; known are %s", option.Set("lookup_form", p.Form), strings.Join(lookupForms, ", "))
	case p.Form != "" && p.Lookup == 0:
		return option.Errorf("%s is what tables hold, and there are none; give %s as well", option.Ref("lookup_form"), option.Ref("lookup"))
	case p.Subsample < 0:
		return option.Errorf("%s: give 1 or more terms to keep, or none to keep all", option.Set("subsample", fmt.Sprint(p.Subsample)))
	}
	return nil
}

// lookupMemory is the number of bytes of the tables that a machine predicts from.
func (f *job) lookupMemory() float64 {
	return float64(exact.LookupBytes(f.learnDim(), f.outputs, f.cfg.prediction().Lookup))
}

// predictor is the predictor of a machine, of as many terms as are asked for.
func (c *Config) predictor(m *exact.Machine) (model.Machine, error) {
	p := c.prediction()
	if p.Subsample > 0 && p.Subsample < m.Rows().Len() {
		var err error
		if m, err = m.Subsample(p.Subsample, c.Seed); err != nil {
			return model.Machine{}, err
		}
	}
	return model.NewMachine(m, exact.Lookup{Bins: p.Lookup, Constant: p.Form == "constant"})
}

// expanded is what a learner came to whose model is a machine.
func (f *job) expanded(m *exact.Machine, report model.Report) (*solution, error) {
	p, err := f.cfg.predictor(m)
	return &solution{predictor: p, report: report}, err
}

// machineMemory is the number of bytes of rows held by a learner of the kernel itself, and the number
// of bytes of opt.Memory that are left for its work (0: no bound).
func (f *job) machineMemory(rows float64) int64 {
	if f.opt.Memory <= 0 {
		return math.MaxInt64
	}
	return max(1, f.opt.Memory-int64(rows))
}

// allTargets returns the targets of all rows, n×Outputs.
func (a *answers) allTargets(all *gathered) []float64 {
	if all.class == nil {
		return all.y
	}
	return targetsOf(all.class, a.outputs)
}
