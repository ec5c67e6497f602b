package exact

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// random rows with numbers from 0 to 1, of which a share is not 0.
func randomRows(n, d int, share float64, seed uint64) matrix.Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	m := matrix.NewDense(n, d)
	for i := range m.Data {
		if v := r.Float64(); r.Float64() < share {
			m.Data[i] = float32(v)
		}
	}
	return matrix.Rows{Dense: m}
}

func randomNumbers(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// sparsely is the rows as CSR.
func sparsely(x matrix.Rows) matrix.Rows {
	s := &matrix.CSR{Rows: x.Len(), Cols: x.Dim(), Ptr: []int{0}}
	for i := range x.Len() {
		for j, v := range x.Dense.Row(i) {
			if v != 0 {
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return matrix.Rows{CSR: s}
}

var manyKernels = []kernel.Kernel{
	{Name: "rbf", Gamma: 0.7}, {Name: "laplacian", Gamma: 0.2}, {Name: "poly", Gamma: 0.5, Degree: 3, Coef0: 1}, {Name: "linear"},
	{Name: "chi2"}, {Name: "intersection"}, {Name: "matern", Gamma: 1, Nu: 1.5}, {Name: "arccos", Degree: 1}, {Name: "exp-chi2", Gamma: 0.5},
}

func TestScoresAreTheExpansion(t *testing.T) {
	for _, share := range []float64{1, 0.3, 0.02} {
		x, xt := randomRows(70, 40, share, 1), randomRows(40, 40, share, 2)
		alpha, b := randomNumbers(70*3, 3), []float64{1, -2, 3}
		for _, k := range manyKernels {
			for _, form := range []struct{ x, xt matrix.Rows }{{x, xt}, {sparsely(x), sparsely(xt)}, {x, sparsely(xt)}, {sparsely(x), xt}} {
				m, err := NewMachine(k, form.x, alpha, b)
				if err != nil {
					t.Fatal(err)
				}
				got := matrix.NewDense(40, 3)
				if err := m.Scores(got, form.xt); err != nil {
					t.Fatal(err)
				}
				for i := range 40 {
					for c := range 3 {
						want, size := b[c], math.Abs(b[c])
						for j := range 70 {
							v := alpha[j*3+c] * k.Eval(xt.Dense.Row(i), x.Dense.Row(j))
							want += v
							size += math.Abs(v)
						}
						if d := math.Abs(float64(got.Row(i)[c]) - want); d > 1.2e-7*math.Abs(want)+1e-12*size {
							t.Fatalf("%s, row %d, output %d: %g, the sum is %g", k.Name, i, c, got.Row(i)[c], want)
						}
					}
				}
			}
		}
	}
}

// A row alone, in a block and among training rows gets the same bits.
func TestScoresDoNotDependOnTheRowsBeside(t *testing.T) {
	for _, share := range []float64{1, 0.02} {
		x := randomRows(150, 40, share, 4)
		if share < 1 {
			x = sparsely(x)
		}
		for _, k := range manyKernels {
			m, err := NewMachine(k, x, randomNumbers(150*2, 5), []float64{0, 1})
			if err != nil {
				t.Fatal(err)
			}
			together, alone := matrix.NewDense(150, 2), matrix.NewDense(1, 2)
			if err := m.Scores(together, x); err != nil {
				t.Fatal(err)
			}
			for i := range 150 {
				if err := m.Scores(alone, x.Slice(i, i+1)); err != nil {
					t.Fatal(err)
				}
				if alone.Data[0] != together.Row(i)[0] || alone.Data[1] != together.Row(i)[1] {
					t.Fatalf("%s, row %d: %v alone, %v among others", k.Name, i, alone.Data, together.Row(i))
				}
			}
		}
	}
}

func TestScoringARowAllocatesNothing(t *testing.T) {
	m, err := NewMachine(manyKernels[0], randomRows(50, 7, 1, 1), randomNumbers(50, 2), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	x, dst := randomRows(1, 7, 1, 3), matrix.NewDense(1, 1)
	if n := testing.AllocsPerRun(100, func() {
		if err := m.Scores(dst, x); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMachineErrors(t *testing.T) {
	x := randomRows(3, 2, 1, 1)
	bad := randomRows(3, 2, 1, 1)
	bad.Dense.Row(1)[1] = float32(math.NaN())
	negative := randomRows(3, 2, 1, 1)
	negative.Dense.Row(2)[0] = -1
	rbf := kernel.Kernel{Name: "rbf", Gamma: 1}
	for _, c := range []struct {
		k        kernel.Kernel
		x        matrix.Rows
		alpha, b []float64
		want     string
	}{
		{rbf, randomRows(0, 2, 1, 1), nil, []float64{0}, "0 rows"},
		{rbf, x, nil, nil, "0 outputs"},
		{rbf, x, make([]float64, 4), []float64{0}, "4 weights for 3 rows"},
		{rbf, x, []float64{0, math.Inf(1), 0}, []float64{0}, "row 2, output 1: the weight is +Inf"},
		{rbf, x, make([]float64, 3), []float64{math.NaN()}, "the intercept is NaN"},
		{rbf, bad, make([]float64, 3), []float64{0}, "row 2, column 2: NaN"},
		{kernel.Kernel{Name: "rbf"}, x, make([]float64, 3), []float64{0}, "gamma"},
		{kernel.Kernel{Name: "chi2"}, negative, make([]float64, 3), []float64{0}, "row 3"},
	} {
		if _, err := NewMachine(c.k, c.x, c.alpha, c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	m, err := NewMachine(kernel.Kernel{Name: "chi2"}, x, make([]float64, 3), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Scores(matrix.NewDense(3, 1), negative); err == nil {
		t.Error("scored rows that the kernel does not take")
	}
	if err := m.Scores(matrix.NewDense(3, 1), randomRows(3, 5, 1, 1)); err == nil || !strings.Contains(err.Error(), "5 dimensions") {
		t.Errorf("%v", err)
	}
}
