package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Magic begins a file, and ends it.
const Magic = "ARROW1"

const (
	continued = 0xffffffff

	// expansion bounds the values of a batch: at most smallBatch, or this many times its bytes.
	expansion, smallBatch = 16384, 8 << 20

	longestMetadata = 256 << 20

	largestWindow = 32 << 20 // of zstd; a decoder allocates what a frame says
)

// LooksLikeStream says whether data begin as a stream does.
func LooksLikeStream(head []byte) bool {
	if len(head) < 16 || binary.LittleEndian.Uint32(head) != continued {
		return false
	}
	n := binary.LittleEndian.Uint32(head[4:])
	return n >= 8 && n <= longestMetadata && n%8 == 0
}

// Reader reads batches of rows. It is for one goroutine.
type Reader struct {
	Fields []Field

	// Most, if positive, bounds the bytes that all batches together stand for, for data from strangers.
	Most int64

	part  func() (r io.Reader, size int64, err error) // the next message of a file; io.EOF
	r     io.Reader                                   // of a stream
	left  int64                                       // of its bytes, -1: unknown
	dicts map[int64]*dictionary
	batch Batch
	spent int64 // of Most
	body  []byte
	zstd  *zstd.Decoder
}

// Batch is some rows, valid until the next.
type Batch struct {
	Rows    int
	Columns []Column
}

// NewStream begins to read a stream of at most size bytes, -1 if that is not known.
func NewStream(r io.Reader, size int64) (*Reader, error) {
	s := &Reader{r: r, left: size, dicts: map[int64]*dictionary{}}
	m, err := s.message()
	if err != nil {
		return nil, cut(err)
	}
	if m.kind != messageSchema {
		return nil, errors.New("it does not begin with a schema")
	}
	if s.Fields, err = readSchema(m.header); err != nil {
		return nil, err
	}
	return s, nil
}

