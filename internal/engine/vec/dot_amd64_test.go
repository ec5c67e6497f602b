//go:build amd64 && !purego

package vec

import (
	"math/rand/v2"
	"testing"

	"mercer/internal/engine/testenv"
)

func TestDotProductsHaveTheSameBitsAtAllLevels(t *testing.T) {
	if best() < avx512 {
		testenv.Machine(t, "this machine has no AVX-512 to compare with AVX2")
	}
	r := rand.New(rand.NewPCG(11, 1))
	for n := 16; n < 1000; n += 16 {
		x, y, v, w := numbers[float32](r, n), numbers[float32](r, n), numbers[float64](r, n), numbers[float64](r, n)
		if a, b := dot32_avx512(&x[0], &y[0], n), dot32_avx2(&x[0], &y[0], n); a != b {
			t.Errorf("Dot32 of %d: %g, %g", n, a, b)
		}
		if a, b := dot64_avx512(&v[0], &w[0], n), dot64_avx2(&v[0], &w[0], n); a != b {
			t.Errorf("Dot64 of %d: %g, %g", n, a, b)
		}
		if a, b := dotWide64_avx512(&x[0], &y[0], n), dotWide64_avx2(&x[0], &y[0], n); a != b {
			t.Errorf("DotWide of %d: %g, %g", n, a, b)
		}
		if a, b := dotMixed64_avx512(&x[0], &w[0], n), dotMixed64_avx2(&x[0], &w[0], n); a != b {
			t.Errorf("DotMixed of %d: %g, %g", n, a, b)
		}
	}
}
