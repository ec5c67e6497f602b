package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Answers are their definition at every level, and nothing behind them is written.
func TestAnswersAreTheirDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(35, 1))
		for _, n := range []int{0, 1, 2, 3, 64, 65} {
			for _, d := range []int{1, 2, 7, 100} {
				row, columns, thresholds := numbers[float32](r, d), make([]int32, n*Questions), numbers[float32](r, n*Questions)
				row[r.IntN(d)] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}[r.IntN(4)])
				for i := range columns {
					if columns[i] = int32(r.IntN(d)); r.IntN(4) == 0 {
						thresholds[i] = row[columns[i]] // not above it
					}
				}
				dst := make([]uint8, n+1)
				dst[n] = 0xaa
				Answers32(dst[:n], columns, thresholds, row)
				for i := range n {
					want := uint8(0)
					for l := range Questions {
						if row[columns[i*Questions+l]] > thresholds[i*Questions+l] {
							want |= 1 << l
						}
					}
					if dst[i] != want {
						t.Fatalf("group %d of %d: %06b, want %06b", i, n, dst[i], want)
					}
				}
				if dst[n] != 0xaa {
					t.Fatalf("%d groups: wrote behind them", n)
				}
			}
		}
	})
}
