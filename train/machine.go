package train

import (
	"math"

	"mercer/exact"
	"mercer/model"
)

// What learners of the kernel itself share.

// lookupMemory is the number of bytes of the tables that a machine predicts from.
func (f *fit) lookupMemory() float64 {
	return float64(exact.LookupBytes(f.learnDim(), f.info.Outputs, f.cfg.Lookup))
}

// predictor is the predictor of a machine, of as many terms as are asked for.
func (f *fit) predictor(m *exact.Machine) (model.Machine, error) {
	if p := f.cfg.Subsample; p > 0 && p < m.Rows().Len() {
		var err error
		if m, err = m.Subsample(p, f.cfg.Seed); err != nil {
			return model.Machine{}, err
		}
	}
	return model.NewMachine(m, exact.Lookup{Bins: f.cfg.Lookup, Constant: f.cfg.LookupForm == "constant"})
}

// machineMemory is the number of bytes of rows held by a learner of the kernel itself, and the number
// of bytes of opt.Memory that are left for its work (0: no bound).
func (f *fit) machineMemory(rows float64) int64 {
	if f.opt.Memory <= 0 {
		return math.MaxInt64
	}
	return max(1, f.opt.Memory-int64(rows))
}

// allTargets returns the targets of all rows, n×Outputs.
func (f *fit) allTargets(all *gathered) []float64 {
	if all.class == nil {
		return all.y
	}
	return targetsOf(all.class, f.info.Outputs)
}
