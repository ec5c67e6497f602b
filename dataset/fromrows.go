package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"mercer/matrix"
)

// FromRows makes a source of rows in memory. y holds outputs targets per row, row-major; in
// place of numbers, names may hold one label per row (y is nil then). Both may be nil. The
// rows must stay as they are while the source is in use.
func FromRows(x matrix.Rows, y []float64, outputs int, names []string) (Source, error) {
	n := x.Len()
	m := &memory{all: matrix.Batch{X: x, Y: y, Outputs: outputs, Names: names}}
	m.schema = Schema{Format: "rows", Dim: x.Dim()}
	switch {
	case y == nil && names == nil:
		m.all.Outputs = 0
	case y == nil:
		if len(names) != n {
			return nil, fmt.Errorf("%d labels for %d rows", len(names), n)
		}
		m.all.Outputs = 1
		m.all.Y = make([]float64, n)
		for i, name := range names {
			if name == "" {
				return nil, &RowError{Row: i, Dim: -1, Err: errors.New("the label is empty"), place: fmt.Sprintf("row %d", i)}
			}
			m.all.Y[i] = math.NaN()
		}
	case names != nil:
		return nil, errors.New("give targets as numbers or as names, not as both")
	case outputs < 1 || len(y) != n*outputs:
		return nil, fmt.Errorf("%d targets for %d rows of %d", len(y), n, outputs)
	}
	for i, v := range y {
		if v-v != 0 {
			return nil, &RowError{Row: i / outputs, Dim: -1, Value: number(v), Err: fmt.Errorf("the target %g is not a finite number", v),
				place: fmt.Sprintf("row %d", i/outputs)}
		}
	}
	for i := range n {
		var row []float32
		var idx []int32
		if x.CSR != nil {
			idx, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for j, v := range row {
			if idx != nil {
				j = int(idx[j])
			}
			if v-v != 0 {
				return nil, &RowError{Row: i, Column: strconv.Itoa(j), Dim: j, Value: number(float64(v)),
					Err:   fmt.Errorf("%g is not a finite number", v),
					place: fmt.Sprintf("row %d, column %d (from 0)", i, j)}
			}
		}
	}
	return m, nil
}

// memory is a source of rows in memory.
type memory struct {
	all    matrix.Batch
	schema Schema
}

func (m *memory) Name() string    { return "rows in memory" }
func (m *memory) Schema() *Schema { return &m.schema }

func (m *memory) Open(ctx context.Context) (Reader, error) {
	return &memoryReader{memory: m, ctx: ctx}, nil
}

// memoryReader hands out copies, which the reader's user may change.
type memoryReader struct {
	*memory
	ctx  context.Context
	row  int
	copy partReader
	out  matrix.Batch
}

func (r *memoryReader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	n := r.all.X.Len()
	if r.row == n {
		return nil, io.EOF
	}
	end := min(r.row+defaultBatch, n)
	b := r.all.Slice(r.row, end)
	r.copy.keep = func(int) bool { return true }
	r.copy.take(&b)
	r.out = r.copy.batch
	r.out.First = r.row
	r.row = end
	return &r.out, nil
}

func (r *memoryReader) Progress() float64 {
	if n := r.all.X.Len(); n > 0 {
		return float64(r.row) / float64(n)
	}
	return 1
}

func (r *memoryReader) Close() error { return nil }
