package reduce_test

import (
	"context"
	"fmt"

	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/reduce"
	"mercer/matrix"
)

// Of three classes there are two discriminants. The third column, which varies most, says nothing about them.
func ExampleLDA() {
	z := &matrix.Dense{Rows: 12, Cols: 3, Stride: 3, Data: []float32{
		0, 0, 9, 1, 0, -9, 0, 1, 9, 1, 1, -9,
		5, 0, 9, 6, 0, -9, 5, 1, 9, 6, 1, -9,
		0, 5, 9, 1, 5, -9, 0, 6, 9, 1, 6, -9}}
	const classes = 3
	y := make([]float64, z.Rows*classes)
	for i := range z.Rows {
		learn.Target(y[i*classes:][:classes], i/4)
	}
	s := moments.New(z.Cols, classes)
	s.Add(z, y, nil)
	p, _, err := reduce.LDA{Shrinkage: 0.01}.Fit(context.Background(), s.Moments())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, k := p.Dims()
	out := matrix.NewDense(z.Rows, k)
	p.Transform(out, matrix.Rows{Dense: z}, &matrix.Dense{})
	for i := range z.Rows {
		if i%4 == 0 {
			fmt.Printf("class %d: %5.1f\n", i/4, out.Row(i))
		}
	}
	// Output:
	// class 0: [ -1.4  -4.2]
	// class 1: [  7.0   0.4]
	// class 2: [ -4.7   1.9]
}
