package eval

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/engine/hypothesis"
	"mercer/matrix"
	"mercer/model"
)

// Predictor is a model that takes part in a comparison: one of Mercer, or any other that predicts rows.
type Predictor struct {
	// Name is its name in messages and tables.
	Name string

	// Task is as in model.Info; Classes or Labels are the classes or labels that it predicts, nil for other tasks,
	// and Outputs is how many numbers a regression predicts.
	Task    string
	Classes []string
	Labels  []string
	Outputs int

	// Probabilities means that Predict can return them.
	Probabilities bool

	// Predict passes the prediction for each row of x to each, in order. proba requests probabilities.
	Predict func(x matrix.Rows, proba bool, each func(i int, s *Said) error) error
}

// Said is a predictor's output for a row. It is valid until the next row.
type Said struct {
	Class         int       // of Predictor.Classes
	Score         float32   // of two classes: larger for the second
	Has           []bool    // the labels, of Predictor.Labels
	Numbers       []float64 // of a regression
	Probabilities []float64 // of the classes
}

// PredictorOf is a model as a predictor.
func PredictorOf(name string, m *model.Model) *Predictor {
	p := &Predictor{Name: name, Task: m.Info().Task, Classes: m.Classes(), Labels: m.Labels(), Outputs: m.Outputs(),
		Probabilities: m.HasProbabilities() && m.Classes() != nil}
	var scores matrix.Dense
	p.Predict = func(x matrix.Rows, proba bool, each func(int, *Said) error) error {
		scores.Reshape(x.Len(), m.Outputs())
		if err := m.Learned(&scores, x); err != nil {
			return err
		}
		s := &Said{Has: make([]bool, len(p.Labels)), Numbers: make([]float64, m.Outputs())}
		if proba {
			s.Probabilities = make([]float64, len(p.Classes))
		}
		for i := range x.Len() {
			row := scores.Row(i)
			switch {
			case p.Classes != nil:
				s.Class, s.Score = m.Class(row), row[0]
				if proba {
					if err := m.Probabilities(s.Probabilities, row); err != nil {
						return err
					}
				}
			case p.Labels != nil:
				for t, v := range row {
					s.Has[t] = m.Has(t, v)
				}
			default:
				for t, v := range row {
					s.Numbers[t] = m.Value(t, v)
				}
			}
			if err := each(i, s); err != nil {
				return err
			}
		}
		return nil
	}
	return p
}

// CompareOptions are the options of a comparison of models or configurations. The zero value compares with the best.
type CompareOptions struct {
	// Metric is one of ComparedMetrics; "" means the task's default.
	Metric string

	// Control is the number, from 1, of the model that the others are compared with; 0 is the best of them.
	Control int

	// Level is that of the intervals; 0 means 0.95.
	Level float64

	// Resamples is the number of bootstrap samples, where 0 means 2,000; Seed draws them and the folds, where 0 means 1.
	Resamples int
	Seed      uint64

	// Progress, if not nil, is called with the stage, the rows done (negative if unknown) and
	// the share of the stage.
	Progress func(stage string, rows int, share float64)
}

func (o *CompareOptions) withDefaults(contenders int) error {
	if o.Level == 0 {
		o.Level = 0.95
	}
	o.Seed = max(o.Seed, 1)
	if o.Progress == nil {
		o.Progress = func(string, int, float64) {}
	}
	switch {
	case contenders < 2:
		return errors.New("there is nothing to compare with; give two or more")
	case o.Control < 0 || o.Control > contenders:
		return fmt.Errorf("the control is %d, but there are 1 to %d", o.Control, contenders)
	case !(o.Level > 0 && o.Level < 1):
		return fmt.Errorf("the level %g of the intervals is not between 0 and 1", o.Level)
	}
	return nil
}

// Comparison is the result of Compare.
type Comparison struct {
	// N is the number of rows.
	N int `json:"n"`

	// Metric is the name of the metric, Better "higher" or "lower".
	Metric string `json:"metric"`
	Better string `json:"better"`

	// Level is that of the intervals.
	Level float64 `json:"level"`

	// Reference is the number, from 0, of the model that the others are compared with; Chosen means that it is the
	// best on these rows, not a control.
	Reference int  `json:"reference"`
	Chosen    bool `json:"chosen_by_these_rows"`

	// Test is the source of the p-values: "mcnemar" or "bootstrap".
	Test string `json:"test"`

	// Models are in the order in which they were given.
	Models []Compared `json:"models"`
}

