package dataset

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"mercer/internal/engine/atomicfile"
	"mercer/matrix"
)

// csvListMark separates the labels of a row in one cell, if it may have any number.
const csvListMark = "|"

// csvWriter writes a table: a first line of names (z0, z1, … and label, or label0, label1, … if rows
// have several), then one row per line, labels last, as readers expect. Numbers have enough
// digits to give the same float32 (labels: float64) bits when they are read.
type csvWriter struct {
	file     *atomicfile.File
	path     string
	w        *bufio.Writer
	cols     int
	line     []byte
	dense    []float32
	rows     int
	outputs  int
	nonZeros int64
}

func createCSV(path string, cols int) (*csvWriter, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	return &csvWriter{file: f, path: path, w: bufio.NewWriterSize(f, 1<<20), cols: cols, outputs: -1}, nil
}

// Write implements RowWriter.
func (w *csvWriter) Write(b *matrix.Batch) error {
	if w.outputs < 0 {
		w.outputs = b.Outputs
		if err := w.names(); err != nil {
			return err
		}
	}
	for i := range b.X.Len() {
		w.line = w.line[:0]
		for j, v := range w.row(b.X, i) {
			if v-v != 0 {
				return fmt.Errorf("%s: row %d: value %d (from 1) is %g, which a table of numbers cannot hold; write "+
					"NPY or npz", w.path, w.rows+1, j+1, v)
			}
			if j > 0 {
				w.line = append(w.line, ',')
			}
			if v != 0 {
				w.nonZeros++
			}
			w.line = appendFloat32(w.line, v)
		}
		for k := range w.outputs {
			if w.cols+k > 0 {
				w.line = append(w.line, ',')
			}
			if err := w.label(b, i, k); err != nil {
				return fmt.Errorf("%s: row %d: %w", w.path, w.rows+1, err)
			}
		}
		if _, err := w.w.Write(append(w.line, '\n')); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

// names writes the first line.
func (w *csvWriter) names() error {
	w.line = w.line[:0]
	for j := range w.cols {
		w.line = strconv.AppendInt(append(w.line, 'z'), int64(j), 10)
		w.line = append(w.line, ',')
	}
	for k := range w.outputs {
		w.line = append(w.line, "label"...)
		if w.outputs > 1 {
			w.line = strconv.AppendInt(w.line, int64(k), 10)
		}
		w.line = append(w.line, ',')
	}
	_, err := w.w.Write(append(w.line[:max(0, len(w.line)-1)], '\n'))
	return err
}

// row is row i, dense.
func (w *csvWriter) row(x matrix.Rows, i int) []float32 {
	if x.CSR == nil {
		return x.Dense.Row(i)
	}
	if w.dense == nil {
		w.dense = make([]float32, w.cols)
	}
	clear(w.dense)
	eachValue(x, i, func(j int32, v float32) { w.dense[j] = v })
	return w.dense
}

// label writes label k of row i, or its list of labels.
func (w *csvWriter) label(b *matrix.Batch, i, k int) error {
	y := b.Y[i*b.Outputs+k]
	text := ""
	if b.Names != nil {
		text = b.Names[i]
	}
	switch {
	case text == "" && y != y: // there is none
		return nil
	case text == "":
		w.line = append(w.line, number(y)...)
		return nil
	}
	if strings.Contains(text, listMark) {
		text = strings.Trim(text, listMark)
		if strings.Contains(text, csvListMark) {
			return fmt.Errorf("a label in the list %q has the mark %s that separates labels; write LIBSVM text",
				strings.Split(text, listMark), csvListMark)
		}
		text = strings.ReplaceAll(text, listMark, csvListMark)
	}
	if strings.ContainsAny(text, "\",;\t\r\n") || text != strings.TrimSpace(text) {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	w.line = append(w.line, text...)
	return nil
}

// NonZeros implements RowWriter.
func (w *csvWriter) NonZeros() int64 { return w.nonZeros }

// Commit implements RowWriter.
func (w *csvWriter) Commit() error {
	if err := w.w.Flush(); err != nil {
		return err
	}
	return w.file.Commit()
}

// Close implements RowWriter.
func (w *csvWriter) Close() error { return w.file.Close() }

// appendFloat32 appends a number with the fewest digits from which readers, which parse
// float64 and then round, get the same bits.
func appendFloat32(line []byte, v float32) []byte {
	at := len(line)
	line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
	if back, _ := scanNumber(line, at); float32(back) != v { // it is rounded twice, as 7.038531e-26 is
		line = strconv.AppendFloat(line[:at], float64(v), 'g', 9, 32)
	}
	return line
}
