package exact_test

import (
	"context"
	"fmt"

	"mercer/internal/solve/exact"
	"mercer/kernel"
	"mercer/matrix"
)

// rings are two classes that no straight line separates: the corners of a square, and its middle.
func rings() (matrix.Rows, []int) {
	x := []float32{1, 1, -1, 1, 1, -1, -1, -1, 0, 0, 0.2, 0, 0, 0.2, -0.2, -0.1}
	return matrix.Rows{Dense: &matrix.Dense{Rows: 8, Cols: 2, Stride: 2, Data: x}}, []int{0, 0, 0, 0, 1, 1, 1, 1}
}

func ExampleFitSVC() {
	x, class := rings()
	c, report, err := exact.FitSVC(context.Background(), kernel.Kernel{Name: "rbf", Gamma: 1}, x, class, 2, exact.SVM{C: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	found := make([]int, x.Len())
	if err := c.Predict(found, x); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found, report.Converged)
	// Output: [0 0 0 0 1 1 1 1] true
}

func ExampleFitFalkon() {
	x, class := rings()
	y := make([]float64, len(class))
	for i, c := range class {
		y[i] = float64(2*c - 1)
	}
	m, _, err := exact.FitFalkon(context.Background(), kernel.Kernel{Name: "rbf", Gamma: 1}, x, y, 1, nil,
		exact.Falkon{Centres: 6, Lambda: 0.01, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := matrix.NewDense(x.Len(), 1)
	if err := m.Scores(scores, x); err != nil {
		fmt.Println(err)
		return
	}
	for i := range x.Len() {
		fmt.Print(scores.Row(i)[0] > 0, " ")
	}
	// Output: false false false false true true true true
}
