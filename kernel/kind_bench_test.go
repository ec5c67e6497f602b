package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The time of a value alone, against rows that stay, and of a gradient: what the choice of the
// kind of a kernel must not slow.

func BenchmarkEval(b *testing.B) {
	x := histograms("bench", 64, 16, 0)
	for _, k := range append(everyKernel, histogramKernels...) {
		b.Run(k.String(), func(b *testing.B) {
			sum := 0.0
			for i := range b.N {
				sum += k.Eval(x.Row(i%64), x.Row(i/64%64))
			}
			if sum != sum {
				b.Fatal(sum)
			}
		})
	}
}

func BenchmarkAgainst(b *testing.B) {
	for _, d := range []int{16, 784} {
		x := histograms("bench", 256, d, 0)
		for _, k := range append(everyKernel, histogramKernels...) {
			b.Run(fmt.Sprintf("%s/d=%d", k, d), func(b *testing.B) {
				a, err := NewAgainst(k, matrix.Rows{Dense: x})
				if err != nil {
					b.Fatal(err)
				}
				dst, work := make([]float64, 16*256), make([]float64, 16*a.Work())
				for range b.N {
					a.Rows(matrix.Rows{Dense: x}, 0, 16, dst, work)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/value")
			})
		}
	}
}

func BenchmarkGradient(b *testing.B) {
	x := histograms("bench", 64, 16, 0)
	w := make([]float64, 64)
	for i := range w {
		w[i] = 1
	}
	for _, k := range append(everyKernel, histogramKernels...) {
		b.Run(k.String(), func(b *testing.B) {
			dst := make([]float64, 16)
			for i := range b.N {
				k.AddGradient(dst, w, x, x.Row(i%64))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(64*b.N), "ns/row")
		})
	}
}

// BenchmarkLandmarks is the time of a value in float32 against 2,000 landmarks, for the kernels of learned metrics.
func BenchmarkLandmarks(b *testing.B) {
	for _, d := range []int{10, 30} {
		r := rand.New(rand.NewPCG(1, 1))
		x := matrix.NewDense(2000, d)
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64())
		}
		rows := matrix.Rows{Dense: x}
		for _, k := range []Kernel{
			{Name: "rbf", Gamma: 0.5 / float64(d)}, {Name: "matern", Nu: 0.5, Gamma: 0.5 / float64(d)},
			{Name: "matern", Nu: 1.5, Gamma: 0.5 / float64(d)}, {Name: "laplacian", Gamma: 1 / float64(d)},
		} {
			b.Run(fmt.Sprintf("%s/d=%d", k, d), func(b *testing.B) {
				a, err := NewAgainst(k, rows)
				if err != nil {
					b.Fatal(err)
				}
				dst, work, narrow := make([]float64, 16*2000), make([]float64, 16*a.Work()), make([]float32, 16*2000)
				for i := range b.N {
					at := 16 * (i % 100)
					a.Rows(rows, at, at+16, dst, work)
					vec.Round32(narrow, dst)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/value")
			})
		}
	}
}
