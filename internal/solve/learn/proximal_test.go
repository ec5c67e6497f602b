package learn

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// collinear is testdata/collinear.json, which collinear.py wrote.
type collinear struct {
	Columns int       `json:"columns"`
	X       []float32 `json:"x"`
	Target  []float64 `json:"target"`
	Label   []int     `json:"label"`
	Epsilon []optimum `json:"epsilon"`
	Hinge   []optimum `json:"hinge"`

	SquaredEpsilon []optimum `json:"squared_epsilon"`
	SquaredHinge   []optimum `json:"squared_hinge"`
}

// optimum is what another method found.
type optimum struct {
	C         float64   `json:"c"`
	Epsilon   float64   `json:"epsilon"`
	Primal    float64   `json:"primal"`
	Dual      float64   `json:"dual"`
	Liblinear float64   `json:"liblinear"`
	W         []float64 `json:"w"`
	B         float64   `json:"b"`
}

func readCollinear(t *testing.T) (r collinear, z *matrix.Dense, class []int) {
	t.Helper()
	text, err := os.ReadFile("testdata/collinear.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	z = &matrix.Dense{Rows: len(r.Target), Cols: r.Columns, Stride: r.Columns, Data: r.X}
	for _, y := range r.Label {
		class = append(class, (y+1)/2)
	}
	return r, z, class
}

// svrObjective is the primal objective of one target.
func svrObjective(l *Linear, z *matrix.Dense, y []float64, c, epsilon float64, squared bool) float64 {
	w, u := column(l, 0, z)
	sum := 0.0
	for i, v := range u {
		e := max(0, math.Abs(y[i]-v)-epsilon)
		if squared {
			e *= e
		}
		sum += c * e
	}
	for _, v := range w {
		sum += 0.5 * v * v
	}
	return sum
}

// TestMachinesOfCollinearColumnsConverge compares with the optima of another method, where 1,000 passes of
// coordinate descent, here and in LIBLINEAR, end far from them.
func TestMachinesOfCollinearColumnsConverge(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r, z, class := readCollinear(t)
	rows := InMemory(matrix.Rows{Dense: z})
	ended := 0
	check := func(name string, want optimum, tolerance, got float64, report *DualReport) {
		t.Helper()
		near := gapTarget
		if tolerance > 0 {
			near = 1e-5
		}
		if !report.Converged || got > want.Primal*(1+near) || got < want.Dual*(1-1e-7) {
			t.Errorf("%s, C = %g, ε = %g, tolerance %g: objective %.8g, the optimum is %.8g; %s",
				name, want.C, want.Epsilon, tolerance, got, want.Primal, report.Text())
		}
		if report.Newton > 0 {
			ended++
		}
		if report.Newton > 300 {
			t.Errorf("%s, C = %g, ε = %g: %s", name, want.C, want.Epsilon, report.Text())
		}
		t.Logf("%s, C = %g, ε = %g, tolerance %g: %.2g above the optimum, LIBLINEAR %.2g; %s",
			name, want.C, want.Epsilon, tolerance, got/want.Primal-1, want.Liblinear/want.Primal-1, report.Text())
	}
	for _, tolerance := range []float64{0, 1e-4} {
		for loss, optima := range map[string][]optimum{"epsilon": r.Epsilon, "squared_epsilon": r.SquaredEpsilon} {
			for _, want := range optima {
				opt := SVR{C: want.C, Loss: loss, Epsilon: want.Epsilon, Tolerance: tolerance}
				l, report, err := FitSVR(context.Background(), rows, r.Target, 1, nil, opt)
				if err != nil {
					t.Fatal(err)
				}
				check(loss, want, tolerance, svrObjective(l, z, r.Target, want.C, want.Epsilon, loss != "epsilon"), &report.DualReport)
			}
		}
		for loss, optima := range map[string][]optimum{"hinge": r.Hinge, "squared_hinge": r.SquaredHinge} {
			for _, want := range optima {
				l, report, err := FitSVM(context.Background(), rows, class, 2, nil, SVM{C: want.C, Loss: loss, Tolerance: tolerance})
				if err != nil {
					t.Fatal(err)
				}
				got, _ := primal(l, z, class, nil, 0, 1, want.C, loss != "hinge")
				check(loss, want, tolerance, got, &report.DualReport)
			}
		}
	}
	if ended == 0 {
		t.Error("coordinate descent did without Newton's steps everywhere: the test shows nothing")
	}
}

// TestNewtonStepsFindTheOptimumAlone starts them at β = 0 on all kinds of problems: with more rows than
// columns and fewer, weights, several outputs, with an intercept and without.
func TestNewtonStepsFindTheOptimumAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, shape := range []struct{ n, d int }{{150, 6}, {40, 90}, {60, 600}, {700, 20}} {
		z, class := blobs(uint64(shape.d), shape.n, shape.d, 3)
		s := random.New(9, "newton")
		y := make([]float64, 2*shape.n)
		for e := range y {
			y[e] = 3*float64(z.Row(e / 2)[e%2]) + s.Normal() + 5
		}
		for _, kind := range []string{"hinge", "squared_hinge", "epsilon", "squared_epsilon", "one-class"} {
			for _, c := range []float64{1e-6, 0.01, 1} {
				for variant := range 4 {
					intercept := variant&1 == 0
					var weights []float64
					if variant&2 != 0 {
						weights = thirds(shape.n)
					}
					rows := matrix.Rows{Dense: z}
					if variant == 3 {
						rows = matrix.Rows{CSR: toCSR(z)}
					}
					var box *boxed
					outputs, sigma, floor := 1, 0.0, 0.0
					switch kind {
					case "hinge", "squared_hinge":
						outputs = 3
						box = &boxed{goals: &goals{c: c, weights: weights, class: class, outputs: 3}, kind: hingeBox, typical: 1}
					case "epsilon", "squared_epsilon":
						outputs = 2
						box = &boxed{goals: &goals{c: c, weights: weights, y: y, outputs: 2}, kind: epsilonBox, epsilon: 0.2, typical: 1}
					default:
						if !intercept {
							continue // it is the constraint
						}
						g := &goals{c: 1, weights: weights, y: make([]float64, shape.n), outputs: 1}
						box = &boxed{goals: g, kind: oneClassBox, typical: float64(shape.n)}
						sigma = 0.1 * float64(shape.n)
						floor = 1e-6 * sigma * sigma * float64(shape.d)
					}
					box.squared = strings.HasPrefix(kind, "squared")
					f, err := newDual(InMemory(rows), outputs, box, intercept)
					if err != nil {
						t.Fatal(err)
					}
					f.floor = floor
					for _, o := range f.out {
						o.sigma = sigma
						if err := f.check(context.Background(), []*output{o}); err != nil {
							t.Fatal(err)
						}
						if err := f.newton(context.Background(), []*output{o}); err != nil {
							t.Fatal(err)
						}
						primal, dual, sum := certificate(box, o, z, weights)
						if !o.done || primal-dual > 1.01*gapTarget*max(math.Abs(primal), floor) || intercept && math.Abs(sum-sigma) > 0.01*(c+sigma) {
							t.Errorf("%d×%d, %s, C = %g, variant %d, output %d: done %v, primal %.9g, dual %.9g, Σβ - σ = %g, %d steps",
								shape.n, shape.d, kind, c, variant, o.t, o.done, primal, dual, sum-sigma, f.steps)
						}
					}
				}
			}
		}
	}
}

