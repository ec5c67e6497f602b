package papers

import (
	"context"
	"math"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

func normal(n, d int, seed uint64) matrix.Rows {
	x := matrix.NewDense(n, d)
	r := random.New(seed, "papers.test")
	for i := range x.Data {
		x.Data[i] = float32(r.Normal())
	}
	return matrix.Rows{Dense: x}
}

func poly(degree int) kernel.Kernel { return kernel.Kernel{Name: "poly", Gamma: 1, Degree: degree} }

// The feature space itself has no distortion, and features √1.21 as long have 0.21, whatever
// equal rows there are.
func TestDistortion(t *testing.T) {
	x := normal(20, 4, 1)
	copy(x.Dense.Row(7), x.Dense.Row(3))
	exact, err := approx.Distances2(poly(2), x)
	if err != nil {
		t.Fatal(err)
	}
	z, err := transformed(feature.Config{Map: "explicit-poly", Kernel: poly(2)}, x, x)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := distortion(z, exact); err != nil || v > 1e-5 {
		t.Errorf("distortion of the feature space itself: %g, %v", v, err)
	}
	for i := range z.Data {
		z.Data[i] *= 1.1
	}
	if v, err := distortion(z, exact); err != nil || math.Abs(v-0.21) > 1e-5 {
		t.Errorf("distortion of features that are too long: %g, %v", v, err)
	}
	if _, err := distortion(matrix.NewDense(2, 1), make([]float64, 4)); err == nil {
		t.Error("there is a distortion of equal rows")
	}
}

// A projection by normal directions from the feature space has the distortion of χ².
func TestDistortionOfAProjection(t *testing.T) {
	const d, runs = 50, 200
	x := normal(12, 5, 2)
	exact, err := approx.Distances2(poly(2), x)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float64
	for seed := range uint64(runs) {
		cfg := explicit("normal", 0)
		cfg.Kernel, cfg.Seed = poly(2), seed
		z, err := mapped(cfg, []int{d}, x, x)
		if err != nil {
			t.Fatal(err)
		}
		v, err := distortion(z[0], exact)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, []float64{v})
	}
	mean, sd := meanSD(all, 0)
	if want := projected(d); math.Abs(mean-want) > 4*sd/math.Sqrt(runs) {
		t.Errorf("distortion %.4f ± %.4f, want %.4f", mean, sd/math.Sqrt(runs), want)
	}
}

// A map that is fitted once for all D gives each D outputs of its own, as long as if it had been
// fitted for that D.
func TestFittedOnceForAllD(t *testing.T) {
	x, train := normal(10, 5, 5), normal(40, 5, 6)
	cfg := kg(20, 5)
	cfg.Kernel, cfg.Seed = poly(2), 3
	parts, err := mapped(cfg, []int{4, 12}, x, train)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Features = 16
	whole, err := transformed(cfg, x, draw(train, 20, 3, "sample"))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, part := range parts {
		for i := range part.Rows {
			for j, v := range part.Row(i) {
				if want := float64(whole.Row(i)[at+j]) * math.Sqrt(16/float64(part.Cols)); math.Abs(float64(v)-want) > 1e-6*math.Abs(want) {
					t.Fatalf("D = %d, feature %d: %g, want %g", part.Cols, j, v, want)
				}
			}
		}
		at += part.Cols
	}
	if at != 16 {
		t.Errorf("%d outputs in all", at)
	}
}

// The whole way on data that are made up: every kind of map, in two seeds, on sparse rows.
func TestDistortionTable(t *testing.T) {
	words := &matrix.CSR{Cols: 12, Ptr: []int{0}}
	r := random.New(1, "papers.test.words")
	for range 150 {
		for j := range 12 {
			if r.Uniform() < 0.4 {
				words.Idx, words.Val = append(words.Idx, int32(j)), append(words.Val, 1)
			}
		}
		words.Ptr = append(words.Ptr, len(words.Idx))
		words.Rows++
	}
	table := distortions{degree: 2, dims: []int{64, 256}, rows: 30,
		methods: []method{
			{"φ + RP", "0.1±0.1 0.1±0.1", explicit("sparse", 3)},
			{"Nyström", "0.1±0.1 0.1±0.1", feature.Config{Map: "nystrom"}},
			{"D2PK-RP", "0.1±0.1 ?", d2pk(2)},
			{"PK-RP", "0.1±0.1 0.1±0.1", pk("normal", 0, 500)},
			{"KG-RP", "0.1±0.1 0.1±0.1", kg(100, 30)},
		},
		open: func(context.Context, string) (func(int, uint64) (matrix.Rows, matrix.Rows), error) {
			return func(n int, seed uint64) (matrix.Rows, matrix.Rows) { return part(matrix.Rows{CSR: words}, n, seed) }, nil
		},
	}.table(Table{Name: "words"})
	result, err := Run(context.Background(), table, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range result.Cells {
		for j, c := range row {
			// Two standard deviations of a single pair's distortion are far more than the mean of all.
			if !(c.Mean > 0 && c.Mean < 0.6) || c.SD == 0 && i != 1 {
				t.Errorf("%s, %s: %g ± %g", table.Rows[i].Name, table.Columns[j], c.Mean, c.SD)
			}
		}
	}
	if result.Cells[2][1].Mark != Unreadable {
		t.Errorf("%v where the paper cannot be read", result.Cells[2][1])
	}
	quick, err := Run(context.Background(), table, Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if quick.Cells[0][0].Mark == NotRun || quick.Cells[0][1].Mark != NotRun {
		t.Errorf("a quick run has %v", quick.Cells[0])
	}
}
