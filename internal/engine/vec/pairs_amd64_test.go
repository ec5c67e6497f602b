//go:build amd64 && !purego

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// AVX2 and AVX-512 give the same bits, Go's numbers within some rounding.
func TestPairSumsAgreeAtAllLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for sum := range PairSum(pairSums) {
		for _, shape := range [][3]int{{3, 40, 7}, {2, 65, 130}, {1, 1, 1}} {
			n, m, d := shape[0], shape[1], shape[2]
			x, y, width := pairRows(r, sum, n, d, false), pairRows(r, sum, m, d, false), sum.Width(d)
			p := NewPairs(sum, d, m)
			for i := range m {
				p.Set(i, y[i*width:][:width])
			}
			all := atLevels(make([]float64, n*m), func(dst []float64) { p.Rows(n, m, x, dst, m) })
			for i, v := range all[0] {
				agreeAt(t, "Pairs", all, i, float64(d+8)*0x1p-51*math.Abs(1+v))
			}
		}
	}
}
