package mercer

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/matrix"
)

// Data is where rows come from: a file, rows in memory, records, a channel, a query. It is opened by
// what it is given to, with the schema of the model where there is one already.
type Data struct {
	open func(ctx context.Context, of purpose) (*opened, error)

	// path and opt are those of a File, which can be looked at more than once.
	path string
	opt  Options
}

// purpose is what data are opened for.
type purpose struct {
	schema    *dataset.Schema // of a model; nil: there is none yet
	bags      bool
	asWritten bool // dataset.Options.AsWritten
}

// options are those that data were given with, for a purpose.
func (p purpose) options(o Options) Options {
	o.Schema = p.schema
	o.AsWritten = o.AsWritten || p.asWritten
	return o
}

// opened is data that have been opened: rows, or bags.
type opened struct {
	rows  dataset.Source
	bags  dataset.Bags
	close func() error // never nil
}

// Unseen is a value of a categorical column that the model does not know, which counts as none of those that it knows, or a number that is not
// written as those of the training.
type Unseen struct {
	Data string // what the data are called
	dataset.Unseen
}

// unseen are the values that the model does not know, as of the last pass.
func (o *opened) unseen() (list []Unseen) {
	var src interface{ Name() string } = o.rows
	if o.bags != nil {
		src = o.bags
	}
	if f, ok := src.(interface{ UnseenCategories() []dataset.Unseen }); ok {
		for _, u := range f.UnseenCategories() {
			list = append(list, Unseen{src.Name(), u})
		}
	}
	return list
}

func (d Data) opened(ctx context.Context, of purpose) (*opened, error) {
	if d.open == nil {
		return nil, errors.New("there are no data: give a File, Rows, Records, or another of their kind")
	}
	o, err := d.open(ctx, of)
	if err == nil && o.close == nil {
		o.close = func() error { return nil }
	}
	return o, err
}

// Options say how a file or records are read: which column is the label, what is done about missing
// values, and so on. The zero value finds out by itself.
type Options = dataset.Options

// File is a data file: LIBSVM text, CSV and its kin, ARFF, JSON lines, Parquet, NPY, npz of a sparse matrix or IDX, also
// compressed; "-" is standard input. It is streamed. For a model of bags, or where opt names a Group, it
// holds bags in the forms that dataset.OpenBags tells of.
func File(path string, opt Options) Data {
	return Data{path: path, opt: opt, open: func(ctx context.Context, of purpose) (*opened, error) {
		o := of.options(opt)
		if of.bags || o.Group != "" {
			f, err := dataset.OpenBags(ctx, path, o)
			if err != nil {
				return nil, err
			}
			return &opened{bags: f, close: f.Close}, nil
		}
		f, err := dataset.Open(ctx, path, o)
		if err != nil {
			return nil, err
		}
		return &opened{rows: f, close: f.Close}, nil
	}}
}

