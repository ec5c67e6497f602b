package feature_test

import (
	"fmt"
	"log"
	"math"

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
