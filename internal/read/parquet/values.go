package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Encodings of values.
const (
	encodingPlain, encodingOldDictionary, encodingRLE, encodingOldBits   = 0, 2, 3, 4
	encodingDelta, encodingDeltaLength, encodingDeltaText, encodingCoded = 5, 6, 7, 8
	encodingSplit                                                        = 9
)

// values are those of a page that are there, one after the other.
type values struct {
	of       *Field
	encoding int64
	data     []byte
	width    int // bytes of a value, of fixed width
	left     int // values of encodingSplit in all, and those that were read
	done     int
	bit      int

	codes   hybrid
	code    []uint32 // reused
	dict    *Column
	delta   *delta
	lengths []int64
	shared  []int64 // bytes of the value before, of encodingDeltaText
	before  []byte
	room    []byte
}

// widths are the bytes of values by physical types.
var widths = [...]int{typeInt32: 4, typeInt64: 8, typeInt96: 12, typeFloat: 4, typeDouble: 8, typeFixed: 0}

// begin begins a page of n values at most.
func (v *values) begin(encoding int64, data []byte, n int) (err error) {
	f := v.of
	v.encoding, v.data, v.bit, v.done, v.delta, v.before, v.room = encoding, data, 0, 0, nil, nil, nil
	if v.width = widths[f.physical]; f.physical == typeFixed {
		v.width = f.length
	}
	number := f.physical == typeInt32 || f.physical == typeInt64
	bits := 64
	if f.physical == typeInt32 {
		bits = 32
	}
	switch {
	case encoding == encodingPlain:
		return nil
	case encoding == encodingOldDictionary || encoding == encodingCoded:
		if v.encoding = encodingCoded; v.dict == nil {
			return errors.New("a page needs a dictionary, and there is none")
		}
		v.codes = hybrid{}
		if len(data) == 0 {
			return nil // all are null
		}
		if v.codes = (hybrid{data: data[1:], width: int(data[0])}); v.codes.width > 32 {
			return fmt.Errorf("indices of %d bits", v.codes.width)
		}
		return nil
	case encoding == encodingRLE && f.physical == typeBoolean:
		if len(data) == 0 {
			v.codes = hybrid{width: 1}
			return nil
		}
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errValues
		}
		v.codes = hybrid{data: data[4 : 4+binary.LittleEndian.Uint32(data)], width: 1}
		return nil
	case encoding == encodingDelta && number:
		if len(data) > 0 {
			v.delta, err = newDelta(data, bits)
		} else {
			v.delta = &delta{}
		}
		return err
	case encoding == encodingDeltaLength && f.physical == typeByteArray:
		v.lengths, v.data, err = lengths(v.lengths[:0], data, n)
		return err
	case encoding == encodingDeltaText && (f.physical == typeByteArray || f.physical == typeFixed):
		if v.shared, v.data, err = lengths(v.shared[:0], data, n); err == nil {
			v.lengths, v.data, err = lengths(v.lengths[:0], v.data, n)
		}
		if err == nil && len(v.shared) != len(v.lengths) {
			err = errValues
		}
		return err
	case encoding == encodingSplit && v.width > 0:
		v.left = len(data) / v.width
		return nil
	}
	return fmt.Errorf("an encoding that is not known (%d), or not for such values", encoding)
}

// lengths reads lengths, n at most, and what is behind them.
func lengths(dst []int64, data []byte, n int) (all []int64, rest []byte, err error) {
	if len(data) == 0 {
		return dst, nil, nil
	}
	d, err := newDelta(data, 32)
	if err != nil {
		return nil, nil, err
	}
	if d.left > uint64(n) {
		return nil, nil, fmt.Errorf("%d lengths for %d values", d.left, n)
	}
	for d.left > 0 {
		from := len(dst)
		dst = append(dst, make([]int64, min(d.left, 1024))...)
		if err := d.read(dst[from:]); err != nil {
			return nil, nil, err
		}
	}
	for _, v := range dst {
		if v < 0 {
			return nil, nil, fmt.Errorf("a length of %d", v)
		}
	}
	return dst, d.rest(), nil
}

// take takes bytes off the data.
func (v *values) take(n int) ([]byte, error) {
	if n > len(v.data) {
		return nil, errValues
	}
	b := v.data[:n:n]
	v.data = v.data[n:]
	return b, nil
}

// indices are the next n indices into the dictionary, all within it.
func (v *values) indices(n int) ([]uint32, error) {
	if cap(v.code) < n {
		v.code = make([]uint32, n)
	}
	code := v.code[:n]
	if err := v.codes.read(code); err != nil {
		return nil, err
	}
	have, most := uint32(v.dict.rows), uint32(0)
	for _, c := range code {
		most = max(most, c)
	}
	if n > 0 && most >= have {
		return nil, fmt.Errorf("the index %d, and its dictionary has %d values", most, have)
	}
	return code, nil
}

