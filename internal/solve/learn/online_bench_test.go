package learn

import (
	"fmt"
	"testing"

	"mercer/matrix"
)

// BenchmarkOnline learns rows of 4,096 dense features.
func BenchmarkOnline(b *testing.B) {
	const n, d = 256, 4096
	for _, optimizer := range []string{"sgd", "adagrad"} {
		for _, k := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/outputs=%d", optimizer, k), func(b *testing.B) {
				z, y, _ := stream(1, n, d, k, false)
				for i := range z.Data {
					if z.Data[i] == 0 {
						z.Data[i] = 0.5
					}
				}
				f, err := NewOnline(Online{Optimizer: optimizer, Rate: 0.01, Lambda: 1e-5}, d, k)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					f.Learn(matrix.Rows{Dense: z}, y, nil)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/row")
			})
		}
	}
}
