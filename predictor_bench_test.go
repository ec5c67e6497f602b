package mercer_test

import (
	"context"
	"math/rand"
	"mercer"
	"strconv"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

func BenchmarkOneRow(b *testing.B) {
	n, d := 600, 784
	x := matrix.NewDense(n, d)
	names := make([]string, n)
	for i := range n {
		for j := range d {
			if rand.Float64() < 0.2 {
				x.Row(i)[j] = float32(rand.Intn(256))
			}
		}
		names[i] = strconv.Itoa(i % 10)
	}
	src, _ := dataset.FromRows(matrix.Rows{Dense: x}, nil, 1, names)
	m, _, err := train.Fit(context.Background(), src, train.Config{Map: "sorf", Features: 4096, Learner: "ridge", Lambda: 1, Gamma: "0.0001"}, train.Options{})
	if err != nil {
		b.Fatal(err)
	}
	one := matrix.Rows{Dense: x.Slice(0, 1)}
	scores := matrix.NewDense(1, 10)
	b.Run("scores", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Scores(scores, one)
		}
	})
	z := matrix.NewDense(1, 4096)
	b.Run("pipeline", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Pipeline().Transform(z, one)
		}
	})
	fm := m.Pipeline().Map()
	b.Run("map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			feature.Apply(fm, one, z, nil)
		}
	})
	b.Run("linear", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Predictor().Scores(scores, matrix.Rows{Dense: z})
		}
	})
	row := x.Row(0)
	b.Run("predict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Predict(row)
		}
	})
}

func BenchmarkPredictor(b *testing.B) {
	n, d := 600, 784
	x := matrix.NewDense(n, d)
	names := make([]string, n)
	for i := range n {
		for j := range d {
			if rand.Float64() < 0.2 {
				x.Row(i)[j] = float32(rand.Intn(256))
			}
		}
		names[i] = strconv.Itoa(i % 10)
	}
	src, _ := dataset.FromRows(matrix.Rows{Dense: x}, nil, 1, names)
	m, _, err := train.Fit(context.Background(), src, train.Config{Map: "sorf", Features: 4096, Learner: "logistic", C: 1, Gamma: "0.0001"}, train.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := mercer.NewPredictor(m)
	if err != nil {
		b.Fatal(err)
	}
	row := make([]float64, d)
	vals := make([]any, d)
	rec := map[string]any{}
	for j, v := range x.Row(0) {
		row[j] = float64(v)
		vals[j] = row[j]
		rec[strconv.Itoa(j)] = row[j]
	}
	z := matrix.NewDense(1, 4096)
	b.Run("map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			feature.Apply(m.Pipeline().Map(), matrix.Rows{Dense: x.Slice(0, 1)}, z, nil)
		}
	})
	s := matrix.NewDense(1, 10)
	sc := m.Predictor().(interface{ Single() model.Scorer }).Single()
	b.Run("scores", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sc.Scores(s, matrix.Rows{Dense: z})
		}
	})
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Row(row)
		}
	})
	b.Run("row32", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Row32(x.Row(0))
		}
	})
	b.Run("values", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Values(vals...)
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Record(rec)
		}
	})
}
