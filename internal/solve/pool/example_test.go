package pool_test

import (
	"fmt"
	"log"

	"mercer/internal/solve/pool"
	"mercer/matrix"
)

// Two images whose locations have the same mean, but other products of channels.
func ExamplePooling_Pool() {
	x := &matrix.Dense{Rows: 4, Cols: 2, Stride: 2, Data: []float32{
		1, 1,
		-1, -1,
		1, -1,
		-1, 1,
	}}
	p, err := pool.New(pool.Config{Method: "full", Norm: "l2"}, 2)
	if err != nil {
		log.Fatal(err)
	}
	_, features := p.Dims()
	y := matrix.NewDense(2, features)
	p.Pool(y, matrix.Rows{Dense: x}, []int{0, 2, 4})
	fmt.Println(y.Row(0), y.Row(1))
	// Output: [0.5 0.5 0.5 0.5] [0.5 -0.5 -0.5 0.5]
}

// A step against the gradient of a loss through compact pooling makes the loss smaller.
func ExamplePooling_Backward() {
	p, err := pool.New(pool.Config{Method: "cbp-krp", Features: 8, Seed: 1}, 3)
	if err != nil {
		log.Fatal(err)
	}
	x := &matrix.Dense{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 2, 0, 1}}
	bags := []int{0, 2} // one bag of two vectors
	y, dx := matrix.NewDense(1, 8), matrix.NewDense(2, 3)
	slope := &matrix.Dense{Rows: 1, Cols: 8, Stride: 8, Data: []float32{1, 0, 0, 0, 0, 0, 0, 0}} // the loss is y_0

	p.Pool(y, matrix.Rows{Dense: x}, bags)
	before := y.Data[0]
	p.Backward(dx, x, bags, slope)
	for i, g := range dx.Data {
		x.Data[i] -= 0.1 * g
	}
	p.Pool(y, matrix.Rows{Dense: x}, bags)
	fmt.Println("smaller:", y.Data[0] < before)
	// Output: smaller: true
}
