package train

import (
	"math"

	"mercer/exact"
)

// What learners of the kernel itself share.

// lookupMemory is the number of bytes of the tables that a machine predicts from.
func (f *fit) lookupMemory() float64 {
	return float64(exact.LookupBytes(f.learnDim(), f.info.Outputs, f.cfg.Lookup))
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
