package feature

import (
	"fmt"
	"testing"

	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
)

func BenchmarkTransform(b *testing.B) {
	for _, c := range []struct{ rows, d, features int }{{512, 784, 4096}, {1, 784, 4096}, {4096, 20, 512}, {1, 20, 512}} {
		for _, form := range []string{"pair", "phase"} {
			b.Run(fmt.Sprintf("%s/rows=%d/d=%d/D=%d", form, c.rows, c.d, c.features), func(b *testing.B) {
				m, err := New(Config{Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.01}, Features: c.features, Options: Options{Form: form}}, c.d)
				if err != nil {
					b.Fatal(err)
				}
				x, z := matrix.NewDense(c.rows, c.d), matrix.NewDense(c.rows, c.features)
				random.New(1, "bench").FillNormal(x.Data)
				b.ReportAllocs()
				for b.Loop() {
					m.Transform(z, matrix.Rows{Dense: x})
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*c.rows), "µs/row")
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, name := range []string{"rff", "orf"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New(Config{Map: name, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.01}, Features: 4096}, 784); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
