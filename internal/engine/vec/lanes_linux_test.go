package vec

import (
	"math/rand/v2"
	"testing"
)

// Not even a read goes beside a slice: it would end the test.
func TestRowsSideBySideStayWithinTheirSlices(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(95, 1))
		for _, cols := range []int{1, 15, 16, 17, 33, 50} {
			ptr, idx := someSigns(r, cols, 9)
			for _, atEnd := range []bool{false, true} {
				signs := NewSparseSigns(cols, fenced(t, ptr, atEnd), fenced(t, idx, atEnd))
				sums := fenced(t, make([]float32, 9*SignLanes), atEnd)
				signs.Multiply(0, 9, sums, Lanes, 9*Lanes, fenced(t, numbers[float32](r, cols*SignLanes), atEnd), 1,
					fenced(t, make([]float32, 9), atEnd))
				index := make([]uint16, 6*cols)
				for i := range index {
					index[i] = uint16(r.IntN(cols))
				}
				p := NewProducts(cols, cols, 3, 2, fenced(t, index, atEnd), 0, 1)
				for _, rows := range []int{1, 7, 8, 9, 16} {
					apart := fenced(t, numbers[float32](r, rows*cols), atEnd)
					side := fenced(t, make([]float32, cols*Lanes), atEnd)
					Interleave32(rows, cols, side, Lanes, apart, cols)
					Deinterleave32(rows, cols, apart, cols, side, Lanes)
					p.Rows(rows, apart, cols, side)
				}
				p.Row(fenced(t, make([]float32, cols), atEnd), fenced(t, make([]float32, cols), atEnd))
				for _, n := range []int{cols, 64 * cols} {
					SinCosStream32(fenced(t, make([]float32, n), atEnd), fenced(t, make([]float32, n), atEnd), fenced(t, numbers[float32](r, n), atEnd), 1)
					Streamed()
				}
			}
		}
	})
}
