package kernel

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// rows returns n random rows of d dimensions, of whose elements a share is 0.
func rows(name string, n, d int, zero float64) *matrix.Dense {
	r := random.New(1, name)
	m := matrix.NewDense(n, d)
	for i := range m.Data {
		if r.Uniform() >= zero {
			m.Data[i] = float32(r.Normal())
		}
	}
	return m
}

func sparse(m *matrix.Dense) *matrix.CSR {
	s := &matrix.CSR{Rows: m.Rows, Cols: m.Cols, Ptr: []int{0}}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v != 0 {
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Val))
	}
	return s
}

// both gives a matrix in its dense and its sparse form; the dense one as columns of a wider
// matrix, the sparse one as the last rows of a longer one.
func both(m *matrix.Dense) []matrix.Rows {
	wide := matrix.NewDense(m.Rows, m.Cols+3)
	long := matrix.NewDense(m.Rows+2, m.Cols)
	for i := range long.Rows {
		if i >= 2 {
			copy(long.Row(i), m.Row(i-2))
			copy(wide.Row(i - 2)[1:], m.Row(i-2))
		} else {
			long.Row(i)[i] = 1
		}
	}
	return []matrix.Rows{{Dense: wide.Columns(1, m.Cols+1)}, {CSR: sparse(long).Slice(2, m.Rows+2)}}
}

func gram(t *testing.T, k Kernel, x, y matrix.Rows) []float64 {
	t.Helper()
	g, err := NewGram(k, x, y)
	if err != nil {
		t.Fatal(err)
	}
	n, m := g.Dims()
	dst := slices.Repeat([]float64{math.NaN()}, n*m)
	g.Rows(0, n, dst)
	return dst
}

func distances2(t *testing.T, k Kernel, x, y matrix.Rows) []float64 {
	t.Helper()
	g, err := NewGram(k, x, y)
	if err != nil {
		t.Fatal(err)
	}
	n, m := g.Dims()
	dst := slices.Repeat([]float64{math.NaN()}, n*m)
	g.Distances2(0, n, dst)
	return dst
}

// checkGram compares values (within an error relative to √(k(x,x)k(y,y))) and distances
// (within a relative one) with those of single pairs, dense and sparse.
func checkGram(t *testing.T, k Kernel, x, y *matrix.Dense, valueError, distanceError float64) {
	t.Helper()
	step := 1
	if testing.Short() || k.Name == "matern" && closedForm(k.Nu) == nil {
		step = min(37, (x.Rows+2)/3) // a single value of matern takes microseconds
	}
	n, m := x.Rows, y.Rows
	values, squares := make([]float64, n*m), make([]float64, n*m)
	for i := 0; i < n; i += step {
		for j := range m {
			values[i*m+j] = k.Eval(x.Row(i), y.Row(j))
			squares[i*m+j] = k.Distance2(x.Row(i), y.Row(j))
		}
	}
	xx, yy := k.Diagonal(matrix.Rows{Dense: x}), k.Diagonal(matrix.Rows{Dense: y})
	for _, a := range both(x) {
		for _, b := range both(y) {
			if x == y && (a.CSR != nil) == (b.CSR != nil) {
				b = a
			}
			k2, d2 := gram(t, k, a, b), distances2(t, k, a, b)
			wrong := 0
			for i := 0; i < n; i += step {
				for j := range m {
					at := i*m + j
					e := math.Abs(k2[at]-values[at]) / math.Sqrt(xx[i]*yy[j])
					if k2[at] != values[at] && !(e <= valueError) && wrong < 5 {
						wrong++
						t.Errorf("%s, sparse %t, %t: K[%d,%d] = %g, want %g: error %.2g", k, a.CSR != nil, b.CSR != nil, i, j, k2[at], values[at], e)
					}
					if e := relative(d2[at], squares[at]); !(e <= distanceError) && wrong < 5 {
						wrong++
						t.Errorf("%s, sparse %t, %t: d²[%d,%d] = %g, want %g: error %.2g", k, a.CSR != nil, b.CSR != nil, i, j, d2[at], squares[at], e)
					}
				}
			}
		}
	}
}

