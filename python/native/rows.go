package main

import (
	"context"
	"fmt"
	"io"

	"mercer/dataset"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

const batchRows = 4096

// array is rows in memory that Python owns: float32 or float64 in any layout, or sparse. They stay where they are;
// float64 is rounded, and columns are gathered, a batch at a time.
type array struct {
	rows, cols   int
	stride, step int // between rows, and between columns
	first        int // the number of the first row, for messages
	f32          []float32
	f64          []float64
	csr          *matrix.CSR
}

// slice is the rows [i, j), which are in dst if they are not float32 already.
func (a *array) slice(i, j int, dst *matrix.Dense) (matrix.Rows, error) {
	switch {
	case a.csr != nil:
		c := a.csr.Slice(i, j)
		return matrix.Rows{CSR: c}, finite(c.Val[c.Ptr[0]:c.Ptr[j-i]], i, 0)
	case a.direct():
		x := &matrix.Dense{Rows: j - i, Cols: a.cols, Stride: a.stride}
		if j > i && a.cols > 0 {
			x.Data = a.f32[i*a.stride : (j-1)*a.stride+a.cols]
		}
		return matrix.Rows{Dense: x}, allFinite(x, a.first+i)
	}
	dst.Reshape(j-i, a.cols)
	switch {
	case a.step == 1:
		for r := range j - i {
			at := (i + r) * a.stride
			vec.Round32(dst.Row(r), a.f64[at:at+a.cols])
		}
	case a.f64 == nil:
		gather(dst, a.f32, i*a.stride, a.stride, a.step)
	default:
		gather(dst, a.f64, i*a.stride, a.stride, a.step)
	}
	return matrix.Rows{Dense: dst}, allFinite(dst, a.first+i)
}

// direct says that rows are what the engine takes.
func (a *array) direct() bool { return a.f64 == nil && a.step == 1 }

func gather[T float32 | float64](dst *matrix.Dense, from []T, at, stride, step int) {
	for j := range dst.Cols {
		for i := range dst.Rows {
			dst.Data[i*dst.Stride+j] = float32(from[at+i*stride+j*step])
		}
	}
}

func allFinite(x *matrix.Dense, first int) error {
	for r := range x.Rows {
		if err := finite(x.Row(r), first+r, 1); err != nil {
			return err
		}
	}
	return nil
}

// finite refuses numbers that are none; with columns = 0 their place is not known.
func finite(row []float32, i, columns int) error {
	for j, v := range row {
		if v-v != 0 {
			if columns == 0 {
				return fmt.Errorf("the values from row %d on have NaN, infinity or a number beyond float32", i)
			}
			return fmt.Errorf("row %d, column %d (from 0): NaN, infinity or a number beyond float32", i, j)
		}
	}
	return nil
}

// source is an array with targets and weights as a dataset.Source.
type source struct {
	x       *array
	y       []float64
	outputs int
	codes   []int32 // of classes, in place of y
	classes []string
	weights []float64
	schema  dataset.Schema
}

func (s *source) Name() string            { return "rows in memory" }
func (s *source) Schema() *dataset.Schema { return &s.schema }

func (s *source) Open(ctx context.Context) (dataset.Reader, error) {
	return &reader{source: s, ctx: ctx}, nil
}

// reader hands out copies, which their user may change.
type reader struct {
	*source
	ctx     context.Context
	row     int
	dense   matrix.Dense
	batch   matrix.Batch
	names   []string
	y       []float64
	weights []float64
}

func (r *reader) Next() (*matrix.Batch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	i := r.row
	j := min(i+batchRows, r.x.rows)
	if i == j {
		return nil, io.EOF
	}
	x, err := r.x.slice(i, j, &r.dense)
	if err != nil {
		return nil, err
	}
	switch {
	case x.CSR != nil:
		lo, hi := x.CSR.Ptr[0], x.CSR.Ptr[j-i]
		c := &matrix.CSR{Rows: j - i, Cols: x.CSR.Cols}
		c.Idx, c.Val = append(c.Idx, x.CSR.Idx[lo:hi]...), append(c.Val, x.CSR.Val[lo:hi]...)
		for _, p := range x.CSR.Ptr[:j-i+1] {
			c.Ptr = append(c.Ptr, p-lo)
		}
		x.CSR = c
	case r.x.direct():
		r.dense.Reshape(j-i, r.x.cols)
		for k := range j - i {
			copy(r.dense.Row(k), x.Dense.Row(k))
		}
		x.Dense = &r.dense
	}
	b := matrix.Batch{X: x, First: i}
	if r.source.weights != nil {
		r.weights = append(r.weights[:0], r.source.weights[i:j]...)
		b.Weights = r.weights
	}
	switch {
	case r.codes != nil:
		b.Outputs = 1
		r.names, r.y = r.names[:0], r.y[:0]
		for _, c := range r.codes[i:j] {
			r.names, r.y = append(r.names, r.classes[c]), append(r.y, nan)
		}
		b.Names, b.Y = r.names, r.y
	case r.source.y != nil:
		b.Outputs = r.outputs
		r.y = append(r.y[:0], r.source.y[i*r.outputs:j*r.outputs]...)
		b.Y = r.y
	}
	r.row, r.batch = j, b
	return &r.batch, nil
}

func (r *reader) Progress() float64 { return float64(r.row) / float64(max(r.x.rows, 1)) }
func (r *reader) Close() error      { return nil }
