package metric_test

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/metric"
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
	m, report, err := metric.Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil,
		metric.Options{Kernel: kernel.Matern.Usual(), Landmarks: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, share := range m.Relevance() {
		if share > 1 { // the mean is 1
			fmt.Println("column", j)
		}
	}
	fmt.Println("better than plain distances:", report.Rounds[report.Best].Error < 0.5*report.Rounds[0].Error)
	// Output:
	// column 3
	// column 7
	// better than plain distances: true
}
