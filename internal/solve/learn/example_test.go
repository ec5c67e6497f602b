package learn_test

import (
	"context"
	"fmt"

	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// Linear discriminants of three classes from the statistics of one pass; of features z(x) they are those of a kernel.
func ExampleFitLDA() {
	z := &matrix.Dense{Rows: 9, Cols: 2, Stride: 2, Data: []float32{0, 0, 1, 0, 0, 1, 5, 0, 6, 0, 5, 1, 0, 5, 1, 5, 0, 6}}
	const classes = 3
	y := make([]float64, z.Rows*classes)
	for i := range z.Rows {
		learn.Target(y[i*classes:][:classes], i/3)
	}
	s := moments.New(z.Cols, classes)
	s.Add(z, y, nil)
	l, report, err := learn.FitLDA(context.Background(), s, learn.LDA{Shrinkage: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Lines()[0])
	rows := &matrix.Dense{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 1, 4, 1, 1, 4}}
	scores := matrix.NewDense(rows.Rows, classes)
	l.Scores(scores, matrix.Rows{Dense: rows})
	for i := range rows.Rows {
		fmt.Println(rows.Row(i), "is of class", learn.Predicted(scores.Row(i)))
	}
	// Output:
	// linear discriminants, shrinkage 0.1 (given), priors the shares of the classes
	// [1 1] is of class 0
	// [4 1] is of class 1
	// [1 4] is of class 2
}