// Compared is one model of a comparison.
type Compared struct {
	Name string `json:"name"`

	// Value is the metric, with its BCa bootstrap interval.
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`

	// Difference is the comparison with the reference, nil for the reference itself.
	Difference *Difference `json:"difference,omitempty"`

	// MicrosPerRow is the time of a prediction, in batches, on all threads together.
	MicrosPerRow float64 `json:"us_per_row"`
}

// Difference compares a model with the reference.
type Difference struct {
	// Value is the metric of the model minus that of the reference, with its interval.
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`

	// P is the p-value, and Holm that adjusted for the number of models by Holm's procedure.
	P    float64 `json:"p"`
	Holm float64 `json:"holm"`

	// OnlyModel and OnlyReference are the rows that only one of the two has right, for McNemar's test.
	OnlyModel     *int `json:"only_model_right,omitempty"`
	OnlyReference *int `json:"only_reference_right,omitempty"`
}

// Compare predicts the labelled rows of src with several models in one pass and compares them by a metric. Each value has a
// BCa bootstrap interval, each difference to the reference a BCa interval of the paired bootstrap and a p-value: by
// McNemar's exact test for accuracy and error (of rows without weights), otherwise by the bootstrap. The p-values are adjusted
// by Holm's procedure. The models must predict the same classes, labels or number of outputs, and know every label of src.
//
// Memory beside that of a batch, for n rows and M models: 4·n·(M + 1) bytes for metrics of classes and of probabilities,
// 4·n + 8·n·M for areas under curves, 4·n·M for means of other losses, 8·n·M for micro F1 of labels, 4·K·n·M for squared
// errors of K outputs and 8·K·n more for R² and relative RMSE; 8·n if rows have weights; and 4·n per thread for the
// bootstrap, which metrics of classes do not need if there are few combinations of truth and predictions.
func Compare(ctx context.Context, models []*Predictor, src dataset.Source, opt CompareOptions) (*Comparison, error) {
	if err := opt.withDefaults(len(models)); err != nil {
		return nil, err
	}
	for _, p := range models[1:] {
		if err := alike(models[0], p); err != nil {
			return nil, err
		}
	}
	r, err := newRecord(opt.Metric, models[0], len(models))
	if err != nil {
		return nil, err
	}
	if err := r.pass(ctx, models, src, opt.Progress); err != nil {
		return nil, err
	}
	if r.rows < 2 {
		return nil, fmt.Errorf("%s: has one row, which is not enough", src.Name())
	}
	return r.compare(ctx, models, opt)
}

// alike returns an error if two models cannot be compared.
func alike(a, b *Predictor) error {
	switch {
	case a.Task != b.Task:
		return fmt.Errorf("%s is for the task %s, %s for %s; models of one task can be compared", a.Name, a.Task, b.Name, b.Task)
	case a.Outputs != b.Outputs && a.Task == "regress":
		return fmt.Errorf("%s predicts %d numbers a row, %s %d", a.Name, a.Outputs, b.Name, b.Outputs)
	}
	for _, c := range []struct {
		what string
		a, b []string
	}{{"class", a.Classes, b.Classes}, {"label", a.Labels, b.Labels}} {
		for _, pair := range [][2]*Predictor{{a, b}, {b, a}} {
			have, want := c.a, c.b
			if pair[0] == b {
				have, want = c.b, c.a
			}
			for _, label := range have {
				if !slices.Contains(want, label) {
					return fmt.Errorf("%s knows the %s %q, %s does not; train them on data with the same ones", pair[0].Name, c.what, label, pair[1].Name)
				}
			}
		}
	}
	return nil
}

// SameColumns returns an error if rows that are read for one model cannot be predicted by another. Columns that had no gaps in
// training may have different means, so that rows without gaps can be predicted by both ([SameGaps]).
func SameColumns(a, b *dataset.Schema) error {
	if a.Dim != b.Dim {
		return fmt.Errorf("they have %d and %d input dimensions", a.Dim, b.Dim)
	}
	if len(a.Columns) != len(b.Columns) {
		return fmt.Errorf("they have %d and %d input columns", len(a.Columns), len(b.Columns))
	}
	for i := range a.Columns {
		x, y := &a.Columns[i], &b.Columns[i]
		switch {
		case x.Place != y.Place:
			return fmt.Errorf("input column %d is %q of one and %q of the other", i+1, x.Name, y.Name)
		case !slices.Equal(x.Categories, y.Categories):
			return fmt.Errorf("the column %q had other values in their training data", x.Name)
		case x.Indicator != y.Indicator:
			return fmt.Errorf("the column %q had missing values in the training data of one alone", x.Name)
		case x.Mean != y.Mean && (x.Indicator || !ofGaps(a, x) && !ofGaps(b, y)):
			return fmt.Errorf("missing values of the column %q become %g in one and %g in the other", x.Name, x.Mean, y.Mean)
		}
	}
	if a.Base != b.Base || !reflect.DeepEqual(a.Labels, b.Labels) || a.LabelSeparator != b.LabelSeparator {
		return errors.New("their training data were read in different ways")
	}
	return nil
}

