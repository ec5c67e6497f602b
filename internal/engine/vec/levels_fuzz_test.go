//go:build amd64 && !purego

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// tame gives a factor whose products neither overflow nor underflow, which rounding may decide.
func tame(x float64) float64 {
	if a := math.Abs(x); x == 0 || a > 1e-6 && a < 1e6 {
		return float64(float32(x))
	}
	return math.Copysign(1, x)
}

// atLevels calls f for copies of c at every level.
func atLevels[T any](c []T, f func(c []T)) [][]T {
	defer setLevel(level)
	var all [][]T
	for l := generic; l <= best(); l++ {
		setLevel(l)
		all = append(all, append([]T(nil), c...))
		f(all[l])
	}
	return all
}

// agreeAt compares place i of what the levels gave: AVX2 and AVX-512 to the bit, Go's
// numbers within a bound.
func agreeAt[T float32 | float64](t *testing.T, what string, all [][]T, i int, bound float64) {
	t.Helper()
	for l := avx2; int(l) < len(all); l++ {
		if !identical(all[l][i], all[avx2][i]) {
			t.Fatalf("%s, place %d: %s gives %g, %s %g", what, i, names[avx2], all[avx2][i], names[l], all[l][i])
		}
		if x, y := float64(all[generic][i]), float64(all[l][i]); !identical(x, y) && !(math.Abs(x-y) <= bound) {
			t.Fatalf("%s, place %d: %s gives %g, %s %g, farther off than %g", what, i, names[generic], x, names[l], y, bound)
		}
	}
}

// FuzzGemm computes a part of C = αop(A)·op(B) + βC at every level.
func FuzzGemm(f *testing.F) {
	f.Add(uint8(15), uint8(33), uint8(7), uint8(0), uint8(0), 1.0, 0.0, uint64(1))
	f.Add(uint8(28), uint8(64), uint8(99), uint8(0x55), uint8(1), -0.5, 1.0, uint64(2))
	f.Add(uint8(1), uint8(17), uint8(60), uint8(0xff), uint8(6), 3.0, -2.0, uint64(3))
	f.Add(uint8(40), uint8(90), uint8(90), uint8(3), uint8(27), 1.0, 1.0, uint64(4))
	f.Fuzz(func(t *testing.T, m, n, k, pads, flags uint8, alpha, beta float64, seed uint64) {
		fuzzGemm[float32](t, int(m%100), int(n%100), int(k%100), pads, flags, tame(alpha), tame(beta), seed)
		fuzzGemm[float64](t, int(m%100), int(n%100), int(k%100), pads, flags, tame(alpha), tame(beta), seed)
	})
}

func fuzzGemm[T float32 | float64](t *testing.T, m, n, k int, pads, flags uint8, alpha, beta float64, seed uint64) {
	tA, tB, long, spoiled, part := flags&1 > 0, flags&2 > 0, flags&4 > 0, flags&8 > 0, triangle(flags>>4%3)
	if long {
		k *= 9 // more than a block
	}
	if part != full {
		n = m
	}
	r := rand.New(rand.NewPCG(seed, 50))
	matrix := func(transposed bool, rows, cols int, pad uint8) ([]T, int) {
		if transposed {
			rows, cols = cols, rows
		}
		ld := cols + int(pad%4)
		return numbers[T](r, max(0, (rows-1)*ld+cols)), ld
	}
	a, lda := matrix(tA, m, k, pads)
	b, ldb := matrix(tB, k, n, pads>>2)
	c, ldc := matrix(false, m, n, pads>>4)
	if spoiled && len(a) > 0 {
		a[r.IntN(len(a))] = T(math.NaN())
	}
	all := atLevels(c, func(c []T) {
		if m == 0 || n == 0 {
			return
		}
		mk, _ := any(micro64).(*micro[T])
		if mk == nil {
			mk = any(micro32).(*micro[T])
		}
		scale(part, m, n, T(beta), c, ldc)
		mk.addProduct(part, m, n, k, T(alpha), viewOf(tA, a, lda), viewOf(tB, b, ldb), c, ldc)
	})
	va, vb := viewOf(tA, a, lda), viewOf(tB, b, ldb)
	unit := last(1, int(unsafe.Sizeof(T(0))))
	for i := range c {
		row, col := i/ldc, i%ldc
		if some, _ := part.relation(row, row+1, col, col+1); !some || col >= n {
			for l := range all {
				if all[l][i] != c[i] {
					t.Fatalf("%s writes to place %d beside C", names[l], i)
				}
			}
			continue
		}
		size := math.Abs(beta * float64(c[i]))
		for l := range k {
			size += math.Abs(alpha * float64(va.data[row*va.rs+l*va.cs]) * float64(vb.data[l*vb.rs+col*vb.cs]))
		}
		agreeAt(t, "C", all, i, float64(k+4)*unit*size)
	}
}

