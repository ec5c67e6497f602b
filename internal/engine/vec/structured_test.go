package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// factors are the diagonals and permutations of m rows in blocks of n.
type factors[T float32 | float64] struct {
	d, g, s []T // d has three
	p       []int32
}

func newFactors[T float32 | float64](r *rand.Rand, n, m int) factors[T] {
	f := factors[T]{d: make([]T, 3*m), g: numbers[T](r, m), s: numbers[T](r, m)}
	for i := range f.d {
		f.d[i] = T(1 - 2*r.IntN(2))
	}
	for range m / n {
		for _, i := range r.Perm(n) {
			f.p = append(f.p, int32(i))
		}
	}
	return f
}

// times is d∘x in float64.
func times[T float32 | float64](d []T, x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = float64(d[i]) * x[i]
	}
	return y
}

func transformed(x []float64) []float64 {
	plainHadamard(x)
	return x
}

// widened is x in float64 with zeros up to n.
func widened[T float32 | float64](x []T, n int) []float64 {
	y := make([]float64, n)
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// shapes of rows, n, m, width: blocks in registers, with several passes, and beyond the cache.
var shapes = [][4]int{
	{1, 1, 1, 1}, {3, 1, 5, 0}, {2, 2, 2, 1}, {3, 2, 38, 2}, {2, 4, 52, 3}, {2, 8, 16, 5}, {2, 8, 72, 8}, {3, 16, 16, 16},
	{3, 16, 176, 9}, {2, 32, 96, 17}, {2, 64, 128, 60}, {1, 128, 384, 128}, {2, 256, 512, 131}, {2, 512, 512, 0}, {2, 512, 1536, 300},
	{9, 1024, 2048, 784}, {5, 64, 128, 64}, {6, 128, 256, 77}, {4, 512, 512, 511}, {1, 1024, 1024, 1024}, {2, 2048, 2048,
		1025}, {1, 4096, 4096, 4000}, {1, 8192, 8192, 8191},
	{1, 8, 20000, 7}, {1, 64, 1 << 15, 50}, {1, 16384, 16384, 12345}, {1, 65536, 65536, 40000},
}

// A transform of order n is off by at most log₂n roundings of sums whose squares add to n
// times those of its input.
func TestHDIsTheProductOfItsFactors(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testHD[float32](t)
		testHD[float64](t)
	})
}

func testHD[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 3))
	for _, shape := range shapes {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		for rounds := 1; rounds <= 3; rounds++ {
			f := newFactors[T](r, n, m)
			d, checkD := guarded(t, f.d[:rounds*m])
			s, checkS := guarded(t, f.s)
			lds, ldd := width+3, m+5
			src, checkSrc := guarded(t, numbers[T](r, (rows-1)*lds+width))
			before := append([]T(nil), src...)
			dst, checkDst := guarded(t, numbers[T](r, (rows-1)*ldd+m))
			gaps := append([]T(nil), dst...)
			chains(rows, n, m, width, d, s, src, lds, dst, ldd)
			for _, check := range []func(){checkD, checkS, checkSrc, checkDst} {
				check()
			}
			if err := sameBits(src, before); err != nil {
				t.Fatalf("%v: src changed: %v", shape, err)
			}
			for i := range rows {
				for b := 0; b < m; b += n {
					x := widened(src[i*lds:i*lds+width], n)
					scale := norm(x)
					for k := range rounds {
						x = transformed(times(d[k*m+b:k*m+b+n], x))
						scale *= math.Sqrt(float64(n))
					}
					compare(t, fmt.Sprint(shape, rounds, "rounds"), dst[i*ldd+b:i*ldd+b+n], times(s[b:b+n], x), s[b:b+n], scale)
				}
				if i+1 < rows {
					if err := sameBits(dst[i*ldd+m:(i+1)*ldd], gaps[i*ldd+m:(i+1)*ldd]); err != nil {
						t.Fatalf("%v: wrote between rows: %v", shape, err)
					}
				}
			}
		}
	}
}

