// Package cost predicts what a training will take before it begins: seconds, bytes, and how much more rows
// or features would help.
//
// Memory follows from the learners' own formulas (train.Plan). Seconds are extrapolated from trainings on few
// rows by the laws of their stages.
package cost