// FuzzDot takes dot products and scaled sums at every level.
func FuzzDot(f *testing.F) {
	f.Add(uint16(15), uint8(0), 1.0, uint64(1))
	f.Add(uint16(64), uint8(1), -0.5, uint64(2))
	f.Add(uint16(1027), uint8(7), 0.0, uint64(3))
	f.Fuzz(func(t *testing.T, n uint16, off uint8, alpha float64, seed uint64) {
		lo := int(off % 16)
		hi := lo + int(n%3000)
		r := rand.New(rand.NewPCG(seed, 51))
		x, y, v, w := numbers[float32](r, hi), numbers[float32](r, hi), numbers[float64](r, hi), numbers[float64](r, hi)
		x, v = x[lo:], v[lo:]
		var size32, size64, sizeMixed float64
		for i := range x {
			sizeMixed += math.Abs(float64(x[i]) * w[lo+i])
			size32 += math.Abs(float64(x[i]) * float64(y[lo+i]))
			size64 += math.Abs(v[i] * w[lo+i])
		}
		terms, alpha := float64(len(x)+1), tame(alpha)
		agreeAt(t, "Dot32", atLevels([]float32{0}, func(c []float32) { c[0] = Dot32(x, y[lo:]) }), 0, terms*0x1p-23*size32)
		agreeAt(t, "Dot64", atLevels([]float64{0}, func(c []float64) { c[0] = Dot64(v, w[lo:]) }), 0, terms*0x1p-52*size64)
		agreeAt(t, "DotWide", atLevels([]float64{0}, func(c []float64) { c[0] = DotWide(x, y[lo:]) }), 0, terms*0x1p-52*size32)
		agreeAt(t, "DotMixed", atLevels([]float64{0}, func(c []float64) { c[0] = DotMixed(x, w[lo:]) }), 0, terms*0x1p-52*sizeMixed)
		sums32 := atLevels(y, func(c []float32) { Axpy32(float32(alpha), x, c[lo:]) })
		sums64 := atLevels(w, func(c []float64) { Axpy64(alpha, v, c[lo:]) })
		wide := atLevels(w, func(c []float64) { AxpyWide(alpha, x, c[lo:]) })
		for i := range y {
			a, b := 0.0, 0.0
			for l := range sums32 {
				if i < lo && (sums32[l][i] != y[i] || sums64[l][i] != w[i] || wide[l][i] != w[i]) {
					t.Fatalf("%s writes to place %d before y", names[l], i)
				}
			}
			if i >= lo {
				a, b = math.Abs(alpha*float64(x[i-lo])), math.Abs(alpha*v[i-lo])
			}
			// Go rounds the product and the sum, the others the sum alone.
			agreeAt(t, "Axpy32", sums32, i, 0x1p-22*(a+math.Abs(float64(y[i]))))
			agreeAt(t, "Axpy64", sums64, i, 0x1p-51*(b+math.Abs(w[i])))
			agreeAt(t, "AxpyWide", wide, i, 0x1p-51*(a+math.Abs(w[i])))
		}
	})
}

// FuzzRows takes the kernels for several rows at every level.
func FuzzRows(f *testing.F) {
	f.Add(uint16(1), uint8(0), uint8(3), uint64(1))
	f.Add(uint16(130), uint8(7), uint8(0), uint64(2))
	f.Add(uint16(300), uint8(1), uint8(8), uint64(3))
	f.Fuzz(func(t *testing.T, eighths uint16, off, pad uint8, seed uint64) {
		n, lo := 8*(1+int(eighths%300)), int(off%16)
		lda := n + int(pad)
		r := rand.New(rand.NewPCG(seed, 53))
		a, x, factors, y, s := numbers[float64](r, lo+symvHeight*lda), numbers[float64](r, lo+n), numbers[float64](r,
			symvHeight), numbers[float64](r, lo+n+1), numbers[float64](r, symvHeight+1)
		a, x = a[lo:], x[lo:]
		for _, height := range []int{rowHeight, symvHeight} {
			bothSums, bothY := make([][]float64, best()+1), make([][]float64, best()+1)
			level0 := level
			for l := range bothSums {
				setLevel(instructions(l))
				bothSums[l], bothY[l] = append([]float64(nil), s...), append([]float64(nil), y...)
				if height == rowHeight {
					rowDots(n, a, lda, x, bothSums[l])
					rowSums(n, a, lda, factors, bothY[l][lo:])
				} else {
					symvBlock(n, a, lda, x, bothSums[l], factors, bothY[l][lo:])
				}
			}
			setLevel(level0)
			for i := range s {
				if i >= height {
					agreeAt(t, "a place behind the sums", append(bothSums, s), i, 0)
					continue
				}
				size := math.Abs(s[i])
				for c := range n {
					size += math.Abs(a[i*lda+c] * x[c])
				}
				agreeAt(t, "dots", bothSums, i, float64(n)*0x1p-52*size)
			}
			for i := range y {
				if i < lo || i == lo+n {
					agreeAt(t, "a place beside the columns", append(bothY, y), i, 0)
					continue
				}
				size := math.Abs(y[i])
				for l := range height {
					size += math.Abs(a[l*lda+i-lo] * factors[l])
				}
				agreeAt(t, "sums", bothY, i, 16*0x1p-52*size)
			}
		}
	})
}
