package learn

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// CPoint is one C that was tried.
type CPoint struct {
	C float64 `json:"c"`

	// Error is the share of held-out rows whose class is predicted wrongly; for regression
	// the mean loss of held-out rows, squares or distances.
	Error float64 `json:"error"`

	// LogLoss is the mean of -ln p(class) over held-out rows (LogLosses), which decides if a class is rare (Unbalanced).
	LogLoss float64 `json:"log_loss,omitempty"`

	// OneClass says that all held-out rows are predicted as one class, though they are of several.
	OneClass bool `json:"-"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

const (
	// chooseTrain and chooseHeld bound the rows that a C is fitted and judged
	// on, so that the choice is cheap for many rows.
	chooseTrain = 4096
	chooseHeld  = 4096

	// minGain is the share of the error that a ten times larger C may leave.
	minGain = 0.9

	// choosePasses bounds the passes of a trial: predicted classes are right long before
	// the weights are exact.
	choosePasses = 60

	// farGap is the relative duality gap at the end of a trial above which a larger C is
	// rejected: on all rows it would take hundreds of passes.
	farGap = 0.25

	// minChoose is the number of rows below which a held-out part is useless.
	minChoose = 100
)

// ChooseC tries C = 1, 10, 100 as long as that lowers the error on held-out rows, or the log loss if a class is rare (Unbalanced), and if 10
// does not, 0.1, 0.01 and 0.001. If 1 is too small to fit anything (idleShare) it tries the first power
// of ten that does, up to 10⁵, and the next two. A larger C has to lower the error by a tenth, or the log loss by a hundredth, and by one standard
// error of it, and come near its optimum in the passes of a trial; a smaller one may raise it by
// half of that, because it takes less time and gives the simpler model. It fits on a random sample of at most 4,096
// rows, each C starting from the dual variables of the last, and judges on others, a third
// of the rows or 4,096. With fewer than 100 rows it returns 10 without trying. weights may be nil,
// as in FitSVM. It copies the rows that it uses into memory.
func ChooseC(ctx context.Context, z Features, class []int, classes int, weights []float64, opt SVM) (c float64, path []CPoint, err error) {
	n := z.Len()
	if n < minChoose {
		return 10, nil, nil
	}
	held, used, heldRows, usedRows, err := chooseRows(z, opt.Seed, "svm-choose")
	if err != nil {
		return 0, nil, err
	}
	if opt.MaxIter == 0 || opt.MaxIter > choosePasses {
		opt.MaxIter = choosePasses
	}
	opt.Progress = nil
	heldClass, usedClass := pick(class, held), pick(class, used)
	var usedWeights []float64
	if weights != nil {
		usedWeights = pick(weights, used)
	}
	loss := cmp.Or(opt.Loss, "squared_hinge")
	if opt.CrammerSinger {
		loss = crammerSingerLoss
	}
	idle := idleShare * constantLoss(loss, usedClass, classes, usedWeights, opt.ClassWeights, opt.NoIntercept)
	rare := Unbalanced(heldClass, classes)
	best, least := 1.0, judged{}
	first := 0.0 // the smallest C that fits something, 0 if none did so far
	try := func(l *Linear, r *SVMReport) error {
		j, err := judgeRows(l, heldRows, heldClass, classes, rare)
		if err != nil {
			return err
		}
		point := CPoint{C: r.C, Error: j.wrong, OneClass: j.oneClass}
		if rare {
			point.LogLoss = j.loss
		}
		path = append(path, point)
		if first == 0 && r.Objective*(1-r.Gap) <= r.C*idle { // even if it is at the end of its gap
			first = r.C
		}
		larger := r.C > best
		better := len(path) == 1 || !(larger && r.Gap > farGap) && j.improves(&least, larger)
		switch {
		case better:
			best, least = r.C, j
		case r.C < 1 || first > 0 && r.C > first:
			return errEnough
		}
		if first > 0 && r.C > 99*first {
			return errEnough
		}
		return nil
	}
	for _, cs := range [][]float64{{1, 10, 100, 1e3, 1e4, 1e5}, {0.1, 0.01, 0.001}} {
		if best > 1 || first > 1 && cs[0] < 1 {
			break
		}
		err := SVMPath(ctx, InMemory(usedRows), usedClass, classes, usedWeights, opt, cs, try)
		if err != nil && err != errEnough {
			return 0, nil, err
		}
	}
	for i := range path {
		path[i].Chosen = path[i].C == best
	}
	if opt.Judged != nil {
		opt.Judged(held, least.scores)
	}
	return best, path, nil
}

// chooseRows draws the rows that judge a C and those that it is fitted on, and copies them.
func chooseRows(z Features, seed uint64, stream string) (held, used []int, heldRows, usedRows matrix.Rows, err error) {
	n := z.Len()
	order := random.New(seed, stream).Perm(n)
	held = order[:min(n/3, chooseHeld)]
	used = order[len(held):min(n, len(held)+chooseTrain)]
	if heldRows, err = gather(z, held); err == nil {
		usedRows, err = gather(z, used)
	}
	return held, used, heldRows, usedRows, err
}

// errEnough ends a path of C.
var errEnough = errors.New("the error no longer falls")

// pick takes some elements of a list.
func pick[T any](list []T, which []int) []T {
	picked := make([]T, len(which))
	for e, i := range which {
		picked[e] = list[i]
	}
	return picked
}

// gather copies some rows into memory, in the given order.
func gather(z Features, which []int) (matrix.Rows, error) {
	// The position of each row in the order, for features that come block by block.
	place := make([]int, z.Len())
	for e, i := range which {
		place[i] = e + 1
	}
	var dense *matrix.Dense
	idx, val := make([][]int32, len(which)), make([][]float32, len(which))
	sparse := false
	err := eachBlock(z, func(first int, rows matrix.Rows) error {
		for r := range rows.Len() {
			e := place[first+r] - 1
			switch {
			case e < 0:
			case rows.CSR != nil:
				i, v := rows.CSR.Row(r)
				idx[e], val[e], sparse = slices.Clone(i), slices.Clone(v), true
			default:
				if dense == nil {
					dense = matrix.NewDense(len(which), z.Dim())
				}
				copy(dense.Row(e), rows.Dense.Row(r))
			}
		}
		return nil
	})
	if !sparse || err != nil {
		return matrix.Rows{Dense: dense}, err
	}
	m := &matrix.CSR{Rows: len(which), Cols: z.Dim(), Ptr: []int{0}}
	for e := range which {
		m.Idx, m.Val = append(m.Idx, idx[e]...), append(m.Val, val[e]...)
		m.Ptr = append(m.Ptr, len(m.Idx))
	}
	return matrix.Rows{CSR: m}, nil
}

// Predicted is the class that a row's scores predict: the one with the largest score, or,
// with a single score, the second class if it is positive.
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
