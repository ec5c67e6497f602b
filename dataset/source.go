// Package dataset reads data sets as streams of batches: LIBSVM text, CSV and its kin, ARFF,
// NPY, npz of sparse matrices and IDX files, compressed or not, from a file or from standard
// input. A source can be opened any number of times, and a pass over it holds a few batches in
// memory, however long the data are. Bags, sets of rows with one label, come as rows of a file,
// as images of an array, or as a file each (OpenBags). CreateRows writes rows as they come.
package dataset

import (
	"context"
	"fmt"
	"strconv"

	"mercer/matrix"
)

// Source is a data set that can be read several times; every pass gives the same rows in
// the same order.
type Source interface {
	// Name is what messages call the data: a file's path as the user gave it.
	Name() string

	// Schema says what a row consists of. Dim is 0 where only a whole pass can tell
	// (LIBSVM text without a given width).
	Schema() *Schema

	// Open starts a pass. When ctx ends, Next returns its error.
	Open(ctx context.Context) (Reader, error)
}

// Reader is one pass over a source.
type Reader interface {
	// Next returns the next batch, which is valid and the caller's to change until the
	// next call; at the end it returns io.EOF. Its errors name the place. No NaN or Inf
	// is ever in a batch's X, Y (but for textual labels) or Weights.
	Next() (*matrix.Batch, error)

	// Progress is the share of the source that has been read, in [0, 1], or -1 if unknown.
	Progress() float64

	// Close ends the pass and releases what it holds.
	Close() error
}

// Renumbered is a source of some rows of another, which numbers them anew.
type Renumbered interface {
	Source

	// Origin is the number, from 0, that a row of the source has in the file that it is from.
	Origin(row int) int
}

// Origin is the number that a row of a source has in the file that it is from, both from 0: what
// messages call the row.
func Origin(src Source, row int) int {
	if r, ok := src.(Renumbered); ok {
		return r.Origin(row)
	}
	return row
}

// Schema says how a row of a data set becomes a row of numbers. It is kept in a model, so
// that later data are read in the same way.
type Schema struct {
	// Format is "libsvm", "csv", "arff", "npy", "npz", "idx", "rows" for data made in memory, or
	// PooledFormat.
	Format string `json:"format"`

	// Dim is the number of input dimensions d, after one-hot coding.
	Dim int `json:"dim"`

	// Header says that the columns' names came from the file.
	Header bool `json:"header,omitempty"`

	// Columns are the input columns of a table in the order of the file, without label
	// and weight; nil for formats without columns.
	Columns []Column `json:"columns,omitempty"`

	// Width is the number of columns of a table, labels and weights included.
	Width int `json:"width,omitempty"`

	// Labels are the label columns, nil where there are none.
	Labels []Place `json:"labels,omitempty"`

	// LabelSeparator is what separates the labels of a row, of which it may have any number;
	// "" where it has one.
	LabelSeparator string `json:"label_separator,omitempty"`

	// Weight is the column of weights, nil if there is none.
	Weight *Place `json:"weight,omitempty"`

	// Group is the column that says which bag a row is of, nil if rows are no bags.
	Group *Place `json:"group,omitempty"`

	// Base is the index of the first dimension in LIBSVM text, 0 or 1.
	Base int `json:"base,omitempty"`

	// Missing says what became of missing values: "error", "mean" or "zero".
	Missing string `json:"missing,omitempty"`
}

// Column is one input column of a table.
type Column struct {
	Place

	// Categories are the values of a categorical column, sorted; value i becomes a 1 in
	// the i-th of len(Categories) dimensions. nil for a numeric column.
	Categories []string `json:"categories,omitempty"`

	// Mean replaces a missing value where Schema.Missing is "mean".
	Mean float64 `json:"mean,omitempty"`
}

// Place is where a column stands in its file.
type Place struct {
	// Name is from the file's first line, or the position as text.
	Name string `json:"name"`

	// At is the position, from 0.
	At int `json:"at"`
}

// Width is the number of dimensions that the column takes: 1 or the number of categories.
func (c *Column) Width() int {
	if c.Categories != nil {
		return len(c.Categories)
	}
	return 1
}

