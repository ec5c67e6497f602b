package eval

import (
	"context"
	"fmt"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// Options define what Evaluate does besides its metrics; the zero value adds nothing.
type Options struct {
	// Progress, if not nil, is called with the rows done and the share of the source.
	Progress func(rows int, share float64)

	// Curves requests Metrics.Curves.
	Curves bool

	// Intervals requests Metrics.Intervals.
	Intervals bool

	// Seed draws the rows of Residuals; 0 means 1.
	Seed uint64

	// Quantile is that of Metrics.Pinball; 0 means the one that the model predicts, or 0.5.
	Quantile float64
}

// Evaluate predicts the labelled rows of src with m and compares. The rows' weights,
// if any, apply to all metrics.
//
// Memory beside that of a batch, for n rows: for two classes 8 bytes per row for the area under the
// curve, for K classes 4·K + 4, for K labels 5·K, and for K numbers 16·K for the median; 8 more if
// rows have weights. All of these are limited to 128 MiB, beyond which the areas and the median become
// approximate and Metrics gives bounds on the error. Sorting takes another 8 bytes per row kept.
func Evaluate(ctx context.Context, m *model.Model, src dataset.Source, opt Options) (*Metrics, error) {
	src = dataset.WithMeans(src, &m.Info().Schema)
	j := newJudge(m, src, opt)
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		if err := j.add(b.Batch); err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			opt.Progress(j.rows, b.Pass.Progress())
		}
	}
	metrics, err := j.metrics()
	if err == nil && j.sure != nil {
		metrics.Intervals, err = j.sure.intervals(ctx)
	}
	return metrics, err
}

// leastWeight bounds the sum of all weights, and its inverse, so that products of two do not overflow.
const leastWeight = 1e-100

// judge compares the predictions of a model with batches of labelled rows.
type judge struct {
	m      *model.Model
	src    dataset.Source
	curves bool
	sure   *sure // nil: no intervals
	rows   int
	weight float64
	// weighted means that rows have weights.
	weighted bool
	scores   matrix.Dense

	classes *dataset.Classes
	byClass *Classification

	sets      *dataset.LabelSets
	byLabel   *MultiLabel
	has, told []bool

	byValue *Regression
	values  []float64

	proba       *Probability
	probability []float64
	odds        []float32
}

func newJudge(m *model.Model, src dataset.Source, opt Options) *judge {
	j := &judge{m: m, src: src, curves: opt.Curves}
	if opt.Intervals {
		j.sure = newSure(m)
	}
	if labels := m.Classes(); labels != nil {
		j.classes = dataset.NewClasses(labels)
		j.byClass = NewClassification(labels)
		j.probability = make([]float64, len(labels))
	} else if j.sets = m.LabelSets(); j.sets != nil {
		j.byLabel = NewMultiLabel(j.sets.Labels())
		j.has, j.told, j.probability = make([]bool, m.Outputs()), make([]bool, m.Outputs()), make([]float64, m.Outputs())
	} else {
		var names []string
		for _, l := range m.Info().Schema.Labels {
			names = append(names, l.Name)
		}
		j.byValue, j.values = NewRegression(names, m.Outputs()), make([]float64, m.Outputs())
		j.byValue.Quantile = opt.Quantile
		if r := model.ReportOf[*learn.OnlineReport](&m.Info().Training); r != nil && opt.Quantile == 0 {
			j.byValue.Quantile = r.Quantile
		}
		if opt.Curves {
			j.byValue.curves = newResiduals(m.Outputs(), max(opt.Seed, 1))
		}
	}
	if m.HasProbabilities() {
		j.proba = NewProbability(len(m.Classes()) == 2)
		j.odds = make([]float32, len(j.probability))
	}
	return j
}

// add predicts a batch and compares it.
func (j *judge) add(b *matrix.Batch) error {
	if err := j.score(b); err != nil {
		return err
	}
	for i := range b.X.Len() {
		a, err := j.answer(b, i)
		if err != nil {
			return err
		}
		if err := j.row(a, j.scores.Row(i)); err != nil {
			return err
		}
	}
	if j.sure != nil && !j.sure.add(j, b) {
		j.sure = nil
	}
	return nil
}

// score computes the scores of a batch.
func (j *judge) score(b *matrix.Batch) error {
	switch {
	case b.Outputs == 0:
		return unlabelled(j.src.Name())
	case j.classes != nil && b.Outputs != 1:
		return fmt.Errorf("%s: rows have %d labels, but the model predicts one class", j.src.Name(), b.Outputs)
	}
	j.scores.Reshape(b.X.Len(), j.m.Outputs())
	if err := j.m.Learned(&j.scores, b.X); err != nil {
		return dataset.Locate(err, j.src, b.First)
	}
	if j.byValue != nil {
		for i, name := range b.Names {
			if name != "" && !dataset.Numeric(name) {
				return dataset.AtRow(j.src, b.First+i, fmt.Errorf("the label %q is not a number, but the model predicts numbers", name))
			}
		}
		if b.Outputs != j.m.Outputs() {
			return fmt.Errorf("%s: rows have %d labels, but the model predicts %d numbers", j.src.Name(), b.Outputs, j.m.Outputs())
		}
	}
	j.weighted = j.weighted || b.Weights != nil
	return nil
}

