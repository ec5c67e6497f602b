package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
	"mercer/internal/search"
	"mercer/kernel"
	"mercer/train"
)

// tuning is the state of the command tune.
type tuning struct {
	train training // what trains the model in the end
	opt   search.TuneOptions

	axes      map[string]*axisFlag
	space     string // file
	foldGroup string
	results   string
	keep      bool
	progress  string
}

const tuneHelp = `Judge configurations on DATA by cross-validation, show how they did, and train the one that is
picked on all rows.

Most flags of mercer train take several values here, separated by commas, or a range: log:0.01:100:5
are five numbers from 0.01 to 100 with equal ratios, lin:1:9:3 the numbers 1, 5 and 9. Every combination
of the values is tried (--search grid), or --trials of them drawn at random, from ranges as
numbers in between (--search random), or all race on growing samples of the rows, divided as the
folds are, and only the best quarter is cross-validated (--search halving). What says nothing to
a combination, such as --c to a ridge regression, is left out of it. γ may be given in parts of
that of the median distance (--gamma median*0.25,median*4), λ of the ridge in parts of the mean
variance of the features (--lambda trace*0.001). Without flags γ goes from a sixteenth to 16 times that of the median distance, and
the learner's λ or C along its path.

Configurations share what they can: rows are mapped once for each scaling and map; the statistics of a
ridge regression are collected once, a fold left out is a subtraction, and each λ costs one
factorisation a fold; support vector machines and logistic regressions go through the same
features, from one C to the next. The last lines say how much work that saved.

DATA may be bags, as for mercer train (a folder, --group, --pooling): they are pooled once, by the
one way that the flags of bags say, and the rows that they become are searched; folds are of bags.

Scaling, γ and the map are fitted once, on all rows, without their labels; --strict fits them
anew on the training rows of each fold.

Folds are stratified for classes. --folds and --fold-kind say otherwise: kfold, stratified, group
(--fold-group names the column by which rows belong together; it is then no input), holdout
(--fold-share of the rows, held out --repeats times), time (blocks in the order of the rows, each
judged by a training on all before it).

--pick one-se picks the simplest configuration within one standard error of the best: the fewest
features (a machine with the kernel itself has as many as rows, or landmarks), the lowest degree,
the strongest penalty.

A search of more than ten seconds says on standard error, before it judges, how many trainings it is,
about how long they take and how much memory (not with --progress never; with --json also under
"search", "forecast"). The seconds of a configuration are those of
its trainings over all folds, with an equal part of what it shares with others.

What is done is kept in a journal beside MODEL (MODEL.tune). Where the command was stopped or
killed, the same command goes on from there, with the same result; when the model is written
the journal is removed.`

