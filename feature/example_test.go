package feature_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Products of features approximate the kernel.
func ExampleNew() {
	m, err := feature.New(feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}, Features: 8192, Seed: 1}, 2)
	if err != nil {
		log.Fatal(err)
	}
	x := &matrix.Dense{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, 0, 1, 1}}
	_, d := m.Dims()
	z := matrix.NewDense(2, d)
	m.Transform(z, matrix.Rows{Dense: x})
	product := 0.0
	for j, v := range z.Row(0) {
		product += float64(v) * float64(z.Row(1)[j])
	}
	exact := math.Exp(-0.5 * 2)
	fmt.Printf("within 0.02 of %.3f: %t\n", exact, math.Abs(product-exact) < 0.02)
	// Output: within 0.02 of 0.368: true
}

// A map that is fitted to rows keeps some of them: its State makes it again.
func ExampleFit() {
	sample := matrix.NewDense(50, 2)
	for i := range sample.Rows {
		sample.Row(i)[0], sample.Row(i)[1] = float32(i%7), float32(i%5)
	}
	cfg := feature.Config{Map: "korp", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.1}, Features: 16,
		Options: feature.Options{Pool: 20}, Seed: 1}
	m, err := feature.Fit(context.Background(), cfg, matrix.Rows{Dense: sample})
	if err != nil {
		log.Fatal(err)
	}
	again, err := feature.Restore(cfg, 2, m.(feature.Fitted).State())
	if err != nil {
		log.Fatal(err)
	}
	a, b := matrix.NewDense(50, 16), matrix.NewDense(50, 16)
	m.Transform(a, matrix.Rows{Dense: sample})
	again.Transform(b, matrix.Rows{Dense: sample})
	fmt.Println(slices.Equal(a.Data, b.Data))
	// Output: true
}

// Wide sparse rows are shortened before a map whose time grows with the dimensions.
func ExampleNew_chain() {
	m, err := feature.New(feature.Config{Map: "chain", Seed: 1, Steps: []feature.Config{
		{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}, Features: 1024},
		{Map: "sorf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}, Features: 4096},
	}}, 1_000_000)
	if err != nil {
		log.Fatal(err)
	}
	in, out := m.Dims()
	fmt.Printf("%d dimensions to %d features, %d MB\n", in, out, m.Bytes()>>20)
	// Output: 1000000 dimensions to 4096 features, 3 MB
}

// Centres of clusters as landmarks: 30 features have nearly all of the kernel on rows that lie
// along a curve.
func ExampleFit_nystrom() {
	x := matrix.NewDense(500, 2)
	for i := range x.Rows {
		t := float64(i) / 50
		x.Row(i)[0], x.Row(i)[1] = float32(math.Cos(t)*t), float32(math.Sin(t)*t)
	}
	k := kernel.Kernel{Name: "rbf", Gamma: 0.2}
	m, err := feature.Fit(context.Background(), feature.Config{Map: "nystrom", Kernel: k, Features: 30, Seed: 1,
		Options: feature.Options{Landmarks: "kmeans"}}, matrix.Rows{Dense: x})
	if err != nil {
		log.Fatal(err)
	}
	z := matrix.NewDense(500, 30)
	m.Transform(z, matrix.Rows{Dense: x})
	product := 0.0
	for j, v := range z.Row(100) {
		product += float64(v) * float64(z.Row(120)[j])
	}
	fmt.Println(m.(feature.Chooser).Chosen())
	fmt.Printf("%.2f, the kernel is %.2f\n", product, k.Eval(x.Row(100), x.Row(120)))
	// Output:
	// rank 30 of 30 landmarks
	// 0.83, the kernel is 0.83
}
