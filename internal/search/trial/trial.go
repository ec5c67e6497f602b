// Package trial makes trainings on few rows: samples of a source to train on and to judge by, the
// cost of a small training, and races of candidates on growing samples.
package trial
