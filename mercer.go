// Package mercer trains nonlinear models at linear cost and uses them: kernel machines
// whose kernel is approximated by explicit random features.
//
// This package is the front door. It trains from a file, loads a trained model and
// predicts; with a zero Config it chooses by the data. What it does not show is in the
// packages beneath: dataset reads and streams data, feature holds the maps, learn the
// learners, model the pipeline of all of them.
package mercer

import (
	"context"

	"mercer/dataset"
	"mercer/model"
	"mercer/train"
)

// Model is a trained model: Predict, Scores, Save. Any number of goroutines may use it.
type Model = model.Model

// Prediction is what a model says of one row.
type Prediction = model.Prediction

// Config says how to read the data and how to train; the zero value chooses by the data.
type Config struct {
	train.Config

	// Data says how the file is read.
	Data dataset.Options
}

// Train trains a model on a data file: LIBSVM text, CSV and its kin, ARFF, NPY, npz of a
// sparse matrix or IDX, also compressed; "-" is standard input. The data are streamed: with the
// ridge learner they need not fit into memory. With cfg.Bag (which may be empty) the data are
// bags, each of which has one label and becomes one row, in the forms that dataset.OpenBags tells
// of.
func Train(ctx context.Context, path string, cfg Config) (*Model, error) {
	if cfg.Bag != nil {
		bags, err := dataset.OpenBags(ctx, path, cfg.Data)
		if err != nil {
			return nil, err
		}
		defer bags.Close()
		return TrainBags(ctx, bags, cfg.Config)
	}
	src, err := dataset.Open(ctx, path, cfg.Data)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return TrainSource(ctx, src, cfg.Config)
}

// TrainSource trains a model on any source of rows, such as dataset.FromRows.
func TrainSource(ctx context.Context, src dataset.Source, cfg train.Config) (*Model, error) {
	m, _, err := train.Fit(ctx, src, cfg, train.Options{})
	return m, err
}

// TrainBags trains a model on any source of bags, such as dataset.FromBags.
func TrainBags(ctx context.Context, src dataset.Bags, cfg train.Config) (*Model, error) {
	m, _, err := train.FitBags(ctx, src, cfg, train.Options{})
	return m, err
}

// Load reads a model that was written by Save, and checks it.
func Load(path string) (*Model, error) { return model.Load(path) }

// Predict predicts every row of a data file, or every bag for a model of bags. The data are read
// as those of the training were; labels may be there or not.
func Predict(ctx context.Context, m *Model, path string, opt dataset.Options) ([]Prediction, error) {
	var src dataset.Source
	if bag := m.Info().Bag; bag != nil {
		opt.Schema = &bag.Schema
		bags, err := dataset.OpenBags(ctx, path, opt)
		if err != nil {
			return nil, err
		}
		defer bags.Close()
		src = m.Bag().Source(bags)
	} else {
		opt.Schema = &m.Info().Schema
		rows, err := dataset.Open(ctx, path, opt)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		src = rows
	}
	var all []Prediction
	err := m.PredictSource(ctx, src, func(p Prediction) error {
		all = append(all, p)
		return nil
	})
	return all, err
}
