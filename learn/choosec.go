package learn

import (
	"context"

	"mercer/internal/random"
	"mercer/matrix"
)

// CPoint is one C that was tried.
type CPoint struct {
	C float64 `json:"c"`

	// Error is the share of held-out rows whose class came out wrong.
	Error float64 `json:"error"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

const (
	// chooseTrain and chooseHeld bound the rows that a C is fitted and judged on, so that
	// the choice costs little where there are many.
	chooseTrain = 4096
	chooseHeld  = 4096

	// minGain is the share of the error that a ten times larger C may leave.
	minGain = 0.9

	// choosePasses bounds the passes of a trial: its classes are right long before its
	// weights are exact.
	choosePasses = 60

	// minChoose is the number of rows below which a held-out part says nothing.
	minChoose = 100
)

// ChooseC tries C = 1, 10, 100 as long as that lowers the error on held-out rows, and if 10
// does not, 0.1, 0.01 and 0.001. A larger C has to lower the error by a tenth: it takes longer
// and makes the less simple model. It fits on a random sample of the rows, 4,096 at most, and
// judges on others, a third as many as there are rows or 4,096. With fewer than 100 rows it
// returns 10 and tries nothing. weights may be nil, as in FitSVM.
func ChooseC(ctx context.Context, z matrix.Rows, class []int, classes int, weights []float64, opt SVM) (c float64, path []CPoint, err error) {
	n := z.Len()
	if n < minChoose {
		return 10, nil, nil
	}
	// Rows in a random order: the first are held out, the next are fitted on.
	order := random.New(opt.Seed, "svm-choose").Perm(n)
	held := order[:min(n/3, chooseHeld)]
	used := make([]float64, n)
	for _, i := range order[len(held):min(n, len(held)+chooseTrain)] {
		used[i] = 1
		if weights != nil {
			used[i] = weights[i]
		}
	}
	if opt.MaxIter == 0 || opt.MaxIter > choosePasses {
		opt.MaxIter = choosePasses
	}
	try := func(c float64) (float64, error) {
		opt.C = c
		l, _, err := FitSVM(ctx, z, class, classes, used, opt)
		if err != nil {
			return 0, err
		}
		e := errorOf(l, z, class, held)
		path = append(path, CPoint{C: c, Error: e})
		return e, nil
	}
	best := 1.0
	bestError, err := try(best)
	if err != nil {
		return 0, nil, err
	}
	for _, step := range []float64{10, 0.1} {
		for c := best * step; c > 0.9e-3 && c < 1.1e2; c *= step {
			e, err := try(c)
			if err != nil {
				return 0, nil, err
			}
			if c > best && e > minGain*bestError || e > bestError {
				break
			}
			best, bestError = c, e
		}
		if best != 1 {
			break
		}
	}
	for i := range path {
		path[i].Chosen = path[i].C == best
	}
	return best, path, nil
}

// errorOf is the share of the given rows whose class l predicts wrongly.
func errorOf(l *Linear, z matrix.Rows, class []int, rows []int) float64 {
	scores := matrix.NewDense(1, l.W.Cols)
	wrong := 0
	for _, i := range rows {
		l.Scores(scores, z.Slice(i, i+1))
		if Predicted(scores.Data) != class[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(len(rows))
}

// Predicted is the class that a row's scores predict: the one with the largest score, or with
// a single score the second class where it is positive.
func Predicted(scores []float32) int {
	if len(scores) == 1 {
		if scores[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for k, v := range scores {
		if v > scores[best] {
			best = k
		}
	}
	return best
}
