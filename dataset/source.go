// Package dataset reads data sets as streams of batches: LIBSVM text, CSV and similar tables,
// ARFF, JSON lines, Parquet, Arrow, NPY, npz of sparse matrices and IDX files, compressed or not, from a file or from
// standard input. A source can be opened any number of times, and a pass over it holds a few batches
// in memory, however long the data are. Bags, sets of rows with one label, are read as rows of a
// file, as images of an array, or as one file each (OpenBags). CreateRows writes rows in a stream.
package dataset

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"mercer/matrix"
)

// Source is a data set that can be read several times; every pass gives the same rows in
// the same order.
type Source interface {
	// Name is the name of the data in messages: a file's path as the user gave it.
	Name() string

	// Schema describes a row. Dim is 0 if only a whole pass can determine it
	// (LIBSVM text without a given width).
	Schema() *Schema

	// Open starts a pass. When ctx ends, Next returns its error.
	Open(ctx context.Context) (Reader, error)
}

// Reader is one pass over a source.
type Reader interface {
	// Next returns the next batch, which is valid until the next call and may be changed
	// by the caller; at the end it returns io.EOF. Its errors name the place. A batch's X,
	// Y (except for textual labels) and Weights never contain NaN or Inf.
	Next() (*matrix.Batch, error)

	// Progress is the share of the source that has been read, in [0, 1], or -1 if unknown.
	Progress() float64

	// Close ends the pass and releases what it holds.
	Close() error
}

// Renumbered is a source of some rows of another, with new numbers.
type Renumbered interface {
	Source

	// Origin is the number, from 0, of a row of the source in its original file.
	Origin(row int) int
}

// Origin is the number of a row of a source in its original file, both from 0: the
// number that messages use.
func Origin(src Source, row int) int {
	if r, ok := src.(Renumbered); ok {
		return r.Origin(row)
	}
	return row
}

// Schema describes how a row of a data set becomes a row of numbers. It is stored in a model,
// so that later data are read in the same way.
type Schema struct {
	// Format is "libsvm", "csv", "arff", "npy", "npz", "idx", "rows" for data made in memory, or
	// PooledFormat.
	Format string `json:"format"`

	// Dim is the number of input dimensions d, after one-hot coding.
	Dim int `json:"dim"`

	// Header means that the columns' names came from the file.
	Header bool `json:"header,omitempty"`

	// Columns are the input columns of a table in the order of the file, without label
	// and weight; nil for formats without columns.
	Columns []Column `json:"columns,omitempty"`

	// Width is the number of columns of a table, labels and weights included.
	Width int `json:"width,omitempty"`

	// Labels are the label columns, nil if there are none.
	Labels []Place `json:"labels,omitempty"`

	// LabelSeparator separates the labels of a row if it may have any number;
	// "" if it has one.
	LabelSeparator string `json:"label_separator,omitempty"`

	// Weight is the column of weights, nil if there is none.
	Weight *Place `json:"weight,omitempty"`

	// Group is the column that identifies a row's bag, nil if rows are not in bags.
	Group *Place `json:"group,omitempty"`

	// Base is the index of the first dimension in LIBSVM text, 0 or 1.
	Base int `json:"base,omitempty"`

	// Missing is how missing values were treated: "auto", "error" (or "", in older models), "mean" or "zero".
	Missing string `json:"missing,omitempty"`

	// NA are texts that stand for a missing value besides the usual ones.
	NA []string `json:"na,omitempty"`

	// Ignored are the columns that are no inputs, and IDs those that name rows.
	Ignored []Place `json:"ignored,omitempty"`
	IDs     []Place `json:"ids,omitempty"`

	// Unlabelled, in Options.Schema, leaves the labels of a table alone, which may then be empty: rows are only predicted.
	Unlabelled bool `json:"-"`

	nominal bool // the file declares the label as one of given values, so that numbers are classes
}

// Column is one input column of a table.
type Column struct {
	Place

	// Categories are the values of a categorical column, sorted; value i becomes a 1 in
	// the i-th of len(Categories) dimensions. nil for a numeric column.
	Categories []string `json:"categories,omitempty"`

	// Mean replaces a missing value if Schema.Missing is "mean" or "auto".
	Mean float64 `json:"mean,omitempty"`

	// Coding is nil for a plain number or one-hot categories.
	Coding *Coding `json:"coding,omitempty"`

	// Means, if not nil, take the place of all that: a dimension for each target, its mean over the rows of the training
	// with the same value.
	Means *Means `json:"means,omitempty"`

	// Marks are texts that stand for a missing value in this column of numbers, besides the usual ones and Schema.NA.
	Marks []string `json:"marks,omitempty"`

	// Indicator means that the last dimension of the column is 1 where the value is missing.
	Indicator bool `json:"indicator,omitempty"`

	// Seen describes the values of the rows of the training; nil in columns of other kinds than plain numbers and one-hot
	// categories, and in older models.
	Seen *Seen `json:"seen,omitempty"`
}

