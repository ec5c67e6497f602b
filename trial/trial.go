// Package trial is about trainings on few rows: samples of a source to train on and to judge by, what a
// small training takes, and races of candidates on growing samples.
package trial
