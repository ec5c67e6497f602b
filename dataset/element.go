package dataset

import (
	"encoding/binary"
	"math"
)

// element is how a number is stored.
type element struct {
	kind byte // 'f' float, 'i' signed, 'u' unsigned, 'b' bool
	size int
	big  bool // big-endian
}

// value decodes one element.
func (e element) value(b []byte) float64 {
	var order binary.ByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	switch e.size {
	case 1:
		if e.kind == 'i' {
			return float64(int8(b[0]))
		}
		return float64(b[0])
	case 2:
		v := order.Uint16(b)
		switch e.kind {
		case 'i':
			return float64(int16(v))
		case 'f':
			return half(v)
		}
		return float64(v)
	case 4:
		v := order.Uint32(b)
		switch e.kind {
		case 'i':
			return float64(int32(v))
		case 'f':
			return float64(math.Float32frombits(v))
		}
		return float64(v)
	}
	v := order.Uint64(b)
	switch e.kind {
	case 'i':
		return float64(int64(v))
	case 'f':
		return math.Float64frombits(v)
	}
	return float64(v)
}

// floats decodes len(dst) elements; the common types have loops of their own.
func (e element) floats(dst []float32, b []byte) {
	switch {
	case e.kind == 'u' && e.size == 1:
		for i, v := range b[:len(dst)] {
			dst[i] = float32(v)
		}
	case e.kind == 'f' && e.size == 4 && !e.big:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case e.kind == 'f' && e.size == 8 && !e.big:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	default:
		for i := range dst {
			dst[i] = float32(e.value(b[i*e.size:]))
		}
	}
}

// half decodes an IEEE 754 half-precision number.
func half(v uint16) float64 {
	sign, exponent, fraction := 1.0, int(v>>10&31), float64(v&1023)
	if v>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return sign * math.Inf(1)
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
