package learn

import (
	"context"
	"fmt"

	"mercer/matrix"
)

// OneClass is the configuration of a one-class machine (Schölkopf et al. 2001, linear: Chou, Lin,
// Lin 2020), which finds the half-space away from 0 that contains most rows:
//
//	min over w and r of ½‖w‖² - r·νN + Σ vᵢ·max(0, r - w·zᵢ),   N = Σ vᵢ,
//
// vᵢ the rows' weights. At the optimum a share of at most ν of the rows lies outside, w·z < r, and
// at least that share outside or on the border. It is N²ν² times LIBLINEAR's objective (solver 21),
// w and r being νN times theirs; the decision is the same.
//
// Its dual has the constraint Σβᵢ = νN, which the intercept -r stands for, and is solved like
// the other machines. Chou, Lin and Lin move pairs of βᵢ; moving single ones also works
// for features that are not in memory.
type OneClass struct {
	// Outliers is ν in (0, 1]; 0 means 0.1.
	Outliers float64

	// Tolerance bounds the largest violation of the optimality conditions, relative to the
	// rows' mean squared norm times νN. 0 means to continue until the duality gap
	// is a thousandth of ½‖w‖².
	Tolerance float64

	// MaxIter, Seed and Progress are those of SVM.
	MaxIter  int
	Seed     uint64
	Progress func(passes int, share float64)
}

// OneClassReport describes a fit.
type OneClassReport struct {
	Outliers float64 `json:"outliers"`

	// Outside is the weighted share of the rows whose score is negative. That may include
	// rows on the border, whose score is 0 up to the violation.
	Outside float64 `json:"outside"`
	DualReport
}

// Lines describe the fit.
func (r *OneClassReport) Lines() []string {
	return []string{fmt.Sprintf("ν = %g, %.3g %% of the rows lie outside", r.Outliers, 100*r.Outside), r.Text()}
}

// FitOneClass trains on the rows z with the given weights (nil: all 1). The one score of the
// model, w·z - r, is negative for outliers.
func FitOneClass(ctx context.Context, z Features, weights []float64, opt OneClass) (*Linear, *OneClassReport, error) {
	if weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: a one-class machine for %d rows given %d weights", z.Len(), len(weights)))
	}
	if opt.Outliers == 0 {
		opt.Outliers = 0.1
	}
	if !(opt.Outliers > 0 && opt.Outliers <= 1) {
		return nil, nil, fmt.Errorf("the share of outliers is %g, and a number above 0 and up to 1 is wanted", opt.Outliers)
	}
	if err := checkCosts(1, weights, nil); err != nil {
		return nil, nil, err
	}
	total := float64(z.Len())
	if weights != nil {
		total = 0
		for _, w := range weights {
			total += w
		}
	}
	g := &goals{c: 1, weights: weights, y: make([]float64, z.Len()), outputs: 1}
	losses := &boxed{goals: g, kind: oneClassBox}
	f, err := newDual(z, 1, losses, true)
	if err != nil {
		return nil, nil, err
	}
	// The typical score of a row, and the objective it implies. If 0 lies
	// among the rows it nearly vanishes.
	losses.typical = f.size * opt.Outliers * total
	f.floor = 1e-6 * losses.typical * opt.Outliers * total
	o := f.out[0]
	o.sigma = opt.Outliers * total
	for i := range o.beta {
		o.beta[i] = opt.Outliers * g.cost(i, 0)
	}
	f.tolerance, f.maxPasses, f.seed, f.progress = opt.Tolerance, opt.MaxIter, opt.Seed, opt.Progress
	f.ends = opt.MaxIter == 0
	l, report, err := f.fit(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	out := &OneClassReport{Outliers: opt.Outliers, DualReport: *report}
	out.Outside, err = outside(z, l, weights, total)
	return l, out, err
}

// outside is the weighted share of rows with a negative score.
func outside(z Features, l *Linear, weights []float64, total float64) (float64, error) {
	sum := 0.0
	err := eachBlock(z, func(first int, rows matrix.Rows) error {
		scores := matrix.NewDense(rows.Len(), 1)
		l.Scores(scores, rows)
		for r, v := range scores.Data {
			switch {
			case v >= 0:
			case weights == nil:
				sum++
			default:
				sum += weights[first+r]
			}
		}
		return nil
	})
	return sum / max(total, 1e-300), err
}
