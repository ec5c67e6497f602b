package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// blobs are rows around centres that lie dense near the origin and sparse far from it.
func blobs(n, d, groups int, seed uint64) *matrix.Dense {
	s := random.New(seed, "network-blobs")
	at := matrix.NewDense(groups, d)
	for g := range groups {
		for j := range d {
			at.Row(g)[j] = float32(s.Normal() * math.Pow(1.3, float64(g)))
		}
	}
	x := matrix.NewDense(n, d)
	for i := range n {
		for j, v := range at.Row(i % groups) {
			x.Row(i)[j] = v + float32(0.3*s.Normal())
		}
	}
	return x
}

// Functions of centres with widths of their own are exp(-‖x-μ_j‖²/s_j²) by the definition of s_j, computed naively; stored maps are the same.
func TestOwnWidthsAreThoseOfTheNearestCentres(t *testing.T) {
	x := blobs(300, 4, 12, 1)
	const gamma = 0.7
	cfg := Config{Map: RBFNetwork, Kernel: kernel.Kernel{Name: "rbf", Gamma: gamma}, Features: 12, Seed: 3, Options: Options{Widths: "own"}}
	m, err := Fit(t.Context(), cfg, matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	h := m.(Fitted).State()["rows"]
	delta := make([]float64, h.Rows)
	mean := 0.0
	for i := range h.Rows {
		var all []float64
		for j := range h.Rows {
			if j != i {
				all = append(all, distance2(h.Row(i), h.Row(j)))
			}
		}
		slices.Sort(all)
		delta[i] = (all[0] + all[1]) / 2
		mean += math.Log(delta[i]) / float64(h.Rows)
	}
	if slices.Max(delta) < 4*slices.Min(delta) {
		t.Fatalf("centres as far apart as %v show nothing", delta)
	}
	z := matrix.NewDense(x.Rows, h.Rows)
	m.Transform(z, matrix.Rows{Dense: x})
	for i := range x.Rows {
		for j, got := range z.Row(i) {
			ratio := max(1.0/8, min(8, math.Exp(mean)/delta[j]))
			if want := math.Exp(-gamma * ratio * distance2(x.Row(i), h.Row(j))); math.Abs(float64(got)-want) > 1e-5 {
				t.Fatalf("row %d, centre %d: %g, want %g", i, j, got, want)
			}
		}
	}
	back, err := Restore(cfg, x.Cols, m.(Fitted).State())
	if err != nil {
		t.Fatal(err)
	}
	again := matrix.NewDense(x.Rows, h.Rows)
	back.Transform(again, matrix.Rows{Dense: x})
	if !slices.Equal(z.Data, again.Data) {
		t.Error("a restored map gives other features")
	}
	state := m.(Fitted).State()
	for want, widths := range map[string]*matrix.Dense{
		"no width for each":   matrix.NewDense(1, h.Rows-1),
		"is not one of a map": matrix.NewDense(1, h.Rows),
	} {
		if _, err := Restore(cfg, x.Cols, map[string]*matrix.Dense{"rows": state["rows"], "widths": widths}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	// One centre, or equal ones, have the width of γ.
	one, err := Fit(t.Context(), Config{Map: RBFNetwork, Kernel: cfg.Kernel, Features: 1, Seed: 3, Options: Options{Widths: "own"}}, matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	if w := one.(Fitted).State()["widths"].Data[0]; w != 1 {
		t.Errorf("the only centre has the width %g", w)
	}
}

// Clusters found in random projections have nearly the sum of squares of those found in all dimensions: over seeds within a twelfth of k-means
// on rows with groups, far below that of rows chosen at random.
func TestProjectedClustersCostLittleMore(t *testing.T) {
	x := blobs(1200, 600, 10, 5)
	noise := random.New(9, "network-noise")
	for i := range x.Data {
		x.Data[i] += float32(2 * noise.Normal())
	}
	rows := matrix.Rows{Dense: x}
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	cost := func(centres *matrix.Dense) float64 {
		sum := 0.0
		for i := range x.Rows {
			least := math.Inf(1)
			for j := range centres.Rows {
				least = min(least, distance2(x.Row(i), centres.Row(j)))
			}
			sum += least
		}
		return sum
	}
	for seed := range uint64(4) {
		var costs []float64
		for _, choose := range []string{"projected", "kmeans", "uniform"} {
			h, err := Landmarks(t.Context(), k, rows, choose, 10, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			costs = append(costs, cost(h))
		}
		if costs[0] > 1.08*costs[1] || costs[0] > 0.7*costs[2] {
			t.Errorf("seed %d: a sum of squares of %.4g by projections, %.4g by k-means, %.4g at random", seed, costs[0], costs[1], costs[2])
		}
	}
	// Rows of few dimensions are not projected.
	small := matrix.Rows{Dense: blobs(200, 20, 5, 2)}
	a, err := Landmarks(t.Context(), k, small, "projected", 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Landmarks(t.Context(), k, small, "kmeans", 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Data, b.Data) {
		t.Error("rows of 20 dimensions are clustered otherwise than by k-means")
	}
	// Means are those of the rows of each cluster, of which empty ones are left out.
	got := means(&matrix.Dense{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 3, 7}}, []int{2, 2, 0}, 3)
	if got.Rows != 2 || got.Row(0)[0] != 7 || got.Row(1)[0] != 2 {
		t.Errorf("means %v", got.Data)
	}
}
