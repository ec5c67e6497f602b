package rfm

import (
	"math"
	"slices"
	"testing"

	"mercer/internal/solve/metric"
	"mercer/matrix"
)

// A row's scores are the same alone, among others, in any order, and sparse.
func TestScoresOfARowDoNotDependOnOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	m, _ := smallMachine(t)
	if len(m.Leaves()) < 3 {
		t.Fatalf("%d leaves", len(m.Leaves()))
	}
	x, _ := table(scoreRows+37, 6, 9)
	x.Row(3)[2], x.Row(3)[5] = 0, 0
	all := scored(t, m, x)
	one := matrix.NewDense(1, 2)
	for i := 0; i < x.Rows; i += 41 {
		if err := m.Scores(one, matrix.Rows{Dense: x.Slice(i, i+1)}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one.Data, all[2*i:2*i+2]) {
			t.Fatalf("row %d has the scores %v alone, %v among others", i, one.Data, all[2*i:2*i+2])
		}
	}
	reversed := matrix.NewDense(x.Rows, 6)
	csr := &matrix.CSR{Rows: x.Rows, Cols: 6, Ptr: []int{0}}
	for i := range x.Rows {
		copy(reversed.Row(x.Rows-1-i), x.Row(i))
		for j, v := range x.Row(i) {
			if v != 0 {
				csr.Idx, csr.Val = append(csr.Idx, int32(j)), append(csr.Val, v)
			}
		}
		csr.Ptr = append(csr.Ptr, len(csr.Idx))
	}
	back := scored(t, m, reversed)
	for i := range x.Rows {
		if j := x.Rows - 1 - i; !slices.Equal(back[2*j:2*j+2], all[2*i:2*i+2]) {
			t.Fatalf("row %d has other scores in another order", i)
		}
	}
	sparse := matrix.NewDense(x.Rows, 2)
	if err := m.Scores(sparse, matrix.Rows{CSR: csr}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sparse.Data, all) {
		t.Error("sparse rows have other scores")
	}
	if err := m.Scores(one, matrix.Rows{Dense: matrix.NewDense(1, 5)}); err == nil {
		t.Error("a row of 5 numbers is scored by a machine of 6")
	}
}

// Scores of a tree are the means of its leaves' machines by the shares of a row.
func TestScoresAreMeansOfMembers(t *testing.T) {
	m, x := smallMachine(t)
	all, several := scored(t, m, x), 0
	for i := range x.Rows {
		var want [2]float64
		shares := m.Tree().route(nil, x.Row(i), 0)
		if len(shares) > 1 {
			several++
		}
		leaves, whole := slices.Clone(m.Leaves()), m.Whole()
		for i := range shares {
			shares[i].of *= float32(1 - whole.Share)
		}
		if whole.Share > 0 {
			leaves = append(leaves, whole.Leaf)
			shares = append(shares, share{leaf: int32(len(leaves) - 1), of: float32(whole.Share)})
		}
		steps := m.Steps()
		if steps.Share > 0 {
			steps.Trees.Add(want[:], x.Slice(i, i+1), steps.Share)
		}
		for _, s := range shares {
			for _, one := range leaves[s.leaf] {
				u := matrix.Rows{Dense: x.Slice(i, i+1)}
				if one.Metric != nil {
					u = matrix.Rows{Dense: one.Metric.Apply(u, new(metric.Work)).Dense}
				}
				score := matrix.NewDense(1, 2)
				if err := one.Machine.Scores(score, u); err != nil {
					t.Fatal(err)
				}
				for o, v := range score.Data {
					want[o] += float64(s.of) * one.Weight * float64(v) * (1 - steps.Share)
				}
			}
		}
		for o, v := range want {
			if got := float64(all[2*i+o]); math.Abs(got-v) > 1e-5*(1+math.Abs(v)) {
				t.Fatalf("row %d: score %g, want %g", i, got, v)
			}
		}
	}
	if several == 0 {
		t.Error("no row belongs to several leaves; the test needs some")
	}
}

func TestScoresAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are not counted under the race detector")
	}
	m, x := smallMachine(t)
	dst := matrix.NewDense(1, 2)
	row := matrix.Rows{Dense: x.Slice(0, 1)}
	score := func() {
		if err := m.Scores(dst, row); err != nil {
			t.Fatal(err)
		}
	}
	score()
	if n := testing.AllocsPerRun(100, score); n != 0 {
		t.Errorf("%g allocations for a row", n)
	}
}
