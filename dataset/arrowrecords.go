package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"mercer/internal/read/arrow"
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
	values, stored := make([]any, len(r.Fields)), make([]stored, len(r.Fields))
	for i := range r.Fields {
		names[i], stored[i] = r.Fields[i].Name, arrowStored(&r.Fields[i])
	}
	var at cell
	var text []byte
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
				text = text[:0]
				if err := arrowCell(c, row, &stored[i], &at, &text); err != nil {
					return fmt.Errorf("row %d, column %q: %w", rows+row+1, c.Name, err)
				}
				values[i] = arrowValue(&at, &text)
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

// arrowValue is a cell as a value of a record: what has no type of its own there is a text, as in a table.
func arrowValue(c *cell, text *[]byte) any {
	switch c.kind {
	case cellMissing:
		return nil
	case cellNumber:
		return present(c.number)
	case cellWhole:
		return float64(c.whole)
	case cellBool:
		return c.whole != 0
	}
	return string(c.bytes(text))
}

// present is a number, or nil for NaN, which stands for a missing one.
func present(v float64) any {
	if v != v {
		return nil
	}
	return v
}
