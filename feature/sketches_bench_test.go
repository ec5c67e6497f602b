package feature

import (
	"fmt"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// Dense rows as in the images of MNIST, sparse ones as in texts.
func BenchmarkSketches(b *testing.B) {
	run := func(name string, cfg Config, x matrix.Rows) {
		cfg.Map = name
		if cfg.Complex {
			name += "-complex"
		}
		b.Run(fmt.Sprintf("%s/p=%d/rows=%d/d=%d/D=%d/sparse=%t", name, cfg.Kernel.Degree, x.Len(), x.Dim(), cfg.Features,
			x.CSR != nil), func(b *testing.B) {
			m, err := New(cfg, x.Dim())
			if err != nil {
				b.Fatal(err)
			}
			_, out := m.Dims()
			z := matrix.NewDense(x.Len(), out)
			b.ReportAllocs()
			for b.Loop() {
				m.Transform(z, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N*x.Len()), "µs/row")
		})
	}
	dense := matrix.NewDense(512, 784)
	random.New(1, "bench").FillNormal(dense.Data)
	images := matrix.Rows{Dense: dense}
	texts := matrix.Rows{CSR: sparseRows(512, 20_000, 100)}
	for _, degree := range []int{2, 3} {
		k := kernel.Kernel{Name: "poly", Gamma: 0.01, Degree: degree}
		for _, name := range []string{"tensorsketch", "tensorsrht", "maclaurin"} {
			run(name, Config{Kernel: k, Features: 4096}, images)
			if name != "tensorsketch" {
				run(name, Config{Kernel: k, Features: 4096, Options: Options{Complex: true}}, images)
			}
		}
		run("tensorsketch", Config{Kernel: k, Features: 1024}, texts)
		run("tensorsrht", Config{Kernel: k, Features: 1024}, texts)
	}
	k := kernel.Kernel{Name: "poly", Gamma: 0.01, Degree: 2}
	run("tensorsketch", Config{Kernel: k, Features: 4096}, images.Slice(0, 1))
	run("tensorsketch", Config{Kernel: k, Features: 1024}, texts.Slice(0, 1))
	run("maclaurin", Config{Kernel: kernel.Kernel{Name: "exp", Gamma: 0.01}, Features: 4096}, images)
	run("countsketch", Config{Kernel: kernel.Kernel{Name: "linear"}, Features: 1024}, texts)
	run("countsketch", Config{Kernel: kernel.Kernel{Name: "linear"}, Features: 1024}, images)
	run("explicit-poly", Config{Kernel: k}, matrix.Rows{Dense: dense.Columns(0, 64)})
	k.Degree = 3
	run("explicit-poly", Config{Kernel: k}, matrix.Rows{Dense: dense.Columns(0, 20)})
}

// sparseRows returns n rows of d dimensions with nnz elements that are not 0, one in each of
// nnz parts of the dimensions.
func sparseRows(n, d, nnz int) *matrix.CSR {
	r := random.New(2, "bench")
	m := &matrix.CSR{Rows: n, Cols: d, Ptr: []int{0}}
	for range n {
		for k := range nnz {
			m.Idx = append(m.Idx, int32(k*(d/nnz)+r.Intn(d/nnz)))
			m.Val = append(m.Val, float32(r.Normal()))
		}
		m.Ptr = append(m.Ptr, len(m.Val))
	}
	return m
}
