package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
)

// IDX is the format of MNIST: two zero bytes, a type, the number of dimensions, their sizes
// as big-endian 32-bit numbers, then the elements, big-endian in C order.

var idxElements = map[byte]element{
	0x08: {'u', 1, true},
	0x09: {'i', 1, true},
	0x0b: {'i', 2, true},
	0x0c: {'i', 4, true},
	0x0d: {'f', 4, true},
	0x0e: {'f', 8, true},
}

// looksLikeIDX reports whether the first bytes are those of an IDX file.
func looksLikeIDX(head []byte) bool {
	if len(head) < 8 || head[0] != 0 || head[1] != 0 || head[3] == 0 {
		return false
	}
	_, known := idxElements[head[2]]
	return known
}

// newIDX opens an IDX file. Its elements are all inputs, unless options name columns of
// it; labels are in a separate file.
func newIDX(in input, opt Options) (Source, error) {
	if err := noLists(in, opt); err != nil {
		return nil, err
	}
	head := in.Head()
	rank := int(head[3])
	a := &array{in: in, opt: opt, kind: idxElements[head[2]], offset: int64(4 + 4*rank), weight: -1, group: -1}
	if len(head) < 4+4*rank {
		return nil, fmt.Errorf("%s: is cut short in its IDX header", in.Name())
	}
	a.rows, a.cols = int(binary.BigEndian.Uint32(head[4:])), 1
	for i := 1; i < rank; i++ {
		size := int(binary.BigEndian.Uint32(head[4+4*i:]))
		if size > 0 && a.cols > math.MaxInt32/size {
			return nil, fmt.Errorf("%s: a row of %d dimensions has too many numbers", in.Name(), rank-1)
		}
		a.cols *= size
	}
	if a.rows == 0 || a.cols == 0 {
		return nil, fmt.Errorf("%s: is empty: %d rows of %d numbers", in.Name(), a.rows, a.cols)
	}
	a.schema.Format = "idx"
	if err := a.checkSize(); err != nil {
		return nil, err
	}
	return a, a.assign()
}
