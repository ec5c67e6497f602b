package dataset

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"
)

// cellKind is what a cell of a table holds.
type cellKind uint8

const (
	cellMissing cellKind = iota
	cellNumber           // a float64
	cellWhole            // an int64
	cellBool
	cellDay     // a date without a time of the day
	cellTime    // an instant, and how far the clock that showed it was from UTC
	cellWritten // a number as it is written, which may have more digits than float64
	cellText
)

// cell is a cell of a table in the type that it came in. As text it is what a table of text would have in its place.
type cell struct {
	kind   cellKind
	nanos  int32 // of a time
	zone   int32 // of a time: seconds east of UTC
	number float64
	whole  int64  // a whole number; 0 or 1; of a day or a time, seconds since 1970
	text   []byte // of cellWritten and cellText: valid until the next cell or batch
}

// textual says that a column with such a cell is text, even if all of it looks like numbers.
func (c *cell) textual() bool { return c.kind == cellText || c.kind >= cellBool && c.kind <= cellTime }

// float is the value of a number, if it is finite.
func (c *cell) float() (v float64, ok bool) {
	switch c.kind {
	case cellNumber:
		return c.number, c.number-c.number == 0
	case cellWhole:
		return float64(c.whole), true
	}
	return 0, false
}

// setTime makes a cell of a time.
func (c *cell) setTime(t time.Time) {
	_, zone := t.Zone()
	*c = cell{kind: cellTime, whole: t.Unix(), nanos: int32(t.Nanosecond()), zone: int32(zone)}
}

// setUint makes a cell of a whole number.
func (c *cell) setUint(v uint64, text *[]byte) {
	if *c = (cell{kind: cellWhole, whole: int64(v)}); c.whole < 0 {
		from := len(*text)
		*text = strconv.AppendUint(*text, v, 10)
		*c = cell{kind: cellWritten, text: (*text)[from:]}
	}
}

// setText makes a cell of a copy of a text.
func setText[T string | []byte](c *cell, v T, text *[]byte) {
	from := len(*text)
	*text = append(*text, v...)
	*c = cell{kind: cellText, text: (*text)[from:len(*text):len(*text)]}
}

// clock is a day or a time as its clock showed it, in UTC.
func (c *cell) clock() time.Time { return time.Unix(c.whole+int64(c.zone), int64(c.nanos)).UTC() }

// bytes is the cell as text, written to scratch unless it is text already.
func (c *cell) bytes(scratch *[]byte) []byte {
	if c.kind >= cellWritten || c.kind == cellMissing {
		return c.text
	}
	*scratch = c.append((*scratch)[:0])
	return *scratch
}

// category is the code of the cell's text, or of that of a number as the other kind of number is written: 1000000 or 1e+06.
func (c *cell) category(codes map[string]int32, scratch *[]byte) (code int32, known bool) {
	code, known = codes[string(c.bytes(scratch))]
	x, isNumber := c.float()
	if known || !isNumber {
		return code, known
	}
	other := cell{kind: cellNumber, number: x}
	if c.kind == cellNumber {
		other = cell{kind: cellWhole, whole: int64(x)}
	}
	if y, _ := other.float(); x != y {
		return 0, false
	}
	code, known = codes[string(other.bytes(scratch))]
	return code, known
}

// append appends the cell as text.
func (c *cell) append(dst []byte) []byte {
	switch c.kind {
	case cellNumber:
		return appendFloat(dst, c.number, 64)
	case cellWhole:
		return strconv.AppendInt(dst, c.whole, 10)
	case cellBool:
		return strconv.AppendBool(dst, c.whole != 0)
	case cellDay:
		return c.clock().AppendFormat(dst, time.DateOnly)
	case cellTime:
		if c.zone == 0 {
			return c.clock().AppendFormat(dst, time.RFC3339Nano)
		}
		return time.Unix(c.whole, int64(c.nanos)).In(time.FixedZone("", int(c.zone))).AppendFormat(dst, time.RFC3339Nano)
	}
	return append(dst, c.text...)
}

// appendFloat appends a number with as many digits as tell it apart; NaN is missing, and a negative zero no -0, which is another label than 0.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return dst
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// shortest is the float64 that the shortest text of a float32 stands for, so that 0.1 is the same in both.
func shortest(f float32, scratch *[]byte) float64 {
	v := float64(f)
	if v == math.Trunc(v) && v < 1<<24 && v > -1<<24 || v-v != 0 {
		return v
	}
	*scratch = strconv.AppendFloat((*scratch)[:0], v, 'e', -1, 32)
	v, _ = parseNumber(*scratch)
	return v
}

// encode appends the cell in a binary form: its kind, and then 8 bytes of a number, varints, or a text behind its length.
func (c *cell) encode(dst []byte) []byte {
	dst = append(dst, byte(c.kind))
	switch c.kind {
	case cellNumber:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.number))
	case cellWhole, cellBool, cellDay:
		return binary.AppendVarint(dst, c.whole)
	case cellTime:
		return binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(dst, c.whole), int64(c.nanos)), int64(c.zone))
	case cellWritten, cellText:
		return append(binary.AppendUvarint(dst, uint64(len(c.text))), c.text...)
	}
	return dst
}

var errCell = errors.New("a cell is damaged")

// decode takes a cell from the beginning of b, whose bytes its text shares.
func (c *cell) decode(b []byte) (rest []byte, err error) {
	if len(b) == 0 || b[0] > byte(cellText) {
		return nil, errCell
	}
	*c, b = cell{kind: cellKind(b[0])}, b[1:]
	bad := false
	varint := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	switch c.kind {
	case cellNumber:
		if len(b) < 8 {
			return nil, errCell
		}
		c.number, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]
	case cellWhole, cellBool, cellDay:
		c.whole = varint()
	case cellTime:
		c.whole, c.nanos, c.zone = varint(), int32(varint()), int32(varint())
	case cellWritten, cellText:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errCell
		}
		b = b[n:]
		c.text, b = b[:size:size], b[size:]
	}
	if bad {
		return nil, errCell
	}
	return b, nil
}