// certificate is the primal objective at the w that β makes, the dual one, and Σβ, from the rows in float64. It
// is -Inf for a β outside its bounds.
func certificate(b *boxed, o *output, z *matrix.Dense, weights []float64) (primal, dual, sum float64) {
	w := make([]float64, z.Cols)
	for i, beta := range o.beta {
		for j, v := range z.Row(i) {
			w[j] += beta * float64(v)
		}
		sum += beta
	}
	for _, v := range w {
		primal += 0.5 * v * v
		dual -= 0.5 * v * v
	}
	primal += o.sigma * o.shift()
	for i, beta := range o.beta {
		c := b.c
		if weights != nil {
			c *= weights[i]
		}
		u := o.shift()
		for j, v := range z.Row(i) {
			u += w[j] * float64(v)
		}
		lo, hi, y, short := -c, c, 0.0, -u // short is what the loss is of
		switch b.kind {
		case hingeBox:
			y = b.side(i, o.t)
			short = 1 - y*u
			lo, hi = min(0, c*y), max(0, c*y)
		case epsilonBox:
			y = b.side(i, o.t)
			short = math.Abs(y-u) - b.epsilon
		default:
			lo = 0
		}
		short = max(0, short)
		dual += y*beta - b.epsilon*math.Abs(beta)
		if b.squared && c > 0 {
			primal += c * short * short
			dual -= 0.25 / c * beta * beta
			if b.kind == epsilonBox {
				continue
			}
			if lo < 0 {
				lo = math.Inf(-1)
			}
			if hi > 0 {
				hi = math.Inf(1)
			}
		} else {
			primal += c * short
		}
		if beta < lo || beta > hi {
			return primal, math.Inf(-1), sum
		}
	}
	return primal, dual, sum
}

