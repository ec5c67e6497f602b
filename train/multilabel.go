package train

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// A multi-label model decides for each label separately whether a row has it: one score per label, as from
// a binary classifier.

// middleLabel is the label whose share of the rows is nearest to one half, as two classes. It chooses C for all
// labels if that is not given. It is nil if no label tells rows apart.
func (a *answers) middleLabel(all *gathered) []int {
	k := a.outputs
	middle, least := 0, 0.5
	for t := range k {
		if d := math.Abs(all.shareOf(t, k) - 0.5); d < least {
			middle, least = t, d
		}
	}
	if least == 0.5 {
		return nil
	}
	return all.classOf(middle, k)
}

// svmLabels trains a support vector machine for each label, or with the logistic loss a logistic
// regression by its dual.
func (f *job) svmLabels(all *gathered, opt learn.SVM) (*learn.Linear, *learn.SVMReport, error) {
	k, n := f.outputs, all.z.Len()
	opt.Progress = nil
	report := &learn.SVMReport{Loss: opt.Loss, DualReport: learn.DualReport{Converged: true}}
	if opt.C == 0 {
		if class := f.middleLabel(all); class == nil {
			opt.C = 1
		} else {
			var err error
			chosen := timed(&f.report.Choose)
			opt.C, report.Path, err = learn.ChooseC(f.ctx, all.z, class, 2, all.weights, opt)
			if chosen(); err != nil {
				return nil, nil, err
			}
		}
	}
	unanimous := 1.0 // the score of a label that all rows have
	if opt.Loss == logLoss {
		unanimous = learn.UnanimousScore(all.weight())
	}
	report.C, report.Usual = opt.C, As[SVM](f.cfg.Learner).C == 0 && report.Path == nil
	linear := &learn.Linear{W: matrix.NewDense(all.z.Dim(), k), B: make([]float64, k)}
	reports, errs := make([]*learn.SVMReport, k), make([]error, k)
	// Only one label at a time can use features that are not in memory.
	grain := 1
	if !all.z.Resident() {
		grain = k
	}
	vec.Parallel(k, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			if share := all.shareOf(t, k); n == 0 || share == 0 || share == 1 {
				linear.B[t] = unanimous * (2*math.Round(share) - 1) // no row decides, w = 0
				continue
			}
			var one *learn.Linear
			if one, reports[t], errs[t] = learn.FitSVM(f.ctx, all.z, all.classOf(t, k), 2, all.weights, opt); errs[t] != nil {
				continue
			}
			for j, w := range one.W.Data {
				linear.W.Data[j*k+t] = w
			}
			linear.B[t] = one.B[0]
		}
	})
	for t := range k {
		if errs[t] != nil {
			return nil, nil, errs[t]
		}
		if r := reports[t]; r != nil {
			report.Passes, report.Newton = max(report.Passes, r.Passes), max(report.Newton, r.Newton)
			report.Gap = max(report.Gap, r.Gap)
			report.Converged = report.Converged && r.Converged
		}
	}
	return linear, report, nil
}

// classOf returns 1 for each row that has label t of k and 0 for the others.
func (g *gathered) classOf(t, k int) []int {
	class := make([]int, g.z.Len())
	for i := range class {
		if g.y[i*k+t] > 0 {
			class[i] = 1
		}
	}
	return class
}

// shareOf is the share of the rows that have label t of k.
func (g *gathered) shareOf(t, k int) float64 {
	rows := 0
	for i := range g.z.Len() {
		if g.y[i*k+t] > 0 {
			rows++
		}
	}
	return float64(rows) / float64(g.z.Len())
}

// weight is the sum of the rows' weights.
func (g *gathered) weight() float64 {
	if g.weights == nil {
		return float64(g.z.Len())
	}
	sum := 0.0
	for _, w := range g.weights {
		sum += w
	}
	return sum
}
