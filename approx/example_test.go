package approx_test

import (
	"context"
	"fmt"

	"mercer/approx"
	"mercer/feature"
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
