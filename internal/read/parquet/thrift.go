package parquet

import (
	"encoding/binary"
	"errors"
)

// thrift reads structs in Thrift's compact protocol, in which the metadata of a file are. What it reads it does not copy.
type thrift struct {
	data []byte
	at   int
}

// Types of fields.
const (
	thriftTrue, thriftFalse, thriftByte, thriftI16, thriftI32, thriftI64 = 1, 2, 3, 4, 5, 6
	thriftDouble, thriftBinary, thriftList, thriftSet, thriftMap         = 7, 8, 9, 10, 11
	thriftStruct, thriftUUID                                             = 12, 13
)

// deepest is how deep structs and lists may be within each other.
const deepest = 24

var errShort = errors.New("it has no end")

func (t *thrift) byte() (byte, error) {
	if t.at >= len(t.data) {
		return 0, errShort
	}
	t.at++
	return t.data[t.at-1], nil
}

func (t *thrift) unsigned() (uint64, error) {
	v, n := binary.Uvarint(t.data[t.at:])
	if n == 0 {
		return 0, errShort
	} else if n < 0 {
		return 0, errors.New("a number is too long")
	}
	t.at += n
	return v, nil
}

// integer is a whole number of any size.
func (t *thrift) integer() (int64, error) {
	v, err := t.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}

// binary is a text, or bytes.
func (t *thrift) binary() ([]byte, error) {
	n, err := t.unsigned()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(t.data)-t.at) {
		return nil, errShort
	}
	t.at += int(n)
	return t.data[t.at-int(n) : t.at], nil
}

// fields goes through a struct. field reads a value, or says that it did not.
func (t *thrift) fields(field func(id int16, kind byte) (read bool, err error)) error {
	return t.structure(0, field)
}

func (t *thrift) structure(depth int, field func(id int16, kind byte) (read bool, err error)) error {
	for id := int16(0); ; {
		head, err := t.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int16(head >> 4); delta > 0 {
			id += delta
		} else if v, err := t.integer(); err == nil {
			id = int16(v)
		} else {
			return err
		}
		read := false
		if field != nil {
			if read, err = field(id, head&15); err != nil {
				return err
			}
		}
		if !read {
			if err := t.skip(head&15, depth+1); err != nil {
				return err
			}
		}
	}
}

// list is the header of a list. Each of its elements has at least a byte.
func (t *thrift) list() (n int, kind byte, err error) {
	head, err := t.byte()
	size := uint64(head >> 4)
	if err == nil && size == 15 {
		size, err = t.unsigned()
	}
	if err == nil && size > uint64(len(t.data)-t.at) {
		err = errShort
	}
	return int(size), head & 15, err
}

// skip passes over a value.
func (t *thrift) skip(kind byte, depth int) (err error) {
	if depth > deepest {
		return errors.New("it is nested too deep")
	}
	switch kind {
	case thriftTrue, thriftFalse:
		return nil
	case thriftByte:
		_, err = t.byte()
		return err
	case thriftI16, thriftI32, thriftI64:
		_, err = t.unsigned()
		return err
	case thriftDouble, thriftUUID:
		n := 8
		if kind == thriftUUID {
			n = 16
		}
		if n > len(t.data)-t.at {
			return errShort
		}
		t.at += n
		return nil
	case thriftBinary:
		_, err = t.binary()
		return err
	case thriftList, thriftSet:
		n, kind, err := t.list()
		for ; err == nil && n > 0; n-- {
			err = t.element(kind, depth+1)
		}
		return err
	case thriftMap:
		n, err := t.unsigned()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := t.byte()
		for ; err == nil && n > 0; n-- {
			if err = t.element(kinds>>4, depth+1); err == nil {
				err = t.element(kinds&15, depth+1)
			}
		}
		return err
	case thriftStruct:
		return t.structure(depth, nil)
	}
	return errors.New("a field has an unknown type")
}

// element passes over an element of a list or a map; a truth value takes a byte there.
func (t *thrift) element(kind byte, depth int) error {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	return t.skip(kind, depth)
}

// number reads a whole number into one of several variables, by the field.
func (t *thrift) number(kind byte, into *int64) (bool, error) {
	if kind < thriftI16 || kind > thriftI64 {
		return false, nil
	}
	v, err := t.integer()
	*into = v
	return true, err
}
