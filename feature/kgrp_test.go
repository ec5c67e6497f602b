package feature

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/kernel"
	"mercer/matrix"
)

// nystromValues returns k_m(x)ᵀK⁺k_m(y), with K centred, for rows x, y of a matrix, from the leading
// rank eigenvalues of K: by gonum alone.
func nystromValues(k kernel.Kernel, rows, x *matrix.Dense, rank int) *mat.Dense {
	m := rows.Rows
	gram := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			gram.Set(i, j, k.Eval(rows.Row(i), rows.Row(j)))
		}
	}
	h := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			h.Set(i, j, -1/float64(m))
		}
		h.Set(i, i, 1-1/float64(m))
	}
	gram.Mul(h, gram)
	gram.Mul(gram, h)
	var svd mat.SVD
	svd.Factorize(gram, mat.SVDFull)
	values := svd.Values(nil)
	var v, kx, a mat.Dense
	svd.VTo(&v)
	kx.ReuseAs(m, x.Rows)
	for i := range m {
		for j := range x.Rows {
			kx.Set(i, j, k.Eval(rows.Row(i), x.Row(j)))
		}
	}
	a.Mul(v.T(), &kx)
	for i := range m {
		for j := range x.Rows {
			if i < rank {
				a.Set(i, j, a.At(i, j)/math.Sqrt(values[i]))
			} else {
				a.Set(i, j, 0)
			}
		}
	}
	var product mat.Dense
	product.Mul(a.T(), &a)
	return &product
}

// On a sample of which all rows are kept only the directions are random. Over their seeds,
// z(x)·z(y) is in the mean (m-t)/(m-1) times the Nyström value for kg-rp, and that value for
// korp and kpca-rp.
func TestKernelProjectionsMeans(t *testing.T) {
	const m = 12
	n := 1500
	if testing.Short() {
		n = 150
	}
	sample, _ := someRows(m, 5)
	x, _ := someRows(m+4, 5) // the last four are no rows of the sample
	for i := range 4 {
		copy(x.Dense.Row(i), x.Dense.Row(m+i))
	}
	points := x.Dense.Slice(0, 6)
	for _, c := range []struct {
		cfg      Config
		rank     int
		factor   float64
		variance bool
	}{
		{Config{Map: "kg-rp", Kernel: rbf, Options: Options{T: 4}}, m - 1, (m - 4.) / (m - 1), false},
		{Config{Map: "kg-rp", Kernel: poly(1, 2, 0), Options: Options{T: 1}}, m - 1, 1, false},
		{Config{Map: "kg-rp", Kernel: linear, Options: Options{T: 3}}, 5, (m - 3.) / (m - 1), false},
		{Config{Map: "korp", Kernel: rbf, Options: Options{T: 4}}, m - 1, 1, false},
		{Config{Map: "korp", Kernel: laplacian, Options: Options{T: 1}}, m - 1, 1, false},
		{Config{Map: "kpca-rp", Kernel: rbf}, m - 1, 1, true},
		{Config{Map: "kpca-rp", Kernel: rbf, Options: Options{Rank: 3}}, 3, 1, true},
	} {
		c.cfg.Features, c.cfg.Pool = 8, m
		want := nystromValues(c.cfg.Kernel, sample.Dense, points, c.rank)
		var estimate [6][6][]float64
		for seed := range n {
			c.cfg.Seed = uint64(seed)
			f, err := Fit(t.Context(), c.cfg, sample)
			if err != nil {
				t.Fatal(err)
			}
			if r := f.(*kernelRP).rank; r != c.rank {
				t.Fatalf("%+v: rank %d, want %d", c.cfg, r, c.rank)
			}
			z := transform(f, matrix.Rows{Dense: points})
			for i := range 6 {
				for j := range 6 {
					estimate[i][j] = append(estimate[i][j], dot(z.Row(i), z.Row(j)))
				}
			}
		}
		for i := range 6 {
			for j := range i + 1 {
				value := c.factor * want.At(i, j)
				mean, m2, m4 := moments(estimate[i][j], value)
				if se := math.Sqrt(m2 / float64(n)); math.Abs(mean-value) > 4*se+1e-6*math.Abs(value) {
					t.Errorf("%+v: (%d, %d) is %g in the mean, want %g ± %.2g", c.cfg, i, j, mean, value, se)
				}
				if !c.variance {
					continue
				}
				v := (want.At(i, i)*want.At(j, j) + value*value) / 8
				if se := math.Sqrt((m4 - m2*m2) / float64(n)); math.Abs(m2-v) > 4*se {
					t.Errorf("%+v: (%d, %d) has variance %g, want %g ± %.2g", c.cfg, i, j, m2, v, se)
				}
			}
		}
	}
}

