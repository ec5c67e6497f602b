package dataset

import (
	"errors"
	"fmt"
)

// RowError is an error in a row, or in one of its values. [errors.As] finds it in the errors of all
// readers and of all functions that take their rows, so that a program can show, skip or correct the place.
type RowError struct {
	// Source is the user's name for the data; "" for data in memory without a name.
	Source string

	// Row is the number of the row in the source's file, from 0, or of the bag if Bag is set. Blank lines,
	// comments and headers do not count. It is -1 if the error is not in a row, but in a header, say.
	Row int
	Bag bool

	// Line is the line of a text file at which the row begins, from 1; 0 in other formats.
	Line int

	// Column is the name of the column, or its position in a file without names, or the index in
	// LIBSVM text. "" if the error is about the row as a whole.
	Column string

	// Dim is the input dimension, from 0; -1 if the value is not a number among the inputs.
	Dim int

	// Value is the text found there, at most 40 bytes of it; "" if there is no single value.
	Value string

	// Err is what is wrong, without the place.
	Err error

	place string // the place in the message; "" is made of the fields
}

// Error is the place and what is wrong.
func (e *RowError) Error() string {
	place := e.place
	switch {
	case place != "":
	case e.Bag:
		place = fmt.Sprintf("bag %d (from 0)", e.Row)
	case e.Dim >= 0:
		place = fmt.Sprintf("row %d, dimension %d (from 0)", e.Row, e.Dim)
	default:
		place = fmt.Sprintf("row %d (from 0)", e.Row)
	}
	return place + ": " + e.Err.Error()
}

// Unwrap is what is wrong.
func (e *RowError) Unwrap() error { return e.Err }

// PooledFormat is the Schema.Format of pooled rows, which messages count as bags.
const PooledFormat = "bags"

// RowPlace is the location of a row of a source, from 0, as text: the file and the row's number there,
// from 1. Pooled rows are counted like bags in all messages, from 0.
func RowPlace(src Source, row int) string {
	row = Origin(src, row)
	if src.Schema().Format == PooledFormat {
		return fmt.Sprintf("%s: bag %d (from 0)", src.Name(), row)
	}
	return fmt.Sprintf("%s: row %d", src.Name(), row+1)
}

// AtRow is an error about a row of a source, from 0.
func AtRow(src Source, row int, err error) *RowError {
	return &RowError{Source: src.Name(), Row: Origin(src, row), Bag: src.Schema().Format == PooledFormat, Dim: -1, Err: err,
		place: RowPlace(src, row)}
}

// Locate turns an error about the rows of a batch, whose first row has the number first, into
// one about their source: a RowError without a source gets the file's row and column. Other errors
// get the source's name.
func Locate(err error, src Source, first int) error {
	var e *RowError
	if !errors.As(err, &e) || e.Source != "" {
		return fmt.Errorf("%s: %w", src.Name(), err)
	}
	at := AtRow(src, first+e.Row, e.Err)
	at.Column, at.Dim, at.Value = e.Column, e.Dim, e.Value
	if e.Dim >= 0 {
		at.Column = src.Schema().columnName(e.Dim)
		at.place += ", " + src.Schema().DimName(e.Dim)
	}
	return at
}

// LocateBag is Locate for an error about the bags of a batch, in which a RowError counts from the
// first of them. Bags with a name are called by it.
func LocateBag(err error, src Bags, b *BagBatch) error {
	var e *RowError
	if !errors.As(err, &e) || e.Source != "" {
		return fmt.Errorf("%s: %w", src.Name(), err)
	}
	at := *e
	at.Source, at.Row, at.Bag = src.Name(), BagOrigin(src, b.First+e.Row), true
	at.place = fmt.Sprintf("%s: bag %d (from 0)", src.Name(), at.Row)
	if b.Keys != nil {
		at.place = fmt.Sprintf("%s: bag %q", src.Name(), b.Keys[e.Row])
	}
	return &at
}

// inColumn is an error about a cell, before the row's position is known; where names the column
// in the message, "" if err does.
func inColumn(where, column string, dim int, value []byte, err error) *RowError {
	return &RowError{Row: -1, Column: column, Dim: dim, Value: shorten(value), Err: err, place: where}
}

// atLine is an error about a line of a text file, or about a cell in it.
func atLine(source string, line int, err error) *RowError {
	e := inPlace(source, err, fmt.Sprintf("%s:%d", source, line), ": ")
	e.Line = line
	return e
}

// atNumber is an error about a row, from 0, of data that are no text, or about a cell in it.
func atNumber(source string, row int, err error) *RowError {
	e := inPlace(source, err, fmt.Sprintf("%s: row %d", source, row+1), ", ")
	e.Row = row
	return e
}

// atIndex is atNumber for an array, whose rows are counted from 0 as its columns are.
func atIndex(source string, row int, err error) *RowError {
	e := inPlace(source, err, fmt.Sprintf("%s: row %d (from 0)", source, row), ", ")
	e.Row = row
	return e
}

// inPlace puts a place before that of an error.
func inPlace(source string, err error, place, between string) *RowError {
	e, ok := err.(*RowError)
	if !ok {
		e = &RowError{Row: -1, Dim: -1, Err: err}
	}
	if e.place != "" {
		place += between + e.place
	}
	e.Source, e.place = source, place
	return e
}

// placed is an input of several files, which says where a line is.
type placed interface {
	place(line int) (source string, lineThere int)
}

// atLine is an error about a line of the table.
func (t *table) atLine(line int, err error) *RowError {
	name := t.Name()
	if p, ok := t.in.(placed); ok {
		name, line = p.place(line)
	}
	return atLine(name, line, err)
}

// columnQuoted names a column in a message.
func columnQuoted(name string) string { return fmt.Sprintf("column %q", name) }
