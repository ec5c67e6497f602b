package train

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"mercer/dataset"
	"mercer/learn"
	"mercer/matrix"
	"mercer/model"
)

// onlineLearner is averaged gradient descent or AdaGrad, one row at a time, on endless streams if need be;
// it can be continued.
var onlineLearner = Learner{
	name:    "online",
	tasks:   []string{"classify", "regress", "multilabel"},
	options: []string{"lambda", "c", "loss", "optimizer", "rate", "epochs", "average-from", "quantile", "epsilon", "huber", "survey-rows"},
	losses:  []string{"logistic", "hinge", "squared_hinge", "squared", "epsilon", "quantile", "huber"},
	byTask:  true,

	features: true,

	memory: (*fit).onlineMemory,
	train:  (*fit).online,
	fix: func(c *Config, r model.Report) {
		o := r.(*learn.OnlineReport)
		c.Lambda, c.C, c.Rate = o.Lambda, 0, o.Rate
	},
}

// onlineLambda is the default λ of the online learner.
const onlineLambda = 1e-5

// onlineSample is the largest number of rows that choose the rate.
const onlineSample = 1000

func (f *fit) onlineMemory(sum *dataset.Summary) (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.info.Outputs)
	return 36*d*k + 4*d*float64(min(onlineSample, sum.Rows)), "36·D·K + 4,000·D bytes"
}

// online reads the rows once, or Epochs times. The rate is chosen on the first of them.
func (f *fit) online(sum *dataset.Summary) error {
	c := &f.cfg
	cfg := learn.Online{
		Numbers: f.info.Task == "regress", Labels: f.labels != nil, Optimizer: c.Optimizer, Loss: c.Loss, Lambda: c.Lambda, Rate: c.Rate,
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
	fit, err := learn.NewOnline(cfg, f.learnDim(), f.info.Outputs)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	o := &Online{
		parts: model.Parts{Info: f.info}, classes: f.classes, labels: f.labels, classWeights: f.classWeights,
		taught: map[int]bool{}, fit: fit, validated: f.opt.Validated,
	}
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
		if !o.weighed {
			return f.located(errWeightless)
		}
		if len(o.taught) == 1 {
			return f.located(errOneClass)
		}
		if epoch == 0 {
			o.note(true)
		}
	}
	defer f.solving()()
	report := o.told()
	f.learned, err = o.predictor(report)
	f.info.Training.Report, f.info.Training.Rows = report, o.seen
	return err
}

// firstRows holds the rows that come before the rate is known.
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

// checkOnline checks the options of the online learner.
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
	// Only the data tell what kind the targets are; a loss that is right for one of the two will do.
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
		return nil // checkLearner has a better message
	}
	return err
}
