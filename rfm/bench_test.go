package rfm

import (
	"context"
	"math"
	"testing"

	"mercer/internal/random"
	"mercer/matrix"
)

// table makes rows of d normal numbers with an answer that depends on few of them.
func table(n, d int, seed uint64) (*matrix.Dense, []float64) {
	r := random.New(seed, "rfm.table")
	x := matrix.NewDense(n, d)
	r.FillNormal(x.Data)
	y := make([]float64, n)
	for i := range y {
		row := x.Row(i)
		y[i] = math.Sin(2*float64(row[0])) + float64(row[1]*row[2]) + 0.5*math.Abs(float64(row[3])) + 0.1*r.Normal()
	}
	return x, y
}

func BenchmarkFit(b *testing.B) {
	x, y := table(13_000, 18, 1)
	for b.Loop() {
		if _, _, err := Fit(context.Background(), x, y, 1, nil, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
