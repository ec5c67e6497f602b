package kernel

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/matrix"
)

var histogramKernels = []Kernel{
	{Name: "hellinger"},
	{Name: "hellinger", Homogeneity: 0.5},
	{Name: "chi2"},
	{Name: "chi2", Homogeneity: 2},
	{Name: "chi2", Homogeneity: 0.3},
	{Name: "intersection"},
	{Name: "intersection", Homogeneity: 1.7},
	{Name: "jensen-shannon"},
	{Name: "jensen-shannon", Homogeneity: 0.6},
	{Name: "exp-chi2", Gamma: 0.1},
	{Name: "exp-chi2", Gamma: 30},
	{Name: "skewed-chi2", Coef0: 1},
	{Name: "skewed-chi2", Coef0: 0.01},
	{Name: "skewed-intersection", Coef0: 1},
	{Name: "skewed-intersection", Coef0: 0.03},
}

// histograms are rows without what is below 0.
func histograms(name string, n, d int, zero float64) *matrix.Dense {
	x := rows(name, n, d, zero)
	for i, v := range x.Data {
		x.Data[i] = float32(math.Abs(float64(v)))
	}
	return x
}

// 260 and 270 rows are more than one block, and 13 dimensions no multiple of anything. Some
// rows are 0, equal, near or parallel.
func TestGramOfHistogramsMatchesSingleValues(t *testing.T) {
	x, y := histograms("x", 260, 13, 0.5), histograms("y", 270, 13, 0.5)
	clear(x.Row(74))
	clear(y.Row(3))
	copy(y.Row(5), x.Row(37))
	for j, v := range x.Row(111) {
		y.Row(10)[j] = v * (1 + 1e-6*float32(j))
		y.Row(11)[j] = v + 1e-12
		y.Row(12)[j] = 3 * v
	}
	for _, k := range histogramKernels {
		checkGram(t, k, x, y, 1e-13, 2e-12)
		few := x.Slice(50, 120)
		checkGram(t, k, few, few, 1e-13, 2e-12)
	}
}

func TestGramOfWideHistogramsMatchesSingleValues(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x := histograms("wide", 34, 1<<13+3, 0.99) // 32 rows a block
	for _, k := range histogramKernels {
		k.Gamma /= 100
		checkGram(t, k, x, x, 1e-12, 1e-11)
	}
}

// Numbers of all sizes that float32 has.
func TestGramOfTinyAndHugeHistograms(t *testing.T) {
	x := histograms("sizes", 40, 6, 0.2)
	for i, v := range x.Data {
		x.Data[i] = v * float32(math.Pow(10, float64(i*7%80-42)))
	}
	x.Row(1)[0], x.Row(2)[1], x.Row(2)[2] = math.MaxFloat32, math.SmallestNonzeroFloat32, math.MaxFloat32
	for i := range x.Row(3) {
		x.Row(3)[i], x.Row(4)[i], x.Row(5)[i] = math.MaxFloat32, math.SmallestNonzeroFloat32, 0
	}
	for _, k := range histogramKernels {
		checkGram(t, k, x, x, 1e-13, 2e-12)
	}
	for _, k := range []Kernel{
		{Name: "exp-chi2", Gamma: 1e-300}, {Name: "exp-chi2", Gamma: 1e300}, {Name: "skewed-chi2", Coef0: 1e-40},
		{Name: "skewed-chi2", Coef0: 1e38}, {Name: "skewed-intersection", Coef0: 1e-40}, {Name: "skewed-intersection", Coef0: 1e38},
	} {
		checkGram(t, k, x, x, 1e-13, 2e-12)
	}
}

// Skewed kernels take numbers below 0, near to -c.
func TestSkewedKernelsOfNegativeNumbers(t *testing.T) {
	x := rows("skewed", 50, 7, 0.3)
	for i, v := range x.Data {
		x.Data[i] = max(v, -1) * 0.999
	}
	for _, name := range []string{"skewed-chi2", "skewed-intersection"} {
		k := Kernel{Name: name, Coef0: 1}
		x.Row(9)[3] = 0
		checkGram(t, k, x, x, 1e-13, 2e-12)
		x.Row(9)[3] = k.Lowest()
		if err := k.CheckRows(matrix.Rows{Dense: x}); err != nil {
			t.Error(err)
		}
		x.Row(9)[3] = -1
		if _, err := NewGram(k, matrix.Rows{Dense: x}, matrix.Rows{Dense: x}); err == nil {
			t.Errorf("%s takes -c", name)
		}
	}
}

