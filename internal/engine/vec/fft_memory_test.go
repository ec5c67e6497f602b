package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// amidst is a slice of n numbers at any offset with others around it that no one may touch.
type amidst struct {
	all    []float32
	lo, hi int
}

const fence = 40

func newAmidst(n, offset int) amidst {
	z := amidst{aligned[float32](n + 2*fence + 16), fence + offset, fence + offset + n}
	for i := range z.all {
		z.all[i] = float32(math.NaN())
	}
	return z
}

func (z amidst) slice() []float32 { return z.all[z.lo:z.hi:z.hi] }

func (z amidst) check(t *testing.T, what string) {
	t.Helper()
	for i, v := range z.all {
		if (i < z.lo || i >= z.hi) && v == v {
			t.Fatalf("%s: wrote %d outside of [%d, %d)", what, i, z.lo, z.hi)
		}
	}
}

func TestFFTStaysInItsSlices(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 5))
		for _, n := range append(fftSizes[:len(fftSizes):len(fftSizes)], 1<<14) {
			f := NewFFT(n)
			x, y := numbers[float32](r, n), numbers[float32](r, n)
			a, b, c, d := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			f.Forward(a, x)
			copy(b, a)
			f.MulForward(b, y)
			f.Inverse(c, b)
			f.InverseMul(d, a, b)
			m := make([]float32, n)
			f.Mul(m, a, b)
			for _, offset := range []int{0, 1, 3, 7, 15} {
				fx, fy, fa, fb, fc := newAmidst(n, offset), newAmidst(n, 15-offset), newAmidst(n, offset/2), newAmidst(n,
					offset^1), newAmidst(n, offset^2)
				copy(fx.slice(), x)
				copy(fy.slice(), y)
				verify := func(what string, got amidst, want []float32) {
					t.Helper()
					what = fmt.Sprintf("%s of %d numbers, offset %d", what, n, offset)
					same(t, what, got.slice(), want)
					for _, z := range []amidst{fx, fy, fa, fb, fc} {
						z.check(t, what)
					}
				}
				f.Forward(fa.slice(), fx.slice())
				verify("Forward", fa, a)
				copy(fb.slice(), a)
				f.MulForward(fb.slice(), fy.slice())
				verify("MulForward", fb, b)
				f.Inverse(fc.slice(), fb.slice())
				verify("Inverse", fc, c)
				f.InverseMul(fc.slice(), fa.slice(), fb.slice())
				verify("InverseMul", fc, d)
				f.Mul(fc.slice(), fa.slice(), fb.slice())
				verify("Mul", fc, m)
			}
		}
	})
}

// A row of a batch is what it is alone, whatever the others are.
func TestFFTBatch(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 6))
		for _, n := range []int{5, 8, 64, 256, 1024, 1 << 14} {
			f := NewFFT(n)
			const rows = 3
			ldx, lds := n+3, n+1
			x := numbers[float32](r, rows*ldx)
			x[ldx+n/2], x[ldx+n-1] = float32(math.NaN()), float32(math.Inf(1))
			s, p, y := make([]float32, rows*lds), make([]float32, rows*lds), make([]float32, rows*ldx)
			f.ForwardBatch(rows, s, lds, x, ldx)
			copy(p, s)
			f.MulForwardBatch(rows, p, lds, x, ldx)
			f.InverseBatch(rows, y, ldx, p, lds)
			for i := range rows {
				row := x[i*ldx : i*ldx+n]
				a := make([]float32, n)
				f.Forward(a, row)
				if i == 1 {
					if a[0] == a[0] {
						t.Errorf("%d numbers with a NaN have the spectrum %g, …", n, a[0])
					}
					continue
				}
				same(t, "ForwardBatch", s[i*lds:], a)
				f.MulForward(a, row)
				same(t, "MulForwardBatch", p[i*lds:], a)
				f.Inverse(a, a)
				same(t, "InverseBatch", y[i*ldx:], a)
				if s[i*lds+n] != 0 || p[i*lds+n] != 0 || y[i*ldx+n] != 0 {
					t.Errorf("%d numbers: something is written between rows", n)
				}
			}
		}
	})
}

func TestFFTDoesNotAllocate(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, n := range []int{7, 8, 256, 1024, 1 << 14} {
			f := NewFFT(n)
			x, s := make([]float32, n), make([]float32, n)
			allocations := testing.AllocsPerRun(10, func() {
				f.Forward(s, x)
				f.MulForward(s, x)
				f.Mul(s, s, x)
				f.Inverse(x, s)
				f.InverseMul(x, s, s)
				f.ForwardBatch(1, s, n, x, n)
			})
			if allocations != 0 {
				t.Errorf("%d numbers: %g allocations", n, allocations)
			}
		}
	})
}

func TestFFTInManyGoroutines(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	for _, n := range []int{100, 1024, 1 << 14} {
		f := NewFFT(n)
		x, y := numbers[float32](r, n), numbers[float32](r, n)
		want := make([]float32, n)
		f.Forward(want, x)
		f.MulForward(want, y)
		f.Inverse(want, want)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				z := make([]float32, n)
				for range 20 {
					f.Forward(z, x)
					f.MulForward(z, y)
					f.Inverse(z, z)
					for i := range z {
						if z[i] != want[i] {
							t.Errorf("%d numbers: element %d is %g, not %g", n, i, z[i], want[i])
							return
						}
					}
				}
			})
		}
		wait.Wait()
	}
}