func (v *values) floats(dst []float32) error {
	switch v.encoding {
	case encodingCoded:
		code, err := v.indices(len(dst))
		from := v.dictFloats()
		for i, c := range code {
			dst[i] = from[c]
		}
		return err
	case encodingSplit:
		if len(dst) > v.left-v.done {
			return errValues
		}
		n := v.left
		a, b, c, d := v.data[v.done:n], v.data[n+v.done:2*n], v.data[2*n+v.done:3*n], v.data[3*n+v.done:4*n]
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24)
		}
		v.done += len(dst)
		return nil
	}
	b, err := v.take(4 * len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

func (v *values) dictFloats() []float32 { return v.dict.Floats }

func (v *values) doubles(dst []float64) error {
	switch v.encoding {
	case encodingCoded:
		code, err := v.indices(len(dst))
		from := v.dict.Doubles
		for i, c := range code {
			dst[i] = from[c]
		}
		return err
	case encodingSplit:
		return v.split(len(dst), func(i int, bits uint64) { dst[i] = math.Float64frombits(bits) })
	}
	b, err := v.take(8 * len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}

// split joins the bytes of values up to 8 bytes wide that lie apart.
func (v *values) split(n int, put func(i int, bits uint64)) error {
	if n > v.left-v.done {
		return errValues
	}
	for i := range n {
		bits := uint64(0)
		for k := range v.width {
			bits |= uint64(v.data[k*v.left+v.done+i]) << (8 * k)
		}
		put(i, bits)
	}
	v.done += n
	return nil
}

func (v *values) ints(dst []int64) (err error) {
	physical := v.of.physical
	switch {
	case v.encoding == encodingCoded:
		code, err := v.indices(len(dst))
		from := v.dict.Ints
		for i, c := range code {
			dst[i] = from[c]
		}
		return err
	case physical == typeBoolean && v.encoding == encodingRLE:
		if cap(v.code) < len(dst) {
			v.code = make([]uint32, len(dst))
		}
		code := v.code[:len(dst)]
		err := v.codes.read(code)
		for i, c := range code {
			dst[i] = int64(c)
		}
		return err
	case physical == typeBoolean:
		if v.bit+len(dst) > 8*len(v.data) {
			return errValues
		}
		for i := range dst {
			dst[i] = int64(v.data[(v.bit+i)>>3] >> ((v.bit + i) & 7) & 1)
		}
		v.bit += len(dst)
		return nil
	case v.encoding == encodingDelta:
		err = v.delta.read(dst)
	case v.encoding == encodingSplit:
		err = v.split(len(dst), func(i int, bits uint64) { dst[i] = int64(bits) })
	case physical == typeInt32:
		var b []byte
		if b, err = v.take(4 * len(dst)); err == nil {
			for i := range dst {
				dst[i] = int64(binary.LittleEndian.Uint32(b[4*i:]))
			}
		}
	default:
		var b []byte
		if b, err = v.take(8 * len(dst)); err == nil {
			for i := range dst {
				dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
	}
	switch {
	case err != nil || physical != typeInt32:
	case v.of.unsigned:
		for i, x := range dst {
			dst[i] = int64(uint32(x))
		}
	default:
		for i, x := range dst {
			dst[i] = int64(int32(x))
		}
	}
	return err
}

// texts reads values as bytes, and returns how many these are. They stay as they are: no page is written over.
func (v *values) texts(dst [][]byte) (size int64, err error) {
	switch {
	case v.encoding == encodingCoded:
		code, err := v.indices(len(dst))
		from := v.dict.Texts
		for i, c := range code {
			dst[i] = from[c]
			size += int64(len(dst[i]))
		}
		return size, err
	case v.encoding == encodingDeltaLength || v.encoding == encodingDeltaText:
		return v.deltaTexts(dst)
	case v.encoding == encodingSplit:
		if len(dst) > v.left-v.done {
			return 0, errValues
		}
		all := make([]byte, len(dst)*v.width)
		for i := range dst {
			dst[i] = all[i*v.width : (i+1)*v.width : (i+1)*v.width]
			for k := range dst[i] {
				dst[i][k] = v.data[k*v.left+v.done+i]
			}
		}
		v.done += len(dst)
		return int64(len(all)), nil
	}
	for i := range dst {
		n := v.width
		if v.of.physical == typeByteArray {
			if len(v.data) < 4 || uint64(binary.LittleEndian.Uint32(v.data)) > uint64(len(v.data)-4) {
				return 0, errValues
			}
			n = int(binary.LittleEndian.Uint32(v.data))
			v.data = v.data[4:]
		}
		if dst[i], err = v.take(n); err != nil {
			return 0, err
		}
		size += int64(n)
	}
	return size, nil
}

func (v *values) deltaTexts(dst [][]byte) (size int64, err error) {
	if len(dst) > len(v.lengths)-v.done {
		return 0, errValues
	}
	for i := range dst {
		b, err := v.take(int(v.lengths[v.done]))
		if err != nil {
			return 0, err
		}
		if v.encoding == encodingDeltaText {
			n := v.shared[v.done]
			if n > int64(len(v.before)) {
				return 0, fmt.Errorf("a text begins with %d bytes of one of %d", n, len(v.before))
			}
			if n > 0 {
				if cap(v.room)-len(v.room) < int(n)+len(b) {
					v.room = make([]byte, 0, max(1<<14, int(n)+len(b)))
				}
				from := len(v.room)
				v.room = append(append(v.room, v.before[:n]...), b...)
				b = v.room[from:len(v.room):len(v.room)]
			}
			v.before = b
		}
		if v.of.physical == typeFixed && len(b) != v.width {
			return 0, fmt.Errorf("a value of %d bytes instead of %d", len(b), v.width)
		}
		dst[i] = b
		size += int64(len(b))
		v.done++
	}
	return size, nil
}
