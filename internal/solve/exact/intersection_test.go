package exact

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// histograms are rows of a few levels, so that numbers come often, many of them 0.
func histograms(n, d int, seed uint64) matrix.Rows {
	r := rand.New(rand.NewPCG(seed, 3))
	m := matrix.NewDense(n, d)
	for i := range m.Data {
		switch r.IntN(4) {
		case 0:
			m.Data[i] = float32(r.IntN(5)) / 4
		case 1:
			m.Data[i] = float32(r.ExpFloat64())
		}
	}
	for i := range n {
		m.Row(i)[d-1] = 0 // a column of zeros
		m.Row(i)[d-2] = 2 // and one that is constant
	}
	return matrix.Rows{Dense: m}
}

var intersection = kernel.Kernel{Name: "intersection"}

func TestIntersectionByBisectionIsTheMachine(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		x, xt := histograms(120, 9, 1), histograms(200, 9, 2)
		alpha := randomNumbers(120*outputs, 1)
		for _, form := range []struct{ x, xt matrix.Rows }{{x, xt}, {sparsely(x), sparsely(xt)}, {x, x}} {
			m, err := NewMachine(intersection, form.x, alpha, make([]float64, outputs))
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewIntersection(m, Lookup{})
			if err != nil {
				t.Fatal(err)
			}
			want, got := scores(t, m, form.xt), matrix.NewDense(form.xt.Len(), outputs)
			if err := f.Scores(got, form.xt); err != nil {
				t.Fatal(err)
			}
			for i, v := range got.Data {
				if math.Abs(float64(v-want.Data[i])) > 1.2e-7*math.Abs(float64(v))+1e-11 {
					t.Fatalf("score %d: %g, the machine gives %g", i, v, want.Data[i])
				}
			}
		}
	}
}

// The error is within the bound, falls with the number of bins, and is not far below the bound.
func TestIntersectionTablesAreWithinTheirBound(t *testing.T) {
	x, xt := histograms(150, 8, 3), histograms(2000, 8, 4)
	m, err := NewMachine(intersection, x, randomNumbers(300, 2), []float64{1, -1})
	if err != nil {
		t.Fatal(err)
	}
	want := scores(t, m, xt)
	for _, constant := range []bool{true, false} {
		worst := math.Inf(1)
		for _, bins := range []int{1, 10, 100, 1000, 10_000} {
			f, err := NewIntersection(m, Lookup{Bins: bins, Constant: constant})
			if err != nil {
				t.Fatal(err)
			}
			got := matrix.NewDense(xt.Len(), 2)
			if err := f.Scores(got, xt); err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for i, v := range got.Data {
				e, bound := math.Abs(float64(v-want.Data[i])), f.Bound()[i%2]
				most = max(most, e)
				if e > bound+1e-5 {
					t.Fatalf("%d bins, score %d: error %g, bound %g", bins, i, e, bound)
				}
			}
			if most > worst/2 || most < max(f.Bound()[0], f.Bound()[1])/100 {
				t.Errorf("constant %v, %d bins: error %g after %g, bound %g", constant, bins, most, worst, f.Bound())
			}
			worst = most
		}
	}
}

func TestIntersectionErrors(t *testing.T) {
	x := histograms(10, 4, 1)
	rbf, err := NewMachine(kernel.Kernel{Name: "rbf", Gamma: 1}, x, make([]float64, 10), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewIntersection(rbf, Lookup{}); err == nil || !strings.Contains(err.Error(), "rbf") {
		t.Errorf("%v", err)
	}
	root, err := NewMachine(kernel.Kernel{Name: "intersection", Homogeneity: 0.5}, x, make([]float64, 10), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewIntersection(root, Lookup{}); err == nil {
		t.Error("took a kernel of another degree")
	}
	m, err := NewMachine(intersection, x, make([]float64, 10), []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewIntersection(m, Lookup{Bins: -1}); err == nil {
		t.Error("took -1 bins")
	}
	f, err := NewIntersection(m, Lookup{Bins: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		y := histograms(3, 4, 2)
		y.Dense.Row(1)[2] = bad
		for _, rows := range []matrix.Rows{y, {CSR: &matrix.CSR{Rows: 2, Cols: 4, Ptr: []int{0, 0, 1}, Idx: []int32{2}, Val: []float32{bad}}}} {
			if err := f.Scores(matrix.NewDense(rows.Len(), 1), rows); err == nil || !strings.Contains(err.Error(), "row 2, column 3") {
				t.Errorf("%v", err)
			}
		}
	}
	if err := f.Scores(matrix.NewDense(10, 1), histograms(10, 5, 1)); err == nil {
		t.Error("scored rows of another dimension")
	}
}

func BenchmarkIntersection(b *testing.B) {
	const n, d = 3000, 500
	m, err := NewMachine(intersection, randomRows(n, d, 0.5, 1), randomNumbers(n, 1), []float64{0})
	if err != nil {
		b.Fatal(err)
	}
	x, dst := randomRows(1000, d, 0.5, 2), matrix.NewDense(1000, 1)
	run := func(name string, score func(*matrix.Dense, matrix.Rows) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := score(dst, x); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*x.Len()), "µs/row")
		})
	}
	run("machine", m.Scores)
	for name, lookup := range map[string]Lookup{"bisection": {}, "constant": {Bins: 100, Constant: true}, "linear": {Bins: 30}} {
		f, err := NewIntersection(m, lookup)
		if err != nil {
			b.Fatal(err)
		}
		run(name, f.Scores)
	}
}
