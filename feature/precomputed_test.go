package feature

import (
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// Features of rows of kernel values have the values as their products: among training rows, of others with these, and of a few
// landmarks as nystrom has them.
func TestPrecomputedFeaturesHaveTheirProducts(t *testing.T) {
	r := random.New(1, "precomputed")
	x := matrix.NewDense(60, 3)
	for i := range x.Data {
		x.Data[i] = float32(r.Normal())
	}
	rbf := kernel.Kernel{Name: "rbf", Gamma: 0.4}
	values := func(from, to, m int) *matrix.Dense {
		k := matrix.NewDense(to-from, m)
		for i := range k.Rows {
			for j := range m {
				k.Row(i)[j] = float32(rbf.Eval(x.Row(from+i), x.Row(j)))
			}
		}
		return k
	}
	cfg := Config{Map: Precomputed, Kernel: kernel.Linear.Usual()}
	m, err := Fit(t.Context(), cfg, matrix.Rows{Dense: values(0, 40, 40)})
	if err != nil {
		t.Fatal(err)
	}
	_, d := m.Dims()
	z, w := matrix.NewDense(40, d), matrix.NewDense(20, d)
	m.Transform(z, matrix.Rows{Dense: values(0, 40, 40)})
	m.Transform(w, matrix.Rows{Dense: values(40, 60, 40)})
	dot := func(a, b []float32) (sum float64) {
		for j, v := range a {
			sum += float64(v) * float64(b[j])
		}
		return sum
	}
	for i := range 60 {
		for j := range 40 {
			row := z.Row(min(i, 39))
			if i >= 40 {
				row = w.Row(i - 40)
			}
			if got, want := dot(row, z.Row(j)), rbf.Eval(x.Row(i), x.Row(j)); math.Abs(got-want) > 1e-4 {
				t.Fatalf("rows %d and %d: %g, want %g", i, j, got, want)
			}
		}
	}
	// With 10 of the rows as landmarks the products are those of nystrom.
	cfg.Landmarks, cfg.Given = "given", values(0, 10, 10)
	few, err := Fit(t.Context(), cfg, matrix.Rows{Dense: values(0, 40, 10)})
	if err != nil {
		t.Fatal(err)
	}
	nystrom, err := Fit(t.Context(), Config{Map: Nystrom, Kernel: rbf, Features: 10, Given: x.Slice(0, 10), Options: Options{Landmarks: "given"}},
		matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	_, d = few.Dims()
	_, e := nystrom.Dims()
	z, w = matrix.NewDense(60, d), matrix.NewDense(60, e)
	few.Transform(z, matrix.Rows{Dense: values(0, 60, 10)})
	nystrom.Transform(w, matrix.Rows{Dense: x})
	for i := range 60 {
		for j := range 60 {
			if got, want := dot(z.Row(i), z.Row(j)), dot(w.Row(i), w.Row(j)); math.Abs(got-want) > 1e-4 {
				t.Fatalf("rows %d and %d of landmarks: %g, nystrom has %g", i, j, got, want)
			}
		}
	}
	cfg = Config{Map: Precomputed, Kernel: kernel.Linear.Usual(), Options: Options{Rank: 4}}
	if m, err = Fit(t.Context(), cfg, matrix.Rows{Dense: values(0, 40, 40)}); err != nil {
		t.Fatal(err)
	}
	again, err := Restore(cfg, 40, m.(Fitted).State())
	if err != nil {
		t.Fatal(err)
	}
	if _, d := again.Dims(); d != 4 {
		t.Errorf("rank 4 has %d features", d)
	}
}

func TestPrecomputedRefusesWhatIsNoKernel(t *testing.T) {
	for want, rows := range map[string][][]float32{
		"the matrix of training rows is square":            {{1, 0}},
		"row 1, column 2 is 0.5, and row 2, column 1 is 0": {{1, 0.5}, {0, 1}},
		"its least eigenvalue is -1":                       {{1, 2}, {2, 1}},
		"no eigenvalue above 0":                            {{0, 0}, {0, 0}},
	} {
		_, err := Fit(t.Context(), Config{Map: Precomputed, Kernel: kernel.Linear.Usual()}, matrix.Rows{Dense: denseOf(rows)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
