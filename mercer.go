// Package mercer trains nonlinear models at linear cost and uses them: kernel machines with
// learned distances in the leaves of a tree, and linear models on explicit random features that approximate a kernel.
//
// This package is the front door of a Go program. Train trains on Data: a file, rows in memory, records
// from an iterator, a channel or a query; with a zero Config it chooses by the data: recursive feature machines
// (package rfm) for a table of numbers, features otherwise. A Result has the
// model, the report of the training, and the metrics of rows that were held out. Load loads a model,
// Evaluate judges one, and a Predictor predicts single records without allocations.
// Importance, Dependence and Contributions tell what a model goes by.
//
// What it does not show is in the packages beneath: dataset reads and streams data, feature holds the
// maps, learn, exact and rfm the learners, pipeline what happens before a learner, train the stages of a training.
package mercer

import (
	"context"
	"errors"

	"mercer/dataset"
	"mercer/eval"
	"mercer/model"
	"mercer/train"
)

// Model is a trained model: Scores, Predict, Save. Any number of goroutines may use it.
type Model = model.Model

// Prediction is what a model says of one row.
type Prediction = model.Prediction

// Metrics are how well a model predicts.
type Metrics = eval.Metrics

// Report says what a training took.
type Report = train.Report

// FieldError says which field of a record is wrong, RowError which number of a row.
type (
	FieldError = dataset.FieldError
	RowError   = dataset.RowError
)

// Load reads a model that was written by Save, and checks it.
func Load(path string) (*Model, error) { return model.Load(path) }

var errNoModel = errors.New("the model is nil; train one or load one")

// rowsFor opens data for a model that is there, and gives the rows that it predicts: of bags, those that they
// become. unlabelled says that nobody asks for their labels.
func rowsFor(ctx context.Context, m *Model, data Data, unlabelled bool) (dataset.Source, *opened, error) {
	if m == nil {
		return nil, nil, errNoModel
	}
	schema := m.Info().Schema
	if m.Bag() != nil {
		schema = m.Info().Bag.Schema
	}
	schema.Unlabelled = unlabelled
	o, err := data.opened(ctx, purpose{schema: &schema, bags: m.Bag() != nil})
	if err != nil {
		return nil, nil, err
	}
	switch {
	case o.bags != nil && m.Bag() != nil:
		return m.Bag().Source(o.bags), o, nil
	case o.bags != nil:
		o.close()
		return nil, nil, errors.New("the data are bags, but the model was trained on rows")
	case m.Bag() != nil:
		o.close()
		return nil, nil, errors.New("the data are rows, but the model was trained on bags")
	}
	return o.rows, o, nil
}

// Evaluate compares the predictions of a model with the labels of data.
func Evaluate(ctx context.Context, m *Model, data Data) (*Metrics, error) {
	src, o, err := rowsFor(ctx, m, data, false)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return eval.Evaluate(ctx, m, src, eval.Options{})
}

// Predict predicts all rows of data, or all bags for a model of bags; labels may be there or not.
func Predict(ctx context.Context, m *Model, data Data) ([]Prediction, error) {
	var all []Prediction
	err := PredictEach(ctx, m, data, func(p Prediction) error {
		all = append(all, p)
		return nil
	})
	return all, err
}

// PredictEach is Predict for more rows than memory: body gets one prediction after the other, and may
// keep it.
func PredictEach(ctx context.Context, m *Model, data Data, body func(Prediction) error) error {
	src, o, err := rowsFor(ctx, m, data, true)
	if err != nil {
		return err
	}
	defer o.close()
	return m.PredictSource(ctx, src, body)
}
