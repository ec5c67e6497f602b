package dataset

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"

	"mercer/internal/whole"
	"mercer/matrix"
)

// The types of elements that an NPYWriter writes.
const (
	Float32 = "<f4"
	Float64 = "<f8"
)

// npyHeadRoom is the length of the header that an NPYWriter writes: enough for any shape.
const npyHeadRoom = 128

// NPYWriter writes an array of rows in NumPy's format; the number of rows need not be known
// before. The file appears whole at Commit, or not at all.
type NPYWriter struct {
	file  *whole.File
	w     *bufio.Writer
	cols  int
	rows  int
	dtype string
	buf   []byte
}

// CreateNPY starts a file of rows of cols elements of the type dtype. Its maker must Close it.
func CreateNPY(path string, cols int, dtype string) (*NPYWriter, error) {
	f, err := whole.Create(path)
	if err != nil {
		return nil, err
	}
	w := &NPYWriter{file: f, w: bufio.NewWriterSize(f, 1<<20), cols: cols, dtype: dtype}
	if _, err := w.w.Write(make([]byte, npyHeadRoom)); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// WriteRows32 appends rows to an array of Float32.
func (w *NPYWriter) WriteRows32(m *matrix.Dense) error {
	if w.dtype != Float32 || m.Cols != w.cols {
		panic(fmt.Sprintf("dataset: WriteRows32 of %d columns into an array of %d columns of %s", m.Cols, w.cols, w.dtype))
	}
	for i := range m.Rows {
		w.buf = w.buf[:0]
		for _, v := range m.Row(i) {
			w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(v))
		}
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
	}
	w.rows += m.Rows
	return nil
}

// WriteRows64 appends whole rows, one after the other, to an array of Float64.
func (w *NPYWriter) WriteRows64(rows []float64) error {
	if w.dtype != Float64 || len(rows)%w.cols != 0 {
		panic(fmt.Sprintf("dataset: WriteRows64 of %d numbers into an array of %d columns of %s", len(rows), w.cols, w.dtype))
	}
	for i := 0; i < len(rows); i += w.cols {
		w.buf = w.buf[:0]
		for _, v := range rows[i : i+w.cols] {
			w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(v))
		}
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
	}
	w.rows += len(rows) / w.cols
	return nil
}

// Commit writes the header, now that the number of rows is known, and lets the file appear.
func (w *NPYWriter) Commit() error {
	if err := w.w.Flush(); err != nil {
		return err
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", w.dtype, w.rows, w.cols)
	header := []byte(npyMagic + "\x01\x00")
	header = binary.LittleEndian.AppendUint16(header, npyHeadRoom-10)
	header = fmt.Appendf(header, "%-*s\n", npyHeadRoom-11, text)
	if _, err := w.file.WriteAt(header, 0); err != nil {
		return err
	}
	return w.file.Commit()
}

// Close gives the file up unless it was committed.
func (w *NPYWriter) Close() error { return w.file.Close() }