// DimName says which dimension, from 0, an error is about: by its column's name where it has
// one.
func (s *Schema) DimName(dim int) string {
	if c, first := s.columnOf(dim); c != nil {
		if c.Categories != nil {
			return fmt.Sprintf("column %q, value %q", c.Name, c.Categories[dim-first])
		}
		return fmt.Sprintf("column %q", c.Name)
	}
	if s.Format == "libsvm" {
		return fmt.Sprintf("index %d", dim+s.Base)
	}
	return fmt.Sprintf("dimension %d (from 0)", dim)
}

// columnOf is the column of a table that a dimension is of, and the first dimension of the column; nil
// in formats without columns.
func (s *Schema) columnOf(dim int) (c *Column, first int) {
	for i := range s.Columns {
		c := &s.Columns[i]
		if dim < first+c.Width() {
			return c, first
		}
		first += c.Width()
	}
	return nil, 0
}

// columnName is what a RowError calls the column of a dimension.
func (s *Schema) columnName(dim int) string {
	if c, _ := s.columnOf(dim); c != nil {
		return c.Name
	}
	return strconv.Itoa(dim + s.Base)
}

// Options say how a file is to be read; the zero value finds out by itself.
type Options struct {
	// Format is "auto" (or ""), "libsvm", "csv", "tsv", "blank" (separated by blanks),
	// "arff", "npy", "npz" or "idx".
	Format string `json:"format,omitempty"`

	// Label names the label column of a table: a name, an index from 0 (negative: from
	// the end), several of these separated by commas (several outputs), or "none".
	// "" means the last column.
	Label string `json:"label,omitempty"`

	// LabelSeparator says that a row may have any number of labels, separated by it, in the
	// label column of a table; an empty cell is none. In LIBSVM text it is a comma, and need not
	// be given where one of the first rows has several labels.
	LabelSeparator string `json:"label_separator,omitempty"`

	// LabelsFile is a file of labels, one per row, for formats that hold only inputs (IDX,
	// NPY, npz) or for tables: itself IDX, NPY or text.
	LabelsFile string `json:"labels_file,omitempty"`

	// Weight names the column of row weights, by name or index.
	Weight string `json:"weight,omitempty"`

	// Group names the column by which OpenBags puts rows into bags, by name or index; "qid" in
	// LIBSVM text, whose rows then have qid:NUMBER behind the label. It is no input.
	Group string `json:"group,omitempty"`

	// Header is "auto" (or ""), "yes" or "no".
	Header string `json:"header,omitempty"`

	// Base is the first index of LIBSVM text, "1" (or "") or "0".
	Base string `json:"base,omitempty"`

	// Stream says that a pipe is to be read as it comes: what one pass has read is kept in
	// memory for the next, until File.LastPass. Else it is copied to a file first.
	Stream bool `json:"-"`

	// Missing is "error" (or ""), "mean" or "zero".
	Missing string `json:"missing,omitempty"`

	// Dim is the width of LIBSVM rows, 0 if it is to be found out.
	Dim int `json:"dim,omitempty"`

	// Memory is how many bytes a survey of the rows may hold, 96 for each column, where LIBSVM text or
	// an npz archive claims any number of columns in a few bytes; 0 means no bound. A model's Schema
	// has another.
	Memory int64 `json:"-"`

	// BatchRows is the largest number of rows in a batch; 0 means 4096.
	BatchRows int `json:"batch_rows,omitempty"`

	// within makes rows of what an array of more than two dimensions holds at each location,
	// all but the last dimension: "bags", where the first of them counts bags, or "file", where
	// the whole file is one bag.
	within string

	// texts are columns of a table that hold text, whatever it looks like.
	texts map[string]bool

	// like is the file that Schema is of where it is that of no model.
	like string

	// Schema is that of a trained model, which the file has to match: columns by name
	// where both have a header, else by position; a missing label column is no error then
	// (the rows are unlabelled).
	Schema *Schema `json:"-"`
}

// trainedOn begins what messages say about Schema.
func (o *Options) trainedOn() string {
	if o.like != "" {
		return "the first file (" + o.like + ") has"
	}
	return "the model was trained on"
}
