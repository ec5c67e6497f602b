package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"mercer/internal/arrow"
)

// arrowTable is an Arrow IPC file or stream as a table of text, like parquetTable. Only a batch of the file is in memory.
type arrowTable struct {
	packed *packed
	fields []arrow.Field
	text   []func(dst []byte, c *arrow.Column, row int) ([]byte, error)
	isText []bool // not a number, even if it looks like one
	head   []byte
}

// looksLikeArrow says whether a file is an Arrow file or a stream.
func looksLikeArrow(head []byte) bool {
	return isArrowFile(head) || arrow.LooksLikeStream(head)
}

func isArrowFile(head []byte) bool { return bytes.HasPrefix(head, []byte(arrow.Magic+"\x00\x00")) }

// newArrowTable reads the schema. A file, other than a stream, must not be compressed as a whole.
func newArrowTable(in *packed) (*arrowTable, error) {
	t := &arrowTable{packed: in}
	r, _, err := t.begin()
	if err != nil {
		return nil, err
	}
	r.Close()
	t.fields = r.batches.Fields
	if len(t.fields) == 0 {
		return nil, fmt.Errorf("%s: the Arrow data have no columns", in.name)
	}
	for i := range t.fields {
		write, text := arrowWriter(&t.fields[i])
		t.text, t.isText = append(t.text, write), append(t.isText, text)
	}
	if t.head, err = headOf(t); err != nil {
		return nil, err
	}
	return t, nil
}

// headOf is the beginning of a table as text.
func headOf(in input) ([]byte, error) {
	r, _, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}

func (t *arrowTable) Name() string { return t.packed.name }
func (t *arrowTable) Head() []byte { return t.head }

// texts are the columns that are no numbers.
func (t *arrowTable) texts() map[string]bool {
	all := map[string]bool{}
	for i, f := range t.fields {
		all[f.Name] = t.isText[i]
	}
	return all
}

// arrowPass is one pass over an Arrow table.
type arrowPass struct {
	table   *arrowTable
	batches *arrow.Reader
	close   func() error
	batch   *arrow.Batch
	row     int // of the batch
	rows    int // before the batch
	line    []byte
	at      int
	err     error
}

// countedAt counts the bytes that are read from a file.
type countedAt struct {
	r    io.ReaderAt
	read atomic.Int64
}

func (c *countedAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.read.Add(int64(n))
	return n, err
}

func (t *arrowTable) begin() (*arrowPass, func() float64, error) {
	in, p := t.packed, &arrowPass{table: t, close: func() error { return nil }}
	if isArrowFile(in.head) {
		counted := &countedAt{r: in.file}
		var err error
		if p.batches, err = arrow.NewFile(counted, in.size); err != nil {
			return nil, nil, p.damaged(err)
		}
		return p, func() float64 { return min(1, float64(counted.read.Load())/float64(in.size)) }, nil
	}
	r, share, err := in.Open()
	if err != nil {
		return nil, nil, err
	}
	size := int64(-1)
	if in.method == "" && !streamed(in) {
		size = in.size
	}
	if p.batches, err = arrow.NewStream(r, size); err != nil {
		r.Close()
		return nil, nil, p.damaged(err)
	}
	p.close = r.Close
	return p, share, nil
}

// Open implements input.
func (t *arrowTable) Open() (io.ReadCloser, func() float64, error) {
	p, share, err := t.begin()
	if err != nil {
		return nil, nil, err
	}
	for i, f := range t.fields {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		p.line = appendQuoted(p.line, f.Name)
	}
	p.line = append(p.line, '\n')
	return p, share, nil
}

func (p *arrowPass) damaged(err error) error {
	name := p.table.packed.name
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && p.rows == 0:
		return fmt.Errorf("%s: the Arrow data are cut short", name)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the Arrow data are cut short after row %d", name, p.rows)
	case p.batches == nil:
		return fmt.Errorf("%s: the Arrow data cannot be read: %w", name, err)
	}
	return fmt.Errorf("%s: the Arrow data are damaged after row %d: %w", name, p.rows, err)
}

// Read implements io.Reader.
func (p *arrowPass) Read(dst []byte) (int, error) {
	if p.at == len(p.line) {
		p.line, p.at = p.line[:0], 0
		for len(p.line) < tableText && p.err == nil {
			p.err = p.next()
		}
		if len(p.line) == 0 {
			return 0, p.err
		}
	}
	n := copy(dst, p.line[p.at:])
	p.at += n
	return n, nil
}

