package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/learn"
	"mercer/matrix"
)

// Options are what a training run may be told beside its Config: nothing here changes the
// model.
type Options struct {
	// Progress, if not nil, is told now and then what is going on ("read", "map", "solve"),
	// how many rows are done and which share of the stage, negative if unknown.
	Progress func(stage string, rows int, share float64)

	// Memory is how many bytes the training may hold; 0 means no bound. A training that
	// would need more fails before it starts to.
	Memory int64

	// Keep, if not nil, gets the statistics of a ridge regression before it is solved. They
	// are valid until it returns.
	Keep func(*Statistics) error

	// Surveyed, if not nil, is told how the rows are read that the model will predict, once
	// they were looked at and before the model is trained. Its error ends the training. It is
	// for rows, not for bags.
	Surveyed func(dataset.Schema) error

	// Unlabelled, if not nil, are more rows to find principal components with, and for nothing
	// else: it opens them, given how the rows of the training are read. Labels of theirs are not
	// looked at. It is for rows, not for bags.
	Unlabelled func(dataset.Schema) (dataset.Source, error)

	// Validated, if not nil, is told what progressive validation tells while an online learner
	// learns: after 1, 2, 4, … rows.
	Validated func(learn.OnlinePoint)
}

// Report says what a training took.
type Report struct {
	// Summary describes the data.
	Summary *dataset.Summary

	// Bags describes the bags that the rows were, nil where rows are no bags.
	Bags *dataset.BagSummary

	// Read, Map, Solve and Total are seconds: waiting for data and surveying them; pooling,
	// scaling and mapping rows; collecting statistics and solving; all.
	Read, Map, Solve, Total float64

	// Features says where the features of a learner were that goes through them many times:
	// in memory, in a temporary file, or made anew on every pass. "" if it does not.
	Features string

	// Collect is how many of the seconds of Solve went into statistics of the rows, of learners
	// that need no more of them.
	Collect float64

	// Choose is how many of the seconds of Solve went into choosing λ of a ridge regression,
	// once the statistics were there, or C.
	Choose float64
}

// Fit trains a model on the rows of src, which is read twice: once to see what the data
// are, once to train.
//
// Memory, beside the model: ridge 16 to 56·D² bytes by the way λ is chosen, however many rows
// there are; svm, svr and one-class (9·K + 28)·n + 8·D·K and the features, 4·n·D, where
// Options.Memory has room for these; else they are in a temporary file.
// Online takes 36·D·K for K outputs.
func Fit(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*Model, *Report, error) {
	if cfg.Bag != nil {
		return nil, nil, errRows
	}
	asked := cfg
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	f := &fit{ctx: ctx, src: src, cfg: cfg, opt: opt, report: &Report{}}
	start := time.Now()
	m, err := f.run(asked)
	if err != nil {
		return nil, nil, err
	}
	f.report.end(start)
	return m, f.report, nil
}

// end adds up the time since the start.
func (r *Report) end(start time.Time) {
	r.Total = time.Since(start).Seconds()
	r.Read = max(0, r.Total-r.Map-r.Solve)
}

var errRows = errors.New("the configuration is for bags, the data are rows; read them as bags (dataset.OpenBags, --group)")

// fit is the state of one training.
type fit struct {
	ctx     context.Context
	src     dataset.Source
	cfg     Config
	opt     Options
	report  *Report
	m       *Model
	classes *dataset.Classes   // nil: no classes
	labels  *dataset.LabelSets // nil: a row has one label, or numbers

	learner *learner

	// classWeights are factors of the weights of rows by class, nil if all are 1.
	classWeights []float64

	room *learn.Room // of the ridge's solution; nil: it is made when it is needed

	reduced    bool // the principal components of all features are found
	unlabelled int  // rows that they were found with beside those of the training

	bag        *bagFit      // nil: the rows were no bags
	findMember func() error // finds a number that the kernel of members does not take; nil: rows are no members
	kept       int64        // bytes of rows that were bags and are kept

	stats *Statistics // that rows are added to of which nothing is known; nil: they were surveyed
}

func (f *fit) progress(stage string, rows int, share float64) {
	if f.opt.Progress != nil {
		f.opt.Progress(stage, rows, share)
	}
}

