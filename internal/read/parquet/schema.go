package parquet

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what the values of a column are.
type Kind uint8

// Kinds of columns, and the field of Column that has their values.
const (
	Bool      Kind = iota // Ints, 0 or 1
	Int                   // Ints
	Uint                  // Ints, as uint64
	Half                  // Texts: 2 bytes
	Float                 // Floats
	Double                // Doubles
	Decimal               // Ints, or Texts: two's complement, most significant byte first
	Date                  // Ints, days
	Time                  // Ints, in Unit
	Timestamp             // Ints, in Unit
	Julian                // Texts: 12 bytes, nanoseconds of the day and the Julian day
	UUID                  // Texts: 16 bytes
	Bytes                 // Texts
)

// Field describes a column.
type Field struct {
	Name  string
	Kind  Kind
	Unit  time.Duration // of times
	Scale int           // of decimals
	Enum  bool          // one of given values

	physical byte
	length   int // of FIXED_LEN_BYTE_ARRAY
	optional bool
	unsigned bool
}

// Physical types.
const (
	typeBoolean, typeInt32, typeInt64, typeInt96, typeFloat, typeDouble, typeByteArray, typeFixed = 0, 1, 2, 3, 4, 5, 6, 7
)

// element is an element of the schema.
type element struct {
	Field
	children   int64
	repetition int64
	converted  int64 // -1: none
	logical    int16 // field of the union, 0: none
}

// Old and new types of what values stand for.
const (
	convertedEnum, convertedDecimal, convertedDate, convertedTimeMillis, convertedTimeMicros = 4, 5, 6, 7, 8
	convertedTimestampMillis, convertedTimestampMicros, convertedUint8, convertedUint64      = 9, 10, 11, 14

	logicalEnum, logicalDecimal, logicalDate, logicalTime, logicalTimestamp, logicalInteger = 4, 5, 6, 7, 8, 10
	logicalUUID, logicalHalf                                                                = 14, 15
)

var units = []time.Duration{1: time.Millisecond, 2: time.Microsecond, 3: time.Nanosecond}

// readElement reads an element.
func readElement(t *thrift) (e element, err error) {
	e.converted = -1
	var physical, length, scale int64 = -1, 0, 0
	err = t.fields(func(id int16, kind byte) (bool, error) {
		switch id {
		case 1:
			return t.number(kind, &physical)
		case 2:
			return t.number(kind, &length)
		case 3:
			return t.number(kind, &e.repetition)
		case 4:
			if kind != thriftBinary {
				return false, nil
			}
			name, err := t.binary()
			e.Name = string(name)
			return true, err
		case 5:
			return t.number(kind, &e.children)
		case 6:
			return t.number(kind, &e.converted)
		case 7:
			return t.number(kind, &scale)
		case 10:
			if kind != thriftStruct {
				return false, nil
			}
			return true, e.readLogical(t, &scale)
		}
		return false, nil
	})
	if err != nil {
		return e, err
	}
	if scale < -1000 || scale > 1000 || length < 0 || length > 1<<20 || physical > typeFixed {
		return e, fmt.Errorf("column %q has a type that cannot be (%d, of %d bytes, scale %d)", e.Name, physical, length, scale)
	}
	e.Scale, e.length, e.physical, e.optional = int(scale), int(length), byte(physical), e.repetition == 1
	if e.children == 0 && physical < 0 {
		return e, fmt.Errorf("column %q has no type", e.Name)
	}
	return e, nil
}

// readLogical reads what values stand for, a union with one field.
func (e *element) readLogical(t *thrift, scale *int64) error {
	return t.fields(func(id int16, kind byte) (bool, error) {
		if kind != thriftStruct {
			return false, nil
		}
		e.logical = id
		return true, t.fields(func(part int16, kind byte) (bool, error) {
			switch {
			case id == logicalDecimal && part == 1:
				return t.number(kind, scale)
			case id == logicalInteger && part == 2 && kind == thriftFalse:
				e.unsigned = true
			case (id == logicalTime || id == logicalTimestamp) && part == 2 && kind == thriftStruct:
				return true, t.fields(func(unit int16, kind byte) (bool, error) {
					if unit >= 1 && int(unit) < len(units) {
						e.Unit = units[unit]
					}
					return false, nil
				})
			}
			return false, nil
		})
	})
}

// settle finds the kind of a column.
func (e *element) settle() error {
	f := &e.Field
	unit := func(u time.Duration) {
		if f.Unit == 0 {
			f.Unit = u
		}
	}
	stands := func(kind Kind, physical ...byte) error {
		f.Kind = kind
		for _, p := range physical {
			if p == f.physical {
				return nil
			}
		}
		return fmt.Errorf("column %q has values of a type that does not go with what they stand for", f.Name)
	}
	e.Enum = e.logical == logicalEnum || e.converted == convertedEnum
	switch c := e.converted; {
	case e.logical == logicalDecimal || e.logical == 0 && c == convertedDecimal:
		if f.Scale < 0 || f.Scale > 100 {
			return fmt.Errorf("column %q has decimals of scale %d, which are not read", f.Name, f.Scale)
		}
		return stands(Decimal, typeInt32, typeInt64, typeByteArray, typeFixed)
	case e.logical == logicalDate || e.logical == 0 && c == convertedDate:
		return stands(Date, typeInt32)
	case e.logical == logicalTime || e.logical == 0 && (c == convertedTimeMillis || c == convertedTimeMicros):
		if unit(time.Millisecond); f.physical == typeInt64 && e.logical == 0 {
			f.Unit = time.Microsecond
		}
		return stands(Time, typeInt32, typeInt64)
	case e.logical == logicalTimestamp || e.logical == 0 && (c == convertedTimestampMillis || c == convertedTimestampMicros):
		if unit(time.Millisecond); c == convertedTimestampMicros && e.logical == 0 {
			f.Unit = time.Microsecond
		}
		return stands(Timestamp, typeInt64)
	case e.logical == logicalUUID:
		if f.length != 16 {
			return errors.New("a UUID has 16 bytes")
		}
		return stands(UUID, typeFixed)
	case e.logical == logicalHalf:
		if f.length != 2 {
			return errors.New("a half float has 2 bytes")
		}
		return stands(Half, typeFixed)
	case e.logical == 0 && c >= convertedUint8 && c <= convertedUint64:
		f.unsigned = true
	}
	switch f.physical {
	case typeBoolean:
		f.Kind = Bool
	case typeInt32, typeInt64:
		if f.Kind = Int; f.unsigned {
			f.Kind = Uint
		}
	case typeInt96:
		f.Kind, f.length = Julian, 12
	case typeFloat:
		f.Kind = Float
	case typeDouble:
		f.Kind = Double
	default:
		f.Kind = Bytes
	}
	return nil
}
