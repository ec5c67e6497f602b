package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// seriesOf runs all of series.go on slices of n numbers and returns what it wrote.
func seriesOf(x [][]float32) [][]float32 {
	n := len(x[0])
	y := make([][]float32, 9)
	for i := range y {
		y[i] = make([]float32, n)
	}
	Roots32(y[0], y[1], x[0])
	Sech32(y[2], y[3], x[1], x[2], x[3])
	Recur32(y[4], 0.37, x[1], x[2], -0.71, x[3])
	copy(y[5], x[2])
	copy(y[6], x[3])
	Rotate32(y[5], y[6], x[0], x[1], y[7], y[8], 1.7)
	return y
}

func bitsOf(x []float32) []uint32 {
	b := make([]uint32, len(x))
	for i, v := range x {
		if b[i] = math.Float32bits(v); v != v {
			b[i] = 0x7fc00000 // any NaN
		}
	}
	return b
}

func TestSeriesHaveTheSameBitsAtAllLevels(t *testing.T) {
	want := map[int][][]float32{}
	special := []float32{0, float32(math.Copysign(0, -1)), -1, 1e-45, 1e-38, 1e38, float32(math.Inf(1)),
		float32(math.Inf(-1)), float32(math.NaN())}
	everyLevel(t, func(t *testing.T) {
		for _, n := range lengths() {
			r := rand.New(rand.NewPCG(9, uint64(n)))
			x := make([][]float32, 4)
			for i := range x {
				x[i] = numbers[float32](r, n)
				for k := range x[i] {
					if r.IntN(9) == 0 {
						x[i][k] = special[r.IntN(len(special))]
					}
				}
			}
			got := seriesOf(x)
			if want[n] == nil {
				want[n] = got
			}
			for i := range got {
				if !slices.Equal(bitsOf(got[i]), bitsOf(want[n][i])) {
					t.Fatalf("output %d of %d numbers differs from that of the level before", i, n)
				}
			}
		}
	})
}

func TestSeriesAreTheirFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	x := make([][]float32, 4)
	for i := range x {
		x[i] = numbers[float32](r, 100)
	}
	y := seriesOf(x)
	for i := range 100 {
		a, b, c, d := float64(x[0][i]), float64(x[1][i]), float64(x[2][i]), float64(x[3][i])
		s := math.Min(math.Max(b*c, 1e-18), 1e18)
		re, im := c*a-d*b, d*a+c*b
		for k, want := range []float64{math.Max(a, 0x1p-126), math.Sqrt(a), d * 2 * s / (1 + s*s), (s*s - 1) / (s*s + 1),
			0.37*b*c - 0.71*d, re, im, 1.7 * re, 1.7 * im} {
			if got := float64(y[k][i]); !(math.Abs(got-want) <= 1e-6*(1+a*a+b*b+c*c+d*d)) && got == got {
				t.Errorf("output %d is %g, want %g", k, got, want)
			} else if got != got && want == want {
				t.Errorf("output %d is NaN, want %g", k, want)
			}
		}
	}
}

// Kernels neither write nor read beside their slices, and Recur32 may write over before.
func TestSeriesStayWithinTheirSlices(t *testing.T) {
	const n = 61
	everyLevel(t, func(t *testing.T) {
		var x [9][]float32
		for i := range x {
			x[i] = slices.Repeat([]float32{0.5}, n+40)
		}
		of := func(i int) []float32 { return x[i][20 : 20+n] }
		Roots32(of(0), of(1), of(2))
		Sech32(of(0), of(1), of(2), of(3), of(4))
		Recur32(of(5), 1, of(2), of(3), 2, of(5))
		Rotate32(of(0), of(1), of(2), of(3), of(7), of(8), 2)
		for i := range x {
			for k, v := range x[i] {
				if (k < 20 || k >= 20+n) && v != 0.5 {
					t.Fatalf("slice %d is written at %d", i, k)
				}
			}
		}
		if want := float32(0.5*0.5 + 2*0.5); x[5][20] != want || x[5][19+n] != want {
			t.Errorf("Recur32 over before gives %g, want %g", x[5][20], want)
		}
	})
}

func BenchmarkSeries(b *testing.B) {
	const n = 512
	x := make([][]float32, 9)
	for i := range x {
		x[i] = slices.Repeat([]float32{0.5}, n)
	}
	for name, f := range map[string]func(){
		"roots":  func() { Roots32(x[0], x[1], x[2]) },
		"sech":   func() { Sech32(x[0], x[1], x[2], x[3], x[4]) },
		"recur":  func() { Recur32(x[5], 0.4, x[2], x[3], 0.2, x[4]) },
		"rotate": func() { Rotate32(x[0], x[1], x[2], x[3], x[7], x[8], 2) },
	} {
		b.Run(fmt.Sprintf("%s/%s", Level(), name), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
