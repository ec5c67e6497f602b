package mercer

import (
	"context"
	"errors"

	"mercer/dataset"
	"mercer/explain"
)

// Importances say how much a model needs each column, Dependences how its prediction changes with a column, and a
// Contribution what each column contributes to the score of a row. Package explain has the definitions and options.
type (
	Importances  = explain.Importances
	Dependences  = explain.Dependences
	Contribution = explain.Contribution
)

// Importance measures how much a model needs each column, by permutation: how much the loss rises on rows of data, which
// have labels and should be none of the training. It draws up to 5,000 of the rows.
func Importance(ctx context.Context, m *Model, data Data) (*Importances, error) {
	rows, err := drawn(ctx, m, data, explain.DefaultRows)
	if err != nil {
		return nil, err
	}
	return explain.Importance(ctx, m, rows, explain.ImportanceOptions{})
}

// Dependence tells how the mean prediction for rows of data changes with each column.
func Dependence(ctx context.Context, m *Model, data Data) (*Dependences, error) {
	rows, err := drawn(ctx, m, data, explain.DefaultRows)
	if err != nil {
		return nil, err
	}
	return explain.Dependence(ctx, m, rows, explain.DependenceOptions{})
}

// Contributions divides the score of each row of data among the columns, in comparison with up to 100 rows of background.
func Contributions(ctx context.Context, m *Model, data, background Data) ([]Contribution, error) {
	back, err := drawn(ctx, m, background, func(*Model, int) int { return explain.BackgroundRows })
	if err != nil {
		return nil, err
	}
	src, o, err := rowsFor(ctx, m, data)
	if err != nil {
		return nil, err
	}
	defer o.close()
	var all []Contribution
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		for c, err := range explain.Contributions(ctx, m, b.X, back, explain.ContributionOptions{First: b.First}) {
			if err != nil {
				return nil, placed(err, src, b.First)
			}
			all = append(all, *c)
		}
	}
	return all, nil
}

// drawn are rows of data, as many as a function of the model and the default number of repeats says.
func drawn(ctx context.Context, m *Model, data Data, rows func(m *Model, repeats int) int) (*explain.Rows, error) {
	src, o, err := rowsFor(ctx, m, data)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return explain.Draw(ctx, m, src, rows(m, explain.Repeats), 1)
}

// placed is an error about a row of a batch with its place; other errors stay as they are.
func placed(err error, src dataset.Source, first int) error {
	var e *RowError
	if errors.As(err, &e) && e.Source == "" {
		return dataset.Locate(err, src, first)
	}
	return err
}
