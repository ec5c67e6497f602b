package vec

import "testing"

// spans are all short lengths and those around what one call of a kernel gets.
func spans() []int {
	n := []int{127, 128, 129, 255, 256, 257, 1<<13 - 1, 1 << 13, 1<<13 + 1, 1<<14 + 1, 1<<15 - 1, 1 << 15, 1<<15 + 65}
	for i := range 71 {
		n = append(n, i)
	}
	return n
}

// Not even a read goes beside a slice: it would end the test.
func TestDotProductsStayWithinTheirSlices(t *testing.T) {
	x32, y32 := newBorder[float32](t, 1<<18), newBorder[float32](t, 1<<18)
	x64, y64 := newBorder[float64](t, 1<<19), newBorder[float64](t, 1<<19)
	everyLevel(t, func(t *testing.T) {
		for _, n := range spans() {
			for _, end := range []bool{false, true} {
				x, y, v, w := x32.slice(n, end), y32.slice(n, end), x64.slice(n, end), y64.slice(n, end)
				Dot32(x, y)
				DotWide(x, y)
				DotMixed(x, w)
				Dot64(v, w)
				Axpy32(1e-3, x, y)
				AxpyWide(1e-3, x, w)
				Axpy64(1e-3, v, w)
			}
		}
	})
}

func TestScalingStaysWithinItsSlices(t *testing.T) {
	x32, y32 := newBorder[float32](t, 1<<18), newBorder[float32](t, 1<<18)
	shift, factor := newBorder[float64](t, 1<<19), newBorder[float64](t, 1<<19)
	everyLevel(t, func(t *testing.T) {
		for _, n := range spans() {
			for _, end := range []bool{false, true} {
				x, y, s, f := x32.slice(n, end), y32.slice(n, end), shift.slice(n, end), factor.slice(n, end)
				Scale32(y, x, s, f)
				Scale32(y, x, nil, f)
				Round32(y, s)
				Finite32(x)
			}
		}
	})
}

func TestElementaryFunctionsStayWithinTheirSlices(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		elementaryWithinBorders(t, elementary32)
		elementaryWithinBorders(t, elementary64)
	})
}

func elementaryWithinBorders[T float32 | float64](t *testing.T, functions map[string]func(dst, dst2, x []T)) {
	x, y, z := newBorder[T](t, 1<<19), newBorder[T](t, 1<<19), newBorder[T](t, 1<<19)
	for _, n := range spans() {
		for _, end := range []bool{false, true} {
			s := x.slice(n, end)
			for i := range s {
				s[i] = T(i%100) + 0.5
			}
			for _, huge := range []bool{false, true} {
				if huge && n > 0 {
					s[n-1] = 1e30
				}
				for _, f := range functions {
					f(y.slice(n, end), z.slice(n, end), s)
				}
			}
		}
	}
}

func TestPeakLoopsStayWithinTheirSlices(t *testing.T) {
	x, y, z := newBorder[float32](t, 1<<19), newBorder[float32](t, 1<<19), newBorder[float32](t, 1<<19)
	everyLevel(t, func(t *testing.T) {
		for _, n := range append(spans(), 1<<16-1, 1<<16, 1<<16+1) {
			for _, end := range []bool{false, true} {
				Read(x.slice(n, end))
				Triad(z.slice(n, end), x.slice(n, end), y.slice(n, end))
			}
		}
	})
}

func TestPairSumsStayWithinTheirSlices(t *testing.T) {
	x, dst, panels := newBorder[float64](t, 1<<19), newBorder[float64](t, 1<<19), newBorder[float64](t, 1<<21)
	everyLevel(t, func(t *testing.T) {
		for sum := range PairSum(pairSums) {
			for _, shape := range [][3]int{{1, 1, 1}, {3, 32, 4}, {2, 33, 65}, {2, 97, 130}} {
				n, m, d := shape[0], shape[1], shape[2]
				for _, end := range []bool{false, true} {
					p := NewPairs(sum, d, m)
					p.panels = panels.slice(len(p.panels), end)
					p.Rows(n, m, x.slice(n*sum.Width(d), end), dst.slice(n*m, end), m)
				}
			}
		}
	})
}

func TestRowKernelsStayWithinTheirSlices(t *testing.T) {
	x32, y32, z32 := newBorder[float32](t, 1<<20), newBorder[float32](t, 1<<20), newBorder[float32](t, 1<<12)
	everyLevel(t, func(t *testing.T) {
		for width := 16; width <= 304; width += 16 {
			for _, end := range []bool{false, true} {
				x, y := x32.slice(5*width, end), y32.slice(3*width, end)
				SignedSums32(y, x, width, []int32{0, 2, 2, 3}, []uint32{0, 4, 4 | negative})
				PairDots32(z32.slice(2, end), x, y, width, []int32{0, 4}, []int32{2, 0})
			}
		}
		for _, n := range spans() {
			for _, m := range []int{1, 7, 8, 9, 16, 23} {
				if n*m > 1<<18 {
					continue
				}
				for _, end := range []bool{false, true} {
					Transpose32(y32.slice(n*m, end), n, x32.slice(n*m, end), m, n, m)
				}
			}
		}
	})
}

func TestSignKernelsStayWithinTheirSlices(t *testing.T) {
	x32, y32 := newBorder[float32](t, 1<<17), newBorder[float32](t, 1<<12)
	everyLevel(t, func(t *testing.T) {
		for _, columns := range []int{1, 15, 16, 17, 100, 128, 129, 300} {
			for _, end := range []bool{false, true} {
				s := NewSigns(3, columns)
				s.Multiply16(y32.slice(3*16, end), x32.slice(16*s.Padded(), end))
			}
		}
	})
}
