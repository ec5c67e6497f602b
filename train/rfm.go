package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/rfm"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// RFM are the options of recursive feature machines. Map.Features bounds the landmarks of each machine.
type RFM struct {
	// Lambda is λ for as many rows as there are; 0 means that held-out rows of each leaf choose.
	Lambda float64 `json:"lambda,omitempty" range:"positive"`

	// Leaf bounds the rows of a leaf, and Members the machines that are averaged in it; 0
	// means rfm.Options's.
	Leaf    int `json:"leaf,omitempty"`
	Members int `json:"members,omitempty"`

	// Smooth leaves out boosted trees beside the machines.
	Smooth bool `json:"smooth,omitempty"`

	// TargetMeans says which columns have the mean targets of their values: "none", "categories", "all"
	// for whole numbers that repeat as well, or "auto" (or "") for what held-out rows ask for. Means of the
	// training's own rows come from other rows.
	TargetMeans string `json:"target_means,omitempty" usual:"auto"`
}

func (RFM) learner() string { return "rfm" }

// rfmLearner is recursive feature machines: kernel machines on landmarks with learned metrics, averaged, in the leaves
// of a tree. It chooses kernels, widths and metrics itself; rows are only scaled.
var rfmLearner = Traits{
	name:    RFM{}.learner(),
	tasks:   []string{"classify", "regress"},
	options: RFM{},
	help: map[string]*option.Phrase{
		"leaf":    option.Phrasef("most rows of a leaf of rfm (default: 2000)"),
		"members": option.Phrasef("most machines of rfm that are averaged in a leaf (default 2; 1 with more than 400,000 rows)"),
		"smooth":  option.Phrasef("no boosted trees beside the kernel machines of rfm"),
		"target_means": option.Phrasef("columns that rfm gives the mean targets of their values: none, categories, all (whole " +
			"numbers that repeat as well), auto (default auto: what held-out rows ask for)"),
	},
	uses:    []string{"features"},
	implied: []string{"leaf", "members", "smooth", "target_means"},
	exact:   true,
	own:     true,
	apart:   true,
	check:   checked((*RFM).check),
	memory:  (*job).rfmMemory,
	fewer:   option.Phrasef("fewer %s, which are the landmarks of a machine, or a map (%s)", option.Ref("features"), option.Set("learner", Ridge{}.learner())),
	train:   (*job).rfm,
	keeps:   func(r model.Report) int { return r.(*rfm.Report).Centres },
	fix:     func(*Config, model.Report) {},

	linearFrom: func(f *job) int { return rfm.LeafRows(f.rfmOptions()) },
}

// own says that the learner chooses kernels and metrics itself, so that the pipeline only scales.
func (c *Config) own() bool {
	return c.Traits().ChoosesKernels()
}

// Implied is c with the learner that its options ask for, where it names none.
func (c Config) Implied() Config {
	if !c.automatic() {
		return c
	}
	options := optionsOf(c.Learner)
	for _, l := range learners() {
		if slices.ContainsFunc(l.implied, func(name string) bool { return options[name] != nil }) {
			c.SetLearner(l.name)
		}
	}
	return c
}

// targetMeans says which columns have mean targets.
func (c *Config) targetMeans() string { return cmp.Or(As[RFM](c.Learner).TargetMeans, "auto") }

// check rejects settings of kernels that the learner chooses itself.
func (o *RFM) check(c *Config) error {
	o.TargetMeans = strings.ToLower(o.TargetMeans)
	switch {
	case c.Kernel.Gamma != "" && c.Kernel.Gamma != "median" || c.Kernel.Sigma != 0:
		return option.Errorf("the learner rfm chooses the width of its kernels; leave out %s and %s", option.Ref("gamma"), option.Ref("sigma"))
	case c.Metric.Form == "low-rank":
		return errors.New("the learner rfm has diagonal and full metrics; falkon takes one of low rank")
	case !slices.Contains([]string{"", "auto", "none", "categories", "all"}, o.TargetMeans):
		return fmt.Errorf("target_means %q is not known; known are auto, none, categories, all", o.TargetMeans)
	case o.Leaf < 0 || o.Leaf > 0 && o.Leaf < 100:
		return option.Errorf("%s %d is not a number of rows; it takes 100 or more", option.Ref("leaf"), o.Leaf)
	case o.Members < 0:
		return option.Errorf("%s %d is not a positive number", option.Ref("members"), o.Members)
	case len(c.kinds(1)) == 0:
		return fmt.Errorf("the learner rfm has no machines with the kernel %s and a metric that is %s; it takes rbf, laplacian, cauchy or matern, "+
			"of which laplacian and cauchy have no full metric", c.Kernel.Name, c.Metric.Form)
	}
	return nil
}

