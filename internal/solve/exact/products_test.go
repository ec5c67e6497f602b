package exact

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// clusters are rows around a few centres, some of them equal, in columns of which the last is
// constant.
func clusters(n, d int, seed uint64) matrix.Rows {
	r := rand.New(rand.NewPCG(seed, 4))
	m := matrix.NewDense(n, d+1)
	for i := range n {
		row := m.Row(i)
		if i%10 == 9 {
			copy(row, m.Row(i-1))
			continue
		}
		for j := range d {
			row[j] = float32((i*7+j*3)%5) + float32(0.2*r.NormFloat64())
		}
		row[d] = 3
	}
	return matrix.Rows{Dense: m}
}

// values is K by Eval.
func values(k kernel.Kernel, x matrix.Rows) []float64 {
	n := x.Len()
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = k.Eval(x.Dense.Row(i), x.Dense.Row(j))
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

// elements is K̃, from the products with unit vectors, a few at a time.
func elements(p Product) []float64 {
	n := p.Len()
	a, v, dst := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	p.Apply(context.Background(), dst, v, n)
	copy(a, dst)
	return a
}

// product makes a product of each kind with an accuracy.
var products = map[string]func(k kernel.Kernel, x matrix.Rows, accuracy float64) (Product, error){
	"tree": func(k kernel.Kernel, x matrix.Rows, accuracy float64) (Product, error) {
		return NewTreeProduct(context.Background(), k, x, accuracy, 0)
	},
	"threshold": func(k kernel.Kernel, x matrix.Rows, accuracy float64) (Product, error) {
		return NewThresholdProduct(context.Background(), k, x, accuracy, 0)
	},
	"gauss": func(k kernel.Kernel, x matrix.Rows, accuracy float64) (Product, error) {
		return NewGaussProduct(k, x, accuracy, 0)
	},
}

func kernelsOf(product string) []kernel.Kernel {
	rbf := []kernel.Kernel{{Name: "rbf", Gamma: 0.3}, {Name: "rbf", Gamma: 1e-4}}
	if product == "gauss" {
		return append(rbf, kernel.Kernel{Name: "rbf", Gamma: 2})
	}
	return append(rbf, kernel.Kernel{Name: "rbf", Gamma: 20}, kernel.Kernel{Name: "laplacian", Gamma: 1},
		kernel.Kernel{Name: "cauchy", Gamma: 2})
}

// Every element is as exact as asked for, K̃ is symmetric, no row is off by more than the bound,
// and products are sums over the elements.
func TestProductsAreWithinTheirBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for name, make := range products {
		n := 260 // eight leaves
		if name == "gauss" {
			n = 20 // the grid counts, not the rows
		}
		for d := range 4 {
			x := clusters(n, d, uint64(d))
			for _, k := range kernelsOf(name) {
				want := values(k, x)
				for _, accuracy := range []float64{0.1, 1e-3, 1e-7} {
					if name == "gauss" && d == 3 && (k.Gamma > 1 || accuracy < 1e-3) {
						continue // so many boxes take a second for each of the unit vectors
					}
					p, err := make(k, x, accuracy)
					if err != nil {
						t.Fatal(err)
					}
					got := elements(p)
					most, row := 0.0, 0.0
					for i := range n {
						sum := 0.0
						for j := range n {
							e := math.Abs(got[i*n+j] - want[i*n+j])
							most = max(most, e)
							sum += e
							if math.Abs(got[i*n+j]-got[j*n+i]) > 1e-13 {
								t.Fatalf("%s, %d columns, %v: elements %d, %d: %g and %g", name, d, k, i, j, got[i*n+j], got[j*n+i])
							}
						}
						row = max(row, sum)
					}
					if most > accuracy+1e-11 || row > p.Bound()+1e-9 || p.Bound() > 1.001*float64(n)*accuracy {
						t.Errorf("%s, %d columns, %v, accuracy %g: an element is off by %g, a row by %g, the bound is %g",
							name, d, k, accuracy, most, row, p.Bound())
					}
				}
			}
		}
	}
}

func TestProductsAreLinear(t *testing.T) {
	const n, outputs = 200, 3
	x := clusters(n, 2, 1)
	v := randomNumbers(n*outputs, 1)
	for name, make1 := range products {
		p, err := make1(kernel.Kernel{Name: "rbf", Gamma: 0.5}, x, 1e-2)
		if err != nil {
			t.Fatal(err)
		}
		a, got := elements(p), make([]float64, n*outputs)
		p.Apply(t.Context(), got, v, outputs)
		for i := range n {
			for c := range outputs {
				sum := 0.0
				for j := range n {
					sum += a[i*n+j] * v[j*outputs+c]
				}
				if math.Abs(got[i*outputs+c]-sum) > 1e-10 {
					t.Fatalf("%s, row %d: %g, the sum over the elements is %g", name, i, got[i*outputs+c], sum)
				}
			}
		}
	}
}

func TestProductsDoNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	x, v := clusters(700, 3, 2), randomNumbers(1400, 2)
	for name, make1 := range products {
		var want []float64
		for _, threads := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(threads)
			p, err := make1(kernel.Kernel{Name: "rbf", Gamma: 1}, x, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, 1400)
			p.Apply(t.Context(), got, v, 2)
			if want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%s: other bits with %d threads", name, threads)
			}
		}
	}
}

func TestProductErrors(t *testing.T) {
	x := clusters(2000, 3, 1)
	rbf := kernel.Kernel{Name: "rbf", Gamma: 1}
	for name, f := range map[string]func() error{
		"rbf, laplacian, cauchy": func() error {
			_, err := NewTreeProduct(t.Context(), kernel.Kernel{Name: "linear"}, x, 0.1, 0)
			return err
		},
		"the accuracy is -1":   func() error { _, err := NewTreeProduct(t.Context(), rbf, x, -1, 0); return err },
		"not sparse ones":      func() error { _, err := NewTreeProduct(t.Context(), rbf, sparsely(x), 0.1, 0); return err },
		"pairs of nodes":       func() error { _, err := NewTreeProduct(t.Context(), rbf, x, 1e-9, 50_000); return err },
		"the threshold is 1":   func() error { _, err := NewThresholdProduct(t.Context(), rbf, x, 1, 0); return err },
		"elements above 0.001": func() error { _, err := NewThresholdProduct(t.Context(), rbf, x, 1e-3, 300_000); return err },
		"not laplacian": func() error {
			_, err := NewGaussProduct(kernel.Kernel{Name: "laplacian", Gamma: 1}, x, 0.1, 0)
			return err
		},
		"the accuracy is 0": func() error { _, err := NewGaussProduct(rbf, x, 0, 0); return err },
		"4 columns vary":    func() error { _, err := NewGaussProduct(rbf, clusters(50, 4, 1), 0.1, 0); return err },
		"so many widths":    func() error { _, err := NewGaussProduct(kernel.Kernel{Name: "rbf", Gamma: 1e8}, x, 0.1, 0); return err },
		"no rows":           func() error { _, err := NewGaussProduct(rbf, rows(nil), 0.1, 0); return err },
	} {
		err := f()
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		} else if !strings.Contains(err.Error(), "use ") && !strings.Contains(err.Error(), "number") && name != "no rows" {
			t.Errorf("%v: what to do is not said", err)
		}
		if err != nil && strings.Contains(err.Error(), " 0 B") {
			t.Errorf("%v: the memory is not said", err)
		}
	}
}

