package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Column is the values of a column in a batch. One of its slices has a value for each row, by the kind of the column.
type Column struct {
	*Field
	Floats  []float32
	Doubles []float64
	Ints    []int64
	Texts   [][]byte

	rows  int
	valid []bool // empty: all are there
}

// Missing says whether a row has no value.
func (c *Column) Missing(row int) bool { return len(c.valid) > 0 && !c.valid[row] }

// Valid says of each row whether it has a value; if it is empty, all have.
func (c *Column) Valid() []bool { return c.valid }

// Batch is some rows.
type Batch struct {
	Rows    int
	Columns []Column
}

// Reader is a pass over a file. It is for one goroutine; its batches are anyone's.
type Reader struct {
	file   *File
	group  int // the next
	left   int64
	most   int // rows of a batch
	chunks []chunkReader
	texts  int64 // bytes of texts that may come
	unpack unpacker
}

// cellsOfBatch is about how many cells a batch has.
const cellsOfBatch = 1 << 17

// Groups are the sizes of the groups of rows, in bytes.
func (f *File) Groups() []int64 {
	var all []int64
	for _, g := range f.groups {
		size := int64(0)
		for _, c := range g.chunks {
			size += c.size
		}
		all = append(all, size)
	}
	return all
}

// Only is the file with the groups of rows from one to before another.
func (f *File) Only(from, to int) *File {
	only := *f
	only.groups, only.Rows = f.groups[from:to], 0
	for _, g := range only.groups {
		only.Rows += g.rows
	}
	return &only
}

// Read begins a pass.
func (f *File) Read() *Reader {
	r := &Reader{file: f, texts: max(8*smallFile, expansion*f.size), chunks: make([]chunkReader, len(f.Fields))}
	r.most = min(4096, max(64, cellsOfBatch/max(1, len(f.Fields))))
	return r
}

// Next reads rows into a batch, which may be one that was read before; io.EOF after the last.
func (r *Reader) Next(b *Batch) error {
	for r.left == 0 {
		if r.group == len(r.file.groups) {
			return io.EOF
		}
		g := &r.file.groups[r.group]
		r.group, r.left = r.group+1, g.rows
		for j := range r.chunks {
			r.chunks[j].begin(r, g, j)
		}
	}
	if b.Columns == nil {
		b.Columns = make([]Column, len(r.file.Fields))
	}
	b.Rows = int(min(r.left, int64(r.most)))
	for j := range r.chunks {
		b.Columns[j].Field = &r.file.Fields[j]
		if err := r.chunks[j].read(&b.Columns[j], b.Rows, &r.texts); err != nil {
			return fmt.Errorf("column %q: %w", r.file.Fields[j].Name, err)
		}
	}
	r.left -= int64(b.Rows)
	return nil
}

// Close releases what the pass holds.
func (r *Reader) Close() { r.unpack.close() }

// chunkReader reads a column of a group.
type chunkReader struct {
	pages    pageBytes
	values   values
	levels   hybrid
	level    []uint32
	body     []byte
	left     int // rows of this page
	expected int64
}

func (c *chunkReader) begin(r *Reader, g *group, column int) {
	k, f := &g.chunks[column], r.file
	c.pages = pageBytes{r: f.r, at: k.data, end: k.data + k.size, codec: k.codec, unpacker: &r.unpack}
	c.values.of, c.values.dict = &f.Fields[column], nil
	c.left, c.expected = 0, g.rows
}

// textual says whether values are bytes.
func (f *Field) textual() bool {
	return f.physical == typeInt96 || f.physical == typeByteArray || f.physical == typeFixed
}

// resize gives a column room for rows.
func (c *Column) resize(rows int) {
	c.rows, c.valid = rows, c.valid[:0]
	switch f := c.Field; {
	case f.textual():
		c.Texts = slices.Grow(c.Texts[:0], rows)[:rows]
	case f.physical == typeFloat:
		c.Floats = slices.Grow(c.Floats[:0], rows)[:rows]
	case f.physical == typeDouble:
		c.Doubles = slices.Grow(c.Doubles[:0], rows)[:rows]
	default:
		c.Ints = slices.Grow(c.Ints[:0], rows)[:rows]
	}
}

// read reads rows into a column.
func (c *chunkReader) read(dst *Column, rows int, texts *int64) error {
	dst.resize(rows)
	for from := 0; from < rows; {
		for c.left == 0 {
			if err := c.page(); err == io.EOF {
				return errors.New("it has fewer values than there are rows")
			} else if err != nil {
				return err
			}
		}
		n := min(rows-from, c.left)
		if err := c.some(dst, from, n, texts); err != nil {
			return err
		}
		from, c.left = from+n, c.left-n
	}
	return nil
}

