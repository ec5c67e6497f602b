package exact

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// normalEquations are K_nmᵀWK_nm + λK_mm and K_nmᵀW(y - b), K_nm in float32 as the solver has it.
func normalEquations(k kernel.Kernel, x, c matrix.Rows, y, w, b []float64, outputs int, lambda float64) (a, r []float64) {
	n, m := x.Len(), c.Len()
	a, r = make([]float64, m*m), make([]float64, m*outputs)
	for i := range m {
		for j := range m {
			a[i*m+j] = lambda * k.Eval(c.Dense.Row(i), c.Dense.Row(j))
		}
	}
	row := make([]float64, m)
	for s := range n {
		for j := range m {
			row[j] = float64(float32(k.Eval(x.Dense.Row(s), c.Dense.Row(j))))
		}
		for i, u := range row {
			for j, v := range row {
				a[i*m+j] += w[s] * u * v
			}
			for t := range outputs {
				r[i*outputs+t] += w[s] * u * (y[s*outputs+t] - b[t])
			}
		}
	}
	return a, r
}

func TestFalkonSolvesTheNormalEquations(t *testing.T) {
	const n, m = 300, 40
	x := randomRows(n, 4, 1, 1)
	for _, outputs := range []int{1, 2, 5} {
		y, w := randomNumbers(n*outputs, 2), make([]float64, n)
		for i := range w {
			w[i] = float64(i % 3)
		}
		for _, k := range manyKernels {
			for _, lambda := range []float64{1e-2, 1} {
				fit, report, err := FitFalkon(context.Background(), k, x, y, outputs, w, Falkon{Centres: m, Lambda: lambda, Tolerance: 1e-11, Seed: 3})
				if err != nil {
					t.Fatal(err)
				}
				if !report.Converged || report.Iterations > 60 {
					t.Errorf("%s, λ = %g: %+v", k.Name, lambda, report)
				}
				a, r := normalEquations(k, x, fit.Rows(), y, w, fit.Intercepts(), outputs, lambda)
				for i := range m {
					a[i*m+i] += lambda * report.Jitter
				}
				if most := slices.Max(k.Diagonal(fit.Rows())); report.Jitter > 1.01*n*0x1p-40*most*most/lambda {
					t.Errorf("%s, λ = %g: jitter %g", k.Name, lambda, report.Jitter)
				}
				for c := range outputs {
					gap, size := 0.0, 0.0
					for i := range m {
						sum := r[i*outputs+c]
						size += sum * sum
						for j := range m {
							sum -= a[i*m+j] * fit.Alpha()[j*outputs+c]
						}
						gap += sum * sum
					}
					if math.Sqrt(gap/size) > 1e-6 {
						t.Errorf("%s, λ = %g, output %d: the residual is %g of the right side", k.Name, lambda, c, math.Sqrt(gap/size))
					}
				}
			}
		}
	}
}