// By conjugate gradients, K gives the machine of the factorisation, and a K̃ one as near as
// the report says.
func TestIterativeRidgeIsRidge(t *testing.T) {
	const n, lambda = 300, 0.5
	x, y := clusters(n, 2, 3), randomNumbers(n*2, 3)
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	want, _, err := FitRidge(t.Context(), k, x, y, 2, nil, Ridge{Lambda: lambda})
	if err != nil {
		t.Fatal(err)
	}
	makers := map[string]func(kernel.Kernel, matrix.Rows, float64) (Product, error){
		"gram": func(k kernel.Kernel, x matrix.Rows, _ float64) (Product, error) { return newGramProduct(k, x) },
	}
	for name, f := range products {
		makers[name] = f
	}
	for name, f := range makers {
		for _, accuracy := range []float64{1e-3, 1e-7} {
			p, err := f(k, x, accuracy)
			if err != nil {
				t.Fatal(err)
			}
			got, report, err := FitIterative(context.Background(), k, x, p, y, 2, nil, Iterative{Lambda: lambda, Tolerance: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			off, size := 0.0, 0.0
			for i, a := range got.Alpha() {
				off += (a - want.Alpha()[i]) * (a - want.Alpha()[i])
				size += a * a
			}
			// The residual, 10⁻¹⁰ of the targets, counts 1/λ times.
			if e := math.Sqrt(off / size); !report.Converged || e > report.Error+1e-8 {
				t.Errorf("%s, accuracy %g: off by %g, at most %g by the report %+v", name, accuracy, e, report.Error, report)
			}
		}
	}
}

func TestIterativeRidgeTakesWeights(t *testing.T) {
	const n = 120
	x, y, w := clusters(n, 2, 4), randomNumbers(n, 4), make([]float64, n)
	for i := range w {
		w[i] = float64(i % 3)
	}
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	p, err := newGramProduct(k, x)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := FitIterative(context.Background(), k, x, p, y, 1, w, Iterative{Lambda: 0.1, Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	if gap, size := optimality(t, m, y, w, 0.1); gap > 1e-9*size {
		t.Errorf("the gradient is %g", gap)
	}
}

// The λ that is chosen is the best of the path on rows that the fits of the path did not see.
func TestIterativeRidgeChoosesLambda(t *testing.T) {
	const n = 400
	x := clusters(n, 2, 6)
	noise, y := randomNumbers(n, 6), make([]float64, n)
	for i := range y {
		y[i] = math.Sin(float64(x.Dense.Row(i)[0])) + 0.3*noise[i]
	}
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	p, err := NewTreeProduct(t.Context(), k, x, 1e-6, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, report, err := FitIterative(context.Background(), k, x, p, y, 1, nil, Iterative{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := holdOut(n, nil, 1)
	least := math.Inf(1)
	for _, point := range report.Path {
		least = min(least, point.Error)
		other, _, err := FitRidge(t.Context(), k, x, y, 1, h.main, Ridge{Lambda: point.Lambda})
		if err != nil {
			t.Fatal(err)
		}
		f, sum := scores(t, other, x), 0.0
		for i, w := range h.held {
			sum += w * (y[i] - float64(f.Data[i])) * (y[i] - float64(f.Data[i])) / h.sumHeld
		}
		if math.Abs(sum-point.Error) > 1e-2*sum {
			t.Errorf("λ = %g: %g on the rows held out, %g by the report", point.Lambda, sum, point.Error)
		}
		if want := point.Lambda * n / h.sumMain; point.Chosen && (point.Error != least || math.Abs(report.Lambda/want-1) > 1e-12) {
			t.Errorf("chose %+v, λ = %g", point, report.Lambda)
		}
	}
	if len(report.Path) < 4 || report.HeldOut != h.rows || len(m.Alpha()) != n {
		t.Errorf("%+v", report)
	}
}

func TestIterativeRidgeErrors(t *testing.T) {
	const n = 200
	x, y := clusters(n, 2, 5), randomNumbers(n, 5)
	k := kernel.Kernel{Name: "rbf", Gamma: 0.05}
	p, err := NewThresholdProduct(t.Context(), k, x, 0.5, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opt  Iterative
		want string
	}{
		{Iterative{Lambda: -1}, "lambda -1"},
		{Iterative{Lambda: math.NaN()}, "lambda NaN"},
		{Iterative{Lambda: 1, Tolerance: 1}, "tolerance 1"},
		{Iterative{Lambda: 1e-6}, "not positive definite"},
	} {
		if _, _, err := FitIterative(context.Background(), k, x, p, y, 1, nil, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := FitIterative(cancelled, k, x, p, y, 1, nil, Iterative{Lambda: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// BenchmarkProducts compares products with the Gram matrix of 100,000 rows of three columns. The
// exact one is that of a twentieth of its rows, its time multiplied; the threshold's is of 25,000.
func BenchmarkProducts(b *testing.B) {
	const n, part = 100_000, 20
	x, v, dst := randomRows(n, 3, 1, 1), randomNumbers(n, 1), make([]float64, n)
	k := kernel.Kernel{Name: "rbf", Gamma: 200} // e⁻⁷, a thousandth, is at a distance of 0.19
	b.Run("exact", func(b *testing.B) {
		m, err := NewMachine(k, x, v, []float64{0})
		if err != nil {
			b.Fatal(err)
		}
		some := matrix.NewDense(n/part, 1)
		for b.Loop() {
			if err := m.Scores(some, x.Slice(0, n/part)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(part*b.Elapsed().Seconds()/float64(b.N), "s/product")
	})
	for _, name := range []string{"gauss", "tree", "threshold"} {
		b.Run(name, func(b *testing.B) {
			rows := x
			if name == "threshold" { // its elements of all rows take 3 GB
				rows = x.Slice(0, n/4)
			}
			p, err := products[name](k, rows, 1e-3)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.Apply(b.Context(), dst[:rows.Len()], v[:rows.Len()], 1)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/product")
			b.ReportMetric(float64(p.Bytes())/1e6, "MB")
		})
	}
}

// gramProduct multiplies by the Gram matrix itself: what other products are compared with.
type gramProduct struct {
	against *kernel.Against
	x       matrix.Rows
}

func newGramProduct(k kernel.Kernel, x matrix.Rows) (*gramProduct, error) {
	if err := checkRows(k, x); err != nil {
		return nil, err
	}
	against, err := kernel.NewAgainst(k, x)
	if err != nil {
		return nil, err
	}
	return &gramProduct{against, x}, nil
}

// Len is n.
func (p *gramProduct) Len() int { return p.x.Len() }

// Bound is 0.
func (p *gramProduct) Bound() float64 { return 0 }

// Bytes is the memory it holds, including that of a product on each thread.
func (p *gramProduct) Bytes() int64 {
	return p.against.Bytes() + int64(vec.Threads())*8*scoreRows*int64(p.Len()+p.against.Work())
}

// Apply computes Kv.
func (p *gramProduct) Apply(ctx context.Context, dst, v []float64, outputs int) {
	n := p.Len()
	checkApply(n, dst, v, outputs)
	packed := vec.Pack64(n, outputs, v, outputs)
	vec.Parallel(n, scoreRows, func(lo, hi int) {
		values, work := make([]float64, scoreRows*n), make([]float64, scoreRows*p.against.Work())
		for i := lo; i < hi && ctx.Err() == nil; i += scoreRows {
			j := min(i+scoreRows, hi)
			p.against.Rows(p.x, i, j, values, work)
			packed.Multiply(j-i, values, n, dst[i*outputs:], outputs, nil)
		}
	})
}
