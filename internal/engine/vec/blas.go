// Package vec has the inner loops of everything else: matrix products, dot
// products, elementary functions over slices. They work on slices with strides, know
// nothing of rows, kernels or models, and are the only place where the machine's vector
// instructions are used.
//
// Every product has the same bits for any number of threads and any division of
// rows into batches.
package vec

import "context"

// Gemm32 computes C = A·B for A m×k, B k×n, C m×n, row-major with strides lda, ldb, ldc. A
// row of C depends only on the same row of A and on B, to the bit.
func Gemm32(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	micro32.multiply(product[float32]{m: m, n: n, k: k, alpha: 1, a: a, ars: lda, acs: 1, b: b, brs: ldb, bcs: 1, c: c, ldc: ldc})
}

// GemmTN32 computes C = Aᵀ·B for A k×m, B k×n, C m×n.
func GemmTN32(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	micro32.multiply(product[float32]{m: m, n: n, k: k, alpha: 1, a: a, ars: 1, acs: lda, b: b, brs: ldb, bcs: 1, c: c, ldc: ldc})
}

// GemmAddTN32 computes C += Aᵀ·B for A k×m, B k×n, C m×n.
func GemmAddTN32(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	micro32.multiply(product[float32]{m: m, n: n, k: k, alpha: 1, a: a, ars: 1, acs: lda, b: b, brs: ldb, bcs: 1, add: true, c: c, ldc: ldc})
}

// Syrk32 computes the upper triangle of C = ZᵀZ for Z k×n and C n×n.
func Syrk32(n, k int, z []float32, ldz int, c []float32, ldc int) {
	micro32.multiply(product[float32]{m: n, n: n, k: k, alpha: 1, a: z, ars: 1, acs: ldz, b: z, brs: ldz, bcs: 1, c: c, ldc: ldc, part: upper})
}

// GemmAddTN computes C += Aᵀ·B for A k×m, B k×n, C m×n in float64.
func GemmAddTN(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	micro64.multiply(product[float64]{m: m, n: n, k: k, alpha: 1, a: a, ars: 1, acs: lda, b: b, brs: ldb, bcs: 1, add: true, c: c, ldc: ldc})
}

// SyrkAdd computes the upper triangle of C += ZᵀZ for Z k×n and C n×n in float64.
func SyrkAdd(n, k int, z []float64, ldz int, c []float64, ldc int) {
	syrk(context.Background(), 1, n, k, z, ldz, c, ldc)
}

// SyrkAddWide computes the upper triangle of C += ZᵀZ for a float32 Z k×n and C n×n in
// float64: products are summed in float32 over blocks of at most 560 rows, two such sums in
// float32, and those in float64. It takes half the time of SyrkAdd.
func SyrkAddWide(n, k int, z []float32, ldz int, c []float64, ldc int) {
	micro32.multiply(product[float32]{m: n, n: n, k: k, alpha: 1, a: z, ars: 1, acs: ldz, b: z, brs: ldz, bcs: 1, wide: c,
		ldc: ldc, part: upper})
}

// syrk computes the upper triangle of C += αZᵀZ, unless the context ends before.
func syrk(ctx context.Context, alpha float64, n, k int, z []float64, ldz int, c []float64, ldc int) {
	micro64.multiply(product[float64]{ctx: ctx, m: n, n: n, k: k, alpha: alpha, a: z, ars: 1, acs: ldz, b: z, brs: ldz, bcs: 1,
		add: true, c: c, ldc: ldc, part: upper})
}

// GemmNT computes C = A·Bᵀ for A m×k, B n×k, C m×n in float64.
func GemmNT(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	micro64.multiply(product[float64]{m: m, n: n, k: k, alpha: 1, a: a, ars: lda, acs: 1, b: b, brs: 1, bcs: ldb, c: c, ldc: ldc})
}
