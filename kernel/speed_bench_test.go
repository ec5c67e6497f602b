package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mercer/internal/vec"
	"mercer/matrix"
)

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
