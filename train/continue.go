package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// Online is a model of the online learner that keeps learning. It is not safe for concurrent
// use; the models that it returns are, and do not change.
type Online struct {
	parts        model.Parts
	classes      *dataset.Classes
	labels       *dataset.LabelSets
	classWeights []float64
	fit          *learn.OnlineFit
	report       learn.OnlineReport
	validated    func(learn.OnlinePoint)
	seen         int // rows, each counted once
	weighed      bool
	taught       map[int]bool // classes of which a row had a weight above 0

	y, weights []float64
}

// Continue returns a learner that resumes from a model as if its training had not ended: the
// same rows in the same order give the same bits, with or without a break between them.
// The scaling, map, rate and classes stay as they are. It fails for a model of another learner
// and for one that was trained in several passes.
func Continue(m *model.Model) (*Online, error) {
	info := m.Info()
	l, ok := m.Predictor().(model.Online)
	if !ok {
		return nil, option.Errorf("a model of the learner %s cannot be continued; train with %s", info.Training.Learner,
			option.Set("learner", onlineLearner.name))
	}
	if info.Training.Calibration != nil {
		return nil, option.Errorf("a calibrated model cannot be continued: its probabilities would no longer fit; train it without %s, "+
			"and calibrate the last model", option.Ref("calibrate"))
	}
	if t := info.Threshold; t != nil && t.Rows > 0 {
		return nil, option.Errorf("a model with a threshold that held-out rows chose cannot be continued: it would no longer fit; train it without %s, "+
			"and choose one for the last model", option.Ref("threshold"))
	}
	report, ok := info.Training.Report.(*learn.OnlineReport)
	if !ok {
		return nil, errors.New("the model has no report of the online learner, without which it cannot be continued")
	}
	o := &Online{
		parts:        model.Parts{Info: *info, Bag: m.Bag(), Pipeline: m.Pipeline()},
		classWeights: l.ClassWeights, report: *report, seen: info.Training.Rows, taught: map[int]bool{},
	}
	o.parts.Golden, o.parts.Members = m.Golden()
	if o.report.Epochs > 1 {
		return nil, option.Errorf("the model was trained in %d passes, after which there is no next row; train with %s", o.report.Epochs,
			option.Set("epochs", "1"))
	}
	o.report.Progressive = slices.Clone(o.report.Progressive)
	var err error
	if o.fit, err = learn.ContinueOnline(o.report.Online, l.W.Rows, l.W.Cols, cloned(l.State)); err != nil {
		return nil, err
	}
	if info.Classes != nil {
		o.classes = dataset.NewClasses(info.Classes)
	}
	o.labels = m.LabelSets()
	return o, nil
}

// cloned returns a copy of the state.
func cloned(s learn.OnlineState) learn.OnlineState {
	s.Losses, s.Factors = slices.Clone(s.Losses), slices.Clone(s.Factors)
	s.First, s.First32, s.Second = slices.Clone(s.First), slices.Clone(s.First32), slices.Clone(s.Second)
	return s
}

// Validated sets a function that is called with the progressive validation at 1, 2, 4, … rows.
func (o *Online) Validated(told func(learn.OnlinePoint)) { o.validated = told }

// PartialFit predicts the labelled rows of a batch one after the other, and learns from each
// before the next. It fails if a label is not one of the model's classes, and whenever
// Model.Scores fails; by then the learner may have learned some rows, and must not be used any more.
func (o *Online) PartialFit(b *matrix.Batch) error {
	y, weights, err := o.targets(b)
	if err != nil {
		return err
	}
	return o.parts.Pipeline.Each(b.X, func(i, j int, z matrix.Rows) error {
		var w []float64
		if weights != nil {
			w = weights[i:j]
		}
		k := o.parts.Info.Outputs
		o.learn(z, y[i*k:j*k], w, true)
		return nil
	})
}

// PartialFitSource is PartialFit for all rows of a source, which is read once.
func (o *Online) PartialFitSource(ctx context.Context, src dataset.Source, progress func(rows int, share float64)) error {
	rows := 0
	o.weighed = false
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		if err := o.PartialFit(b.Batch); err != nil {
			return dataset.Locate(err, src, b.First)
		}
		rows += b.X.Len()
		if progress != nil {
			progress(rows, b.Pass.Progress())
		}
	}
	if rows > 0 && !o.weighed {
		return fmt.Errorf("%s: %w", src.Name(), errWeightless)
	}
	return nil
}

// PartialFit returns a model that has also learned the rows of a batch. [Online] does the same but
// copies no weights between batches.
func PartialFit(m *model.Model, b *matrix.Batch) (*model.Model, error) {
	o, err := Continue(m)
	if err != nil {
		return nil, err
	}
	if err := o.PartialFit(b); err != nil {
		return nil, err
	}
	return o.Model()
}

// Model returns the model as learned so far.
func (o *Online) Model() (*model.Model, error) {
	o.note(true)
	parts := o.parts
	report := o.told()
	var err error
	if parts.Predictor, err = o.predictor(report); err != nil {
		return nil, err
	}
	parts.Info.Training.Report, parts.Info.Training.Rows = report, o.seen
	return model.New(parts)
}

// told is the current report.
func (o *Online) told() *learn.OnlineReport {
	report := o.report
	report.Online = o.fit.Config()
	report.Progressive = slices.Clone(report.Progressive)
	return &report
}

