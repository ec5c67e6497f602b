package learn

import (
	"context"
	"math"
	"runtime"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// blobs draws n rows of d features in c overlapping classes of unequal size.
func blobs(seed uint64, n, d, c int) (*matrix.Dense, []int) {
	s := random.New(seed, "blobs")
	z := matrix.NewDense(n, d)
	class := make([]int, n)
	for i := range n {
		class[i] = min(s.Intn(c), s.Intn(c))
		if i < c {
			class[i] = i
		}
		row := z.Row(i)
		for j := range row {
			row[j] = float32(s.Normal())
			if j%c == class[i] {
				row[j] += 1.2
			}
		}
	}
	return z, class
}

func toCSR(z *matrix.Dense) *matrix.CSR {
	m := &matrix.CSR{Rows: z.Rows, Cols: z.Cols, Ptr: []int{0}}
	for i := range z.Rows {
		for j, v := range z.Row(i) {
			if v != 0 {
				m.Idx = append(m.Idx, int32(j))
				m.Val = append(m.Val, v)
			}
		}
		m.Ptr = append(m.Ptr, len(m.Idx))
	}
	return m
}

// primal is the SVM's objective for class t against the rest, and its gradient in (w, b)
// for the squared hinge.
func primal(l *Linear, z *matrix.Dense, class []int, weights []float64, t, positive int, c float64,
	squared bool) (value float64, grad []float64) {
	d := z.Cols
	grad = make([]float64, d+1)
	for j := range d {
		w := float64(l.W.Row(j)[t])
		value += 0.5 * w * w
		grad[j] = w
	}
	for i := range z.Rows {
		y := -1.0
		if class[i] == positive {
			y = 1
		}
		f := l.B[t]
		for j, x := range z.Row(i) {
			f += float64(l.W.Row(j)[t]) * float64(x)
		}
		ci := c
		if weights != nil {
			ci *= weights[i]
		}
		xi := max(0, 1-y*f)
		if !squared {
			value += ci * xi
			continue
		}
		value += ci * xi * xi
		for j, x := range z.Row(i) {
			grad[j] -= 2 * ci * xi * y * float64(x)
		}
		grad[d] -= 2 * ci * xi * y
	}
	return value, grad
}

func TestSVMGradientVanishes(t *testing.T) {
	z, class := blobs(1, 400, 10, 3)
	weights := make([]float64, 400)
	for i := range weights {
		weights[i] = float64(i%3) / 2
	}
	for _, c := range []float64{0.01, 1, 10} {
		l, report, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, weights,
			SVM{C: c, Tolerance: 1e-5, MaxIter: 20000})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Converged || report.Gap < -1e-6 || report.Gap > 1e-4 {
			t.Errorf("C = %g: %+v", c, report)
		}
		for k := range 3 {
			// The gradient's size where w = 0 is what it is measured against, b's
			// included: b is not penalised.
			_, at0 := primal(&Linear{W: matrix.NewDense(10, 3), B: make([]float64, 3)}, z, class, weights, k, k, c, true)
			_, g := primal(l, z, class, weights, k, k, c, true)
			for j := range g {
				if math.Abs(g[j]) > 1e-3*norm(at0) {
					t.Errorf("C = %g, class %d: gradient %d is %g of %g", c, k, j, g[j], norm(at0))
				}
			}
		}
	}
}

// Classes that wait for others to converge are none the worse for it: what one comes to among many is what
// it comes to alone. (Where no row is within its margin, as of the rare ones here, the sum of the hinges is
// many times the error of a score, so that rounding in w is seen.)
func TestClassesThatWaitForOthersLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n, d, k = 1000, 17, 12
	s := random.New(3, "waiting")
	z := matrix.NewDense(n, d)
	class := make([]int, n)
	for i := range n {
		row := z.Row(i)
		best := math.Inf(-1)
		for c := range k {
			if v := s.Normal() + float64(c%3); v > best {
				class[i], best = c, v
			}
		}
		for j := range d - 1 {
			row[j] = float32(s.Normal())
			if j == class[i] {
				row[j] += 1.5
			}
		}
		row[d-1] = 1
	}
	opt := SVM{C: 1, Loss: "hinge", NoIntercept: true, Tolerance: 1e-4, MaxIter: 6000}
	together, _, err := FitSVM(t.Context(), InMemory(matrix.Rows{Dense: z}), class, k, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	for c := range k {
		own := make([]int, n)
		for i := range own {
			if class[i] == c {
				own[i] = 1
			}
		}
		opt.MaxIter = 6000
		alone, _, err := FitSVM(t.Context(), InMemory(matrix.Rows{Dense: z}), own, 2, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := primal(together, z, class, nil, c, c, 1, false)
		b, _ := primal(alone, z, own, nil, 0, 1, 1, false)
		if a > b*1.0012 {
			t.Errorf("class %d: the objective is %g, alone %g", c, a, b)
		}
	}
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

func TestSVMHingeIsWithinItsGap(t *testing.T) {
	z, class := blobs(2, 300, 6, 2)
	l, report, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil,
		SVM{C: 1, Loss: "hinge", Tolerance: 1e-5, MaxIter: 50000})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Converged || report.Gap < -1e-6 || report.Gap > 1e-3 {
		t.Fatalf("%+v", report)
	}
	// No small step in any direction, b's included, lowers the objective by more than the gap.
	best, _ := primal(l, z, class, nil, 0, 1, 1, false)
	s := random.New(1, "directions")
	for range 200 {
		moved := &Linear{W: matrix.NewDense(6, 1), B: []float64{l.B[0] + 0.03*s.Normal()}}
		for j := range moved.W.Data {
			moved.W.Data[j] = l.W.Data[j] + float32(0.03*s.Normal())
		}
		if v, _ := primal(moved, z, class, nil, 0, 1, 1, false); v < best*(1-report.Gap)-1e-9 {
			t.Errorf("objective %g, beside it %g", best, v)
		}
	}
}

func TestSVMIsTheSameOnAnyThreads(t *testing.T) {
	z, class := blobs(3, 300, 8, 5)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	fit := func() *Linear {
		l, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 5, nil, SVM{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one := fit()
	runtime.GOMAXPROCS(3)
	three := fit()
	for i, v := range one.W.Data {
		if three.W.Data[i] != v {
			t.Fatalf("weight %d: %g on one thread, %g on three", i, v, three.W.Data[i])
		}
	}
}

func TestSVMOnSparseRowsIsThatOnDenseRows(t *testing.T) {
	z, class := blobs(4, 200, 8, 3)
	for i := range z.Data {
		if i%3 == 0 {
			z.Data[i] = 0
		}
	}
	opt := SVM{Tolerance: 1e-6, MaxIter: 50000}
	dense, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	sparse, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{CSR: toCSR(z)}), class, 3, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range dense.W.Data {
		if math.Abs(float64(sparse.W.Data[i]-v)) > 1e-4 {
			t.Errorf("weight %d: %g dense, %g sparse", i, v, sparse.W.Data[i])
		}
	}
}

func TestSVMStops(t *testing.T) {
	z, class := blobs(5, 200, 4, 2)
	_, report, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{MaxIter: 1, Tolerance: 1e-9})
	if err != nil || report.Converged || report.Passes != 1 {
		t.Errorf("one pass: %+v, %v", report, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := FitSVM(ctx, InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{Loss: "cubic"}); err == nil {
		t.Error("an unknown loss was accepted")
	}
}
