package train

import (
	"cmp"
	"errors"
	"math"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

// metricRows is the default number of rows that a metric is learned from, including those that are
// held out, and metricCentres that of landmarks.
const (
	metricRows    = 10_000
	metricCentres = 1000
)

// Metric is a distance that is learned from the rows.
type Metric struct {
	// Form is "none" (or ""), or one of metric.Forms, which learn a distance of the scaled rows from
	// Rows of them (0: 10,000), with kernels on Landmarks of them (0: 1,000), in at most
	// Rounds rounds (0: 5). Rank bounds the axes of low-rank (0: a quarter of the dimensions, at
	// most 16). If Gamma is "" or "median" and Sigma is 0, held-out rows also choose the multiple of the
	// median. The kernel must be a function of distances. The learner rfm learns metrics of its own: for it,
	// Metric is the only form to take, "diagonal" or "full", "" meaning both.
	Form      string `json:"metric,omitempty"`
	Rounds    int    `json:"metric_rounds,omitempty"`
	Rank      int    `json:"metric_rank,omitempty"`
	Rows      int    `json:"metric_rows,omitempty"`
	Landmarks int    `json:"metric_landmarks,omitempty"`
}

// Help says what a setting of a metric is, by its name in JSON.
func (Metric) Help(setting string) string {
	return map[string]string{
		"metric": "distances that are learned from the gradients of a first model: none, " + strings.Join(metric.Forms, ", ") +
			" (default none); of rfm, which always learns them, the only form to take, diagonal or full",
		"metric_rounds":    "most rounds in which the metric is learned (default 5)",
		"metric_rank":      "most axes of a low-rank metric (default: a quarter of the dimensions, 16 at most)",
		"metric_rows":      "rows that the metric is learned from, drawn at random (default 10,000)",
		"metric_landmarks": "landmarks of the models that the metric is learned from (default 1,000)",
	}[setting]
}

// learned says whether a metric is to be learned.
func (c *Config) learned() bool { return c.Metric.Form != "" && !c.own() }

// freeGamma says whether the metric is to choose γ.
func (c *Config) freeGamma() bool { return c.Kernel.Gamma == "median" && c.Kernel.Sigma == 0 }

// learnMetric learns which distances of the scaled rows matter, from a sample of the rows; nil if plain ones are asked for.
func (f *problem) learnMetric() (*metric.Learned, error) {
	if !f.cfg.learned() {
		return nil, nil
	}
	defer timed(&f.report.Metric)()
	opt, err := f.metricOptions()
	if err != nil {
		return nil, f.located(err)
	}
	x, y, weights, err := f.metricSample()
	if err != nil {
		return nil, err
	}
	opt.Progress = func(round, rounds int) { f.progress("metric", 0, float64(round)/float64(rounds+1)) }
	learned, err := metric.Learn(f.ctx, x, y, f.outputs, weights, opt)
	if err != nil {
		return nil, f.located(err)
	}
	return learned, nil
}

// metricOptions are the options for learning the metric.
func (f *problem) metricOptions() (opt metric.Options, err error) {
	c := &f.cfg
	opt = metric.Options{
		Kernel: c.pipeline().Kernel, Form: c.Metric.Form, Rank: c.Metric.Rank, Rounds: c.Metric.Rounds, Rows: c.Metric.Rows, Landmarks: c.Metric.Landmarks,
		Classes: f.classes != nil, Seed: c.Seed,
	}
	if c.Map.Steps != nil || c.Bag != nil || f.task == "outliers" {
		return opt, errors.New("a metric is learned for the kernel of one map or machine; a chain or sum of maps, bags, and outliers have none")
	}
	if c.freeGamma() {
		return opt, nil
	}
	// γ is given: the metric keeps the median of the distances.
	of, factor, err := pipeline.SplitGamma(c.Kernel.Gamma)
	if of == "median" && c.Kernel.Sigma == 0 && err == nil {
		opt.Lengths = []float64{lengthOf(opt.Kernel.Kind(), factor)}
		return opt, err
	}
	return opt, errors.New("a metric changes what distances are: " +
		"give gamma as a multiple of the median distance, such as median*2, or leave it out")
}

// lengthOf is the width of a kernel whose γ is factor times that of the median distance.
func lengthOf(kind *kernel.Kind, factor float64) float64 {
	if kind == nil {
		return 1
	}
	power := -math.Log2(kind.GammaOfLength(2))
	return math.Pow(factor, -1/power)
}

// metricSample draws rows and their targets in one pass over the data, and scales them.
func (f *problem) metricSample() (x matrix.Rows, y, weights []float64, err error) {
	p, _, err := pipeline.SettleScaling(*f.cfg.pipeline(), f.rows())
	if err != nil {
		return x, nil, nil, err
	}
	if x, y, weights, err = f.drawSample(cmp.Or(f.cfg.Metric.Rows, metricRows)); err != nil {
		return x, nil, nil, err
	}
	return p.Pass().Scale(x), y, weights, nil
}

// drawSample draws rows and their targets in one pass over the data.
func (f *problem) drawSample(wanted int) (x matrix.Rows, y, weights []float64, err error) {
	// Each row is drawn with the probability that makes the total exactly the number wanted
	// (Knuth, The Art of Computer Programming, 3.4.2, algorithm S).
	draw := random.New(f.cfg.Seed, "train.metric")
	left, need := f.sum.Rows, min(wanted, f.sum.Rows)
	var rows kept
	var all gathered
	for b, err := range dataset.Each(f.ctx, f.src) {
		if err != nil {
			return x, nil, nil, err
		}
		for i := 0; i < b.X.Len() && need > 0; i++ {
			take := draw.Uniform()*float64(left) < float64(need)
			left--
			if !take {
				continue
			}
			need--
			one := b.Slice(i, i+1)
			rows.add(one.X, min(wanted, f.sum.Rows))
			if err := all.labels(f, &one); err != nil {
				return x, nil, nil, err
			}
		}
		if need == 0 {
			break
		}
	}
	x = rows.X
	if x.CSR != nil {
		x.CSR.Cols = f.sum.Dim
	}
	y = all.y
	if all.class != nil {
		y = targetsOf(all.class, f.outputs)
	}
	return x, y, all.weights, nil
}

// planMetric stands in for a metric when a training is planned: one with as many dimensions.
func (f *problem) planMetric() (*metric.Learned, error) {
	if !f.cfg.learned() {
		return nil, nil
	}
	opt, err := f.metricOptions()
	if err != nil {
		return nil, f.located(err)
	}
	learned := &metric.Learned{}
	if r := opt.Axes(f.sum.Dim); r < f.sum.Dim {
		learned.Metric = &metric.Metric{Axes: matrix.NewDense(f.sum.Dim, r)}
		for j := range r {
			learned.Metric.Axes.Row(j)[j] = 1
		}
	}
	return learned, nil
}

// noMetric rejects a metric when there is nothing to learn it from.
func (c *Config) noMetric() error {
	if c.learned() {
		return errors.New("a metric is learned from the answers, which a map without a learner does not look at; " +
			"train a model, whose metric holds for its features")
	}
	return nil
}
