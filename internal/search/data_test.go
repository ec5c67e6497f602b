package search

import (
	"math"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// made is a source of n rows of d numbers, each with a target.
func made(t testing.TB, n, d int, target func(r *random.Stream, x []float32) float64) dataset.Source {
	t.Helper()
	r := random.New(7, "made")
	x, y := matrix.NewDense(n, d), make([]float64, n)
	for i := range n {
		y[i] = target(r, x.Row(i))
	}
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func draw(t testing.TB, src dataset.Source, n int, task string) *Sample {
	t.Helper()
	s, err := Draw(t.Context(), src, n, task, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// linearRow is of two classes, told apart by a plane but for noise.
func linearRow(r *random.Stream, x []float32) float64 {
	sum := 0.3 * r.Normal()
	for j := range x {
		x[j] = float32(r.Normal())
		sum += float64(x[j])
	}
	if sum > 0 {
		return 1
	}
	return 0
}

// histogramRow is a histogram of few counts in many bins; the classes have slightly different
// shares of the bins.
func histogramRow(r *random.Stream, x []float32) float64 {
	class := r.Intn(2)
	for range 60 {
		bin := int(float64(len(x)) * math.Pow(r.Uniform(), 1.5+0.45*float64(class)))
		x[bin] += 1.0 / 60
	}
	return float64(class)
}

// ringRow is of two classes by the distance from the middle.
func ringRow(r *random.Stream, x []float32) float64 {
	square := 0.0
	for j := range x {
		x[j] = float32(r.Normal())
		square += float64(x[j]) * float64(x[j])
	}
	if square > 0.7*float64(len(x)) {
		return 1
	}
	return 0
}
