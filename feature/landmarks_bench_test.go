package feature

import (
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// BenchmarkNystrom fits to, and transforms, 10,000 rows of 784 uniform numbers with 1,000
// landmarks: what internal/app/bench/page/peers/nystroem.py measures of scikit-learn.
func BenchmarkNystrom(b *testing.B) {
	x := matrix.NewDense(10000, 784)
	r := random.New(1, "bench")
	for i := range x.Data {
		x.Data[i] = float32(r.Uniform())
	}
	rows := matrix.Rows{Dense: x}
	for _, landmarks := range LandmarkChoices()[:5] {
		cfg := Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.01}, Features: 1000, Options: Options{Landmarks: landmarks}}
		b.Run("fit/"+landmarks, func(b *testing.B) {
			for b.Loop() {
				if _, err := Fit(b.Context(), cfg, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	cfg := Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.01}, Features: 1000}
	m, err := Fit(b.Context(), cfg, rows)
	if err != nil {
		b.Fatal(err)
	}
	_, d := m.Dims()
	z := matrix.NewDense(10000, d)
	b.Run("transform", func(b *testing.B) {
		for b.Loop() {
			m.Transform(z, rows)
		}
	})
	w, rank, err := nystromWeights(b.Context(), cfg, m.(*nystrom).at)
	if err != nil {
		b.Fatal(err)
	}
	wide, err := newWeighted(cfg.Kernel, m.(*nystrom).at, w, rank, false)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("transform/float64", func(b *testing.B) {
		for b.Loop() {
			wide.Transform(z, rows)
		}
	})
}
