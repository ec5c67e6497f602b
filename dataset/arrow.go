package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync/atomic"

	"mercer/internal/read/arrow"
)

// arrowTable is an Arrow IPC file or stream as a typed table. Only a batch of the file is in memory.
type arrowTable struct {
	packed *packed
	of     []arrow.Field
	stored []stored // how the columns are
}

// looksLikeArrow says whether a file is an Arrow file or a stream.
func looksLikeArrow(head []byte) bool {
	return isArrowFile(head) || arrow.LooksLikeStream(head)
}

func isArrowFile(head []byte) bool { return bytes.HasPrefix(head, []byte(arrow.Magic+"\x00\x00")) }

// newArrowTable reads the schema. A file, other than a stream, must not be compressed as a whole.
func newArrowTable(in *packed) (*arrowTable, error) {
	t := &arrowTable{packed: in}
	r, err := t.begin()
	if err != nil {
		return nil, err
	}
	r.Close()
	t.of = r.batches.Fields
	if len(t.of) == 0 {
		return nil, fmt.Errorf("%s: the Arrow data have no columns", in.name)
	}
	for i := range t.of {
		t.stored = append(t.stored, arrowStored(&t.of[i]))
	}
	return t, nil
}

func (t *arrowTable) Name() string { return t.packed.name }

func (t *arrowTable) fields() []field {
	all := make([]field, len(t.of))
	for i := range all {
		all[i] = field{t.of[i].Name, t.stored[i].textual()}
	}
	return all
}

// arrowPass is one pass over an Arrow table.
type arrowPass struct {
	*arrowTable
	batches *arrow.Reader
	read    func() float64
	close   func() error
	batch   *arrow.Batch
	row     int // of the batch
	rows    int // before the batch
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

// pass implements typedTable.
func (t *arrowTable) pass() (columnPass, error) { return t.begin() }

func (t *arrowTable) begin() (*arrowPass, error) {
	in, p := t.packed, &arrowPass{arrowTable: t, close: func() error { return nil }}
	if isArrowFile(in.head) {
		counted := &countedAt{r: in.file}
		var err error
		if p.batches, err = arrow.NewFile(counted, in.size); err != nil {
			return nil, p.damaged(err)
		}
		p.read = func() float64 { return min(1, float64(counted.read.Load())/float64(in.size)) }
		return p, nil
	}
	r, share, err := in.Open()
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if in.method == "" && !streamed(in) {
		size = in.size
	}
	if p.batches, err = arrow.NewStream(r, size); err != nil {
		r.Close()
		return nil, p.damaged(err)
	}
	p.close, p.read = r.Close, share
	return p, nil
}

func (p *arrowPass) share() float64 { return p.read() }

func (p *arrowPass) damaged(err error) error {
	name := p.packed.name
	switch {
	case errors.Is(err, errChanged):
		return orChanged(err, nil)
	case errors.Is(err, io.ErrUnexpectedEOF) && p.rows == 0:
		return fmt.Errorf("%s: the Arrow data are cut short", name)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the Arrow data are cut short after row %d", name, p.rows)
	case p.batches == nil:
		return fmt.Errorf("%s: the Arrow data cannot be read: %w", name, err)
	}
	return fmt.Errorf("%s: the Arrow data are damaged after row %d: %w", name, p.rows, err)
}

// next implements columnPass: it copies rows, of which arrow keeps only one batch.
func (p *arrowPass) next(b *columnBatch) error {
	b.reset(len(p.of), 0)
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
	end := min(p.batch.Rows, p.row+batchRows(len(p.of)))
	for i := range b.columns {
		if row, err := p.column(&b.columns[i], &p.batch.Columns[i], i, end, &b.text); err != nil {
			return atNumber(p.packed.name, p.rows+row, inColumn(columnQuoted(p.of[i].Name), p.of[i].Name, -1, nil, err))
		}
	}
	b.rows, p.row = end-p.row, end
	return nil
}

// column copies a column of the rows before end, and returns the row of an error.
func (p *arrowPass) column(to *column, from *arrow.Column, i, end int, text *[]byte) (int, error) {
	switch to.kind = columnCells; from.Kind {
	case arrow.Float:
		to.kind = columnFloats
	case arrow.Double:
		to.kind = columnDoubles
	case arrow.Int:
		to.kind = columnWholes
	}
	for row := p.row; row < end; row++ {
		missing := from.Missing(row)
		if to.kind != columnCells {
			to.valid = append(to.valid, !missing)
		}
		switch {
		case to.kind == columnFloats && missing:
			to.floats = append(to.floats, 0)
		case to.kind == columnFloats:
			to.floats = append(to.floats, float32(from.Float(row)))
		case to.kind == columnDoubles && missing:
			to.doubles = append(to.doubles, 0)
		case to.kind == columnDoubles:
			to.doubles = append(to.doubles, from.Float(row))
		case to.kind == columnWholes && missing:
			to.wholes = append(to.wholes, 0)
		case to.kind == columnWholes:
			to.wholes = append(to.wholes, from.Int(row))
		default:
			var c cell
			if !missing {
				if err := arrowCell(from, row, &p.stored[i], &c, text); err != nil {
					return row, err
				}
			}
			to.cells = append(to.cells, c)
		}
	}
	return 0, nil
}

// Close implements columnPass.
func (p *arrowPass) Close() error {
	p.batches.Close()
	return p.close()
}

var arrowKinds = map[arrow.Kind]storedKind{arrow.Bool: storedBool, arrow.Uint: storedUint, arrow.Half: storedHalf, arrow.Decimal: storedDecimal,
	arrow.Date: storedDay, arrow.DateMilli: storedDay, arrow.Time: storedClock, arrow.Timestamp: storedInstant, arrow.Bytes: storedText}

// arrowStored says how a column is stored.
func arrowStored(f *arrow.Field) stored {
	how := stored{arrowKinds[f.Kind], f.Unit, f.Scale}
	if f.UUID {
		how.kind = storedUUID
	}
	return how
}

// arrowCell reads a cell that is there, whose text goes to the end of text.
func arrowCell(c *arrow.Column, row int, how *stored, to *cell, text *[]byte) error {
	switch c.Kind {
	case arrow.Float, arrow.Double:
		to.setNumber(c.Float(row))
		return nil
	case arrow.Decimal:
		b := bytes.Clone(c.Bytes(row))
		slices.Reverse(b)
		return how.cell(to, 0, b, text)
	case arrow.DateMilli:
		n, perDay := c.Int(row), int64(86_400_000)
		return how.cell(to, (n-(n%perDay+perDay)%perDay)/perDay, nil, text)
	case arrow.Bytes:
		b := c.Bytes(row)
		if how.kind == storedText {
			from := len(*text)
			*text = append(*text, b...)
			b = (*text)[from:]
		}
		return how.cell(to, 0, b, text)
	}
	return how.cell(to, c.Int(row), nil, text)
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
func (t *arrowTable) nominal(at int) bool { return at < len(t.of) && t.of[at].Dictionary() }
