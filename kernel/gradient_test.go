package kernel

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Gradients are the limits of differences of Eval, of every kernel.
func TestGradientsAreThoseOfFiniteDifferences(t *testing.T) {
	const d = 5
	tested := map[string]bool{}
	for _, k := range []Kernel{
		{Name: "linear"}, {Name: "poly", Gamma: 0.3, Degree: 1}, {Name: "poly", Gamma: 0.3, Degree: 3, Coef0: 1}, {Name: "exp", Gamma: 0.2},
		{Name: "arccos"}, {Name: "arccos", Degree: 1}, {Name: "rbf", Gamma: 0.3}, {Name: "laplacian", Gamma: 0.3}, {Name: "cauchy", Gamma: 0.5},
		{Name: "matern", Gamma: 0.3, Nu: 0.5}, {Name: "matern", Gamma: 0.3, Nu: 0.7}, {Name: "matern", Gamma: 0.3, Nu: 1},
		{Name: "matern", Gamma: 0.3, Nu: 1.5}, {Name: "matern", Gamma: 0.3, Nu: 2.2},
		{Name: "hellinger"}, {Name: "chi2"}, {Name: "intersection"}, {Name: "jensen-shannon"}, {Name: "chi2", Homogeneity: 2},
		{Name: "hellinger", Homogeneity: 0.5},
		{Name: "exp-chi2", Gamma: 0.4}, {Name: "skewed-chi2", Coef0: 0.5}, {Name: "skewed-intersection", Coef0: 0.5},
	} {
		tested[k.Name] = true
		r := random.New(3, "gradient")
		for range 20 {
			x, y := make([]float32, d), make([]float32, d)
			for j := range x {
				x[j], y[j] = float32(r.Normal()), float32(r.Normal())
				if !math.IsInf(float64(k.Lowest()), -1) {
					x[j], y[j] = float32(r.Uniform()+0.1), float32(r.Uniform()+0.1)
				}
			}
			got := make([]float64, d)
			got[1] = 7 // what is there stays
			k.AddGradient(got, []float64{2}, &matrix.Dense{Rows: 1, Cols: d, Stride: d, Data: x}, y)
			got[1] -= 7
			for j := range y {
				const h = 1.0 / 1024
				at := y[j]
				y[j] = at + h
				up, step := k.Eval(x, y), float64(y[j])
				y[j] = at - h
				down := k.Eval(x, y)
				step -= float64(y[j])
				y[j] = at
				if d := float64(x[j] - at); math.Abs(d) < 2*h {
					continue // there may be a kink
				}
				if want := 2 * (up - down) / step; math.Abs(got[j]-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("%v at %v, %v: derivative %d is %g, want %g", k, x, y, j, got[j], want)
				}
			}
		}
	}
	for _, name := range Names() {
		if !tested[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

// At the places without a gradient there is no NaN.
func TestGradientsAreFinite(t *testing.T) {
	zero, one := make([]float32, 3), []float32{0, 1, 2}
	for _, name := range Names() {
		for _, degree := range []int{0, 1} {
			k := Kernel{Name: name, Gamma: 0.5, Degree: degree, Coef0: 0.5, Nu: 0.5}
			if name == "poly" {
				k.Degree++
			}
			for _, pair := range [][2][]float32{{zero, zero}, {zero, one}, {one, zero}, {one, one}} {
				g := make([]float64, 3)
				k.AddGradient(g, []float64{1}, &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: pair[0]}, pair[1])
				for _, v := range g {
					if v-v != 0 {
						t.Errorf("%v of %v, %v: %v", k, pair[0], pair[1], g)
					}
				}
			}
		}
	}
}

// The slopes of a whole row are those of its values one by one, and 0 where there is none.
func TestSlopesOfRowMatchSingleOnes(t *testing.T) {
	const n = 300
	products, norms, p, q := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range n {
		norms[j] = 1 + float64(j*j)/100
		products[j] = math.Cos(float64(j)) * math.Sqrt(2.5*norms[j])
	}
	norms[7], products[7] = 2.5, 2.5 // the row itself
	for _, k := range []Kernel{{Name: "rbf", Gamma: 0.2}, {Name: "matern", Gamma: 0.2, Nu: 0.5}, {Name: "matern", Gamma: 0.2, Nu: 1},
		{Name: "matern", Gamma: 0.2, Nu: 1.5}, {Name: "matern", Gamma: 0.2, Nu: 2.5}, {Name: "matern", Gamma: 0.2, Nu: 3.5}, {Name: "arccos"}} {
		k.SlopesOfRow(products, 2.5, norms, p, q)
		for j := range n {
			wantP, wantQ := k.Slopes(products[j], norms[j], 2.5)
			if !(relative(p[j], wantP) <= 1e-13) || !(relative(q[j], wantQ) <= 1e-13) {
				t.Errorf("%s: slopes %d are %g and %g, want %g and %g", k, j, p[j], q[j], wantP, wantQ)
			}
		}
	}
}
