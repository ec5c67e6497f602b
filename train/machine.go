package train

import (
	"math"

	"mercer/exact"
)

// What learners share that take the kernel itself.

// lookupMemory is what the tables take that a machine is to predict from.
func (f *fit) lookupMemory() float64 {
	return float64(exact.LookupBytes(f.learnDim(), f.info.Outputs, f.cfg.Lookup))
}

// machineMemory is how many bytes of rows a learner holds that takes the kernel itself, and how
// many of opt.Memory are left for what it does with them (0: it has no bound).
func (f *fit) machineMemory(rows float64) int64 {
	if f.opt.Memory <= 0 {
		return math.MaxInt64
	}
	return max(1, f.opt.Memory-int64(rows))
}

// allTargets are the targets of all rows, n×Outputs.
func (f *fit) allTargets(all *gathered) []float64 {
	if all.class == nil {
		return all.y
	}
	return targetsOf(all.class, f.info.Outputs)
}
