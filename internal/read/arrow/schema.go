// Package arrow reads and writes tables of flat columns as Apache Arrow IPC files and streams. What a damaged file costs is
// bounded by its size. Metadata are FlatBuffers, which it reads and writes by itself.
package arrow

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what the values of a column are.
type Kind uint8

// Kinds of columns, and the method of Column that has their values.
const (
	Null      Kind = iota // none
	Bool                  // Int, 0 or 1
	Int                   // Int
	Uint                  // Int, as uint64
	Half                  // Int, the bits of a float16
	Float                 // Float, of 32 bits
	Double                // Float
	Decimal               // Bytes, two's complement, least significant byte first
	Date                  // Int, days
	DateMilli             // Int, milliseconds
	Time                  // Int, in Unit
	Timestamp             // Int, in Unit
	Duration              // Int, in Unit
	Bytes                 // Bytes
)

// Field describes a column.
type Field struct {
	Name  string
	Kind  Kind
	Unit  time.Duration // of times
	Scale int           // of decimals
	UUID  bool          // the 16 bytes are a UUID

	layout     layout
	width      int // bytes of a value of fixed width
	dictionary bool
	id         int64 // of the dictionary
	index      int   // bytes of an index, negative if it has a sign
}

// Dictionary says that values are indices into a dictionary: categories.
func (f *Field) Dictionary() bool { return f.dictionary }

// layout is how values are stored.
type layout uint8

const (
	nothing layout = iota
	bits
	fixed
	offsets32
	offsets64
	views
)

// Numbers of types in the format.
const (
	typeNull, typeInt, typeFloat, typeBinary, typeUtf8, typeBool, typeDecimal = 1, 2, 3, 4, 5, 6, 7
	typeDate, typeTime, typeTimestamp, typeFixedBinary, typeDuration          = 8, 9, 10, 15, 18
	typeLargeBinary, typeLargeUtf8, typeBinaryView, typeUtf8View              = 19, 20, 23, 24
)

const nested = "nested (a %s); only flat columns are read, so write its parts as columns of their own"

// otherTypes are those that are not read.
var otherTypes = map[byte]string{
	11: "an interval; write it as a number",
	12: fmt.Sprintf(nested, "list"),
	13: fmt.Sprintf(nested, "struct"),
	14: "a union; write its parts as columns of their own",
	16: fmt.Sprintf(nested, "list"),
	17: fmt.Sprintf(nested, "map"),
	21: fmt.Sprintf(nested, "list"),
	22: "run-end encoded; write it plain, or as a dictionary",
	25: fmt.Sprintf(nested, "list"),
	26: fmt.Sprintf(nested, "list"),
}

// mostFields bounds the columns of a file.
const mostFields = 1 << 20

// readSchema reads the table Schema.
func readSchema(t *table) ([]Field, error) {
	if t == nil {
		return nil, errors.New("it has no schema")
	}
	if t.i16(0, 0) != 0 {
		return nil, errors.New("its numbers are big-endian; write it on a little-endian machine")
	}
	at, n := t.vector(1, 4)
	if n > mostFields {
		return nil, fmt.Errorf("%d columns; at most %d are read", n, mostFields)
	}
	fields := make([]Field, 0, n)
	names := 0
	for i := range n {
		f, err := readField(t.f.table(t.f.follow(at + 4*i)))
		if t.f.err != nil {
			return nil, t.f.err
		}
		if err != nil {
			return nil, fmt.Errorf("column %q is %w", f.Name, err)
		}
		if names += len(f.Name); names > 4*len(t.f.b) { // the same name again and again
			return nil, errors.New("its columns have longer names than it has room for")
		}
		fields = append(fields, f)
	}
	return fields, t.f.err
}

// units of times.
var units = [4]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}

func (f *Field) unit(n int16) error {
	if n < 0 || int(n) >= len(units) {
		return fmt.Errorf("of times in an unknown unit (%d)", n)
	}
	f.Unit = units[n]
	return nil
}

func readField(t *table) (f Field, err error) {
	f.Name = t.string(0)
	kind, of := t.byte(2), t.table(3)
	f.layout = fixed
	switch kind {
	case typeNull:
		f.Kind, f.layout = Null, nothing
	case typeBool:
		f.Kind, f.layout = Bool, bits
	case typeInt:
		f.Kind, f.width = Uint, int(of.i32(0, 0))/8
		if of.byte(1) != 0 {
			f.Kind = Int
		}
		err = f.oneOf(1, 2, 4, 8)
	case typeFloat:
		precision := of.i16(0, 0)
		if precision < 0 || precision > 2 {
			return f, fmt.Errorf("of floats in an unknown precision (%d)", precision)
		}
		f.Kind, f.width = Half+Kind(precision), 2<<precision
	case typeDecimal:
		f.Kind, f.Scale, f.width = Decimal, int(of.i32(1, 0)), int(of.i32(2, 128))/8
		err = f.oneOf(4, 8, 16, 32)
	case typeDate:
		if f.Kind, f.width = DateMilli, 8; of.i16(0, 1) == 0 {
			f.Kind, f.width = Date, 4
		}
	case typeTime:
		f.Kind, f.width = Time, int(of.i32(1, 32))/8
		if err = f.oneOf(4, 8); err == nil {
			err = f.unit(of.i16(0, 1))
		}
	case typeTimestamp:
		f.Kind, f.width, err = Timestamp, 8, f.unit(of.i16(0, 0))
	case typeDuration:
		f.Kind, f.width, err = Duration, 8, f.unit(of.i16(0, 1))
	case typeBinary, typeUtf8:
		f.Kind, f.layout = Bytes, offsets32
	case typeLargeBinary, typeLargeUtf8:
		f.Kind, f.layout = Bytes, offsets64
	case typeBinaryView, typeUtf8View:
		f.Kind, f.layout = Bytes, views
	case typeFixedBinary:
		f.Kind, f.width = Bytes, int(of.i32(0, 0))
		if f.width < 1 || f.width > 1<<20 {
			return f, fmt.Errorf("of values of %d bytes", f.width)
		}
		f.UUID = f.width == 16 && t.extension() == "arrow.uuid"
	default:
		what, known := otherTypes[kind]
		if !known {
			what = fmt.Sprintf("of an unknown type (%d)", kind)
		}
		return f, errors.New(what)
	}
	if err != nil {
		return f, err
	}
	if d := t.table(4); d != nil {
		f.dictionary, f.id = true, d.i64(0)
		f.index = -4
		if of := d.table(1); of != nil {
			f.index = int(of.i32(0, 0)) / 8
			if f.index != 1 && f.index != 2 && f.index != 4 && f.index != 8 {
				return f, fmt.Errorf("a dictionary with indices of %d bytes", f.index)
			}
			if of.byte(1) != 0 {
				f.index = -f.index
			}
		}
	}
	return f, nil
}

// oneOf checks the width of values.
func (f *Field) oneOf(widths ...int) error {
	for _, w := range widths {
		if f.width == w {
			return nil
		}
	}
	return fmt.Errorf("of values of %d bytes", f.width)
}

// extension is the name of a field's extension type.
func (t *table) extension() string {
	at, n := t.vector(6, 4)
	for i := range n {
		if pair := t.f.table(t.f.follow(at + 4*i)); t.f.err == nil && pair.string(0) == "ARROW:extension:name" {
			return pair.string(1)
		}
	}
	return ""
}
