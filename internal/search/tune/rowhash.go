package tune

import (
	"hash/crc64"
	"math"

	"mercer/matrix"
)

// rowHash is a hash of rows that does not depend on how they are batched.
type rowHash struct {
	table *crc64.Table
	sum   uint64
	bytes []byte
}

func (h *rowHash) row(b *matrix.Batch, i int) {
	h.bytes = h.bytes[:0]
	word := func(v uint32) {
		h.bytes = append(h.bytes, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	long := func(v float64) {
		u := math.Float64bits(v)
		word(uint32(u))
		word(uint32(u >> 32))
	}
	var row []float32
	if b.X.CSR != nil {
		var idx []int32
		idx, row = b.X.CSR.Row(i)
		for _, j := range idx {
			word(uint32(j))
		}
	} else {
		row = b.X.Dense.Row(i)
	}
	for _, v := range row {
		word(math.Float32bits(v))
	}
	for _, v := range b.Y[i*b.Outputs : (i+1)*b.Outputs] {
		long(v)
	}
	if b.Weights != nil {
		long(b.Weights[i])
	}
	if b.Names != nil {
		h.bytes = append(h.bytes, b.Names[i]...)
	}
	h.bytes = append(h.bytes, '\n')
	h.sum = crc64.Update(h.sum, h.table, h.bytes)
}
