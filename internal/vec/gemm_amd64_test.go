//go:build amd64 && !purego

package vec

import (
	"math/rand/v2"
	"testing"
)

// Tiles of any shape and width are the same chains of multiply-adds.
func TestAssemblyLevelsAgreeToTheBit(t *testing.T) {
	if best() < avx512 {
		t.Skip("this machine has no AVX-512 to compare with AVX2")
	}
	wide := &micro[float32]{mr: 14, nr: 32, tile: tile32_avx512, row: row32_avx512, kc: kc32, nc: nc32, size: 4, free: make(chan *panels[float32], 1)}
	narrow := &micro[float32]{mr: 6, nr: 16, tile: tile32_avx2, row: row32_avx2, kc: kc32, nc: nc32, size: 4, free: make(chan *panels[float32], 1)}
	wide64 := &micro[float64]{mr: 14, nr: 16, tile: tile64_avx512, row: row64_avx512, kc: kc64, nc: nc64, size: 8, free: make(chan *panels[float64], 1)}
	narrow64 := &micro[float64]{mr: 6, nr: 8, tile: tile64_avx2, row: row64_avx2, kc: kc64, nc: nc64, size: 8, free: make(chan *panels[float64], 1)}
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
	p := product[T]{m: m, n: n, k: k, alpha: 1, a: numbers[T](r, m*k), ars: k, acs: 1, b: numbers[T](r, k*n), brs: n, bcs: 1, add: true, ldc: n}
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
