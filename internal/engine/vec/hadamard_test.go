package vec

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// canary is a number that no computation here gives.
const canary = 1.2345e33

// guarded copies x to a slice that does not start at a cache line, between canaries that
// check looks at.
func guarded[T float32 | float64](t testing.TB, x []T) (y []T, check func()) {
	const before, after = 19, 35
	all := make([]T, before+len(x)+after)
	for i := range all {
		all[i] = canary
	}
	y = all[before : before+len(x) : before+len(x)]
	copy(y, x)
	return y, func() {
		t.Helper()
		for i, v := range all {
			if (i < before || i >= before+len(x)) && v != T(canary) {
				t.Fatalf("wrote at %d beside %d numbers", i-before, len(x))
			}
		}
	}
}

func sameBits[T float32 | float64](x, y []T) error {
	for i := range x {
		if math.Float64bits(float64(x[i])) != math.Float64bits(float64(y[i])) {
			return fmt.Errorf("element %d of %d is %g, not %g", i, len(x), x[i], y[i])
		}
	}
	return nil
}

// plainHadamard is the transform as a textbook has it.
func plainHadamard[T float32 | float64](x []T) {
	for h := 1; h < len(x); h *= 2 {
		for i := range x {
			if i&h == 0 {
				x[i], x[i+h] = x[i]+x[i+h], x[i]-x[i+h]
			}
		}
	}
}

func TestHadamardIsTheProductWithSylvestersMatrix(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testProduct[float32](t)
		testProduct[float64](t)
	})
}

func testProduct[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 1024; n *= 2 {
		x := numbers[T](r, n)
		y := append([]T(nil), x...)
		hadamardBatch(1, n, y, n)
		for i := range n {
			want, size := 0.0, 0.0
			for j, v := range x {
				size += math.Abs(float64(v))
				if bits.OnesCount(uint(i&j))%2 == 1 {
					v = -v
				}
				want += float64(v)
			}
			if e := math.Abs(float64(y[i]) - want); e > size*epsilon[T]()*float64(bits.Len(uint(n))) {
				t.Fatalf("n=%d: element %d is %g, want %g", n, i, y[i], want)
			}
		}
	}
}

// epsilon is the distance from 1 to the next number.
func epsilon[T float32 | float64]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return 1.0 / (1 << 23)
	}
	return 1.0 / (1 << 52)
}

// Every level adds in the order of the textbook.
func TestHadamardIsThePlainLoopToTheBit(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testPlain[float32](t)
		testPlain[float64](t)
	})
}

func testPlain[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 2))
	for n := 1; n <= hadamardLimit; n *= 2 {
		want := numbers[T](r, n)
		x, check := guarded(t, want)
		plainHadamard(want)
		hadamardBatch(1, n, x, n)
		check()
		if err := sameBits(x, want); err != nil {
			t.Fatalf("n=%d: %v", n, err)
		}
	}
}

func TestHadamardTwiceIsNTimesTheIdentity(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 2))
		for n := 1; n <= hadamardLimit; n *= 2 {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(r.IntN(2000) - 1000)
			}
			y := append([]float64(nil), x...)
			Hadamard64(y)
			Hadamard64(y)
			for i := range x {
				if y[i] != float64(n)*x[i] {
					t.Fatalf("n=%d: element %d is %g, not %d times %g", n, i, y[i], n, x[i])
				}
			}
		}
	})
}

func TestHadamardRowsAreTransformsOfEachRow(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		testRows[float32](t)
		testRows[float64](t)
	})
}

func testRows[T float32 | float64](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 2))
	for n := 1; n <= 2048; n *= 2 {
		for _, rows := range []int{0, 1, 2, 3, 7, 16, 33, 70} {
			for _, gap := range []int{0, 1, 5, n} {
				ld := n + gap
				want := numbers[T](r, max(0, rows*ld-gap))
				x, check := guarded(t, want)
				for i := range rows {
					plainHadamard(want[i*ld : i*ld+n])
				}
				hadamardBatch(rows, n, x, ld)
				check()
				if err := sameBits(x, want); err != nil {
					t.Fatalf("%d rows of %d, stride %d: %v", rows, n, ld, err)
				}
			}
		}
	}
}

// More rows than a call of assembly takes.
func TestHadamardOfManyRows(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range []int{2, 16, 128} {
			rows := 3*hadamardCache/n + 1
			want := numbers[float32](rand.New(rand.NewPCG(5, 2)), rows*n)
			x, check := guarded(t, want)
			for i := range rows {
				plainHadamard(want[i*n : i*n+n])
			}
			HadamardRows32(rows, n, x, n)
			check()
			if err := sameBits(x, want); err != nil {
				t.Fatalf("%d rows of %d: %v", rows, n, err)
			}
		}
	})
}

func TestHadamardRefusesOtherOrders(t *testing.T) {
	for _, n := range []int{0, 3, 12, 1000, 2 * hadamardLimit} {
		mustPanic(t, fmt.Sprint("order ", n), func() { Hadamard32(make([]float32, n)) })
		mustPanic(t, fmt.Sprint("order ", n), func() { Hadamard64(make([]float64, n)) })
	}
	mustPanic(t, "too few rows", func() { HadamardRows32(3, 8, make([]float32, 23), 8) })
	mustPanic(t, "rows that overlap", func() { HadamardRows64(3, 8, make([]float64, 100), 7) })
	mustPanic(t, "rows below zero", func() { HadamardRows64(-1, 8, make([]float64, 100), 8) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

func TestHadamardDoesNotAllocate(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		x, y := make([]float32, 1<<15), make([]float64, 64)
		if n := testing.AllocsPerRun(10, func() { Hadamard32(x); Hadamard64(y) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	})
}

func FuzzHadamard(f *testing.F) {
	f.Add(uint8(4), uint8(3), uint8(0), []byte{1, 2, 3, 250})
	f.Add(uint8(10), uint8(1), uint8(7), []byte{127, 128})
	f.Fuzz(func(t *testing.T, log, rows, gap uint8, data []byte) {
		n := 1 << (log % 15)
		r, ld := int(rows)%20+1, n+int(gap)
		if len(data) == 0 || r*ld > 1<<17 {
			return
		}
		want := make([]float32, r*ld)
		for i := range want {
			want[i] = float32(int8(data[i%len(data)])) * float32(1+i%7) / 3
		}
		before := append([]float32(nil), want...)
		for i := range r {
			plainHadamard(want[i*ld : i*ld+n])
		}
		eachLevel(func(name string) {
			x, check := guarded(t, before)
			HadamardRows32(r, n, x, ld)
			check()
			if err := sameBits(x, want); err != nil {
				t.Fatalf("%s: %d rows of %d, stride %d: %v", name, r, n, ld, err)
			}
		})
	})
}

func BenchmarkHadamard(b *testing.B) {
	for _, n := range []int{16, 64, 256, 1024, 4096, 16384, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkHadamard[float32](b, n) })
	}
	for _, n := range []int{64, 1024, 4096} {
		b.Run(fmt.Sprint("float64/", n), func(b *testing.B) { benchmarkHadamard[float64](b, n) })
	}
}

// benchmarkHadamard transforms 4096 numbers or more at a time, zeros so that they do not grow,
// and reports the time of n.
func benchmarkHadamard[T float32 | float64](b *testing.B, n int) {
	rows := max(1, 4096/n)
	x := aligned[T](rows * n)
	for b.Loop() {
		hadamardBatch(rows, n, x, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}