// compare allows scale·s for the error of y in units of 40 roundings.
func compare[T float32 | float64](t *testing.T, what string, y []T, want []float64, s []T, scale float64) {
	t.Helper()
	for j := range y {
		if e := math.Abs(float64(y[j]) - want[j]); !(e <= 40*epsilon[T]()*scale*math.Abs(float64(s[j]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, j, y[j], want[j])
		}
	}
}

func TestFastfoodIsTheProductOfItsFactors(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testFastfood[float32](t)
		testFastfood[float64](t)
	})
}

func testFastfood[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 3))
	for _, shape := range shapes {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		f := newFactors[T](r, n, m)
		b, checkB := guarded(t, f.d[:m])
		g, checkG := guarded(t, f.g)
		s, checkS := guarded(t, f.s)
		lds, ldd := width+3, m+5
		src, checkSrc := guarded(t, numbers[T](r, (rows-1)*lds+width))
		before := append([]T(nil), src...)
		dst, checkDst := guarded(t, numbers[T](r, (rows-1)*ldd+m))
		gaps := append([]T(nil), dst...)
		work, checkWork := guarded(t, make([]T, FastfoodWork(n)))
		multiplyFastfood(rows, n, m, width, b, f.p, g, s, src, lds, dst, ldd, work)
		for _, check := range []func(){checkB, checkG, checkS, checkSrc, checkDst, checkWork} {
			check()
		}
		if err := sameBits(src, before); err != nil {
			t.Fatalf("%v: src changed: %v", shape, err)
		}
		for i := range rows {
			if i+1 < rows {
				if err := sameBits(dst[i*ldd+m:(i+1)*ldd], gaps[i*ldd+m:(i+1)*ldd]); err != nil {
					t.Fatalf("%v: wrote between rows: %v", shape, err)
				}
			}
			for c := 0; c < m; c += n {
				x := transformed(times(b[c:c+n], widened(src[i*lds:i*lds+width], n)))
				z := make([]float64, n)
				for j, k := range f.p[c : c+n] {
					z[j] = x[k]
				}
				z = times(g[c:c+n], z)
				// An error of the first transform is as long as it, and so is its product.
				scale := max(norm(z), norm(x)*largest(g[c:c+n])) * math.Sqrt(float64(n))
				compare(t, fmt.Sprint(shape), dst[i*ldd+c:i*ldd+c+n], times(s[c:c+n], transformed(z)), s[c:c+n], scale)
			}
		}
	}
}

// multiplyFastfood is Fastfood32 or Fastfood64.
func multiplyFastfood[T float32 | float64](rows, n, m, width int, b []T, p []int32, g, s []T, src []T, lds int, dst []T,
	ldd int, work []T) {
	switch b := any(b).(type) {
	case []float32:
		Fastfood32(rows, n, m, width, b, p, any(g).([]float32), any(s).([]float32), any(src).([]float32), lds,
			any(dst).([]float32), ldd, any(work).([]float32))
	case []float64:
		Fastfood64(rows, n, m, width, b, p, any(g).([]float64), any(s).([]float64), any(src).([]float64), lds,
			any(dst).([]float64), ldd, any(work).([]float64))
	}
}

func largest[T float32 | float64](x []T) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

// With signs the products are exact, so that fused or not is the same; s and the order of
// sums are the same in all.
func TestLevelsAgreeOnHDToTheBit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, shape := range shapes {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		f := newFactors[float32](r, n, m)
		src := numbers[float32](r, rows*width)
		var first []float32
		eachLevel(func(name string) {
			dst := make([]float32, rows*m)
			HD32(rows, n, m, width, f.d, f.s, src, width, dst, m)
			if first == nil {
				first = dst
			}
			if err := sameBits(dst, first); err != nil {
				t.Fatalf("%v: %s: %v", shape, name, err)
			}
		})
	}
}

