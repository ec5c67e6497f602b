package dataset

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
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

// cellKind is what a Go value is as a cell of a table.
type cellKind uint8

const (
	cellMissing cellKind = iota
	cellNumber
	cellText
)

// cell is a Go value as a cell: a number, or text, or neither.
type cell struct {
	kind   cellKind
	number float64
	text   string
}

// cellOf converts a value to a cell. Numbers of all kinds are numbers, NaN is missing; strings are text,
// and so are booleans: "true" or "false", as in a CSV file. nil, nil pointers and invalid sql.Null values are missing.
// ok is false for anything that is not a single value.
func cellOf(v any) (c cell, ok bool) {
	switch x := v.(type) {
	case nil:
		return cell{}, true
	case float64:
		return numberCell(x), true
	case float32:
		return numberCell(float64(x)), true
	case int:
		return numberCell(float64(x)), true
	case int64:
		return numberCell(float64(x)), true
	case int32:
		return numberCell(float64(x)), true
	case string:
		return cell{kind: cellText, text: x}, true
	case bool:
		return textOfBool(x), true
	case json.Number:
		n, err := x.Float64()
		return numberCell(n), err == nil
	case []byte:
		return cell{kind: cellText, text: string(x)}, true
	case time.Time:
		return cell{kind: cellText, text: x.Format(time.RFC3339Nano)}, true
	case driver.Valuer:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
			return cell{}, true
		}
		inner, err := x.Value()
		if err != nil {
			return cell{}, false
		}
		return cellOf(inner)
	}
	return cellOfReflect(reflect.ValueOf(v))
}

// cellOfReflect is cellOf for a value of any type, such as a field of a struct.
func cellOfReflect(r reflect.Value) (c cell, ok bool) {
	switch r.Kind() {
	case reflect.Float32, reflect.Float64:
		return numberCell(r.Float()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return numberCell(float64(r.Int())), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return numberCell(float64(r.Uint())), true
	case reflect.String:
		return cell{kind: cellText, text: r.String()}, true
	case reflect.Bool:
		return textOfBool(r.Bool()), true
	case reflect.Pointer:
		if r.IsNil() {
			return cell{}, true
		}
		return cellOfReflect(r.Elem())
	case reflect.Interface:
		if r.IsNil() {
			return cell{}, true
		}
		return cellOf(r.Elem().Interface())
	case reflect.Struct:
		if r.CanInterface() {
			switch x := r.Interface().(type) {
			case time.Time, driver.Valuer:
				return cellOf(x)
			}
		}
	case reflect.Slice:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			return cell{kind: cellText, text: string(r.Bytes())}, true
		}
	}
	return cell{}, false
}

func numberCell(v float64) cell {
	if v != v {
		return cell{}
	}
	return cell{kind: cellNumber, number: v}
}

func textOfBool(b bool) cell {
	if b {
		return cell{kind: cellText, text: "true"}
	}
	return cell{kind: cellText, text: "false"}
}

// asNumber is the number that a cell stands for: text may be one, and true and false are 1 and 0.
func (c cell) asNumber() (v float64, ok bool) {
	if c.kind == cellNumber {
		return c.number, true
	}
	switch c.text {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	v, err := strconv.ParseFloat(c.text, 64)
	return v, err == nil && v == v && !math.IsInf(v, 0)
}