// Place is the name and position of a column in its file.
type Place struct {
	// Name is from the file's first line, or the position as text.
	Name string `json:"name"`

	// At is the position, from 0.
	At int `json:"at"`
}

// Width is the number of dimensions that the column takes: 1 for a number, one for each category, those of its
// Coding or of its Means, and one more for an Indicator.
func (c *Column) Width() int {
	w := c.plainWidth()
	if c.Means != nil {
		w = c.Means.Outputs
	}
	if c.Indicator {
		w++
	}
	return w
}

// plainWidth is Width without Means and Indicator.
func (c *Column) plainWidth() int {
	switch {
	case c.Categories != nil:
		return len(c.Categories)
	case c.Coding != nil:
		return c.Coding.width()
	}
	return 1
}

// dimName names dimension k of the column in a message.
func (c *Column) dimName(k int) string {
	what := ""
	switch {
	case c.Indicator && k == c.Width()-1:
		what = "missing"
	case c.Means != nil:
		what = "mean target"
	case c.Categories != nil:
		what = fmt.Sprintf("value %q", c.Categories[k])
	case c.Coding != nil:
		what = c.Coding.dimName(k)
	}
	if what == "" {
		return fmt.Sprintf("column %q", c.Name)
	}
	return fmt.Sprintf("column %q, %s", c.Name, what)
}

