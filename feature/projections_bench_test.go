package feature

import (
	"fmt"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func BenchmarkProjections(b *testing.B) {
	for _, c := range []struct {
		cfg     Config
		rows, d int
	}{
		{Config{Map: "rp", Kernel: linear, Features: 1024}, 10000, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024, Options: Options{Sparsity: 3}}, 10000, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024, Options: Options{Sparsity: 7.9}}, 10000, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024, Options: Options{Sparsity: 8}}, 10000, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024, Options: Options{Sparsity: 28}}, 10000, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024}, 1, 784},
		{Config{Map: "rp", Kernel: linear, Features: 1024, Options: Options{Sparsity: 28}}, 1, 784},
		{Config{Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 2000, Options: Options{Pool: 488}}, 10000, 784},
		{Config{Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 2000, Options: Options{Pool: 488, Sparsity: 28}}, 10000, 784},
		{Config{Map: "pk-rp", Kernel: poly(1, 2, 0), Features: 2000, Options: Options{Pool: 488}}, 1, 784},
		{Config{Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 1000, Options: Options{T: 10}}, 2000, 784},
		{Config{Map: "kg-rp", Kernel: rbf, Features: 1000, Options: Options{Pool: 300}}, 2000, 784},
	} {
		x, z := matrix.NewDense(c.rows, c.d), matrix.NewDense(c.rows, c.cfg.Features)
		random.New(1, "bench").FillNormal(x.Data)
		m, err := Fit(b.Context(), c.cfg, matrix.Rows{Dense: x})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s/s=%g/rows=%d", c.cfg.Map, c.cfg.Sparsity, c.rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Transform(z, matrix.Rows{Dense: x})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N*c.rows), "µs/row")
		})
	}
}
