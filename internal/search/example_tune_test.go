package search_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"mercer/dataset"
	"mercer/internal/search"
	"mercer/matrix"
	"mercer/train"
)

// A wave that runs across two dimensions: how wide should the kernel be?
func ExampleTune() {
	x, y := matrix.NewDense(400, 2), make([]float64, 400)
	for i := range x.Rows {
		a, b := float64(i%20)/20, float64(i/20)/20
		x.Row(i)[0], x.Row(i)[1] = float32(a), float32(b)
		y[i] = math.Sin(7*a) * math.Cos(5*b)
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	gamma, err := search.ParseAxis("gamma", "0.1,1,10,100")
	if err != nil {
		log.Fatal(err)
	}
	space := search.Space{Base: train.Config{Map: train.Map{Features: 128}, Scale: "none"}, Axes: []search.Axis{gamma}}
	found, err := search.Tune(context.Background(), src, space, search.TuneOptions{Pick: "one-se"})
	if err != nil {
		log.Fatal(err)
	}
	m, _, err := train.Fit(context.Background(), src, found.Picked.Config, train.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d configurations, %d folds, γ = %s\n", len(found.Candidates), found.Splits, found.Picked.Values["gamma"])
	fmt.Printf("%s below 0.05: %t\n", found.Metric, found.Picked.Mean < 0.05)
	fmt.Println(m.Info().Training.Learner)
	// Output:
	// 28 configurations, 5 folds, γ = 10
	// rmse below 0.05: true
	// ridge
}
