package arrow

import (
	"encoding/binary"
	"errors"
)

// flat is a FlatBuffer that may be damaged: what lies outside of it reads as 0 and is an error.
type flat struct {
	b   []byte
	err error
}

var errOutside = errors.New("its metadata points outside of itself")

// bytes are n bytes at a place, nil if they are not there.
func (f *flat) bytes(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.b) || n > len(f.b)-at {
		if f.err == nil {
			f.err = errOutside
		}
		return nil
	}
	return f.b[at : at+n]
}

func (f *flat) u16(at int) uint16 {
	if b := f.bytes(at, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (f *flat) i32(at int) int32 {
	if b := f.bytes(at, 4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (f *flat) i64(at int) int64 {
	if b := f.bytes(at, 8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// follow is where the offset at a place leads.
func (f *flat) follow(at int) int {
	n := uint32(f.i32(at))
	if uint64(n) > uint64(len(f.b)) {
		f.err = errOutside
		return 0
	}
	return at + int(n)
}

// table is a table within a FlatBuffer; a nil one has no fields.
type table struct {
	f      *flat
	at     int
	vtable int
	slots  int
}

func (f *flat) root() *table { return f.table(f.follow(0)) }

func (f *flat) table(at int) *table {
	t := &table{f: f, at: at}
	t.vtable = at - int(f.i32(at))
	t.slots = (int(f.u16(t.vtable)) - 4) / 2
	return t
}

// place is where a field is, 0 if it has its default.
func (t *table) place(field int) int {
	if t == nil || field >= t.slots {
		return 0
	}
	if n := t.f.u16(t.vtable + 4 + 2*field); n > 0 {
		return t.at + int(n)
	}
	return 0
}

func (t *table) byte(field int) byte {
	if at := t.place(field); at > 0 {
		if b := t.f.bytes(at, 1); b != nil {
			return b[0]
		}
	}
	return 0
}

func (t *table) i16(field int, otherwise int16) int16 {
	if at := t.place(field); at > 0 {
		return int16(t.f.u16(at))
	}
	return otherwise
}

func (t *table) i32(field int, otherwise int32) int32 {
	if at := t.place(field); at > 0 {
		return t.f.i32(at)
	}
	return otherwise
}

func (t *table) i64(field int) int64 {
	if at := t.place(field); at > 0 {
		return t.f.i64(at)
	}
	return 0
}

func (t *table) table(field int) *table {
	if at := t.place(field); at > 0 {
		return t.f.table(t.f.follow(at))
	}
	return nil
}

// vector is the place and the number of elements of a vector, each of size bytes.
func (t *table) vector(field, size int) (at, n int) {
	place := t.place(field)
	if place == 0 {
		return 0, 0
	}
	at = t.f.follow(place)
	n = int(uint32(t.f.i32(at)))
	if at += 4; n > len(t.f.b)/size || t.f.bytes(at, n*size) == nil {
		t.f.err = errOutside
		return 0, 0
	}
	return at, n
}

func (t *table) string(field int) string {
	at, n := t.vector(field, 1)
	return string(t.f.bytes(at, n))
}
