package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Sizes at which a page and a group of rows end.
const (
	pageSize  = 1 << 20 // bytes of values
	groupRows = 1 << 18
	groupSize = 64 << 20 // bytes of values that are packed, or wait for it
)

// Writer writes columns of Int (64 bits), Float, Double and Bytes (UTF-8), all but Float of which may have missing values, compressed by
// zstd. Values come row by row.
type Writer struct {
	w      io.Writer
	fields []Field
	zstd   *zstd.Encoder
	at     int64
	rows   int64 // of the group
	all    int64
	held   int
	cols   []pending
	column int
	groups []writtenGroup
}

// pending is the pages of a column of a group that is not written yet, and the values that are not in one.
type pending struct {
	values    []byte
	levels    []byte // a bit for each value
	count     int
	missing   int
	pages     []byte
	unpacked  int64
	allValues int64
}

// writtenGroup is a group in the file.
type writtenGroup struct {
	rows   int64
	chunks []writtenChunk
}

type writtenChunk struct{ at, values, unpacked, packed int64 }

// NewWriter begins a file. Of fields the names and kinds count.
func NewWriter(w io.Writer, fields []Field) (*Writer, error) {
	out := &Writer{w: w, fields: slices.Clone(fields), cols: make([]pending, len(fields))}
	for i := range out.fields {
		f := &out.fields[i]
		f.optional = f.Kind != Float
		f.physical = map[Kind]byte{Int: typeInt64, Float: typeFloat, Double: typeDouble, Bytes: typeByteArray}[f.Kind]
	}
	var err error
	if out.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, err
	}
	return out, out.write([]byte(Magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.at += int64(n)
	return err
}

// Missing appends no value.
func (w *Writer) Missing() error {
	w.cols[w.column].missing++
	return w.next(false, 0)
}

// Int appends a whole number.
func (w *Writer) Int(v int64) error {
	c := &w.cols[w.column]
	c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
	return w.next(true, 8)
}

// Float appends a number to a column of Float.
func (w *Writer) Float(v float32) error {
	c := &w.cols[w.column]
	c.values = binary.LittleEndian.AppendUint32(c.values, math.Float32bits(v))
	return w.next(true, 4)
}

// Double appends a number to a column of Double.
func (w *Writer) Double(v float64) error {
	c := &w.cols[w.column]
	c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
	return w.next(true, 8)
}

// Text appends a text.
func (w *Writer) Text(v string) error {
	c := &w.cols[w.column]
	c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
	return w.next(true, 4+len(v))
}

// next goes to the next column, or to the next row.
func (w *Writer) next(there bool, size int) error {
	c := &w.cols[w.column]
	if c.count&7 == 0 {
		c.levels = append(c.levels, 0)
	}
	if there {
		c.levels[c.count>>3] |= 1 << (c.count & 7)
	}
	w.held += size
	if c.count++; len(c.values) >= pageSize || c.count == groupRows {
		w.page(c, w.fields[w.column].optional)
	}
	if w.column++; w.column < len(w.cols) {
		return nil
	}
	w.column = 0
	if w.rows++; w.rows == groupRows || w.held >= groupSize {
		return w.group()
	}
	return nil
}

// page packs the values of a column that are in no page.
func (w *Writer) page(c *pending, optional bool) {
	if c.count == 0 {
		return
	}
	var body []byte
	if optional {
		levels := binary.AppendUvarint(nil, uint64(len(c.levels))<<1|1)
		levels = append(levels, c.levels...)
		if c.missing == 0 {
			levels = append(binary.AppendUvarint(nil, uint64(c.count)<<1), 1)
		}
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(levels))), levels...)
	}
	body = append(body, c.values...)
	packed := w.zstd.EncodeAll(body, nil)
	var t thriftWriter
	t.number(1, thriftI32, pageData)
	t.number(2, thriftI32, int64(len(body)))
	t.number(3, thriftI32, int64(len(packed)))
	t.number(4, thriftI32, int64(int32(crc32.ChecksumIEEE(packed))))
	t.begin(5)
	t.number(1, thriftI32, int64(c.count))
	t.number(2, thriftI32, encodingPlain)
	t.number(3, thriftI32, encodingRLE)
	t.number(4, thriftI32, encodingRLE)
	t.end()
	t.end()
	w.held -= len(c.values) - len(packed)
	c.pages = append(append(c.pages, t.b...), packed...)
	c.unpacked += int64(len(t.b) + len(body))
	c.allValues += int64(c.count)
	c.values, c.levels, c.count, c.missing = c.values[:0], c.levels[:0], 0, 0
}

// group writes the rows that wait.
func (w *Writer) group() error {
	g := writtenGroup{rows: w.rows}
	for i := range w.cols {
		c := &w.cols[i]
		w.page(c, w.fields[i].optional)
		g.chunks = append(g.chunks, writtenChunk{w.at, c.allValues, c.unpacked, int64(len(c.pages))})
		if err := w.write(c.pages); err != nil {
			return err
		}
		c.pages, c.unpacked, c.allValues = c.pages[:0], 0, 0
	}
	w.groups, w.all = append(w.groups, g), w.all+w.rows
	w.rows, w.held = 0, 0
	return nil
}

// Close ends the file.
func (w *Writer) Close() error {
	defer w.zstd.Close()
	if w.rows > 0 {
		if err := w.group(); err != nil {
			return err
		}
	}
	footer := w.footer()
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, Magic...))
}

func (w *Writer) footer() []byte {
	var t thriftWriter
	t.number(1, thriftI32, 1)
	t.list(2, thriftStruct, 1+len(w.fields))
	t.text(4, "table")
	t.number(5, thriftI32, int64(len(w.fields)))
	t.end()
	for i := range w.fields {
		f := &w.fields[i]
		t.number(1, thriftI32, int64(f.physical))
		repetition := int64(0)
		if f.optional {
			repetition = 1
		}
		t.number(3, thriftI32, repetition)
		t.text(4, f.Name)
		if f.Kind == Bytes {
			t.number(6, thriftI32, 0) // UTF8
			t.begin(10)
			t.begin(1)
			t.end()
			t.end()
		}
		t.end()
	}
	t.ends()
	t.number(3, thriftI64, w.all)
	t.list(4, thriftStruct, len(w.groups))
	for _, g := range w.groups {
		total := int64(0)
		t.list(1, thriftStruct, len(g.chunks))
		for i, c := range g.chunks {
			total += c.unpacked
			t.number(2, thriftI64, c.at)
			t.begin(3)
			t.number(1, thriftI32, int64(w.fields[i].physical))
			t.list(2, thriftI32, 2)
			t.integer(encodingPlain)
			t.integer(encodingRLE)
			t.ends()
			t.list(3, thriftBinary, 1)
			t.bytes(w.fields[i].Name)
			t.ends()
			t.number(4, thriftI32, codecZstd)
			t.number(5, thriftI64, c.values)
			t.number(6, thriftI64, c.unpacked)
			t.number(7, thriftI64, c.packed)
			t.number(9, thriftI64, c.at)
			t.end()
			t.end()
		}
		t.ends()
		t.number(2, thriftI64, total)
		t.number(3, thriftI64, g.rows)
		t.end()
	}
	t.ends()
	t.text(6, "mercer")
	t.end()
	return t.b
}
