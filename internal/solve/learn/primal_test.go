package learn

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// fileLike are features that are not resident: each block overwrites the last.
type fileLike struct {
	rows  matrix.Rows
	dense matrix.Dense
	csr   matrix.CSR
}

func (f *fileLike) Len() int     { return f.rows.Len() }
func (f *fileLike) Dim() int     { return f.rows.Dim() }
func (*fileLike) Resident() bool { return false }

func (f *fileLike) Block(i, j int) (matrix.Rows, error) {
	if j-i > BlockRows {
		return matrix.Rows{}, fmt.Errorf("%d rows at once", j-i)
	}
	if x := f.rows.CSR; x != nil {
		v := x.Slice(i, j)
		f.csr = matrix.CSR{Rows: v.Rows, Cols: v.Cols, Ptr: append(f.csr.Ptr[:0], v.Ptr...),
			Idx: append(f.csr.Idx[:0], v.Idx...), Val: append(f.csr.Val[:0], v.Val...)}
		for t := range f.csr.Ptr {
			f.csr.Ptr[t] -= v.Ptr[0]
		}
		f.csr.Idx, f.csr.Val = append(f.csr.Idx[:0], v.Idx[v.Ptr[0]:v.Ptr[v.Rows]]...), append(f.csr.Val[:0], v.Val[v.Ptr[0]:v.Ptr[v.Rows]]...)
		return matrix.Rows{CSR: &f.csr}, nil
	}
	f.dense.Reshape(j-i, f.rows.Dim())
	for r := range j - i {
		copy(f.dense.Row(r), f.rows.Dense.Row(i+r))
	}
	return matrix.Rows{Dense: &f.dense}, nil
}

// problem is a primal problem, evaluated plainly: its rows, targets and what the fit was told.
type problem struct {
	z       *matrix.Dense
	class   []int
	y       []float64 // of regression, one output
	classes int
	weights []float64
	opt     Primal
}

// gradient is the objective and its gradient, K columns of D+1, at a model.
func (p *problem) gradient(l *Linear) (value float64, grad [][]float64) {
	d, k := p.z.Cols, l.W.Cols
	grad = make([][]float64, k)
	for t := range grad {
		grad[t] = make([]float64, d+1)
		for j := range d {
			w := float64(l.W.Row(j)[t])
			value += 0.5 * w * w
			grad[t][j] = w
		}
	}
	s, r := make([]float64, k), make([]float64, k)
	for i := range p.z.Rows {
		row := p.z.Row(i)
		for t := range s {
			s[t] = l.B[t]
			for j, x := range row {
				s[t] += float64(x) * float64(l.W.Row(j)[t])
			}
		}
		c := p.opt.C
		if p.weights != nil {
			c *= p.weights[i]
		}
		for t := range s {
			y := -1.0
			if k == 1 && p.class != nil && p.class[i] == 1 || k > 1 && p.class[i] == t {
				y = 1
			}
			switch {
			case p.y != nil:
				e := s[t] - p.y[i]
				over := max(0, math.Abs(e)-p.opt.Epsilon)
				value += c * over * over
				r[t] = 2 * c * math.Copysign(over, e)
			case p.opt.Loss == "squared_hinge":
				xi := max(0, 1-y*s[t])
				value += c * xi * xi
				r[t] = -2 * c * y * xi
			case p.opt.Loss == "multinomial" && k > 1:
				sum := 0.0
				for _, v := range s {
					sum += math.Exp(v - s[t])
				}
				r[t] = c / sum
				if y > 0 {
					value += c * math.Log(sum)
					r[t] -= c
				}
			default:
				value += c * math.Log1p(math.Exp(-y*s[t]))
				r[t] = -c * y / (1 + math.Exp(y*s[t]))
			}
		}
		for t := range s {
			for j, x := range row {
				grad[t][j] += r[t] * float64(x)
			}
			grad[t][d] += r[t]
		}
	}
	return value, grad
}

