package learn

import (
	"context"
	"math"

	"mercer/matrix"
)

// ChooseSVRC chooses C of support vector regression on held-out rows as ChooseC does that of
// classes: C = u, 10u, … 10⁵u, and if none of these lowers the mean loss by a tenth, u/10 and so on
// down to u/1000. It ends when two consecutive C that fit anything (idleShare) gain nothing: if C is far
// too small, ten times as much still changes little. u is 1 for the squared loss, and for the other
// the power of ten nearest to the targets' spread, since w is in their units. The loss is measured
// without the tube.
func ChooseSVRC(ctx context.Context, z Features, y []float64, outputs int, weights []float64, opt SVR) (c float64,
	path []CPoint, err error) {
	n := z.Len()
	squared := opt.Loss != "epsilon"
	unit := 1.0
	if !squared {
		g := &goals{y: y, weights: weights, outputs: outputs}
		if _, spread := g.spread(!opt.NoIntercept); spread > 0 {
			unit = math.Pow(10, math.Round(math.Log10(spread)))
		}
	}
	if n < minChoose {
		return unit, nil, nil
	}
	held, used, heldRows, usedRows, err := chooseRows(z, opt.Seed, "svr-choose")
	if err != nil {
		return 0, nil, err
	}
	if opt.MaxIter == 0 || opt.MaxIter > choosePasses {
		opt.MaxIter = choosePasses
	}
	opt.Progress = nil
	targets := func(which []int) []float64 {
		var t []float64
		for _, i := range which {
			t = append(t, y[i*outputs:(i+1)*outputs]...)
		}
		return t
	}
	heldY, usedY := targets(held), targets(used)
	var usedWeights []float64
	if weights != nil {
		usedWeights = pick(weights, used)
	}
	idle := idleShare * constantTargets(usedY, outputs, usedWeights, squared, opt.Epsilon, opt.NoIntercept)
	fits := false // some C did
	best, bestLoss := unit, math.Inf(1)
	for _, steps := range [][]float64{{1, 10, 100, 1e3, 1e4, 1e5}, {0.1, 0.01, 0.001}} {
		if best > unit {
			break
		}
		vain := 0
		for _, step := range steps {
			opt.C = step * unit
			l, report, err := FitSVR(ctx, InMemory(usedRows), usedY, outputs, usedWeights, opt)
			if err != nil {
				return 0, nil, err
			}
			loss := lossOf(l, heldRows, heldY, squared)
			path = append(path, CPoint{C: opt.C, Error: loss})
			fits = fits || report.Objective*(1-report.Gap) <= opt.C*idle || step < 1
			if opt.C > best && loss > minGain*bestLoss || loss > bestLoss {
				if fits {
					vain++
				}
				if vain == 2 {
					break
				}
				continue
			}
			best, bestLoss, vain = opt.C, loss, 0
		}
	}
	for i := range path {
		path[i].Chosen = path[i].C == best
	}
	return best, path, nil
}

// lossOf is the mean square, or distance, of the scores from targets.
func lossOf(l *Linear, z matrix.Rows, y []float64, squared bool) float64 {
	scores := matrix.NewDense(z.Len(), l.W.Cols)
	l.Scores(scores, z)
	sum := 0.0
	for i := range z.Len() {
		for t, v := range scores.Row(i) {
			e := math.Abs(float64(v) - y[i*l.W.Cols+t])
			if squared {
				e *= e
			}
			sum += e
		}
	}
	return sum / float64(len(y))
}
