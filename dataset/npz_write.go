package dataset

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"mercer/internal/engine/atomicfile"
	"mercer/matrix"
)

// npzWriter writes a matrix in compressed rows as scipy.sparse.save_npz does. A member of a zip
// archive can only begin when the previous one has ended, and its header has its
// length, so the three arrays that grow with the rows are collected in temporary files: 12
// bytes per nonzero value, and 8 per row.
type npzWriter struct {
	file     *atomicfile.File
	parts    [3]npzPart // indices, indptr and data
	rows     int64
	cols     int
	nonZeros int64
}

// npzPart is an array under construction.
type npzPart struct {
	file *atomicfile.Temporary
	w    *bufio.Writer
	buf  []byte
}

// Places in npzWriter.parts.
const (
	npzIndices = iota
	npzIndptr
	npzData
)

func createNPZ(path string, cols int) (*npzWriter, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &npzWriter{file: f, cols: cols}
	for i := range w.parts {
		p := &w.parts[i]
		if p.file, err = atomicfile.CreateTemporary("", "mercer-npz-*"); err != nil {
			w.Close()
			return nil, fmt.Errorf("%s: its arrays cannot be collected: %w", path, err)
		}
		p.w = bufio.NewWriterSize(p.file, 1<<18)
	}
	w.parts[npzIndptr].buf = make([]byte, 8) // of the first row
	return w, nil
}

// Write implements RowWriter; labels are not written.
func (w *npzWriter) Write(b *matrix.Batch) error {
	if b.X.Dim() != w.cols {
		panic(fmt.Sprintf("dataset: Write of %d columns into a matrix of %d", b.X.Dim(), w.cols))
	}
	indices, indptr, data := &w.parts[npzIndices], &w.parts[npzIndptr], &w.parts[npzData]
	for i := range b.X.Len() {
		eachValue(b.X, i, func(j int32, v float32) {
			indices.buf = binary.LittleEndian.AppendUint32(indices.buf, uint32(j))
			data.buf = binary.LittleEndian.AppendUint32(data.buf, math.Float32bits(v))
			w.nonZeros++
		})
		indptr.buf = binary.LittleEndian.AppendUint64(indptr.buf, uint64(w.nonZeros))
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.rows += int64(b.X.Len())
	return nil
}

// flush writes out what a row has left in the buffers.
func (w *npzWriter) flush() error {
	for i := range w.parts {
		p := &w.parts[i]
		if _, err := p.w.Write(p.buf); err != nil {
			return err
		}
		p.buf = p.buf[:0]
	}
	return nil
}

// NonZeros implements RowWriter.
func (w *npzWriter) NonZeros() int64 { return w.nonZeros }

// Commit implements RowWriter: it writes the archive, now that all lengths are known.
func (w *npzWriter) Commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w.file, 1<<20)
	archive := zip.NewWriter(out)
	shape := binary.LittleEndian.AppendUint64(nil, uint64(w.rows))
	shape = binary.LittleEndian.AppendUint64(shape, uint64(w.cols))
	for _, m := range []struct {
		name, dtype, shape string
		small              []byte
		part               int
	}{
		{"indices", "<i4", fmt.Sprintf("(%d,)", w.nonZeros), nil, npzIndices},
		{"indptr", "<i8", fmt.Sprintf("(%d,)", w.rows+1), nil, npzIndptr},
		{"format", "|S3", "()", []byte("csr"), 0},
		{"shape", "<i8", "(2,)", shape, 0},
		{"data", Float32, fmt.Sprintf("(%d,)", w.nonZeros), nil, npzData},
	} {
		// With a fixed time the same rows give the same bytes; this is the earliest that zip can hold.
		to, err := archive.CreateHeader(&zip.FileHeader{Name: m.name + ".npy", Method: zip.Store,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		if _, err := to.Write(npyHeaderOf(m.dtype, m.shape)); err != nil {
			return err
		}
		if m.small != nil {
			if _, err := to.Write(m.small); err != nil {
				return err
			}
			continue
		}
		p := &w.parts[m.part]
		if err := p.w.Flush(); err != nil {
			return err
		}
		if _, err := p.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(to, p.file); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), out.Flush()); err != nil {
		return err
	}
	return w.file.Commit()
}

// Close implements RowWriter.
func (w *npzWriter) Close() error {
	err := w.file.Close()
	for _, p := range w.parts {
		if p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
	}
	return err
}
