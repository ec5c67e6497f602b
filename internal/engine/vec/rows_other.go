//go:build !amd64 || purego

package vec

func signedSums(dst, x []float32, width int, ptr []int32, list []uint32) bool { return false }

func pairDots(y, k, h []float32, width int, a, b []int32) bool { return false }

func transposeBlocks(dst []float32, ldd int, src []float32, lds, rows, cols int) (m, n int) {
	return 0, 0
}

func signTables(table *signTable, x []float32) { signTablesPlain(table, x) }

func signProducts(dst []float32, table *signTable, codes []byte, stride, bytes, rows int, add bool) {
	signProductsPlain(dst, table, codes, stride, bytes, rows, add)
}
