package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
)

// elements is the number of elements by the shape.
func (t *tensor) elements() (int, error) {
	n := int64(1)
	for _, s := range t.shape {
		if s > 0 && n > (1<<40)/s {
			return 0, badf("input %q has a shape of too many elements", shortened([]byte(t.name)))
		}
		n *= s
	}
	return int(n), nil
}

// complete checks that there are as many elements as the shape says.
func (t *tensor) complete() error {
	if t.datatype == "BYTES" && len(t.numbers) > 0 || t.datatype != "BYTES" && len(t.texts) > 0 {
		return badf("input %q of %s has contents of another type", shortened([]byte(t.name)), t.datatype)
	}
	want, err := t.elements()
	if got := len(t.numbers) + len(t.texts) + len(t.floats)/4; err == nil && got != want {
		err = badf("input %q has %d elements, its shape %v says %d", shortened([]byte(t.name)), got, t.shape, want)
	}
	return err
}

// decode reads the binary form: little-endian, texts each after their length in 4 bytes.
func (t *tensor) decode(data []byte) error {
	n, err := t.elements()
	if err != nil {
		return err
	}
	size := datatypes[t.datatype]
	if size > 0 && (len(data)%size != 0 || len(data)/size != n) {
		return badf("input %q has %d bytes; its shape %v of %s says %d elements of %d", shortened([]byte(t.name)), len(data), t.shape, t.datatype, n, size)
	}
	little := binary.LittleEndian
	switch t.datatype {
	case "FP32":
		t.floats = data
		return nil
	case "BYTES":
		for len(data) >= 4 {
			length := int(little.Uint32(data))
			if length > len(data)-4 {
				break
			}
			t.texts = append(t.texts, string(data[4:4+length]))
			data = data[4+length:]
		}
		if len(data) > 0 {
			return badf("input %q: a text is longer than what is left of its bytes", shortened([]byte(t.name)))
		}
		return t.complete()
	}
	t.numbers = make([]float64, n)
	for i := range t.numbers {
		at := data[i*size:]
		switch t.datatype {
		case "BOOL", "UINT8":
			t.numbers[i] = float64(at[0])
		case "INT8":
			t.numbers[i] = float64(int8(at[0]))
		case "UINT16":
			t.numbers[i] = float64(little.Uint16(at))
		case "INT16":
			t.numbers[i] = float64(int16(little.Uint16(at)))
		case "UINT32":
			t.numbers[i] = float64(little.Uint32(at))
		case "INT32":
			t.numbers[i] = float64(int32(little.Uint32(at)))
		case "UINT64":
			t.numbers[i] = float64(little.Uint64(at))
		case "INT64":
			t.numbers[i] = float64(int64(little.Uint64(at)))
		case "FP16":
			t.numbers[i] = half(little.Uint16(at))
		case "BF16":
			t.numbers[i] = float64(math.Float32frombits(uint32(little.Uint16(at)) << 16))
		case "FP64":
			t.numbers[i] = math.Float64frombits(little.Uint64(at))
		}
	}
	return nil
}

// half is a float16.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// tensors turns the inputs into rows.
func (in *input) tensors(inputs []tensor) error {
	n := int(inputs[0].shape[0])
	if n > in.most {
		return fmt.Errorf("%d rows; at most %d are taken at a time", n, in.most)
	}
	for i := range inputs {
		if int(inputs[i].shape[0]) != n {
			return badf("input %q has %d rows, the first input has %d", shortened([]byte(inputs[i].name)), inputs[i].shape[0], n)
		}
	}
	_, named := in.at[inputs[0].name]
	if t := &inputs[0]; len(inputs) == 1 && !(named && len(in.columns) > 1 && columnar(t)) {
		return in.matrix(t, n)
	}
	columns := make([]*tensor, len(in.columns))
	for i := range inputs {
		t := &inputs[i]
		at, known := in.at[t.name]
		switch {
		case !known:
			return badf("input %q is no column of the model; it has %s", shortened([]byte(t.name)), listed(in.columns))
		case columns[at] != nil:
			return badf("input %q is given twice", shortened([]byte(t.name)))
		case !columnar(t):
			return badf("input %q has the shape %v; expected [%d] or [%d, 1]", shortened([]byte(t.name)), t.shape, n, n)
		}
		columns[at] = t
	}
	for r := range n {
		dst, err := in.next()
		if err != nil {
			return err
		}
		for i, t := range columns {
			in.values[i] = t.value(r)
		}
		if err := in.encoder.Values(dst, in.values...); err != nil {
			return in.located(err)
		}
	}
	return nil
}

// columnar says that a tensor has one value a row.
func columnar(t *tensor) bool { return len(t.shape) == 1 || len(t.shape) == 2 && t.shape[1] == 1 }

// value is an element for the encoder; nil if it is missing, or there is no tensor.
func (t *tensor) value(i int) any {
	switch {
	case t == nil:
		return nil
	case t.datatype == "BYTES":
		return t.texts[i]
	case t.datatype == "BOOL":
		return t.numbers[i] != 0
	}
	if v := t.number(i); v == v {
		return v
	}
	return nil
}

func (t *tensor) number(i int) float64 {
	if t.floats != nil {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.floats[4*i:])))
	}
	return t.numbers[i]
}

// matrix turns one tensor of rows into rows.
func (in *input) matrix(t *tensor, n int) error {
	width := 1
	for _, s := range t.shape[1:] {
		width *= int(s)
	}
	if len(t.shape) == 1 && len(in.columns) > 1 && n == len(in.columns) { // one row
		n, width = 1, n
	}
	d := in.m.Dim()
	encoded := width == d && t.datatype != "BYTES" && (in.plain || d != len(in.columns))
	if !encoded && width != len(in.columns) {
		return in.wrongLength(width)
	}
	for r := range n {
		dst, err := in.next()
		if err != nil {
			return err
		}
		if encoded && in.copied(dst, t, r) {
			continue
		}
		if encoded && !in.plain {
			return in.located(errors.New("a number is not finite"))
		}
		for i := range in.values {
			in.values[i] = t.value(r*width + i)
		}
		if err := in.encoder.Values(dst, in.values...); err != nil {
			return in.located(err)
		}
	}
	return nil
}

// copied writes a row of numbers; false if one of them is not finite.
func (in *input) copied(dst []float32, t *tensor, r int) bool {
	if t.floats != nil {
		at := t.floats[4*r*len(dst):][:4*len(dst)]
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(at))
			at = at[4:]
		}
	} else {
		for i, v := range t.numbers[r*len(dst):][:len(dst)] {
			dst[i] = float32(v)
		}
	}
	if !vec.Finite32(dst) {
		clear(dst)
		return false
	}
	return true
}
