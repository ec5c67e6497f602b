package kernel

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/internal/random"
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

// 300 and 270 rows are more than one block, and 13 dimensions no multiple of anything.
func TestGramMatchesSingleValues(t *testing.T) {
	x, y := rows("x", 300, 13, 0.5), rows("y", 270, 13, 0.5)
	copy(y.Row(5), x.Row(7))
	for _, k := range everyKernel {
		for _, a := range both(x) {
			for _, b := range both(y) {
				got := gram(t, k, a, b)
				for i := range x.Rows {
					for j := range y.Rows {
						if want := k.Eval(x.Row(i), y.Row(j)); !near(got[i*y.Rows+j], want, 1e-13) {
							t.Fatalf("%s, sparse %t, %t: K[%d,%d] = %g, want %g",
								k.Name, a.CSR != nil, b.CSR != nil, i, j, got[i*y.Rows+j], want)
						}
					}
				}
			}
		}
	}
}

func TestGramOfWideRowsMatchesSingleValues(t *testing.T) {
	x := rows("wide", 5, 1<<17, 0.99) // two rows a block
	for _, k := range everyKernel {
		k.Gamma /= 100
		for _, a := range both(x) {
			got := gram(t, k, a, a)
			for i := range x.Rows {
				for j := range x.Rows {
					if want := k.Eval(x.Row(i), x.Row(j)); !near(got[i*x.Rows+j], want, 1e-11) {
						t.Fatalf("%s, sparse %t: K[%d,%d] = %g, want %g", k.Name, a.CSR != nil, i, j, got[i*x.Rows+j], want)
					}
				}
			}
		}
	}
}

func TestGramOfRowsWithThemselvesIsSymmetric(t *testing.T) {
	x := rows("self", 290, 7, 0.3)
	copy(x.Data[145*7:], x.Data[:145*7]) // every row twice: distances that must not be below 0
	for _, k := range everyKernel {
		for _, a := range both(x) {
			got := gram(t, k, a, a)
			for i := range x.Rows {
				if d := got[i*x.Rows+i]; (k.Name == "rbf" || k.Name == "laplacian") && d != 1 {
					t.Errorf("%s: K[%d,%d] is 1 %+g", k.Name, i, i, d-1)
				}
				for j := range i {
					if v, w := got[i*x.Rows+j], got[j*x.Rows+i]; !near(v, w, 1e-15) {
						t.Fatalf("%s, sparse %t: K[%d,%d] = %g but K[%d,%d] = %g", k.Name, a.CSR != nil, i, j, v, j, i, w)
					}
				}
			}
			for _, v := range got {
				if (k.Name == "rbf" || k.Name == "laplacian") && v > 1 {
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

// ‖x‖² + ‖y‖² - 2x·y has an absolute error of 10⁻⁴ here if the rows are not moved to their
// mean: the large column takes the digits of the small ones.
func TestGramOfRowsFarFromZero(t *testing.T) {
	x := rows("far", 50, 4, 0)
	for i := range x.Rows {
		x.Row(i)[2] = 1<<20 + float32(i%3)
	}
	k := Kernel{Name: "rbf", Gamma: 1}
	got := gram(t, k, matrix.Rows{Dense: x}, matrix.Rows{Dense: x})
	for i := range x.Rows {
		for j := range x.Rows {
			if want := k.Eval(x.Row(i), x.Row(j)); !near(got[i*x.Rows+j], want, 1e-13) {
				t.Fatalf("K[%d,%d] = %g, want %g", i, j, got[i*x.Rows+j], want)
			}
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
	for _, name := range []string{"rbf", "laplacian"} {
		for _, a := range both(x) {
			if v := slices.Max(gram(t, Kernel{Name: name, Gamma: 1}, a, a)); v != 1 {
				t.Errorf("%s, sparse %t: a value is 1 %+g", name, a.CSR != nil, v-1)
			}
		}
	}
}

func TestGramDoesNotDependOnBlocksOrThreads(t *testing.T) {
	x := rows("blocks", 400, 9, 0.5)
	for _, k := range everyKernel {
		for _, a := range both(x) {
			want := gram(t, k, a, a)
			g, err := NewGram(k, a, a)
			if err != nil {
				t.Fatal(err)
			}
			threads := runtime.GOMAXPROCS(3)
			for _, step := range []int{1, 37, 400} {
				got := make([]float64, len(want))
				for i := 0; i < 400; i += step {
					j := min(i+step, 400)
					g.Rows(i, j, got[i*400:j*400])
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
		x := rows("bench", 1024, d, 0)
		for _, k := range everyKernel {
			b.Run(fmt.Sprintf("%s/d=%d", k.Name, d), func(b *testing.B) {
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
