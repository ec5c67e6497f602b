package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lists draws n lists of up to most entries of rows.
func lists(r *rand.Rand, n, most, rows int) (ptr []int32, list []uint32) {
	ptr = []int32{0}
	for range n {
		for range r.IntN(most + 1) {
			list = append(list, uint32(r.IntN(rows))|uint32(r.IntN(2))<<31)
		}
		ptr = append(ptr, int32(len(list)))
	}
	return ptr, list
}

// All levels add in the order of the lists, so they agree to the bit.
func TestSignedSumsAreTheSumsOfTheRows(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 1))
		for width := 0; width <= 320; width += 16 {
			for _, n := range []int{0, 1, 7, 900} {
				const rows = 20
				x := numbers[float32](r, rows*width)
				ptr, list := lists(r, n, 9, rows)
				if width == 48 {
					ptr, list = make([]int32, n+1), nil
				}
				dst := numbers[float32](r, n*width+5)
				behind := dst[n*width]
				SignedSums32(dst, x, width, ptr, list)
				for j := range n {
					for i := range width {
						var want float32
						for _, e := range list[ptr[j]:ptr[j+1]] {
							if v := x[int(e&^negative)*width+i]; e&negative == 0 {
								want += v
							} else {
								want -= v
							}
						}
						if got := dst[j*width+i]; got != want {
							t.Fatalf("width %d, %d rows: number %d of row %d is %g, want %g", width, n, i, j, got, want)
						}
					}
				}
				if dst[n*width] != behind {
					t.Fatalf("width %d: a number behind is touched", width)
				}
			}
		}
	})
}

func TestPairDotsAreTheDotProducts(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(12, 1))
		for width := 0; width <= 320; width += 16 {
			const rows, other, n = 9, 13, 700
			k, h := numbers[float32](r, rows*width), numbers[float32](r, other*width)
			y := numbers[float32](r, n)
			was := append([]float32(nil), y...)
			a, b := make([]int32, n), make([]int32, n)
			for c := range a {
				a[c], b[c] = int32(r.IntN(rows)), int32(r.IntN(other))
			}
			PairDots32(y, k, h, width, a, b)
			for c := range y {
				want := was[c] + Dot32(k[int(a[c])*width:][:width], h[int(b[c])*width:][:width])
				if math.Float32bits(y[c]) != math.Float32bits(want) {
					t.Fatalf("width %d: product %d is %g, want %g", width, c, y[c], want)
				}
			}
		}
	})
}

func TestTransposeMovesEveryNumber(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 1))
		for _, c := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {7, 9}, {8, 8}, {16, 24}, {17, 31}, {40, 8}, {5, 100}, {260, 530}} {
			rows, cols := c[0], c[1]
			lds, ldd := cols+r.IntN(3), rows+r.IntN(3)
			src, dst := numbers[float32](r, rows*lds+3), numbers[float32](r, cols*ldd+3)
			was := append([]float32(nil), dst...)
			Transpose32(dst, ldd, src, lds, rows, cols)
			for j := range cols {
				for i := range rows {
					was[j*ldd+i] = src[i*lds+j]
				}
			}
			for i, v := range dst {
				if v != was[i] {
					t.Fatalf("%v: place %d holds %g, want %g", c, i, v, was[i])
				}
			}
		}
	})
}

// The kernels do not look where they read: what leads outside panics before.
func TestListsThatLeadOutsidePanic(t *testing.T) {
	x := make([]float32, 64)
	for name, call := range map[string]func(){
		"sum":        func() { SignedSums32(make([]float32, 16), x, 16, []int32{0, 2}, []uint32{0, 4}) },
		"difference": func() { SignedSums32(make([]float32, 16), x, 16, []int32{0, 1}, []uint32{4 | negative}) },
		"order":      func() { SignedSums32(make([]float32, 48), x, 16, []int32{0, 2, 1, 2}, []uint32{0, 1}) },
		"short":      func() { SignedSums32(make([]float32, 15), x, 16, []int32{0, 1}, []uint32{1}) },
		"width":      func() { SignedSums32(make([]float32, 15), x, 15, []int32{0, 1}, []uint32{1}) },
		"pair":       func() { PairDots32(make([]float32, 1), x, x, 16, []int32{0}, []int32{4}) },
		"negative":   func() { PairDots32(make([]float32, 1), x, x, 16, []int32{-1}, []int32{0}) },
		"transpose":  func() { Transpose32(x, 8, x[:63], 8, 8, 8) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
