package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"mercer/dataset"
	"mercer/eval"
	"mercer/matrix"
	"mercer/model"
)

// mostExplained bounds the rows of a request that are explained: each takes thousands of predictions.
const mostExplained = 100

// part is what the columns contribute to a score of one row.
type part struct {
	output int
	base   float64
	values []float64
}

// explain divides the scores of the rows among the columns, in comparison with background rows (eval.Contributions).
func (c *call) explain(of int) error {
	in := c.in
	if in.x.Rows > mostExplained {
		return &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("%d rows to explain; at most %d are at a time", in.x.Rows, mostExplained)}
	}
	in.explained, in.parts = eval.Columns(in.m), in.parts[:0]
	if in.x.Rows == 0 {
		return nil
	}
	return c.aside.do(c.ctx, func() error {
		back, err := c.on.background(c.ctx)
		if err != nil {
			return err
		}
		for e, err := range eval.Contributions(c.ctx, in.m, matrix.Rows{Dense: &in.x}, back, eval.ContributionOptions{}) {
			if err != nil {
				return err
			}
			p := part{output: of}
			if of < 0 {
				p.output = 0
				if in.m.Classes() != nil && in.m.Outputs() > 1 {
					p.output = in.m.Class(in.scores.Row(e.Row))
				}
			}
			p.base, p.values = e.Base[p.output], e.Values[p.output]
			in.parts = append(in.parts, p)
		}
		return nil
	})
}

// background are the rows that a version's contributions compare with, drawn when they are first asked for.
type background struct {
	mu   sync.Mutex
	rows *eval.Rows
}

func (v *served) background(ctx context.Context) (*eval.Rows, error) {
	v.back.mu.Lock()
	defer v.back.mu.Unlock()
	if v.back.rows != nil {
		return v.back.rows, nil
	}
	var err error
	if v.back.rows, err = drawBackground(ctx, v.model, v.backFile); err != nil && ctx.Err() == nil {
		return nil, &httpError{http.StatusInternalServerError, fmt.Errorf("the background rows cannot be read: %w", err)}
	}
	return v.back.rows, err
}

// drawBackground draws background rows from a file; without one they are the model's golden rows, which are normal with the means
// and deviations of the training, with one category for each categorical column.
func drawBackground(ctx context.Context, m *model.Model, path string) (*eval.Rows, error) {
	if path != "" {
		src, err := dataset.Open(ctx, path, dataset.Options{Schema: &m.Info().Schema})
		if err != nil {
			return nil, err
		}
		defer src.Close()
		rows, err := eval.Draw(ctx, m, src, eval.BackgroundRows, 1)
		if err == nil && rows.X.CSR != nil { // those of requests are dense
			dense := matrix.NewDense(rows.X.Len(), m.Dim())
			rows.X.CSR.Densify(dense)
			rows.X = matrix.Rows{Dense: dense}
		}
		return rows, err
	}
	golden, _ := m.Golden()
	if golden == nil {
		return nil, errors.New("the model has no rows of its own")
	}
	rows := matrix.NewDense(golden.Rows, golden.Cols)
	for i := range rows.Rows {
		copy(rows.Row(i), golden.Row(i))
	}
	for _, col := range eval.Columns(m) {
		if col.Categories == nil || col.To-col.From != len(col.Categories) {
			continue
		}
		for i := range rows.Rows {
			one := rows.Row(i)[col.From:col.To]
			most := 0
			for k, v := range one {
				if v > one[most] {
					most = k
				}
			}
			clear(one)
			one[most] = 1
		}
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: rows}, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	return eval.Draw(ctx, m, src, rows.Rows, 1)
}
