// Package outside joins package dataset, which reads tables, with readers of what is no file of rows, such as databases, or is not on this
// machine. A program has those that it imports.
package outside

import (
	"context"
	"io"
	"time"
)

// Request says what is to be read.
type Request struct {
	Path  string // of a file, or a URL
	Query string // an SQL query, or
	Table string // the name of a table
}

// Rows takes the rows of a table, cell by cell.
type Rows interface {
	// Begin tells the names of the columns, and which of them are texts whatever they look like.
	Begin(names []string, texts []bool) error

	Missing()
	Number(v float64)
	Whole(v int64)
	Bool(v bool)
	Time(v time.Time)

	// Text takes a text, or a number as it is written, which it copies.
	Text(v []byte)

	// End ends the row.
	End() error
}

// Reader reads tables of one kind.
type Reader struct {
	// Takes says whether a path, or a file that begins with head, is for this reader. Head is nil if there is no such file.
	Takes func(path string, head []byte) bool

	// Name is what messages call the data.
	Name func(path string) string

	// Read gives all rows, once. Its errors begin with Name.
	Read func(ctx context.Context, r Request, to Rows) error
}

// Fetch opens what is at an address on the web; nil in a program that cannot. size is -1 if it is unknown.
var Fetch func(ctx context.Context, address string) (r io.ReadCloser, size int64, err error)

var readers []Reader

// Register adds a reader, while the program starts.
func Register(r Reader) { readers = append(readers, r) }

// For is the reader of a path; nil if there is none.
func For(path string, head []byte) *Reader {
	for i := range readers {
		if readers[i].Takes(path, head) {
			return &readers[i]
		}
	}
	return nil
}
