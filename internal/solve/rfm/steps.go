package rfm

import (
	"math"
	"slices"

	"mercer/internal/solve/landmarks"
	"mercer/internal/solve/trees"
)

// Machines are smooth, and meet a threshold, such as the fourth call to a service, with many rows only. Boosted trees are nothing but
// thresholds. They cost little beside the choice of kinds and metrics, and a mean of both is often better than either.

// fewJudges is the number of judges below which all rows held out judge.
const fewJudges = 50

// stepped trains boosted trees on some rows and gives them the share of the scores that the judges ask for. Of squared error and the
// logistic loss it chooses what these find likelier; logits has no scores if there is no machine by the logistic loss.
func (f *fitting) stepped(some []int, squares, logits judged) (best judged, logistic bool, steps Steps, err error) {
	best, held := f.judging(squares), squares.held
	defer f.tellProgress(stepping, 1)
	if !f.opt.Classes {
		best, steps, err = f.boost(some, held, best, false)
	} else if logits.scores != nil {
		by, beside, err := f.boost(some, held, f.judging(logits), true)
		if err != nil {
			return best, false, steps, err
		}
		if f.likelier(best.held, best.scores, by.scores) {
			best, logistic, steps = by, true, beside
		}
	}
	f.tell(best.held, best.later)
	return best, logistic, steps, err
}

// judging is what judges say, or all rows held out if there are few judges.
func (f *fitting) judging(all judged) judged {
	if all.scores == nil {
		return all
	}
	few := judged{share: all.share}
	for h, i := range all.held {
		if f.judges[i] {
			few.held = append(few.held, i)
			few.scores = append(few.scores, all.scores[h*f.outputs:][:f.outputs]...)
			few.later = append(few.later, all.later[h*f.outputs:][:f.outputs]...)
		}
	}
	if len(few.held) < fewJudges {
		return all
	}
	return few
}

// boost trains boosted trees beside what was judged, and returns the scores of the judges with them.
func (f *fitting) boost(some, held []int, by judged, logistic bool) (judged, Steps, error) {
	main := slices.DeleteFunc(slices.Clone(some), func(i int) bool { _, out := slices.BinarySearch(held, i); return out })
	choosers := f.choosers(held)
	if f.opt.Smooth || len(by.held) == 0 || len(main) == 0 || len(choosers) == 0 {
		return by, Steps{}, nil
	}
	opt := trees.Options{Logistic: logistic, Seed: f.opt.Seed, Progress: func(share float64) { f.tellProgress(stepping, share/2) }}
	few, scores, err := trees.Fit(f.ctx, f.x, main, choosers, by.held, f.y, f.outputs, f.weights, opt)
	if err != nil || few.Len() == 0 {
		return by, Steps{}, err
	}
	share, mean := f.treeShare(by, scores, logistic)
	if share == 0 {
		return by, Steps{}, nil
	}
	opt.Trees, opt.Progress = few.Len(), func(share float64) { f.tellProgress(stepping, (1+share)/2) }
	all, _, err := trees.Fit(f.ctx, f.x, some, nil, nil, f.y, f.outputs, f.weights, opt)
	if err != nil {
		return by, Steps{}, err
	}
	return judged{by.held, mean, mix(slices.Clone(by.later), scores, share), by.share}, Steps{all, share}, nil
}

// treeShare is the share of boosted trees in the mean of what was judged and their scores, and this mean. Means of two kinds are most often
// best near the half; so the share is the one nearest to it whose loss exceeds the smallest by no more than chance: half a standard
// error, by the differences of the rows.
func (f *fitting) treeShare(by judged, scores []float64, logistic bool) (share float64, mean []float64) {
	y, weights := f.targets(by.held)
	mean = make([]float64, len(scores))
	var losses [shareSteps][]float64 // of the rows, for each share
	best, least := 0, math.Inf(1)
	for s := range losses {
		copy(mean, by.scores)
		mix(mean, scores, float64(s)/shareSteps)
		losses[s] = f.losses(mean, y, weights, logistic)
		if sum := sumOf(losses[s]); sum < least {
			best, least = s, sum
		}
	}
	at := shareSteps / 2
	for at != best && !chance(losses[at], losses[best]) {
		if at < best {
			at++
		} else {
			at--
		}
	}
	share = float64(at) / shareSteps
	copy(mean, by.scores)
	return share, mix(mean, scores, share)
}

// losses are those of rows, by squared error or the logistic loss.
func (f *fitting) losses(scores, y, weights []float64, logistic bool) []float64 {
	all := make([]float64, len(y)/f.outputs)
	for r := range all {
		of, is := scores[r*f.outputs:][:f.outputs], y[r*f.outputs:][:f.outputs]
		if logistic {
			all[r] = landmarks.LogLoss(of, is, nil, f.outputs)
		} else {
			for t, v := range of {
				all[r] += float64((v - is[t]) * (v - is[t]))
			}
		}
		if weights != nil {
			all[r] *= weights[r]
		}
	}
	return all
}

// chance says that losses exceed others by no more than half a standard error of the sum of the differences.
func chance(losses, others []float64) bool {
	more := make([]float64, len(losses))
	for r, v := range losses {
		more[r] = v - others[r]
	}
	sum, deviation := total(more)
	return sum <= deviation/2
}

// targets are those of rows, and their weights, nil if all are 1.
func (f *fitting) targets(rows []int) (y, weights []float64) {
	for _, i := range rows {
		y = append(y, f.y[i*f.outputs:][:f.outputs]...)
		if f.weights != nil {
			weights = append(weights, f.weights[i])
		}
	}
	return y, weights
}