// some reads n rows of a page.
func (c *chunkReader) some(dst *Column, from, n int, texts *int64) error {
	there := n
	f := dst.Field
	if f.optional {
		if cap(c.level) < n {
			c.level = make([]uint32, n)
		}
		if err := c.levels.read(c.level[:n]); err != nil {
			return err
		}
		there = 0
		for _, l := range c.level[:n] {
			if l > 1 {
				return fmt.Errorf("a level of %d", l)
			}
			there += int(l)
		}
	}
	var err error
	to := from + there
	switch {
	case f.textual():
		var size int64
		size, err = c.values.texts(dst.Texts[from:to])
		if *texts -= size; err == nil && *texts < 0 {
			err = errors.New("its texts are longer than those of a file of this size can be")
		}
	case f.physical == typeFloat:
		err = c.values.floats(dst.Floats[from:to])
	case f.physical == typeDouble:
		err = c.values.doubles(dst.Doubles[from:to])
	default:
		err = c.values.ints(dst.Ints[from:to])
	}
	if err != nil {
		return err
	}
	if there == n {
		for i := 0; len(dst.valid) > 0 && i < n; i++ {
			dst.valid = append(dst.valid, true)
		}
		return nil
	}
	for len(dst.valid) < from {
		dst.valid = append(dst.valid, true)
	}
	dst.valid = slices.Grow(dst.valid, n)[:from+n]
	for i, l := range c.level[:n] {
		dst.valid[from+i] = l == 1
	}
	switch {
	case f.textual():
		spread(dst.Texts[from:from+n], there, c.level)
	case f.physical == typeFloat:
		spread(dst.Floats[from:from+n], there, c.level)
	case f.physical == typeDouble:
		spread(dst.Doubles[from:from+n], there, c.level)
	default:
		spread(dst.Ints[from:from+n], there, c.level)
	}
	return nil
}

// spread moves values to their rows.
func spread[T any](values []T, there int, level []uint32) {
	var none T
	for i := len(values) - 1; i >= 0; i-- {
		if level[i] == 1 {
			there--
			values[i] = values[there]
		} else {
			values[i] = none
		}
	}
}

// page goes to the next page with values.
func (c *chunkReader) page() error {
	for {
		h, err := c.pages.next()
		if err != nil {
			return err
		}
		if h.kind == pageIndex {
			c.pages.at += h.packed
			continue
		}
		keep := h.kind != pageDictionary && !c.values.of.textual() // texts lie in their page
		var into []byte
		if keep {
			into = c.body
		}
		body, levels, data, err := c.pages.body(into, &h)
		if err != nil {
			return err
		}
		if keep {
			c.body = body
		}
		if h.values > c.expected {
			return fmt.Errorf("a page of %d values, and %d are left", h.values, c.expected)
		}
		switch h.kind {
		case pageDictionary:
			if err := c.dictionary(&h, data); err != nil {
				return fmt.Errorf("the dictionary: %w", err)
			}
			continue
		case pageData:
			if c.values.of.optional {
				if h.levels != encodingRLE {
					return errors.New("its levels have an encoding of long ago; write the file again")
				}
				if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
					return errValues
				}
				n := binary.LittleEndian.Uint32(data)
				levels, data = data[4:4+n], data[4+n:]
			}
		case pageData2:
		default:
			return fmt.Errorf("a page of an unknown kind (%d)", h.kind)
		}
		if h.values == 0 {
			continue
		}
		c.levels = hybrid{data: levels, width: 1}
		c.left, c.expected = int(h.values), c.expected-h.values
		return c.values.begin(h.encoding, data, int(h.values))
	}
}

// dictionary reads the values that indices stand for.
func (c *chunkReader) dictionary(h *pageHeader, data []byte) error {
	if h.encoding != encodingPlain && h.encoding != encodingOldDictionary {
		return fmt.Errorf("its encoding is not known (%d)", h.encoding)
	}
	v := values{of: c.values.of}
	if err := v.begin(encodingPlain, data, 0); err != nil {
		return err
	}
	d := &Column{Field: c.values.of}
	least := max(1, v.width) // bytes of a value
	if v.of.physical == typeByteArray {
		least = 4
	}
	if v.of.physical == typeBoolean || h.values > int64(len(data)/least) {
		return fmt.Errorf("%d values in %d bytes", h.values, len(data))
	}
	d.resize(int(h.values))
	var err error
	switch {
	case d.textual():
		_, err = v.texts(d.Texts)
	case v.of.physical == typeFloat:
		err = v.floats(d.Floats)
	case v.of.physical == typeDouble:
		err = v.doubles(d.Doubles)
	default:
		err = v.ints(d.Ints)
	}
	c.values.dict = d
	return err
}
