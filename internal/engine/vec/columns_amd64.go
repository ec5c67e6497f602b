//go:build amd64 && !purego

package vec

func columnKernels() columnShape {
	switch level {
	case generic:
		return plainColumns
	case avx512:
		return columnShape{width: 16, few: 4, many: 12}
	}
	return columnShape{width: 8, few: 2, many: 6}
}

// multiplyColumns calls its kernels by name: through a variable, products would escape to the heap.
func multiplyColumns(many bool, rows int, a []float32, lda int, b []float64, ldb int, products *columnProducts) {
	switch {
	case level == generic:
		multiplyColumnsPlain(many, rows, a, lda, b, ldb, products)
	case level == avx512 && many:
		columns12x64_avx512(rows, &a[0], 4*lda, &b[0], 8*ldb, &products[0])
	case level == avx512:
		columns4x64_avx512(rows, &a[0], 4*lda, &b[0], 8*ldb, &products[0])
	case many:
		columns6x64_avx2(rows, &a[0], 4*lda, &b[0], 8*ldb, &products[0])
	default:
		columns2x64_avx2(rows, &a[0], 4*lda, &b[0], 8*ldb, &products[0])
	}
}
