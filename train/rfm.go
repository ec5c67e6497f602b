package train

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/internal/option"
	"mercer/internal/units"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/metric"
	"mercer/model"
	"mercer/pipeline"
	"mercer/rfm"
)

// rfmLearner is recursive feature machines: kernel machines on landmarks with learned metrics, averaged, in the leaves
// of a tree. It chooses kernels, widths and metrics itself; rows are only scaled.
var rfmLearner = Learner{
	name:    "rfm",
	tasks:   []string{"classify", "regress"},
	options: []string{"lambda", "features", "leaf", "members"},
	exact:   true,
	own:     true,
	check:   (*Config).checkRFM,
	memory:  (*fit).rfmMemory,
	fewer:   option.Phrasef("smaller leaves (%s), fewer %s, which are the landmarks of a leaf, or a map (%s)", option.Ref("leaf"), option.Ref("features"), option.Set("learner", "ridge")),
	train:   (*fit).rfm,
	keeps:   func(r model.Report) int { return r.(*rfm.Report).Centres },
	fix:     func(*Config, model.Report) {},
}

// own says that the learner chooses kernels and metrics itself, so that the pipeline only scales.
func (c *Config) own() bool {
	l := LearnerOf(c.Learner)
	return l != nil && l.own
}

// checkRFM rejects settings of kernels that the learner chooses itself.
func (c *Config) checkRFM() error {
	switch {
	case c.Gamma != "" && c.Gamma != "median" || c.Sigma != 0:
		return option.Errorf("the learner rfm chooses the width of its kernels; leave out %s and %s", option.Ref("gamma"), option.Ref("sigma"))
	case c.Metric == "low-rank":
		return errors.New("the learner rfm has diagonal and full metrics; falkon takes one of low rank")
	case c.Leaf < 0 || c.Leaf > 0 && c.Leaf < 100:
		return option.Errorf("%s %d is not a number of rows; it takes 100 or more", option.Ref("leaf"), c.Leaf)
	case c.Members < 0:
		return option.Errorf("%s %d is not a positive number", option.Ref("members"), c.Members)
	case len(c.kinds(1)) == 0:
		return fmt.Errorf("the learner rfm has no machines with the kernel %s and a metric that is %s; it takes rbf, laplacian, cauchy or matern, "+
			"of which laplacian and cauchy have no full metric", c.Kernel, c.Metric)
	}
	return nil
}

// kinds are the kinds of machines to choose from for rows of dim numbers; nil if none is left.
func (c *Config) kinds(dim int) (all []rfm.Kind) {
	from := rfm.Kinds(dim)
	if c.Kernel != "" {
		from = nil
		k := kernel.Kernel{Name: c.Kernel, Nu: c.Nu}.WithDefaults()
		if kind := k.Kind(); kind == nil || kind.MedianOf() != "distance" || !math.IsInf(float64(k.Lowest()), -1) {
			return nil
		}
		from = append(from, rfm.Kind{Kernel: k, Form: "diagonal"})
		if k.Smooth() {
			from = append(from, rfm.Kind{Kernel: k, Form: "full"})
		}
	}
	for _, k := range from {
		if c.Metric == "" || c.Metric == k.Form {
			all = append(all, k)
		}
	}
	if all == nil && c.Kernel == "" {
		for _, k := range rfm.Kinds(1) {
			if c.Metric == k.Form {
				all = append(all, k)
			}
		}
	}
	return all
}

// The default, if nothing is asked for that it does not have, is rfm for tables of numbers with enough rows to hold
// some out, and not so wide that distances of columns cost more than features of them.
const (
	fewestRows   = 1000
	widestRows   = 256
	mostOutputs  = 100
	densestShare = 0.5 // of elements that are not 0, below which rows are sparse
)

// open says whether the configuration leaves kernel, map and learner to the data.
func (c Config) open() bool {
	if c.Quick || c.Learner != "" && strings.ToLower(c.Learner) != "auto" || c.Bag != nil {
		return false
	}
	switch strings.ToLower(c.Task) {
	case "", "auto", "classify", "regress":
	default:
		return false
	}
	if c.Kernel == "" { // parameters of a kernel that is not named
		c.Degree, c.Coef0, c.Nu, c.Homogeneity = 0, 0, 0, 0
	}
	allowed := Config{Task: c.Task, Scale: c.Scale, Learner: c.Learner, Seed: c.Seed, ClassWeight: c.ClassWeight,
		Calibrate: c.Calibrate, CalibrateFolds: c.CalibrateFolds, Gamma: c.Gamma}
	return (c.Gamma == "" || c.Gamma == "median") && reflect.DeepEqual(c, allowed)
}

// Default returns c with the learner that is the default for such data, where c leaves kernel, map and learner
// to them and they are a table of numbers; ok is false otherwise.
func (d Data) Default(c Config) (with Config, ok bool) {
	switch {
	case !c.open(), d.Task != "classify" && d.Task != "regress":
		return c, false
	case d.Rows < fewestRows, d.Dim > widestRows, d.Classes > mostOutputs, d.Sparse && d.Density < densestShare && d.Dim > 100:
		return c, false
	}
	c.Learner, c.Kernel, c.Gamma = rfmLearner.name, "", ""
	c.Degree, c.Coef0, c.Nu, c.Homogeneity = 0, 0, 0, 0
	return c, true
}

