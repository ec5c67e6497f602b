package learn

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// spots are rows around k points far from each other, the first with most rows, and their points.
func spots(n, k int, seed uint64) (*matrix.Dense, []int) {
	r := random.New(seed, "spots")
	x, of := matrix.NewDense(n, 3), make([]int, n)
	for i := range n {
		of[i] = min(r.Intn(k+1), k-1)
		for j := range 3 {
			x.Row(i)[j] = float32(100*of[i]*(1+j) + 1000)
			x.Row(i)[j] += float32(r.Normal())
		}
	}
	return x, of
}

// The model tells rows by the nearest centre, all at once as in batches of rows beside a sample, dense or sparse.
func TestKMeansTellsGroups(t *testing.T) {
	for _, k := range []int{2, 5} {
		x, of := spots(4000, k, uint64(k))
		for _, bytes := range []int64{0, 12 * 400} {
			l, report, err := FitKMeans(context.Background(), InMemory(matrix.Rows{Dense: x}), nil, KMeans{Clusters: k, Bytes: bytes, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if sampled := report.Sample > 0; sampled != (bytes > 0) || report.Explained < 0.99 {
				t.Errorf("%d clusters: %+v", k, report)
			}
			scores := matrix.NewDense(x.Rows, len(l.B))
			l.Scores(scores, matrix.Rows{Dense: x})
			cluster, sizes := map[int]int{}, make([]float64, k)
			inertia, sums := 0.0, make([][3]float64, k)
			for i := range x.Rows {
				p := Predicted(scores.Row(i))
				if want, ok := cluster[of[i]]; ok && p != want {
					t.Fatalf("%d clusters: row %d of group %d is in %d, others are in %d", k, i, of[i], p, want)
				}
				cluster[of[i]] = p
				sizes[p]++
				for j, v := range x.Row(i) {
					sums[p][j] += float64(v)
				}
			}
			for i := range x.Rows {
				p := cluster[of[i]]
				for j, v := range x.Row(i) {
					d := float64(v) - sums[p][j]/sizes[p]
					inertia += d * d
				}
			}
			for p := range k {
				if sizes[p] != report.Sizes[p] || p > 0 && sizes[p] > sizes[p-1] {
					t.Errorf("sizes %v, reported %v", sizes, report.Sizes)
				}
			}
			if math.Abs(report.Inertia-inertia) > 0.02*inertia {
				t.Errorf("%d clusters: inertia %g, want %g", k, report.Inertia, inertia)
			}
		}
	}
	same := matrix.NewDense(20, 2)
	same.Row(3)[0] = 1
	if _, _, err := FitKMeans(context.Background(), InMemory(matrix.Rows{Dense: same}), nil, KMeans{Clusters: 3}); err == nil ||
		!strings.Contains(err.Error(), "3 clusters of 2 different rows") {
		t.Errorf("error %v", err)
	}
}

// A row of weight 3 is three rows.
func TestKMeansTakesWeights(t *testing.T) {
	x := &matrix.Dense{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 4, 100, 110}}
	l, report, err := FitKMeans(context.Background(), InMemory(matrix.Rows{Dense: x}), []float64{1, 3, 1, 1}, KMeans{Clusters: 2})
	if err != nil {
		t.Fatal(err)
	}
	// Centres 3 and 105: the score is (105² - 3²)/2 subtracted from 102·x.
	if l.W.Data[0] != 102 || l.B[0] != -(105*105-9)/2.0 || report.Sizes[0] != 4 || report.Inertia < 61 || report.Inertia > 63 {
		t.Errorf("%v, %v, %+v", l.W.Data, l.B, report)
	}
}
