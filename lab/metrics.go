// Package lab judges models: metrics of their predictions.
package lab

import (
	"math"
	"slices"
)

// Metrics are what eval reports. What does not apply is nil.
type Metrics struct {
	// N is the number of rows.
	N int `json:"n"`

	// Accuracy is the share of rows whose class is predicted, Error the share of the others.
	Accuracy *float64 `json:"accuracy,omitempty"`
	Error    *float64 `json:"error,omitempty"`

	// MacroF1 is the mean over the classes of F1 = 2·precision·recall/(precision+recall); a
	// class that is neither in the labels nor predicted does not count.
	MacroF1 *float64 `json:"macro_f1,omitempty"`

	// F1 and AUC are for two classes, of which the second is the positive one. AUC is the
	// area under the ROC curve: the share of pairs (positive, negative) that the score puts
	// in the right order, ties counting half. It is nil where one of the two is missing.
	F1  *float64 `json:"f1,omitempty"`
	AUC *float64 `json:"auc,omitempty"`

	// RMSE is √(mean squared error), MAE the mean absolute error and R2 the share of the
	// targets' variance that is explained, each averaged over the outputs.
	RMSE *float64 `json:"rmse,omitempty"`
	MAE  *float64 `json:"mae,omitempty"`
	R2   *float64 `json:"r2,omitempty"`

	// Of labels of which a row may have any number: SubsetAccuracy is the share of rows with
	// exactly the predicted labels, HammingLoss that of wrong decisions about one label of one
	// row, and MicroF1 the F1 of all decisions together; MacroF1 is the mean over the labels.
	SubsetAccuracy *float64       `json:"subset_accuracy,omitempty"`
	HammingLoss    *float64       `json:"hamming_loss,omitempty"`
	MicroF1        *float64       `json:"micro_f1,omitempty"`
	Labels         []LabelMetrics `json:"labels,omitempty"`

	// Of models with probabilities: LogLoss is the mean of -log p of the true class (a p of 0
	// counting as 10⁻¹⁵), Brier the mean of Σ(p - y)² over the classes, of two classes that of
	// the second alone, and ECE the expected calibration error: the mean distance of accuracy and
	// probability of the likeliest class, in 15 equal bins of that probability (Guo et
	// al. 2017). Of labels each is the mean over rows and labels. Rows of classes that the model
	// does not know do not count.
	LogLoss *float64 `json:"log_loss,omitempty"`
	Brier   *float64 `json:"brier,omitempty"`
	ECE     *float64 `json:"ece,omitempty"`
}

// Classification gathers the predictions of a classifier. Memory: 8·c² bytes for c classes,
// and for two classes 5 bytes a row.
type Classification struct {
	classes   int
	rows      int
	confusion []int // true×predicted; row `classes` is for labels unknown to the model
	scores    []float32
	positive  []bool
}

// NewClassification returns a gatherer for the given number of classes.
func NewClassification(classes int) *Classification {
	return &Classification{classes: classes, confusion: make([]int, (classes+1)*classes)}
}

// Add adds a row of class truth (-1: a label that the model does not know, always an error)
// that was predicted as class predicted, with the score of the positive class, which
// matters only for two classes.
func (c *Classification) Add(truth, predicted int, score float32) {
	c.rows++
	if truth < 0 {
		truth = c.classes
	}
	c.confusion[truth*c.classes+predicted]++
	if c.classes == 2 && truth < 2 {
		c.scores = append(c.scores, score)
		c.positive = append(c.positive, truth == 1)
	}
}

// Metrics computes the metrics of the rows added so far.
func (c *Classification) Metrics() *Metrics {
	right, f1Sum, f1Count := 0, 0.0, 0
	f1s := make([]float64, c.classes)
	for t := range c.classes {
		hit := c.confusion[t*c.classes+t]
		right += hit
		labelled, predicted := 0, 0
		for p := range c.classes {
			labelled += c.confusion[t*c.classes+p]
		}
		for l := range c.classes + 1 {
			predicted += c.confusion[l*c.classes+t]
		}
		if labelled+predicted == 0 {
			continue
		}
		f1s[t] = 2 * float64(hit) / float64(labelled+predicted)
		f1Sum += f1s[t]
		f1Count++
	}
	accuracy := float64(right) / float64(c.rows)
	wrong := float64(c.rows-right) / float64(c.rows)
	macro := f1Sum / float64(max(f1Count, 1))
	m := &Metrics{N: c.rows, Accuracy: &accuracy, Error: &wrong, MacroF1: &macro}
	if c.classes == 2 {
		m.F1 = &f1s[1]
		m.AUC = auc(c.scores, c.positive)
	}
	return m
}

// auc is the area under the ROC curve by the rank sum of the positive rows, tied scores
// sharing their mean rank; nil where one of the classes is missing.
func auc(scores []float32, positive []bool) *float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	ranks, pos := 0.0, 0
	for lo := 0; lo < len(order); {
		hi, here := lo, 0
		for ; hi < len(order) && scores[order[hi]] == scores[order[lo]]; hi++ {
			if positive[order[hi]] {
				here++
			}
		}
		ranks += float64(here) * (float64(lo+hi+1) / 2)
		pos += here
		lo = hi
	}
	neg := len(scores) - pos
	if pos == 0 || neg == 0 {
		return nil
	}
	v := (ranks - float64(pos)*float64(pos+1)/2) / (float64(pos) * float64(neg))
	return &v
}

// Regression gathers the predictions of a regression.
type Regression struct {
	rows    int
	outputs []output
}

// output has the sums of one target.
type output struct {
	square, abs  float64 // of the errors
	mean, spread float64 // of the targets: mean, and sum of squares around it
}

// NewRegression returns a gatherer for the given number of targets.
func NewRegression(outputs int) *Regression {
	return &Regression{outputs: make([]output, outputs)}
}

// Add adds a row with its targets and what was predicted.
func (r *Regression) Add(truth []float64, predicted []float32) {
	r.rows++
	for t := range r.outputs {
		o := &r.outputs[t]
		e := truth[t] - float64(predicted[t])
		o.square += e * e
		o.abs += math.Abs(e)
		// Welford's update.
		d := truth[t] - o.mean
		o.mean += d / float64(r.rows)
		o.spread += d * (truth[t] - o.mean)
	}
}

// Metrics computes the metrics of the rows added so far. A target that does not vary counts
// as explained (R² = 1) if it is predicted without error and as 0 otherwise.
func (r *Regression) Metrics() *Metrics {
	n, k := float64(r.rows), float64(len(r.outputs))
	var rmse, mae, r2 float64
	for _, o := range r.outputs {
		rmse += math.Sqrt(o.square/n) / k
		mae += o.abs / n / k
		switch {
		case o.spread > 0:
			r2 += (1 - o.square/o.spread) / k
		case o.square == 0:
			r2 += 1 / k
		}
	}
	return &Metrics{N: r.rows, RMSE: &rmse, MAE: &mae, R2: &r2}
}