// 260 and 270 rows are more than one block, and 13 dimensions no multiple of anything. Some
// rows are 0, equal, near, opposite or parallel.
func TestGramMatchesSingleValues(t *testing.T) {
	x, y := rows("x", 260, 13, 0.5), rows("y", 270, 13, 0.5)
	clear(x.Row(74))
	clear(y.Row(3))
	copy(y.Row(5), x.Row(37))
	for j, v := range x.Row(111) {
		y.Row(10)[j] = v * (1 + 1e-6*float32(j))
		y.Row(11)[j] = -v
		y.Row(12)[j] = 3 * v
	}
	for _, k := range everyKernel {
		checkGram(t, k, x, y, 1e-13, 2e-12)
		few := x.Slice(50, 120)
		checkGram(t, k, few, few, 1e-13, 2e-12)
	}
}

func TestGramOfWideRowsMatchesSingleValues(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x := rows("wide", 3, 1<<17, 0.99) // two rows a block
	for _, k := range everyKernel {
		k.Gamma /= 100
		checkGram(t, k, x, x, 1e-12, 1e-11)
	}
}

// With a γ out of all proportion values are 0, 1 or infinite, but numbers.
func TestGramOfHugeAndTinyGamma(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x := rows("gamma", 9, 5, 0.3)
	clear(x.Row(0))
	copy(x.Row(1), x.Row(2))
	for i := range x.Row(3) {
		x.Row(3)[i] *= 1e18
		x.Row(4)[i] *= 1e-18
	}
	for _, k := range everyKernel {
		for _, gamma := range []float64{1e-300, 1e-30, 1e-8, 1e8, 1e30, 1e300} {
			k.Gamma = gamma
			if k.unit() || k.Name == "linear" || k.Name == "arccos" {
				checkGram(t, k, x, x, 1e-13, 2e-12)
				continue
			}
			for _, a := range both(x) {
				for _, v := range append(gram(t, k, a, a), distances2(t, k, a, a)...) {
					if math.IsNaN(v) {
						t.Errorf("%s, sparse %t: a value is NaN", k, a.CSR != nil)
						break
					}
				}
			}
		}
	}
}

// ‖x‖² + ‖y‖² - 2x·y has an absolute error of 10⁻³ here if dense rows are not moved to their
// mean, and sparse rows cannot be. Of x·y itself, 16 digits less those of its size are left.
func TestGramOfRowsFarFromZero(t *testing.T) {
	x := rows("far", 50, 4, 0)
	for i := range x.Data {
		x.Data[i] += 1e6
	}
	clear(x.Row(49))
	copy(x.Row(10), x.Row(11))
	for _, k := range everyKernel {
		switch {
		case k.Name == "exp":
			k.Gamma = 1e-12
		case k.Name == "poly":
			k.Gamma = 1e-12
		case k.unit():
			k.Gamma *= 10
		}
		checkGram(t, k, x, x, 1e-13, 2e-12)
	}
}

func TestGramOfRowsWithThemselvesIsSymmetric(t *testing.T) {
	x := rows("self", 290, 7, 0.3)
	copy(x.Data[145*7:], x.Data[:145*7]) // every row twice: distances that must not be below 0
	for _, k := range everyKernel {
		for _, a := range both(x) {
			got := gram(t, k, a, a)
			for i := range x.Rows {
				if d := got[i*x.Rows+i]; k.unit() && d != 1 {
					t.Errorf("%s: K[%d,%d] is 1 %+g", k.Name, i, i, d-1)
				}
				for j := range i {
					if v, w := got[i*x.Rows+j], got[j*x.Rows+i]; !near(v, w, 1e-15) {
						t.Fatalf("%s, sparse %t: K[%d,%d] = %g but K[%d,%d] = %g", k.Name, a.CSR != nil, i, j, v, j, i, w)
					}
				}
			}
			for _, v := range got {
				if k.unit() && v > 1 {
					t.Fatalf("%s: a value is 1 + %g", k.Name, v-1)
				}
			}
		}
	}
}

