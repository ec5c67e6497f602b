package feature

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
)

// landmarkCases has the maps with landmarks. What z(x)·z(y) is they have to prove for the
// landmarks that they chose: below.
func landmarkCases() []mapCase {
	var cases []mapCase
	for _, cfg := range []Config{
		{Map: "nystrom", Kernel: rbf},
		{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: 2}, Options: Options{Landmarks: "kmeans"}}, // in float32
		{Map: "nystrom", Kernel: laplacian, Options: Options{Landmarks: "kmedoid", Rank: 20}},
		{Map: "nystrom", Kernel: poly(0.2, 2, 1), Options: Options{Landmarks: "leverage"}},
		{Map: "nystrom", Kernel: arccos(1), Options: Options{Landmarks: "rpcholesky"}},
	} {
		cases = append(cases, mapCase{Config: cfg, biased: true})
	}
	return cases
}

// projected returns k_h(x)ᵀ K_hh⁺ k_h(y) for rows x, y of a matrix, from the leading rank
// eigenvalues of K_hh, or all that are not rounding: by gonum alone.
func projected(k kernel.Kernel, h, x *matrix.Dense, rank int) *mat.Dense {
	m := h.Rows
	gram := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			gram.SetSym(i, j, k.Eval(h.Row(i), h.Row(j)))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(gram, true)
	values := eigen.Values(nil)
	var v, a, product mat.Dense
	eigen.VectorsTo(&v)
	kx := mat.NewDense(m, x.Rows, nil)
	for i := range m {
		for j := range x.Rows {
			kx.Set(i, j, k.Eval(h.Row(i), x.Row(j)))
		}
	}
	a.Mul(v.T(), kx)
	for i := range m {
		for j := range x.Rows {
			if i < m-rank || values[i] < 1e-10*values[m-1] {
				a.Set(i, j, 0)
			} else {
				a.Set(i, j, a.At(i, j)/math.Sqrt(values[i]))
			}
		}
	}
	product.Mul(a.T(), &a)
	return &product
}

// clustered returns n rows around 10 centres of different weights and widths.
func clustered(n, d int, seed uint64) matrix.Rows {
	r := random.New(seed, "clustered")
	centres := matrix.NewDense(10, d)
	for i := range centres.Data {
		centres.Data[i] = float32(3 * r.Normal())
	}
	x := matrix.NewDense(n, d)
	for i := range n {
		c := min(9, int(math.Floor(-math.Log2(1-r.Uniform())))) // half of the rows around the first, …
		for j, v := range centres.Row(c) {
			x.Row(i)[j] = v + float32(0.1*float64(1+c)*r.Normal())
		}
	}
	return matrix.Rows{Dense: x}
}

// Features have the inner products of projections on the landmarks' span, for every choice of
// landmarks, every sort of kernel, and a rank.
func TestNystromIsTheProjectionOnItsLandmarks(t *testing.T) {
	sample, _ := someRows(80, 6)
	x, _ := someRows(100, 6)
	for _, k := range []kernel.Kernel{rbf, laplacian, cauchy, matern(1.5), linear, poly(0.2, 3, 1), {Name: "exp", Gamma: 0.2}, arccos(0), arccos(1)} {
		for _, choice := range []string{"", "uniform", "kmeans", "kmedoid", "leverage", "rpcholesky"} {
			for _, rank := range []int{0, 5} {
				cfg := Config{Map: "nystrom", Kernel: k, Features: 30, Seed: 3, Options: Options{Landmarks: choice, Rank: rank}}
				m, err := Fit(cfg, sample)
				if err != nil {
					t.Fatalf("%v: %v", cfg, err)
				}
				h := m.(*nystrom).at
				if rank == 0 {
					rank = h.Rows
				}
				want, z := projected(k, h, x.Dense, rank), transform(m, x)
				for i := range x.Len() {
					for j := range i + 1 {
						size := math.Sqrt(k.Eval(x.Dense.Row(i), x.Dense.Row(i)) * k.Eval(x.Dense.Row(j), x.Dense.Row(j)))
						if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want.At(i, j)) > 1e-5*size {
							t.Fatalf("%v, %s, rank %d: (%d, %d) is %g, want %g", k, choice, rank, i, j, got, want.At(i, j))
						}
					}
				}
			}
		}
	}
}

func TestEveryChoiceTakesDifferentRowsOfTheSample(t *testing.T) {
	sample := clustered(300, 5, 1)
	for _, c := range landmarkChoices {
		h, err := c.choose(choice{rbf, sample, 40, 1})
		if err != nil {
			t.Fatal(err)
		}
		if h.Rows != 40 {
			t.Errorf("%s: %d landmarks of 40", c.name, h.Rows)
		}
		rows := map[[5]float32]bool{}
		for i := range sample.Len() {
			rows[[5]float32(sample.Dense.Row(i))] = true
		}
		seen := map[[5]float32]bool{}
		for i := range h.Rows {
			row := [5]float32(h.Row(i))
			if seen[row] = true; !rows[row] && c.name != "kmeans" {
				t.Errorf("%s: landmark %d is no row of the sample", c.name, i)
			}
		}
		if len(seen) != 40 {
			t.Errorf("%s: %d of 40 landmarks differ", c.name, len(seen))
		}
	}
}
