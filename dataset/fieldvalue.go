package dataset

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// FieldError is an error in one field of a record.
type FieldError struct {
	Field  string // the column's name
	Value  any    // what was there; nil if nothing was
	Reason string
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %q: %s", e.Field, e.Reason) }

// set makes a cell of a Go value. Numbers of all kinds are numbers, NaN is missing; strings are text; nil, nil pointers and invalid sql.Null
// values are missing. It is false for anything that is not a single value. Text is copied to the end of text.
func (c *cell) set(v any, text *[]byte) bool {
	switch x := v.(type) {
	case nil:
		*c = cell{}
	case float64:
		c.setNumber(x)
	case float32:
		c.setNumber(float64(x))
	case int:
		*c = cell{kind: cellWhole, whole: int64(x)}
	case int64:
		*c = cell{kind: cellWhole, whole: x}
	case int32:
		*c = cell{kind: cellWhole, whole: int64(x)}
	case string:
		setText(c, x, text)
	case bool:
		c.setBool(x)
	case json.Number:
		return c.setDigits(string(x), text)
	case []byte:
		setText(c, x, text)
	case time.Time:
		c.setTime(x)
	case driver.Valuer:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
			*c = cell{}
			return true
		}
		inner, err := x.Value()
		return err == nil && c.set(inner, text)
	default:
		return c.setReflect(reflect.ValueOf(v), text)
	}
	return true
}

// setReflect is set for a value of any type, such as a field of a struct.
func (c *cell) setReflect(r reflect.Value, text *[]byte) bool {
	switch r.Kind() {
	case reflect.Float32, reflect.Float64:
		c.setNumber(r.Float())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		*c = cell{kind: cellWhole, whole: r.Int()}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		c.setUint(r.Uint(), text)
	case reflect.String:
		setText(c, r.String(), text)
	case reflect.Bool:
		c.setBool(r.Bool())
	case reflect.Pointer:
		if r.IsNil() {
			*c = cell{}
			return true
		}
		return c.setReflect(r.Elem(), text)
	case reflect.Interface:
		if r.IsNil() {
			*c = cell{}
			return true
		}
		return c.set(r.Elem().Interface(), text)
	case reflect.Struct:
		if r.CanInterface() {
			switch x := r.Interface().(type) {
			case time.Time, driver.Valuer:
				return c.set(x, text)
			}
		}
		return false
	case reflect.Slice:
		if r.Type().Elem().Kind() != reflect.Uint8 {
			return false
		}
		setText(c, r.Bytes(), text)
	default:
		return false
	}
	return true
}

func (c *cell) setNumber(v float64) {
	if *c = (cell{kind: cellNumber, number: v}); v != v {
		*c = cell{}
	}
}

func (c *cell) setBool(b bool) {
	if *c = (cell{kind: cellBool}); b {
		c.whole = 1
	}
}

// setDigits makes a cell of a number that is written: as it is if it is whole and longer than float64 holds, or has leading zeros.
func (c *cell) setDigits(number string, text *[]byte) bool {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	if c.setNumber(v); spelled([]byte(number), v) {
		setText(c, number, text)
		c.kind = cellWritten
	}
	return true
}

// value is the number that a cell stands for: text may be one, and true and false are 1 and 0.
func (c *cell) value(decimal byte) (v float64, ok bool) {
	switch c.kind {
	case cellNumber:
		return c.number, true
	case cellWhole, cellBool:
		return float64(c.whole), true
	case cellMissing, cellDay, cellTime:
		return 0, false
	}
	text := trim(c.text)
	if v, ok = parseNumber(text); !ok {
		v, ok = parseOther(text, decimal)
	}
	return v, ok
}