func newTune() *cobra.Command {
	t := &tuning{}
	cmd := &cobra.Command{
		Use:   "tune [flags] DATA -o MODEL",
		Short: "Choose a configuration by cross-validation, then train a model",
		Long:  tuneHelp,
		Example: `  mercer tune adult.csv -o adult.mercer
  mercer tune a9a.gz -o adult.mercer --gamma median*log:0.1:10:5 --features 1024,4096 --learner ridge,svm --test a9a.t.gz
  mercer tune houses.csv --label price -o houses.mercer --kernel rbf,laplacian --lambda trace*log:1e-6:1:7 --pick one-se
  mercer tune covtype.data -o cover.mercer --kernel poly --map pk-rp --degree 1,2,3,4 --gamma 1 --features 500 --learner svm --c 1
  mercer tune visits.csv --fold-group patient -o visits.mercer --metric auc
  mercer tune sales.csv --fold-kind time --folds 8 -o sales.mercer --metric mae --results trials.csv
  mercer tune descriptors.npy --labels species.txt --pooling tensorsketch --learner svm,ridge -o birds.mercer
  mercer tune a9a.gz -o adult.mercer --search random --trials 40 --gamma median*log:0.01:100:9 --c log:0.01:100:9`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	tr := &t.train
	f.StringVarP(&tr.out, "output", "o", "", "file to write the model to")
	f.StringVar(&tr.test, "test", "", "data to test the model on")
	f.StringVar(&tr.testLabels, "test-labels", "", "file of labels for --test")
	holdoutFlags(cmd, tr)
	f.StringVar(&tr.cfg.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel")
	scaleFlag(cmd, &tr.cfg)
	modelFlags(cmd, &tr.cfg)
	settingFlags(cmd.Flags(), &tr.cfg.Reduce, train.Reduction.Help)
	learnerFlags(cmd, &tr.cfg)
	dataFlags(cmd, &tr.data)
	labelFlags(cmd, &tr.data)
	bagFlags(cmd, &tr.data, &tr.bag)
	for _, name := range []string{"path", "variance", "conformal", "survey-rows", "outliers", "lambda-by"} {
		_ = f.MarkHidden(name) // they say nothing to a search
	}
	t.axes = axisFlags(f)
	for name, usage := range map[string]string{
		"gamma": kernel.ParameterHelp("gamma") + ": numbers, median, scale, " +
			"or these times numbers (default median*0.0625, median*0.25, median, median*4, median*16)",
		"lambda": "λ of the ridge: numbers, trace*NUMBER for parts of the mean variance of the features, " +
			"or auto, which leaves the choice to the learner (default trace*log:1e-6:1:7); " +
			"of the lasso and its kin, kernel-ridge, falkon and online",
		"c": "C of svm, svr, logistic and kernel-svm, or auto (default 0.01, 0.1, 1, 10, 100); of online, λ = 1/(C·rows)",
	} {
		f.Lookup(name).Usage = usage
		f.Lookup(name).DefValue = ""
	}
	kinds, about := search.FoldKinds()
	for i := range kinds {
		kinds[i] += " (" + about[i] + ")"
	}
	f.IntVar(&t.opt.Folds.K, "folds", 5, "number of folds K")
	f.StringVar(&t.opt.Folds.Kind, "fold-kind", "auto", "how rows are divided: auto (stratified for classes, group with --fold-group, "+
		"else kfold), "+strings.Join(kinds, ", "))
	f.StringVar(&t.foldGroup, "fold-group", "", "column whose rows with the same value stay in one fold, by name or index; qid in LIBSVM text")
	f.Float64Var(&t.opt.Folds.Share, "fold-share", 0.2, "share of the rows that --fold-kind holdout holds out")
	f.IntVar(&t.opt.Folds.Repeats, "repeats", 1, "how often the rows are divided anew")
	f.StringVar(&t.opt.Metric, "metric", "", "metric to judge by, such as "+strings.Join(eval.MetricNames("")[:6], ", ")+
		", auc, log_loss, rmse, mae, r2 (default: accuracy for classes, rmse for numbers, micro_f1 for several labels a row)")
	f.StringVar(&t.opt.Pick, "pick", "best", "which configuration to train: best, or one-se, the simplest within one standard error of it")
	f.StringVar(&t.opt.Search, "search", "grid", "which configurations to try: grid, random, halving")
	f.IntVar(&t.opt.Trials, "trials", 0, "how many configurations --search random draws (default 20), or halving (default: all of the grid)")
	f.StringVar(&t.space, "space", "", "file of settings and their values in JSON, such as "+
		`{"gamma": "median*log:0.1:10:5", "features": [1024, 4096]}`)
	f.BoolVar(&t.opt.Strict, "strict", false, "fit scaling, γ, map and principal components on the training rows of each fold")
	f.BoolVar(&t.opt.Alone, "no-reuse", false, "train every configuration on every fold by itself, to see what sharing saves")
	f.StringVar(&t.opt.Journal, "journal", "", "file that keeps what is done (default: that of the model with .tune behind)")
	f.BoolVar(&t.keep, "keep-journal", false, "leave the journal when the model is written")
	f.StringVar(&t.results, "results", "", "CSV file to write all configurations with their scores to")
	f.Var(&tr.memory, "memory", "most memory to work in, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&tr.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &t.progress)
	PageFlags(cmd, &tr.pages)
	return cmd
}

// axisFlag is a flag that takes several values.
type axisFlag struct {
	single pflag.Value // the flag of one value
	text   string
}

var _ pflag.Value = (*axisFlag)(nil)

func (a *axisFlag) String() string {
	if a.text == "" && a.single != nil {
		return a.single.String()
	}
	return a.text
}

func (a *axisFlag) Type() string { return "values" }

func (a *axisFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("give a value, or several separated by commas")
	}
	a.text = s
	return nil
}

// axisFlags makes flags of settings that a search knows take several values.
func axisFlags(f *pflag.FlagSet) map[string]*axisFlag {
	known, axes := search.Settings(), map[string]*axisFlag{}
	f.VisitAll(func(flag *pflag.Flag) {
		name := strings.ReplaceAll(flag.Name, "-", "_")
		if slices.Contains(known, name) && name != "seed" && name != "class_weight" {
			a := &axisFlag{single: flag.Value}
			axes[flag.Name], flag.Value = a, a
		}
	})
	return axes
}

// makeSpace makes the space of the flags and the file.
func (t *tuning) makeSpace(cmd *cobra.Command) (search.Space, error) {
	var s search.Space
	var wrong error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		a := t.axes[flag.Name]
		if a == nil || wrong != nil {
			return
		}
		text := strings.TrimSpace(a.text)
		file := flag.Name == "landmarks" && !strings.Contains(text, ",") && !slices.Contains(feature.LandmarkChoices(), strings.ToLower(text))
		if file || flag.Name == "map" && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "@")) {
			wrong = a.single.Set(text) // one value that is no word
			return
		}
		axis, err := search.ParseAxis(flag.Name, strings.ToLower(text))
		if err != nil {
			wrong = fmt.Errorf("--%w", err)
			return
		}
		s.Axes = append(s.Axes, axis)
	})
	if wrong != nil {
		return s, UsageError{wrong}
	}
	if t.space != "" {
		text, err := ReadSmall(t.space, nil)
		if err != nil {
			return s, err
		}
		axes, err := search.ReadAxes(text)
		if err != nil {
			return s, fmt.Errorf("%s: %w", t.space, err)
		}
		for _, a := range axes {
			if slices.ContainsFunc(s.Axes, func(b search.Axis) bool { return a.Name == b.Name }) {
				return s, usagef("--%s and %s both say what to try; leave out one of them", strings.ReplaceAll(a.Name, "_", "-"), t.space)
			}
			s.Axes = append(s.Axes, a)
		}
	}
	s.Base = t.train.cfg
	s.Base.Bag = nil // the search is on the rows that bags become
	if len(s.Axes) == 0 && t.train.cfg.Bag == nil {
		unname(cmd, &s.Base, false)
	}
	return s, nil
}