// Rows computed together are those computed one by one, in every level.
func TestFastfoodDoesNotDependOnBatchesOrLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for _, shape := range shapes {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		if width == 0 {
			continue
		}
		f := newFactors[float32](r, n, m)
		src, work := numbers[float32](r, rows*width), make([]float32, FastfoodWork(n))
		var first []float32
		eachLevel(func(name string) {
			together, alone := make([]float32, rows*m), make([]float32, rows*m)
			Fastfood32(rows, n, m, width, f.d[:m], f.p, f.g, f.s, src, width, together, m, work)
			for i := range rows {
				Fastfood32(1, n, m, width, f.d[:m], f.p, f.g, f.s, src[i*width:], width, alone[i*m:], m, work)
			}
			if err := sameBits(together, alone); err != nil {
				t.Fatalf("%v: %s: %v", shape, name, err)
			}
			if first == nil {
				first = alone
			}
			if err := sameBits(alone, first); err != nil {
				t.Fatalf("%v: %s: %v", shape, name, err)
			}
		})
	}
}

// An index is taken modulo n, so that no permutation reads beside the block.
func TestFastfoodTakesIndicesModuloN(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 3))
		for _, n := range []int{1, 4, 16, 256, 1024} {
			m := 2 * n
			f := newFactors[float32](r, n, m)
			src, work := numbers[float32](r, n), make([]float32, FastfoodWork(n))
			want, got := make([]float32, m), make([]float32, m)
			Fastfood32(1, n, m, n, f.d[:m], f.p, f.g, f.s, src, n, want, m, work)
			for i := range f.p {
				f.p[i] += int32(r.IntN(1<<10)-1<<9) * int32(n)
			}
			Fastfood32(1, n, m, n, f.d[:m], f.p, f.g, f.s, src, n, got, m, work)
			if err := sameBits(got, want); err != nil {
				t.Fatalf("n=%d: %v", n, err)
			}
		}
	})
}

func TestStructuredProductsRefuseOtherShapes(t *testing.T) {
	const n, m = 8, 16
	r := rand.New(rand.NewPCG(5, 3))
	f := newFactors[float64](r, n, m)
	x, y, w := make([]float64, n), make([]float64, m), make([]float64, FastfoodWork(n))
	HD64(1, n, m, n, f.d, f.s, x, n, y, m)
	HD64(0, n, m, n, f.d, f.s, nil, n, nil, m)
	HD64(1, n, 0, n, nil, nil, x, n, nil, m)
	Fastfood64(1, n, m, n, f.d[:m], f.p, f.g, f.s, x, n, y, m, w)
	for what, call := range map[string]func(){
		"order":      func() { HD64(1, 6, 12, 6, f.d[:12], f.s[:12], x, n, y, m) },
		"blocks":     func() { HD64(1, n, 12, n, f.d[:12], f.s[:12], x, n, y, m) },
		"width":      func() { HD64(1, n, m, n+1, f.d, f.s, x, n+1, y, m) },
		"no d":       func() { HD64(1, n, m, n, nil, f.s, x, n, y, m) },
		"short d":    func() { HD64(1, n, m, n, f.d[:17], f.s, x, n, y, m) },
		"short s":    func() { HD64(1, n, m, n, f.d, f.s[:15], x, n, y, m) },
		"short src":  func() { HD64(1, n, m, n, f.d, f.s, x[:7], n, y, m) },
		"short dst":  func() { HD64(1, n, m, n, f.d, f.s, x, n, y[:15], m) },
		"stride":     func() { HD64(1, n, m, n, f.d, f.s, x, n, y, m-1) },
		"short p":    func() { Fastfood64(1, n, m, n, f.d[:m], f.p[:15], f.g, f.s, x, n, y, m, w) },
		"long b":     func() { Fastfood64(1, n, m, n, f.d, f.p, f.g, f.s, x, n, y, m, w) },
		"short g":    func() { Fastfood64(1, n, m, n, f.d[:m], f.p, f.g[:15], f.s, x, n, y, m, w) },
		"short work": func() { Fastfood64(1, n, m, n, f.d[:m], f.p, f.g, f.s, x, n, y, m, w[1:]) },
	} {
		mustPanic(t, what, call)
	}
}