// chooseDefault takes the learner rfm where nothing else was asked for and the rows suit it.
func (f *fit) chooseDefault() error {
	if f.bag != nil || f.stats != nil || f.opt.Unlabelled != nil || f.opt.Keep != nil {
		return nil
	}
	s := f.sum
	c, ok := Data{Task: f.info.Task, Rows: s.Rows, Classes: f.info.Outputs, Dim: s.Dim, Sparse: s.Sparse, Density: s.Density()}.Default(f.asked)
	if !ok {
		return nil
	}
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	old := f.cfg
	f.cfg = c
	if bytes, _ := f.rfmMemory(s); f.opt.Memory > 0 && bytes > float64(f.opt.Memory) {
		f.cfg = old
		f.lacking = fmt.Sprintf("; %s would hold %s, of %s allowed", rfmLearner.name, units.Bytes(bytes), units.Bytes(float64(f.opt.Memory)))
		return nil
	}
	f.info.Training.Why["learner"] = "for a table of numbers"
	return nil
}

// learnScale chooses the scaling for a learner that chooses its own kernels, by held-out rows of a sample: that of
// the data, or quantiles.
func (f *fit) learnScale() error {
	if !f.cfg.own() || f.cfg.Scale != "auto" {
		return nil
	}
	start := time.Now()
	defer func() { f.report.Metric += time.Since(start).Seconds() }()
	x, y, weights, err := f.drawSample(scaleRows)
	if err != nil {
		return err
	}
	usual, why := pipeline.ChooseScale(kernel.RBF.Usual(), f.sum)
	best, least, errors := "", math.Inf(1), map[string]float64{}
	for _, scale := range []string{usual, "quantile"} {
		cfg := f.cfg.pipeline()
		cfg.Scale = scale
		p, _, err := pipeline.SettleScaling(*cfg, f.rows())
		if err != nil {
			return err
		}
		scaled := p.Pass().Scale(x)
		errors[scale] = math.Inf(1)
		for _, k := range f.cfg.kinds(f.sum.Dim) {
			if k.Form != "diagonal" && f.cfg.Metric == "" {
				continue
			}
			learned, err := metric.Learn(f.ctx, scaled, y, f.info.Outputs, weights, metric.Options{Kernel: k.Kernel, Form: k.Form,
				Classes: f.classes != nil, Rounds: 2, Rows: scaleRows, Landmarks: 500, Seed: f.cfg.Seed})
			if err != nil {
				return f.located(err)
			}
			errors[scale] = min(errors[scale], learned.Report.Rounds[learned.Report.Best].Error)
		}
		if errors[scale] < least {
			best, least = scale, errors[scale]
		}
	}
	f.cfg.Scale = best
	if best != usual {
		why = fmt.Sprintf("a squared error of %.3g on held-out rows, %.3g with %s", errors[best], errors[usual], usual)
	}
	f.info.Training.Why["scale"] = why
	return nil
}

// sampleRows is the number of rows of the survey's sample.
func (f *fit) sampleRows(p *pipeline.Config) int {
	n := p.SampleRows()
	if (f.cfg.own() || f.asked.open()) && f.cfg.Scale == "auto" {
		n = max(n, dataset.ScaleSample("quantile"))
	}
	return n
}

// scaleRows is the number of rows that choose the scaling.
const scaleRows = 4000

// rfmMemory is the number of bytes that the training holds.
func (f *fit) rfmMemory(sum *dataset.Summary) (bytes float64, formula string) {
	rows := 4 * float64(sum.Rows) * float64(sum.Dim)
	if sum.Sparse {
		rows *= 2
	}
	return rows + float64(rfm.Bytes(sum.Rows, sum.Dim, f.info.Outputs, f.rfmOptions(sum))),
		"4·n·d bytes, the landmarks of all machines, and the training of one of them"
}

func (f *fit) rfmOptions(sum *dataset.Summary) rfm.Options {
	return rfm.Options{
		Kinds: f.cfg.kinds(sum.Dim), Members: f.cfg.Members, Leaf: f.cfg.Leaf, Centres: f.cfg.Features, Lambda: f.cfg.Lambda,
		Classes: f.classes != nil, Seed: f.cfg.Seed,
	}
}

// rfm trains on all rows.
func (f *fit) rfm(sum *dataset.Summary) error {
	all, err := f.gather(sum)
	if err != nil {
		return err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	f.progress("solve", 0, -1)
	x := all.x.Dense
	if all.x.CSR != nil {
		all.x.CSR.Cols = sum.Dim
		x = &matrix.Dense{}
		all.x.CSR.Densify(x)
	}
	opt := f.rfmOptions(sum)
	if f.opt.Memory > 0 {
		rows := 4 * float64(sum.Rows) * float64(sum.Dim)
		opt.Memory = f.machineMemory(rows)
	}
	opt.Progress = func(share float64) { f.progress("solve", 0, share) }
	machine, report, err := rfm.Fit(f.ctx, x, f.allTargets(all), f.info.Outputs, all.weights, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.info.Training.Report = report
	f.learned = model.NewRecursive(machine, report)
	return nil
}
