package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"mercer/internal/engine/atomicfile"
	"mercer/matrix"
)

// The types of elements that an NPYWriter writes.
const (
	Float32   = "<f4"
	Float64   = "<f8"
	Complex64 = "<c8"
)

// npyHeadRoom is the length of the headers that are written: enough for any shape.
const npyHeadRoom = 128

// NPYWriter writes an array of rows in NumPy's format; the number of rows need not be known
// in advance. The file appears whole at Commit, or not at all.
type NPYWriter struct {
	file  *atomicfile.File
	rest  *atomicfile.Temporary // the rows, where they follow a header that is not yet known; nil: they are in file
	w     *bufio.Writer
	cols  int
	rows  int
	dtype string
	buf   []byte
	row   []float32 // what a sparse row is written from

	nonZeros int64
}

// CreateNPY starts a file of rows of cols elements of the type dtype. The caller must Close it.
func CreateNPY(path string, cols int, dtype string) (*NPYWriter, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &NPYWriter{file: f, w: bufio.NewWriterSize(f, 1<<20), cols: cols, dtype: dtype}
	if f.InPlace() {
		if w.rest, err = atomicfile.CreateTemporary("", "mercer-npy-*"); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: its rows cannot be kept until their number is known: %w", path, err)
		}
		w.w.Reset(w.rest)
		return w, nil
	}
	if _, err := w.w.Write(make([]byte, npyHeadRoom)); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Write appends rows to an array of Float32; labels are not written.
func (w *NPYWriter) Write(rows *matrix.Batch) error {
	x := rows.X
	if w.row == nil && x.CSR != nil {
		w.row = make([]float32, w.cols)
	}
	if w.dtype != Float32 || x.Dim() != w.cols {
		panic(fmt.Sprintf("dataset: Write of %d columns into an array of %d columns of %s", x.Dim(), w.cols, w.dtype))
	}
	for i := range x.Len() {
		row := w.row
		if x.CSR != nil {
			clear(row)
			idx, val := x.CSR.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
		} else {
			row = x.Dense.Row(i)
		}
		w.buf = w.buf[:0]
		for _, v := range row {
			if v != 0 {
				w.nonZeros++
			}
			w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(v))
		}
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
	}
	w.rows += x.Len()
	return nil
}

// NonZeros is the number of nonzero values written by Write and WriteComplex.
func (w *NPYWriter) NonZeros() int64 { return w.nonZeros }

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

// WriteComplex appends whole rows, one after the other, to an array of Complex64.
func (w *NPYWriter) WriteComplex(rows []complex64) error {
	if w.dtype != Complex64 || len(rows)%w.cols != 0 {
		panic(fmt.Sprintf("dataset: WriteComplex of %d numbers into an array of %d columns of %s", len(rows), w.cols, w.dtype))
	}
	for i := 0; i < len(rows); i += w.cols {
		w.buf = w.buf[:0]
		for _, v := range rows[i : i+w.cols] {
			if v != 0 {
				w.nonZeros++
			}
			w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(real(v)))
			w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(imag(v)))
		}
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
	}
	w.rows += len(rows) / w.cols
	return nil
}

// Commit writes the header, now that the number of rows is known, and puts the file in place.
func (w *NPYWriter) Commit() error {
	if err := w.w.Flush(); err != nil {
		return err
	}
	header := npyHeaderOf(w.dtype, fmt.Sprintf("(%d, %d)", w.rows, w.cols))
	if w.rest != nil {
		if _, err := w.file.Write(header); err != nil {
			return err
		}
		if _, err := io.Copy(w.file, io.NewSectionReader(w.rest, 0, math.MaxInt64)); err != nil {
			return err
		}
	} else if _, err := w.file.WriteAt(header, 0); err != nil {
		return err
	}
	return w.file.Commit()
}

// Close discards the file unless it was committed.
func (w *NPYWriter) Close() error {
	err := w.file.Close()
	if w.rest != nil {
		err = errors.Join(err, w.rest.Close())
		w.rest = nil
	}
	return err
}

// npyHeaderOf is the header of an array in C order, npyHeadRoom bytes.
func npyHeaderOf(dtype, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
	header := []byte(npyMagic + "\x01\x00")
	header = binary.LittleEndian.AppendUint16(header, npyHeadRoom-10)
	return fmt.Appendf(header, "%-*s\n", npyHeadRoom-11, text)
}
