package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/sbinet/npyio/npy"
)

// NPY is NumPy's format for one array: a short header, then the elements. An array of n×d
// is n rows; of n numbers, n rows of one; of n×a×b, n rows of a·b.

const npyMagic = "\x93NUMPY"

// newNPY opens an NPY file.
func newNPY(in input, opt Options) (Source, error) {
	head := in.Head()
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", in.Name(), fmt.Sprintf(format, args...))
	}
	// The library allocates what the header's length says, so that is looked at first.
	if len(head) < 12 {
		return nil, bad("the NPY header is cut short")
	}
	length, start := int(binary.LittleEndian.Uint16(head[8:])), 10
	if head[6] > 1 {
		length, start = int(binary.LittleEndian.Uint32(head[8:])), 12
	}
	if length > len(head)-start {
		return nil, bad("the NPY header is cut short or damaged")
	}
	r, err := npy.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil, bad("the NPY header is damaged: %s", err)
	}
	a := &array{in: in, opt: opt, offset: int64(start + length), weight: -1}
	d := r.Header.Descr
	a.fortran = d.Fortran
	if a.kind, err = npyElement(d.Type); err != nil {
		return nil, bad("%s", err)
	}
	if len(d.Shape) == 0 {
		return nil, bad("holds a single number, not rows")
	}
	a.rows, a.cols = d.Shape[0], 1
	if a.rows < 0 {
		return nil, bad("has the shape %v", d.Shape)
	}
	for _, s := range d.Shape[1:] {
		if s < 0 || s > 0 && a.cols > math.MaxInt32/s {
			return nil, bad("rows of shape %v have too many numbers", d.Shape[1:])
		}
		a.cols *= s
	}
	if a.rows > math.MaxInt/8/max(1, a.cols) {
		return nil, bad("has the shape %v, more than any memory", d.Shape)
	}
	if a.rows == 0 || a.cols == 0 {
		return nil, bad("is empty: its shape is %v", d.Shape)
	}
	if a.fortran && len(d.Shape) > 2 {
		return nil, bad("has %d dimensions in Fortran order; save it in C order", len(d.Shape))
	}
	a.schema.Format = "npy"
	if err := a.checkSize(); err != nil {
		return nil, err
	}
	return a, a.assign()
}

// npyElement reads a dtype such as "<f4".
func npyElement(dtype string) (element, error) {
	unknown := fmt.Errorf("elements of type %q are not read; save real numbers as float32, float64, integers or bool", dtype)
	if len(dtype) < 2 {
		return element{}, unknown
	}
	e := element{big: dtype[0] == '>', kind: dtype[1]}
	size, err := strconv.Atoi(dtype[2:])
	if err != nil {
		// "f4" without a byte order.
		if size, err = strconv.Atoi(dtype[1:]); err != nil {
			return e, unknown
		}
		e.kind = dtype[0]
	}
	e.size = size
	switch {
	case e.kind == 'f' && (size == 2 || size == 4 || size == 8),
		(e.kind == 'i' || e.kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8),
		e.kind == 'b' && size == 1:
		return e, nil
	}
	return e, unknown
}
