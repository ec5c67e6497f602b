package pool

import (
	"fmt"
	"math"
	"testing"
	"time"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// The sizes of the thesis's table 5.1: fire9 of SqueezeNet, 13×13 locations of 512 channels, and
// incept-4e of GoogLeNet, 14×14 of 832. MERCER_CPU chooses the instructions.

// descriptors are like those behind a rectifier: about half of the numbers are 0.
func descriptors(locations, channels int) *matrix.Dense {
	r := random.New(1, "bench")
	x := matrix.NewDense(locations, channels)
	for i := range x.Data {
		x.Data[i] = max(0, float32(r.Normal()))
	}
	return x
}

var thesis = []Config{
	{Method: "full"},
	{Method: "tensorsketch", Features: 5000},
	{Method: "cbp-krp", Features: 5000, Pool: 5000, T: 2, Sparsity: 100},
	{Method: "maclaurin", Features: 5000},
}

func benchmarkPool(b *testing.B, name string, cfg Config, locations, channels int) {
	b.Run(fmt.Sprintf("%s/%s/%dx%d", cfg.Method, name, locations, channels), func(b *testing.B) {
		p := build1(b, cfg, channels)
		_, features := p.Dims()
		x, dst := descriptors(locations, channels), matrix.NewDense(1, features)
		bags := []int{0, locations}
		best(b, func() { p.Pool(dst, matrix.Rows{Dense: x}, bags) })
		b.ReportMetric(float64(p.Bytes()), "held-bytes") // b.Loop forgets what was reported before
	})
}

// best also reports the fastest call, which on a busy machine says more than the mean.
func best(b *testing.B, f func()) {
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Nanoseconds()), "best-ns/op")
}

func BenchmarkPool(b *testing.B) {
	for _, cfg := range thesis {
		for _, locations := range []int{1, 49, 169, 784} {
			benchmarkPool(b, "thesis", cfg, locations, 512)
		}
		benchmarkPool(b, "thesis", cfg, 196, 832)
		cfg.Norm = "none"
		benchmarkPool(b, "none", cfg, 169, 512)
	}
}

// What table 5.1 says of the cost is in d, k (here D), p (here m), s and t.
func BenchmarkSizes(b *testing.B) {
	for _, channels := range []int{128, 256, 1024} {
		for _, cfg := range thesis {
			benchmarkPool(b, "d", cfg, 169, channels)
		}
	}
	for _, features := range []int{1250, 2500, 4096, 10000} {
		for _, cfg := range thesis[1:] {
			cfg.Features = features
			benchmarkPool(b, fmt.Sprint("D=", features), cfg, 169, 512)
		}
	}
	for _, m := range []int{1250, 2500, 10000} {
		cfg := thesis[2]
		cfg.Pool = m
		benchmarkPool(b, fmt.Sprint("m=", m), cfg, 169, 512)
	}
	for _, s := range []float64{1, 10, 25, 50, 200} {
		cfg := thesis[2]
		cfg.Sparsity = s
		benchmarkPool(b, fmt.Sprint("s=", s), cfg, 169, 512)
	}
	for _, t := range []int{1, 4} {
		cfg := thesis[2]
		cfg.T = t
		benchmarkPool(b, fmt.Sprint("t=", t), cfg, 169, 512)
	}
}

func BenchmarkBackward(b *testing.B) {
	for _, cfg := range thesis {
		for _, locations := range []int{1, 49, 169} {
			b.Run(fmt.Sprintf("%s/%dx512", cfg.Method, locations), func(b *testing.B) {
				p := build1(b, cfg, 512)
				_, features := p.Dims()
				x := descriptors(locations, 512)
				dx, dout := matrix.NewDense(locations, 512), normals(random.New(2, "bench"), 1, features)
				bags := []int{0, locations}
				best(b, func() { p.Backward(dx, x, bags, dout) })
			})
		}
	}
}

// The scores of 200 classes on a pooled row.
func BenchmarkClassifier(b *testing.B) {
	for _, features := range []int{5000, 512 * 512} {
		b.Run(fmt.Sprint(features), func(b *testing.B) {
			const classes = 200
			weights, y := normals(random.New(1, "bench"), classes, features), normals(random.New(2, "bench"), 1, features).Data
			scores := make([]float32, classes)
			best(b, func() {
				for k := range scores {
					scores[k] = vec.Dot32(weights.Row(k), y)
				}
			})
			b.ReportMetric(float64(4*len(weights.Data)), "held-bytes")
		})
	}
}