// check finds what is wrong with the flags.
func (t *tuning) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	o := &t.opt
	if err := t.train.checkHoldout(); err != nil {
		return err
	}
	if c := &t.train.data.Columns; c.SplitGroup != "" && t.foldGroup == "" {
		t.foldGroup = c.SplitGroup
	}
	if t.train.data.Columns.SplitTime != "" && o.Folds.Kind == "auto" && t.foldGroup == "" {
		o.Folds.Kind = "time"
	}
	ridge := train.As[train.Ridge](t.train.cfg.Learner)
	switch {
	case t.train.out == "":
		return usagef("no file to write the model to; give -o MODEL")
	case o.Folds.K < 1 || o.Folds.K == 1 && o.Folds.Kind != "time":
		return usagef("--folds %d: give 2 or more", o.Folds.K)
	case o.Folds.Repeats < 1:
		return usagef("--repeats %d: give 1 or more", o.Folds.Repeats)
	case !(o.Folds.Share > 0 && o.Folds.Share < 1):
		return usagef("--fold-share %g is not a share between 0 and 1", o.Folds.Share)
	case changed("fold-share") && o.Folds.Kind != "holdout":
		return usagef("--fold-share is for --fold-kind holdout; leave it out, or hold out rows")
	case changed("folds") && o.Folds.Kind == "holdout":
		return usagef("--fold-kind holdout has no folds, but a --fold-share of the rows, --repeats times; leave out --folds")
	case o.Trials < 0 || o.Trials == 0 && changed("trials"):
		return usagef("--trials %d: give 1 or more", o.Trials)
	case o.Trials > 0 && o.Search == "grid":
		return usagef("--search grid tries all combinations; --trials is for random or halving")
	case !slices.Contains([]string{"grid", "random", "halving"}, o.Search):
		return usagef("--search %q is not known; known are grid, random, halving", o.Search)
	case !slices.Contains([]string{"best", "one-se"}, o.Pick):
		return usagef("--pick %q is not known; known are best, one-se", o.Pick)
	case t.foldGroup != "" && o.Folds.Kind != "auto" && o.Folds.Kind != "group":
		return usagef("--fold-group keeps the rows of a group in one fold, --fold-kind %s does not; leave out one of them", o.Folds.Kind)
	case o.Folds.Kind == "group" && t.foldGroup == "":
		return usagef("--fold-kind group needs the column that says which group a row is of; name it with --fold-group")
	case train.As[train.SGD](t.train.cfg.Learner).SurveyRows > 0:
		return usagef("--survey-rows is for one pass over the data; a search makes many")
	case ridge.Path || ridge.Variance || ridge.Conformal != 0 || ridge.LambdaBy != "":
		return usagef("--path, --variance, --conformal and --lambda-by are for mercer train; train with the settings that tune finds")
	}
	if kinds, _ := search.FoldKinds(); o.Folds.Kind != "auto" && !slices.Contains(kinds, o.Folds.Kind) {
		return usagef("--fold-kind %q is not known; known are auto, %s", o.Folds.Kind, strings.Join(kinds, ", "))
	}
	if o.Metric != "" {
		if _, err := eval.MetricNamed(o.Metric); err != nil {
			return usagef("--metric: %w", err)
		}
	}
	t.train.data.Memory = int64(t.train.memory)
	return checkData(&t.train.data)
}

