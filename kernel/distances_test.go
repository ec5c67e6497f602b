package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"mercer/matrix"
)

// A parameter that does not order distances changes all of them by one factor, and others do not.
func TestParametersOrderDistances(t *testing.T) {
	const n, d = 12, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x := matrix.NewDense(n, d)
	for i := range x.Data {
		x.Data[i] = float32(rng.Float64())
	}
	of := func(k Kernel) []float64 {
		dist, err := NewDistances(k, matrix.Rows{Dense: x})
		if err != nil {
			t.Fatal(err)
		}
		all := make([]float64, n*n)
		dist.Rows(matrix.Rows{Dense: x}, 0, n, all, make([]float64, n*dist.Work()))
		return all
	}
	for _, kind := range Kinds() {
		for _, p := range kind.Parameters() {
			a := kind.Usual()
			a.set("gamma", 0.7)
			b := a
			if v := a.get(p.Name); p.Most == 1 {
				b.set(p.Name, 1-v)
			} else {
				b.set(p.Name, 2*v)
			}
			da, db := of(a), of(b)
			factor, same := db[1]/da[1], true
			for i, v := range da {
				same = same && math.Abs(db[i]-factor*v) <= 1e-5*db[i]+1e-9
			}
			if same == OrdersBy(kind.Name(), p.Name) {
				t.Errorf("%s of %s: distances differ by a factor alone: %v", p.Name, kind.Name(), same)
			}
		}
	}
	if OrdersBy("linear", "gamma") || OrdersBy("none", "gamma") {
		t.Error("a kernel without γ")
	}
}

// Distances are what their definition says, from dense and from sparse rows, and from rows that are far away, almost the same, and far from 0.
func TestDistances(t *testing.T) {
	const n, m, d = 9, 14, 5
	kernels := map[string]func(k Kernel, x, y []float32) float64{
		"linear":    func(_ Kernel, x, y []float32) float64 { return squared(x, y) },
		"rbf":       func(_ Kernel, x, y []float32) float64 { return squared(x, y) },
		"matern":    func(_ Kernel, x, y []float32) float64 { return squared(x, y) },
		"laplacian": func(_ Kernel, x, y []float32) float64 { return absolute(x, y) },
		"cauchy":    func(k Kernel, x, y []float32) float64 { return -math.Log(k.Eval(x, y)) },
		"exp-chi2":  func(k Kernel, x, y []float32) float64 { return -math.Log(k.Eval(x, y)) },
		"poly":      func(k Kernel, x, y []float32) float64 { return k.Distance2(x, y) },
		"chi2":      func(k Kernel, x, y []float32) float64 { return k.Distance2(x, y) },
		"arccos":    func(k Kernel, x, y []float32) float64 { return k.Distance2(x, y) },
	}
	for name, want := range kernels {
		rng := rand.New(rand.NewPCG(1, uint64(len(name))))
		k := Kernel{Name: name, Gamma: 0.7}.WithDefaults()
		x, y := matrix.NewDense(n, d), matrix.NewDense(m, d)
		for _, rows := range []*matrix.Dense{x, y} {
			for i := range rows.Data {
				if rng.Float64() < 0.5 {
					rows.Data[i] = float32(rng.Float64())
				}
			}
		}
		copy(x.Row(0), y.Row(3))
		copy(x.Row(1), y.Row(4))
		x.Row(1)[0] += 1e-5
		if name == "rbf" || name == "laplacian" {
			x.Row(2)[1] = 2000 // where k is 0
		}
		sx, sy := sparse(x), sparse(y)
		for _, of := range [][2]matrix.Rows{{{Dense: x}, {Dense: y}}, {{CSR: sx}, {Dense: y}}, {{Dense: x}, {CSR: sy}}, {{CSR: sx}, {CSR: sy}}} {
			for _, fully := range []bool{false, true} {
				dist, err := NewDistances(k, of[1])
				if err != nil {
					t.Fatal(err)
				}
				if fully { // as rows of which one in twenty numbers is not 0
					dist.against = nil
				}
				if fully && name == "laplacian" {
					continue // -log k
				}
				got := make([]float64, n*m)
				dist.Rows(of[0], 0, n, got, make([]float64, n*dist.Work()))
				for i := range n {
					for j := range m {
						w := want(k, x.Row(i), y.Row(j))
						if g := got[i*m+j]; !(math.Abs(g-w) <= 1e-9*w+1e-11) {
							t.Errorf("%s, sparse %v: rows %d and %d are %g apart, not %g", name, fully, i, j, g, w)
						}
					}
				}
			}
		}
	}
}