// kinds are the kinds of machines to choose from for rows of dim numbers; nil if none is left.
func (c *Config) kinds(dim int) (all []rfm.Kind) {
	from := rfm.Kinds(dim)
	if c.Kernel.Name != "" {
		from = nil
		k := kernel.Kernel{Name: c.Kernel.Name, Nu: c.Kernel.Nu}.WithDefaults()
		if kind := k.Kind(); kind == nil || kind.MedianOf() != "distance" || !math.IsInf(float64(k.Lowest()), -1) {
			return nil
		}
		from = append(from, rfm.Kind{Kernel: k, Form: "diagonal"})
		if k.Smooth() {
			from = append(from, rfm.Kind{Kernel: k, Form: "full"})
		}
	}
	for _, k := range from {
		if c.Metric.Form == "" || c.Metric.Form == k.Form {
			all = append(all, k)
		}
	}
	if all == nil && c.Kernel.Name == "" {
		for _, k := range rfm.Kinds(1) {
			if c.Metric.Form == k.Form {
				all = append(all, k)
			}
		}
	}
	return all
}

// scaleKernel is the kernel that the usual scaling is for.
var scaleKernel = kernel.RBF.Usual()

// learnScale chooses the scaling for a learner that chooses its own kernels, by held-out rows of a sample: that of
// the data, or quantiles. Where a column has long tails under the usual scaling, a few held-out rows far out decide the
// squared error, and other rows there are predicted by next to no landmarks; so it must be better by tailMargin.
func (f *problem) learnScale() (string, error) {
	if !f.cfg.scaleByRows() {
		return f.cfg.Scale, nil
	}
	defer timed(&f.report.Metric)()
	x, y, weights, err := f.drawSample(scaleRows)
	if err != nil {
		return "", err
	}
	return f.scaleBy(x, y, weights)
}

// scaleBy is learnScale by a sample.
func (f *problem) scaleBy(x matrix.Rows, y, weights []float64) (string, error) {
	usual, why := pipeline.ChooseScale(scaleKernel, f.sum)
	best, least, errors, margin := "", math.Inf(1), map[string]float64{}, 1.0
	rounds := 2
	if f.sum.Dim > wideRows {
		rounds = 1
	}
	for i, scale := range f.scalings() {
		cfg := f.cfg.pipeline()
		cfg.Scale = scale
		p, _, err := pipeline.SettleScaling(*cfg, f.rows())
		if err != nil {
			return "", err
		}
		scaled := p.Pass().Scale(x)
		if scale == usual && farthest(scaled) > longTail {
			margin = tailMargin
		}
		errors[scale] = math.Inf(1)
		kinds := f.scaleKinds()
		for j, k := range kinds {
			f.progress("scale", 0, (float64(i)+float64(j)/float64(len(kinds)))/float64(len(f.scalings())))
			learned, err := metric.Learn(f.ctx, scaled, y, f.outputs, weights, metric.Options{Kernel: k.Kernel, Form: k.Form,
				Classes: f.classes != nil, Rounds: rounds, Rows: scaleRows / 2, Landmarks: scaleCentres, Seed: f.cfg.Seed})
			if err != nil {
				return "", f.located(err)
			}
			errors[scale] = min(errors[scale], learned.Report.Rounds[learned.Report.Best].Error)
		}
		if e := errors[scale]; scale == usual {
			best, least = scale, margin*scaleGain*e
		} else if e < least {
			best = scale
		}
	}
	if best != usual {
		why = fmt.Sprintf("a squared error of %.3g on held-out rows, %.3g with %s", errors[best], errors[usual], usual)
		if margin > 1 {
			why += ", which has long tails"
		}
	}
	f.why["scale"] = why
	return best, nil
}

// scaleKinds are the kinds that choose the scaling; of wide rows one tells.
func (f *surveyed) scaleKinds() []rfm.Kind {
	kinds := slices.DeleteFunc(f.cfg.kinds(f.sum.Dim), func(k rfm.Kind) bool { return k.Form != "diagonal" && f.cfg.Metric.Form == "" })
	smooth := slices.IndexFunc(kinds, func(k rfm.Kind) bool { return k.Kernel.Smooth() })
	if f.sum.Dim > wideRows && smooth >= 0 {
		return kinds[smooth:][:1]
	}
	return kinds
}

// scaleRows is the number of rows that choose the scaling, by machines on scaleCentres landmarks. A column has long tails if values in them are farther from 0
// than longTail once it is scaled, 10 standard deviations for the scaling "standard". Another scaling than the usual one must make the error
// scaleGain times as large: less is chance where next to nothing is learned.
const (
	scaleRows    = 4000
	scaleCentres = 300
	longTail     = 10
	tailMargin   = 1.3
	scaleGain    = 0.995
)

// farthest is the largest absolute value of rows.
func farthest(x matrix.Rows) (most float64) {
	see := func(values []float32) {
		for _, v := range values {
			most = max(most, math.Abs(float64(v)))
		}
	}
	if x.CSR != nil {
		see(x.CSR.Val)
		return most
	}
	for i := range x.Len() {
		see(x.Dense.Row(i))
	}
	return most
}

