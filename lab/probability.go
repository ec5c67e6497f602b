package lab

import "math"

// Probability gathers how good the probabilities of a classifier are, or those of labels of
// which a row may have any number. Memory: that of 15 bins.
type Probability struct {
	rows         int
	log, brier   float64
	terms        int // of brier and log: rows, or rows × labels
	hits, trust  [calibrationBins]float64
	counts       [calibrationBins]int
	positiveOnly bool
}

// calibrationBins is how many equal parts of [0, 1] the calibration error is taken over.
const calibrationBins = 15

// leastProbability is what a probability of 0 counts as in a logarithm.
const leastProbability = 1e-15

// NewProbability returns a gatherer; binary says that there are two classes.
func NewProbability(binary bool) *Probability { return &Probability{positiveOnly: binary} }

// Add adds a row of class truth in [0, len(p)) with the probabilities of the classes.
func (q *Probability) Add(truth int, p []float64) {
	q.rows++
	q.terms++
	q.log -= math.Log(max(p[truth], leastProbability))
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
			q.brier += d * d
		}
	}
	q.bin(p[best], best == truth)
}

// AddLabels adds a row that has some of the labels, with the probability of each.
func (q *Probability) AddLabels(has []bool, p []float64) {
	q.rows++
	for t, v := range p {
		q.terms++
		d := v
		if has[t] {
			d = 1 - v
		}
		q.log -= math.Log(max(1-d, leastProbability))
		q.brier += d * d
		q.bin(max(v, 1-v), has[t] == (v > 0.5))
	}
}

func (q *Probability) bin(trust float64, hit bool) {
	i := min(int(trust*calibrationBins), calibrationBins-1)
	q.counts[i]++
	q.trust[i] += trust
	if hit {
		q.hits[i]++
	}
}

// Into writes the metrics of what was added so far into m.
func (q *Probability) Into(m *Metrics) {
	if q.terms == 0 {
		return
	}
	n := float64(q.terms)
	log, brier, gap := q.log/n, q.brier/n, 0.0
	for i := range q.counts {
		gap += math.Abs(q.hits[i]-q.trust[i]) / n
	}
	m.LogLoss, m.Brier, m.ECE = &log, &brier, &gap
}
