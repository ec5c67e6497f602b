package eval

import (
	"math"
	"strconv"
)

// Regression gathers the predictions of a regression. Memory: that of a middle for each output.
type Regression struct {
	// Quantile is that of Pinball; 0 means 0.5.
	Quantile float64

	rows    int
	weight  float64
	outputs []output
	curves  *residuals // nil unless requested
}

// output has the sums of one target.
type output struct {
	name string

	square, abs  float64 // of the errors
	above, below float64 // of the absolute errors where the target is above, or below, the prediction
	largest      float64
	mean, spread float64 // of the targets: mean, and sum of squares around it

	errorMean, errorSpread float64 // the same of the errors

	relative, relativeWeight float64
	zeros                    int

	middle *middle
}

// NewRegression returns a gatherer for targets of the given names, or, if there are none, of
// their numbers.
func NewRegression(names []string, outputs int) *Regression {
	r := &Regression{outputs: make([]output, outputs)}
	for t := range r.outputs {
		name := strconv.Itoa(t)
		if t < len(names) {
			name = names[t]
		}
		r.outputs[t] = output{name: name, middle: newMiddle(outputs)}
	}
	return r
}

// Add adds a row with its targets and what was predicted. weight is the row's, 1 if rows
// have none.
func (r *Regression) Add(truth []float64, predicted []float64, weight float64) {
	r.rows++
	if weight == 0 {
		return
	}
	if r.curves != nil {
		r.curves.add(truth, predicted, weight)
	}
	r.weight += weight
	for t := range r.outputs {
		o := &r.outputs[t]
		e := truth[t] - predicted[t]
		size := math.Abs(e)
		o.square += weight * e * e
		o.abs += weight * size
		if e > 0 {
			o.above += weight * size
		} else {
			o.below += weight * size
		}
		o.largest = max(o.largest, size)
		// Welford's update, with West's weights (1979).
		d := truth[t] - o.mean
		o.mean += d * (weight / r.weight)
		o.spread += weight * d * (truth[t] - o.mean)
		d = e - o.errorMean
		o.errorMean += d * (weight / r.weight)
		o.errorSpread += weight * d * (e - o.errorMean)
		if truth[t] == 0 {
			o.zeros++
		} else {
			o.relative += weight * size / math.Abs(truth[t])
			o.relativeWeight += weight
		}
		o.middle.add(size, weight)
	}
}

// Metrics computes the metrics of the rows added so far; some must have a weight over 0. A
// constant target has R² = 1 if it is predicted without error and
// 0 otherwise.
func (r *Regression) Metrics() *Metrics {
	q := r.Quantile
	if q == 0 {
		q = 0.5
	}
	k := float64(len(r.outputs))
	m := &Metrics{N: r.rows, Quantile: &q}
	var rmse, mae, r2, median, within, largest, explained, bias, pinball float64
	var relative, mape float64
	varying, nonzero := 0, 0
	for t := range r.outputs {
		o := &r.outputs[t]
		root := math.Sqrt(o.square / r.weight)
		size, off := o.middle.median()
		one := OutputMetrics{Name: o.name, RMSE: root, MAE: o.abs / r.weight, MedianAE: size, MaxError: o.largest}
		if r.rows > 1 {
			one.R2 = number(explainedShare(o.square, o.spread))
			r2 += *one.R2 / k
			explained += explainedShare(o.errorSpread, o.spread) / k
		}
		rmse += root / k
		mae += one.MAE / k
		median += size / k
		within = max(within, off)
		largest = max(largest, o.largest)
		bias -= o.errorMean / k
		pinball += (q*o.above + (1-q)*o.below) / r.weight / k
		if o.spread > 0 {
			relative += math.Sqrt(o.square / o.spread)
			varying++
		}
		m.ZeroTargets += o.zeros
		if o.relativeWeight > 0 {
			mape += o.relative / o.relativeWeight
			nonzero++
		}
		if len(r.outputs) > 1 {
			m.Outputs = append(m.Outputs, one)
		}
	}
	m.RMSE, m.MAE, m.MedianAE, m.MaxError, m.Bias, m.Pinball = held(rmse), held(mae), held(median), held(largest), held(bias), held(pinball)
	if within > 0 {
		m.MedianWithin = &within
	}
	if r.rows > 1 {
		m.R2, m.ExplainedVariance = held(r2), held(explained)
	}
	if varying > 0 {
		m.RelativeRMSE = held(relative / float64(varying))
	}
	if nonzero > 0 {
		m.MAPE = held(mape / float64(nonzero))
	}
	return m
}

// held turns a value into a metric, nil if it overflows float64: the square of
// a very large error, or the ratio to a tiny target.
func held(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// explainedShare is the explained share of a spread.
func explainedShare(left, spread float64) float64 {
	switch {
	case spread > 0:
		return 1 - left/spread
	case left == 0:
		return 1
	}
	return 0
}
