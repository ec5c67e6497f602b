package arrow

import "encoding/binary"

// builder makes a FlatBuffer from its end to its beginning. Offsets are counted from the end.
type builder struct {
	b     []byte // backwards: the last byte comes first
	slots []int  // of the table in the making
	start int
}

// pad makes the length, with more bytes that follow, a multiple of align.
func (b *builder) pad(align, more int) {
	for (len(b.b)+more)%align != 0 {
		b.b = append(b.b, 0)
	}
}

// number puts a little-endian number of some bytes in front.
func (b *builder) number(v uint64, size int) int {
	b.pad(size, 0)
	for i := size - 1; i >= 0; i-- {
		b.b = append(b.b, byte(v>>(8*i)))
	}
	return len(b.b)
}

// offset puts the distance to a place in front.
func (b *builder) offset(to int) int {
	b.pad(4, 0)
	return b.number(uint64(len(b.b)+4-to), 4)
}

func (b *builder) string(s string) int {
	b.pad(4, len(s)+1)
	b.b = append(b.b, 0)
	for i := len(s) - 1; i >= 0; i-- {
		b.b = append(b.b, s[i])
	}
	return b.number(uint64(len(s)), 4)
}

// offsets makes a vector of tables.
func (b *builder) offsets(to []int) int {
	b.pad(4, 4*len(to))
	for i := len(to) - 1; i >= 0; i-- {
		b.offset(to[i])
	}
	return b.number(uint64(len(to)), 4)
}

// structs makes a vector of structs of 64-bit numbers.
func (b *builder) structs(numbers []int64, each int) int {
	b.pad(8, 8*len(numbers))
	for i := len(numbers) - 1; i >= 0; i-- {
		b.number(uint64(numbers[i]), 8)
	}
	return b.number(uint64(len(numbers)/each), 4)
}

// begin starts a table; its fields follow by put and link.
func (b *builder) begin() { b.slots, b.start = b.slots[:0], len(b.b) }

// at notes where a field is.
func (b *builder) at(field, place int) {
	for len(b.slots) <= field {
		b.slots = append(b.slots, 0)
	}
	b.slots[field] = place
}

func (b *builder) put(field int, v uint64, size int) { b.at(field, b.number(v, size)) }
func (b *builder) link(field, to int)                { b.at(field, b.offset(to)) }

// end finishes the table.
func (b *builder) end() int {
	table := b.number(0, 4) // to the vtable, which is filled in below
	for i := len(b.slots) - 1; i >= 0; i-- {
		away := 0
		if b.slots[i] > 0 {
			away = table - b.slots[i]
		}
		b.number(uint64(away), 2)
	}
	b.number(uint64(table-b.start), 2)
	vtable := b.number(uint64(4+2*len(b.slots)), 2)
	var away [4]byte
	binary.BigEndian.PutUint32(away[:], uint32(vtable-table))
	copy(b.b[table-4:], away[:])
	return table
}

// finish is the whole buffer.
func (b *builder) finish(root int) []byte {
	b.pad(8, 4)
	b.offset(root)
	out := make([]byte, len(b.b))
	for i, c := range b.b {
		out[len(out)-1-i] = c
	}
	return out
}