// As many orthonormal directions as the rank, or twice as many, project nothing away.
func TestOrthonormalProjectionOfFullRankIsExact(t *testing.T) {
	sample, _ := someRows(20, 4)
	x, _ := someRows(25, 4)
	for _, k := range []kernel.Kernel{rbf, linear, poly(1, 2, 1), {Name: "arccos", Degree: 1}} {
		for _, times := range []int{1, 2} {
			cfg := Config{Map: "korp", Kernel: k, Features: 1, Options: Options{Pool: 20, T: 1}}
			f, err := Fit(t.Context(), cfg, sample)
			if err != nil {
				t.Fatal(err)
			}
			r := f.(*kernelRP).rank
			cfg.Features = r * times
			if f, err = Fit(t.Context(), cfg, sample); err != nil {
				t.Fatal(err)
			}
			z, want := transform(f, x), nystromValues(k, sample.Dense, x.Dense, r)
			for i := range z.Rows {
				for j := range i + 1 {
					// Features are rounded to float32; those of a row of zeros may be 0.
					size := 1e-6 * math.Sqrt(want.At(i, i)*want.At(j, j))
					if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want.At(i, j)) > size+1e-8*math.Sqrt(mat.Trace(want)) {
						t.Errorf("%s, D=%d: (%d, %d) is %g, want %g", k, cfg.Features, i, j, got, want.At(i, j))
					}
				}
			}
		}
	}
}

// On the kept rows themselves nothing is outside of their span: distances come out right, also
// when rows come twice, and then the rank is lower.
func TestRankOfRepeatedRows(t *testing.T) {
	sample, _ := someRows(30, 6)
	for i := range 10 {
		copy(sample.Dense.Row(20+i), sample.Dense.Row(i))
	}
	for _, name := range []string{"kg-rp", "korp", "kpca-rp"} {
		cfg := Config{Map: name, Kernel: rbf, Features: 19, Options: Options{Pool: 30}}
		f, err := Fit(t.Context(), cfg, sample)
		if err != nil {
			t.Fatal(err)
		}
		if r := f.(*kernelRP).rank; r != 19 {
			t.Errorf("%s: rank %d of 20 different rows, want 19", name, r)
		}
		z := transform(f, sample)
		for _, v := range z.Data {
			if v-v != 0 {
				t.Fatalf("%s: a feature is %g", name, v)
			}
		}
		if name != "korp" {
			continue
		}
		for i := range 30 {
			for j := range i {
				d := norm2(z.Row(i)) + norm2(z.Row(j)) - 2*dot(z.Row(i), z.Row(j))
				if want := 2 - 2*rbf.Eval(sample.Dense.Row(i), sample.Dense.Row(j)); math.Abs(d-want) > 1e-5 {
					t.Errorf("rows %d and %d are %g apart, want %g", i, j, d, want)
				}
			}
		}
	}
}

func TestKernelProjectionsSayWhatIsWrong(t *testing.T) {
	sample, _ := someRows(10, 3)
	one, _ := someRows(1, 3)
	same := matrix.Rows{Dense: matrix.NewDense(9, 3)}
	for i := range same.Dense.Data {
		same.Dense.Data[i] = 0.3 * float32(1+i%3)
	}
	for _, c := range []struct {
		cfg    Config
		sample matrix.Rows
		want   string
	}{
		{Config{Map: "kg-rp", Kernel: rbf, Features: 4}, one, "a sample of 1; it needs 2"},
		{Config{Map: "kg-rp", Kernel: rbf, Features: 4, Options: Options{T: 10}}, sample, "t is 10; it must be less than the 10 rows"},
		{Config{Map: "kg-rp", Kernel: rbf, Features: 4, Options: Options{T: -1}}, sample, "t -1"},
		{Config{Map: "kg-rp", Kernel: rbf, Features: 4, Options: Options{Rank: 2}}, sample, "no option rank"},
		{Config{Map: "kg-rp", Kernel: rbf, Features: 4}, same, "rows of the sample are alike"},
		{Config{Map: "korp", Kernel: poly(0.3, 3, 1), Features: 4}, same, "rows of the sample are alike"},
		{Config{Map: "kpca-rp", Kernel: poly(1e30, 60, 1), Features: 4}, sample, "not finite"},
	} {
		if _, err := Fit(t.Context(), c.cfg, c.sample); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	cfg := Config{Map: "kg-rp", Kernel: rbf, Features: 4}
	f, err := Fit(t.Context(), cfg, sample)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Restore(cfg, 3, f.(Fitted).State()); err != nil || r.(*kernelRP).rank != f.(*kernelRP).rank {
		t.Errorf("a restored map has another rank: %v", err)
	}
	for name := range f.(Fitted).State() {
		state := f.(Fitted).State()
		delete(state, name)
		if _, err := Restore(cfg, 3, state); err == nil {
			t.Errorf("a state without %s was restored", name)
		}
	}
	if _, err := Restore(cfg, 4, f.(Fitted).State()); err == nil {
		t.Error("a state for 3 dimensions was restored for 4")
	}
}
