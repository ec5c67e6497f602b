package metric_test

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
)

// Of ten columns the answer depends on two.
func ExampleLearn() {
	r := random.New(1, "example")
	x := matrix.NewDense(1000, 10)
	r.FillNormal(x.Data)
	y := make([]float64, 1000)
	for i := range y {
		row := x.Row(i)
		y[i] = math.Sin(2*float64(row[3])) + float64(row[7])
	}
	learned, err := metric.Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil,
		metric.Options{Kernel: kernel.Matern.Usual(), Landmarks: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, share := range learned.Metric.Relevance() {
		if share > 1 { // the mean is 1
			fmt.Println("column", j)
		}
	}
	rounds := learned.Report.Rounds
	fmt.Println("better than plain distances:", rounds[learned.Report.Best].Error < 0.5*rounds[0].Error)
	// Output:
	// column 3
	// column 7
	// better than plain distances: true
}
