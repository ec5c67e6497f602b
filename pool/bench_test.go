package pool

import (
	"fmt"
	"testing"

	"mercer/internal/random"
	"mercer/matrix"
)

// The sizes of the thesis's table 5.1: fire9 of SqueezeNet, 13×13 locations of 512 channels, after
// its rectifier, so that about half of the numbers are 0.
func descriptors(locations, channels int) *matrix.Dense {
	r := random.New(1, "bench")
	x := matrix.NewDense(locations, channels)
	for i := range x.Data {
		x.Data[i] = max(0, float32(r.Normal()))
	}
	return x
}

func benchmarked() []Config {
	return []Config{
		{Method: "full"},
		{Method: "tensorsketch", Features: 5000},
		{Method: "tensorsketch", Features: 4096},
		{Method: "cbp-krp", Features: 5000, Pool: 5000, T: 2, Sparsity: 100},
		{Method: "maclaurin", Features: 5000},
	}
}

func BenchmarkPool(b *testing.B) {
	for _, cfg := range benchmarked() {
		for _, norm := range []string{"none", "root-l2"} {
			for _, locations := range []int{1, 169} {
				cfg.Norm = norm
				b.Run(fmt.Sprintf("%s-%d/%s/%dx512", cfg.Method, cfg.Features, norm, locations), func(b *testing.B) {
					p := build1(b, cfg, 512)
					_, features := p.Dims()
					x, dst := descriptors(locations, 512), matrix.NewDense(1, features)
					b.ReportAllocs()
					for b.Loop() {
						p.Pool(dst, matrix.Rows{Dense: x}, []int{0, locations})
					}
				})
			}
		}
	}
}

func BenchmarkBackward(b *testing.B) {
	for _, cfg := range benchmarked() {
		b.Run(fmt.Sprintf("%s-%d", cfg.Method, cfg.Features), func(b *testing.B) {
			p := build1(b, cfg, 512)
			_, features := p.Dims()
			x := descriptors(169, 512)
			dx, dout := matrix.NewDense(169, 512), normals(random.New(2, "bench"), 1, features)
			b.ReportAllocs()
			for b.Loop() {
				p.Backward(dx, x, []int{0, 169}, dout)
			}
		})
	}
}
