package exact

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// smooth are targets that the rows determine, and noise of deviation 0.3.
func smooth(x matrix.Rows, outputs int, seed uint64) []float64 {
	y := randomNumbers(x.Len()*outputs, seed)
	for i := range x.Len() {
		row := x.Dense.Row(i)
		for t := range outputs {
			y[i*outputs+t] = 0.3*y[i*outputs+t] + math.Sin(3*float64(row[t%len(row)])) + float64(row[0]*row[1])
		}
	}
	return y
}

// The λ that are tried have loosely solved systems, warm starts and preconditioners of their neighbours. The chosen
// one is as good as if each had been fitted for itself to 10⁻¹⁰.
func TestFalkonChoosesAsExactFitsWould(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n, m, d = 1500, 150, 4
	x := randomRows(n, d, 1, 21)
	for _, outputs := range []int{1, 3} {
		y := smooth(x, outputs, 22)
		for _, k := range []kernel.Kernel{
			{Name: "rbf", Gamma: 0.5}, {Name: "laplacian", Gamma: 0.3}, {Name: "matern", Gamma: 1, Nu: 1.5}, {Name: "linear"},
		} {
			_, report, err := FitFalkon(context.Background(), k, x, y, outputs, nil, Falkon{Centres: m, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			h := holdOut(n, nil, 1)
			least, chosen := math.Inf(1), 0.0
			for _, p := range report.Path {
				fit, _, err := FitFalkon(context.Background(), k, x, y, outputs, h.main,
					Falkon{Centres: m, Seed: 1, Lambda: p.Lambda, Tolerance: 1e-10})
				if err != nil {
					t.Fatal(err)
				}
				got, sum := scores(t, fit, x), 0.0
				for i := range n {
					for c := range outputs {
						e := y[i*outputs+c] - float64(got.Row(i)[c])
						sum += h.held[i] * e * e
					}
				}
				sum /= h.sumHeld
				// For smaller λ the two have jitters that differ by more.
				if p.Lambda > 0.9e-6*h.sumMain && math.Abs(p.Error-sum) > 2e-3*sum {
					t.Errorf("%s, %d outputs, λ = %g: the error is %g, of the exact solution %g", k.Name, outputs, p.Lambda, p.Error, sum)
				}
				least = min(least, sum)
				if p.Chosen {
					chosen = sum
				}
			}
			if chosen > 1.001*least {
				t.Errorf("%s, %d outputs: the chosen λ has error %g, the best %g", k.Name, outputs, chosen, least)
			}
		}
	}
}

// newFalkon is a fit of which nothing is computed yet.
func newFalkon(t *testing.T, n, m, outputs int) *falkon {
	x := randomRows(n, 3, 1, 31)
	centres := randomRows(m, 3, 1, 32).Dense
	against, err := kernel.NewAgainst(kernel.Kernel{Name: "laplacian", Gamma: 1}, matrix.Rows{Dense: centres})
	if err != nil {
		t.Fatal(err)
	}
	return &falkon{ctx: context.Background(), x: x, centres: centres, n: n, m: m, k: outputs, against: against, most: 1,
		t: make([]float64, m*m), a: make([]float64, m*m), diagonal: make([]float64, m)}
}

// Each λ computes only what those before it have not.
func TestFalkonPreconditionerServesNeighbours(t *testing.T) {
	const n, m, total = 100, 300, 100.0
	f := newFalkon(t, n, m, 1)
	if f.reuse() < 10 {
		t.Fatal("no reuse with more centres than rows")
	}
	for i, c := range []struct{ lambda, a, jitter float64 }{ // of A, and that the jitter is made for
		{1e-5, 1e-5, 1e-5},
		{1e-6, 1e-5, 1e-5},
		{1e-4, 1e-5, 1e-5},
		{1e-3, 1e-3, 1e-5},
		{1e-7, 1e-7, 1e-6},
		{1e-8, 1e-8, 1e-7},
		{1e-7, 1e-8, 1e-7},
	} {
		if err := f.precondition(total, total*c.lambda); err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.ratio/c.a-1) > 1e-9 {
			t.Errorf("step %d, λ/Σw = %g: A is of %g, want %g", i, c.lambda, f.ratio, c.a)
		}
		if want := 0x1p-40 / c.jitter; math.Abs(f.jitter/want-1) > 1e-9 {
			t.Errorf("step %d, λ/Σw = %g: jitter %g, want %g", i, c.lambda, f.jitter, want)
		}
	}
	// AᵀA = (Σw/m)TTᵀ + λI, TᵀT = K_mm + jitter·I.
	upper := func(u []float64, i, j int) float64 {
		if j < i {
			return 0
		}
		return u[i*m+j]
	}
	for i := 0; i < m; i += 7 {
		for j := i; j < m; j += 5 {
			var tt, kmm, aa float64
			for l := range m {
				tt += upper(f.t, i, l) * upper(f.t, j, l)
				kmm += upper(f.t, l, i) * upper(f.t, l, j)
				aa += upper(f.a, l, i) * upper(f.a, l, j)
			}
			k := kernel.Kernel{Name: "laplacian", Gamma: 1}.Eval(f.centres.Row(i), f.centres.Row(j))
			tt *= total / m
			if i == j {
				tt += total * f.ratio
				k += f.jitter
			}
			if math.Abs(aa-tt) > 1e-10 || math.Abs(kmm-k) > 1e-10 {
				t.Fatalf("(%d, %d): AᵀA %g, want %g; TᵀT %g, want %g", i, j, aa, tt, kmm, k)
			}
		}
	}
}

func TestFalkonTriangularSolves(t *testing.T) {
	for _, m := range []int{1, 5, solveBlock, 2*solveBlock + 45} {
		for _, outputs := range []int{1, 2, 5} {
			f := &falkon{m: m, k: outputs}
			u, b := randomNumbers(m*m, 41), randomNumbers(m*outputs, 42)
			for i := range m {
				for j := range m {
					u[i*m+j] /= float64(m)
				}
				u[i*m+i] = 1 + math.Abs(u[i*m+i])
			}
			x, xt := slices.Clone(b), slices.Clone(b)
			f.solveUpper(u, x)
			f.solveUpperT(u, xt)
			for c := range outputs {
				for i := range m {
					sum, sumT := -b[c*m+i], -b[c*m+i]
					for j := i; j < m; j++ {
						sum += u[i*m+j] * x[c*m+j]
					}
					for j := range i + 1 {
						sumT += u[j*m+i] * xt[c*m+j]
					}
					if math.Abs(sum) > 1e-11 || math.Abs(sumT) > 1e-11 {
						t.Fatalf("%d unknowns, output %d, row %d: off by %g and %g", m, c, i, sum, sumT)
					}
				}
			}
		}
	}
}

// Products with K_nm are the naive ones for rows longer than a strip, kept or not, and rows of weight 0 do not count.
func TestFalkonProducts(t *testing.T) {
	const n, m = 150, falkonStrip + 77
	for _, outputs := range []int{1, 2, 4} {
		f := newFalkon(t, n, m, outputs)
		u, y, w := randomNumbers(outputs*m, 51), randomNumbers(n*outputs, 52), make([]float64, n)
		for i := range w {
			w[i] = float64(i % 4)
		}
		want, row := make([]float64, outputs*m), make([]float64, m)
		for i := range n {
			if w[i] == 0 {
				continue
			}
			f.against.Rows(f.x, i, i+1, row, make([]float64, f.against.Work()))
			for j, v := range row {
				row[j] = float64(float32(v))
			}
			for c := range outputs {
				e := w[i] * (y[i*outputs+c] - vec.Dot64(row, u[c*m:][:m]))
				vec.Axpy64(e, row, want[c*m:][:m])
			}
		}
		for i := range n {
			if w[i] == 0 {
				y[i*outputs] = math.NaN()
			}
		}
		sums := make([]float64, falkonParts*outputs*m)
		computed, kept := make([]float64, outputs*m), make([]float64, outputs*m)
		if err := f.normal(computed, u, y, w, sums); err != nil {
			t.Fatal(err)
		}
		if err := f.keep(); err != nil {
			t.Fatal(err)
		}
		if err := f.normal(kept, u, y, w, sums); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kept, computed) {
			t.Errorf("%d outputs: other bits if K_nm is kept", outputs)
		}
		for j, v := range want {
			if !(math.Abs(v-kept[j]) < 1e-9*float64(n)) {
				t.Fatalf("%d outputs: number %d is %g, want %g", outputs, j, kept[j], v)
			}
		}
	}
}
