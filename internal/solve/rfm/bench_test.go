package rfm

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
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

// One row to its score, by two machines of 2,500 landmarks: what a server does for a record.
func BenchmarkScoreOfOneRow(b *testing.B) {
	x, y := table(5000, 16, 1)
	m, _, err := Fit(context.Background(), x, y, 1, nil, Options{Seed: 1, Leaf: 5000, Centres: 2500, Members: 2,
		Kinds: []Kind{{kernel.RBF.Usual(), "diagonal"}, {kernel.Laplacian.Usual(), "diagonal"}}})
	if err != nil {
		b.Fatal(err)
	}
	one, score := x.Slice(0, 1), matrix.NewDense(1, 1)
	b.ReportMetric(float64(m.Centres()), "landmarks")
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Scores(score, matrix.Rows{Dense: one}); err != nil {
			b.Fatal(err)
		}
	}
}
