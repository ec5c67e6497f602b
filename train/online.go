package train

import (
	"errors"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// SGD are the options of the learner online.
type SGD struct {
	// Lambda is the λ of learn.Online; 0 means 10⁻⁵. C gives λ = 1/(C·n) in its place, with the n rows of the survey.
	Lambda float64 `json:"lambda,omitempty" range:"positive"`
	C      float64 `json:"c,omitempty" range:"positive"`

	// Loss is one of learn.OnlineLosses; "" means the first for the task. Quantile in (0, 1), Epsilon, half the width of a tube, and
	// Huber are the parameters of the losses of these names; 0 means learn.Online's.
	Loss         string  `json:"loss,omitempty"`
	Quantile     float64 `json:"quantile,omitempty"`
	Epsilon      float64 `json:"epsilon,omitempty"`
	EpsilonGiven bool    `json:"epsilon_given,omitempty" search:"no"`
	Huber        float64 `json:"huber,omitempty"`

	// Optimizer is "sgd" (or "") or "adagrad". Rate is its η₀; 0 means that the
	// first thousand rows choose it. Epochs is the number of passes over the rows; 0
	// means one.
	Optimizer string  `json:"optimizer,omitempty"`
	Rate      float64 `json:"rate,omitempty"`
	Epochs    int     `json:"epochs,omitempty" range:"positive"`

	// AverageFrom is the row from which weights are averaged, all steps
	// equally; 0 means averages that forget, a negative number none.
	AverageFrom int `json:"average_from,omitempty"`

	// SurveyRows is the number of rows that are surveyed before it begins, to choose
	// the task, the classes, the scaling and the map; 0 means all.
	SurveyRows int `json:"survey_rows,omitempty" range:"positive" search:"no"`
}

func (SGD) learner() string { return "online" }

// surveyRows is the number of rows that are surveyed, 0 if all are.
func (c *Config) surveyRows() int { return As[SGD](c.Learner).SurveyRows }

// onlineLosses are its losses, of classes and of numbers.
var onlineLosses = slices.Compact(slices.Concat(learn.OnlineLosses(false), learn.OnlineLosses(true)))

// onlineLearner is averaged gradient descent or AdaGrad, one row at a time, on endless streams if need be;
// it can be continued.
var onlineLearner = Traits{
	name:    SGD{}.learner(),
	tasks:   []string{"classify", "regress", "multilabel"},
	options: SGD{},
	help: map[string]*option.Phrase{
		"optimizer": option.Phrasef("steps of online: sgd, with averaged weights, or adagrad (default sgd)"),
		"rate":      option.Phrasef("η₀, the rate of online (default: the best on the first 1,000 rows)"),
		"epochs":    option.Phrasef("passes of online over the data (default 1)"),
		"average_from": option.Phrasef("row from which sgd averages its weights evenly, -1: never " +
			"(default: averages that forget the first rows)"),
		"quantile": option.Phrasef("quantile to predict, with the loss quantile (default 0.5)"),
		"huber":    option.Phrasef("distance from which the loss huber is linear (default: the deviation of the targets)"),
		"survey_rows": option.Phrasef("how many rows are looked at before online begins (default: all); " +
			"standard input is then learned as it comes, and not kept"),
	},
	check: checked((*SGD).check),

	online: true,

	memory: (*job).onlineMemory,
	train:  (*job).online,
	fix: func(c *Config, r model.Report) {
		o, chosen := c.Learner.(SGD), r.(*learn.OnlineReport)
		o.Lambda, o.C, o.Rate = chosen.Lambda, 0, chosen.Rate
		c.Learner = o
	},
}

// onlineLambda is the default λ of the online learner.
const onlineLambda = 1e-5

// onlineSample is the largest number of rows that choose the rate.
const onlineSample = 1000

func (f *job) onlineMemory() (bytes float64, formula string) {
	d, k := float64(f.learnDim()), float64(f.outputs)
	return 36*d*k + 4*d*float64(min(onlineSample, f.sum.Rows)), "36·D·K + 4,000·D bytes"
}

// online reads the rows once, or Epochs times. The rate is chosen on the first of them.
func (f *job) online() (*solution, error) {
	c := f.cfg.Learner.(SGD)
	cfg := learn.Online{
		Numbers: f.task == "regress", Labels: f.labels != nil, Optimizer: c.Optimizer, Loss: c.Loss, Lambda: c.Lambda, Rate: c.Rate,
		AverageFrom: int64(c.AverageFrom), Quantile: c.Quantile, Epsilon: c.Epsilon, Huber: c.Huber,
	}
	switch {
	case c.Lambda > 0 && c.C > 0:
		return nil, errors.New("lambda and c both say how much the weights' size counts, λ = 1/(C·n); give one of them")
	case c.C > 0:
		cfg.Lambda = 1 / (c.C * float64(f.sum.Rows))
	case c.Lambda == 0:
		cfg.Lambda = onlineLambda
	}
	fit, err := learn.NewOnline(cfg, f.learnDim(), f.outputs)
	if err != nil {
		return nil, f.located(err)
	}
	o := &Online{
		parts: model.Parts{Info: f.answers.info()}, classes: f.classes, labels: f.labels, classWeights: f.classWeights,
		taught: map[int]bool{}, fit: fit, validated: f.opt.Validated,
	}
	o.report.Epochs = max(1, c.Epochs)
	first := firstRows{want: min(onlineSample, f.sum.Rows)}
	for epoch := range o.report.Epochs {
		if epoch == o.report.Epochs-1 {
			if s, ok := f.src.(interface{ LastPass() }); ok {
				s.LastPass()
			}
		}
		err := f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
			defer timed(&f.report.Solve)()
			y, weights, err := o.targets(b)
			if err != nil {
				return f.located(err)
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
				return f.located(err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if first.want > 0 { // the data have become shorter
			if err := o.begin(&first); err != nil {
				return nil, f.located(err)
			}
		}
		if !o.weighed {
			return nil, f.located(errWeightless)
		}
		if len(o.taught) == 1 {
			return nil, f.located(errOneClass)
		}
		if epoch == 0 {
			o.note(true)
		}
	}
	defer timed(&f.report.Solve)()
	report := o.told()
	p, err := o.predictor(report)
	return &solution{predictor: p, report: report, rows: o.seen}, err
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

// check checks the options.
func (o *SGD) check(*Config) error {
	o.Optimizer = strings.ToLower(o.Optimizer)
	loss := choice{"loss", &o.Loss, onlineLosses}
	if err := loss.known(o.learner()); err != nil {
		return err
	}
	for _, p := range []struct {
		loss  string
		given bool
	}{{"quantile", o.Quantile != 0}, {"epsilon", o.Epsilon != 0 || o.EpsilonGiven}, {"huber", o.Huber != 0}} {
		if p.given && o.Loss == "" {
			o.Loss = p.loss
		}
	}
	// Only the data tell what kind the targets are; a loss that is right for one of the two will do.
	cfg := learn.Online{Optimizer: o.Optimizer, Loss: o.Loss, Lambda: o.Lambda, Rate: o.Rate, AverageFrom: int64(o.AverageFrom),
		Quantile: o.Quantile, Epsilon: o.Epsilon, Huber: o.Huber}
	_, err := cfg.WithDefaults()
	if err != nil {
		cfg.Numbers = true
		if _, other := cfg.WithDefaults(); other == nil {
			return nil
		} else if slices.Contains(learn.OnlineLosses(true), cfg.Loss) {
			return other
		}
	}
	return err
}
