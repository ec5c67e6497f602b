package mercer

import (
	"context"
	"strconv"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// BenchmarkPredictor times one prediction with its label and probabilities, by sorf 4,096 and ten
// classes, beside its parts: the map, and the scores of features; and reading a record in no order, less than which
// no encoder can take.
func BenchmarkPredictor(b *testing.B) {
	for _, d := range []int{16, 784} {
		s := random.New(1, "predictor")
		var x [][]float64
		var labels []string
		for i := range 600 {
			row := make([]float64, d)
			for j := range row {
				row[j] = s.Normal()
			}
			x, labels = append(x, row), append(labels, strconv.Itoa(i%10))
		}
		r, err := Train(context.Background(), Labelled(x, labels),
			Config{Config: train.Config{Map: train.Map{Name: "sorf", Features: 4096}, Learner: train.Logistic{C: 1}}})
		if err != nil {
			b.Fatal(err)
		}
		p, err := NewPredictor(r.Model)
		if err != nil {
			b.Fatal(err)
		}
		row, values, record := x[0], make([]any, d), map[string]any{}
		one := matrix.NewDense(1, d)
		for j, v := range row {
			one.Data[j], values[j], record[strconv.Itoa(j)] = float32(v), v, v
		}
		z, scores := matrix.NewDense(1, 4096), matrix.NewDense(1, 10)
		single := r.Model.Predictor().(interface{ Single() model.Scorer }).Single()
		for _, c := range []struct {
			name string
			work func()
		}{
			{"map", func() { feature.Apply(r.Model.Pipeline().Map(), matrix.Rows{Dense: one}, z, nil) }},
			{"scores", func() { single.Scores(scores, matrix.Rows{Dense: z}) }},
			{"row", func() { p.Row(row) }},
			{"values", func() { p.Values(values...) }},
			{"record", func() { p.Record(record) }},
			{"range", func() {
				sum := 0.0
				for name, v := range record {
					sum += float64(len(name)) + v.(float64)
				}
				scores.Data[0] = float32(sum)
			}},
		} {
			b.Run(strconv.Itoa(d)+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.work()
				}
			})
		}
	}
}
