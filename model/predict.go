package model

import (
	"context"
	"errors"
	"fmt"

	"mercer/dataset"
	"mercer/matrix"
)

// Prediction is the prediction for one row.
type Prediction struct {
	// Label is the class, "" if the model has no classes (Model.Class).
	Label string

	// Labels are the labels that a multi-label model predicts, possibly none or several (Model.Has).
	Labels []string

	// Probabilities has one per class in the order of Classes, adding up to 1, or one per label in
	// the order of Labels; nil if the model has no probabilities (Model.Probabilities).
	Probabilities []float64

	// Values are the predicted numbers of a regression, nil for classes. They are the learner's scores, in the
	// precision of float32, or in that of float64 for a model with an offset (Info.Offset).
	Values []float64

	// Scores has one score per class in the order of Classes; with two classes it is one
	// score, positive for the second. For labels it has one per label, positive if the row
	// has it; for a regression they are Values, without Info.Offset. They are the learner's scores, whose sign or order
	// does not decide the prediction of a calibrated model.
	Scores []float32
}

// Predict predicts rows of Dim numbers each. It fails on rows of another length and on
// numbers that are not finite. Use Scores to avoid the allocations.
func (m *Model) Predict(rows ...[]float32) ([]Prediction, error) {
	x := matrix.NewDense(len(rows), m.Dim())
	for i, row := range rows {
		if len(row) != m.Dim() {
			return nil, &dataset.RowError{Row: i, Dim: -1,
				Err: fmt.Errorf("the row has %d numbers, but the model was trained on %d", len(row), m.Dim())}
		}
		copy(x.Row(i), row)
	}
	scores := matrix.NewDense(len(rows), m.info.Outputs)
	if err := m.Learned(scores, matrix.Rows{Dense: x}); err != nil {
		return nil, err
	}
	return m.predictions(scores), nil
}

// PredictSource predicts the rows of a source batch by batch and calls body with each prediction,
// which it may retain.
func (m *Model) PredictSource(ctx context.Context, src dataset.Source, body func(Prediction) error) error {
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		scores := matrix.NewDense(b.X.Len(), m.info.Outputs)
		if err := m.Learned(scores, b.X); err != nil {
			return dataset.Locate(err, src, b.First)
		}
		for _, p := range m.predictions(scores) {
			if err := body(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// predictions turns scores into predictions that share their memory.
func (m *Model) predictions(scores *matrix.Dense) []Prediction {
	out := make([]Prediction, scores.Rows)
	probable := m.HasProbabilities()
	for i := range out {
		row := scores.Row(i)
		out[i].Scores = row
		if probable {
			out[i].Probabilities = make([]float64, m.probable())
			if err := m.Probabilities(out[i].Probabilities, row); err != nil {
				panic("model: " + err.Error()) // it has some
			}
		}
		switch {
		case m.info.Classes != nil:
			out[i].Label = m.info.Classes[m.Class(row)]
		case m.info.Labels != nil:
			out[i].Labels = m.Predicted(row)
		default:
			out[i].Values = make([]float64, len(row))
			for t, v := range row {
				out[i].Values[t] = m.Value(t, v)
			}
		}
	}
	return out
}

// PredictBags predicts bags of members, each with as many numbers as the model was trained on.
func (m *Model) PredictBags(bags ...[][]float32) ([]Prediction, error) {
	if m.bag == nil {
		return nil, errors.New("the model was trained on rows, not on bags; use Predict")
	}
	in, d := m.bag.Dims()
	ends := []int{0}
	for _, bag := range bags {
		ends = append(ends, ends[len(ends)-1]+len(bag))
	}
	x := matrix.NewDense(ends[len(bags)], in)
	for i, bag := range bags {
		if len(bag) == 0 {
			return nil, fmt.Errorf("bag %d (from 0) has no members", i)
		}
		for j, member := range bag {
			if len(member) != in {
				return nil, fmt.Errorf("bag %d, member %d (from 0) has %d numbers, but the model was trained on %d", i, j, len(member), in)
			}
			copy(x.Row(ends[i]+j), member)
		}
	}
	rows := matrix.NewDense(len(bags), d)
	if err := m.bag.Pool(rows, matrix.Rows{Dense: x}, ends); err != nil {
		return nil, err
	}
	scores := matrix.NewDense(len(bags), m.info.Outputs)
	if err := m.Learned(scores, matrix.Rows{Dense: rows}); err != nil {
		return nil, err
	}
	return m.predictions(scores), nil
}
