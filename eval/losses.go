package eval

import (
	"errors"
	"fmt"
	"math"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// losses are the losses of single rows by the measures of a model's task. Their weighted means are the metrics of
// package eval of the same names.
type losses struct {
	m        *model.Model
	measures []string

	class     []int     // of each row
	has       [][]bool  // labels of each row
	y         []float64 // targets of each row
	scale     []float64 // of each target: 1/variance
	quantile  float64
	proba     []float64
	weight    []float64 // of each row, 0 for an unknown label
	allWeight float64
	unknown   int
}

func newLosses(m *model.Model, r *Rows) (*losses, error) {
	if r.Outputs == 0 {
		return nil, option.Errorf("%s: the rows have no labels to measure importance with; name them with %s or %s", r.Name(),
			option.Ref("label"), option.Ref("labels_file"))
	}
	l := &losses{m: m, weight: r.Weights}
	if l.weight == nil {
		l.weight = make([]float64, r.X.Len())
		for i := range l.weight {
			l.weight[i] = 1
		}
	}
	var err error
	switch {
	case m.Classes() != nil:
		err = l.takeClasses(r)
	case m.Labels() != nil:
		err = l.takeLabels(r)
	default:
		err = l.takeNumbers(r)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range l.weight {
		l.allWeight += w
	}
	switch {
	case l.unknown == r.X.Len():
		return nil, fmt.Errorf("%s: the model knows none of the labels", r.Name())
	case !(l.allWeight > 0):
		return nil, fmt.Errorf("%s: the weights of all rows are 0, so there is nothing to measure", r.Name())
	}
	return l, nil
}

func (l *losses) takeClasses(r *Rows) error {
	if r.Outputs != 1 {
		return fmt.Errorf("%s: rows have %d labels, but the model predicts one class", r.Name(), r.Outputs)
	}
	l.measures = []string{"error"}
	if l.m.HasProbabilities() {
		l.measures = []string{"log_loss", "error"}
		l.proba = make([]float64, len(l.m.Classes()))
	}
	classes := dataset.NewClasses(l.m.Classes())
	for i := range r.X.Len() {
		l.class = append(l.class, classes.Of(&r.Batch, i))
		if l.class[i] < 0 {
			l.leaveOut(i)
		}
	}
	return nil
}

func (l *losses) takeLabels(r *Rows) error {
	l.measures = []string{"hamming_loss"}
	if l.m.HasProbabilities() {
		l.measures = []string{"log_loss", "hamming_loss"}
		l.proba = make([]float64, l.m.Outputs())
	}
	sets := l.m.LabelSets()
	for i := range r.X.Len() {
		has := make([]bool, l.m.Outputs())
		if _, err := sets.Of(&r.Batch, i, has); err != nil {
			return dataset.AtRow(r.src, r.Numbers[i], err)
		}
		l.has = append(l.has, has)
	}
	return nil
}

func (l *losses) takeNumbers(r *Rows) error {
	for i, name := range r.Names {
		if name != "" && !dataset.Numeric(name) {
			return dataset.AtRow(r.src, r.Numbers[i], fmt.Errorf("the label %q is not a number, but the model predicts numbers", name))
		}
	}
	k := l.m.Outputs()
	if r.Outputs != k {
		return fmt.Errorf("%s: rows have %d labels, but the model predicts %d numbers", r.Name(), r.Outputs, k)
	}
	l.y = r.Y
	if report := model.ReportOf[*learn.OnlineReport](&l.m.Info().Training); report != nil && report.Quantile != 0 {
		l.measures, l.quantile = []string{"pinball"}, report.Quantile
		return nil
	}
	l.measures, l.scale = []string{"1-r2"}, make([]float64, k)
	for t := range k {
		mean, spread, all := 0.0, 0.0, 0.0
		for i, w := range l.weight {
			if w == 0 {
				continue
			}
			all += w
			d := l.y[i*k+t] - mean
			mean += d * w / all
			spread += w * d * (l.y[i*k+t] - mean)
		}
		if !(spread > 0) || math.IsInf(spread, 0) {
			return fmt.Errorf("%s: the targets of the %d rows are constant, or too large, so 1 - R² is not defined", r.Name(), r.X.Len())
		}
		l.scale[t] = all / spread
	}
	return nil
}

// leaveOut leaves out a row whose label the model does not know.
func (l *losses) leaveOut(i int) {
	if l.unknown == 0 {
		l.weight = append([]float64(nil), l.weight...)
	}
	l.weight[i] = 0
	l.unknown++
}

// of writes the losses of row i, one for each measure, for its scores.
func (l *losses) of(dst []float64, i int, scores []float32) {
	if l.proba != nil {
		if err := l.m.Probabilities(l.proba, scores); err != nil {
			panic("explain: " + err.Error()) // it has some
		}
	}
	last := len(dst) - 1 // the measure without probabilities
	clear(dst)
	switch {
	case l.weight[i] == 0:
	case l.class != nil:
		if l.m.Class(scores) != l.class[i] {
			dst[last] = 1
		}
		if l.proba != nil {
			dst[0] = -math.Log(max(l.proba[l.class[i]], leastProbability))
		}
	case l.has != nil:
		for t, has := range l.has[i] {
			if l.m.Has(t, scores[t]) != has {
				dst[last] += 1 / float64(len(scores))
			}
			if l.proba != nil {
				p := l.proba[t]
				if !has {
					p = 1 - p
				}
				dst[0] -= math.Log(max(p, leastProbability)) / float64(len(scores))
			}
		}
	default:
		k := len(scores)
		for t, v := range scores {
			e := l.y[i*k+t] - l.m.Value(t, v)
			switch {
			case l.scale != nil:
				e *= e * l.scale[t]
			case e > 0:
				e *= l.quantile
			default:
				e *= l.quantile - 1
			}
			dst[0] += e / float64(k)
		}
	}
}

// all are the losses of all rows, row-major.
func (l *losses) all(scores *matrix.Dense) ([]float64, error) {
	k := len(l.measures)
	list := make([]float64, scores.Rows*k)
	for i := range scores.Rows {
		row := list[i*k : (i+1)*k]
		l.of(row, i, scores.Row(i))
		for _, v := range row {
			if v-v != 0 {
				return nil, errors.New("the targets differ from the predictions by so much that float64 does not hold the square")
			}
		}
	}
	return list, nil
}
