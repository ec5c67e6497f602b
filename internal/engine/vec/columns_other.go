//go:build !amd64 || purego

package vec

func columnKernels() columnShape { return plainColumns }

func multiplyColumns(many bool, rows int, a []float32, lda int, b []float64, ldb int, products *columnProducts) {
	multiplyColumnsPlain(many, rows, a, lda, b, ldb, products)
}