// NewFile begins to read a file, by the list of batches at its end.
func NewFile(r io.ReaderAt, size int64) (*Reader, error) {
	const tail = 4 + len(Magic)
	end := make([]byte, tail)
	if size < int64(8+tail) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end, size-int64(tail)); err != nil && err != io.EOF {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != Magic {
		return nil, io.ErrUnexpectedEOF
	}
	if length > size-int64(8+tail) || length > longestMetadata {
		return nil, fmt.Errorf("its footer has %d bytes, and the file %d", length, size)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, size-int64(tail)-length); err != nil && err != io.EOF {
		return nil, err
	}
	f := &flat{b: b}
	root := f.root()
	fields, err := readSchema(root.table(1))
	if err != nil {
		return nil, err
	}
	type block struct{ at, size int64 }
	var blocks []block
	for _, field := range []int{2, 3} { // dictionaries first
		at, n := root.vector(field, 24)
		for i := range n {
			k := block{f.i64(at + 24*i), f.i64(at + 24*i + 16)}
			head := int64(f.i32(at + 24*i + 8))
			if k.at < 0 || head < 8 || k.size < 0 || k.at > size || head > size-k.at || k.size > size-k.at-head {
				return nil, fmt.Errorf("a batch at byte %d of %d bytes, and the file has %d", k.at, k.size, size)
			}
			k.size += head
			blocks = append(blocks, k)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	s := &Reader{Fields: fields, left: -1, dicts: map[int64]*dictionary{}}
	s.part = func() (io.Reader, int64, error) {
		if len(blocks) == 0 {
			return nil, 0, io.EOF
		}
		k := blocks[0]
		blocks = blocks[1:]
		return io.NewSectionReader(r, k.at, k.size), k.size, nil
	}
	return s, nil
}

// Close releases what the reader holds.
func (s *Reader) Close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
}

// cut makes an early end an error.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Kinds of messages.
const messageSchema, messageDictionary, messageBatch = 1, 2, 3

// message is a message whose body is yet to be read.
type message struct {
	kind   byte
	header *table
	meta   int64
	body   int64
}

// message reads the next message; io.EOF after the last.
func (s *Reader) message() (m message, err error) {
	if s.part != nil {
		if s.r, s.left, err = s.part(); err != nil {
			return m, err
		}
	}
	var word [4]byte
	if _, err := io.ReadFull(s.r, word[:]); err != nil {
		return m, err // io.EOF at a clean end
	}
	n := int64(binary.LittleEndian.Uint32(word[:]))
	s.took(4)
	if n == continued { // without it before version 0.15
		if _, err := io.ReadFull(s.r, word[:]); err != nil {
			return m, cut(err)
		}
		n = int64(binary.LittleEndian.Uint32(word[:]))
		s.took(4)
	}
	switch {
	case n == 0:
		return m, io.EOF
	case n > longestMetadata || s.left >= 0 && n > s.left:
		return m, fmt.Errorf("a message has %d bytes of metadata, more than are left", n)
	}
	b, err := s.read(nil, n)
	if err != nil {
		return m, err
	}
	f := &flat{b: b}
	root := f.root()
	m = message{kind: root.byte(1), header: root.table(2), meta: n, body: root.i64(3)}
	switch {
	case f.err != nil:
		return m, f.err
	case m.body < 0 || s.left >= 0 && m.body > s.left:
		return m, fmt.Errorf("a message has %d bytes of values, more than are left", m.body)
	}
	return m, nil
}

func (s *Reader) took(n int64) {
	if s.left >= 0 {
		s.left = max(0, s.left-n)
	}
}

// read reads n bytes into dst, and allocates as they come.
func (s *Reader) read(dst []byte, n int64) ([]byte, error) {
	dst = dst[:0]
	if s.left >= n && int64(cap(dst)) < n {
		dst = make([]byte, 0, n)
	}
	for int64(len(dst)) < n {
		room := min(n, int64(max(cap(dst), 2*len(dst), 1<<16)))
		if int64(cap(dst)) < room {
			dst = append(make([]byte, 0, room), dst...)
		}
		got, err := io.ReadFull(s.r, dst[len(dst):room])
		dst = dst[:len(dst)+got]
		if err != nil {
			return nil, cut(err)
		}
	}
	s.took(n)
	return dst, nil
}

// Next is the next batch that has rows; io.EOF after the last.
func (s *Reader) Next() (*Batch, error) {
	for {
		m, err := s.message()
		if err != nil {
			return nil, err
		}
		switch m.kind {
		case messageDictionary:
			if err := s.dictionary(m); err != nil {
				return nil, err
			}
		case messageBatch:
			if s.body, err = s.read(s.body, m.body); err != nil {
				return nil, err
			}
			if err := s.columns(&s.batch, s.Fields, m.header, m.meta, s.body); err != nil {
				return nil, err
			}
			if s.batch.Rows > 0 {
				return &s.batch, nil
			}
		case messageSchema:
			return nil, errors.New("a second schema; write each table to a file of its own")
		default:
			return nil, fmt.Errorf("a message of an unknown kind (%d)", m.kind)
		}
	}
}

// dictionary reads the values of a dictionary, or more of them.
func (s *Reader) dictionary(m message) error {
	body, err := s.read(nil, m.body)
	if err != nil {
		return err
	}
	id := m.header.i64(0)
	var of *Field
	for i := range s.Fields {
		if f := &s.Fields[i]; f.dictionary && f.id == id {
			values := *f
			if values.Name, values.dictionary, values.index = "", false, 0; of != nil && *of != values {
				return fmt.Errorf("columns of different types share dictionary %d", id)
			}
			of = &values
		}
	}
	if of == nil {
		return nil // of no column
	}
	var b Batch
	if err := s.columns(&b, []Field{*of}, m.header.table(1), m.meta, body); err != nil {
		return fmt.Errorf("dictionary %d: %w", id, err)
	}
	part := b.Columns[0]
	part.Field = of
	d := s.dicts[id]
	if d == nil || m.header.byte(2) == 0 {
		d = &dictionary{}
		s.dicts[id] = d
	}
	if part.rows > 0 {
		d.parts = append(d.parts, &part)
		d.rows += part.rows
		d.ends = append(d.ends, d.rows)
	}
	return nil
}

// columns takes the columns of a batch out of a body.
func (s *Reader) columns(b *Batch, fields []Field, t *table, meta int64, body []byte) error {
	if t == nil {
		return errors.New("a batch without a header")
	}
	rows := t.i64(0)
	nodes, nNodes := t.vector(1, 16)
	buffers, nBuffers := t.vector(2, 16)
	variadic, nVariadic := t.vector(4, 8)
	codec := int8(-1)
	if c := t.table(3); c != nil {
		if codec = int8(c.byte(0)); codec != codecLZ4 && codec != codecZstd {
			return fmt.Errorf("compressed by an unknown method (%d)", codec)
		}
	}
	if t.f.err != nil {
		return t.f.err
	}
	most := max(smallBatch, expansion*(meta+int64(len(body))))
	if s.Most > 0 {
		most = min(most, s.Most-s.spent)
	}
	if rows < 0 || nNodes != len(fields) || rows > most/int64(max(1, len(fields))) {
		return fmt.Errorf("a batch of %d rows and %d columns in %d bytes", rows, nNodes, meta+int64(len(body)))
	}
	budget := most
	next := func() ([]byte, error) {
		if nBuffers == 0 {
			return nil, errors.New("a batch with too few columns")
		}
		from, n := t.f.i64(buffers), t.f.i64(buffers+8)
		buffers, nBuffers = buffers+16, nBuffers-1
		if from < 0 || n < 0 || from > int64(len(body)) || n > int64(len(body))-from {
			return nil, fmt.Errorf("values at %d to %d of %d bytes", from, from+n, len(body))
		}
		return s.unpack(codec, body[from:from+n], &budget)
	}
	b.Rows, b.Columns = int(rows), b.Columns[:0]
	total := int64(0)
	for i := range fields {
		c, err := s.column(&fields[i], int(rows), t.f.i64(nodes+16*i+8), next, func() (int64, error) {
			if nVariadic == 0 {
				return 0, errors.New("a batch with too few columns")
			}
			n := t.f.i64(variadic)
			variadic, nVariadic = variadic+8, nVariadic-1
			if n < 0 || n > int64(nBuffers) {
				return 0, fmt.Errorf("a column in %d parts", n)
			}
			return n, nil
		})
		if err == nil && t.f.i64(nodes+16*i) != rows {
			err = fmt.Errorf("%d values for %d rows", t.f.i64(nodes+16*i), rows)
		}
		size := int64(0)
		if err == nil {
			size, err = c.check()
		}
		if total += size; err == nil && total > most {
			err = fmt.Errorf("%d bytes that stand for %d and more; write smaller batches", meta+int64(len(body)), total)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		b.Columns = append(b.Columns, c)
	}
	s.spent += max(total, most-budget)
	return nil
}

// column takes the buffers of a column.
func (s *Reader) column(f *Field, rows int, nulls int64, next func() ([]byte, error), parts func() (int64, error)) (c Column, err error) {
	c = Column{Field: f, rows: rows}
	if f.layout == nothing && !f.dictionary {
		return c, nil
	}
	if c.valid, err = next(); err != nil {
		return c, err
	}
	if nulls == 0 || len(c.valid) == 0 {
		c.valid = nil
	}
	if c.data, err = next(); err != nil {
		return c, err
	}
	switch {
	case f.dictionary:
		if c.dict = s.dicts[f.id]; c.dict == nil {
			c.dict = &dictionary{}
		}
	case f.layout == offsets32 || f.layout == offsets64:
		c.text, err = next()
	case f.layout == views:
		n, err := parts()
		for ; n > 0 && err == nil; n-- {
			var b []byte
			b, err = next()
			c.buffers = append(c.buffers, b)
		}
		return c, err
	}
	return c, err
}

// Codecs of buffers.
const codecLZ4, codecZstd = 0, 1

// unpack is what a buffer stands for. What it allocates is what the packed bytes hold, whatever they claim.
func (s *Reader) unpack(codec int8, b []byte, budget *int64) ([]byte, error) {
	if codec < 0 || len(b) == 0 {
		return b, nil
	}
	if len(b) < 8 {
		return nil, errors.New("a compressed buffer without its size")
	}
	size := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	switch {
	case size == -1:
		return b, nil
	case size < 0 || size > *budget:
		return nil, fmt.Errorf("%d bytes that unpack to %d", len(b), size)
	}
	*budget -= size
	var r io.Reader
	if codec == codecLZ4 {
		r = lz4.NewReader(bytes.NewReader(b))
	} else {
		if s.zstd == nil {
			var err error
			if s.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(largestWindow)); err != nil {
				return nil, err
			}
		}
		if err := s.zstd.Reset(bytes.NewReader(b)); err != nil {
			return nil, err
		}
		r = s.zstd
	}
	out := make([]byte, 0, min(size, 256*int64(len(b))+4096))
	for int64(len(out)) < size {
		if len(out) == cap(out) {
			out = append(make([]byte, 0, min(size, int64(2*cap(out)))), out...)
		}
		n, err := io.ReadFull(r, out[len(out):cap(out)])
		if out = out[:len(out)+n]; err != nil {
			return nil, fmt.Errorf("a compressed buffer of %d bytes is damaged after %d: %w", size, len(out), cut(err))
		}
	}
	return out, nil
}
