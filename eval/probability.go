package eval

import "math"

// Probability gathers the quality of the probabilities of a classifier, or
// of several labels per row. Memory: that of 30 bins.
type Probability struct {
	log, brier   float64
	terms        float64 // of brier and log: weights of rows, or of rows × labels
	trusted      calibration
	shown        calibration // of the probabilities that Curves show
	positiveOnly bool
}

// calibrationBins is how many equal parts of [0, 1] the calibration error is taken over.
const calibrationBins = 15

// calibration are bins of probabilities.
type calibration [calibrationBins]struct{ weight, hits, trust float64 }

func (c *calibration) add(p float64, hit bool, weight float64) {
	b := &c[min(int(p*calibrationBins), calibrationBins-1)]
	b.weight += weight
	b.trust += weight * p
	if hit {
		b.hits += weight
	}
}

// leastProbability replaces a probability of 0 in a logarithm, as in scikit-learn.
const leastProbability = 0x1p-52

// NewProbability returns a gatherer; binary means that there are two classes.
func NewProbability(binary bool) *Probability { return &Probability{positiveOnly: binary} }

// LogOdds is log(p/(1-p)), a score that orders rows like the probability p and resolves
// values near 1 in float32. Values outside [0, 1] by rounding count as 0 or 1, which give ∓Inf.
func LogOdds(p float64) float32 {
	p = max(0, min(p, 1))
	return float32(math.Log(p) - math.Log1p(-p))
}

// Add adds a row of class truth in [0, len(p)) with the probabilities of the classes. weight is
// the row's, 1 if rows have none.
func (q *Probability) Add(truth int, p []float64, weight float64) {
	q.terms += weight
	q.log -= weight * math.Log(max(p[truth], leastProbability))
	best := 0
	for k, v := range p {
		if v > p[best] {
			best = k
		}
		d := v
		if k == truth {
			d = 1 - v
		}
		if !q.positiveOnly || k == 1 {
			q.brier += weight * d * d
		}
	}
	q.trusted.add(p[best], best == truth, weight)
	if q.positiveOnly {
		q.shown.add(p[1], truth == 1, weight)
	} else {
		q.shown.add(p[best], best == truth, weight)
	}
}

// AddLabels adds a row that has some of the labels, with the probability of each.
func (q *Probability) AddLabels(has []bool, p []float64, weight float64) {
	for t, v := range p {
		q.terms += weight
		d := v
		if has[t] {
			d = 1 - v
		}
		q.log -= weight * math.Log(max(1-d, leastProbability))
		q.brier += weight * d * d
		q.trusted.add(max(v, 1-v), has[t] == (v > 0.5), weight)
		q.shown.add(v, has[t], weight)
	}
}

// Into writes the metrics of what was added so far into m.
func (q *Probability) Into(m *Metrics) {
	if q.terms == 0 {
		return
	}
	gap, largest := 0.0, 0.0
	for _, b := range q.trusted {
		if b.weight > 0 {
			gap += math.Abs(b.hits-b.trust) / q.terms
			largest = max(largest, math.Abs(b.hits-b.trust)/b.weight)
		}
	}
	m.LogLoss, m.Brier, m.ECE, m.MCE = number(q.log/q.terms), number(q.brier/q.terms), &gap, &largest
}

// bins are what Curves show.
func (q *Probability) bins() []CalibrationBin {
	var bins []CalibrationBin
	for _, b := range q.shown {
		if b.weight > 0 {
			bins = append(bins, CalibrationBin{Predicted: b.trust / b.weight, Observed: b.hits / b.weight, Rows: b.weight})
		}
	}
	return bins
}