// With all rows as centres the machine is that of kernel ridge, but for K_nm in float32.
func TestFalkonWithAllCentresIsRidge(t *testing.T) {
	const n = 150
	x, y, w := randomRows(n, 3, 1, 4), randomNumbers(n*2, 4), make([]float64, n)
	for i := range w {
		w[i] = 0.5 + float64(i%2)
	}
	k := kernel.Kernel{Name: "laplacian", Gamma: 1}
	ridge, _, err := FitRidge(t.Context(), k, x, y, 2, w, Ridge{Lambda: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	falkon, report, err := FitFalkon(context.Background(), k, x, y, 2, w, Falkon{Centres: 2 * n, Lambda: 0.3, Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if report.Centres != n {
		t.Errorf("%d centres of %d rows", report.Centres, n)
	}
	xt := randomRows(50, 3, 1, 5)
	a, b := scores(t, ridge, xt), scores(t, falkon, xt)
	for i := range a.Data {
		if math.Abs(float64(a.Data[i]-b.Data[i])) > 2e-6 {
			t.Errorf("score %d: %g by ridge, %g by Falkon", i, a.Data[i], b.Data[i])
		}
	}
}

// Rows that come several times make singular matrices, and predictions as of the rows once.
func TestFalkonWithDuplicateCentres(t *testing.T) {
	const n, m = 200, 30
	x, y := randomRows(n, 3, 1, 6), randomNumbers(n, 6)
	once := matrix.NewDense(m, 3)
	for i := range m {
		copy(once.Row(i), x.Dense.Row(5*i))
	}
	thrice := matrix.NewDense(3*m, 3)
	for i := range 3 * m {
		copy(thrice.Row(i), once.Row(i%m))
	}
	xt := randomRows(40, 3, 1, 7)
	for _, k := range []kernel.Kernel{{Name: "rbf", Gamma: 1}, {Name: "rbf", Gamma: 1e-3}, {Name: "linear"}, {Name: "laplacian", Gamma: 1}} {
		var got [2]*matrix.Dense
		for i, c := range []*matrix.Dense{once, thrice} {
			fit, report, err := FitFalkon(context.Background(), k, x, y, 1, nil, Falkon{Given: c, Lambda: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			if !report.Converged {
				t.Errorf("%v, %d centres: %+v", k, c.Rows, report)
			}
			got[i] = scores(t, fit, xt)
		}
		for i, v := range got[0].Data {
			if math.Abs(float64(v-got[1].Data[i])) > 1e-4 {
				t.Errorf("%v, row %d: %g by centres that differ, %g by duplicates", k, i, v, got[1].Data[i])
			}
		}
	}
}

// Neither memory nor threads change a bit.
func TestFalkonIsDeterministic(t *testing.T) {
	n := 700
	if testing.Short() {
		n = 300
	}
	x, y := randomRows(n, 5, 1, 8), randomNumbers(n*3, 8)
	k := kernel.Kernel{Name: "rbf", Gamma: 0.5}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, lambda := range []float64{0, 0.5} {
		var want []float64
		for _, c := range []struct {
			threads int
			kept    bool
		}{{1, true}, {3, true}, {2, false}, {1, false}} {
			runtime.GOMAXPROCS(c.threads)
			fit, report, err := FitFalkon(context.Background(), k, x, y, 3, nil,
				Falkon{Centres: 60, Lambda: lambda, Seed: 1, Memory: FalkonBytes(n, 5, 60, 3, c.kept)})
			if err != nil {
				t.Fatal(err)
			}
			if report.Kept != c.kept || (report.HeldOut == 0) != (lambda > 0) || lambda == 0 && len(report.Path) < 3 {
				t.Errorf("%+v: %+v", c, report)
			}
			if want == nil {
				want = fit.Alpha()
			} else if !slices.Equal(want, fit.Alpha()) {
				t.Errorf("%+v gives other weights", c)
			}
		}
	}
}

func TestFalkonKeepsWhatMemoryAllows(t *testing.T) {
	x, y := randomRows(500, 3, 1, 9), randomNumbers(500, 9)
	for _, kept := range []bool{false, true} {
		opt := Falkon{Centres: 50, Lambda: 1, Memory: FalkonBytes(500, 3, 50, 1, kept)}
		_, report, err := FitFalkon(context.Background(), kernel.Kernel{Name: "rbf", Gamma: 1}, x, y, 1, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if report.Kept != kept {
			t.Errorf("with %d bytes, kept is %v", opt.Memory, report.Kept)
		}
	}
}

func TestFalkonErrors(t *testing.T) {
	x, y := randomRows(50, 3, 1, 9), randomNumbers(50, 9)
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		opt  Falkon
		want string
	}{
		{nil, Falkon{}, "0 centres"},
		{nil, Falkon{Given: matrix.NewDense(0, 3)}, "0 centres"},
		{nil, Falkon{Given: matrix.NewDense(4, 2)}, "the centres have 2 dimensions"},
		{nil, Falkon{Given: &matrix.Dense{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, float32(math.NaN()), 0}}},
			"the centres: exact: row 1, column 2"},
		{nil, Falkon{Centres: 5, Lambda: -1}, "lambda -1"},
		{nil, Falkon{Centres: 5, Lambda: math.Inf(1)}, "lambda +Inf"},
		{nil, Falkon{Centres: 5, Tolerance: 2}, "tolerance 2"},
		{nil, Falkon{Centres: 5, Memory: 1000}, "16·m²"},
		{nil, Falkon{Centres: 5, Landmarks: "magic"}, "magic"},
		{cancelled, Falkon{Centres: 5, Lambda: 1}, "canceled"},
	} {
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		if _, _, err := FitFalkon(c.ctx, k, x, y, 1, nil, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
}

func TestFalkonOfLittleData(t *testing.T) {
	one := rows([]float32{1, 2, 3})
	zero := matrix.Rows{Dense: matrix.NewDense(4, 2)}
	for _, k := range []kernel.Kernel{{Name: "rbf", Gamma: 1}, {Name: "linear"}} {
		for _, lambda := range []float64{0, 1} {
			fit, _, err := FitFalkon(context.Background(), k, one, []float64{5}, 1, nil, Falkon{Centres: 7, Lambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			if got := scores(t, fit, one).Data[0]; got != 5 {
				t.Errorf("%s: one row of target 5 gives %g", k.Name, got)
			}
			if fit, _, err = FitFalkon(context.Background(), k, zero, []float64{1, 2, 3, 4}, 1, nil,
				Falkon{Centres: 7, Lambda: lambda}); err != nil {
				t.Fatal(err)
			}
			if got := scores(t, fit, zero).Data[0]; math.Abs(float64(got)-2.5) > 1e-5 {
				t.Errorf("%s: rows of zeros give %g, the mean is 2.5", k.Name, got)
			}
		}
	}
}

func TestFalkonTakesSparseRows(t *testing.T) {
	x, y := randomRows(200, 30, 0.1, 1), randomNumbers(200, 1)
	k := kernel.Kernel{Name: "rbf", Gamma: 0.3}
	for _, landmarks := range []string{"", "kmeans", "leverage"} {
		var got [2]*matrix.Dense
		for i, rows := range []matrix.Rows{x, sparsely(x)} {
			fit, _, err := FitFalkon(context.Background(), k, rows, y, 1, nil, Falkon{Centres: 20, Lambda: 0.1, Landmarks: landmarks})
			if err != nil {
				t.Fatal(err)
			}
			got[i] = scores(t, fit, x)
		}
		for i, v := range got[0].Data {
			if math.Abs(float64(v-got[1].Data[i])) > 1e-5 {
				t.Fatalf("row %d: %g of dense rows, %g of sparse ones", i, v, got[1].Data[i])
			}
		}
	}
}
