package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"mercer/internal/arrow"
)

// ArrowRecords calls body with each row of an Arrow IPC stream or file: the names of its columns, and their values for
// [Encoder.Values] or Map, which are float64, string, bool, or nil for a missing one. Both are valid until body returns.
// The values may stand for at most so many bytes, which bounds what compressed data unpack to.
func ArrowRecords(data []byte, most int64, body func(names []string, values []any) error) error {
	var r *arrow.Reader
	var err error
	if isArrowFile(data) {
		r, err = arrow.NewFile(bytes.NewReader(data), int64(len(data)))
	} else {
		r, err = arrow.NewStream(bytes.NewReader(data), int64(len(data)))
	}
	if err != nil {
		return fmt.Errorf("the Arrow data cannot be read: %w", wholly(err))
	}
	defer r.Close()
	r.Most = most
	names := make([]string, len(r.Fields))
	values, read := make([]any, len(r.Fields)), make([]func(c *arrow.Column, row int) (any, error), len(r.Fields))
	for i := range r.Fields {
		names[i], read[i] = r.Fields[i].Name, arrowValue(&r.Fields[i])
	}
	for rows := 0; ; {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("the Arrow data are damaged after row %d: %w", rows, wholly(err))
		}
		for row := range b.Rows {
			for i := range b.Columns {
				c := &b.Columns[i]
				if values[i] = nil; c.Missing(row) {
					continue
				}
				if values[i], err = read[i](c, row); err != nil {
					return fmt.Errorf("row %d, column %q: %w", rows+row+1, c.Name, err)
				}
			}
			if err := body(names, values); err != nil {
				return err
			}
		}
		rows += b.Rows
	}
}

// wholly says of an early end what it is.
func wholly(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("they are cut short")
	}
	return err
}

// arrowValue is how a value of a column is read that is there: what has no type of its own in a record is a text, as in a table.
func arrowValue(f *arrow.Field) func(c *arrow.Column, row int) (any, error) {
	switch f.Kind {
	case arrow.Float, arrow.Double:
		return func(c *arrow.Column, row int) (any, error) { return present(c.Float(row)), nil }
	case arrow.Half:
		return func(c *arrow.Column, row int) (any, error) { return present(halfFloat(uint16(c.Int(row)))), nil }
	case arrow.Int:
		return func(c *arrow.Column, row int) (any, error) { return float64(c.Int(row)), nil }
	case arrow.Uint:
		return func(c *arrow.Column, row int) (any, error) { return float64(uint64(c.Int(row))), nil }
	case arrow.Bool:
		return func(c *arrow.Column, row int) (any, error) { return c.Int(row) != 0, nil }
	}
	write, _ := arrowWriter(f)
	quoted := f.Kind == arrow.Bytes && !f.UUID
	var text []byte
	return func(c *arrow.Column, row int) (any, error) {
		var err error
		if text, err = write(text[:0], c, row); err != nil {
			return nil, err
		}
		s := string(text)
		if quoted && strings.HasPrefix(s, `"`) {
			s = strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
		}
		return s, nil
	}
}

// present is a number, or nil for NaN, which stands for a missing one.
func present(v float64) any {
	if v != v {
		return nil
	}
	return v
}