// ofGaps says whether the mean of a column is for gaps that training did not have.
func ofGaps(s *dataset.Schema, c *dataset.Column) bool { return s.Missing == "auto" && !c.Indicator }

// SameGaps returns an error if missing values of a column, which had none in training, mean different things to two models.
func SameGaps(a, b *dataset.Schema, column string) error {
	for i := range a.Columns {
		if x, y := &a.Columns[i], &b.Columns[i]; x.Name == column && (x.Mean != y.Mean || a.Missing != b.Missing) {
			return fmt.Errorf("missing values of the column %q become %g in one and %g in the other", x.Name, x.Mean, y.Mean)
		}
	}
	return nil
}

// pass adds the rows of src, as the models predict them.
func (r *record) pass(ctx context.Context, models []*Predictor, src dataset.Source, progress func(string, int, float64)) error {
	for j, p := range models {
		if err := r.place(j, p); err != nil {
			return err
		}
	}
	rows := 0
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		if err := r.truths(b.Batch, src); err != nil {
			return err
		}
		for j, p := range models {
			start := time.Now()
			err := p.Predict(b.X, r.how == byProbability, func(i int, s *Said) error { return r.add(j, i, s) })
			r.models[j].seconds += time.Since(start).Seconds()
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, dataset.Locate(err, src, b.First))
			}
		}
		r.rows += b.X.Len()
		rows += b.X.Len()
		progress("predict", rows, b.Pass.Progress())
	}
	if rows == 0 {
		return fmt.Errorf("%s: has no rows", src.Name())
	}
	return nil
}

// compare draws the bootstrap samples and compares.
func (r *record) compare(ctx context.Context, models []*Predictor, opt CompareOptions) (*Comparison, error) {
	out := &Comparison{N: r.rows, Metric: r.metric.Name, Better: "lower", Level: opt.Level, Test: "bootstrap"}
	if r.metric.LargerIsBetter {
		out.Better = "higher"
	}
	r.prepare()
	of, copies := r.distinct()
	d, err := hypothesis.Bootstrap(ctx, hypothesis.Resampling{Rows: of.rows, Copies: copies, Resamples: opt.Resamples, Seed: opt.Seed,
		Quantities: len(models),
		Statistic:  of.values, Progress: func(share float64) { opt.Progress("bootstrap", -1, share) }})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, hypothesis.ErrUndefined):
		return nil, fmt.Errorf("%s has no value on these rows, or on most samples of them; take another metric or more rows", r.metric.Name)
	case err != nil:
		return nil, err
	}
	out.Reference, out.Chosen = opt.Control-1, opt.Control == 0
	if out.Chosen {
		out.Reference = 0
		for j := range models {
			if r.metric.Better(d[j].Estimate, d[out.Reference].Estimate) {
				out.Reference = j
			}
		}
	}
	var p []float64
	for j, m := range models {
		c := Compared{Name: m.Name, Value: d[j].Estimate, MicrosPerRow: 1e6 * r.models[j].seconds / float64(r.rows)}
		c.Low, c.High = d[j].BCa(opt.Level)
		if j != out.Reference {
			gap := d[j].Minus(d[out.Reference])
			c.Difference = &Difference{Value: gap.Estimate, P: gap.P()}
			c.Difference.Low, c.Difference.High = gap.BCa(opt.Level)
			if name := r.metric.Name; (name == "accuracy" || name == "error") && r.weights == nil {
				t := r.mcNemar(j, out.Reference, 0, r.rows)
				out.Test = "mcnemar"
				c.Difference.P, c.Difference.OnlyModel, c.Difference.OnlyReference = t.P, &t.OnlyA, &t.OnlyB
			}
			p = append(p, c.Difference.P)
		}
		out.Models = append(out.Models, c)
	}
	adjusted := hypothesis.Holm(p)
	for j := range out.Models {
		if d := out.Models[j].Difference; d != nil {
			d.Holm, adjusted = adjusted[0], adjusted[1:]
		}
	}
	return out, nil
}
