package feature

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// BenchmarkAdditive maps rows of 300 positive numbers; it reports nanoseconds for each feature.
func BenchmarkAdditive(b *testing.B) {
	const rows, dim = 2000, 300
	x := matrix.NewDense(rows, dim)
	random.New(1, "bench").FillNormal(x.Data)
	for i, v := range x.Data {
		x.Data[i] = float32(math.Abs(float64(v)))
	}
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"homogeneous5", Config{Map: "homogeneous", Kernel: chi2, Options: Options{Period: 0.6}}},
		{"homogeneous21", Config{Map: "homogeneous", Kernel: chi2, Options: Options{Period: 0.3, Terms: 21}}},
		{"chebyshev6", Config{Map: "chebyshev", Kernel: chi2, Options: Options{Terms: 6, Stretch: 2}}},
		{"elementary6", Config{Map: "elementary", Kernel: chi2, Options: Options{Terms: 6, Stretch: 2}}},
		{"chebyshev20", Config{Map: "chebyshev", Kernel: chi2, Options: Options{Terms: 20, Stretch: 2}}},
		{"elementary20", Config{Map: "elementary", Kernel: chi2, Options: Options{Terms: 20, Stretch: 2}}},
		{"homogeneous5h2", Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "chi2", Homogeneity: 2}, Options: Options{Period: 0.6}}},
		{"unary20", Config{Map: "unary", Kernel: intersection, Options: Options{Stretch: 0.25}}},
		{"skewed512", Config{Map: "skewed", Kernel: kernel.Kernel{Name: "skewed-chi2", Coef0: 1}, Features: 512}},
	} {
		m, err := New(c.cfg, dim)
		if err != nil {
			b.Fatal(err)
		}
		_, out := m.Dims()
		b.Run(c.name, func(b *testing.B) {
			z := matrix.NewDense(rows, out)
			for b.Loop() {
				m.Transform(z, matrix.Rows{Dense: x})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/float64(out), "ns/feature")
		})
		if s, ok := m.(Sparse); ok && c.name == "unary20" {
			b.Run(c.name+"sparse", func(b *testing.B) {
				var z matrix.CSR
				for b.Loop() {
					s.TransformSparse(&z, matrix.Rows{Dense: x})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/float64(out), "ns/feature")
			})
		}
	}
}
