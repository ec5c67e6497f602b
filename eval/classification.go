package eval

import "math"

// Classification gathers the predictions of a classifier. Memory: 8·c² bytes for c classes,
// and that of a ranking if it is given scores.
type Classification struct {
	labels        []string
	rows, unknown int
	weight        float64
	confusion     []float64 // true×predicted; row `classes` is for labels unknown to the model
	ranking       *ranking
	ranked        bool
	top5          float64
}

// NewClassification returns a gatherer for the given classes.
func NewClassification(labels []string) *Classification {
	n := len(labels)
	return &Classification{labels: labels, confusion: make([]float64, (n+1)*n)}
}

// Add adds a row of class truth (-1: a label unknown to the model, always an error) that
// was predicted as class predicted. scores are the scores of the classes, or, with two classes,
// the one score of the second; nil for all rows if areas under curves are not needed. weight
// is the row's, 1 if rows have none.
func (c *Classification) Add(truth, predicted int, scores []float32, weight float64) {
	k := len(c.labels)
	c.rows++
	c.weight += weight
	c.ranked = c.ranked || scores != nil
	if truth < 0 {
		c.unknown++
		c.confusion[k*k+predicted] += weight
		return
	}
	c.confusion[truth*k+predicted] += weight
	if scores == nil {
		return
	}
	if c.ranking == nil {
		c.ranking = newRanking(len(scores))
	}
	c.ranking.add(scores, truth, weight)
	if k > topClasses {
		above := 0
		for j, s := range scores {
			// Of equal scores the later class comes first, as in scikit-learn.
			if s > scores[truth] || s == scores[truth] && j > truth {
				above++
			}
		}
		if above < topClasses {
			c.top5 += weight
		}
	}
}

// topClasses is how many classes Top5 considers.
const topClasses = 5

// Metrics computes the metrics of the rows added so far; some must have a weight over 0.
func (c *Classification) Metrics() *Metrics {
	k := len(c.labels)
	m := &Metrics{N: c.rows, Unknown: c.unknown, Confusion: c.matrix()}
	labelled, predicted, right := make([]float64, k+1), make([]float64, k+1), 0.0
	for t := range k + 1 {
		for p := range k {
			v := c.confusion[t*k+p]
			labelled[t] += v
			predicted[p] += v
			if t == p {
				right += v
			}
		}
	}
	m.Accuracy, m.Error = number(right/c.weight), number((c.weight-right)/c.weight)
	m.MicroPrecision, m.MicroRecall, m.MicroF1 = number(right/c.weight), number(right/c.weight), number(right/c.weight)

	var under []areas
	if c.ranking != nil {
		under = c.ranking.all()
	}
	var all means
	var found, there, chance, ofTruth, ofPrediction float64
	for t, label := range c.labels {
		one := newLabelMetrics(label, c.confusion[t*k+t], labelled[t], predicted[t])
		if column := c.column(t); column >= 0 {
			under[column].into(&one, m)
		}
		m.Classes = append(m.Classes, one)
		all.add(&one)
		if labelled[t] > 0 {
			found += one.Recall
			there++
		}
		chance += labelled[t] * predicted[t]
		ofTruth += labelled[t] * labelled[t]
		ofPrediction += predicted[t] * predicted[t]
	}
	ofTruth += labelled[k] * labelled[k]
	m.BalancedAccuracy = number(share(found, there))
	all.into(m)
	if k == 2 {
		p := m.Classes[1]
		m.Precision, m.Recall, m.F1, m.AUC, m.AveragePrecision = &p.Precision, &p.Recall, &p.F1, p.AUC, p.AveragePrecision
		m.MacroAUC, m.MacroAveragePrecision, m.WeightedAUC, m.WeightedAveragePrecision = nil, nil, nil, nil
	}
	if c.ranked && k > topClasses {
		m.Top5 = number(c.top5 / c.weight)
	}

	w := c.weight
	m.MCC = number(0)
	if d := (w*w - ofTruth) * (w*w - ofPrediction); d > 0 {
		*m.MCC = (right*w - chance) / math.Sqrt(d)
	}
	if w*w > chance {
		m.Kappa = number((right*w - chance) / (w*w - chance))
	}
	return m
}

// column is the index of a class among the scores, -1 if it has none.
func (c *Classification) column(class int) int {
	switch {
	case c.ranking == nil:
		return -1
	case len(c.labels) == 2:
		return class - 1
	}
	return class
}

func (c *Classification) matrix() *Confusion {
	k := len(c.labels)
	m := &Confusion{Labels: c.labels}
	for t := range k {
		m.Counts = append(m.Counts, c.confusion[t*k:(t+1)*k])
	}
	if c.unknown > 0 {
		m.Counts = append(m.Counts, c.confusion[k*k:])
	}
	return m
}

// number turns a value into a metric.
func number(v float64) *float64 { return &v }

// newLabelMetrics are those of a class or label that labelled rows have and predicted rows are
// predicted to have, hits of them correctly.
func newLabelMetrics(label string, hits, labelled, predicted float64) LabelMetrics {
	return LabelMetrics{Label: label, Rows: labelled, Predicted: predicted,
		Precision: share(hits, predicted), Recall: share(hits, labelled), F1: share(2*hits, labelled+predicted)}
}

// share is a/b, or 0 if b is 0.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// means gather the means over classes or labels.
type means struct{ precision, recall, f1, auc, average classMean }

// classMean is the mean of a metric over classes or labels: of all alike, and by their rows.
type classMean struct{ sum, count, weighted, rows float64 }

func (c *classMean) add(v, rows float64) {
	c.sum += v
	c.count++
	c.weighted += rows * v
	c.rows += rows
}

func (c *classMean) both() (macro, weighted *float64) {
	return number(share(c.sum, c.count)), number(share(c.weighted, c.rows))
}

func (s *means) add(l *LabelMetrics) {
	if l.Rows+l.Predicted == 0 {
		return
	}
	s.precision.add(l.Precision, l.Rows)
	s.recall.add(l.Recall, l.Rows)
	s.f1.add(l.F1, l.Rows)
	if l.AUC != nil {
		s.auc.add(*l.AUC, l.Rows)
	}
	if l.AveragePrecision != nil {
		s.average.add(*l.AveragePrecision, l.Rows)
	}
}

func (s *means) into(m *Metrics) {
	m.MacroPrecision, m.WeightedPrecision = s.precision.both()
	m.MacroRecall, m.WeightedRecall = s.recall.both()
	m.MacroF1, m.WeightedF1 = s.f1.both()
	if s.auc.count > 0 {
		m.MacroAUC, m.WeightedAUC = s.auc.both()
	}
	if s.average.count > 0 {
		m.MacroAveragePrecision, m.WeightedAveragePrecision = s.average.both()
	}
}