// Explicit zeros in sparse rows are zeros.
func TestHistogramsWithExplicitZeros(t *testing.T) {
	x := histograms("zeros", 20, 9, 0.5)
	full := &matrix.CSR{Rows: 20, Cols: 9, Ptr: []int{0}}
	for i := range 20 {
		for j, v := range x.Row(i) {
			full.Idx, full.Val = append(full.Idx, int32(j)), append(full.Val, v)
		}
		full.Ptr = append(full.Ptr, len(full.Val))
	}
	for _, k := range histogramKernels {
		for _, other := range both(x) {
			for _, pair := range [][2]matrix.Rows{{other, {CSR: full}}, {{CSR: full}, other}} {
				got, d2 := gram(t, k, pair[0], pair[1]), distances2(t, k, pair[0], pair[1])
				for i := range 20 {
					for j := range 20 {
						want, want2 := k.Eval(x.Row(i), x.Row(j)), k.Distance2(x.Row(i), x.Row(j))
						if v, w := got[i*20+j], d2[i*20+j]; !near(v, want, 1e-13) || relative(w, want2) > 1e-11 {
							t.Errorf("%s, sparse %t: %g and %g, want %g and %g", k, other.CSR != nil, v, w, want, want2)
						}
					}
				}
			}
		}
	}
}

func TestGramOfHistogramsIsSymmetric(t *testing.T) {
	x := histograms("self", 290, 7, 0.3)
	copy(x.Data[145*7:], x.Data[:145*7])
	for _, k := range histogramKernels {
		for _, a := range both(x) {
			got, d2 := gram(t, k, a, a), distances2(t, k, a, a)
			for i := range 290 {
				if v := got[i*290+i]; k.unit() && v != 1 {
					t.Errorf("%s: K[%d,%d] is 1 %+g", k, i, i, v-1)
				}
				for j := range i {
					if v, w := got[i*290+j], got[j*290+i]; !near(v, w, 3e-15) {
						t.Fatalf("%s, sparse %t: K[%d,%d] = %g but K[%d,%d] = %g", k, a.CSR != nil, i, j, v, j, i, w)
					}
					if v, w := d2[i*290+j], d2[j*290+i]; !(relative(v, w) <= 1e-11) || i-j == 145 && v != 0 {
						t.Fatalf("%s, sparse %t: d²[%d,%d] = %g but d²[%d,%d] = %g", k, a.CSR != nil, i, j, v, j, i, w)
					}
				}
			}
		}
	}
}

func TestGramOfHistogramsIsPositiveSemidefinite(t *testing.T) {
	x := histograms("psd", 120, 3, 0.1)
	for _, k := range histogramKernels {
		g := gram(t, k, matrix.Rows{Dense: x}, matrix.Rows{Dense: x})
		largest := slices.Max(g)
		for i := range x.Rows {
			g[i*x.Rows+i] += 120 * 1e-15 * largest
		}
		var c mat.Cholesky
		if !c.Factorize(mat.NewSymDense(x.Rows, g)) {
			t.Errorf("%s: not positive semidefinite", k)
		}
		g[1] = -2 * largest
		if c.Factorize(mat.NewSymDense(x.Rows, g)) {
			t.Errorf("%s: the test sees no indefinite matrix", k)
		}
	}
}