// predictor makes a predictor from the current weights.
func (o *Online) predictor(report *learn.OnlineReport) (model.Predictor, error) {
	linear, err := o.fit.Linear()
	if err != nil {
		return nil, err
	}
	return model.Online{
		Linear: model.Linear{Linear: linear}, Loss: report.Loss, Labels: o.labels != nil,
		State: cloned(o.fit.OnlineState), ClassWeights: o.classWeights,
	}, nil
}

// targets returns the targets of the rows of a batch and their weights.
func (o *Online) targets(b *matrix.Batch) (y, weights []float64, err error) {
	k, n := o.parts.Info.Outputs, b.X.Len()
	if b.Outputs == 0 {
		return nil, nil, option.Errorf("the rows have no labels to learn from; name them with %s or %s", option.Ref("label"),
			option.Ref("labels_file"))
	}
	for i, w := range b.Weights {
		if err := dataset.CheckWeight(w); err != nil {
			return nil, nil, fmt.Errorf("row %d: %w", b.First+i+1, err)
		}
	}
	o.weighed = o.weighed || weighed(b)
	if cap(o.y) < n*k {
		o.y, o.weights = make([]float64, n*k), make([]float64, n)
	}
	y = o.y[:n*k]
	switch {
	case o.labels != nil:
		for i := range n {
			if err := o.labels.Targets(b, i, y[i*k:(i+1)*k]); err != nil {
				return nil, nil, fmt.Errorf("row %d: %w", b.First+i+1, err)
			}
		}
	case o.classes == nil:
		if b.Outputs != k {
			return nil, nil, fmt.Errorf("rows have %d labels, but the model predicts %d numbers", b.Outputs, k)
		}
		for i, v := range b.Y {
			if v-v != 0 {
				return nil, nil, fmt.Errorf("row %d: the label is not a finite number, but the model predicts numbers", b.First+i/k+1)
			}
		}
		copy(y, b.Y)
		subtract(y, o.parts.Info.Offset)
	default:
		if b.Outputs != 1 {
			return nil, nil, fmt.Errorf("rows have %d labels, but the model predicts one class", b.Outputs)
		}
		for i := range n {
			c := o.classes.Of(b, i)
			if c < 0 {
				return nil, nil, fmt.Errorf("row %d: the label %q is none of the classes that the model was begun with (%s), "+
					"and an online learner takes no new ones; begin with rows of all classes",
					b.First+i+1, labelText(b, i), fewLabels(o.classes.Labels()))
			}
			learn.Target(y[i*k:(i+1)*k], c)
			if (b.Weights == nil || b.Weights[i] > 0) && (o.classWeights == nil || o.classWeights[c] > 0) && !o.taught[c] {
				o.taught[c] = true
			}
		}
	}
	if b.Weights == nil && o.classWeights == nil {
		return y, nil, nil
	}
	weights = o.weights[:n]
	for i := range n {
		weights[i] = 1
		if b.Weights != nil {
			weights[i] = b.Weights[i]
		}
		if o.classWeights != nil {
			weights[i] *= o.classWeights[o.classes.Of(b, i)]
		}
	}
	return y, weights, nil
}

// labelText is the label of row i as written in the file.
func labelText(b *matrix.Batch, i int) string {
	if b.Names != nil && b.Names[i] != "" {
		return b.Names[i]
	}
	return fmt.Sprintf("%g", b.Y[i])
}

// fewLabels lists some labels for a message.
func fewLabels(labels []string) string {
	if len(labels) > 10 {
		return strings.Join(labels[:10], ", ") + ", …"
	}
	return strings.Join(labels, ", ")
}

// begin chooses the rate on the first rows and learns them.
func (o *Online) begin(first *firstRows) error {
	z := first.x.rows()
	n := min(z.Len(), first.want)
	var w []float64
	if first.weights != nil {
		w = first.weights[:n]
	}
	if err := o.fit.Begin(z.Slice(0, n), first.y[:n*o.parts.Info.Outputs], w); err != nil {
		return err
	}
	o.learn(z, first.y, first.weights, true)
	*first = firstRows{}
	return nil
}

// learn learns rows; validate says that none of them has been seen before.
func (o *Online) learn(z matrix.Rows, y, weights []float64, validate bool) {
	k := o.parts.Info.Outputs
	if validate {
		o.seen += z.Len()
	}
	for i := 0; i < z.Len(); {
		// Up to the next row to report at.
		j := z.Len()
		if validate {
			j = min(j, i+max(1, int(o.next()-o.fit.Rows)))
		}
		var w []float64
		if weights != nil {
			w = weights[i:j]
		}
		o.fit.Learn(z.Slice(i, j), y[i*k:j*k], w)
		if validate && o.fit.Rows == o.next() {
			o.note(false)
		}
		i = j
	}
}

// next is the number of rows at which to report next: a power of two.
func (o *Online) next() int64 {
	next := int64(1)
	for _, p := range o.report.Progressive {
		if p.Rows >= next {
			next = 2 * p.Rows
		}
	}
	for next&(next-1) != 0 { // beyond the end of an earlier training
		next &= next - 1
	}
	return next
}

// note records progressive validation. The last note of a training is replaced by what follows when the
// training is continued.
func (o *Online) note(last bool) {
	p := o.fit.Progress()
	list := &o.report.Progressive
	if n := len(*list); n > 0 {
		if r := (*list)[n-1].Rows; r == p.Rows || r&(r-1) != 0 {
			*list = (*list)[:n-1]
		}
	}
	*list = append(*list, p)
	if o.validated != nil && !last {
		o.validated(p)
	}
}
