package hypothesis_test

import (
	"context"
	"fmt"

	"mercer/internal/engine/hypothesis"
)

// Four methods on six data sets: do they differ, and which from the first?
func ExampleFriedman() {
	accuracy := [][]float64{ // a row a data set, a column a method
		{0.91, 0.88, 0.90, 0.85},
		{0.78, 0.74, 0.75, 0.70},
		{0.99, 0.97, 0.98, 0.97},
		{0.66, 0.67, 0.61, 0.60},
		{0.84, 0.80, 0.83, 0.81},
		{0.95, 0.93, 0.94, 0.90},
	}
	f, err := hypothesis.Friedman(accuracy, true)
	if err != nil {
		panic(err)
	}
	fmt.Printf("mean ranks %.2f\n", f.Ranks)
	fmt.Printf("χ² = %.2f, p = %.4f; F = %.2f, p = %.5f\n", f.ChiSquare, f.P, f.F, f.FP)

	cd := f.NemenyiDifference(0.05)
	fmt.Printf("critical difference %.2f, groups %v\n", cd, hypothesis.Groups(f.Ranks, cd))

	var p []float64
	for method := 1; method < f.Methods; method++ {
		_, v := f.Compare(0, method)
		p = append(p, v)
	}
	fmt.Printf("against the first, Holm: %.3f\n", hypothesis.Holm(p))
	// Output:
	// mean ranks [1.17 2.92 2.17 3.75]
	// χ² = 13.27, p = 0.0041; F = 14.03, p = 0.00013
	// critical difference 1.91, groups [[0 2 1] [2 1 3]]
	// against the first, Holm: [0.038 0.180 0.002]
}

// Two classifiers on the same 60 rows: 1 is an error.
func ExamplePairedBootstrap() {
	a, b := make([]float64, 60), make([]float64, 60)
	onlyA, onlyB := 0, 0 // rows that one has right and the other wrong
	for i := range a {
		if i%3 == 0 {
			a[i] = 1
		}
		if i%5 == 0 {
			b[i] = 1
		}
		switch {
		case a[i] < b[i]:
			onlyA++
		case a[i] > b[i]:
			onlyB++
		}
	}
	d, err := hypothesis.PairedBootstrap(context.Background(), a, b, 2000, 1)
	if err != nil {
		panic(err)
	}
	low, high := d.BCa(0.95)
	fmt.Printf("the share of errors of a is %.3f above that of b, 95 %% interval [%.3f, %.3f]\n", d.Estimate, low, high)
	fmt.Printf("McNemar: p = %.3f\n", hypothesis.McNemar(onlyA, onlyB).P)
	// Output:
	// the share of errors of a is 0.133 above that of b, 95 % interval [-0.033, 0.283]
	// McNemar: p = 0.152
}
