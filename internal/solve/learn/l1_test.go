package learn

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// l1Violation is the sum of the violations of the optimality conditions of class k against the
// rest, and the value there, by plain sums.
func l1Violation(l *Linear, k int, z *matrix.Dense, class []int, weights []float64, opt L1) (violation, value float64) {
	d := z.Cols
	p := &problem{z: z, weights: weights, opt: Primal{Loss: opt.Loss, C: opt.C}}
	p.class = make([]int, len(class))
	for i, c := range class {
		p.class[i] = int(side(c, k, l.W.Cols)+1) / 2
	}
	one := zero(d, 1)
	for j := range d {
		one.W.Data[j] = l.W.Row(j)[k]
	}
	one.B[0] = l.B[k]
	value, grad := p.gradient(one)
	for j, w := range one.W.Data {
		w := float64(w)
		g := grad[0][j] - w // without the L2 penalty's
		value += math.Abs(w) - 0.5*w*w
		switch {
		case w > 0:
			violation += math.Abs(g + 1)
		case w < 0:
			violation += math.Abs(g - 1)
		default:
			violation += max(0, math.Abs(g)-1)
		}
	}
	if !opt.NoIntercept {
		violation += math.Abs(grad[0][d])
	}
	return violation, value
}

func TestL1MeetsItsOptimalityConditions(t *testing.T) {
	z, class := blobs(21, 400, 30, 3)
	two := make([]int, 400)
	weights := make([]float64, 400)
	for i, c := range class {
		two[i] = min(c, 1)
		weights[i] = float64(i%3) / 2
		z.Row(i)[3] = 1               // constant
		z.Row(i)[4] = z.Row(i)[5] * 2 // collinear
		z.Row(i)[6] = 0
	}
	for _, loss := range []string{"squared_hinge", "logistic"} {
		for _, c := range []float64{0.02, 0.3, 30} {
			for _, without := range []bool{false, true} {
				for _, w := range [][]float64{nil, weights} {
					for _, classes := range []int{2, 3} {
						some := class
						if classes == 2 {
							some = two
						}
						opt := L1{Loss: loss, C: c, NoIntercept: without, Tolerance: 1e-4}
						l, report, err := FitL1(context.Background(), InMemory(matrix.Rows{Dense: z}), some, classes, w, opt)
						if err != nil {
							t.Fatal(err)
						}
						if !report.Converged || report.Violation > 1e-4 {
							t.Errorf("%+v: %+v", opt, report)
						}
						count := 0
						for _, v := range l.W.Data {
							if v != 0 {
								count++
							}
						}
						if count != report.NonZero || report.Weights != len(l.W.Data) {
							t.Errorf("%+v: %d weights of %d are not zero, reported %+v", opt, count, len(l.W.Data), report)
						}
						for k := range l.B {
							origin, _ := l1Violation(zero(z.Cols, l.W.Cols), k, z, some, w, opt)
							v, value := l1Violation(l, k, z, some, w, opt)
							if v > 1.2e-4*origin {
								t.Errorf("%+v, %d classes: violation %g of that at 0 (reported %g)", opt, classes, v/origin, report.Violation)
							}
							if math.Abs(value-report.Objective[k]) > 1e-6*value {
								t.Errorf("%+v: objective %g, reported %g", opt, value, report.Objective[k])
							}
							if w := l.W.Row(6)[k]; w != 0 {
								t.Errorf("a column of zeros has the weight %g", w)
							}
							// Beside a free intercept, a penalised constant is of no use, which
							// shows where the penalty is large beside the tolerance.
							if w := l.W.Row(3)[k]; !without && c < 0.1 && w != 0 {
								t.Errorf("a constant column has the weight %g", w)
							}
						}
					}
				}
			}
		}
	}
}

func TestSmallestCIsWhereWeightsBegin(t *testing.T) {
	z, class := blobs(22, 300, 8, 2)
	x, err := newColumns(context.Background(), InMemory(matrix.Rows{Dense: z}))
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []L1{{Loss: "logistic"}, {Loss: "squared_hinge"}, {Loss: "logistic", NoIntercept: true},
		{Loss: "squared_hinge", NoIntercept: true}} {
		smallest, err := smallestC(x, class, 2, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		for share, some := range map[float64]bool{0.99: false, 1.01: true} {
			opt.C, opt.Tolerance = share*smallest, 1e-6
			_, report, err := FitL1(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, opt)
			if err != nil || report.NonZero > 0 != some {
				t.Errorf("%+v: %+v, %v", opt, report, err)
			}
		}
	}
}

func TestL1IsTheSameOnAnyThreadsAndFromFiles(t *testing.T) {
	z, class := blobs(23, BlockRows+100, 6, 4)
	for _, rows := range []matrix.Rows{{Dense: z}, {CSR: toCSR(z)}} {
		before := runtime.GOMAXPROCS(1)
		want, _, err := FitL1(context.Background(), InMemory(rows), class, 4, nil, L1{Loss: "logistic"})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 3} {
			runtime.GOMAXPROCS(threads)
			got, _, err := FitL1(context.Background(), &fileLike{rows: rows}, class, 4, nil, L1{Loss: "logistic"})
			if err != nil || !slices.Equal(got.W.Data, want.W.Data) || !slices.Equal(got.B, want.B) {
				t.Errorf("%d threads: another model, %v", threads, err)
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

func TestL1OfHardData(t *testing.T) {
	wide, class := blobs(24, 20, 200, 2) // n < D, separable
	rare := make([]int, 20)
	rare[3], rare[4] = 1, 2
	for _, loss := range []string{"squared_hinge", "logistic"} {
		for _, some := range [][]int{class, rare} {
			for _, c := range []float64{1e-6, 1, 1e4} {
				l, report, err := FitL1(context.Background(), InMemory(matrix.Rows{Dense: wide}), some, 3, nil, L1{Loss: loss, C: c})
				if err != nil || !report.Converged {
					t.Errorf("%s, C = %g: %+v, %v", loss, c, report, err)
					continue
				}
				for _, w := range l.W.Data {
					if w-w != 0 || math.Abs(float64(w)) > 1e3 {
						t.Errorf("%s, C = %g: a weight of %g", loss, c, w)
					}
				}
			}
		}
	}
	bad := matrix.NewDense(20, 3)
	bad.Row(7)[1] = float32(math.Inf(1))
	for _, c := range []struct {
		want string
		z    *matrix.Dense
		opt  L1
	}{
		{"row 7, column 1: +Inf", bad, L1{}},
		{`loss "hinge" is not known`, wide, L1{Loss: "hinge"}},
		{"C = -2", wide, L1{C: -2}},
	} {
		_, _, err := FitL1(context.Background(), InMemory(matrix.Rows{Dense: c.z}), class, 2, nil, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}
