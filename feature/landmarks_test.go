package feature

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/engine/random"
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
		{Map: "cksvd", Kernel: rbf, Options: Options{Landmarks: "kmeans", Rank: 30}},
		{Map: "rbf-network", Kernel: rbf},
		{Map: "sigmoid", Kernel: rbf},
		{Map: "empirical", Kernel: laplacian},
	} {
		cases = append(cases, mapCase{Config: cfg, biased: true})
	}
	return append(cases, mapCase{Config: Config{Map: "icholesky", Kernel: rbf}, biased: true, drawsNothing: true})
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
	for _, k := range []kernel.Kernel{rbf, laplacian, cauchy, matern(1.5), linear, poly(0.2, 3, 1),
		{Name: "exp", Gamma: 0.2}, arccos(0), arccos(1)} {
		for _, choice := range []string{"", "uniform", "kmeans", "kmedoid", "leverage", "rpcholesky"} {
			for _, rank := range []int{0, 5} {
				cfg := Config{Map: "nystrom", Kernel: k, Features: 30, Seed: 3, Options: Options{Landmarks: choice, Rank: rank}}
				m, err := Fit(t.Context(), cfg, sample)
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
		h, err := c.choose(choice{t.Context(), rbf, sample, 40, 1})
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
			if seen[row] = true; !rows[row] && c.name != "kmeans" && c.name != "projected" {
				t.Errorf("%s: landmark %d is no row of the sample", c.name, i)
			}
		}
		if len(seen) != 40 {
			t.Errorf("%s: %d of 40 landmarks differ", c.name, len(seen))
		}
	}
}

// The inner products are those of scikit-learn's Nystroem with the same landmarks
// (testdata/nystroem.py).
func TestNystromAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/nystroem.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Rows  [][]float32
		Cases []struct {
			Kernel    kernel.Kernel
			Landmarks [][]float32
			Products  [][]float64
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Cases) != 9 {
		t.Fatalf("%d cases are recorded, want 9", len(recorded.Cases))
	}
	for _, c := range recorded.Cases {
		h, x := denseOf(c.Landmarks), denseOf(recorded.Rows)
		cfg := Config{Map: "nystrom", Kernel: c.Kernel, Features: h.Rows, Given: h, Options: Options{Landmarks: "given"}}
		m, err := Fit(t.Context(), cfg, matrix.Rows{Dense: x})
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x})
		for i := range x.Rows {
			for j := range x.Rows {
				size := math.Sqrt(c.Products[i][i] * c.Products[j][j])
				if got := dot(z.Row(i), z.Row(j)); math.Abs(got-c.Products[i][j]) > 2e-6*size {
					t.Fatalf("%v of %d landmarks: (%d, %d) is %.9g, scikit-learn has %.9g", c.Kernel, h.Rows, i, j, got, c.Products[i][j])
				}
			}
		}
	}
}