func TestStructuredProductsDoNotAllocate(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range []int{4, 64, 1024} {
			f := newFactors[float32](rand.New(rand.NewPCG(6, 3)), n, 2*n)
			x, y, w := make([]float32, n), make([]float32, 2*n), make([]float32, FastfoodWork(n))
			if a := testing.AllocsPerRun(10, func() {
				HD32(1, n, 2*n, n-1, f.d, f.s, x, n, y, 2*n)
				Fastfood32(1, n, 2*n, n-1, f.d[:2*n], f.p, f.g, f.s, x, n, y, 2*n, w)
			}); a != 0 {
				t.Errorf("n=%d: %g allocations", n, a)
			}
		}
	})
}

func FuzzStructured(f *testing.F) {
	f.Add(uint64(1), uint8(4), uint8(3), uint8(5), uint8(0))
	f.Add(uint64(2), uint8(10), uint8(1), uint8(6), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, log, blocks, rows, missing uint8) {
		n, r := 1<<(log%13), rand.New(rand.NewPCG(seed, 3))
		m, k := n*(int(blocks)%5+1), int(rows)%9+1
		width := max(1, n-int(missing))
		c := newFactors[float32](r, n, m)
		src, work := numbers[float32](r, k*width), make([]float32, FastfoodWork(n))
		var first [2][]float32
		eachLevel(func(name string) {
			hd, check := guarded(t, make([]float32, k*m))
			HD32(k, n, m, width, c.d, c.s, src, width, hd, m)
			check()
			ff, check := guarded(t, make([]float32, k*m))
			Fastfood32(k, n, m, width, c.d[:m], c.p, c.g, c.s, src, width, ff, m, work)
			check()
			if first[0] == nil {
				first = [2][]float32{hd, ff}
			}
			for i, y := range [][]float32{hd, ff} {
				if err := sameBits(y, first[i]); err != nil {
					t.Fatalf("%s: product %d of %d×%d in blocks of %d for %d columns: %v", name, i, k, m, n, width, err)
				}
			}
		})
	})
}

// Shapes of MNIST and of the published comparisons; m is the number of frequencies.
func BenchmarkHD(b *testing.B) {
	for _, shape := range [][4]int{{16, 1024, 2048, 784}, {1, 1024, 2048, 784}, {64, 16, 2048, 16}, {64, 8, 2048, 8},
		{64, 128, 2048, 100}, {8, 4096, 4096, 4096}} {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		b.Run(fmt.Sprintf("rows=%d/n=%d/m=%d/width=%d", rows, n, m, width), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 3))
			f := newFactors[float32](r, n, m)
			x, y := numbers[float32](r, rows*width), aligned[float32](rows*m)
			for b.Loop() {
				HD32(rows, n, m, width, f.d, f.s, x, width, y, m)
			}
			perRow(b, rows, n, m)
		})
	}
}

func BenchmarkFastfood(b *testing.B) {
	for _, shape := range [][4]int{{16, 1024, 8192, 1024}, {64, 1024, 8192, 1024}, {1, 1024, 8192, 1024},
		{64, 16, 2048, 16}, {64, 128, 2048, 100}} {
		rows, n, m, width := shape[0], shape[1], shape[2], shape[3]
		b.Run(fmt.Sprintf("rows=%d/n=%d/m=%d/width=%d", rows, n, m, width), func(b *testing.B) {
			r := rand.New(rand.NewPCG(8, 3))
			f := newFactors[float32](r, n, m)
			x, y, w := numbers[float32](r, rows*width), aligned[float32](rows*m), aligned[float32](FastfoodWork(n))
			for b.Loop() {
				Fastfood32(rows, n, m, width, f.d[:m], f.p, f.g, f.s, x, width, y, m, w)
			}
			perRow(b, rows, n, m)
		})
	}
}

func perRow(b *testing.B, rows, n, m int) {
	ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(rows)
	b.ReportMetric(ns, "ns/row")
	b.ReportMetric(ns*float64(n)/float64(m), "ns/block")
}
