package lab

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// Evaluate predicts the labelled rows of src with m and compares. progress, if not nil, is
// told the rows done and the share of the source. Memory: that of a batch, and for two
// classes 5 bytes a row for the area under the curve.
func Evaluate(ctx context.Context, m *model.Model, src dataset.Source, progress func(rows int, share float64)) (*Metrics, error) {
	r, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var (
		classes *dataset.Classes
		byClass *Classification
		byValue *Regression
		scores  matrix.Dense
		rows    int

		sets      *dataset.LabelSets
		byLabel   *MultiLabel
		has, told []bool

		proba       *Probability
		probability []float64
	)
	if labels := m.Classes(); labels != nil {
		classes = dataset.NewClasses(labels)
		byClass = NewClassification(len(labels))
		probability = make([]float64, len(labels))
	} else if sets = m.LabelSets(); sets != nil {
		byLabel = NewMultiLabel(sets.Labels())
		has, told, probability = make([]bool, m.Outputs()), make([]bool, m.Outputs()), make([]float64, m.Outputs())
	} else {
		byValue = NewRegression(m.Outputs())
	}
	if m.HasProbabilities() {
		proba = NewProbability(len(m.Classes()) == 2)
	}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if b.Outputs == 0 {
			return nil, fmt.Errorf("%s: the rows have no labels to compare predictions with; name them with --label or --labels", src.Name())
		}
		if classes != nil && b.Outputs != 1 {
			return nil, fmt.Errorf("%s: rows have %d labels, but the model predicts one class", src.Name(), b.Outputs)
		}
		scores.Reshape(b.X.Len(), m.Outputs())
		if err := m.Scores(&scores, b.X); err != nil {
			return nil, model.Located(err, src, b.First)
		}
		if byValue != nil {
			if b.Names != nil {
				for i, name := range b.Names {
					if name != "" {
						return nil, fmt.Errorf("%s: row %d: the label %q is not a number, but the model predicts numbers", src.Name(), b.First+i+1, name)
					}
				}
			}
			if b.Outputs != m.Outputs() {
				return nil, fmt.Errorf("%s: rows have %d labels, but the model predicts %d numbers", src.Name(), b.Outputs, m.Outputs())
			}
		}
		for i := range b.X.Len() {
			row := scores.Row(i)
			if proba != nil {
				if err := m.Probabilities(probability, row); err != nil {
					return nil, err
				}
			}
			switch {
			case classes != nil:
				truth := classes.Of(b, i)
				byClass.Add(truth, m.Class(row), row[0])
				if proba != nil && truth >= 0 {
					proba.Add(truth, probability)
				}
			case sets != nil:
				unknown, err := sets.Of(b, i, has)
				if err != nil {
					return nil, fmt.Errorf("%s: row %d: %w", src.Name(), b.First+i+1, err)
				}
				for t, v := range row {
					told[t] = v > 0
				}
				byLabel.Add(has, told, len(unknown))
				if proba != nil {
					proba.AddLabels(has, probability)
				}
			default:
				byValue.Add(b.Y[i*b.Outputs:(i+1)*b.Outputs], row)
			}
		}
		rows += b.X.Len()
		if progress != nil {
			progress(rows, r.Progress())
		}
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: has no rows", src.Name())
	}
	var metrics *Metrics
	switch {
	case byClass != nil:
		metrics = byClass.Metrics()
	case byLabel != nil:
		metrics = byLabel.Metrics()
	default:
		metrics = byValue.Metrics()
	}
	if proba != nil {
		proba.Into(metrics)
	}
	return metrics, nil
}
