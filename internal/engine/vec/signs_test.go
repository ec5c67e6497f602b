package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Products with signs are the sums, at all levels the same bits, and for few numbers exact.
func TestSignsMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	for _, c := range [][2]int{{0, 5}, {3, 0}, {1, 1}, {5, 7}, {9, 8}, {4, 16}, {7, 17}, {33, 128}, {10, 129}, {2100, 300}} {
		rows, columns := c[0], c[1]
		s := NewSigns(rows, columns)
		signs := make([][]float32, rows)
		for i := range signs {
			signs[i] = make([]float32, columns)
			for j := range signs[i] {
				signs[i][j] = float32(1 - 2*r.IntN(2))
			}
			s.SetRow(i, signs[i])
			back := make([]float32, columns)
			if s.Row(back, i, 1); !slices.Equal(back, signs[i]) {
				t.Fatalf("%v: row %d is %v, was %v", c, i, back, signs[i])
			}
			s.Row(back, i, -3)
			for j, v := range back {
				if v != -3*signs[i][j] {
					t.Fatalf("%v: -3 times row %d is %v", c, i, back)
				}
			}
		}
		x := numbers[float32](r, 16*s.Padded())
		clear(x[16*columns:])
		var first []float32
		everyLevel(t, func(t *testing.T) {
			dst := numbers[float32](r, 16*rows)
			s.Multiply16(dst, x)
			for i, row := range signs {
				for lane := range 16 {
					want, size := 0., 0.
					for j, v := range row {
						want += float64(v) * float64(x[16*j+lane])
						size += math.Abs(float64(x[16*j+lane]))
					}
					if got := float64(dst[16*i+lane]); math.Abs(got-want) > float64(columns)*0x1p-24*size {
						t.Fatalf("%v: product %d, column %d is %g, want %g", c, i, lane, got, want)
					}
				}
			}
			if first == nil {
				first = dst
			}
			if !slices.Equal(first, dst) {
				t.Fatalf("%v: this level has other bits", c)
			}
		})
	}
}