// next appends the text of a row.
func (p *arrowPass) next() error {
	if p.batch == nil || p.row == p.batch.Rows {
		if p.batch != nil {
			p.rows += p.batch.Rows
		}
		var err error
		if p.batch, err = p.batches.Next(); err == io.EOF {
			return err
		} else if err != nil {
			return p.damaged(err)
		}
		p.row = 0
	}
	first := len(p.line)
	for i := range p.batch.Columns {
		if i > 0 {
			p.line = append(p.line, ',')
		}
		c := &p.batch.Columns[i]
		if c.Missing(p.row) {
			continue
		}
		var err error
		if p.line, err = p.table.text[i](p.line, c, p.row); err != nil {
			p.line = p.line[:first]
			return fmt.Errorf("%s: row %d, column %q: %w", p.table.packed.name, p.rows+p.row+1, c.Name, err)
		}
	}
	if len(p.batch.Columns) == 1 && len(p.line) == first {
		p.line = append(p.line, `""`...) // or the line would be empty, and no row
	}
	p.line = append(p.line, '\n')
	p.row++
	return nil
}

// Close implements io.Closer.
func (p *arrowPass) Close() error {
	p.batches.Close()
	return p.close()
}

const timestamps = "2006-01-02T15:04:05.999999999Z"

// arrowWriter is how the values of a column are written, and whether they are texts.
func arrowWriter(f *arrow.Field) (write func(dst []byte, c *arrow.Column, row int) ([]byte, error), text bool) {
	plain := func(g func(dst []byte, c *arrow.Column, row int) []byte) func([]byte, *arrow.Column, int) ([]byte, error) {
		return func(dst []byte, c *arrow.Column, row int) ([]byte, error) { return g(dst, c, row), nil }
	}
	// instant is a number of units since 1970, or since midnight.
	instant := func(unit time.Duration, layout string) func([]byte, *arrow.Column, int) ([]byte, error) {
		per := int64(time.Second / unit)
		return plain(func(dst []byte, c *arrow.Column, row int) []byte {
			n := c.Int(row)
			return time.Unix(n/per, n%per*int64(unit)).UTC().AppendFormat(dst, layout)
		})
	}
	switch f.Kind {
	case arrow.Bool:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte { return strconv.AppendBool(dst, c.Int(row) != 0) }), true
	case arrow.Uint:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte {
			return strconv.AppendUint(dst, uint64(c.Int(row)), 10)
		}), false
	case arrow.Half:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte {
			return appendFloat(dst, halfFloat(uint16(c.Int(row))), 32)
		}), false
	case arrow.Float:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte { return appendFloat(dst, c.Float(row), 32) }), false
	case arrow.Double:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte { return appendFloat(dst, c.Float(row), 64) }), false
	case arrow.Decimal:
		scale := f.Scale
		return func(dst []byte, c *arrow.Column, row int) ([]byte, error) {
			b := bytes.Clone(c.Bytes(row))
			for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
				b[i], b[j] = b[j], b[i]
			}
			return appendDecimal(dst, twosComplement(b), scale)
		}, false
	case arrow.Date:
		return plain(func(dst []byte, c *arrow.Column, row int) []byte {
			return time.Unix(c.Int(row)*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
		}), true
	case arrow.DateMilli:
		return instant(time.Millisecond, time.DateOnly), true
	case arrow.Time:
		return instant(f.Unit, "15:04:05.999999999"), true
	case arrow.Timestamp:
		return instant(f.Unit, timestamps), true
	case arrow.Bytes:
		if f.UUID {
			return plain(func(dst []byte, c *arrow.Column, row int) []byte { return appendUUID(dst, c.Bytes(row)) }), true
		}
		return func(dst []byte, c *arrow.Column, row int) ([]byte, error) {
			b := c.Bytes(row)
			if !utf8.Valid(b) {
				return dst, errors.New("a value is not text; leave the column out of the file")
			}
			return appendQuoted(dst, string(b)), nil
		}, true
	}
	return plain(func(dst []byte, c *arrow.Column, row int) []byte { return strconv.AppendInt(dst, c.Int(row), 10) }), false
}

// appendUUID appends 16 bytes in the form of a UUID.
func appendUUID(dst, b []byte) []byte {
	return fmt.Appendf(dst, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// twosComplement is a number whose most significant byte comes first.
func twosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// appendDecimal appends a whole number of tenths, hundredths, ….
func appendDecimal(dst []byte, n *big.Int, scale int) ([]byte, error) {
	if scale < 0 || scale > 100 {
		return dst, fmt.Errorf("decimals of scale %d are not read", scale)
	}
	negative := n.Sign() < 0
	digits := n.Abs(n).String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-scale:]...)
	}
	return dst, nil
}

// nominal says that column at is declared as one of given values.
func (t *arrowTable) nominal(at int) bool { return at < len(t.fields) && t.fields[at].Dictionary() }