// ungrouped is data whose column of groups is for folds alone. Where columns have names a model
// does not know of it; elsewhere it has to know at which position there is no input.
type ungrouped struct {
	dataset.Source
	schema dataset.Schema
}

func (u *ungrouped) Schema() *dataset.Schema { return &u.schema }

// Origin implements dataset.Renumbered.
func (u *ungrouped) Origin(row int) int { return dataset.Origin(u.Source, row) }

// checkFiles settles the name of the journal, and refuses a file that is both read and written, or written twice.
func (t *tuning) checkFiles(path string) error {
	o := &t.opt
	if o.Journal == "" {
		o.Journal = t.train.out + ".tune"
		if remote.Is(t.train.out) { // lines are added to it, as to no object
			o.Journal = filepath.Base(t.train.out) + ".tune"
		}
	}
	outputs := []namedFile{{"--output", t.train.out}, {"--results", t.results}, {"--journal", o.Journal}}
	if err := checkApart(outputs, namedFile{"DATA", path}, namedFile{"--test", t.train.test}, namedFile{"--test-labels", t.train.testLabels},
		namedFile{"--labels", t.train.data.LabelsFile}, namedFile{"--space", t.space}); err != nil {
		return err
	}
	return t.train.pages.Check(t.train.out, t.results, o.Journal, path, t.train.test, t.train.testLabels, t.train.data.LabelsFile,
		t.space)
}

