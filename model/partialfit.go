package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/learn"
	"mercer/matrix"
)

// Online is a model of the online learner that goes on learning. It is not safe for concurrent
// use; the models that it gives are, and do not change.
type Online struct {
	m            *Model
	classes      *dataset.Classes
	labels       *dataset.LabelSets
	classWeights []float64
	fit          *learn.OnlineFit
	report       learn.OnlineReport
	validated    func(learn.OnlinePoint)
	seen         int // rows, each counted once

	y, weights []float64
}

// Online returns a learner that goes on from the model, as if its training had not ended: the
// same rows in the same order give the same bits, whether there was a break between them or
// not. Scaling, map, rate and classes stay as they are. It fails for a model of another learner
// and for one that learned in several passes.
func (m *Model) Online() (*Online, error) {
	l, ok := m.learned.(onlineModel)
	if !ok {
		return nil, fmt.Errorf("a model of the learner %s cannot be continued; train with --learner online", m.info.Training.Learner)
	}
	if m.calibration != nil {
		return nil, errors.New("a calibrated model cannot be continued: its probabilities would no longer fit; train it without --calibrate, and calibrate the last model")
	}
	s := l.state
	s.Losses, s.Factors = slices.Clone(s.Losses), slices.Clone(s.Factors)
	s.First, s.First32, s.Second = slices.Clone(s.First), slices.Clone(s.First32), slices.Clone(s.Second)
	o := &Online{m: m, classWeights: l.classWeights, report: *m.info.Training.Online, seen: m.info.Training.Rows}
	if o.report.Epochs > 1 {
		return nil, fmt.Errorf("the model was trained in %d passes, after which there is no next row; train with --epochs 1", o.report.Epochs)
	}
	o.report.Progressive = slices.Clone(o.report.Progressive)
	var err error
	if o.fit, err = learn.ContinueOnline(o.report.Online, l.W.Rows, l.W.Cols, s); err != nil {
		return nil, err
	}
	if m.info.Classes != nil {
		o.classes = dataset.NewClasses(m.info.Classes)
	}
	o.labels = m.LabelSets()
	return o, nil
}

// Validated asks for what progressive validation tells, at 1, 2, 4, … rows.
func (o *Online) Validated(told func(learn.OnlinePoint)) { o.validated = told }

// PartialFit predicts the labelled rows of a batch, one after the other, and learns from each
// before the next. It fails on a label that is none of the model's classes and where
// Model.Scores fails; the learner may then have learned rows before that, and is to be dropped.
func (o *Online) PartialFit(b *matrix.Batch) error {
	y, weights, err := o.targets(b)
	if err != nil {
		return err
	}
	return o.m.mapping.Each(b.X, func(i, j int, z matrix.Rows) error {
		var w []float64
		if weights != nil {
			w = weights[i:j]
		}
		k := o.m.info.Outputs
		o.learn(z, y[i*k:j*k], w, true)
		return nil
	})
}

// PartialFitSource is PartialFit for all rows of a source, which is read once.
func (o *Online) PartialFitSource(ctx context.Context, src dataset.Source, progress func(rows int, share float64)) error {
	r, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	rows := 0
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := o.PartialFit(b); err != nil {
			return Located(err, src, b.First)
		}
		rows += b.X.Len()
		if progress != nil {
			progress(rows, r.Progress())
		}
	}
}

// PartialFit returns a model that has also learned the rows of a batch; see [Online], which
// copies no weights between batches.
func (m *Model) PartialFit(b *matrix.Batch) (*Model, error) {
	o, err := m.Online()
	if err != nil {
		return nil, err
	}
	if err := o.PartialFit(b); err != nil {
		return nil, err
	}
	return o.Model()
}

// Model is the model as far as it has learned.
func (o *Online) Model() (*Model, error) {
	m := &Model{info: o.m.info, bag: o.m.bag}
	m.mapping.in, m.mapping.scaler, m.mapping.fmap, m.mapping.made, m.mapping.domain = o.m.mapping.in, o.m.mapping.scaler, o.m.mapping.fmap, o.m.mapping.made, o.m.mapping.domain
	o.note(true)
	if err := o.finish(m); err != nil {
		return nil, err
	}
	m.golden = golden{x: o.m.golden.x, scores: matrix.NewDense(goldenRows, m.info.Outputs), members: o.m.golden.members}
	if err := m.Scores(m.golden.scores, matrix.Rows{Dense: m.golden.x}); err != nil {
		return nil, err
	}
	m.golden.takeProba(m)
	return m, nil
}

// finish puts what has been learned into a model.
func (o *Online) finish(m *Model) error {
	linear, err := o.fit.Linear()
	if err != nil {
		return err
	}
	s := o.fit.OnlineState
	s.Losses, s.Factors = slices.Clone(s.Losses), slices.Clone(s.Factors)
	s.First, s.First32, s.Second = slices.Clone(s.First), slices.Clone(s.First32), slices.Clone(s.Second)
	report := o.report
	report.Online = o.fit.Config()
	report.Progressive = slices.Clone(report.Progressive)
	m.learned = onlineModel{linearModel{linear}, report.Loss, o.labels != nil, s, o.classWeights}
	m.info.Training.Online = &report
	m.info.Training.Rows = o.seen
	return nil
}

// targets are those of the rows of a batch, and their weights.
func (o *Online) targets(b *matrix.Batch) (y, weights []float64, err error) {
	k, n := o.m.info.Outputs, b.X.Len()
	if b.Outputs == 0 {
		return nil, nil, errors.New("the rows have no labels to learn from; name them with --label or --labels")
	}
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
	default:
		if b.Outputs != 1 {
			return nil, nil, fmt.Errorf("rows have %d labels, but the model predicts one class", b.Outputs)
		}
		for i := range n {
			c := o.classes.Of(b, i)
			if c < 0 {
				return nil, nil, fmt.Errorf("row %d: the label %q is none of the classes that the model was begun with (%s), and an online learner takes no new ones; begin with rows of all classes",
					b.First+i+1, labelText(b, i), fewLabels(o.classes.Labels()))
			}
			learn.Target(y[i*k:(i+1)*k], c)
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

// labelText is the label of row i as it stands in the file.
func labelText(b *matrix.Batch, i int) string {
	if b.Names != nil && b.Names[i] != "" {
		return b.Names[i]
	}
	return fmt.Sprintf("%g", b.Y[i])
}

// fewLabels lists labels for a message.
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
	if err := o.fit.Begin(z.Slice(0, n), first.y[:n*o.m.info.Outputs], w); err != nil {
		return err
	}
	o.learn(z, first.y, first.weights, true)
	*first = firstRows{}
	return nil
}

// learn learns rows; validate says that none of them was seen before.
func (o *Online) learn(z matrix.Rows, y, weights []float64, validate bool) {
	k := o.m.info.Outputs
	if validate {
		o.seen += z.Len()
	}
	for i := 0; i < z.Len(); {
		// Up to the next row that is told of.
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

// next is the number of rows that is to be told of next: a power of two.
func (o *Online) next() int64 {
	next := int64(1)
	for _, p := range o.report.Progressive {
		if p.Rows >= next {
			next = 2 * p.Rows
		}
	}
	for next&(next-1) != 0 { // behind the end of an earlier training
		next &= next - 1
	}
	return next
}

// note writes down what progressive validation tells. The last note, at the end of a training,
// gives way to what follows when it is continued.
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
