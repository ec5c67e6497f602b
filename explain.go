package mercer

import (
	"context"
	"errors"

	"mercer/dataset"
	"mercer/eval"
)

// Importances say how much a model needs each column, Dependences how its prediction changes with a column, and a
// Contribution what each column contributes to the score of a row. Package explain has the definitions and options.
type (
	Importances  = eval.Importances
	Dependences  = eval.Dependences
	Contribution = eval.Contribution
)

// Importance measures how much a model needs each column, by permutation: how much the loss rises on rows of data, which
// have labels and should be none of the training. It draws up to 5,000 of the rows.
func Importance(ctx context.Context, m *Model, data Data) (*Importances, error) {
	rows, err := drawn(ctx, m, data, eval.DefaultRows)
	if err != nil {
		return nil, err
	}
	return eval.Importance(ctx, m, rows, eval.ImportanceOptions{})
}

// Dependence tells how the mean prediction for rows of data changes with each column.
func Dependence(ctx context.Context, m *Model, data Data) (*Dependences, error) {
	rows, err := drawn(ctx, m, data, eval.DefaultRows)
	if err != nil {
		return nil, err
	}
	return eval.Dependence(ctx, m, rows, eval.DependenceOptions{})
}

// Contributions divides the score of each row of data among the columns, in comparison with up to 100 rows of background.
func Contributions(ctx context.Context, m *Model, data, background Data) ([]Contribution, error) {
	back, err := drawn(ctx, m, background, func(*Model, int) int { return eval.BackgroundRows })
	if err != nil {
		return nil, err
	}
	src, o, err := rowsFor(ctx, m, data, false)
	if err != nil {
		return nil, err
	}
	defer o.close()
	var all []Contribution
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		for c, err := range eval.Contributions(ctx, m, b.X, back, eval.ContributionOptions{First: b.First}) {
			if err != nil {
				return nil, placed(err, src, b.First)
			}
			all = append(all, *c)
		}
	}
	return all, nil
}

// drawn are rows of data, as many as a function of the model and the default number of repeats says.
func drawn(ctx context.Context, m *Model, data Data, rows func(m *Model, repeats int) int) (*eval.Rows, error) {
	src, o, err := rowsFor(ctx, m, data, false)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return eval.Draw(ctx, m, src, rows(m, eval.Repeats), 1)
}

// placed is an error about a row of a batch with its place; other errors stay as they are.
func placed(err error, src dataset.Source, first int) error {
	var e *RowError
	if errors.As(err, &e) && e.Source == "" {
		return dataset.Locate(err, src, first)
	}
	return err
}
