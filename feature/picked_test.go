package feature

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// groupRows are rows of six numbers, many of them 0, one row all.
func groupRows(n int) (*matrix.Dense, *matrix.CSR) {
	r := random.New(1, "groups")
	x := matrix.NewDense(n, 6)
	s := &matrix.CSR{Rows: n, Cols: 6, Ptr: []int{0}}
	for i := range n {
		for j := range 6 {
			if i > 0 && r.Uniform() < 0.6 {
				x.Row(i)[j] = float32(r.Normal())
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, x.Row(i)[j])
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return x, s
}

// A sum of groups is Σ w k(x_g, y_g), here of kernels whose maps are exact, for dense and for sparse rows.
func TestGroupsAreKernelsOfTheirColumns(t *testing.T) {
	poly := kernel.Kernel{Name: "poly", Degree: 2, Gamma: 0.5, Coef0: 1}
	step := func(g Group) Config { return Config{Map: "explicit-poly", Kernel: poly, Group: g} }
	for _, c := range []struct {
		norm string
		size func(x []float64) float64
	}{
		{"", func([]float64) float64 { return 1 }},
		{"l1", func(x []float64) (s float64) {
			for _, v := range x {
				s += math.Abs(v)
			}
			return s
		}},
		{"l2", func(x []float64) (s float64) {
			for _, v := range x {
				s += v * v
			}
			return math.Sqrt(s)
		}},
	} {
		cfg := Config{Map: Sum, Weights: []float64{2, 0.5, 1}, Steps: []Config{
			step(Group{Dims: [][2]int{{1, 3}}, Norm: c.norm}), step(Group{Dims: [][2]int{{0, 1}, {4, 6}}}), step(Group{}),
		}}
		x, s := groupRows(40)
		m, err := New(cfg, 6)
		if err != nil {
			t.Fatal(err)
		}
		_, d := m.Dims()
		z, zs := matrix.NewDense(40, d), matrix.NewDense(40, d)
		m.Transform(z, matrix.Rows{Dense: x})
		m.Transform(zs, matrix.Rows{CSR: s})
		if !slices.Equal(z.Data, zs.Data) {
			t.Fatalf("norm %q: sparse rows have other features", c.norm)
		}
		part := func(i int, dims ...int) (v []float64) {
			for _, j := range dims {
				v = append(v, float64(x.Row(i)[j]))
			}
			return v
		}
		k := func(u, v []float64) float64 {
			sum := 0.0
			for j := range u {
				sum += u[j] * v[j]
			}
			return (0.5*sum + 1) * (0.5*sum + 1)
		}
		first := func(i int) []float64 {
			v := part(i, 1, 2)
			if n := c.size(v); n > 0 {
				v[0], v[1] = v[0]/n, v[1]/n
			}
			return v
		}
		for i := range 40 {
			for j := range 40 {
				want := 2*k(first(i), first(j)) + 0.5*k(part(i, 0, 4, 5), part(j, 0, 4, 5)) +
					k(part(i, 0, 1, 2, 3, 4, 5), part(j, 0, 1, 2, 3, 4, 5))
				got := 0.0
				for e, v := range z.Row(i) {
					got += float64(v) * float64(z.Row(j)[e])
				}
				if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("norm %q: rows %d and %d: %g, want %g", c.norm, i, j, got, want)
				}
			}
		}
		p, err := ProgramOf(m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			for e, v := range p.run(t, x.Row(i)) {
				if math.Abs(v-float64(z.Row(i)[e])) > 1e-4 {
					t.Fatalf("norm %q: row %d, feature %d: %g, of the program %g", c.norm, i, e, z.Row(i)[e], v)
				}
			}
		}
	}
}

// A fitted map of a group comes back from its JSON and its state, with the same features.
func TestFittedGroupsComeBack(t *testing.T) {
	rbf := kernel.Kernel{Name: "rbf", Gamma: 0.3}
	cfg := Config{Map: Sum, Seed: 3, Steps: []Config{
		{Map: "nystrom", Kernel: rbf, Features: 8, Group: Group{Dims: [][2]int{{0, 2}, {3, 5}}, Norm: "l2", Columns: "a*", Scale: "l2"}},
		{Map: "rff", Kernel: rbf, Features: 4, Group: Group{Dims: [][2]int{{5, 6}}}},
	}}
	x, _ := groupRows(60)
	m, err := Fit(context.Background(), cfg, matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := Restore(back, 6, m.(Fitted).State())
	if err != nil {
		t.Fatal(err)
	}
	_, d := m.Dims()
	z, y := matrix.NewDense(60, d), matrix.NewDense(60, d)
	m.Transform(z, matrix.Rows{Dense: x})
	again.Transform(y, matrix.Rows{Dense: x})
	if !slices.Equal(z.Data, y.Data) {
		t.Error("the map that came back has other features")
	}
}

func TestGroupsAreChecked(t *testing.T) {
	rff := func(g Group) Config {
		return Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 4, Group: g}
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Map: Sum, Steps: []Config{rff(Group{Dims: [][2]int{{2, 7}}})}}, "rows of 6 dimensions"},
		{Config{Map: Sum, Steps: []Config{rff(Group{Dims: [][2]int{{2, 4}, {3, 5}}})}}, "have to rise"},
		{Config{Map: Sum, Steps: []Config{rff(Group{Norm: "max"})}}, `norm "max" is not known`},
		{Config{Map: Sum, Steps: []Config{rff(Group{Columns: "a*"})}}, "give dims"},
		{Config{Map: Chain, Steps: []Config{rff(Group{Dims: [][2]int{{0, 2}}}), rff(Group{})}}, "steps of a sum that is the whole map"},
	} {
		if _, err := New(c.cfg, 6); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
