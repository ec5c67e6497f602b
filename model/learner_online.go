package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/internal/safetensors"
	"mercer/learn"
	"mercer/matrix"
)

var onlineLearner = learner{
	name:    "online",
	about:   "averaged gradient descent or AdaGrad, a row at a time, without end if need be; can be continued",
	tasks:   []string{"classify", "regress", "multilabel"},
	options: []string{"lambda", "c", "loss", "optimizer", "rate", "epochs", "average-from", "quantile", "epsilon", "huber", "survey-rows"},
	losses:  []string{"logistic", "hinge", "squared_hinge", "squared", "epsilon", "quantile", "huber"},
	byTask:  true,

	features: true,

	memory: (*fit).onlineMemory,
	train:  (*fit).online,
}

// onlineLambda is λ of the online learner where none is given.
const onlineLambda = 1e-5

// onlineSample is how many rows choose the rate, at most.
const onlineSample = 1000

func (f *fit) onlineMemory(sum *dataset.Summary) (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.m.info.Outputs)
	return 36*d*k + 4*d*float64(min(onlineSample, sum.Rows)), "36·D·K + 4,000·D bytes"
}

// online reads the rows once, or Epochs times. The rate is chosen on the first of them.
func (f *fit) online(sum *dataset.Summary) error {
	c := &f.cfg
	cfg := learn.Online{
		Numbers: f.m.info.Task == "regress", Labels: f.labels != nil, Optimizer: c.Optimizer, Loss: c.Loss, Lambda: c.Lambda, Rate: c.Rate,
		AverageFrom: int64(c.AverageFrom), Quantile: c.Quantile, Epsilon: c.Epsilon, Huber: c.Huber,
	}
	switch {
	case c.Lambda > 0 && c.C > 0:
		return errors.New("lambda and c both say how much the weights' size counts, λ = 1/(C·n); give one of them")
	case c.C > 0:
		cfg.Lambda = 1 / (c.C * float64(sum.Rows))
	case c.Lambda == 0:
		cfg.Lambda = onlineLambda
	}
	fit, err := learn.NewOnline(cfg, f.learnDim(), f.m.info.Outputs)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	o := &Online{m: f.m, classes: f.classes, labels: f.labels, classWeights: f.classWeights, fit: fit, validated: f.opt.Validated}
	o.report.Epochs = max(1, c.Epochs)
	first := firstRows{want: min(onlineSample, sum.Rows)}
	for epoch := range o.report.Epochs {
		if epoch == o.report.Epochs-1 {
			if s, ok := f.src.(interface{ LastPass() }); ok {
				s.LastPass()
			}
		}
		err := f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
			start := time.Now()
			defer func() { f.report.Solve += time.Since(start).Seconds() }()
			y, weights, err := o.targets(b)
			if err != nil {
				return fmt.Errorf("%s: %w", f.src.Name(), err)
			}
			if first.want == 0 {
				o.learn(z, y, weights, epoch == 0)
				return nil
			}
			first.add(z, y, weights)
			if first.x.Len() < first.want {
				return nil
			}
			if err := o.begin(&first); err != nil {
				return fmt.Errorf("%s: %w", f.src.Name(), err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if first.want > 0 { // the data have become shorter
			if err := o.begin(&first); err != nil {
				return fmt.Errorf("%s: %w", f.src.Name(), err)
			}
		}
		if epoch == 0 {
			o.note(true)
		}
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	return o.finish(f.m)
}

// firstRows holds the rows that come before there is a rate.
type firstRows struct {
	want       int // rows to wait for; 0: they have come
	x          gatheredRows
	y, weights []float64
}

func (r *firstRows) add(z matrix.Rows, y, weights []float64) {
	n := r.x.Len()
	r.x.add(z)
	r.y = append(r.y, y...)
	if weights != nil && r.weights == nil {
		for range n {
			r.weights = append(r.weights, 1)
		}
	}
	if r.weights != nil && weights == nil {
		for range z.Len() {
			r.weights = append(r.weights, 1)
		}
	}
	r.weights = append(r.weights, weights...)
}

// gatheredRows are copies of rows, dense or sparse.
type gatheredRows struct {
	dense  matrix.Dense
	sparse matrix.CSR
	csr    bool
}

func (g *gatheredRows) Len() int {
	if g.csr {
		return g.sparse.Rows
	}
	return g.dense.Rows
}

func (g *gatheredRows) rows() matrix.Rows {
	if g.csr {
		return matrix.Rows{CSR: &g.sparse}
	}
	return matrix.Rows{Dense: &g.dense}
}

func (g *gatheredRows) add(z matrix.Rows) {
	if x := z.CSR; x != nil {
		g.csr = true
		g.sparse.Cols = x.Cols
		if g.sparse.Ptr == nil {
			g.sparse.Ptr = []int{0}
		}
		for i := range x.Rows {
			idx, val := x.Row(i)
			g.sparse.Idx, g.sparse.Val = append(g.sparse.Idx, idx...), append(g.sparse.Val, val...)
			g.sparse.Ptr = append(g.sparse.Ptr, len(g.sparse.Idx))
		}
		g.sparse.Rows += x.Rows
		return
	}
	g.dense.Cols, g.dense.Stride = z.Dense.Cols, z.Dense.Cols
	for i := range z.Dense.Rows {
		g.dense.Data = append(g.dense.Data, z.Dense.Row(i)...)
	}
	g.dense.Rows += z.Dense.Rows
}

// onlineModel is the predictor of the online learner, with what it needs to go on.
type onlineModel struct {
	linearModel
	loss         string
	labels       bool // a row may have any number of the outputs
	state        learn.OnlineState
	classWeights []float64
}

func (o onlineModel) tensors() map[string]*safetensors.Tensor {
	t := o.linearModel.tensors()
	d, k := o.W.Rows, o.W.Cols
	s := &o.state
	line := func(v []float64) *safetensors.Tensor { return &safetensors.Tensor{Shape: []int{len(v)}, F64: v} }
	t["online.counts"] = line([]float64{float64(s.Rows), s.Weight, s.Wrong})
	t["online.losses"], t["online.shift"], t["online.scale"], t["online.factors"] = line(s.Losses), line(s.Shift), line(s.Scale), line(s.Factors)
	t["online.first"] = &safetensors.Tensor{Shape: []int{k, d}, F32: s.First32, F64: s.First}
	t["online.second"] = &safetensors.Tensor{Shape: []int{k, d}, F64: s.Second}
	if o.classWeights != nil {
		t["online.class_weights"] = line(o.classWeights)
	}
	return t
}

// restoreOnline makes the predictor of a model of the online learner.
func (m *Model) restoreOnline(t stored, d int, linear linearModel) (predictor, error) {
	report, k := m.info.Training.Online, m.info.Outputs
	o := onlineModel{linearModel: linear, loss: report.Loss, labels: m.info.Labels != nil}
	adagrad := report.Optimizer == "adagrad"
	var counts, first, second []float64
	for _, want := range []struct {
		name  string
		to    *[]float64
		shape []int
	}{
		{"counts", &counts, []int{3}}, {"losses", &o.state.Losses, []int{k}}, {"shift", &o.state.Shift, []int{k}},
		{"scale", &o.state.Scale, []int{k}}, {"factors", &o.state.Factors, []int{learn.OnlineFactors * k}},
		{"first", &first, []int{k, d}}, {"second", &second, []int{k, d}},
	} {
		x, err := t.want("online."+want.name, want.name != "first" || adagrad, want.shape...)
		if err != nil {
			return nil, err
		}
		*want.to = x.F64
		if want.name == "first" {
			o.state.First32 = x.F32
		}
	}
	o.state.First, o.state.Second = first, second
	o.state.Rows, o.state.Weight, o.state.Wrong = int64(counts[0]), counts[1], counts[2]
	if t["online.class_weights"] != nil {
		x, err := t.want("online.class_weights", true, len(m.info.Classes))
		if err != nil {
			return nil, err
		}
		o.classWeights = x.F64
	}
	if _, err := learn.ContinueOnline(report.Online, d, k, o.state); err != nil {
		return nil, err
	}
	return o, nil
}

// checkOnline finds a wrong value among the options of the online learner.
func (c *Config) checkOnline() error {
	if c.Epochs < 0 {
		return fmt.Errorf("epochs %d is not a positive number", c.Epochs)
	}
	if c.SurveyRows < 0 {
		return fmt.Errorf("survey_rows %d is not a positive number", c.SurveyRows)
	}
	if c.Learner != "online" {
		return nil
	}
	// Whether targets are numbers only the data tell; a loss that is right for one of the two will do.
	o := learn.Online{Optimizer: c.Optimizer, Loss: c.Loss, Lambda: c.Lambda, Rate: c.Rate, AverageFrom: int64(c.AverageFrom),
		Quantile: c.Quantile, Epsilon: c.Epsilon, Huber: c.Huber}
	for _, p := range []struct {
		loss  string
		given bool
	}{{"quantile", c.Quantile != 0}, {"epsilon", c.Epsilon != 0 || c.EpsilonGiven}, {"huber", c.Huber != 0}} {
		if p.given && c.Loss == "" {
			c.Loss, o.Loss = p.loss, p.loss
		}
	}
	_, err := o.WithDefaults()
	if err != nil {
		o.Numbers = true
		if _, other := o.WithDefaults(); other == nil {
			return nil
		} else if slices.Contains(learn.OnlineLosses(true), o.Loss) {
			return other
		}
	}
	if o.Loss != "" && !slices.Contains(onlineLearner.losses, o.Loss) {
		return nil // checkLearner tells it better
	}
	return err
}