// TestNewtonStepsAreTheSameForAnyThreadsAndFeatures asks for the same bits.
func TestNewtonStepsAreTheSameForAnyThreadsAndFeatures(t *testing.T) {
	r, z, _ := readCollinear(t)
	want := r.Epsilon[len(r.Epsilon)-1]
	opt := SVR{C: want.C, Loss: "epsilon", Epsilon: want.Epsilon}
	fit := func(z Features, threads int) *Linear {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		l, report, err := FitSVR(context.Background(), z, r.Target, 1, nil, opt)
		if err != nil || report.Newton == 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return l
	}
	rows := matrix.Rows{Dense: z}
	first := fit(InMemory(rows), 1)
	for _, threads := range []int{2, 5} {
		if got := fit(InMemory(rows), threads); !slices.Equal(got.W.Data, first.W.Data) || got.B[0] != first.B[0] {
			t.Errorf("other bits with %d threads", threads)
		}
	}
	if got := fit(pickable{rows}, 2); !slices.Equal(got.W.Data, first.W.Data) || got.B[0] != first.B[0] {
		t.Error("other bits with features that are not resident")
	}
}

// pickable are features that are not resident.
type pickable struct{ matrix.Rows }

func (p pickable) Block(i, j int) (matrix.Rows, error) { return p.Slice(i, j), nil }
func (pickable) Resident() bool                        { return false }
func (p pickable) Pick(which []int) (matrix.Rows, error) {
	z := matrix.NewDense(len(which), p.Dim())
	for r, i := range which {
		copy(z.Row(r), p.Dense.Row(i))
	}
	return matrix.Rows{Dense: z}, nil
}

// TestNewtonStepsAreForWhatStalls: what converges in its passes is left alone, and so is a training whose passes
// are bounded, or whose classes are one problem.
func TestNewtonStepsAreForWhatStalls(t *testing.T) {
	z, class := blobs(5, 300, 8, 3)
	rows := InMemory(matrix.Rows{Dense: z})
	a, report, err := FitSVM(context.Background(), rows, class, 3, nil, SVM{C: 0.1, Loss: "hinge"})
	if err != nil || !report.Converged || report.Newton != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	b, _, err := FitSVM(context.Background(), rows, class, 3, nil, SVM{C: 0.1, Loss: "hinge", MaxIter: DualPasses})
	if err != nil || !slices.Equal(a.W.Data, b.W.Data) || !slices.Equal(a.B, b.B) {
		t.Errorf("a training that converges has changed, %v", err)
	}
	r, zc, classes := readCollinear(t)
	hard := r.Epsilon[len(r.Epsilon)-1]
	dense := InMemory(matrix.Rows{Dense: zc})
	_, bounded, err := FitSVR(context.Background(), dense, r.Target, 1, nil, SVR{C: hard.C, Loss: "epsilon", MaxIter: DualPasses})
	if err != nil || bounded.Converged || bounded.Newton != 0 {
		t.Errorf("with bounded passes: %+v, %v", bounded, err)
	}
	_, coupled, err := FitSVM(context.Background(), dense, classes, 2, nil, SVM{C: hard.C, CrammerSinger: true})
	if err != nil || coupled.Converged || coupled.Newton != 0 {
		t.Errorf("of coupled classes: %+v, %v", coupled, err)
	}
}