func (t *tuning) run(cmd *cobra.Command, path string) error {
	start := time.Now()
	ctx := cmd.Context()
	if err := t.settleBags(cmd, path); err != nil {
		return err
	}
	if err := t.check(cmd); err != nil {
		return err
	}
	space, err := t.makeSpace(cmd)
	if err != nil {
		return err
	}
	if err := readLandmarks(ctx, &space.Base, t.train.data); err != nil {
		return err
	}
	if err := space.Check(); err != nil {
		return UsageError{err}
	}
	t.train.data.AsWritten = space.Precomputed()
	if err := t.checkFiles(path); err != nil {
		return err
	}
	p, err := NewProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	if err := writable(t.train.out, t.results); err != nil {
		return err
	}
	if err := t.train.findTest(); err != nil {
		return err
	}
	o := &t.opt
	if o.Memory = int64(t.train.memory); o.Memory == 0 {
		o.Memory = availableMemory() / 5 * 4
	}
	memory := o.Memory
	if o.Folds.Kind == "auto" {
		o.Folds.Kind = ""
	}
	o.Folds.Seed, o.Seed = space.Base.Seed, space.Base.Seed
	data, err := t.open(ctx, path, p)
	if err != nil {
		return err
	}
	defer data.file.Close()
	o.Progress = func(stage string, done, all float64) { p.Report(stage, 0, done/all) }
	if p.tells() {
		o.Forecast, o.ForecastFrom = func(f search.Forecast) { p.note(f.Text("configurations")) }, longWork
	}
	o.Note = func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s\n", cmd.CommandPath(), text) }
	if t.train.test != "" && t.train.cfg.Bag == nil {
		o.Surveyed = func(read dataset.Schema) error {
			return tooWide(t.train.testData().Fits(ctx, read), filepath.Base(dataset.ShownPath(path)), "train with")
		}
	}
	found, err := search.Tune(ctx, data.rows, space, *o)
	p.Done()
	if err != nil {
		return GoesOn(ctx, err, t.opt.Journal)
	}
	searched := time.Since(start)
	cfg := front.Config{
		Config: found.Picked.Config, Test: data.test,
		Training: train.Options{Progress: p.Report, Memory: memory},
		Metrics:  eval.Options{Curves: t.train.pages.Wanted(), Intervals: true},
	}
	cfg.Bag = t.train.cfg.Bag
	r, err := front.Train(ctx, data.all, cfg)
	p.Done()
	if r == nil {
		return GoesOn(ctx, err, t.opt.Journal)
	}
	r.Held = data.held
	return t.finish(cmd, found, r, err, path, searched, start)
}

// finish saves the model and tells how it was found. failed, if not nil, is what went wrong with its test.
func (t *tuning) finish(cmd *cobra.Command, found *search.TuneResult, r *front.Result, failed error, path string,
	searched time.Duration, start time.Time) error {
	name := filepath.Base(dataset.ShownPath(path))
	warnUnseen(cmd, r.Unseen)
	if t.results != "" {
		if err := t.writeResults(found); err != nil {
			return err
		}
	}
	if tested := t.train.tested(r); tested != nil {
		r.Model = r.Model.WithTested(t.train.record(tested))
	}
	if err := r.Save(t.train.out); err != nil {
		return errors.Join(failed, err)
	}
	if !t.keep {
		if err := os.Remove(t.opt.Journal); err != nil {
			return err
		}
	}
	if failed != nil {
		return fmt.Errorf("%w (the model was trained before that; it is in %s)", failed, t.train.out)
	}
	r.Report.Total = time.Since(start).Seconds()
	tested := t.train.tested(r)
	out, command := cmd.OutOrStdout(), t.trainCommand(cmd, found, path)
	write := func() error {
		return t.train.writePages(cmd, r, tested, name, render.SearchSections(found, searched.Seconds(), command))
	}
	if t.train.json {
		if err := write(); err != nil {
			return err
		}
		trained := render.NewTrainJSON(render.ModelOf(r.Model), r.Report, tested, t.train.out, peakRSS())
		return render.JSON(out, render.TuneJSON{TrainJSON: trained,
			Search: found, Picked: found.Picked, Seconds: searched.Seconds(), Command: command})
	}
	render.SearchText(out, found, searched.Seconds(), command)
	render.TrainText(out, render.ModelOf(r.Model), r.Report, name, peakRSS(), tested)
	render.SavedText(out, t.train.out, sizeOf(t.train.out))
	return write()
}

// writeResults writes the file of --results.
func (t *tuning) writeResults(found *search.TuneResult) error {
	f, err := atomicfile.Create(t.results)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := render.SearchCSV(f, found); err != nil {
		return fmt.Errorf("%s: %w", t.results, err)
	}
	return f.Commit()
}
