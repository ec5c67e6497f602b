package eval

import "math"

// values computes the metric of each model if row i occurs times[i] times; NaN if it is undefined.
func (r *record) values(times []int32, out []float64) {
	for j := range r.models {
		out[j] = r.value(&r.models[j], times)
	}
}

// weight is that of row i, which occurs times[i] times.
func (r *record) weight(times []int32, i int) float64 {
	w := float64(times[i])
	if r.weights != nil {
		w *= r.weights[i]
	}
	return w
}

func (r *record) value(m *keptRows, times []int32) float64 {
	switch r.how {
	case byConfusion:
		return r.ofConfusion(m, times)
	case byRanking:
		return r.ofRanking(m, times)
	case bySquares:
		return r.ofSquares(m, times)
	}
	var sum [2]float64
	weight := 0.0
	for i := range r.rows {
		w := r.weight(times, i)
		weight += w
		for p, v := range m.sums[i*r.parts:][:r.parts] {
			sum[p] += w * float64(v)
		}
	}
	if r.how == byCounts {
		return share(sum[0], sum[1])
	}
	return sum[0] / weight
}

// ofConfusion lets a Classification compute the metric from the counts.
func (r *record) ofConfusion(m *keptRows, times []int32) float64 {
	c := NewClassification(r.classes)
	k := len(r.classes)
	for i, t := range times {
		if t == 0 {
			continue
		}
		w := r.weight(times, i)
		c.rows += int(t)
		c.weight += w
		c.confusion[int(r.truth[i])*k+int(m.class[i])] += w
	}
	if !(c.weight > 0) {
		return math.NaN()
	}
	if v := r.metric.Value(c.Metrics()); v != nil {
		return *v
	}
	return math.NaN()
}

// ofRanking is the area under the curve of ROC, or of precision against recall, in one pass over the rows in the order
// of their scores: rows with equal scores count as one step.
func (r *record) ofRanking(m *keptRows, times []int32) float64 {
	var positive, negative, auc, average float64
	for lo := 0; lo < len(m.order); {
		hi, p, n := lo, 0.0, 0.0
		for ; hi < len(m.order) && m.score[m.order[hi]] == m.score[m.order[lo]]; hi++ {
			i := int(m.order[hi])
			if r.truth[i] == 1 {
				p += r.weight(times, i)
			} else {
				n += r.weight(times, i)
			}
		}
		auc += n * (positive + p/2)
		positive += p
		negative += n
		if positive > 0 {
			average += p * positive / (positive + negative)
		}
		lo = hi
	}
	if r.metric.Name == "auc" {
		return auc / (positive * negative) // NaN if a class is missing
	}
	return average / positive
}

// ofSquares is the RMSE, relative RMSE or R², averaged over the outputs.
func (r *record) ofSquares(m *keptRows, times []int32) float64 {
	square, mean, spread := make([]float64, r.outputs), make([]float64, r.outputs), make([]float64, r.outputs)
	weight := 0.0
	for i := range r.rows {
		w := r.weight(times, i)
		if w == 0 {
			continue
		}
		weight += w
		for t, v := range m.sums[i*r.outputs:][:r.outputs] {
			square[t] += w * float64(v)
			if r.targets != nil {
				y := r.targets[i*r.outputs+t] - r.centres[t]
				mean[t] += w * y
				spread[t] += w * y * y
			}
		}
	}
	value, outputs := 0.0, float64(r.outputs)
	for t, s := range square {
		rest := spread[t] - mean[t]*mean[t]/weight
		switch r.metric.Name {
		case "rmse":
			value += math.Sqrt(s/weight) / outputs
		case "relative_rmse":
			value += math.Sqrt(s/rest) / outputs
		default:
			value += (1 - s/rest) / outputs
		}
	}
	if value-value != 0 {
		return math.NaN() // constant targets
	}
	return value
}
