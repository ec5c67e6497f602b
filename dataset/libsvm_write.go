package dataset

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"mercer/internal/engine/atomicfile"
	"mercer/matrix"
)

// libsvmWriter writes LIBSVM text: the label, or 0 if there is none, since readers expect
// one, then the nonzero values, with indices from 1. Numbers have enough digits to give the
// same float32 (labels: float64) bits when they are read.
type libsvmWriter struct {
	file     *atomicfile.File
	path     string
	w        *bufio.Writer
	line     []byte
	rows     int
	nonZeros int64
}

func createLIBSVM(path string) (*libsvmWriter, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return &libsvmWriter{file: f, path: path, w: bufio.NewWriterSize(f, 1<<20)}, nil
}

// Write implements RowWriter.
func (w *libsvmWriter) Write(b *matrix.Batch) error {
	if b.Outputs > 1 {
		return fmt.Errorf("%s: LIBSVM text holds one label a row, and these rows have %d; write NPY or npz, or name one label", w.path, b.Outputs)
	}
	for i := range b.X.Len() {
		w.line = w.line[:0]
		if err := w.label(b, i); err != nil {
			return w.refused(err)
		}
		var bad error
		eachValue(b.X, i, func(j int32, v float32) {
			if v-v != 0 && bad == nil {
				bad = fmt.Errorf("value %d (from 1) is %g, which LIBSVM text cannot hold", j+1, v)
			}
			w.line = strconv.AppendInt(append(w.line, ' '), int64(j)+1, 10)
			w.line = append(w.line, ':')
			w.line = appendFloat32(w.line, v)
			w.nonZeros++
		})
		if bad == nil && len(w.line) == 0 {
			bad = fmt.Errorf("neither labels nor values, which LIBSVM text cannot tell from an empty line")
		}
		if bad != nil {
			return w.refused(bad)
		}
		if _, err := w.w.Write(append(w.line, '\n')); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

// refused names the row that cannot be written.
func (w *libsvmWriter) refused(err error) error {
	return fmt.Errorf("%s: row %d: %w; write NPY or npz", w.path, w.rows+1, err)
}

// label writes the label of row i, or its list of labels.
func (w *libsvmWriter) label(b *matrix.Batch, i int) error {
	switch {
	case b.Outputs == 0:
		w.line = append(w.line, '0')
	case b.Names != nil && b.Names[i] != "":
		for k, label := range strings.Split(strings.Trim(b.Names[i], listMark), listMark) {
			if strings.IndexFunc(label, func(c rune) bool { return c <= ' ' || unicode.IsSpace(c) || strings.ContainsRune(":,#", c) }) >= 0 {
				return fmt.Errorf("the label %q has a blank, a colon, a comma or a #, which cannot stand in LIBSVM text", label)
			}
			if k > 0 {
				w.line = append(w.line, ',')
			}
			w.line = append(w.line, label...)
		}
	default:
		w.line = append(w.line, number(b.Y[i])...)
	}
	return nil
}

// NonZeros implements RowWriter.
func (w *libsvmWriter) NonZeros() int64 { return w.nonZeros }

// Commit implements RowWriter.
func (w *libsvmWriter) Commit() error {
	if err := w.w.Flush(); err != nil {
		return err
	}
	return w.file.Commit()
}

// Close implements RowWriter.
func (w *libsvmWriter) Close() error { return w.file.Close() }
