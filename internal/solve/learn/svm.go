package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// SVM is the configuration of linear machines for classes. With z the row, y = ±1 and the cost
// cᵢ = C·(weight of row i)·(weight of its class), each class against the rest minimises
//
//	½‖w‖² + Σ cᵢ·max(0, 1 - yᵢuᵢ)²         squared_hinge
//	½‖w‖² + Σ cᵢ·max(0, 1 - yᵢuᵢ)          hinge
//	½‖w‖² + Σ cᵢ·log(1 + exp(-yᵢuᵢ))       logistic
//
// over w and b, uᵢ = w·zᵢ + b. With two classes there is one such machine, for the second.
// CrammerSinger minimises over all classes' w and b at once
//
//	½Σₘ‖wₘ‖² + Σ cᵢ·maxₘ(eᵢᵐ + uᵢᵐ - uᵢʸ),   eᵢᵐ = 1 but 0 for the class y of row i.
//
// All are solved in the dual by coordinate descent: Hsieh et al. 2008 (hinges), Yu, Huang,
// Lin 2011 (logistic), Keerthi et al. 2008 (Crammer-Singer). They are LIBLINEAR's solvers 1,
// 3, 7 and 4, if NoIntercept is set and the rows have its constant column.
//
// Memory: that of the features, 9·n·K bytes for the dual variables, 12·n, and twice
// 4·D·K for w.
type SVM struct {
	// C weighs the losses against ½‖w‖²; 0 means 1.
	C float64

	// Loss is "squared_hinge" (or ""), "hinge" or "logistic".
	Loss string

	// CrammerSinger asks for one machine for all classes, whose loss is the hinge.
	CrammerSinger bool

	// ClassWeights multiply the cost of a row by that of its class, as LIBLINEAR does: for
	// one class against the rest only the class itself is weighted. With two
	// classes, and for CrammerSinger, all weights apply. nil: all 1.
	ClassWeights []float64

	// NoIntercept keeps b at 0. Otherwise b is free, and not penalised.
	NoIntercept bool

	// Tolerance bounds the largest violation of the optimality conditions: the distance of a
	// dual gradient from its optimal range, which is 1 at w = 0. 0 means to continue until
	// the duality gap is a thousandth of the objective.
	Tolerance float64

	// MaxIter bounds the passes over the rows; 0 means DualPasses, and that Newton's steps go on from
	// there, however nearly collinear columns are. There are none for more than 4,096 columns, for
	// CrammerSinger and for the logistic loss.
	MaxIter int

	// Seed chooses the order of the rows.
	Seed uint64

	// Progress, if not nil, is called with the number of passes made and the share of the
	// classes that are done.
	Progress func(passes int, share float64)

	// Judged, if not nil, is what ChooseC calls with the rows that it judged by and their scores, side by side, by the machine of
	// the C that it returns, which was trained without them. It is not called if nothing was tried.
	Judged func(rows []int, scores []float32)
}

// SVMReport describes a fit.
type SVMReport struct {
	C    float64 `json:"c"`
	Loss string  `json:"loss"`
	DualReport

	// Path has the C that were tried on held-out rows, nil if C was given.
	Path []CPoint `json:"path,omitempty"`

	// Usual means that C was neither given nor chosen: there were too few rows.
	Usual bool `json:"usual,omitempty"`
}

// DualReport describes how dual coordinate descent ended.
type DualReport struct {
	// Passes is the number of passes over the rows.
	Passes int `json:"passes"`

	// Newton is the number of Newton's steps that followed (proximal.go).
	Newton int `json:"newton_steps,omitempty"`

	// Converged means that every output met its target within MaxIter passes, or by Newton's steps.
	Converged bool `json:"converged"`

	// Gap is the largest relative duality gap of an output, (primal - dual)/primal: an upper
	// bound on how far its objective is from the optimum.
	Gap float64 `json:"gap"`

	// Objective is the sum of the outputs' primal objectives, Dual that of the dual ones, which is lower by
	// the absolute gap.
	Objective float64 `json:"objective"`
	Dual      float64 `json:"dual"`

	// Violation is the largest violation of the optimality conditions.
	Violation float64 `json:"violation"`
}

// Text describes the fit.
func (r *DualReport) Text() string {
	how := "converged"
	if !r.Converged {
		how = "NOT converged (allow more iterations or a larger tolerance)"
	}
	work := fmt.Sprintf("%d passes", r.Passes)
	if r.Newton > 0 {
		work += fmt.Sprintf(" and %d Newton steps", r.Newton)
	}
	return fmt.Sprintf("%s in %s, duality gap %.2g %%", how, work, 100*r.Gap)
}

