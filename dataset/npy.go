package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mercer/internal/engine/units"
)

// NPY is NumPy's format for one array: a short header, then the elements. An array of n×d
// is n rows; of n numbers, n rows of one; of n×a×b, n rows of a·b.

const npyMagic = "\x93NUMPY"

// newNPY opens an NPY file. With missing values, or for a model of a table, it is a table.
func newNPY(ctx context.Context, in input, opt Options) (Source, error) {
	if err := noLists(in, opt); err != nil {
		return nil, err
	}
	a, err := newNPYArray(in, opt)
	if err != nil {
		return nil, err
	}
	return a.orTable(ctx)
}

// newNPYArray is the array of an NPY file.
func newNPYArray(in input, opt Options) (*array, error) {
	head := in.Head()
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", in.Name(), fmt.Sprintf(format, args...))
	}
	h, err := npyHeader(head)
	if err != nil {
		return nil, bad("%s", err)
	}
	a := &array{in: in, opt: opt, offset: int64(h.end), fortran: h.fortran, weight: -1, group: -1}
	if a.kind, err = npyElement(h.dtype); err != nil {
		return nil, bad("%s", err)
	}
	if len(h.shape) == 0 {
		return nil, bad("holds a single number, not rows")
	}
	a.rows, a.cols = h.shape[0], 1
	for _, s := range h.shape[1:] {
		if s > 0 && a.cols > math.MaxInt32/s {
			return nil, bad("rows of shape %v have too many numbers", h.shape[1:])
		}
		a.cols *= s
	}
	if a.rows > math.MaxInt/8/max(1, a.cols) {
		return nil, bad("has the shape %v, more than any memory", h.shape)
	}
	if a.rows == 0 || a.cols == 0 {
		return nil, bad("is empty: its shape is %v", h.shape)
	}
	if n := len(h.shape); opt.within != "" && n > 2 {
		// A row is what one location holds.
		locations := a.cols / h.shape[n-1]
		a.rows, a.cols = a.rows*locations, h.shape[n-1]
		if opt.within == "bags" {
			a.bag = locations
		}
	}
	if a.fortran && len(h.shape) > 2 {
		return nil, bad("has %d dimensions in Fortran order; save it in C order", len(h.shape))
	}
	if told := opt.Columns.Notice; told != nil && opt.within == "" && opt.Schema == nil && len(h.shape) > 2 {
		err := fmt.Errorf("has %s: takes each of the %s as a row of %s = %s", units.Plural(len(h.shape), "dimension"), units.Count(a.rows),
			strings.ReplaceAll(strings.Trim(fmt.Sprint(h.shape[1:]), "[]"), " ", " × "), units.Plural(a.cols, "column"))
		told(Notice{Kind: "arrays", Text: err.Error(), Err: err})
	}
	a.schema.Format = "npy"
	if err := a.checkSize(); err != nil {
		return nil, err
	}
	return a, nil
}

// npyHead is the content of the header of an NPY file.
type npyHead struct {
	dtype   string
	fortran bool
	shape   []int
	end     int // the offset of the first element
}

// The header is a dictionary in Python's notation, of three keys in any order.
var (
	npyDict    = regexp.MustCompile(`^\s*\{.*\}\s*$`)
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*(?:'([^']*)'|(\[.*\]))`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// npyHeader reads the header from the head of a file. No library is used: npyio's
// reader panics on damaged headers, and allocates what they claim.
func npyHeader(head []byte) (h npyHead, err error) {
	if len(head) < 12 {
		return h, errors.New("the NPY header is cut short")
	}
	length, start := int(binary.LittleEndian.Uint16(head[8:])), 10
	switch head[6] {
	case 1:
	case 2, 3:
		length, start = int(binary.LittleEndian.Uint32(head[8:])), 12
	default:
		return h, fmt.Errorf("version %d of NPY is not known; save it as version 1", head[6])
	}
	if length < 0 || length > len(head)-start {
		return h, errors.New("the NPY header is cut short or damaged")
	}
	h.end = start + length
	text := head[start:h.end]
	descr, fortran, shape := npyDescr.FindSubmatch(text), npyFortran.FindSubmatch(text), npyShape.FindSubmatch(text)
	if !npyDict.Match(text) || descr == nil || fortran == nil || shape == nil {
		return h, fmt.Errorf("the NPY header is damaged: %.80q", text)
	}
	h.dtype = string(descr[1]) + string(descr[2])
	h.fortran = fortran[1][0] == 'T'
	for size := range strings.SplitSeq(string(shape[1]), ",") {
		if size = strings.TrimSpace(size); size == "" {
			continue
		}
		n, err := strconv.Atoi(size)
		if err != nil {
			return h, fmt.Errorf("the NPY header has the shape (%s): %s is not a size", shape[1], size)
		}
		h.shape = append(h.shape, n)
	}
	return h, nil
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
