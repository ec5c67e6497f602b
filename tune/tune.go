// Package tune searches configurations by cross-validation.
//
// A Space is a base configuration and axes, each a setting with its values. Search judges the
// combinations that make sense on folds of the rows and picks one. Trainings share what they have in
// common: rows are mapped once for each pipeline, and a learner says what else its trainings can share
// (train.Learner). A journal keeps what is done.
package tune