func denseOf(rows [][]float32) *matrix.Dense {
	m := matrix.NewDense(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

// With all rows as landmarks nothing is lost: the features have the kernel's own Gram matrix.
func TestNystromOfAllRowsIsTheKernel(t *testing.T) {
	sample, sparse := someRows(70, 5)
	for _, k := range []kernel.Kernel{rbf, laplacian, cauchy, matern(2.5), linear, poly(0.2, 3, 1),
		{Name: "exp", Gamma: 0.2}, arccos(0), arccos(1)} {
		for _, choice := range []string{"uniform", "kmedoid", "leverage", "rpcholesky"} {
			for _, x := range []matrix.Rows{sample, sparse} {
				m, err := Fit(t.Context(), Config{Map: "nystrom", Kernel: k, Features: 100, Options: Options{Landmarks: choice}}, x)
				if err != nil {
					t.Fatal(err)
				}
				z := transform(m, x)
				for i := range 70 {
					for j := range i + 1 {
						a, b := sample.Dense.Row(i), sample.Dense.Row(j)
						if got, want := dot(z.Row(i), z.Row(j)), k.Eval(a, b); math.Abs(got-want) > 2e-6*math.Sqrt(k.Eval(a, a)*k.Eval(b, b))+1e-6 {
							t.Fatalf("%v, %s: (%d, %d) is %g, want %g", k, choice, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// lost is the mean of k(x, x) - z(x)·z(x) over rows, for a kernel with k(x, x) = 1.
func lost(t *testing.T, cfg Config, x matrix.Rows) float64 {
	t.Helper()
	m, err := Fit(t.Context(), cfg, x)
	if err != nil {
		t.Fatal(err)
	}
	z, sum := transform(m, x), 0.0
	for i := range x.Len() {
		sum += 1 - norm2(z.Row(i))
	}
	return sum / float64(x.Len())
}

// What is lost falls with the number of landmarks, and on clustered rows every choice of 160 is
// better than the uniform one, by far in few dimensions.
func TestNystromErrorFallsWithLandmarksAndTheirChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for d, share := range map[int]map[string]float64{
		5:  {"kmeans": 0.4, "kmedoid": 0.4, "leverage": 0.8, "rpcholesky": 0.4},
		20: {"kmeans": 0.9, "kmedoid": 1, "leverage": 1, "rpcholesky": 1},
	} {
		mean := map[string]float64{}
		for _, name := range LandmarkChoices()[:5] {
			before := 1.0
			for _, m := range []int{10, 40, 160} {
				now := 0.0
				for seed := range uint64(4) {
					cfg := Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.1}, Features: m, Seed: seed,
						Options: Options{Landmarks: name}}
					now += lost(t, cfg, clustered(1200, d, seed)) / 4
				}
				if now >= 0.8*before {
					t.Errorf("%d dimensions, %s: %d landmarks lose %.4f, fewer %.4f", d, name, m, now, before)
				}
				before = now
				mean[name] = now // of the most landmarks
			}
		}
		for name, most := range share {
			if mean[name] >= most*mean["uniform"] {
				t.Errorf("%d dimensions: %s loses %.4f, uniform %.4f", d, name, mean[name], mean["uniform"])
			}
		}
	}
}

// Landmarks that come twice, rows that span few dimensions and more landmarks asked for than
// there are rows cost directions, not accuracy.
func TestNystromDropsDirectionsWithoutContent(t *testing.T) {
	sample, _ := someRows(40, 6)
	twice := matrix.NewDense(40, 6)
	for i := range 40 {
		copy(twice.Row(i), sample.Dense.Row(i%20))
	}
	for _, c := range []struct {
		name   string
		kernel kernel.Kernel
		h      *matrix.Dense
		rank   int
		chosen string
	}{
		{"twice", rbf, twice, 20, "rank 20 of 40 landmarks"},
		{"linear", linear, sample.Dense, 6, "rank 6 of 40 landmarks"},
		{"poly", poly(1, 2, 0), sample.Dense, 21, "rank 21 of 40 landmarks"},
	} {
		cfg := Config{Map: "nystrom", Kernel: c.kernel, Features: 64, Given: c.h, Options: Options{Landmarks: "given"}}
		m, err := Fit(t.Context(), cfg, sample)
		if err != nil {
			t.Fatal(err)
		}
		if _, d := m.Dims(); d != c.rank || m.(Chooser).Chosen() != c.chosen {
			t.Errorf("%s: %d features, %q; want %d, %q", c.name, d, m.(Chooser).Chosen(), c.rank, c.chosen)
		}
		z := transform(m, matrix.Rows{Dense: c.h})
		for i := range c.h.Rows {
			for j := range i + 1 {
				want := c.kernel.Eval(c.h.Row(i), c.h.Row(j))
				if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%s: (%d, %d) is %g, want %g", c.name, i, j, got, want)
				}
			}
		}
	}
	for _, name := range LandmarkChoices()[:5] {
		m, err := Fit(t.Context(), Config{Map: "nystrom", Kernel: rbf, Features: 64, Options: Options{Landmarks: name}}, matrix.Rows{Dense: twice})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, d := m.Dims(); d != 20 {
			t.Errorf("%s: %d features of 20 different rows", name, d)
		}
	}
}

// Features in float32 are those in float64 but for lightly of their length.
func TestLightFeaturesAreNearlyThoseOfFloat64(t *testing.T) {
	normal := matrix.NewDense(500, 200)
	random.New(1, "light").FillNormal(normal.Data)
	far := matrix.NewDense(500, 200)
	for i, v := range normal.Data {
		far.Data[i] = 1000 + v
	}
	few, _ := someRows(500, 30)
	for name, x := range map[string]*matrix.Dense{"normal": normal, "far": far, "few": few.Dense} {
		rows := matrix.Rows{Dense: x}
		gamma, err := kernel.MedianGamma(rows, 1, "rbf")
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []kernel.Kernel{{Name: "rbf", Gamma: gamma}, {Name: "rbf", Gamma: 10 * gamma},
			{Name: "matern", Gamma: gamma, Nu: 1.5}} {
			h := x.Slice(0, 300)
			w, r, err := nystromWeights(t.Context(), Config{Kernel: k}, h)
			if err != nil {
				t.Fatal(err)
			}
			if !light(k, h, w) {
				t.Fatalf("%s, %v: float32 will not do", name, k)
			}
			var z [2]*matrix.Dense
			for i := range z {
				f, err := newWeighted(k, h, w, r, i == 1)
				if err != nil {
					t.Fatal(err)
				}
				z[i] = transform(f, rows)
			}
			error2 := 0.0
			for i := range z[0].Rows {
				for j, v := range z[0].Row(i) {
					d := float64(v - z[1].Row(i)[j])
					error2 += d * d / float64(z[0].Rows)
				}
			}
			if e := math.Sqrt(error2); !(e <= lightly) || e == 0 {
				t.Errorf("%s, %v: features differ by %g", name, k, e)
			}
		}
	}
	// Landmarks close together: a third of the digits would be lost.
	near := matrix.NewDense(100, 3)
	random.New(2, "light").FillNormal(near.Data)
	w, _, err := nystromWeights(t.Context(), Config{Kernel: rbf}, near)
	if err != nil {
		t.Fatal(err)
	}
	if light(rbf, near, w) {
		t.Error("float32 is said to do for landmarks that are nearly dependent")
	}
}

// Centres of clusters of histograms are histograms, also in bins that are empty in all of a cluster.
func TestCentresOfHistogramsAreHistograms(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r := random.New(5, "test")
	x := matrix.NewDense(300, 16)
	for i := range x.Rows {
		for j := range x.Cols {
			if j%4 == i%4 || j%7 == i%7 { // each row has bins of its group alone
				x.Row(i)[j] = float32(0.01 * math.Abs(r.Normal()))
			}
		}
	}
	for _, m := range []string{"nystrom", "cksvd", "empirical"} {
		for _, k := range everyKernel {
			if math.IsInf(float64(k.Lowest()), -1) {
				continue
			}
			cfg := Config{Map: m, Kernel: k, Features: 40, Options: Options{Landmarks: "kmeans"}}
			if _, err := Fit(t.Context(), cfg, matrix.Rows{Dense: x}); err != nil {
				t.Errorf("%s of %s: %v", m, k.Name, err)
			}
		}
	}
}