// rfmMemory is the number of bytes that the training holds.
func (f *problem) rfmMemory() (bytes float64, formula string) {
	rest := f.rfmRest()
	if f.rfmInFile() {
		return rest, "8·n·(K + 8) bytes beside rows in a file, the landmarks of all machines, and the training of one of them"
	}
	return rest + f.denseBytes(), "4·n·d bytes, 8·n·(K + 8), the landmarks of all machines, and the training of one of them"
}

// rfmInFile says that the rows are kept in a temporary file, because memory has no room for them as well.
func (f *problem) rfmInFile() bool {
	return f.opt.Memory > 0 && f.rfmRest()+f.denseBytes() > float64(f.opt.Memory)
}

// rfmRest is the number of bytes that the training holds beside the rows.
func (f *problem) rfmRest() float64 {
	return 8*float64(f.sum.Rows)*float64(f.outputs) + float64(rfm.Bytes(f.sum.Rows, f.sum.Dim, f.outputs, f.rfmOptions()))
}

// denseBytes is the size of the rows.
func (f *problem) denseBytes() float64 { return 4 * float64(f.sum.Rows) * float64(f.sum.Dim) }

func (f *problem) rfmOptions() rfm.Options {
	o := As[RFM](f.cfg.Learner)
	opt := rfm.Options{
		Kinds: f.cfg.kinds(f.sum.Dim), Members: o.Members, Leaf: o.Leaf, Smooth: o.Smooth, Centres: f.cfg.Map.Features, Lambda: o.Lambda,
		Classes: f.classes != nil, Logistic: f.classes != nil && f.sum.Rows >= fewLogistic, Held: f.classes != nil || f.labels != nil, Seed: f.cfg.Seed,
	}
	if f.opt.Memory > 0 && opt.Leaf == 0 {
		opt.Leaf = rfm.LeafWithin(f.opt.Memory-8*int64(f.sum.Rows*f.outputs), f.sum.Rows, f.sum.Dim, f.outputs, opt)
	}
	return opt
}

// keepUnseen are the scores of rows by machines that had not seen them.
func (f *problem) keepUnseen(report *rfm.Report, all *gathered) unseen {
	scores := make([]float32, len(report.Scores))
	for i, s := range report.Scores {
		scores[i] = float32(s)
	}
	return f.unseenOf(all, report.Held, scores)
}

// rfm trains on all rows.
func (f *job) rfm() (*solution, error) {
	all, x, err := f.gatherDense()
	if err != nil {
		return nil, err
	}
	defer all.close()
	defer timed(&f.report.Solve)()
	f.progress("solve", 0, -1)
	opt := f.rfmOptions()
	if f.opt.Memory > 0 {
		held := 0.0
		if all.file == nil {
			held = f.denseBytes()
		}
		opt.Memory = f.machineMemory(held)
	}
	opt.Progress = func(share float64) { f.progress("solve", 0, share) }
	machine, report, err := rfm.Fit(f.ctx, x, f.allTargets(all), f.outputs, all.weights, opt)
	if err != nil {
		return nil, f.located(err)
	}
	if opt.Leaf > As[RFM](f.cfg.Learner).Leaf && opt.Leaf > rfm.LeafRows(rfm.Options{}) {
		f.why["leaf"] = "the fewest rows whose machines fit into " + units.Bytes(float64(f.opt.Memory))
	}
	return &solution{predictor: model.NewRecursive(machine, report), report: report, unseen: f.keepUnseen(report, all)}, nil
}

// gatherDense keeps the rows as they are needed: dense, in memory if there is room, and otherwise in a temporary file that is mapped
// into memory, of which the system holds as much as it can. The model is the same.
func (f *job) gatherDense() (*gathered, *matrix.Dense, error) {
	if !f.rfmInFile() {
		f.report.Features = inMemory
		all, err := f.gather()
		if err != nil {
			return nil, nil, err
		}
		x := all.x.Dense
		if all.x.CSR != nil {
			all.x.CSR.Cols = f.sum.Dim
			x = &matrix.Dense{}
			all.x.CSR.Densify(x)
		}
		return all, x, nil
	}
	f.report.Features = inFile
	all, unwritten, err := f.gatherFile(true)
	if err != nil {
		return nil, nil, err
	}
	if unwritten == nil {
		var x *matrix.Dense
		if x, unwritten = all.file.Dense(); unwritten == nil {
			return all, x, nil
		}
		all.close()
	}
	return nil, nil, option.Errorf("%s: %w; give more %s, or set TMPDIR to a directory with %s of room", f.src.Name(), unwritten,
		option.Ref("memory"), units.Bytes(f.denseBytes()))
}

// fewLogistic is the number of rows from which machines by the logistic loss are tried: the few held-out rows of fewer bound no logits, and what
// they prefer by luck is too sure of new rows.
const fewLogistic = 300
