package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows at once are numbers one by one, to the bit, at every level.
func TestSurveyOfRowsIsThatOfNumbers(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(32, 1))
		for _, cols := range []int{1, 7, 8, 16, 33, 100} {
			for _, rows := range []int{1, 5, 5000} {
				stride := cols + 3
				x := numbers[float32](r, rows*stride)
				for i := range x {
					switch r.IntN(8) {
					case 0:
						x[i] = 0
					case 1:
						x[i] = float32(math.Copysign(0, -1))
					case 2:
						x[i] = float32(r.IntN(1000) - 500)
					case 3:
						x[i] *= 1e30
					case 4:
						x[i] *= 1e6
					case 5:
						x[i] *= 1e-42
					}
				}
				var all, single Survey32
				all.Grow(cols)
				single.Grow(cols)
				for j := range cols {
					all.Shift[j], single.Shift[j] = float64(x[j]), float64(x[j])
				}
				// The last row has no more than it needs.
				half := rows / 2
				all.AddRows(half, cols, x, stride)
				all.AddRows(rows-half, cols, x[half*stride:len(x)-3], stride)
				for i := range rows {
					for j := range cols {
						single.Add(j, x[i*stride+j])
					}
				}
				for name, pair := range map[string][2][]float64{"sums": {all.Sum, single.Sum}, "squares": {all.Square, single.Square}} {
					for j, v := range pair[0] {
						if !identical(v, pair[1][j]) {
							t.Fatalf("%d×%d: %s[%d] is %g of rows, %g of numbers", rows, cols, name, j, v, pair[1][j])
						}
					}
				}
				for j := range cols {
					if !identical(all.Least[j], single.Least[j]) || !identical(all.Greatest[j], single.Greatest[j]) {
						t.Fatalf("%d×%d: column %d from %g to %g, should be %g to %g", rows, cols, j, all.Least[j],
							all.Greatest[j], single.Least[j], single.Greatest[j])
					}
				}
				if !slices.Equal(all.NonZero, single.NonZero) || !slices.Equal(all.Fractions, single.Fractions) {
					t.Fatalf("%d×%d: counts %v, %v, should be %v, %v", rows, cols, all.NonZero, all.Fractions, single.NonZero, single.Fractions)
				}
			}
		}
	})
}

// What is known of columns, against plain definitions.
func TestSurveyIsWhatItSays(t *testing.T) {
	x := []float32{1, 0, -2.5, 4, 0, 8, 1e20, 0.5}
	var s Survey32
	s.Grow(1)
	s.Shift[0] = 1
	s.AddRows(len(x), 1, x, 1)
	sum, square := 0.0, 0.0
	for _, v := range x {
		sum += float64(v) - 1
		square += (float64(v) - 1) * (float64(v) - 1)
	}
	if s.Sum[0] != sum || s.Square[0] != square || s.Least[0] != -2.5 || s.Greatest[0] != 1e20 || s.NonZero[0] != 6 || s.Fractions[0] != 2 {
		t.Errorf("%+v", s)
	}
}

func BenchmarkSurvey(b *testing.B) {
	const rows, cols = 4096, 784
	x := numbers[float32](rand.New(rand.NewPCG(1, 1)), rows*cols)
	var s Survey32
	s.Grow(cols)
	b.SetBytes(4 * rows * cols)
	for b.Loop() {
		s.AddRows(rows, cols, x, cols)
	}
}