// A kernel's Gram matrix has no negative eigenvalue: with n·ε more on the diagonal, for the
// rounding of its entries, it has a Cholesky factor.
func TestGramIsPositiveSemidefinite(t *testing.T) {
	x := rows("psd", 120, 3, 0)
	for _, k := range everyKernel {
		k.Gamma *= 3
		g := gram(t, k, matrix.Rows{Dense: x}, matrix.Rows{Dense: x})
		largest := slices.Max(g)
		for i := range x.Rows {
			g[i*x.Rows+i] += 120 * 1e-15 * largest
		}
		var c mat.Cholesky
		if !c.Factorize(mat.NewSymDense(x.Rows, g)) {
			t.Errorf("%s: not positive semidefinite", k.Name)
		}
		g[1] = -2 * largest
		if c.Factorize(mat.NewSymDense(x.Rows, g)) {
			t.Errorf("%s: the test sees no indefinite matrix", k.Name)
		}
	}
}

// Sparse rows have ‖x-y‖₁ from ‖x‖₁ and corrections. Between equal rows of elements of very
// different size these do not cancel exactly, and a distance below 0 would give k > 1.
func TestGramHasNoValueAboveOne(t *testing.T) {
	x := rows("sizes", 100, 9, 0)
	for i := range x.Data[:50*9] {
		x.Data[i] *= float32(math.Pow(10, float64(3*(i%5))))
	}
	copy(x.Data[50*9:], x.Data[:50*9])
	for _, k := range everyKernel {
		for _, a := range both(x) {
			if k.Gamma = 1; !k.unit() {
				continue
			}
			if v := slices.Max(gram(t, k, a, a)); v != 1 {
				t.Errorf("%s, sparse %t: a value is 1 %+g", k, a.CSR != nil, v-1)
			}
			if v := slices.Min(distances2(t, k, a, a)); v != 0 {
				t.Errorf("%s, sparse %t: a squared distance is %g", k, a.CSR != nil, v)
			}
		}
	}
}

func TestGramDoesNotDependOnBlocksOrThreads(t *testing.T) {
	x := rows("blocks", 280, 9, 0.5)
	for _, k := range everyKernel {
		for _, a := range both(x) {
			want := gram(t, k, a, a)
			g, err := NewGram(k, a, a)
			if err != nil {
				t.Fatal(err)
			}
			threads := runtime.GOMAXPROCS(3)
			for _, step := range []int{1, 37, 280} {
				got := make([]float64, len(want))
				for i := 0; i < 280; i += step {
					j := min(i+step, 280)
					g.Rows(i, j, got[i*280:j*280])
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, sparse %t: %d rows at a time give other values", k.Name, a.CSR != nil, step)
				}
			}
			runtime.GOMAXPROCS(threads)
		}
	}
}

func TestGramOfNothing(t *testing.T) {
	none, some := matrix.Rows{Dense: matrix.NewDense(0, 3)}, matrix.Rows{Dense: matrix.NewDense(2, 3)}
	empty := matrix.Rows{Dense: matrix.NewDense(2, 0)}
	for _, k := range everyKernel {
		gram(t, k, none, some)
		gram(t, k, some, none)
		want := k.Eval(nil, nil)
		for _, v := range gram(t, k, empty, empty) {
			if v != want {
				t.Errorf("%s of rows without dimensions is %g, want %g", k.Name, v, want)
			}
		}
	}
}

func TestNewGramRefusesDifferentDimensions(t *testing.T) {
	x, y := matrix.Rows{Dense: matrix.NewDense(2, 3)}, matrix.Rows{Dense: matrix.NewDense(2, 4)}
	if _, err := NewGram(everyKernel[0], x, y); err == nil || !strings.Contains(err.Error(), "3 and of 4 dimensions") {
		t.Errorf("error %v", err)
	}
	if _, err := NewGram(Kernel{Name: "rbf"}, x, x); err == nil {
		t.Error("a kernel without gamma was accepted")
	}
}

func BenchmarkGram(b *testing.B) {
	for _, d := range []int{16, 784} {
		x := histograms("bench", 1024, d, 0)
		for _, k := range append(everyKernel, histogramKernels...) {
			b.Run(fmt.Sprintf("%s/d=%d", k, d), func(b *testing.B) {
				g, err := NewGram(k, matrix.Rows{Dense: x}, matrix.Rows{Dense: x})
				if err != nil {
					b.Fatal(err)
				}
				dst := make([]float64, 1024*1024)
				for range b.N {
					g.Rows(0, 1024, dst)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/value")
			})
		}
	}
}
