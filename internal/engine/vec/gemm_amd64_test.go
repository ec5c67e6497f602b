//go:build amd64 && !purego

package vec

import (
	"math/rand/v2"
	"testing"

	"mercer/internal/engine/testenv"
)

// Tiles of any shape and width are the same chains of multiply-adds.
func TestAssemblyLevelsAgreeToTheBit(t *testing.T) {
	if best() < avx512 {
		testenv.Machine(t, "this machine has no AVX-512 to compare with AVX2")
	}
	wide, narrow := newMicro[float32](kc32, nc32), newMicro[float32](kc32, nc32)
	wide.use(14, 32, tile32_avx512, row32_avx512, strip32_avx512, panel32_avx512, sparse32_avx512, sparseOne32_avx512)
	narrow.use(6, 16, tile32_avx2, row32_avx2, strip32_avx2, panel32_avx2, sparse32_avx2, sparseOne32_avx2)
	wide64, narrow64 := newMicro[float64](kc64, nc64), newMicro[float64](kc64, nc64)
	wide64.use(14, 16, tile64_avx512, row64_avx512, strip64_avx512, panel64_avx512, sparse64_avx512, sparseOne64_avx512)
	narrow64.use(6, 8, tile64_avx2, row64_avx2, strip64_avx2, panel64_avx2, sparse64_avx2, sparseOne64_avx2)
	r := rand.New(rand.NewPCG(20, 1))
	for _, m := range []int{1, 5, 13, 29} {
		for _, n := range []int{1, 17, 33, 70} {
			for _, k := range []int{1, 100, 1200} {
				agree(t, wide, narrow, r, m, n, k)
				agree(t, wide64, narrow64, r, m, n, k)
			}
		}
	}
}

func agree[T float32 | float64](t *testing.T, x, y *micro[T], r *rand.Rand, m, n, k int) {
	t.Helper()
	p := product[T]{m: m, n: n, k: k, alpha: 1, a: numbers[T](r, m*k), ars: k, acs: 1, b: numbers[T](r, k*n), brs: n,
		bcs: 1, add: true, ldc: n}
	c := numbers[T](r, m*n)
	q := p
	p.c, q.c = append([]T(nil), c...), append([]T(nil), c...)
	x.multiply(p)
	y.multiply(q)
	for i := range p.c {
		if p.c[i] != q.c[i] {
			t.Fatalf("%d×%d×%d: element %d is %g and %g", m, k, n, i, p.c[i], q.c[i])
		}
	}
}
