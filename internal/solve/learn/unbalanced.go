package learn

import (
	"math"

	"mercer/matrix"
)

// Where a class is rare the error hardly tells machines apart: one that predicts no row to be of it is wrong as seldom as a good
// one, and the strongest penalty wins. The log loss tells them apart by how rows are ranked. Scores become probabilities for it by
// Platt's method, fitted to the very rows that judge: two numbers an output learn little from them, and every machine has them.

// rareShare is the share of its rows, if all classes had as many, below which a class is rare.
const rareShare = 0.2

// Unbalanced says that of the classes of rows one is rare: it has less than a fifth of the rows that it would have if all
// classes had as many. Classes without rows do not count.
func Unbalanced(class []int, classes int) bool {
	counts := make([]int, classes)
	for _, c := range class {
		counts[c]++
	}
	least, some := len(class), 0
	for _, n := range counts {
		if n > 0 {
			least, some = min(least, n), some+1
		}
	}
	return some > 1 && float64(least*some) < rareShare*float64(len(class))
}

// LogLosses are -ln p of the class of each row, with probabilities by Platt's method from scores, those of an output or a
// class side by side, fitted to these rows with their weights (nil: all 1).
func LogLosses(scores []float32, class []int, classes int, weights []float64) ([]float64, error) {
	k := len(scores) / len(class)
	y := make([]float64, len(class)*k)
	for i, c := range class {
		Target(y[i*k:][:k], c)
	}
	fitted, err := FitCalibration("platt", false, scores, y, weights, k)
	if err != nil {
		return nil, err
	}
	losses, p := make([]float64, len(class)), make([]float64, classes)
	for i, c := range class {
		fitted.Probabilities(p, scores[i*k:][:k])
		losses[i] = LogLoss(p[c])
	}
	return losses, nil
}

// LogLoss is -ln p, with p no less than leastProbability.
func LogLoss(p float64) float64 { return -math.Log(max(p, leastProbability)) }

// leastProbability bounds the loss of a row whose class was held to be impossible.
const leastProbability = 1e-15

// judged is how a machine predicts the classes of held-out rows.
type judged struct {
	wrong    float64   // share of the rows
	oneClass bool      // all are predicted as one class, and are of several
	rows     float64   // their number
	losses   []float64 // log losses of the rows, if these decide
	loss     float64   // what decides: their mean, or wrong
	scores   []float32 // of the rows, side by side
}

// judgeRows judges a machine by rows; rare says that a class is.
func judgeRows(l *Linear, z matrix.Rows, class []int, classes int, rare bool) (j judged, err error) {
	scores, k := matrix.NewDense(len(class), l.W.Cols), l.W.Cols
	oneClass := true
	for i, c := range class {
		row := scores.Slice(i, i+1)
		l.Scores(row, z.Slice(i, i+1))
		p := Predicted(scores.Row(i))
		if p != c {
			j.wrong++
		}
		oneClass = oneClass && p == Predicted(scores.Row(0))
	}
	j.oneClass = oneClass && j.wrong > 0
	j.rows = float64(len(class))
	j.scores = scores.Data[:len(class)*k]
	j.wrong /= j.rows
	j.loss = j.wrong
	if rare {
		if j.losses, err = LogLosses(j.scores, class, classes, nil); err != nil {
			return j, err
		}
		j.loss = mean(j.losses)
	}
	return j, nil
}

// improves says whether a machine with a larger C, or a smaller one, is to be preferred to the best so far. The larger one has to
// lower the error by a tenth, or the log loss by a hundredth, and by one standard error; the smaller one may raise it by half of that.
func (j *judged) improves(best *judged, larger bool) bool {
	gain := minGain
	// The standard error of an error over draws of held-out rows, or that of the mean difference of two losses.
	var chance float64
	if j.losses == nil {
		chance = math.Sqrt(best.wrong * (1 - best.wrong) / best.rows)
	} else {
		gain = minLogGain
		for i, v := range j.losses {
			d := v - best.losses[i] - (j.loss - best.loss)
			chance += float64(d * d)
		}
		chance = math.Sqrt(chance / max(1, j.rows-1) / j.rows)
	}
	if larger {
		return j.loss <= min(gain*best.loss, best.loss-chance)
	}
	if j.losses != nil && j.oneClass && !best.oneClass {
		return false // a stronger penalty that finds no row of the rare class is no simpler way to say the same
	}
	return j.loss <= best.loss+chance/2
}

// minLogGain is the share of the log loss that a ten times larger C may leave.
const minLogGain = 0.99

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
