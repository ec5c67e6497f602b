package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Column is the values of a column in a batch.
type Column struct {
	*Field
	rows    int
	valid   []byte // a bit for each row; nil: all
	data    []byte // values, offsets, views, or indices into a dictionary
	text    []byte // what offsets are into
	buffers [][]byte
	dict    *dictionary
}

// dictionary is the values that indices stand for, in the parts in which they came.
type dictionary struct {
	parts []*Column
	ends  []int // of their rows
	rows  int
}

// at is the part of a value, and its row there.
func (d *dictionary) at(i int) (*Column, int) {
	if len(d.parts) == 1 {
		return d.parts[0], i
	}
	k, _ := slices.BinarySearch(d.ends, i+1)
	p := d.parts[k]
	return p, i - (d.ends[k] - p.rows)
}

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 != 0 }

// index is the index of a row into the dictionary.
func (c *Column) index(i int) uint64 {
	switch c.Field.index {
	case 1:
		return uint64(c.data[i])
	case -1:
		return uint64(int8(c.data[i]))
	case 2:
		return uint64(binary.LittleEndian.Uint16(c.data[2*i:]))
	case -2:
		return uint64(int16(binary.LittleEndian.Uint16(c.data[2*i:])))
	case 4:
		return uint64(binary.LittleEndian.Uint32(c.data[4*i:]))
	case -4:
		return uint64(int32(binary.LittleEndian.Uint32(c.data[4*i:])))
	}
	return binary.LittleEndian.Uint64(c.data[8*i:])
}

// behind is where a value is, in the dictionary if there is one.
func (c *Column) behind(i int) (*Column, int) {
	if c.dict == nil {
		return c, i
	}
	return c.dict.at(int(c.index(i)))
}

// Missing says whether a row has no value.
func (c *Column) Missing(i int) bool {
	if c.Kind == Null || c.valid != nil && !bit(c.valid, i) {
		return true
	}
	if c.dict == nil {
		return false
	}
	d, j := c.behind(i)
	return d.valid != nil && !bit(d.valid, j)
}

// Int is a value of a row that is there, by the kind of the column.
func (c *Column) Int(i int) int64 {
	c, i = c.behind(i)
	if c.layout == bits {
		if bit(c.data, i) {
			return 1
		}
		return 0
	}
	signed := c.Kind != Uint && c.Kind != Half
	switch c.width {
	case 1:
		if signed {
			return int64(int8(c.data[i]))
		}
		return int64(c.data[i])
	case 2:
		v := binary.LittleEndian.Uint16(c.data[2*i:])
		if signed {
			return int64(int16(v))
		}
		return int64(v)
	case 4:
		v := binary.LittleEndian.Uint32(c.data[4*i:])
		if signed {
			return int64(int32(v))
		}
		return int64(v)
	}
	return int64(binary.LittleEndian.Uint64(c.data[8*i:]))
}

// Float is the float of a row that is there.
func (c *Column) Float(i int) float64 {
	c, i = c.behind(i)
	if c.width == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.data[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.data[8*i:]))
}

// Bytes are those of a row that is there, valid until the next batch.
func (c *Column) Bytes(i int) []byte {
	c, i = c.behind(i)
	switch c.layout {
	case offsets32:
		return c.text[binary.LittleEndian.Uint32(c.data[4*i:]):binary.LittleEndian.Uint32(c.data[4*i+4:])]
	case offsets64:
		return c.text[binary.LittleEndian.Uint64(c.data[8*i:]):binary.LittleEndian.Uint64(c.data[8*i+8:])]
	case views:
		v := c.data[16*i : 16*i+16]
		n := binary.LittleEndian.Uint32(v)
		if n <= 12 {
			return v[4 : 4+n]
		}
		from := binary.LittleEndian.Uint32(v[12:])
		return c.buffers[binary.LittleEndian.Uint32(v[8:])][from : from+n]
	}
	return c.data[c.width*i : c.width*(i+1)]
}

var errValues = errors.New("fewer values than rows")

// check finds what is wrong with the values, and returns how many bytes of text they are.
func (c *Column) check() (size int64, err error) {
	n := int64(c.rows)
	if c.valid != nil && int64(len(c.valid)) < (n+7)/8 {
		return 0, errValues
	}
	if c.dict != nil {
		return c.checkIndices()
	}
	switch c.layout {
	case bits:
		if int64(len(c.data)) < (n+7)/8 {
			return 0, errValues
		}
	case fixed:
		if int64(len(c.data))/int64(c.width) < n {
			return 0, errValues
		}
		size = n * int64(c.width)
	case offsets32, offsets64:
		width := 4
		if c.layout == offsets64 {
			width = 8
		}
		if n == 0 {
			return 0, nil // without even the first offset
		}
		if int64(len(c.data)/width) < n+1 {
			return 0, errValues
		}
		last := uint64(0)
		for i := 0; i <= c.rows; i++ {
			var at uint64
			if width == 4 {
				at = uint64(binary.LittleEndian.Uint32(c.data[4*i:]))
			} else {
				at = binary.LittleEndian.Uint64(c.data[8*i:])
			}
			if at < last || at > uint64(len(c.text)) {
				return 0, fmt.Errorf("row %d of the batch ends at byte %d of %d", i, at, len(c.text))
			}
			last = at
		}
		size = int64(len(c.text))
	case views:
		if int64(len(c.data)/16) < n {
			return 0, errValues
		}
		for i := range c.rows {
			v := c.data[16*i:]
			length := uint64(binary.LittleEndian.Uint32(v))
			size += int64(length)
			if length <= 12 || c.valid != nil && !bit(c.valid, i) {
				continue
			}
			b, from := binary.LittleEndian.Uint32(v[8:]), uint64(binary.LittleEndian.Uint32(v[12:]))
			if uint64(b) >= uint64(len(c.buffers)) || from+length > uint64(len(c.buffers[b])) {
				return 0, fmt.Errorf("row %d of the batch lies outside of its text", i)
			}
		}
	}
	return size, nil
}

func (c *Column) checkIndices() (size int64, err error) {
	width := max(c.Field.index, -c.Field.index)
	if len(c.data)/width < c.rows {
		return 0, errValues
	}
	if c.Field.layout == fixed || c.Field.layout == bits {
		size = int64(c.rows) * int64(max(1, c.width))
	}
	for i := range c.rows {
		if c.valid != nil && !bit(c.valid, i) {
			continue
		}
		at := c.index(i)
		if at >= uint64(c.dict.rows) {
			return 0, fmt.Errorf("row %d of the batch has the index %d, and its dictionary %d values", i, int64(at), c.dict.rows)
		}
		if size += 1; c.Field.layout >= offsets32 {
			if d, j := c.dict.at(int(at)); d.valid == nil || bit(d.valid, j) {
				size += int64(len(d.Bytes(j)))
			}
		}
	}
	return size, nil
}
