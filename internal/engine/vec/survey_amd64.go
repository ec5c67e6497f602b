//go:build amd64 && !purego

package vec

// addBlocks adds the rows to the columns [lo, hi), as many of the first of them as kernels take,
// and returns the first remaining one.
func (s *Survey32) addBlocks(lo, hi, rows int, x []float32, stride int) int {
	const step = 1 << 12 // rows of a call, which cannot be preempted
	width := 8
	switch level {
	case generic:
		return lo
	case avx512:
		width = 16
	}
	for ; lo+width <= hi; lo += width {
		for i := 0; i < rows; i += step {
			var nonZero, fractions [16]int32
			n := min(step, rows-i)
			from := &x[i*stride+lo]
			if level == avx512 {
				survey32_avx512(n, from, 4*stride, &s.Shift[lo], &s.Sum[lo], &s.Square[lo], &s.Least[lo], &s.Greatest[lo], &nonZero[0], &fractions[0])
			} else {
				survey32_avx2(n, from, 4*stride, &s.Shift[lo], &s.Sum[lo], &s.Square[lo], &s.Least[lo], &s.Greatest[lo], &nonZero[0], &fractions[0])
			}
			for j := range width {
				s.NonZero[lo+j] += int64(nonZero[j])
				s.Fractions[lo+j] += int64(fractions[j])
			}
		}
	}
	return lo
}