// k(ax, ay) = aʰ·k(x, y), and d² alike; k(x, x) = Σ x_jʰ.
func TestAdditiveKernelsAreHomogeneous(t *testing.T) {
	x := histograms("homogeneous", 30, 5, 0.2)
	scaled := matrix.NewDense(30, 5)
	const a = 8 // exact in float32
	for i, v := range x.Data {
		scaled.Data[i] = a * v
	}
	for _, name := range []string{"hellinger", "chi2", "intersection", "jensen-shannon"} {
		for _, h := range []float64{0, 0.3, 1, 2, 3.5} {
			k := Kernel{Name: name, Homogeneity: h}
			factor := math.Pow(a, k.homogeneity())
			for i := range 30 {
				norm := 0.0
				for _, v := range x.Row(i) {
					norm += math.Pow(float64(v), k.homogeneity()) * one(v > 0)
				}
				if got := k.Eval(x.Row(i), x.Row(i)); relative(got, norm) > 1e-14 {
					t.Errorf("%s: k(x, x) = %g, want %g", k, got, norm)
				}
				for j := range 30 {
					v, w := k.Eval(x.Row(i), x.Row(j)), k.Eval(scaled.Row(i), scaled.Row(j))
					if relative(w, factor*v) > 1e-14 {
						t.Errorf("%s: k(ax, ay) = %g, want %g", k, w, factor*v)
					}
					v, w = k.Distance2(x.Row(i), x.Row(j)), k.Distance2(scaled.Row(i), scaled.Row(j))
					if relative(w, factor*v) > 1e-14 {
						t.Errorf("%s: d²(ax, ay) = %g, want %g", k, w, factor*v)
					}
				}
			}
		}
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// The signatures are ordered: 1 ≥ 𝒦 of jensen-shannon ≥ sech(ω/2) ≥ e^(-|ω|/2).
func TestAdditiveKernelsAreOrdered(t *testing.T) {
	x := histograms("order", 40, 6, 0.3)
	for i := range 40 {
		for j := range i {
			last := math.Inf(1)
			for _, name := range []string{"hellinger", "jensen-shannon", "chi2", "intersection"} {
				v := Kernel{Name: name}.Eval(x.Row(i), x.Row(j))
				if v > last*(1+1e-15) {
					t.Errorf("%s is %g, the kernel before %g", name, v, last)
				}
				last = v
			}
		}
	}
}

// With a large c both skewed kernels depend on (x-y)/c alone: c²(1-k) tends to Σ(x-y)²/8 and
// c(1-k) to Σ|x-y|/2, with a relative error of some x/c.
func TestSkewedKernelsWithLargeC(t *testing.T) {
	x, y := []float32{1, 0, 2.5, 3}, []float32{0.5, 4, 2.5, 0}
	const c = 1e7
	k := Kernel{Name: "skewed-chi2", Coef0: c}
	if got, want := c*c*k.Distance2(x, y)/2, squared(x, y)/8; relative(got, want) > 1e-6 {
		t.Errorf("skewed-chi2: c²(1-k) = %g, want %g", got, want)
	}
	k.Name = "skewed-intersection"
	if got, want := c*k.Distance2(x, y)/2, absolute(x, y)/2; relative(got, want) > 1e-6 {
		t.Errorf("skewed-intersection: c(1-k) = %g, want %g", got, want)
	}
}

func TestGramOfHistogramsDoesNotDependOnBlocksOrThreads(t *testing.T) {
	x := histograms("blocks", 280, 9, 0.5)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, k := range histogramKernels {
		for _, a := range both(x) {
			want, want2 := gram(t, k, a, a), distances2(t, k, a, a)
			g, err := NewGram(k, a, a)
			if err != nil {
				t.Fatal(err)
			}
			got, got2 := make([]float64, len(want)), make([]float64, len(want))
			for i := 0; i < 280; i += 37 {
				j := min(i+37, 280)
				g.Rows(i, j, got[i*280:j*280])
				g.Distances2(i, j, got2[i*280:j*280])
			}
			if !slices.Equal(got, want) || !slices.Equal(got2, want2) {
				t.Errorf("%s, sparse %t: 37 rows at a time give other values", k, a.CSR != nil)
			}
		}
	}
}

func TestHistogramsOfNothing(t *testing.T) {
	none, some := matrix.Rows{Dense: matrix.NewDense(0, 3)}, matrix.Rows{Dense: matrix.NewDense(2, 3)}
	empty := matrix.Rows{Dense: matrix.NewDense(2, 0)}
	for _, k := range histogramKernels {
		gram(t, k, none, some)
		gram(t, k, some, none)
		want := k.Eval(nil, nil)
		if _, additive := k.Additive(); k.unit() != (want == 1) || additive != (want == 0) {
			t.Errorf("%s of rows without dimensions is %g", k, want)
		}
		for _, v := range gram(t, k, empty, empty) {
			if v != want {
				t.Errorf("%s of rows without dimensions is %g, want %g", k, v, want)
			}
		}
	}
}

func TestHistogramKernelsRefuseNumbersBelowZero(t *testing.T) {
	x := histograms("below", 9, 4, 0.5)
	good := both(x)
	x.Row(6)[2] = -1e-45
	for _, k := range histogramKernels {
		if k.Lowest() < 0 {
			continue
		}
		for i, bad := range both(x) {
			_, err1 := NewGram(k, bad, good[i])
			_, err2 := NewGram(k, good[i], bad)
			_, err3 := NewAgainst(k, bad)
			_, err4 := MedianGamma(bad, 1, k.Name)
			for j, err := range []error{err1, err2, err3, err4} {
				var e *DomainError
				if j == 3 && k.Name != "exp-chi2" {
					continue
				}
				want := "kernel: row 7, dimension 3: -1e-45 is too small; " + k.Name + " takes numbers of 0 or more"
				if !errors.As(err, &e) || e.Row != 6 || e.Dim != 2 || e.Error() != want {
					t.Errorf("%s, %d: error %v", k, j, err)
				}
			}
		}
	}
}

// Values and distances of pairs that are near, equal, tiny, huge and of very different size
// have nearly all digits of those computed with 400, single and in Gram matrices; in these,
// values to 10⁻¹³·√(k(x, x)k(y, y)).
func TestHistogramKernelsArePrecise(t *testing.T) {
	data, err := os.ReadFile("testdata/histograms.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Pairs [][2][]float32
		Cases []struct {
			Kernel Kernel
			Values [][2]float64
		}
		Sklearn struct {
			X, Y           [][]float32
			Distance, Chi2 [][]float64
			Gamma          float64
		}
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Cases) != 27 || len(recorded.Pairs) != 14 {
		t.Fatalf("%d cases of %d pairs recorded", len(recorded.Cases), len(recorded.Pairs))
	}
	for _, c := range recorded.Cases {
		k := c.Kernel
		for i, want := range c.Values {
			x, y := recorded.Pairs[i][0], recorded.Pairs[i][1]
			got := [2]float64{k.Eval(x, y), k.Distance2(x, y)}
			for j, name := range []string{"k", "d²"} {
				tolerance := 1e-14
				if j == 0 && k.unit() {
					tolerance *= max(1, -math.Log(want[0])) // of an exponential, that of its argument
				}
				if e := relative(got[j], want[j]); e > tolerance && math.Abs(got[j]-want[j]) > 1e-300 {
					t.Errorf("%s, %s of pair %d: %g, want %g: relative error %.2g", k, name, i, got[j], want[j], e)
				}
			}
			m, n := matrix.NewDense(1, len(x)), matrix.NewDense(1, len(y))
			copy(m.Data, x)
			copy(n.Data, y)
			scale := math.Sqrt(k.Eval(x, x)) * math.Sqrt(k.Eval(y, y))
			for _, a := range both(m) {
				for _, b := range both(n) {
					v, d := gram(t, k, a, b)[0], distances2(t, k, a, b)[0]
					if math.Abs(v-want[0]) > 1e-13*scale || relative(d, want[1]) > 1e-12 && math.Abs(d-want[1]) > 1e-300 {
						t.Errorf("%s, sparse %t, %t, pair %d: Gram has %g and %g, want %g and %g", k, a.CSR != nil, b.CSR != nil, i, v, d, want[0], want[1])
					}
				}
			}
		}
	}
	s := recorded.Sklearn
	for i, x := range s.X {
		for j, y := range s.Y {
			if got, want := (Kernel{Name: "chi2"}).Distance2(x, y), s.Distance[i][j]; relative(got, want) > 1e-15 {
				t.Errorf("chi2 distance of rows %d and %d: %g, scikit-learn has %g", i, j, got, want)
			}
			if got, want := (Kernel{Name: "exp-chi2", Gamma: s.Gamma}).Eval(x, y), s.Chi2[i][j]; relative(got, want) > 1e-15 {
				t.Errorf("exp-chi2 of rows %d and %d: %g, scikit-learn has %g", i, j, got, want)
			}
		}
	}
}
