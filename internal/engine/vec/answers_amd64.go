//go:build amd64 && !purego

package vec

// answersOf asks the first of the groups, as many as a kernel takes, and returns the first that is left.
func answersOf(dst []uint8, columns []int32, thresholds, row []float32) int {
	n := len(dst) - 1 // the kernel reads two columns more
	if level == generic || n < 1 {
		return 0
	}
	answers32_avx2(n, &dst[0], &columns[0], &thresholds[0], &row[0])
	return n
}
