// Package tune searches configurations by cross-validation.
//
// A Space is a base configuration and axes, each a setting with its values. Search judges the
// combinations that make sense on folds of the rows and picks one. Trainings share their common work:
// rows are mapped once for each pipeline, and a learner says what else its trainings can share
// (train.Learner). A journal records finished work.
package tune
