package neighbours

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// A file is, in this order and little-endian: 64 bytes that begin with magic; the features, float32; from the next multiple
// of 64 on, the squares of their norms, float32; from the next, the rows' numbers, int64; the codes, uint64; from the next, if there are cells, those of the rows, uint32; from the next, a
// safetensors file with the description and what the pipeline has fitted; its length, uint64; and tail.
// Features are written as they come, so that only what follows them is in memory.

const (
	magic   = "mercer index\n1\n"
	tail    = "\nINDEX.\n"
	align   = 64
	version = "1"

	cellTensor = "cells.centres"
	meanTensor = "codes.mean"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// aligned is the next multiple of align.
func aligned(n int64) int64 { return (n + align - 1) / align * align }

// writer writes an index.
type writer struct {
	info  Info
	pipe  *pipeline.Pipeline
	coder *coder
	cells *cells
	path  string
	file  *atomicfile.File
	out   *bufio.Writer
	at    int64
	raw   []byte

	norms  []float32
	ids    []int64
	codes  []uint64
	cellOf []uint32
}

// create begins the file of an index whose rows are to come.
func create(path string, info Info, p *pipeline.Pipeline, c *coder, divided *cells) (*writer, error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &writer{info: info, pipe: p, coder: c, cells: divided, path: path, file: f, out: bufio.NewWriterSize(f, 1<<20)}
	w.info.FeatureSum, w.info.Sum = 0, 0
	first := make([]byte, align)
	copy(first, magic)
	if err := w.write(first); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *writer) close() { w.file.Close() }

func (w *writer) write(b []byte) error {
	if _, err := w.out.Write(b); err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	w.at += int64(len(b))
	return nil
}

// add maps rows and appends them. It says whether the data are at fault. z is working memory.
func (w *writer) add(rows matrix.Rows, z *matrix.Dense) (data bool, err error) {
	z.Reshape(rows.Len(), w.info.Features)
	if err := w.pipe.Transform(z, rows); err != nil {
		return true, err
	}
	var codes []uint64
	if w.coder != nil {
		var scaled matrix.Rows
		if w.coder.ofRows {
			if scaled, err = w.pipe.Scale(rows); err != nil {
				return true, err
			}
		}
		codes = w.coder.encode(nil, scaled, z)
	}
	if w.cells != nil {
		for _, of := range w.cells.nearest(z, 1) {
			w.cellOf = append(w.cellOf, uint32(of[0]))
		}
	}
	words := w.info.Bits / 64
	for r := range z.Rows {
		row := z.Row(r)
		square := float32(vec.DotWide(row, row))
		if square-square != 0 {
			return false, fmt.Errorf("row %d (from 0): its features are too large for float32", w.info.Rows)
		}
		if err := w.row(w.info.Next, row, square, codes[r*words:(r+1)*words]); err != nil {
			return false, err
		}
		w.info.Next++
	}
	return false, nil
}

// row appends a row with its number.
func (w *writer) row(id int64, z []float32, norm float32, code []uint64) error {
	if w.info.Rows == math.MaxInt32 {
		return fmt.Errorf("an index holds %d rows at most; make several", math.MaxInt32)
	}
	w.raw = w.raw[:0]
	for _, v := range z {
		w.raw = binary.LittleEndian.AppendUint32(w.raw, math.Float32bits(v))
	}
	w.info.FeatureSum = crc32.Update(w.info.FeatureSum, castagnoli, w.raw)
	w.norms, w.ids, w.codes = append(w.norms, norm), append(w.ids, id), append(w.codes, code...)
	w.info.Rows++
	return w.write(w.raw)
}

// section writes n values of what follows the features, and zeros up to the next multiple of align.
func (w *writer) section(n int, value func(b []byte, i int) []byte) error {
	for i := 0; i < n; {
		w.raw = w.raw[:0]
		for ; i < n && len(w.raw) < 1<<16; i++ {
			w.raw = value(w.raw, i)
		}
		w.info.Sum = crc32.Update(w.info.Sum, castagnoli, w.raw)
		if err := w.write(w.raw); err != nil {
			return err
		}
	}
	return w.write(make([]byte, aligned(w.at)-w.at))
}

// commit writes what follows the features, and makes the file appear.
func (w *writer) commit() (*Info, error) {
	le := binary.LittleEndian
	if err := w.write(make([]byte, aligned(w.at)-w.at)); err != nil {
		return nil, err
	}
	for _, err := range []error{
		w.section(len(w.norms), func(b []byte, i int) []byte { return le.AppendUint32(b, math.Float32bits(w.norms[i])) }),
		w.section(len(w.ids), func(b []byte, i int) []byte { return le.AppendUint64(b, uint64(w.ids[i])) }),
		w.section(len(w.codes), func(b []byte, i int) []byte { return le.AppendUint64(b, w.codes[i]) }),
		w.section(len(w.cellOf), func(b []byte, i int) []byte { return le.AppendUint32(b, w.cellOf[i]) }),
	} {
		if err != nil {
			return nil, err
		}
	}
	info, err := json.Marshal(w.info)
	if err != nil {
		return nil, err
	}
	tensors := map[string]*safetensors.Tensor{}
	w.pipe.AddTensors(tensors, "")
	if w.cells != nil {
		c := w.cells.centres
		tensors[cellTensor] = &safetensors.Tensor{Shape: []int{c.Rows, c.Cols}, F32: c.Contiguous()}
	}
	if w.coder != nil && w.coder.mean != nil {
		tensors[meanTensor] = &safetensors.Tensor{Shape: []int{1, w.info.Features}, F32: w.coder.mean.Data}
	}
	var description bytes.Buffer
	if err := safetensors.Write(&description, map[string]string{"format": "mercer-index", "version": version, "index": string(info)}, tensors); err != nil {
		return nil, err
	}
	b := le.AppendUint64(description.Bytes(), uint64(description.Len()))
	if err := w.write(append(b, tail...)); err != nil {
		return nil, err
	}
	if err := w.out.Flush(); err != nil {
		return nil, fmt.Errorf("%s: %w", w.path, err)
	}
	return &w.info, w.file.Commit()
}