// Check finds what is wrong with the columns of a schema that was read from a file.
func (s *Schema) Check() error {
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Means != nil {
			if err := c.Means.check(c); err != nil {
				return fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		if c.Seen != nil {
			if err := c.Seen.check(c); err != nil {
				return fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		seen := make(map[string]bool, len(c.Categories))
		for _, name := range c.Categories {
			switch {
			case seen[name]:
				return fmt.Errorf("column %q has the category %q twice", c.Name, name)
			case !utf8.ValidString(name):
				return fmt.Errorf("column %q has the category %q, which is not UTF-8", c.Name, name)
			}
			seen[name] = true
		}
		if c.Coding == nil {
			continue
		}
		if c.Categories != nil {
			return fmt.Errorf("column %q has both categories and a coding", c.Name)
		}
		if err := c.Coding.check(); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	return nil
}

// DimName names a dimension, from 0, in an error: by its column's name if it
// has one.
func (s *Schema) DimName(dim int) string {
	if c, first := s.columnOf(dim); c != nil {
		return c.dimName(dim - first)
	}
	if s.Format == "libsvm" {
		return fmt.Sprintf("index %d", dim+s.Base)
	}
	return fmt.Sprintf("dimension %d (from 0)", dim)
}

// ByColumn adds up values of dimensions by the columns that they are of: those of a column of categories are
// one. names are the columns, or dimensions as the format numbers them.
func (s *Schema) ByColumn(values []float64) (names []string, sums []float64) {
	var last *Column
	for dim, v := range values {
		c, _ := s.columnOf(dim)
		switch {
		case c == nil:
			names, sums = append(names, s.columnName(dim)), append(sums, v)
		case c == last:
			sums[len(sums)-1] += v
		default:
			names, sums = append(names, c.Name), append(sums, v)
		}
		last = c
	}
	return names, sums
}

// columnOf is the table column that a dimension belongs to, and the first dimension of that column;
// nil in formats without columns.
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

// columnName is the column of a dimension in a RowError.
func (s *Schema) columnName(dim int) string {
	if c, _ := s.columnOf(dim); c != nil {
		return c.Name
	}
	return strconv.Itoa(dim + s.Base)
}

// Options define how a file is read; the zero value detects everything.
type Options struct {
	// Format is "auto" (or ""), "libsvm", "csv", "tsv", "blank" (separated by blanks),
	// "arff", "jsonl", "parquet", "arrow", "npy", "npz" or "idx".
	Format string `json:"format,omitempty"`

	// Label names the label column of a table: a name, an index from 0 (negative: from
	// the end), several of these separated by commas (several outputs), or "none".
	// "" means the last column.
	Label string `json:"label,omitempty"`

	// LabelSeparator means that a row may have any number of labels, separated by it, in
	// the label column of a table; an empty cell means none. In LIBSVM text it is a comma, and
	// need not be given if one of the first rows has several labels.
	LabelSeparator string `json:"label_separator,omitempty"`

	// DropUnlabelled leaves out the rows of a table that have no label, of which there is otherwise an error. Of lists of labels, and of
	// formats that always have one, it leaves out none.
	DropUnlabelled bool `json:"drop_unlabelled,omitempty"`

	// LabelsFile is a file of labels, one per row, for formats that hold only inputs (IDX,
	// NPY, npz) or for tables: itself IDX, NPY or text.
	LabelsFile string `json:"labels_file,omitempty"`

	// LabelsOptional says that what is done needs no labels: rows of a table may lack theirs, which are then NaN without a name.
	LabelsOptional bool `json:"labels_optional,omitempty"`

	// AllInputs says that an array has no label unless Label names a column: what is done needs none. Otherwise it is the last.
	AllInputs bool `json:"all_inputs,omitempty"`

	// Weight names the column of row weights, by name or index.
	Weight string `json:"weight,omitempty"`

	// Group names the column by which OpenBags puts rows into bags, by name or index; "qid" in
	// LIBSVM text, whose rows then have qid:NUMBER after the label. It is not an input.
	Group string `json:"group,omitempty"`

	// Header is "auto" (or ""), "yes" or "no".
	Header string `json:"header,omitempty"`

	// Base is the first index of LIBSVM text, "0" or "1"; "auto" (or "") is that of Schema if it is of LIBSVM text too, and 1
	// otherwise.
	Base string `json:"base,omitempty"`

	// Encoding is that of text: "auto" (or ""), which is UTF-8, or UTF-16 if the text begins with a byte order mark; "utf-8",
	// "utf-16", "utf-16le", "utf-16be", "windows-1252" or "latin-1". Text that is not of its encoding is an error.
	Encoding string `json:"encoding,omitempty"`

	// Stream means that a pipe is read as a stream: what one pass has read is kept in
	// memory for the next, until File.LastPass. Otherwise it is first copied to a file.
	Stream bool `json:"-"`

	// Query and Table say what is read of a database, an SQLite file or postgres://host/name: the rows of a query, or all of a
	// table. Of an SQLite file with one table neither is needed. The program has to import package database.
	Query string `json:"query,omitempty"`
	Table string `json:"table,omitempty"`

	// Missing is what is done about missing values of columns of numbers, which in arrays are NaN: "auto" (or ""), "error", "mean" or "zero". Auto
	// takes the mean, with a further dimension that is 1 where the value is missing if any is missing in the
	// training; in a column of categories, missing is a category. A stream, which is read once, has no means, so auto
	// is an error there.
	Missing string `json:"missing,omitempty"`

	// AsWritten takes columns of numbers as they are written where otherwise the smallest is subtracted from all, because
	// float32 would not keep what makes them differ ([CodedOffset]).
	AsWritten bool `json:"-"`

	// Columns says what the columns of a table are, beside the label, the weight and the group.
	Columns ColumnOptions `json:"columns,omitzero"`

	// Dim is the width of LIBSVM rows; 0 means that it is determined from the data.
	Dim int `json:"dim,omitempty"`

	// Memory bounds the bytes that a survey of the rows may hold, 96 for each column, because LIBSVM text or an
	// npz archive can claim any number of columns in a few bytes; 0 means no bound. With a model's Schema, its
	// width is the bound.
	Memory int64 `json:"-"`

	// BatchRows is the largest number of rows in a batch; 0 means 4096.
	BatchRows int `json:"batch_rows,omitempty"`

	// within makes a row of each location of an array of more than two dimensions, where a
	// location has indices in all but the last dimension: "bags" if the first of them counts bags, or "file"
	// if the whole file is one bag.
	within string

	// firstRow is the number of the first row, for what is drawn by number.
	firstRow int

	// heads, if not nil, know heads of text that were looked at.
	heads *heads

	// look, if not nil, gives what a look at all rows of a table finds.
	look func(*table) (*collected, *collector, error)

	// texts are columns of a table that hold text, even if it looks like numbers.
	texts map[string]bool

	// like is the file of Schema if it is not a model's.
	like string

	// Schema is that of a trained model, which the file has to match: columns by name
	// if both have a header, otherwise by position; a missing label column is then not an
	// error (the rows are unlabelled).
	Schema *Schema `json:"-"`
}

// trainedOn is the beginning of messages about Schema.
func (o *Options) trainedOn() string {
	if o.like != "" {
		return "the first file (" + o.like + ") has"
	}
	return "the model was trained on"
}
