package lab

// MultiLabel gathers predictions of labels of which a row may have any number.
type MultiLabel struct {
	labels                  []string
	rows, exact, wrong      int
	hits, truths, predicted []int
	unknown                 int
}

// LabelMetrics are those of one label.
type LabelMetrics struct {
	Label string `json:"label"`

	// Rows is how many rows have it, Predicted how many are predicted to.
	Rows      int `json:"rows"`
	Predicted int `json:"predicted"`

	// Precision is the share of the predictions that are right, Recall that of the rows which
	// are found, and F1 = 2·precision·recall/(precision+recall); 0 where there are none.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// NewMultiLabel returns a gatherer for the given labels.
func NewMultiLabel(labels []string) *MultiLabel {
	n := len(labels)
	return &MultiLabel{labels: labels, hits: make([]int, n), truths: make([]int, n), predicted: make([]int, n)}
}

// Add adds a row with its labels and those predicted. unknown is how many more the row has that
// the model does not know: they are missed.
func (l *MultiLabel) Add(has, predicted []bool, unknown int) {
	l.rows++
	l.unknown += unknown
	same := unknown == 0
	for t, h := range has {
		p := predicted[t]
		if h {
			l.truths[t]++
		}
		if p {
			l.predicted[t]++
		}
		if h && p {
			l.hits[t]++
		}
		if h != p {
			l.wrong++
			same = false
		}
	}
	if same {
		l.exact++
	}
}

// Metrics computes the metrics of the rows added so far.
func (l *MultiLabel) Metrics() *Metrics {
	share := func(a, b int) float64 { return float64(a) / float64(max(b, 1)) }
	subset, hamming := share(l.exact, l.rows), share(l.wrong, l.rows*len(l.labels))
	m := &Metrics{N: l.rows, SubsetAccuracy: &subset, HammingLoss: &hamming}
	hits, both, macro, count := 0, l.unknown, 0.0, 0
	for t, label := range l.labels {
		one := LabelMetrics{Label: label, Rows: l.truths[t], Predicted: l.predicted[t],
			Precision: share(l.hits[t], l.predicted[t]), Recall: share(l.hits[t], l.truths[t]),
			F1: share(2*l.hits[t], l.truths[t]+l.predicted[t])}
		m.Labels = append(m.Labels, one)
		hits += l.hits[t]
		both += l.truths[t] + l.predicted[t]
		if l.truths[t]+l.predicted[t] > 0 {
			macro += one.F1
			count++
		}
	}
	micro := share(2*hits, both)
	macro /= float64(max(count, 1))
	m.MicroF1, m.MacroF1 = &micro, &macro
	return m
}
