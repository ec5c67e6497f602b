package approx_test

import (
	"context"
	"fmt"

	"mercer/feature"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

// How far are random Fourier features from the rbf kernel on these rows, and how many do an error of
// 0.03 take?
func Example() {
	x := matrix.NewDense(100, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = float32(i%10)/5, float32(i/10)/5
	}
	rows := approx.Rows{Judge: matrix.Rows{Dense: x}}
	rff := approx.Candidate{
		Config:   feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}},
		Features: []int{64, 256, 1024},
	}
	result, err := approx.Measure(context.Background(), rows, []approx.Candidate{rff}, approx.Options{Seeds: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	curve := result.Curves[0]
	for _, p := range curve.Points {
		fmt.Printf("D = %4d: error %.3f ± %.3f\n", p.Features, p.MeanAbs.Mean, p.MeanAbs.SD)
	}
	fmt.Printf("it falls like D^(%.2f ± %.2f)\n", curve.Rate.Exponent, *curve.Rate.SE)

	best, err := approx.Recommend(context.Background(), rows, result, approx.Goal{Error: 0.03}, approx.Options{Seeds: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("D = %d: error %.3f\n", best.Features, best.Error)
	// Output:
	// D =   64: error 0.079 ± 0.026
	// D =  256: error 0.037 ± 0.015
	// D = 1024: error 0.017 ± 0.007
	// it falls like D^(-0.56 ± 0.04)
	// D = 440: error 0.029
}

// An estimate of a polynomial kernel tells the product of two rows, and with their lengths the rbf kernel.
func ExampleConversion() {
	c, err := approx.NewConversion(kernel.Kernel{Name: "poly", Gamma: 1, Degree: 3}, kernel.Kernel{Name: "rbf", Gamma: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	// x = (1, 2), y = (2, 1): (x·y)³ = 64, ‖x‖² = ‖y‖² = 5 and exp(-½‖x-y‖²) = exp(-1).
	value, sure := c.Value(64, 5, 5)
	fmt.Printf("%.4f %t\n", value, sure)
	// Output: 0.3679 true
}

// How good are estimates of the rbf kernel that are made from those of a polynomial one? Those of near rows and those of their lengths err
// alike, so that with the map's own lengths errors cancel. The command is mercer approx --convert rbf.
func ExampleConvert() {
	x := matrix.NewDense(50, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = float32(i%10)/10, float32(i/10)/5
	}
	sketch := approx.Candidate{
		Config:   feature.Config{Map: "tensorsketch", Kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2, Coef0: 1}},
		Features: []int{16},
	}
	converted, err := approx.Convert(context.Background(), approx.Rows{Judge: matrix.Rows{Dense: x}}, []approx.Candidate{sketch},
		kernel.Kernel{Name: "rbf", Gamma: 1}, approx.Options{Seeds: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := converted[0]
	fmt.Printf("poly: %.3f\n", c.Own.MeanAbs.Mean)
	fmt.Printf("rbf: %.3f by lengths of rows, %.3f by those of the map\n", c.ByRows.MeanAbs.Mean, c.ByMap.MeanAbs.Mean)
	// Output:
	// poly: 0.661
	// rbf: 0.502 by lengths of rows, 0.014 by those of the map
}
