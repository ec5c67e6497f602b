package feature

import (
	"fmt"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// benchShapes are those of MNIST and of published comparisons, and of few dimensions.
var benchShapes = []struct{ rows, d, features int }{{512, 784, 4096}, {1, 784, 4096}, {256, 1024, 16384}, {4096, 20, 512}, {1, 20, 512}}

func BenchmarkTransform(b *testing.B) {
	for _, cfg := range []Config{
		{Map: "rff"},
		{Map: "rff", Options: Options{Form: "phase"}},
		{Map: "sorf"},
		{Map: "sorf", Options: Options{Form: "phase"}},
		{Map: "fastfood"},
		{Map: "sorf", Kernel: arccos(0)},
		{Map: "sorf", Kernel: arccos(1)},
	} {
		if cfg.Kernel.Name == "" {
			cfg.Kernel = kernel.Kernel{Name: "rbf", Gamma: 0.01}
		}
		for _, c := range benchShapes {
			cfg.Features = c.features
			b.Run(fmt.Sprintf("%s/%s%d/%s/rows=%d/d=%d/D=%d", cfg.Map, cfg.Kernel.Name, cfg.Kernel.Degree, cfg.Form,
				c.rows, c.d, c.features), func(b *testing.B) {
				m, err := New(cfg, c.d)
				if err != nil {
					b.Fatal(err)
				}
				x, z := matrix.NewDense(c.rows, c.d), matrix.NewDense(c.rows, c.features)
				random.New(1, "bench").FillNormal(x.Data)
				b.ReportAllocs()
				for b.Loop() {
					m.Transform(z, matrix.Rows{Dense: x})
				}
				perRow(b, c.rows)
			})
		}
	}
}

// BenchmarkEngine is what the vector engine takes for the work of sorf and fastfood in the
// pair form, 16 rows at a time: what their maps can be measured by.
func BenchmarkEngine(b *testing.B) {
	for _, c := range benchShapes {
		const rows = 16
		n := 1
		for n < c.d {
			n *= 2
		}
		m := c.features / 2
		if m%n != 0 || c.rows == 1 {
			continue
		}
		r := random.New(1, "bench")
		x, z := make([]float32, rows*c.d), make([]float32, rows*c.features)
		r.FillNormal(x)
		d, s := make([]float32, 3*m), make([]float32, m)
		r.FillSigns(d)
		r.FillNormal(s)
		for i := range s {
			s[i] /= float32(n) * float32(n) // so that the waves turn a few times, as in a map
		}
		p := make([]int32, m)
		for i := range p {
			p[i] = int32(r.Intn(n))
		}
		waves := func() {
			for i := range rows {
				z := z[i*c.features:]
				vec.SinCos32(z[m:c.features], z[:m], z[m:c.features], 1)
			}
		}
		b.Run(fmt.Sprintf("HD32+SinCos32/d=%d/D=%d", c.d, c.features), func(b *testing.B) {
			for b.Loop() {
				vec.HD32(rows, n, m, c.d, d, s, x, c.d, z[m:], c.features)
				waves()
			}
			perRow(b, rows)
		})
		work := make([]float32, vec.FastfoodWork(n))
		b.Run(fmt.Sprintf("Fastfood32+SinCos32/d=%d/D=%d", c.d, c.features), func(b *testing.B) {
			for b.Loop() {
				vec.Fastfood32(rows, n, m, c.d, d[:m], p, s, s, x, c.d, z[m:], c.features, work)
				waves()
			}
			perRow(b, rows)
		})
	}
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N*rows), "µs/row")
}

func BenchmarkNew(b *testing.B) {
	for _, name := range []string{"rff", "orf", "sorf", "qmc", "fastfood"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New(Config{Map: name, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.01}, Features: 4096}, 784); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
