package kernel_test

import (
	"fmt"
	"strings"

	"mercer/kernel"
	"mercer/matrix"
)

// The Gram matrix is computed a few rows at a time, so it never has to fit into memory.
func ExampleNewGram() {
	points := matrix.Rows{Dense: &matrix.Dense{Rows: 3, Cols: 1, Stride: 1, Data: []float32{0, 1, 3}}}
	gram, err := kernel.NewGram(kernel.Kernel{Name: "rbf", Gamma: 0.5}, points, points)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, m := gram.Dims()
	row := make([]float64, m)
	for i := range n {
		gram.Rows(i, i+1, row)
		fmt.Printf("%.3f\n", row)
	}
	// Output:
	// [1.000 0.607 0.011]
	// [0.607 1.000 0.135]
	// [0.011 0.135 1.000]
}

// Rows that nearly agree keep their distance, which values near 1 have lost.
func ExampleKernel_Distance2() {
	k := kernel.Kernel{Name: "matern", Gamma: 1e-6, Nu: 2.5}
	x, y := []float32{1, 2}, []float32{1, 2.00001}
	fmt.Printf("%.4g\n", k.Distance2(x, y))
	fmt.Printf("%.4g\n", k.Eval(x, x)+k.Eval(y, y)-2*k.Eval(x, y))
	// Output:
	// 3.342e-16
	// 4.441e-16
}

// What a kernel is called elsewhere is told, and what it has.
func ExampleFind() {
	_, err := kernel.Find("matern32")
	fmt.Println(strings.Split(err.Error(), "; known")[0])
	kind, err := kernel.Find("matern")
	if err != nil {
		fmt.Println(err)
		return
	}
	k := kind.Usual()
	k.Gamma = 0.5
	fmt.Println(kind.About())
	fmt.Println(k)
	// Output:
	// kernel: "matern32" is not a kernel; it is matern with nu 1.5
	// functions with about ν derivatives; ν = ½: exp(-r)
	// matern, ν = 1.5, γ = 0.5
}