func (p *problem) fit(t *testing.T, z Features) (*Linear, *PrimalReport) {
	t.Helper()
	var l *Linear
	var report *PrimalReport
	var err error
	if p.y != nil {
		l, report, err = FitPrimalSVR(context.Background(), z, p.y, 1, p.weights, p.opt)
	} else {
		l, report, err = FitPrimal(context.Background(), z, p.class, p.classes, p.weights, p.opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l, report
}

// zero is the model of all zeros.
func zero(d, k int) *Linear { return &Linear{W: matrix.NewDense(d, k), B: make([]float64, k)} }

// problems are of all losses.
func problems() []*problem {
	z, class := blobs(1, 500, 7, 4)
	for i := range z.Rows { // columns of different sizes
		z.Row(i)[0] *= 30
		z.Row(i)[1] *= 0.1
	}
	weights := make([]float64, 500)
	y := make([]float64, 500)
	two := make([]int, 500)
	for i := range weights {
		weights[i] = float64(i%3) / 2
		y[i] = float64(z.Row(i)[2]) + float64(class[i])
		two[i] = min(class[i], 1)
	}
	var all []*problem
	for _, w := range [][]float64{nil, weights} {
		for _, without := range []bool{false, true} {
			for _, loss := range []string{"logistic", "squared_hinge", "multinomial"} {
				opt := Primal{Loss: loss, C: 0.3, Tolerance: 1e-5, NoIntercept: without}
				all = append(all, &problem{z: z, class: class, classes: 4, weights: w, opt: opt})
				opt.C = 20
				all = append(all, &problem{z: z, class: two, classes: 2, weights: w, opt: opt})
			}
			all = append(all, &problem{z: z, y: y, weights: w, opt: Primal{C: 2, Epsilon: 0.3, Tolerance: 1e-5, NoIntercept: without}})
		}
	}
	return all
}

func (p *problem) String() string {
	return fmt.Sprintf("%s of %d classes, C = %g, weights %t, no intercept %t", p.opt.Loss, p.classes, p.opt.C,
		p.weights != nil, p.opt.NoIntercept)
}

func TestPrimalMeetsItsOptimalityConditions(t *testing.T) {
	for _, p := range problems() {
		l, report := p.fit(t, InMemory(matrix.Rows{Dense: p.z}))
		value, grad := p.gradient(l)
		start := zero(p.z.Cols, l.W.Cols)
		if p.y != nil && !p.opt.NoIntercept {
			copy(start.B, targetMeans(p.y, 1, p.weights))
		}
		_, origin := p.gradient(start)
		for k := range grad {
			if p.opt.NoIntercept {
				if l.B[k] != 0 {
					t.Errorf("%v: an intercept of %g", p, l.B[k])
				}
				grad[k][p.z.Cols], origin[k][p.z.Cols] = 0, 0
			}
		}
		if p.opt.Loss == "multinomial" { // one problem
			grad, origin = [][]float64{slices.Concat(grad...)}, [][]float64{slices.Concat(origin...)}
		}
		for k := range grad {
			// The gradient was computed in float32, and the weights are rounded to it.
			if g := euclidean(grad[k]) / euclidean(origin[k]); g > 2e-5 {
				t.Errorf("%v: gradient %g of that at 0", p, g)
			}
		}
		reported := 0.0
		for _, v := range report.Objective {
			reported += v
		}
		if !report.Converged && !report.Rounding || report.Gradient > 2e-5 || math.Abs(reported-value) > 1e-6*value {
			t.Errorf("%v: objective %g, reported %+v", p, value, report)
		}
	}
}

// Rows so wide that a part's rows do not stay in the cache together are taken in pieces.
func TestPrimalOfWideRows(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on 2,100 rows of 4,096 features")
	}
	const n, d = 2100, 4096 // 131 rows a part, 64 a piece
	z, class := blobs(12, n, d, 3)
	two := make([]int, n)
	for i, c := range class {
		two[i] = min(c, 1)
	}
	for _, p := range []*problem{
		{z: z, class: two, classes: 2, opt: Primal{C: 0.01, Tolerance: 1e-4}},
		{z: z, class: class, classes: 3, opt: Primal{C: 0.01, Tolerance: 1e-4}},
	} {
		l, report := p.fit(t, InMemory(matrix.Rows{Dense: z}))
		value, grad := p.gradient(l)
		_, origin := p.gradient(zero(d, l.W.Cols))
		for k := range grad {
			if g := euclidean(grad[k]) / euclidean(origin[k]); g > 1e-4 {
				t.Errorf("%v: gradient %g of that at 0, objective %g, reported %+v", p, g, value, report)
			}
		}
	}
}

// What a pass computes is the loss, its gradient and the Hessian's products, at any point: here
// against plain sums and their differences.
func TestPassesComputeGradientsAndProductsWithTheHessian(t *testing.T) {
	s := random.New(5, "directions")
	for _, p := range problems() {
		f := &primalFit{z: InMemory(matrix.Rows{Dense: p.z}), class: p.class, y: p.y, k: 1, intercept: !p.opt.NoIntercept}
		if p.y == nil {
			f.k = TargetColumns(p.classes)
		}
		switch {
		case p.y != nil:
			f.loss = squaredEpsilonLoss(p.opt.Epsilon)
		case p.opt.Loss == "squared_hinge":
			f.loss = squaredHingeLoss
		default:
			f.loss = logisticLoss
			f.joint = p.opt.Loss == "multinomial" && f.k > 1
		}
		var err error
		if f.cost, err = costs(p.z.Rows, p.weights, p.opt.C); err != nil {
			t.Fatal(err)
		}
		d := p.z.Cols
		at, toward := zero(d, f.k), zero(d, f.k)
		for _, l := range []*Linear{at, toward} {
			for i := range l.W.Data {
				l.W.Data[i] = float32(s.Normal()) / 8
			}
			l.B[0] = s.Normal()
			if !f.intercept {
				l.B[0] = 0
			}
		}
		f.prepare(Primal{Start: at})
		for _, m := range f.machines {
			copy(m.x, m.start)
		}
		pass := func() {
			if err := f.pass(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		pass()
		// out lacks the penalty's gradient w.
		value, want := p.gradient(at)
		loss := 0.0
		for _, m := range f.machines {
			loss += m.loss
		}
		for _, w := range at.W.Data {
			loss += 0.5 * float64(w) * float64(w)
		}
		if math.Abs(loss-value) > 1e-6*value {
			t.Errorf("%v: value %g, want %g", p, loss, value)
		}
		compare := func(what string, want [][]float64, of *Linear, tolerance float64) {
			t.Helper()
			for k := range f.k {
				got := f.machines[k/f.outputs()].out[k%f.outputs()*f.parameters():][:f.parameters()]
				for j, g := range got {
					w := want[k][j]
					if j < d {
						w -= float64(of.W.Row(j)[k])
					}
					if size := euclidean(want[k]); math.Abs(g-w) > tolerance*size {
						t.Errorf("%v: %s[%d][%d] is %g, want %g", p, what, k, j, g, w)
					}
				}
			}
		}
		compare("gradient", want, at, 1e-6)
		// The curvature jumps where squares begin, so the step is small; weights of float32
		// hold it exactly as a multiple of 2⁻¹⁰ of numbers of 10 bits.
		for i := range at.W.Data {
			at.W.Data[i] = float32(math.Round(float64(at.W.Data[i])*256) / 256)
			toward.W.Data[i] = float32(math.Round(float64(toward.W.Data[i])*256) / 256)
		}
		const h = 1.0 / 1024
		shifted := func(by float64) [][]float64 {
			l := zero(d, f.k)
			for i := range l.W.Data {
				l.W.Data[i] = at.W.Data[i] + float32(by)*toward.W.Data[i]
			}
			for k := range l.B {
				l.B[k] = at.B[k] + by*toward.B[k]
			}
			_, g := p.gradient(l)
			return g
		}
		up, down := shifted(h), shifted(-h)
		for k := range up {
			for j := range up[k] {
				up[k][j] = (up[k][j] - down[k][j]) / (2 * h)
			}
		}
		set := func(l *Linear, state newtonState) {
			for k := range f.k {
				m := f.machines[k/f.outputs()]
				m.state = state
				x := m.x[k%f.outputs()*f.parameters():][:f.parameters()]
				for j := range d {
					x[j] = float64(l.W.Row(j)[k])
				}
				if f.intercept {
					x[d] = l.B[k]
				}
			}
		}
		set(at, atStart)
		pass()
		set(toward, curving)
		pass()
		tolerance := 1e-4
		if p.y != nil || p.opt.Loss == "squared_hinge" {
			tolerance = 0.02 // some rows pass the corner of their loss between the two points
		}
		compare("product", up, toward, tolerance)
	}
}

func TestPrimalIsTheSameOnAnyThreadsAndFromFiles(t *testing.T) {
	z, class := blobs(3, 2*BlockRows+300, 12, 5)
	two := make([]int, len(class))
	for i, c := range class {
		two[i] = min(c, 1)
	}
	others := []int{1, 3}
	if testing.Short() {
		others = []int{3}
	}
	for _, rows := range []matrix.Rows{{Dense: z}, {CSR: toCSR(z)}} {
		for _, classes := range []int{2, 5} {
			for _, loss := range []string{"logistic", "multinomial"} {
				if testing.Short() && (classes == 2) != (loss == "logistic") {
					continue
				}
				some := class
				if classes == 2 {
					some = two
				}
				p := &problem{class: some, classes: classes, opt: Primal{Loss: loss, Tolerance: 1e-3}}
				before := runtime.GOMAXPROCS(1)
				want, first := p.fit(t, InMemory(rows))
				for _, threads := range others {
					runtime.GOMAXPROCS(threads)
					for _, source := range []Features{InMemory(rows), &fileLike{rows: rows}} {
						got, report := p.fit(t, source)
						if !slices.Equal(got.W.Data, want.W.Data) || !slices.Equal(got.B, want.B) || report.Passes != first.Passes {
							t.Errorf("%s, %d classes, %d threads, resident %t: another model", loss, classes, threads, source.Resident())
						}
					}
				}
				runtime.GOMAXPROCS(before)
			}
		}
	}
}

// An output's weights do not depend on the outputs that are fitted beside it.
func TestOutputsDoNotDependOnEachOther(t *testing.T) {
	z, class := blobs(4, 600, 9, 5)
	all := &problem{class: class, classes: 5, opt: Primal{Loss: "squared_hinge"}}
	l, _ := all.fit(t, InMemory(matrix.Rows{CSR: toCSR(z)}))
	own := make([]int, len(class))
	for i, c := range class {
		if c == 3 {
			own[i] = 1
		}
	}
	one := &problem{class: own, classes: 2, opt: all.opt}
	alone, _ := one.fit(t, InMemory(matrix.Rows{CSR: toCSR(z)}))
	for j := range z.Cols {
		if l.W.Row(j)[3] != alone.W.Row(j)[0] {
			t.Fatalf("weight %d is %g beside others, %g alone", j, l.W.Row(j)[3], alone.W.Row(j)[0])
		}
	}
}

// Class weights of one class against the rest count for that class alone, else for all.
func TestClassWeightsAreWeightsOfRows(t *testing.T) {
	z, class := blobs(5, 300, 6, 3)
	rows := InMemory(matrix.Rows{Dense: z})
	factors := []float64{0.5, 3, 0}
	same := func(what string, a, b *Linear, j, k int) {
		t.Helper()
		for i := range z.Cols {
			if x, y := float64(a.W.Row(i)[j]), float64(b.W.Row(i)[k]); math.Abs(x-y) > 1e-3*math.Abs(y) || math.Abs(a.B[j]-b.B[k]) > 1e-3 {
				t.Fatalf("%s: weight %d is %g by class weights, %g by weights", what, i, a.W.Row(i)[j], b.W.Row(i)[k])
			}
		}
	}
	weights := make([]float64, 300)
	for i, c := range class {
		weights[i] = factors[c]
	}
	joint := &problem{class: class, classes: 3, opt: Primal{Loss: "multinomial", C: 2, ClassWeights: factors}}
	byClass, _ := joint.fit(t, rows)
	joint.opt.ClassWeights, joint.weights = nil, weights
	byRow, _ := joint.fit(t, rows)
	same("multinomial", byClass, byRow, 2, 2)

	for _, l1 := range []bool{false, true} {
		fit := func(class []int, classes int, weights, factors []float64) *Linear {
			var l *Linear
			var err error
			if l1 {
				l, _, err = FitL1(context.Background(), rows, class, classes, weights, L1{Loss: "logistic", ClassWeights: factors, Tolerance: 1e-6})
			} else {
				l, _, err = FitPrimal(context.Background(), rows, class, classes, weights, Primal{ClassWeights: factors, Tolerance: 1e-5})
			}
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		all := fit(class, 3, nil, factors)
		own := make([]int, 300)
		for i, c := range class {
			weights[i] = 1
			if c == 1 {
				own[i], weights[i] = 1, factors[1]
			}
		}
		one := fit(own, 2, weights, nil)
		two := fit(own, 2, nil, []float64{1, factors[1]})
		same("one against the rest", all, one, 1, 0)
		same("two classes", two, one, 0, 0)
	}
}

func TestSparseAndDenseRowsGiveTheSameModel(t *testing.T) {
	for _, p := range problems() {
		dense, _ := p.fit(t, InMemory(matrix.Rows{Dense: p.z}))
		sparse, _ := p.fit(t, InMemory(matrix.Rows{CSR: toCSR(p.z)}))
		a, _ := p.gradient(dense)
		b, _ := p.gradient(sparse)
		if math.Abs(a-b) > 1e-7*a {
			t.Errorf("%v: objective %g of dense rows, %g of sparse ones", p, a, b)
		}
	}
}

func TestWarmStartsSavePasses(t *testing.T) {
	z, class := blobs(6, 2000, 20, 3)
	p := &problem{class: class, classes: 3, opt: Primal{C: 1, Tolerance: 1e-3}}
	l, cold := p.fit(t, InMemory(matrix.Rows{Dense: z}))
	p.opt.Start = l
	again, warm := p.fit(t, InMemory(matrix.Rows{Dense: z}))
	if warm.Passes != 2 || !slices.Equal(again.W.Data, l.W.Data) || !slices.Equal(again.B, l.B) {
		t.Errorf("started at the end, %d passes", warm.Passes)
	}
	p.opt.C = 1.5
	_, near := p.fit(t, InMemory(matrix.Rows{Dense: z}))
	if near.Passes >= cold.Passes {
		t.Errorf("%d passes from C = 1 to 1.5, %d from nothing", near.Passes, cold.Passes)
	}
}

func TestPrimalOfHardData(t *testing.T) {
	z, class := blobs(7, 60, 5, 2)
	twice := matrix.NewDense(60, 13) // each column twice, constant ones, one of zeros
	for i := range 60 {
		row := twice.Row(i)
		copy(row, z.Row(i))
		copy(row[5:], z.Row(i))
		row[10], row[11] = 1, 100
	}
	wide := matrix.NewDense(10, 300) // n < D
	s := random.New(8, "wide")
	for i := range wide.Data {
		wide.Data[i] = float32(s.Normal())
	}
	separable := matrix.NewDense(40, 2)
	parted := make([]int, 40)
	for i := range 40 {
		parted[i] = i % 2
		separable.Row(i)[0] = float32(2*(i%2) - 1)
		separable.Row(i)[1] = float32(i) / 40
	}
	rare := make([]int, 60) // classes of one row each
	rare[5], rare[6] = 1, 2
	none := make([]float64, 60) // a class of weight 0
	for i := range none {
		if rare[i] != 2 {
			none[i] = 1
		}
	}
	for name, p := range map[string]*problem{
		"duplicates": {z: twice, class: class, classes: 2},
		"n < D":      {z: wide, class: []int{0, 1, 0, 1, 0, 1, 0, 1, 1, 1}, classes: 2},
		"separable":  {z: separable, class: parted, classes: 2},
		"rare":       {z: z, class: rare, classes: 3},
		"weightless": {z: z, class: rare, classes: 3, weights: none},
		"zeros":      {z: matrix.NewDense(60, 3), class: class, classes: 2},
	} {
		for _, loss := range []string{"logistic", "squared_hinge", "multinomial"} {
			for _, c := range []float64{1e-3, 1, 1e6} {
				p.opt = Primal{Loss: loss, C: c, Tolerance: 1e-4, MaxIter: 500}
				l, report := p.fit(t, InMemory(matrix.Rows{Dense: p.z}))
				for _, w := range append(slices.Clone(l.W.Data), float32(l.B[0])) {
					if w-w != 0 || math.Abs(float64(w)) > 1e4 {
						t.Errorf("%s, %s, C = %g: a weight of %g", name, loss, c, w)
					}
				}
				if !report.Converged && !(report.Rounding && report.Gradient < 1e-4) {
					t.Errorf("%s, %s, C = %g: %+v", name, loss, c, report)
				}
			}
		}
	}
}

func TestPrimalErrorsSayWhatIsWrong(t *testing.T) {
	z, class := blobs(9, 50, 3, 2)
	bad, _ := blobs(9, 50, 3, 2)
	bad.Row(17)[2] = float32(math.NaN())
	huge, _ := blobs(9, 50, 3, 2)
	for i := range huge.Data {
		huge.Data[i] = 3e38
	}
	negative, none := make([]float64, 50), make([]float64, 50)
	negative[4] = -1
	for _, c := range []struct {
		want    string
		z       *matrix.Dense
		weights []float64
		opt     Primal
	}{
		{"row 17, column 2: NaN", bad, nil, Primal{}},
		{"exceed the numbers of float32", huge, nil, Primal{}},
		{"row 4 has the weight -1", z, negative, Primal{}},
		{"no row has a weight", z, none, Primal{}},
		{`loss "hinge" is not known`, z, nil, Primal{Loss: "hinge"}},
		{"C = -1", z, nil, Primal{C: -1}},
	} {
		_, _, err := FitPrimal(context.Background(), InMemory(matrix.Rows{Dense: c.z}), class, 2, c.weights, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := FitPrimal(ctx, InMemory(matrix.Rows{Dense: z}), class, 2, nil, Primal{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