// Lines describe the fit.
func (r *SVMReport) Lines() []string {
	chosen := "given"
	if n := len(r.Path); n > 0 {
		chosen = fmt.Sprintf("the best of %d on held-out rows", n)
		if r.Path[0].LogLoss > 0 {
			chosen += ", by log loss"
		}
	} else if r.Usual {
		chosen = "the usual one: there are too few rows to choose by"
	}
	return []string{fmt.Sprintf("%s, C = %g (%s)", r.Loss, r.C, chosen), r.Text()}
}

// FitSVM trains on the rows z, of which row i has the class class[i] in [0, classes) and
// the weight weights[i] (nil: all 1). There must be at least two classes. Rows of weight
// 0 are ignored. The model has TargetColumns(classes) outputs, and one for each class if
// CrammerSinger is set.
func FitSVM(ctx context.Context, z Features, class []int, classes int, weights []float64, opt SVM) (*Linear, *SVMReport, error) {
	var linear *Linear
	var report *SVMReport
	if opt.C == 0 {
		opt.C = 1
	}
	err := SVMPath(ctx, z, class, classes, weights, opt, []float64{opt.C}, func(l *Linear, r *SVMReport) error {
		linear, report = l, r
		return nil
	})
	return linear, report, err
}

// SVMPath fits one C after the other, each starting from the dual variables of the last,
// and passes each model to visit, whose error ends it. Increasing C is the fast order:
// the variables of a smaller C are within the bounds of a larger one, while for a smaller
// C all are reduced in proportion.
func SVMPath(ctx context.Context, z Features, class []int, classes int, weights []float64, opt SVM, cs []float64,
	visit func(*Linear, *SVMReport) error) error {
	if classes < 2 || len(class) != z.Len() || weights != nil && len(weights) != z.Len() {
		panic(fmt.Sprintf("learn: an SVM for %d rows given %d classes for %d rows and %d weights", z.Len(), classes, len(class), len(weights)))
	}
	if opt.ClassWeights != nil && len(opt.ClassWeights) != classes {
		panic(fmt.Sprintf("learn: an SVM for %d classes given %d class weights", classes, len(opt.ClassWeights)))
	}
	g := &goals{class: class, outputs: TargetColumns(classes), weights: weights, classWeights: opt.ClassWeights}
	var losses counter
	switch {
	case opt.CrammerSinger:
		if opt.Loss != "" && opt.Loss != "hinge" {
			return fmt.Errorf("loss %q is not one of the Crammer-Singer machine, whose loss is the hinge", opt.Loss)
		}
		opt.Loss, g.outputs = "hinge", classes
		losses = newCrammerSinger(g)
	case opt.Loss == "" || opt.Loss == "squared_hinge":
		opt.Loss = "squared_hinge"
		losses = &boxed{goals: g, kind: hingeBox, squared: true, typical: 1}
	case opt.Loss == "hinge":
		losses = &boxed{goals: g, kind: hingeBox, typical: 1}
	case opt.Loss == "logistic":
		losses = &logistic{goals: g}
	default:
		return fmt.Errorf("loss %q is not known; known are squared_hinge, hinge, logistic", opt.Loss)
	}
	if err := checkCosts(1, weights, opt.ClassWeights); err != nil {
		return err
	}
	f, err := newDual(z, g.outputs, losses, !opt.NoIntercept)
	if err != nil {
		return err
	}
	f.tolerance, f.maxPasses, f.seed, f.progress = opt.Tolerance, opt.MaxIter, opt.Seed, opt.Progress
	f.ends = opt.MaxIter == 0
	for step, c := range cs {
		if err := checkCosts(c, nil, nil); err != nil {
			return err
		}
		before := f.passes
		if step > 0 {
			f.rescale(g.c, c)
		}
		g.c = c
		l, report, err := f.fit(ctx, step > 0)
		if err != nil {
			return err
		}
		report.Passes -= before
		if err := visit(l, &SVMReport{C: c, Loss: opt.Loss, DualReport: *report}); err != nil {
			return err
		}
	}
	return nil
}

// checkCosts refuses a C or class weights that are not positive finite numbers, and negative row weights.
func checkCosts(c float64, weights, classWeights []float64) error {
	if !(c > 0) || math.IsInf(c, 0) {
		return fmt.Errorf("the cost C is %g, and a positive number is wanted", c)
	}
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("the weight of row %d is %g, and a finite number of 0 or more is wanted", i, w)
		}
	}
	if i := slices.IndexFunc(classWeights, func(w float64) bool { return !(w >= 0) || math.IsInf(w, 0) }); i >= 0 {
		return fmt.Errorf("the weight of class %d is %g, and a finite number of 0 or more is wanted", i, classWeights[i])
	}
	return nil
}