// missing fails where a file of the data is not there.
func (d Data) missing() error {
	for _, path := range []string{d.path, d.opt.LabelsFile} {
		if _, err := os.Stat(path); path != "" && path != "-" && dataset.Local(path) && !strings.ContainsAny(path, "*?[") && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	return nil
}

// regular says that the data are in regular files, which can be looked at before they are used.
func (d Data) regular() bool {
	for _, path := range []string{d.path, d.opt.LabelsFile} {
		if st, err := os.Stat(path); path != "" && (err != nil || !st.Mode().IsRegular() || dataset.Database(path)) {
			return false
		}
	}
	return d.path != ""
}

// folder says that the data are a folder, whose files are bags.
func (d Data) folder() bool {
	st, err := os.Stat(d.path)
	return d.path != "" && err == nil && st.IsDir()
}

// Fits says before a training what would keep a file from being read after it: other columns or, in
// LIBSVM text, of which only a whole pass tells it, larger indices ([WiderError]). read is how the rows of
// the training are read. What can be read once only is not looked at. Train asks it of Config.Test.
func (d Data) Fits(ctx context.Context, read dataset.Schema) error {
	if !d.regular() {
		return nil
	}
	dim, o := read.Dim, d.opt
	o.Schema, o.Dim = &read, 0
	f, err := dataset.Open(ctx, d.path, o)
	if err == nil && read.Format == "libsvm" && f.Schema().Format == "libsvm" {
		f.Close()
		read.Dim = 0 // any
		f, err = dataset.Open(ctx, d.path, o)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if read.Format != "libsvm" || f.Schema().Format != "libsvm" {
		return nil
	}
	widest := 0
	for b, err := range dataset.Each(ctx, f) {
		if err != nil {
			return err
		}
		widest = max(widest, b.X.Dim())
	}
	if widest > dim {
		return &WiderError{Name: filepath.Base(d.path), Dim: widest, Trained: dim}
	}
	return nil
}

// fitsBags is Fits for bags, of which only the beginning is looked at.
func (d Data) fitsBags(ctx context.Context, read *dataset.Schema) error {
	if !d.regular() && !d.folder() {
		return nil
	}
	o, err := d.opened(ctx, purpose{schema: read, bags: true})
	if err != nil {
		return err
	}
	o.close()
	return nil
}

// WiderError says that test data have more dimensions than the rows of the training, which only a wider
// training can take.
type WiderError struct {
	Name         string
	Dim, Trained int
}

func (e *WiderError) Error() string {
	return fmt.Sprintf("%s: has %s dimensions, but the data of the training have %s; train with dim %d", e.Name,
		units.Count(e.Dim), units.Count(e.Trained), e.Dim)
}

// Source is any source of rows, such as dataset.FromRows.
func Source(src dataset.Source) Data {
	return Data{open: func(context.Context, purpose) (*opened, error) {
		if src == nil {
			return nil, errors.New("the source of rows is nil")
		}
		return &opened{rows: src}, nil
	}}
}

// Bags is any source of bags, such as dataset.FromBags.
func Bags(src dataset.Bags) Data {
	return Data{open: func(context.Context, purpose) (*opened, error) {
		if src == nil {
			return nil, errors.New("the source of bags is nil")
		}
		return &opened{bags: src}, nil
	}}
}

// Rows are rows of numbers with the number to predict for each, or the class where the numbers are few and
// whole. y is nil for rows to predict. They are copied to float32.
func Rows(x [][]float64, y []float64) Data { return inMemory(x, y, nil) }

// Labelled are rows of numbers with a class each.
func Labelled(x [][]float64, labels []string) Data {
	if labels == nil {
		labels = []string{}
	}
	return inMemory(x, nil, labels)
}

func inMemory(x [][]float64, y []float64, labels []string) Data {
	return Data{open: func(context.Context, purpose) (*opened, error) {
		if len(x) == 0 {
			return nil, errors.New("there are no rows")
		}
		dense := matrix.NewDense(len(x), len(x[0]))
		for i, row := range x {
			if len(row) != dense.Cols {
				return nil, &RowError{Row: i, Dim: -1, Err: fmt.Errorf("the row has %d numbers, the first has %d", len(row), dense.Cols)}
			}
			for j, v := range row {
				if dense.Row(i)[j] = float32(v); v-v != 0 || dense.Row(i)[j]-dense.Row(i)[j] != 0 {
					return nil, &RowError{Row: i, Dim: j, Err: fmt.Errorf("%g is not a finite number of float32", v)}
				}
			}
		}
		src, err := dataset.FromRows(matrix.Rows{Dense: dense}, y, 1, labels)
		return &opened{rows: src}, err
	}}
}

// Records are records that come once, from an iterator that may fail: a map[string]any, a struct or a
// pointer to one. Their values are kept, since a training reads its rows twice: in memory, or in a temporary file if they are many.
// dataset.FromRecords says what becomes of their fields; opt.Label names the label's.
func Records[R any](records iter.Seq2[R, error], opt Options) Data {
	return spooled("records", nil, func(context.Context) iter.Seq2[any, error] {
		return func(yield func(any, error) bool) {
			for r, err := range records {
				if !yield(r, err) {
					return
				}
			}
		}
	}, opt)
}

// Slice are records in a slice, which must stay as they are while they are in use: nothing is copied.
func Slice[R any](records []R, opt Options) Data {
	return recordData(opt, func(ctx context.Context, o Options) (*dataset.File, error) {
		return dataset.FromList(ctx, "records", nil, len(records), func(i int) any { return records[i] }, o)
	})
}

// Channel are records from a channel, which are read until it is closed.
func Channel[R any](records <-chan R, opt Options) Data {
	return spooled("channel", nil, func(ctx context.Context) iter.Seq2[any, error] {
		return func(yield func(any, error) bool) {
			for {
				select {
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				case r, more := <-records:
					if !more || !yield(r, nil) {
						return
					}
				}
			}
		}
	}, opt)
}

// SQL are the rows of a query, which are read to their end; closing them is the caller's. Texts are
// categories, but for columns of decimal numbers.
func SQL(rows *sql.Rows, opt Options) Data {
	if rows == nil {
		return Data{open: func(context.Context, purpose) (*opened, error) {
			return nil, errors.New("the rows of the query are nil")
		}}
	}
	return Data{open: func(ctx context.Context, of purpose) (*opened, error) {
		types, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		var names []string
		for _, t := range types {
			if slices.Contains(names, t.Name()) {
				return nil, fmt.Errorf("query: two columns are called %q; give one of them another name (AS)", t.Name())
			}
			names = append(names, t.Name())
		}
		return spooled("query", names, func(context.Context) iter.Seq2[any, error] {
			return func(yield func(any, error) bool) { eachSQL(rows, types, yield) }
		}, opt).open(ctx, of)
	}}
}

func eachSQL(rows *sql.Rows, types []*sql.ColumnType, yield func(any, error) bool) {
	values, places := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			yield(nil, err)
			return
		}
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				v = string(b)
				values[i] = v
			}
			if text, ok := v.(string); ok && decimal(types[i].DatabaseTypeName()) {
				if _, err := strconv.ParseFloat(text, 64); err != nil {
					yield(nil, &FieldError{Field: types[i].Name(), Value: text, Reason: fmt.Sprintf("%q is not a number", text)})
					return
				}
				values[i] = json.Number(text) // which may have more digits than float64
			}
		}
		if !yield(values, nil) {
			return
		}
	}
	if err := rows.Err(); err != nil {
		yield(nil, err)
	}
}

// decimal says whether a type of a database holds numbers, though drivers may hand them out as text.
func decimal(name string) bool {
	name, _, _ = strings.Cut(strings.ToUpper(name), "(")
	return slices.Contains([]string{"DECIMAL", "NUMERIC", "NUMBER", "INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT",
		"FLOAT", "DOUBLE", "REAL"}, strings.TrimPrefix(name, "UNSIGNED "))
}

// spooled are records that come once.
func spooled(name string, names []string, records func(context.Context) iter.Seq2[any, error], opt Options) Data {
	return recordData(opt, func(ctx context.Context, o Options) (*dataset.File, error) {
		return dataset.FromRecords(ctx, name, names, records(ctx), o)
	})
}

func recordData(opt Options, open func(ctx context.Context, o Options) (*dataset.File, error)) Data {
	return Data{open: func(ctx context.Context, of purpose) (*opened, error) {
		f, err := open(ctx, of.options(opt))
		if err != nil {
			return nil, err
		}
		return &opened{rows: f, close: f.Close}, nil
	}}
}
