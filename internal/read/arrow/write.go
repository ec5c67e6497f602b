package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Rows of a batch that is written, and a size of texts at which it ends earlier.
const (
	batchRows = 1 << 16
	batchText = 64 << 20

	batchCells = 8 << 20 // at which a batch of many columns ends earlier
)

// Writer writes columns of Int (64 bits), Float, Double and Bytes (UTF-8), all of which may have missing values.
type Writer struct {
	w      io.Writer
	file   bool
	fields []Field
	at     int64
	blocks []int64 // of three numbers each, as the footer has them
	rows   int
	texts  int
	cols   []pending
	column int
}

// pending is the values of a column that are yet to be written.
type pending struct {
	valid []byte
	nulls int
	data  []byte
	text  []byte
}

// NewWriter begins a file, or a stream. Of fields the names and kinds count.
func NewWriter(w io.Writer, file bool, fields []Field) (*Writer, error) {
	out := &Writer{w: w, file: file, fields: fields, cols: make([]pending, len(fields))}
	if file {
		if err := out.write([]byte(Magic + "\x00\x00")); err != nil {
			return nil, err
		}
	}
	var b builder
	schema := writeSchema(&b, fields)
	_, err := out.message(b.finish(header(&b, messageSchema, schema, 0)))
	return out, err
}

// version is that of the format, V5.
const version = 4

// header wraps a header in a Message.
func header(b *builder, kind, to int, body int64) int {
	b.begin()
	b.put(3, uint64(body), 8)
	b.link(2, to)
	b.put(0, version, 2)
	b.put(1, uint64(kind), 1)
	return b.end()
}

func writeSchema(b *builder, fields []Field) int {
	all := make([]int, len(fields))
	for i, f := range fields {
		name := b.string(f.Name)
		b.begin()
		kind := uint64(typeUtf8)
		switch f.Kind {
		case Int:
			kind = typeInt
			b.put(0, 64, 4)
			b.put(1, 1, 1)
		case Float:
			kind = typeFloat
			b.put(0, 1, 2)
		case Double:
			kind = typeFloat
			b.put(0, 2, 2)
		}
		of := b.end()
		children := b.offsets(nil)
		b.begin()
		b.link(0, name)
		b.link(3, of)
		b.link(5, children)
		b.put(1, 1, 1)
		b.put(2, kind, 1)
		all[i] = b.end()
	}
	list := b.offsets(all)
	b.begin()
	b.link(1, list)
	return b.end()
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.at += int64(n)
	return err
}

// message writes the metadata of a message, and returns how long they are in the file.
func (w *Writer) message(meta []byte) (int64, error) {
	head := binary.LittleEndian.AppendUint32(nil, continued)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(meta)))
	if err := w.write(head); err != nil {
		return 0, err
	}
	return int64(8 + len(meta)), w.write(meta)
}

// Missing appends a missing value to the next column.
func (w *Writer) Missing() error {
	c := w.next(false)
	switch w.fields[w.column].Kind {
	case Int, Double:
		c.data = append(c.data, 0, 0, 0, 0, 0, 0, 0, 0)
	case Float:
		c.data = append(c.data, 0, 0, 0, 0)
	default:
		c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(c.text)))
	}
	return w.done()
}

// Int appends a whole number to the next column.
func (w *Writer) Int(v int64) error {
	c := w.next(true)
	c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v))
	return w.done()
}

// Double appends a number to the next column.
func (w *Writer) Double(v float64) error {
	c := w.next(true)
	c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v))
	return w.done()
}

// Float appends a number of 32 bits to the next column.
func (w *Writer) Float(v float32) error {
	c := w.next(true)
	c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(v))
	return w.done()
}

// Text appends a text to the next column.
func (w *Writer) Text(v string) error {
	c := w.next(true)
	if len(v) > math.MaxInt32-batchText {
		return fmt.Errorf("column %q: a text of %d bytes", w.fields[w.column].Name, len(v))
	}
	c.text = append(c.text, v...)
	c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(c.text)))
	w.texts += len(v)
	return w.done()
}

// next is the column of the next value.
func (w *Writer) next(there bool) *pending {
	c := &w.cols[w.column]
	if w.rows&7 == 0 {
		c.valid = append(c.valid, 0)
	}
	if there {
		c.valid[w.rows>>3] |= 1 << (w.rows & 7)
	} else {
		c.nulls++
	}
	if w.rows == 0 && w.fields[w.column].Kind == Bytes {
		c.data = append(c.data, 0, 0, 0, 0)
	}
	return c
}

// done ends a value, the row after its last, and the batch after its last.
func (w *Writer) done() error {
	if w.column++; w.column < len(w.fields) {
		return nil
	}
	w.column = 0
	if w.rows++; w.rows == batchRows || w.rows*len(w.fields) >= batchCells || w.texts > batchText {
		return w.flush()
	}
	return nil
}

const alignment = 64

// flush writes a batch.
func (w *Writer) flush() error {
	var nodes, buffers []int64
	at := int64(0)
	place := func(b []byte) {
		buffers = append(buffers, at, int64(len(b)))
		at += (int64(len(b)) + alignment - 1) / alignment * alignment
	}
	for i := range w.cols {
		c := &w.cols[i]
		nodes = append(nodes, int64(w.rows), int64(c.nulls))
		place(c.valid)
		place(c.data)
		if w.fields[i].Kind == Bytes {
			place(c.text)
		}
	}
	var b builder
	where := b.structs(buffers, 2)
	rows := b.structs(nodes, 2)
	b.begin()
	b.put(0, uint64(w.rows), 8)
	b.link(1, rows)
	b.link(2, where)
	from := w.at
	n, err := w.message(b.finish(header(&b, messageBatch, b.end(), at)))
	if err != nil {
		return err
	}
	w.blocks = append(w.blocks, from, n, at)
	var zeros [alignment]byte
	put := func(b []byte) {
		if err == nil {
			err = w.write(b)
		}
		if rest := len(b) % alignment; err == nil && rest > 0 {
			err = w.write(zeros[rest:])
		}
	}
	for i := range w.cols {
		c := &w.cols[i]
		put(c.valid)
		put(c.data)
		if w.fields[i].Kind == Bytes {
			put(c.text)
		}
		c.valid, c.data, c.text, c.nulls = c.valid[:0], c.data[:0], c.text[:0], 0
	}
	w.rows, w.texts = 0, 0
	return err
}

// Close writes what is left, and the end.
func (w *Writer) Close() error {
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if err := w.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil || !w.file {
		return err
	}
	var b builder
	schema := writeSchema(&b, w.fields)
	none := b.structs(nil, 3)
	batches := b.structs(w.blocks, 3)
	b.begin()
	b.link(1, schema)
	b.link(2, none)
	b.link(3, batches)
	b.put(0, version, 2)
	footer := b.finish(b.end())
	tail := binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(tail, Magic...))
}