// survey makes the first pass and starts the model.
func (f *fit) survey(asked Config) (*dataset.Summary, error) {
	stage := "read"
	if f.bag != nil {
		stage = "pool"
	}
	sum, err := dataset.Survey(f.ctx, f.src, dataset.SurveyOptions{
		Seed:     f.cfg.Seed,
		Sample:   feature.SampleRows(f.cfg.feature(1)),
		Rows:     f.cfg.SurveyRows,
		Progress: func(rows int, share float64) { f.progress(stage, rows, share) },
	})
	if err != nil {
		return nil, err
	}
	f.report.Summary = sum
	f.begin(sum, asked)
	return sum, nil
}

// begin begins the model.
func (f *fit) begin(sum *dataset.Summary, asked Config) {
	f.m = &Model{info: Info{Schema: *f.src.Schema(), Config: asked, Training: Training{Rows: sum.Rows, Why: map[string]string{}}}}
	f.m.info.Schema.Dim, f.m.mapping.in = sum.Dim, sum.Dim
	if f.bag != nil {
		f.m.bag, f.m.info.Bag = f.bag.mapping, f.bag.info
	}
}

func (f *fit) run(asked Config) (*Model, error) {
	sum, err := f.survey(asked)
	if err != nil {
		return nil, err
	}
	if err := f.chooseTask(sum); err != nil {
		return nil, err
	}
	if f.opt.Unlabelled != nil && (!f.cfg.reduces() || f.bag != nil) {
		return nil, errUnlabelled
	}
	if err := f.checkCalibration(sum); err != nil {
		return nil, err
	}
	if err := f.choosePipeline(sum); err != nil {
		return nil, err
	}
	if err := f.chooseLearner(sum); err != nil {
		return nil, err
	}
	if err := f.checkKeep(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	if err := f.checkMemory(sum); err != nil {
		return nil, err
	}
	if f.opt.Surveyed != nil && f.bag == nil {
		if err := f.opt.Surveyed(f.m.info.Schema); err != nil {
			return nil, err
		}
	}
	if f.m.golden.x, err = f.drawGolden(sum); err != nil {
		return nil, err
	}
	if err := f.reduction(); err != nil {
		return nil, err
	}
	if err := f.learner.train(f, sum); err != nil {
		return nil, err
	}
	if err := f.calibrate(sum); err != nil {
		return nil, err
	}
	if err := f.fold(); err != nil {
		return nil, err
	}
	if err := f.scoreGolden(f.m.golden.x); err != nil {
		return nil, err
	}
	return f.m, nil
}

// FitMapping fits the part of a model before the learner on the rows of src, which is read
// once; labels and the learner's settings play no part. why says what was chosen.
func FitMapping(ctx context.Context, src dataset.Source, cfg Config, opt Options) (p *Mapping, why map[string]string, err error) {
	if cfg.Bag != nil {
		return nil, nil, errRows
	}
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	f := &fit{ctx: ctx, src: src, cfg: cfg, opt: opt, report: &Report{}}
	return f.fitMapping()
}

func (f *fit) fitMapping() (p *Mapping, why map[string]string, err error) {
	sum, err := f.survey(f.cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := f.choosePipeline(sum); err != nil {
		return nil, nil, err
	}
	if err := f.reduction(); err != nil {
		return nil, nil, err
	}
	return &f.m.mapping, f.m.info.Training.Why, nil
}

// chooseTask tells classes from regression targets.
func (f *fit) chooseTask(sum *dataset.Summary) error {
	if f.cfg.Learner == oneClassLearner.name || f.cfg.Task == "outliers" {
		return f.chooseOutliers()
	}
	task, why, err := sum.Task(f.cfg.Task)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.m.info.Task = task
	f.m.info.Training.Why["task"] = why
	if l := learnerOf(f.cfg.Learner); l != nil && !slices.Contains(l.tasks, task) {
		var can []string
		for _, other := range learners() {
			if slices.Contains(other.tasks, task) {
				can = append(can, other.name)
			}
		}
		return fmt.Errorf("%s: the task is to %s (%s), which the learner %s cannot do; use --learner %s, or --task %s", f.src.Name(), task, why, l.name, strings.Join(can, " or "), map[string]string{
			"classify": "classify if they are classes", "regress": "regress if they are numbers to predict", "multilabel": "multilabel if a row may have several", "outliers": "outliers",
		}[l.tasks[0]])
	}
	if task == "multilabel" {
		return f.chooseLabels(sum)
	}
	if task == "regress" {
		if f.cfg.ClassWeight != "" {
			return fmt.Errorf("%s: class weights are for classes, but the labels are numbers to be predicted (%s)", f.src.Name(), why)
		}
		f.m.info.Outputs = sum.Outputs
		return nil
	}
	if f.classes, err = sum.Classes(); err != nil {
		if f.cfg.SurveyRows > 0 {
			err = fmt.Errorf("of the %d rows that are looked at first: %w", sum.Rows, err)
		}
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.m.info.Classes = f.classes.Labels()
	f.m.info.Outputs = learn.TargetColumns(len(f.m.info.Classes))
	f.classWeights, err = f.cfg.classWeights(f.classes, sum)
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	return nil
}

// choosePipeline fixes the scaling, the kernel and the map.
func (f *fit) choosePipeline(sum *dataset.Summary) error {
	kind := f.cfg.Scale
	if kind == "auto" {
		kind, f.m.info.Training.Why["scale"] = ChooseScale(f.cfg.domain(), sum)
	}
	var err error
	if f.m.mapping.scaler, err = dataset.NewScaler(kind, sum); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.m.info.Scale, f.m.info.Densify = kind, f.m.mapping.scaler.Densify
	if f.cfg.machine() {
		return f.chooseKernel(sum)
	}
	if f.cfg.Kernel == "linear" && f.cfg.Map == "" {
		return nil
	}
	return f.chooseMap(sum)
}

// choosing adds the time until the function that it returns is called to what choosing took.
func (f *fit) choosing() func() {
	start := time.Now()
	return func() { f.report.Choose += time.Since(start).Seconds() }
}

// ChooseScale picks the scaling for a kernel by what the data are, and says why.
func ChooseScale(k kernel.Kernel, sum *dataset.Summary) (kind, why string) {
	switch {
	case !math.IsInf(float64(k.Lowest()), -1):
		return dataset.ChooseHistogramScale(sum)
	case k.Name == "poly" && k.Degree != 1 || k.Name == "exp":
		return dataset.ChoosePolynomialScale(sum)
	}
	return dataset.ChooseScale(sum)
}

// checkDomain finds a number of the sample that the kernel does not take.
func (f *fit) checkDomain(x matrix.Rows) error {
	f.m.mapping.domain = f.cfg.domain()
	bad := f.m.mapping.outside(x)
	if bad == nil {
		return nil
	}
	// The sample does not know where its rows stand: a pass over all finds the first.
	find := f.findMember
	if find == nil {
		find = func() error { return f.each("read", func(*matrix.Batch, matrix.Rows) error { return nil }) }
	}
	if err := find(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %s: %s", f.src.Name(), f.m.info.Schema.DimName(bad.Dim), f.m.mapping.reason(bad))
}

// anotherScale says what to do about numbers that a kernel does not take.
func anotherScale(flag string) string {
	return "; use another kernel, or a " + flag + " that leaves no such numbers"
}

// chooseGamma scales the sample, checks that the kernel takes its numbers, and fixes γ.
func (f *fit) chooseGamma(sum *dataset.Summary) (x matrix.Rows, gamma float64, err error) {
	x = f.m.mapping.scaled(new(scratch), sum.Sample)
	if err := f.checkDomain(x); err != nil {
		return x, 0, err
	}
	gamma, why, err := f.gamma(f.cfg.Kernel, x)
	if err != nil {
		return x, 0, fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	if why != "" {
		f.m.info.Training.Why["gamma"] = why
	}
	return x, gamma, nil
}

// chooseKernel fixes the kernel of a machine, which takes no map.
func (f *fit) chooseKernel(sum *dataset.Summary) error {
	_, gamma, err := f.chooseGamma(sum)
	if err != nil {
		return err
	}
	k := f.cfg.exact(gamma)
	f.m.info.Kernel = &k
	return nil
}

// chooseMap fixes the map and makes it.
func (f *fit) chooseMap(sum *dataset.Summary) error {
	x, gamma, err := f.chooseGamma(sum)
	if err != nil {
		return err
	}
	cfg := f.cfg.feature(gamma)
	if f.cfg.Map == "" {
		cfg.Map = defaultMap(f.cfg.Kernel, sum.Dim)
		f.m.info.Training.Why["map"] = "for the kernel and the number of dimensions"
	}
	if cfg.Steps != nil {
		cfg.MaxBytes, cfg.Steps = f.opt.Memory, f.cfg.Steps
		if cfg, err = f.cfg.Settle(cfg, x, func(name string, x matrix.Rows) (float64, error) {
			g, _, err := f.gamma(name, x)
			return g, err
		}); err != nil {
			return fmt.Errorf("%s: %w", f.src.Name(), err)
		}
	}
	if cfg.Features == 0 && !cfg.Decides() {
		cfg.Features = defaultFeatures(sum.Rows)
		if most := feature.Usual(cfg.Map); most > 0 {
			cfg.Features = min(cfg.Features, most)
		}
		if f.cfg.Given != nil {
			cfg.Features = f.cfg.Given.Rows
		}
	}
	signed := math.IsInf(float64(cfg.Kernel.Lowest()), -1) // as what a sketch makes of rows is
	if f.cfg.Map == "" && cfg.Map == "sorf" && sum.Dim > wideRows && signed {
		cfg = shortened(cfg)
		f.m.info.Training.Why["map"] = fmt.Sprintf("rows of more than %d dimensions are shortened first", wideRows)
	}
	cfg.MaxBytes = f.opt.Memory
	if cfg.Given, err = f.given(); err != nil {
		return err
	}
	if f.m.mapping.fmap, err = feature.Fit(cfg, x); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	if chosen := f.m.mapping.Chosen(); chosen != "" {
		f.m.info.Training.Why["map"] = chosen
	}
	_, cfg.Features = f.m.mapping.fmap.Dims()
	f.m.info.Feature, f.m.mapping.made = &cfg, &cfg
	return nil
}

// given are the given landmarks, scaled like all rows. Its errors name what is wrong: the file of
// landmarks.
func (f *fit) given() (*matrix.Dense, error) {
	g := f.cfg.Given
	if g == nil {
		return nil, nil
	}
	from := f.cfg.GivenFile
	if from == "" {
		from = f.src.Name() + ": the given landmarks"
	}
	if g.Cols != f.m.mapping.in {
		return nil, fmt.Errorf("%s: %w", from, LandmarkWidth(g.Cols, f.m.mapping.in))
	}
	g = f.m.mapping.scaled(new(scratch), matrix.Rows{Dense: g}).Dense
	if bad := f.m.mapping.outside(matrix.Rows{Dense: g}); bad != nil {
		return nil, fmt.Errorf("%s: row %d, %s: %s", from, bad.Row+1, f.m.info.Schema.DimName(bad.Dim), f.m.mapping.reason(bad))
	}
	return g, nil
}

// LandmarkWidth is the error that given landmarks have another number of dimensions than the rows.
func LandmarkWidth(have, rows int) error {
	advice := ""
	if have > rows {
		advice = "; landmarks have no labels, so leave out the columns of the data that are no inputs"
	}
	return fmt.Errorf("the landmarks have %d dimensions, but the rows of the data have %d%s", have, rows, advice)
}

// Rows of more than wideRows dimensions are by default shortened to shortRows before a map
// whose time grows with the dimensions. That moves ‖x-y‖² by a share of √(2/shortRows), 1.6 %,
// no more than a few thousand features do.
const wideRows, shortRows = 1 << 14, 1 << 13

// shortened is the map of cfg behind a count sketch.
func shortened(cfg feature.Config) feature.Config {
	sketch := feature.Config{Map: "countsketch", Kernel: kernel.Kernel{Name: "linear"}, Features: shortRows, Options: feature.Options{Hash: "balanced"}}
	cfg, seed := cfg, cfg.Seed
	cfg.Seed = 0
	return feature.Config{Map: "chain", Seed: seed, Steps: []feature.Config{sketch, cfg}}
}

// chooseLearner decides what "auto" stands for: the svm or ridge, whichever has the options
// that are given.
func (f *fit) chooseLearner(sum *dataset.Summary) error {
	if f.cfg.Learner == "auto" {
		f.cfg.Learner = f.auto(sum)
	}
	// Now the task is known, which some options do not go with.
	c := f.cfg
	c.Task = f.m.info.Task
	if err := c.checkLearner(); err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	c.Task, f.cfg = f.cfg.Task, c
	f.learner = learnerOf(f.cfg.Learner)
	f.m.info.Training.Learner = f.learner.name
	if f.cfg.Loss == "" && f.learner.losses != nil && !f.learner.byTask {
		f.cfg.Loss = f.learner.losses[0]
	}
	return nil
}

func (f *fit) auto(sum *dataset.Summary) string {
	rows, _ := f.rowsMemory(sum)
	statistics, _ := f.ridgeMemory(sum)
	why := f.m.info.Training.Why
	switch {
	case f.classes == nil && f.labels == nil:
		why["learner"] = "for numbers to predict"
		return "ridge"
	case svmLearner.lacks(&f.cfg) != "" && ridgeLearner.lacks(&f.cfg) == "":
		why["learner"] = "for the option " + svmLearner.lacks(&f.cfg)
		return "ridge"
	case ridgeLearner.lacks(&f.cfg) != "":
		why["learner"] = "for the option " + ridgeLearner.lacks(&f.cfg)
		return "svm"
	case rows > svmBytes && rows > statistics:
		why["learner"] = fmt.Sprintf("an svm would hold %.1f GB of features", rows/1e9)
		return "ridge"
	}
	why["learner"] = "for classes whose features fit into memory"
	return "svm"
}

// gamma is a kernel's γ, and in words where it comes from, for a sample x of the rows that reach it.
func (f *fit) gamma(name string, x matrix.Rows) (gamma float64, why string, err error) {
	if !kernel.Has(name, "gamma") {
		return 0, "", nil
	}
	if f.cfg.Sigma > 0 {
		return 1 / (2 * f.cfg.Sigma * f.cfg.Sigma), fmt.Sprintf("σ = %g", f.cfg.Sigma), nil
	}
	of, factor, err := SplitGamma(f.cfg.Gamma)
	if err != nil {
		return 0, "", err
	}
	switch of {
	case "scale":
		why = "1/(d·variance of the scaled inputs)"
		gamma, err = kernel.ScaleGamma(x.Dim(), Variance(x), name)
	case "median":
		why = "from the median distance of random pairs of rows"
		if name == "poly" || name == "exp" {
			why = "from the median length of rows"
		}
		gamma, err = kernel.MedianGamma(x, f.cfg.Seed, name)
	default:
		return factor, "given", nil
	}
	if factor != 1 {
		why = fmt.Sprintf("%g times that %s", factor, strings.Replace(why, "1/(d", "of 1/(d", 1))
	}
	return factor * gamma, why, err
}

// Variance is the variance of all values of x, zeros of sparse rows included.
func Variance(x matrix.Rows) float64 {
	total := float64(x.Len()) * float64(x.Dim())
	sum, square := 0.0, 0.0
	for i := range x.Len() {
		var row []float32
		if x.CSR != nil {
			_, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for _, v := range row {
			sum += float64(v)
			square += float64(v) * float64(v)
		}
	}
	return square/total - sum/total*(sum/total)
}

// checkMemory refuses a training that would hold more than it may.
func (f *fit) checkMemory(sum *dataset.Summary) error {
	if f.opt.Memory <= 0 {
		return nil
	}
	need, formula := f.learner.memory(f, sum)
	need += f.pipelineMemory()
	if need <= float64(f.opt.Memory) {
		return nil
	}
	advice := f.fewer()
	switch {
	case f.bag != nil && f.m.info.Feature == nil:
		advice = "fewer --bag-features, compact pooling (--pooling tensorsketch) in place of full,"
	case f.cfg.Learner == "falkon":
		advice = "fewer --features, which are the landmarks, or a map (--learner ridge)"
	case f.learner.exact:
		advice = "--learner falkon, or a map (--learner ridge)"
	case f.m.info.Feature == nil && f.classes != nil && f.learner.statistics:
		advice = "--learner svm, or a map to fewer dimensions (--kernel rbf),"
	case f.m.info.Feature == nil:
		advice = "a map to fewer dimensions (--kernel rbf)"
	case !f.learner.statistics && f.cfg.Learner != onlineLearner.name && f.m.info.Task != "outliers":
		advice += ", or --learner ridge, whose memory does not grow with the rows,"
	}
	return fmt.Errorf("%s: %s with n = %d rows and D = %d features needs %s (%s), but --memory allows %s; use %s or more memory",
		f.src.Name(), f.cfg.Learner, sum.Rows, f.learnDim(), bytesText(need), formula, bytesText(float64(f.opt.Memory)), advice)
}

// bytesText is a number of bytes for a message.
func bytesText(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", n/1e9)
}

// fewer says how the map can be told to have fewer features.
func (f *fit) fewer() string {
	switch m := f.m.info.Feature; {
	case f.cfg.Steps != nil:
		return "fewer features in the steps of the map"
	case m == nil || m.Steps != nil || !m.Decides():
		return "fewer --features"
	case m.Features > f.m.mapping.in && slices.Contains(feature.OptionsOf(m.Map), "terms"):
		return "fewer --terms"
	}
	return "another --map, which can be told --features,"
}

// mapDim is the number of features that each gives.
func (f *fit) mapDim() int {
	if f.m.mapping.projection == nil && f.m.info.Feature != nil {
		return f.m.info.Feature.Features
	}
	_, d := f.m.mapping.Dims()
	return d
}

// pipelineMemory is how many bytes what is before the learner holds.
func (f *fit) pipelineMemory() float64 {
	bytes := f.reductionMemory()
	if f.m.info.Feature != nil {
		bytes += float64(f.m.mapping.fmap.Bytes())
	}
	if f.bag != nil {
		bytes += float64(f.bag.mapping.pooling.Bytes() + f.kept)
	}
	return bytes
}

// learnDim is the number of dimensions that the learner sees, or at most sees as long as
// principal components have yet to be found.
func (f *fit) learnDim() int {
	if f.m.mapping.projection == nil && f.cfg.Components > 0 {
		return min(f.cfg.Components, f.mapDim())
	}
	return f.mapDim()
}

// each passes over the data: body gets a batch and its features, at most chunk rows at a
// time.
func (f *fit) each(stage string, body func(b *matrix.Batch, z matrix.Rows) error) error {
	return f.eachOf(f.src, stage, body)
}

// eachOf is each for the rows of any source.
func (f *fit) eachOf(src dataset.Source, stage string, body func(b *matrix.Batch, z matrix.Rows) error) error {
	r, err := src.Open(f.ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var s scratch
	rows := 0
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := 0; i < b.X.Len(); i += chunk {
			part := b.Slice(i, min(i+chunk, b.X.Len()))
			if f.stats != nil {
				if err := f.checkRows(&part); err != nil {
					return err
				}
			}
			if part.X.Dim() > f.m.mapping.in {
				if err := f.tooWide(&part); err != nil {
					return err
				}
			}
			start := time.Now()
			z, bad := f.m.mapping.features(&s, part.X)
			if bad != nil {
				return Located(&RowError{bad.Row, bad.Dim, f.m.mapping.reason(bad) + anotherScale("--scale")}, src, part.First)
			}
			f.report.Map += time.Since(start).Seconds()
			if err := body(&part, z); err != nil {
				return err
			}
			rows += part.X.Len()
			f.progress(stage, rows, r.Progress())
			if err := f.ctx.Err(); err != nil {
				return err
			}
		}
	}
}

// tooWide finds a row that has more dimensions than those that were looked at first, and if
// there is none makes the batch as wide as these.
func (f *fit) tooWide(b *matrix.Batch) error {
	for i := range b.X.Len() {
		if idx, _ := b.X.CSR.Row(i); len(idx) > 0 && int(idx[len(idx)-1]) >= f.m.mapping.in {
			return fmt.Errorf("%s has %s, but the rows that were looked at first have %d dimensions; say with --dim how many there are, or look at more with --survey-rows",
				Place(f.src, b.First+i), f.src.Schema().DimName(int(idx[len(idx)-1])), f.m.mapping.in)
		}
	}
	narrow := *b.X.CSR
	narrow.Cols = f.m.mapping.in
	b.X = matrix.Rows{CSR: &narrow}
	return nil
}

// goldenRows is how many golden pairs a model keeps.
const goldenRows = 4

// drawGolden draws rows, or bags, that look like the data without being any of them.
func (f *fit) drawGolden(sum *dataset.Summary) (*matrix.Dense, error) {
	if f.bag == nil {
		return drawRows(random.New(f.cfg.Seed, "golden"), goldenRows, sum), nil
	}
	x := matrix.NewDense(goldenRows, f.m.Dim())
	if err := f.goldenBags(x); err != nil {
		return nil, fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	return x, nil
}

// scoreGolden records the model's scores of golden rows.
func (f *fit) scoreGolden(x *matrix.Dense) error {
	scores := matrix.NewDense(goldenRows, f.m.info.Outputs)
	if err := f.m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
		return err
	}
	for _, v := range scores.Data {
		if v-v != 0 {
			return fmt.Errorf("%s: the model came out with scores that are not finite; scale the inputs (--scale standard)", f.src.Name())
		}
	}
	f.m.golden.x, f.m.golden.scores = x, scores
	f.m.golden.takeProba(f.m)
	return nil
}

// drawRows draws rows that look like those of a summary without being any of them: normal with
// each column's mean and deviation.
func drawRows(s *random.Stream, n int, sum *dataset.Summary) *matrix.Dense {
	x := matrix.NewDense(n, sum.Dim)
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			c := &sum.Columns[j]
			row[j] = float32(min(max(c.Mean+math.Sqrt(c.Variance)*s.Normal(), c.Min), c.Max))
		}
	}
	return x
}
