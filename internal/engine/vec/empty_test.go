package vec

import "testing"

// Nothing is as good an argument as any, nil slices too.
func TestEmptyMatricesAndVectors(t *testing.T) {
	c32, c64 := []float32{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6}
	cases := map[string]func(){
		"Gemm32 m":        func() { Gemm32(0, 2, 3, nil, 3, c32, 2, nil, 2) },
		"Gemm32 n":        func() { Gemm32(2, 0, 3, c32, 3, nil, 0, nil, 0) },
		"GemmAddTN k":     func() { GemmAddTN(2, 3, 0, nil, 2, nil, 3, c64, 3) },
		"GemmNT all":      func() { GemmNT(0, 0, 0, nil, 0, nil, 0, nil, 0) },
		"SyrkAdd n":       func() { SyrkAdd(0, 2, nil, 0, nil, 0) },
		"SyrkAdd k":       func() { SyrkAdd(2, 0, nil, 2, c64, 3) },
		"SyrkAddWide k":   func() { SyrkAddWide(2, 0, nil, 2, c64, 3) },
		"Pack n":          func() { Pack32(2, 0, nil, 0).Multiply(2, c32, 2, nil, 0, nil) },
		"Pack m":          func() { Pack32(2, 3, c32, 3).Multiply(0, nil, 2, nil, 3, nil) },
		"sparse n":        func() { Pack32(2, 0, nil, 0).MultiplySparse([]int{0, 1}, []int32{1}, []float32{2}, nil, 0, nil) },
		"sparse m":        func() { Pack32(2, 3, c32, 3).MultiplySparse([]int{0}, nil, nil, nil, 3, nil) },
		"sparse all":      func() { Pack32(2, 3, c32, 3).MultiplySparse(nil, nil, nil, nil, 3, nil) },
		"Cholesky":        func() { Cholesky(t.Context(), 0, nil, 0) },
		"CholeskySolve":   func() { CholeskySolve(t.Context(), 0, nil, 0, 2, nil, 2) },
		"solve nothing":   func() { CholeskySolve(t.Context(), 2, []float64{2, 1, 1, 2}, 2, 0, nil, 0) },
		"solve nothing 1": func() { CholeskySolve(t.Context(), 2, []float64{2, 1, 1, 2}, 2, 0, nil, 1) },
		"QuadraticForms":  func() { QuadraticForms(nil, 2, c64, 2, 0, nil, 2) },
		"Dot":             func() { Dot32(nil, nil); Dot64(nil, nil); DotWide(nil, nil); DotMixed(nil, nil) },
		"Axpy":            func() { Axpy32(1, nil, nil); Axpy64(1, nil, nil); AxpyWide(1, nil, nil) },
		"elementary":      func() { SinCos32(nil, nil, nil, 1); Exp64(nil, nil); SignedRoot32(nil, nil) },
		"Scale":           func() { Scale32(nil, nil, nil, nil); Scale32(nil, nil, c64, c64); Round32(nil, nil); Finite32(nil) },
		"Triad":           func() { Triad(nil, nil, nil); Read(nil) },
	}
	everyLevel(t, func(t *testing.T) {
		for name, f := range cases {
			func() {
				defer func() {
					if e := recover(); e != nil {
						t.Errorf("%s: %v", name, e)
					}
				}()
				f()
			}()
		}
		p := Pack64(0, 3, nil, 3)
		c := []float64{9, 9, 9, 7, 9, 9, 9}
		blocks := 0
		p.Multiply(2, nil, 0, c, 4, func(i, j, rows, cols int) { blocks += rows * cols })
		if want := [7]float64{0, 0, 0, 7, 0, 0, 0}; [7]float64(c) != want || blocks != 6 {
			t.Errorf("a product of no terms is %g, in blocks of %d elements", c, blocks)
		}
		p.MultiplySparse([]int{0, 0}, nil, nil, c[:3], 3, nil)
		QuadraticForms(c[:2], 0, nil, 0, 2, nil, 0)
		if c[0] != 0 || c[1] != 0 {
			t.Errorf("forms of no terms are %g", c[:2])
		}
	})
}
