package cluster

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// On a few rows the best of many starts is almost always the best of all partitions.
func TestKMeansFindsTheBestPartition(t *testing.T) {
	found := 0
	for seed := range uint64(10) {
		r := random.New(seed, "test")
		x, weights := matrix.NewDense(9, 2), make([]float64, 9)
		for i := range x.Data {
			x.Data[i] = float32(100 + r.Normal())
		}
		for i := range weights {
			weights[i] = float64(r.Intn(4))
		}
		weights[0]++
		for _, w := range [][]float64{nil, weights} {
			got, err := KMeans(context.Background(), copied(x), w, Options{Clusters: 2, Starts: 30, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			best := math.Inf(1)
			for set := range 1 << 9 {
				best = min(best, inertia(x, w, func(i int) bool { return set>>i&1 == 1 }))
			}
			if got.Inertia < best*(1-1e-4) || got.Inertia > best*1.05 {
				t.Errorf("seed %d: inertia %g, the best is %g", seed, got.Inertia, best)
			}
			if got.Inertia < best*(1+1e-4) {
				found++
			}
			own := inertia(x, w, func(i int) bool { return got.Nearest[i] == 1 })
			if math.Abs(own-got.Inertia) > 1e-4*best {
				t.Errorf("seed %d: inertia %g, that of the clusters is %g", seed, got.Inertia, own)
			}
		}
	}
	if found < 18 {
		t.Errorf("the best partition is found %d times of 20", found)
	}
}

// inertia is that of two clusters around their means.
func inertia(x *matrix.Dense, weights []float64, second func(i int) bool) float64 {
	var sum, squares [2][2]float64
	var mass [2]float64
	for i := range x.Rows {
		w, k := 1.0, 0
		if weights != nil {
			w = weights[i]
		}
		if second(i) {
			k = 1
		}
		mass[k] += w
		for j, v := range x.Row(i) {
			sum[k][j] += w * float64(v)
			squares[k][j] += w * float64(v) * float64(v)
		}
	}
	total := 0.0
	for k := range 2 {
		for j := range 2 {
			if mass[k] > 0 {
				total += squares[k][j] - sum[k][j]*sum[k][j]/mass[k]
			}
		}
	}
	return total
}

// Rows with whole weights are as many rows.
func TestWeightsAreRepeatedRows(t *testing.T) {
	x := groups(300, 5)
	var many []float32
	weights := make([]float64, x.Rows)
	for i := range weights {
		weights[i] = float64(i % 3)
		for range i % 3 {
			many = append(many, x.Row(i)...)
		}
	}
	repeated := &matrix.Dense{Rows: len(many) / 5, Cols: 5, Stride: 5, Data: many}
	opt := Options{Clusters: 10, Starts: 20, Seed: 1}
	a, err := KMeans(context.Background(), copied(x), weights, opt)
	if err != nil {
		t.Fatal(err)
	}
	b, err := KMeans(context.Background(), repeated, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.Inertia-b.Inertia) > 0.02*b.Inertia { // starts differ
		t.Errorf("inertia %g with weights, %g of repeated rows", a.Inertia, b.Inertia)
	}
}

func TestClustersAreThoseOfAnyThreads(t *testing.T) {
	x := groups(3000, 7)
	run := func() *Result {
		got, err := KMeans(context.Background(), copied(x), nil, Options{Clusters: 20, Starts: 2, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := run()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := run(); !slices.Equal(got.Nearest, want.Nearest) || !slices.Equal(got.Centres.Data, want.Centres.Data) {
		t.Error("one thread finds other clusters")
	}
}

func TestKMeansRefuses(t *testing.T) {
	x := groups(5, 2)
	for _, c := range []struct {
		weights []float64
		k       int
	}{{nil, 0}, {nil, 6}, {[]float64{0, 0, 0, 0, 0}, 2}, {[]float64{1, -1, 1, 1, 1}, 2}, {[]float64{1, math.NaN(), 1, 1, 1}, 2}} {
		if _, err := KMeans(context.Background(), copied(x), c.weights, Options{Clusters: c.k}); err == nil {
			t.Errorf("%d clusters with weights %v: no error", c.k, c.weights)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := KMeans(ctx, copied(x), nil, Options{Clusters: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Fewer different rows than clusters are as many clusters.
func TestEqualRowsAreOneCluster(t *testing.T) {
	x := matrix.NewDense(20, 2)
	for i := range x.Rows {
		x.Row(i)[0] = float32(i % 3)
	}
	got, err := KMeans(context.Background(), x, nil, Options{Clusters: 5, Starts: 3})
	if err != nil || got.Centres.Rows != 3 || got.Inertia > 1e-6 {
		t.Errorf("%d centres, inertia %g, %v", got.Centres.Rows, got.Inertia, err)
	}
}
