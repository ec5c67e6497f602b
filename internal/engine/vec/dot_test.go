package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lengths are all short ones and some that take several calls of a kernel.
func lengths() []int {
	var n []int
	for i := range 300 {
		n = append(n, i)
	}
	return append(n, 1<<15, 1<<15+17, 1<<17+1)
}

func TestDotProductsAreTheNaiveSums(t *testing.T) {
	const canary = 1e30
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 1))
		for _, n := range lengths() {
			off := r.IntN(4)
			x, y := numbers[float32](r, n+8), numbers[float32](r, n+8)
			x64, y64 := numbers[float64](r, n+8), numbers[float64](r, n+8)
			for _, c := range []int{off - 1, off + n} { // what stands beside must not count
				if c >= 0 {
					x[c], y[c], x64[c], y64[c] = canary, canary, canary, canary
				}
			}
			x, y, x64, y64 = x[off:off+n], y[off:off+n], x64[off:off+n], y64[off:off+n]
			var want, want64, size, size64 float64
			for i := range x {
				v, w := float64(x[i])*float64(y[i]), x64[i]*y64[i]
				want, want64, size, size64 = want+v, want64+w, size+math.Abs(v), size64+math.Abs(w)
			}
			if got := float64(Dot32(x, y)); math.Abs(got-want) > float64(n+1)*0x1p-24*size {
				t.Errorf("Dot32 of %d is %g, want %g", n, got, want)
			}
			if got := DotWide(x, y); math.Abs(got-want) > float64(n+1)*0x1p-52*size {
				t.Errorf("DotWide of %d is %g, want %g", n, got, want)
			}
			if got := Dot64(x64, y64); math.Abs(got-want64) > float64(n+1)*0x1p-52*size64 {
				t.Errorf("Dot64 of %d is %g, want %g", n, got, want64)
			}
			want, size = 0, 0
			for i := range x {
				want, size = want+float64(x[i])*y64[i], size+math.Abs(float64(x[i])*y64[i])
			}
			if got := DotMixed(x, y64); math.Abs(got-want) > float64(n+1)*0x1p-52*size {
				t.Errorf("DotMixed of %d is %g, want %g", n, got, want)
			}
			idx, val := []int32{}, []float32{}
			want, size = 0, 0
			for i := range x {
				if r.IntN(3) == 0 {
					idx, val = append(idx, int32(i)), append(val, x[i])
					want, size = want+float64(x[i])*float64(y[i]), size+math.Abs(float64(x[i])*float64(y[i]))
				}
			}
			if got := SparseDot32(idx, val, y); math.Abs(got-want) > float64(n+1)*0x1p-52*size {
				t.Errorf("SparseDot32 of %d is %g, want %g", n, got, want)
			}
		}
	})
}

func TestAxpyIsTheNaiveSum(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 1))
		for _, n := range lengths() {
			off := r.IntN(4)
			x, y, wide := numbers[float32](r, n+8), numbers[float32](r, n+8), numbers[float64](r, n+8)
			x64, y64 := numbers[float64](r, n+8), numbers[float64](r, n+8)
			y0, wide0, y640 := append([]float32(nil), y...), append([]float64(nil), wide...), append([]float64(nil), y64...)
			Axpy32(0.3, x[off:off+n], y[off:off+n])
			AxpyWide(0.3, x[off:off+n], wide[off:off+n])
			Axpy64(0.3, x64[off:off+n], y64[off:off+n])
			for i := range y {
				want, wantWide, want64 := float64(y0[i]), wide0[i], y640[i]
				if i >= off && i < off+n {
					want, wantWide, want64 = want+float64(float32(0.3))*float64(x[i]), wantWide+0.3*float64(x[i]), want64+0.3*x64[i]
				}
				if math.Abs(float64(y[i])-want) > 0x1p-23*(math.Abs(float64(y0[i]))+math.Abs(float64(x[i]))) ||
					math.Abs(wide[i]-wantWide) > 0x1p-51*(math.Abs(wide0[i])+math.Abs(float64(x[i]))) ||
					math.Abs(y64[i]-want64) > 0x1p-51*(math.Abs(y640[i])+math.Abs(x64[i])) {
					t.Fatalf("%d elements: place %d holds %g, %g, %g, want %g, %g, %g", n, i-off, y[i], wide[i], y64[i], want, wantWide, want64)
				}
				if i < off || i >= off+n {
					if y[i] != y0[i] || wide[i] != wide0[i] || y64[i] != y640[i] {
						t.Fatalf("%d elements: place %d outside is touched", n, i-off)
					}
				}
			}
		}
	})
}

func TestSparseAxpyTouchesItsPlacesAlone(t *testing.T) {
	y := []float32{1, 2, 3, 4}
	SparseAxpy32(2, []int32{0, 3}, []float32{5, 6}, y)
	for i, want := range []float32{11, 2, 3, 16} {
		if y[i] != want {
			t.Errorf("place %d holds %g, want %g", i, y[i], want)
		}
	}
}

// All elements of an axpy round alike, be they in a block or left over.
func TestAxpyDoesNotDependOnThePlace(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 1))
		x, y := numbers[float32](r, 100), numbers[float32](r, 100)
		whole := append([]float32(nil), y...)
		Axpy32(0.7, x, whole)
		for i := range x {
			one := []float32{y[i]}
			Axpy32(0.7, x[i:i+1], one)
			if one[0] != whole[i] {
				t.Fatalf("element %d is %g alone, %g among others", i, one[0], whole[i])
			}
		}
	})
}

func BenchmarkDot(b *testing.B) {
	x, y, w := make([]float32, 4096), make([]float32, 4096), make([]float64, 4096)
	for name, f := range map[string]func(){
		"Dot32":    func() { Dot32(x, y) },
		"DotWide":  func() { DotWide(x, y) },
		"DotMixed": func() { DotMixed(x, w) },
		"Axpy32":   func() { Axpy32(0.5, x, y) },
		"AxpyWide": func() { AxpyWide(0.5, x, w) },
		"Dot64":    func() { Dot64(w, w) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/element")
		})
	}
}
