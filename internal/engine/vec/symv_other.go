//go:build !amd64 || purego

package vec

func symvBlock(n int, a []float64, lda int, x, sums, factors, y []float64) {
	portableDots(n, a, lda, x, sums[:symvHeight])
	portableSums(n, a, lda, factors[:symvHeight], y)
}

func rowDots(n int, a []float64, lda int, x, sums []float64) {
	portableDots(n, a, lda, x, sums[:rowHeight])
}

func rowSums(n int, a []float64, lda int, factors, y []float64) {
	portableSums(n, a, lda, factors[:rowHeight], y)
}
