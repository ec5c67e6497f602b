package trial

import (
	"context"
	"io"

	"mercer/dataset"
	"mercer/matrix"
)

// rowSource is a source of copies of some rows of a batch.
type rowSource struct {
	name   string
	schema dataset.Schema
	all    *matrix.Batch
	rows   []int
	origin func(row int) int
}

func (p *rowSource) Name() string            { return p.name }
func (p *rowSource) Schema() *dataset.Schema { return &p.schema }

// Origin implements dataset.Renumbered.
func (p *rowSource) Origin(row int) int { return p.origin(row) }

func (p *rowSource) Open(ctx context.Context) (dataset.Reader, error) {
	return &rowReader{rowSource: p, ctx: ctx}, nil
}

type rowReader struct {
	*rowSource
	ctx context.Context
	row int
}

// batchRows is the number of rows in a batch of a sample.
const batchRows = 4096

func (r *rowReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.row == len(r.rows) {
		return nil, io.EOF
	}
	rows := r.rows[r.row:min(r.row+batchRows, len(r.rows))]
	k := r.all.Outputs
	b := &matrix.Batch{X: matrix.Pick(r.all.X, rows), First: r.row, Outputs: k}
	for _, i := range rows {
		b.Y = append(b.Y, r.all.Y[i*k:(i+1)*k]...)
		if r.all.Names != nil {
			b.Names = append(b.Names, r.all.Names[i])
		}
		if r.all.Weights != nil {
			b.Weights = append(b.Weights, r.all.Weights[i])
		}
	}
	r.row += len(rows)
	return b, nil
}

func (r *rowReader) Progress() float64 { return float64(r.row) / float64(max(1, len(r.rows))) }
func (r *rowReader) Close() error      { return nil }
