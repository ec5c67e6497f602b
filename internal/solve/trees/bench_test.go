package trees

import (
	"fmt"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func BenchmarkAdd(b *testing.B) {
	draw := random.New(1, "trees.bench")
	const n, d = 1000, 16
	t := &Trees{Dim: d, Outputs: 1, Start: []float64{0}}
	for range n {
		for range Levels {
			t.Columns, t.Thresholds = append(t.Columns, int32(draw.Uniform()*d)), append(t.Thresholds, float32(draw.Normal()))
		}
		for range Leaves {
			t.Values = append(t.Values, float32(draw.Normal()))
		}
	}
	for _, rows := range []int{1, 256} {
		x := matrix.NewDense(rows, d)
		draw.FillNormal(x.Data)
		sums := make([]float64, rows)
		b.Run(fmt.Sprintf("%d rows", rows), func(b *testing.B) {
			for b.Loop() {
				t.Add(sums, x, 0.5)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
