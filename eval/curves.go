package eval

import "math"

// Curves hold the data for pictures of an evaluation.
type Curves struct {
	// ROC and PR are the curves of one class against the rest: for two classes that of
	// the second alone, for several one each, and one for each label. A class with no rows,
	// or with all of them, has none.
	//
	// ROC has the share of the negative rows as X and that of the positive rows as Y whose
	// score is at least Threshold; PR has the recall as X and the precision as Y.
	ROC []Curve `json:"roc,omitempty"`
	PR  []Curve `json:"pr,omitempty"`

	// Calibration compares probabilities with outcomes, in 15 equal bins of [0, 1]
	// without the empty ones: for two classes the probability of the second, for several
	// that of the likeliest, for labels that of each.
	Calibration []CalibrationBin `json:"calibration,omitempty"`

	// Residuals are of each output of a regression.
	Residuals []Residuals `json:"residuals,omitempty"`
}

// Curve is a line of at most 500 points, reduced from possibly millions.
type Curve struct {
	// Label is the positive class.
	Label string `json:"label"`

	// Area is that under the full curve (AUC, or average precision), not under the points.
	Area float64 `json:"area"`

	// Share is the positive rows' share of all: the precision of chance.
	Share float64 `json:"share"`

	X []float64 `json:"x"`
	Y []float64 `json:"y"`

	// Threshold is the score from which on rows count as positive; for several
	// classes with probabilities the log-odds log(p/(1-p)) of the class.
	Threshold []float64 `json:"threshold"`
}

// CalibrationBin are rows with similar probabilities.
type CalibrationBin struct {
	// Predicted is their mean probability, Observed the share that came true.
	Predicted float64 `json:"predicted"`
	Observed  float64 `json:"observed"`

	// Rows is their number, or the sum of their weights.
	Rows float64 `json:"rows"`
}

// Residuals describe the errors of one output of a regression.
type Residuals struct {
	// Name is that of the output's column, or its number from 0.
	Name string `json:"name"`

	// Truth and Predicted are those of up to 2,000 rows, drawn uniformly by Options.Seed.
	Truth     []float64 `json:"truth"`
	Predicted []float64 `json:"predicted"`

	// Counts are the numbers (or weights) of the residuals, prediction minus truth, in bins of
	// equal Width: from Start + i·Width to Start + (i+1)·Width. Below and Above are those
	// beyond the bins, at most a thousandth on either side.
	Start  float64   `json:"start"`
	Width  float64   `json:"width"`
	Counts []float64 `json:"counts"`
	Below  float64   `json:"below"`
	Above  float64   `json:"above"`
}

// Confusion counts rows by truth and prediction.
type Confusion struct {
	// Labels are the classes, of rows and columns.
	Labels []string `json:"labels"`

	// Counts[t][p] is the number, or weight, of the rows of class t that are predicted as p.
	// If rows have labels unknown to the model, one more row counts these.
	Counts [][]float64 `json:"counts"`
}

// mostPoints is how many points a Curve has at most.
const mostPoints = 500

// curves are the ROC and precision-recall curves of a column; nil if there are no
// positive or no negative rows.
func (r *ranking) curves(column int, label string) (roc, pr *Curve) {
	order := r.order(column)
	a := r.areas(column, order)
	if a.positive == 0 || a.negative == 0 {
		return nil, nil
	}
	share := a.positive / (a.positive + a.negative)
	roc = &Curve{Label: label, Area: a.auc, Share: share}
	roc.draw(func(point func(x, y, threshold float64)) {
		positive, negative, first := 0.0, 0.0, true
		r.each(column, order, func(b bin) {
			if first {
				above := math.Nextafter32(b.high, math.MaxFloat32)
				point(0, 0, finite(above))
				first = false
			}
			positive += b.positive
			negative += b.negative
			point(negative/a.negative, positive/a.positive, finite(b.low))
		})
	})
	pr = &Curve{Label: label, Area: a.average, Share: share}
	pr.draw(func(point func(x, y, threshold float64)) {
		positive, negative := 0.0, 0.0
		r.each(column, order, func(b bin) {
			positive += b.positive
			negative += b.negative
			point(positive/a.positive, positive/(positive+negative), finite(b.low))
		})
	})
	return roc, pr
}

// finite is a score as a number that JSON can represent.
func finite(s float32) float64 {
	return max(-math.MaxFloat32, min(math.MaxFloat32, float64(s)))
}

// draw selects points from the curve that walk visits in order of x, such that little of the area is
// lost: a point is left out if it, the neighbours left out before it, and the step span a box of less than a
// certain area. That area starts at a value for which at most mostPoints can remain, and shrinks as long as that holds.
func (c *Curve) draw(walk func(point func(x, y, threshold float64))) {
	variation, last := 0.0, math.NaN()
	walk(func(_, y, _ float64) {
		if !math.IsNaN(last) {
			variation += math.Abs(y - last)
		}
		last = y
	})
	// Boxes of area a overlap in one step at most, so that Σ√(dx·dy) ≤ 2√(1·variation), and
	// there are no more than 2√(variation/a) of them; another 2·100 by the largest step.
	box := variation / (120 * 120)
	for range 12 {
		var d drawing
		walk(func(x, y, threshold float64) { d.add(x, y, threshold, box) })
		d.take()
		if c.X != nil && len(d.curve.X) > mostPoints {
			return
		}
		c.X, c.Y, c.Threshold = d.curve.X, d.curve.Y, d.curve.Threshold
		box /= 4
	}
}

// largestStep is how far apart in x the points of a drawing may be where the curve has more.
const largestStep = 0.01

// drawing is a curve while points are being selected.
type drawing struct {
	curve           Curve
	x, y, threshold float64 // the last point seen, if any
	waiting         bool
	lowest, highest float64 // y since the last point taken
}

func (d *drawing) add(x, y, threshold, box float64) {
	if n := len(d.curve.X); n == 0 {
		d.x, d.y, d.threshold, d.waiting = x, y, threshold, true
		d.take()
	} else {
		low, high := min(d.lowest, y), max(d.highest, y)
		if dx := x - d.curve.X[n-1]; d.waiting && (dx*(high-low) > box || dx > largestStep) {
			d.take()
		}
	}
	d.lowest, d.highest = min(d.lowest, y), max(d.highest, y)
	d.x, d.y, d.threshold, d.waiting = x, y, threshold, len(d.curve.X) > 0 &&
		(x != d.curve.X[len(d.curve.X)-1] || y != d.curve.Y[len(d.curve.Y)-1])
}

// take adds the last point seen to the curve.
func (d *drawing) take() {
	if !d.waiting {
		return
	}
	d.curve.X, d.curve.Y, d.curve.Threshold = append(d.curve.X, d.x), append(d.curve.Y, d.y), append(d.curve.Threshold, d.threshold)
	d.lowest, d.highest, d.waiting = d.y, d.y, false
}
