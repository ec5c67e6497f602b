package approx

import (
	"math"
	"slices"
	"testing"

	"mercer/feature"
	"mercer/matrix"
)

// An inner product with such a vector is an output of the map: φ(x)·Σφ(r_i) has the variance that
// d2pk-rp and pk-rp give with as many terms and D = 1.
func TestProjectionVectorsAreThoseOfTheMaps(t *testing.T) {
	const n = 40_000
	x := []float32{1, -0.5, 0.7}
	for _, c := range []struct {
		name    string
		vectors ProjectionVectors
		cfg     feature.Config
	}{
		{"pk-rp", TensorVectors(n, 3, 2, 2, 0, 1), feature.Config{Map: "pk-rp", Options: feature.Options{T: 2, Pool: 4 * n, Entries: "normal"}}},
		{"tensor of degree 3", TensorVectors(n, 3, 3, 1, 0, 1),
			feature.Config{Map: "pk-rp", Options: feature.Options{T: 1, Pool: 3 * n, Entries: "normal"}}},
		{"sparse", TensorVectors(n, 3, 2, 2, 3, 1),
			feature.Config{Map: "pk-rp", Options: feature.Options{T: 2, Pool: 4 * n, Entries: "sparse", Sparsity: 3}}},
		{"sparse of degree 3", TensorVectors(n, 3, 3, 1, 2, 1),
			feature.Config{Map: "pk-rp", Options: feature.Options{T: 1, Pool: 3 * n, Sparsity: 2}}},
		{"d2pk-rp", QuadraticVectors(n, 3, 1, 3, 1), feature.Config{Map: "d2pk-rp", Options: feature.Options{T: 1, Sparsity: 3}}},
	} {
		degree := len(c.vectors.Factors[0])
		phi := make([]float64, len(c.vectors.Factors))
		for i, factors := range c.vectors.Factors {
			phi[i] = 1
			for _, f := range factors {
				phi[i] *= float64(x[f%3])
			}
			if c.name == "d2pk-rp" && factors[0] != factors[1] {
				phi[i] *= math.Sqrt2
			}
		}
		ours := make([]float64, n)
		for i := range ours {
			for j, v := range c.vectors.X.Row(i) {
				ours[i] += float64(v) * phi[j]
			}
		}
		c.cfg.Kernel, c.cfg.Features = poly(degree), n
		m, err := feature.New(c.cfg, 3)
		if err != nil {
			t.Fatal(err)
		}
		z := matrix.NewDense(1, n)
		m.Transform(z, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: x}})
		theirs := make([]float64, n)
		for i, v := range z.Row(0) {
			theirs[i] = float64(v) * math.Sqrt(n)
		}
		a, sa := moments(ours)
		b, sb := moments(theirs)
		if math.Abs(a[0]-b[0]) > 4*(sa[0]+sb[0]) || math.Abs(a[1]-b[1]) > 4*(sa[1]+sb[1]) {
			t.Errorf("%s: mean and square %.4g ± %.2g of the vectors, %.4g ± %.2g of the map", c.name, a, sa, b, sb)
		}
	}
}

// moments are the mean and the mean square, with their standard errors.
func moments(v []float64) (m, se [2]float64) {
	n := float64(len(v))
	var four float64
	for _, x := range v {
		m[0] += x / n
		m[1] += x * x / n
		four += x * x * x * x / n
	}
	return m, [2]float64{math.Sqrt((m[1] - m[0]*m[0]) / n), math.Sqrt((four - m[1]*m[1]) / n)}
}

// Figures 3.1–3.3 and 4.1–4.2 of LS19: no correlation anywhere; distance correlation only of
// products with common factors, which sums of 30 hide.
func TestSumsOfProductsBecomeIndependent(t *testing.T) {
	// What 500 independent pairs have in the mean depends on their distribution: sums are normal.
	independent := TensorVectors(500, 5, 2, 0, 0, 1).Dependence()
	if sparse := QuadraticVectors(500, 5, 0, 3, 1).Dependence(); sparse.Common > 0.07 || sparse.Disjoint > 0.07 || sparse.Correlation > 0.055 {
		t.Errorf("coordinates drawn one by one: %+v", sparse)
	}
	for _, c := range []struct {
		name         string
		one, several ProjectionVectors
	}{
		{"quadratic", QuadraticVectors(500, 5, 1, 3, 2), QuadraticVectors(500, 5, 30, 3, 3)},
		{"sparse tensor", TensorVectors(500, 5, 2, 1, 3, 2), TensorVectors(500, 5, 2, 30, 3, 3)},
		{"tensor", TensorVectors(500, 5, 2, 1, 0, 2), TensorVectors(500, 5, 2, 30, 0, 3)},
	} {
		one, several := c.one.Dependence(), c.several.Dependence()
		// A correlation of 500 independent pairs is about √(2/π/500) = 0.036 off.
		if several.Correlation > 0.055 {
			t.Errorf("%s: correlation %.3f", c.name, several.Correlation)
		}
		if math.Abs(several.Common-independent.Disjoint) > 0.03 || math.Abs(several.Disjoint-independent.Disjoint) > 0.02 {
			t.Errorf("%s: sums have %.3f with a common factor and %.3f without, independent coordinates %.3f", c.name,
				several.Common, several.Disjoint, independent.Disjoint)
		}
		if one.Common < 2*independent.Disjoint || one.Disjoint > independent.Disjoint+0.02 {
			t.Errorf("%s: single products have %.3f with a common factor and %.3f without, independent coordinates %.3f",
				c.name, one.Common, one.Disjoint, independent.Disjoint)
		}
	}
}

// Of many coordinates some are chosen, different ones, with a factor of each r_j; and pairs of them have
// common factors as often as pairs of all coordinates.
func TestTensorVectorsOfManyCoordinates(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const d, p = 5, 8
	v := TensorVectors(3, d, p, 2, 3, 1)
	if v.X.Cols != MostCoordinates || len(v.Factors) != MostCoordinates {
		t.Fatalf("%d coordinates, the factors of %d", v.X.Cols, len(v.Factors))
	}
	disjoint := 0.0
	for i, f := range v.Factors {
		for j, g := range f {
			if len(f) != p || g/d != j {
				t.Fatalf("factors %v", f)
			}
		}
		for _, g := range v.Factors[:i] {
			if slices.Equal(f, g) {
				t.Fatalf("%v twice", f)
			}
			if !share(f, g) {
				disjoint++
			}
		}
	}
	// Pairs are independent in pairs, so this is the deviation of their number.
	pairs, want := float64(MostCoordinates*(MostCoordinates-1)/2), math.Pow(1-1.0/d, p)
	if got := disjoint / pairs; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/pairs) {
		t.Errorf("%.4f of the pairs have no factor in common, want %.4f", got, want)
	}
	one, several := TensorVectors(500, d, 4, 1, 2, 2).Dependence(), TensorVectors(500, d, 4, 30, 2, 3).Dependence()
	if one.Common < 2*one.Disjoint || math.Abs(several.Common-several.Disjoint) > 0.01 {
		t.Errorf("single products have %.3f with a common factor and %.3f without, sums of 30 %.3f and %.3f", one.Common,
			one.Disjoint, several.Common, several.Disjoint)
	}
}
