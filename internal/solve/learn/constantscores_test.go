package learn

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// short are rows of length 0.007, one in seven of which is of the second class: a plane tells them apart, but only a large
// C lets weights grow to where it counts.
func short(n int) (z *matrix.Dense, class, three []int, y []float64) {
	z, class, three, y = matrix.NewDense(n, 3), make([]int, n), make([]int, n), make([]float64, n)
	s := random.New(5, "short")
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(0.004 * s.Normal())
		}
		y[i] = 250*float64(row[0]) - 125*float64(row[1]) + 0.1*s.Normal()
		if y[i] > 1.2 {
			class[i], three[i] = 1, 1
		} else if y[i] < -1.3 {
			three[i] = 2
		}
	}
	return z, class, three, y
}

func TestTrialsGoOnWhereASmallCFitsNothing(t *testing.T) {
	ctx := context.Background()
	z, class, three, y := short(900)
	rows := matrix.Rows{Dense: z}
	f := InMemory(rows)
	for name, fit := range map[string]func(class []int, k int) (*Linear, float64, error){
		"squared_hinge": func(class []int, k int) (*Linear, float64, error) {
			c, _, err := ChooseC(ctx, f, class, k, nil, SVM{})
			if err != nil {
				return nil, 0, err
			}
			l, _, err := FitSVM(ctx, f, class, k, nil, SVM{C: c})
			return l, c, err
		},
		"hinge": func(class []int, k int) (*Linear, float64, error) {
			c, _, err := ChooseC(ctx, f, class, k, nil, SVM{Loss: "hinge"})
			if err != nil {
				return nil, 0, err
			}
			l, _, err := FitSVM(ctx, f, class, k, nil, SVM{Loss: "hinge", C: c})
			return l, c, err
		},
		"crammer-singer": func(class []int, k int) (*Linear, float64, error) {
			c, _, err := ChooseC(ctx, f, class, k, nil, SVM{CrammerSinger: true})
			if err != nil {
				return nil, 0, err
			}
			l, _, err := FitSVM(ctx, f, class, k, nil, SVM{CrammerSinger: true, C: c})
			return l, c, err
		},
		"primal squared_hinge": func(class []int, k int) (*Linear, float64, error) {
			opt := Primal{Loss: "squared_hinge"}
			var err error
			if opt.C, _, err = ChoosePrimalC(ctx, f, class, k, nil, opt, 1); err != nil {
				return nil, 0, err
			}
			l, _, err := FitPrimal(ctx, f, class, k, nil, opt)
			return l, opt.C, err
		},
		"primal multinomial": func(class []int, k int) (*Linear, float64, error) {
			opt := Primal{Loss: "multinomial"}
			var err error
			if opt.C, _, err = ChoosePrimalC(ctx, f, class, k, nil, opt, 1); err != nil {
				return nil, 0, err
			}
			l, _, err := FitPrimal(ctx, f, class, k, nil, opt)
			return l, opt.C, err
		},
		"L1 squared_hinge": func(class []int, k int) (*Linear, float64, error) {
			opt := L1{Loss: "squared_hinge"}
			var err error
			if opt.C, _, err = ChooseL1C(ctx, f, class, k, nil, opt); err != nil {
				return nil, 0, err
			}
			l, _, err := FitL1(ctx, f, class, k, nil, opt)
			return l, opt.C, err
		},
	} {
		for k, class := range map[int][]int{2: class, 3: three} {
			l, c, err := fit(class, k)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			// A seventh or a quarter is not of the first class, which stands between the two others, so that
			// each against the rest misses some.
			if e := wrongShare(l, rows, class); e > 0.05*float64(k-1)+0.01 {
				t.Errorf("%s of %d classes: C = %g errs on %.3g of the rows", name, k, c, e)
			}
		}
	}
	for _, loss := range []string{"squared_epsilon", "epsilon"} {
		opt := SVR{Loss: loss, Epsilon: 0.05}
		var err error
		if opt.C, _, err = ChooseSVRC(ctx, f, y, 1, nil, opt); err != nil {
			t.Fatal(err)
		}
		l, _, err := FitSVR(ctx, f, y, 1, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		// The noise's mean square is 0.01, that of the targets 1.26.
		if e := lossOf(l, rows, y, true); e > 0.02 {
			t.Errorf("%s: C = %g leaves a mean square of %g", loss, opt.C, e)
		}
	}
}

func TestTheInterceptAloneIsNotConverged(t *testing.T) {
	ctx := context.Background()
	z, class, three, _ := short(900)
	f := InMemory(matrix.Rows{Dense: z})
	// The same rows far from 0, where the mean of the features passes for an intercept.
	far := matrix.NewDense(z.Rows, 3)
	for i, v := range z.Data {
		far.Data[i] = v + 0.25
	}
	for name, f := range map[string]Features{"short": f, "far from 0": InMemory(matrix.Rows{Dense: far})} {
		for k, class := range map[int][]int{2: class, 3: three} {
			for _, loss := range []string{"logistic", "squared_hinge", "multinomial"} {
				fit := func(tolerance float64) float64 {
					// From an intercept without weights, as the end of a smaller C may be.
					start := &Linear{W: matrix.NewDense(3, TargetColumns(k)), B: make([]float64, TargetColumns(k))}
					for t := range start.B {
						start.B[t] = -0.8
					}
					_, r, err := FitPrimal(ctx, f, class, k, nil, Primal{Loss: loss, C: 1e5, Tolerance: tolerance, Start: start})
					if err != nil || !r.Converged && !r.Rounding {
						t.Fatalf("%s, %s: %+v, %v", name, loss, r, err)
					}
					return addUp(r.Objective)
				}
				if got, best := fit(0.01), fit(1e-9); got > 1.1*best {
					t.Errorf("%s, %s of %d classes: objective %g, the least is %g", name, loss, k, got, best)
				}
			}
			if name != "short" {
				continue
			}
			for _, loss := range []string{"logistic", "squared_hinge"} {
				fit := func(tolerance float64) float64 {
					_, r, err := FitL1(ctx, f, class, k, nil, L1{Loss: loss, C: 1000, Tolerance: tolerance})
					if err != nil {
						t.Fatalf("L1, %s: %v", loss, err)
					}
					return addUp(r.Objective)
				}
				if got, best := fit(0.01), fit(1e-8); got > 1.1*best {
					t.Errorf("L1, %s of %d classes: objective %g, the least is %g", loss, k, got, best)
				}
			}
		}
	}
}

func TestConstantLossesAreThoseOfATinyC(t *testing.T) {
	ctx := context.Background()
	z, class := blobs(3, 300, 4, 3)
	two := make([]int, len(class))
	for i, c := range class {
		two[i] = min(c, 1)
	}
	weights, y := make([]float64, len(class)), make([]float64, 2*len(class))
	s := random.New(1, "weights")
	for i := range weights {
		weights[i] = float64(i % 3)
		y[2*i], y[2*i+1] = s.Normal(), math.Exp(s.Normal())
	}
	f, c := InMemory(matrix.Rows{Dense: z}), 1e-7
	near := func(what string, got, objective float64) {
		t.Helper()
		if want := objective / c; math.Abs(got-want) > 0.002*want {
			t.Errorf("%s: %g, but the fit comes to %g", what, got, want)
		}
	}
	for k, class := range map[int][]int{2: two, 3: class} {
		byClass := []float64{1, 2, 0.5}[:k]
		for _, without := range []bool{false, true} {
			for _, loss := range []string{"logistic", "squared_hinge", "multinomial"} {
				_, r, err := FitPrimal(ctx, f, class, k, weights,
					Primal{Loss: loss, C: c, Tolerance: 1e-6, ClassWeights: byClass, NoIntercept: without})
				if err != nil {
					t.Fatal(err)
				}
				near(loss, constantLoss(loss, class, k, weights, byClass, without), addUp(r.Objective))
			}
			hinge := 0.0 // plainly, over many scores
			for t := range TargetColumns(k) {
				least := math.Inf(1)
				for b := -100; b <= 100; b++ {
					if without && b != 0 {
						continue
					}
					sum := 0.0
					for i, cl := range class {
						y := side(cl, t, TargetColumns(k))
						if k == 2 || cl == t {
							y *= byClass[cl] // its size is the weight
						}
						sum += weights[i] * math.Abs(y) * max(0, 1-math.Copysign(1, y)*float64(b)/100)
					}
					least = min(least, sum)
				}
				hinge += least
			}
			near("hinge", constantLoss("hinge", class, k, weights, byClass, without), c*hinge)
			if k == 2 { // the same machine
				near("Crammer-Singer", constantLoss(crammerSingerLoss, class, k, weights, byClass, without), c*hinge)
			}
		}
	}
	for _, squared := range []bool{false, true} {
		for _, without := range []bool{false, true} {
			want := 0.0
			for t := range 2 {
				least := math.Inf(1)
				for b := -300; b <= 300; b++ {
					if without && b != 0 {
						continue
					}
					sum := 0.0
					for i, w := range weights {
						e := max(0, math.Abs(y[2*i+t]-float64(b)/100)-0.1)
						if squared {
							e *= e
						}
						sum += w * e
					}
					least = min(least, sum)
				}
				want += least
			}
			// The mean and the median are the best for a tube of no width.
			if got := constantTargets(y, 2, weights, squared, 0.1, without); got < 0.999*want || got > 1.03*want {
				t.Errorf("squared %t, without intercept %t: %g, but the least is %g", squared, without, got, want)
			}
		}
	}
}

func TestFewRowsWithAnL1PenaltyHaveWeights(t *testing.T) {
	ctx := context.Background()
	z, class, _, _ := short(60)
	f := InMemory(matrix.Rows{Dense: z})
	for _, loss := range []string{"logistic", "squared_hinge"} {
		opt := L1{Loss: loss}
		var err error
		if opt.C, _, err = ChooseL1C(ctx, f, class, 2, nil, opt); err != nil {
			t.Fatal(err)
		}
		if _, r, err := FitL1(ctx, f, class, 2, nil, opt); err != nil || r.NonZero == 0 {
			t.Errorf("%s: C = %g, %+v, %v", loss, opt.C, r, err)
		}
	}
}

// wrongShare is the share of the rows whose class l predicts wrongly.
func wrongShare(l *Linear, z matrix.Rows, class []int) float64 {
	j, _ := judgeRows(l, z, class, l.W.Cols, false)
	return j.wrong
}
