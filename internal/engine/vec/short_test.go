package vec

import "testing"

// A product whose matrices do not lie within their slices panics; without a check, kernels
// would read or write what stands behind them.
func TestProductsOfShortSlicesPanic(t *testing.T) {
	const m, n, k = 30, 40, 50
	a32, b32, c32 := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	a64, b64, c64 := make([]float64, m*k), make([]float64, k*n), make([]float64, n*n)
	cases := map[string]func(a, b, c int){
		"Gemm32":      func(a, b, c int) { Gemm32(m, n, k, a32[a:], k, b32[b:], n, c32[c:], n) },
		"GemmAddTN":   func(a, b, c int) { GemmAddTN(m, n, k, a64[a:], m, b64[b:], n, c64[(n-m)*n+c:], n) },
		"GemmNT":      func(a, b, c int) { GemmNT(m, n, k, a64[a:], k, b64[b:], k, c64[(n-m)*n+c:], n) },
		"row":         func(a, b, c int) { Gemm32(1, n, k, a32[(m-1)*k+a:], k, b32[b:], n, c32[(m-1)*n+c:], n) },
		"SyrkAdd":     func(a, b, c int) { SyrkAdd(n, k, b64[a+b:], n, c64[c:], n) },
		"SyrkAddWide": func(a, b, c int) { SyrkAddWide(n, k, b32[a+b:], n, c64[c:], n) },
	}
	everyLevel(t, func(t *testing.T) {
		panics := func(f func(a, b, c int), a, b, c int) (did bool) {
			defer func() { did = recover() != nil }()
			f(a, b, c)
			return
		}
		packed := Pack32(k, n, b32, n)
		cases["Packed"] = func(a, b, c int) {
			if b == 0 {
				packed.Multiply(m, a32[a:], k, c32[c:], n, nil)
				return
			}
			Pack32(k, n, b32[b:], n)
		}
		for name, f := range cases {
			if panics(f, 0, 0, 0) {
				t.Errorf("%s panics", name)
			}
			for i, matrix := range []string{"a", "b", "c"} {
				var short [3]int
				short[i] = 1
				if !panics(f, short[0], short[1], short[2]) {
					t.Errorf("%s: a %s that is short by a number goes through", name, matrix)
				}
			}
		}
	})
}
