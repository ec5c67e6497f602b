package dataset

import (
	"bufio"
	"strconv"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/read/arrow"
	"mercer/internal/read/parquet"
	"mercer/matrix"
)

// columnRows writes rows of numbers as a table of float columns, whose names are their numbers from 0, in Parquet or Arrow.
type columnRows struct {
	file     *atomicfile.File
	w        *bufio.Writer
	cols     int
	row      []float32 // of a sparse row
	nonZeros int64

	out interface {
		Float(v float32) error
		Close() error
	}
}

func createColumns(path, format string, cols int) (*columnRows, error) {
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &columnRows{file: file, w: bufio.NewWriterSize(file, 1<<20), cols: cols, row: make([]float32, cols)}
	if format == "parquet" {
		fields := make([]parquet.Field, cols)
		for j := range fields {
			fields[j] = parquet.Field{Name: strconv.Itoa(j), Kind: parquet.Float}
		}
		w.out, err = parquet.NewWriter(w.w, fields)
	} else {
		fields := make([]arrow.Field, cols)
		for j := range fields {
			fields[j] = arrow.Field{Name: strconv.Itoa(j), Kind: arrow.Float}
		}
		w.out, err = arrow.NewWriter(w.w, format == "arrow", fields)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

// Write implements RowWriter; labels have no place.
func (w *columnRows) Write(batch *matrix.Batch) error {
	for i := range batch.X.Len() {
		row := w.row
		if batch.X.CSR == nil {
			row = batch.X.Dense.Row(i)
		} else {
			clear(row)
			eachValue(batch.X, i, func(col int32, v float32) { row[col] = v })
		}
		for _, v := range row {
			if v != 0 {
				w.nonZeros++
			}
			if err := w.out.Float(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// NonZeros implements RowWriter.
func (w *columnRows) NonZeros() int64 { return w.nonZeros }

// Commit implements RowWriter.
func (w *columnRows) Commit() error {
	err := w.out.Close()
	if err == nil {
		err = w.w.Flush()
	}
	if err != nil {
		return err
	}
	return w.file.Commit()
}

// Close implements RowWriter.
func (w *columnRows) Close() error { return w.file.Close() }
