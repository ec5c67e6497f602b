package eval

// MultiLabel gathers predictions of several labels per row. Memory: that of a
// ranking, if it is given scores.
type MultiLabel struct {
	labels                  []string
	rows, unknownRows       int
	weight, exact, wrong    float64
	hits, truths, predicted []float64
	unknown                 float64 // labels
	precision, recall, f1   float64 // sums over the rows
	ordered                 float64 // of label ranking average precision
	ranking                 *ranking
}

// NewMultiLabel returns a gatherer for the given labels.
func NewMultiLabel(labels []string) *MultiLabel {
	n := len(labels)
	return &MultiLabel{labels: labels, hits: make([]float64, n), truths: make([]float64, n), predicted: make([]float64, n)}
}

// Add adds a row with its labels and those predicted. scores are the scores of the labels, nil
// for all rows if rankings are not needed. unknown is how many further labels the row has that
// the model does not know: they count as missed. weight is the row's, 1 if rows have none.
func (l *MultiLabel) Add(has, predicted []bool, scores []float32, unknown int, weight float64) {
	l.rows++
	l.weight += weight
	l.unknown += weight * float64(unknown)
	if unknown > 0 {
		l.unknownRows++
	}
	hits, truths, told, wrong := 0, unknown, 0, 0
	for t, h := range has {
		p := predicted[t]
		if h {
			l.truths[t] += weight
			truths++
		}
		if p {
			l.predicted[t] += weight
			told++
		}
		if h && p {
			l.hits[t] += weight
			hits++
		}
		if h != p {
			wrong++
		}
	}
	l.wrong += weight * float64(wrong)
	if wrong+unknown == 0 {
		l.exact += weight
	}
	l.precision += weight * share(float64(hits), float64(told))
	l.recall += weight * share(float64(hits), float64(truths))
	l.f1 += weight * share(2*float64(hits), float64(truths+told))
	if scores == nil {
		return
	}
	if l.ranking == nil {
		l.ranking = newRanking(len(scores))
	}
	l.ranking.addLabels(scores, has, weight)
	l.ordered += weight * rankingPrecision(has, scores, unknown)
}

// rankingPrecision is the mean over a row's labels of the share of labels with no lower score
// that the row has; 1 for a row with none.
func rankingPrecision(has []bool, scores []float32, unknown int) float64 {
	sum, count := 0.0, 0
	for t, h := range has {
		if !h {
			continue
		}
		count++
		before, right := 0, 0
		for j, s := range scores {
			if s >= scores[t] {
				before++
				if has[j] {
					right++
				}
			}
		}
		sum += float64(right) / float64(before)
	}
	if count+unknown == 0 {
		return 1
	}
	return sum / float64(count+unknown)
}

// Metrics computes the metrics of the rows added so far; some must have a weight over 0.
func (l *MultiLabel) Metrics() *Metrics {
	m := &Metrics{N: l.rows, Unknown: l.unknownRows,
		SubsetAccuracy: number(l.exact / l.weight), HammingLoss: number(l.wrong / l.weight / float64(len(l.labels))),
		SamplesPrecision: number(l.precision / l.weight), SamplesRecall: number(l.recall / l.weight), SamplesF1: number(l.f1 / l.weight)}
	var under []areas
	if l.ranking != nil {
		under = l.ranking.all()
	}
	var all means
	hits, truths, predicted := 0.0, l.unknown, 0.0
	for t, label := range l.labels {
		one := newLabelMetrics(label, l.hits[t], l.truths[t], l.predicted[t])
		if under != nil {
			under[t].into(&one, m)
		}
		m.Labels = append(m.Labels, one)
		all.add(&one)
		hits += l.hits[t]
		truths += l.truths[t]
		predicted += l.predicted[t]
	}
	all.into(m)
	m.MicroPrecision, m.MicroRecall, m.MicroF1 = number(share(hits, predicted)), number(share(hits, truths)), number(share(2*hits,
		truths+predicted))
	if l.ranking != nil {
		m.RankingPrecision = number(l.ordered / l.weight)
	}
	return m
}