// answer is what the data say of a row.
type answer struct {
	weight  float64
	class   int       // -1: one that the model does not know
	has     []bool    // of the labels that the model knows
	unknown int       // the number of other labels
	values  []float64 // to be predicted
}

// answer is valid until the next.
func (j *judge) answer(b *matrix.Batch, i int) (a answer, err error) {
	if a.weight = 1; b.Weights != nil {
		a.weight = b.Weights[i]
	}
	switch {
	case j.classes != nil:
		a.class = j.classes.Of(b, i)
	case j.sets != nil:
		unknown, err := j.sets.Of(b, i, j.has)
		if err != nil {
			return a, dataset.AtRow(j.src, b.First+i, err)
		}
		a.has, a.unknown = j.has, len(unknown)
	default:
		a.values = b.Y[i*b.Outputs : (i+1)*b.Outputs]
	}
	return a, nil
}

// unlabelled is the error for rows without labels.
func unlabelled(source string) error {
	return option.Errorf("%s: the rows have no labels to compare predictions with; name them with %s or %s", source, option.Ref("label"),
		option.Ref("labels_file"))
}

// row compares the scores of a row with its answer.
func (j *judge) row(a answer, scores []float32) error {
	j.weight += a.weight
	j.rows++
	rank := scores
	if j.proba != nil {
		if err := j.m.Probabilities(j.probability, scores); err != nil {
			return err
		}
		if len(j.probability) == len(scores) {
			// Scores of different rows may differ by an offset that probabilities do not
			// show, as for a softmax.
			for k, p := range j.probability {
				j.odds[k] = LogOdds(p)
			}
			rank = j.odds
		}
	}
	switch {
	case j.classes != nil:
		j.byClass.Add(a.class, j.m.Class(scores), rank, a.weight)
		if j.proba != nil && a.class >= 0 {
			j.proba.Add(a.class, j.probability, a.weight)
		}
	case j.sets != nil:
		for t, v := range scores {
			j.told[t] = j.m.Has(t, v)
		}
		j.byLabel.Add(a.has, j.told, rank, a.unknown, a.weight)
		if j.proba != nil {
			j.proba.AddLabels(a.has, j.probability, a.weight)
		}
	default:
		for t, v := range scores {
			j.values[t] = j.m.Value(t, v)
		}
		j.byValue.Add(a.values, j.values, a.weight)
	}
	return nil
}

func (j *judge) metrics() (*Metrics, error) {
	switch {
	case j.rows == 0:
		return nil, fmt.Errorf("%s: has no rows", j.src.Name())
	case j.weight == 0:
		return nil, fmt.Errorf("%s: the weights of all %d rows are 0, so there is nothing to measure", j.src.Name(), j.rows)
	case !(j.weight > leastWeight && j.weight < 1/leastWeight):
		return nil, fmt.Errorf("%s: the weights add up to %.3g, whose square float64 does not hold; multiply all of them by the same number",
			j.src.Name(), j.weight)
	}
	var m *Metrics
	switch {
	case j.byClass != nil:
		m = j.byClass.Metrics()
	case j.byLabel != nil:
		m = j.byLabel.Metrics()
	default:
		if m = j.byValue.Metrics(); m.RMSE == nil {
			return nil, fmt.Errorf("%s: the targets differ from the predictions by up to %.3g, whose square float64 does not hold; divide all "+
				"targets by the same number", j.src.Name(), *m.MaxError)
		}
	}
	if j.weighted {
		m.Weight = &j.weight
	}
	if j.proba != nil {
		j.proba.Into(m)
	}
	if j.curves {
		m.Curves = j.pictures()
	}
	return m, nil
}

// pictures are the curves of the rows added.
func (j *judge) pictures() *Curves {
	c := new(Curves)
	curve := func(r *ranking, column int, label string) {
		if roc, pr := r.curves(column, label); roc != nil {
			c.ROC, c.PR = append(c.ROC, *roc), append(c.PR, *pr)
		}
	}
	switch {
	case j.byClass != nil && j.byClass.ranking != nil:
		for t, label := range j.byClass.labels {
			if column := j.byClass.column(t); column >= 0 {
				curve(j.byClass.ranking, column, label)
			}
		}
	case j.byLabel != nil && j.byLabel.ranking != nil:
		for t, label := range j.byLabel.labels {
			curve(j.byLabel.ranking, t, label)
		}
	case j.byValue != nil:
		for t := range j.byValue.outputs {
			c.Residuals = append(c.Residuals, j.byValue.curves.of(t, j.byValue.outputs[t].name))
		}
	}
	if j.proba != nil {
		c.Calibration = j.proba.bins()
	}
	return c
}
