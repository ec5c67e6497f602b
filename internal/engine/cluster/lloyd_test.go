package cluster

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func copied(x *matrix.Dense) *matrix.Dense {
	y := matrix.NewDense(x.Rows, x.Cols)
	for i := range x.Rows {
		copy(y.Row(i), x.Row(i))
	}
	return y
}

func lloyd(t *testing.T, c *Rows, centres *matrix.Dense) []float64 {
	objective, err := c.Lloyd(context.Background(), centres, 50, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	return objective
}

// groups are rows around ten centres, half of them around the first, a quarter around the second, ….
func groups(n, d int) *matrix.Dense {
	r := random.New(2, "groups")
	centres, x := matrix.NewDense(10, d), matrix.NewDense(n, d)
	for i := range centres.Data {
		centres.Data[i] = float32(3 * r.Normal())
	}
	for i := range n {
		g := min(9, int(math.Floor(-math.Log2(1-r.Uniform()))))
		for j, v := range centres.Row(g) {
			x.Row(i)[j] = v + float32(0.1*float64(1+g)*r.Normal())
		}
	}
	return x
}

// The seeds of k-means++: a row follows p with probability D²(p, q)/Σ D².
func TestSeedsFollowSquaredDistances(t *testing.T) {
	x := &matrix.Dense{Rows: 5, Cols: 2, Stride: 2, Data: []float32{0, 0, 1, 0, 0, 2, 3, 3, 3, 3.5}}
	const n = 30000
	var count [5][5][5]float64
	index := func(c *Rows, row []float32) int {
		for i := range 5 {
			if slices.Equal(c.x.Row(i), row) {
				return i
			}
		}
		t.Fatal("a seed is no row")
		return 0
	}
	var c *Rows
	for seed := range uint64(n) {
		c = New(copied(x), nil)
		s := c.Seeds(t.Context(), 3, random.New(seed, "test"))
		count[index(c, s.Row(0))][index(c, s.Row(1))][index(c, s.Row(2))]++
	}
	for p := range 5 {
		sum := 0.0
		for q := range 5 {
			sum += c.between(p, q)
		}
		for q := range 5 {
			if q == p {
				continue
			}
			rest := 0.0
			for r := range 5 {
				rest += min(c.between(p, r), c.between(q, r))
			}
			for r := range 5 {
				want := c.between(p, q) / sum / 5 * min(c.between(p, r), c.between(q, r)) / rest
				if got := count[p][q][r] / n; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/n)+1e-12 {
					t.Errorf("seeds %d, %d, %d come with frequency %.4f, want %.4f", p, q, r, got, want)
				}
			}
		}
	}
}

// In blocks of seeds, each is as far from the others as if drawn alone: on a line of clusters,
// all are found.
func TestSeedsInBlocksFindEveryCluster(t *testing.T) {
	x := matrix.NewDense(2000, 2)
	r := random.New(1, "line")
	for i := range x.Rows {
		x.Row(i)[0] = float32(100*(i%40)) + float32(0.01*r.Normal())
		x.Row(i)[1] = float32(0.01 * r.Normal())
	}
	for seed := range uint64(5) {
		c := New(copied(x), nil)
		s := c.Seeds(t.Context(), 40, random.New(seed, "test"))
		if sum := c.assign(t.Context(), s); s.Rows != 40 || sum > 2000*0.001 {
			t.Errorf("seed %d: %d seeds leave %g", seed, s.Rows, sum)
		}
	}
}

// Each iteration of Lloyd's lowers the objective, which is the sum of squared distances to
// the nearest centre; and at the end each centre is the mean of its rows.
func TestLloydLowersItsObjective(t *testing.T) {
	x := groups(1500, 7)
	for _, m := range []int{1, 12, 100} {
		c := New(copied(x), nil)
		centres := c.Seeds(t.Context(), m, random.New(1, "test"))
		objective := lloyd(t, c, centres)
		for i, v := range objective[1:] {
			if v > objective[i]*(1+1e-6) {
				t.Errorf("%d centres: the objective rises from %g to %g", m, objective[i], v)
			}
		}
		if m > 1 && objective[len(objective)-1] > 0.9*objective[0] {
			t.Errorf("%d centres: the objective only falls from %g to %g", m, objective[0], objective[len(objective)-1])
		}
		sum, last := 0.0, objective[len(objective)-1]
		for i := range c.x.Rows {
			least := math.Inf(1)
			for t := range m {
				d := 0.0
				for j, v := range c.x.Row(i) {
					d += math.Pow(float64(v)-float64(centres.Row(t)[j]), 2)
				}
				least = min(least, d)
			}
			sum += least
		}
		if m > 1 && math.Abs(sum-last) > 1e-5*last {
			t.Errorf("%d centres: the objective is %g, not %g", m, sum, last)
		}
	}
}

// A centre without rows takes the place of the farthest row.
func TestEmptyClustersAreSeededAgain(t *testing.T) {
	x := &matrix.Dense{Rows: 6, Cols: 1, Stride: 1, Data: []float32{0, 0.1, 0.2, 10, 10.1, 20}}
	c := New(copied(x), nil)
	shift := float32(c.mean[0])
	centres := &matrix.Dense{Rows: 3, Cols: 1, Stride: 1, Data: []float32{0.1 - shift, 10 - shift, 500}}
	lloyd(t, c, centres)
	got := []float64{}
	for _, v := range centres.Data {
		got = append(got, math.Round(100*(float64(v)+c.mean[0]))/100)
	}
	slices.Sort(got)
	if !slices.Equal(got, []float64{0.1, 10.05, 20}) {
		t.Errorf("centres %v, want 0.1, 10.05, 20", got)
	}
}
