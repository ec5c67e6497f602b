package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/present"
	"mercer/internal/report"
	"mercer/internal/units"
	"mercer/internal/whole"
	"mercer/lab"
	"mercer/learn"
	"mercer/model"
	"mercer/pipeline"
	"mercer/train"
)

// training is the state of the command of that name.
type training struct {
	cfg        train.Config
	bag        pipeline.BagConfig
	data       dataset.Options
	out        string
	test       string
	testLabels string
	holdout    float64
	memory     bytesValue
	json       bool
	progress   string
	pages      pages

	appendTo   []string // files of statistics that the rows are added to
	like       string   // file of statistics or "" whose scaling and map are taken
	saveStats  string
	unlabelled string            // file of rows for the principal components alone
	kept       *whole.File       // the file of saveStats that is to appear with the model
	stats      *train.Statistics // nil: a training from the beginning
	online     bool
	from       string // the model to continue
	path       string // DATA

	auto, estimate bool
	budget         time.Duration
	chosen         *present.AutoJSON // what auto chose

	// fitRows trains on rows.
	fitRows func(src dataset.Source, opt train.Options) (*model.Model, *train.Report, error)
}

func newTrain() *cobra.Command {
	t := &training{}
	cmd := &cobra.Command{
		Use:   "train [flags] DATA -o MODEL",
		Short: "Train a model and print a summary",
		Long: `Train a model on DATA and write it to MODEL, whole or not at all.

DATA is LIBSVM text, CSV, TSV, text separated by blanks, ARFF, NPY, npz of a sparse matrix
(scipy.sparse.save_npz) or IDX, found out from its content, also compressed (gzip, bzip2,
zstd); "-" is standard input. It is read twice: once to see what it holds, once to train.

Without further flags Mercer chooses by the data and says what it chose: whether labels are
classes or numbers to predict, a scaling of the inputs, the rbf kernel with γ from the median
distance of the rows, orthogonal random features, and a learner. For classes that is a
support vector machine, as long as its 4·n·D bytes for n rows and D features stay below
2 GiB; else, and for numbers, a ridge regression, which takes 16 to 56·D² bytes by the way it
chooses λ, however many rows there are (where even that is more, classes stay with the support
vector machine).

A support vector machine (svm, svr for numbers, one-class for outliers) goes through its
features many times. Where --memory has no room for them they wait in a temporary file (in
TMPDIR), and where that has no room either they are computed anew on every pass; the model is
the same. --learner one-class, or --task outliers, needs no labels (--label none): the model
says -1 of rows that are unlike most others and 1 of the rest.

A ridge regression chooses its λ by a held-out tenth of the rows, or over five folds where
there are fewer than 20,000 rows; --lambda-by says otherwise. --path shows all λ with their
leave-one-out errors. Of numbers, --variance lets predict tell the deviation of each
prediction, and --conformal 0.9 an interval that holds the truth nine times out of ten.

--save-stats keeps what a ridge regression knows of its rows, with the scaling and the map.
--append trains on those rows and DATA together, as if all had been there at once, and reads
DATA once; without DATA it trains on the statistics alone. --like takes scaling and map from
such a file, without its rows: so parts of a large data set can be trained apart, each with
--save-stats, and put together by several --append, or by mercer merge.

--online learns the rows one by one and forgets them, predicting each before it learns it: the
error of these predictions is printed while it trains. The rows should be in random order.
With --survey-rows it looks at the first rows only before it begins, and reads a pipe as it
comes, without end if need be. --continue goes on with a model and more rows, as if the training
had not ended.

--calibrate gives classes probabilities, for predict --proba. A row may have any number of
labels: as a list in front of LIBSVM rows ("3,7 1:0.5"), in a column with --label-separator, or as
columns of 0 and 1 with --task multilabel.

` + autoHelp + "\n" + bagsHelp,
		Example: `  mercer train adult.csv -o adult.mercer
  mercer train adult.csv -o adult.mercer --auto --budget 2m --holdout 0.2
  mercer train clicks.svm --estimate
  mercer train a9a.gz -o adult.mercer --test a9a.t.gz
  mercer train houses.csv --label price -o houses.mercer --holdout 0.2 --report houses.html
  mercer train images-idx3-ubyte.gz --labels labels-idx1-ubyte.gz -o digits.mercer --features 8192 --learner svm
  zcat rows.svm.gz | mercer train - -o rows.mercer --json
  mercer train monday.csv -o m.mercer --learner ridge --save-stats week.stats
  mercer train tuesday.csv -o m.mercer --append week.stats --save-stats week.stats
  mercer train sensors.csv --label none -o usual.mercer --learner one-class --outliers 0.05
  tail -f clicks.svm | head -1000000 | mercer train - -o clicks.mercer --online --survey-rows 10000
  mercer train --continue clicks.mercer tomorrow.svm -o clicks2.mercer
  mercer train readings.csv --group device --label state -o devices.mercer
  mercer train descriptors.npy --labels species.txt --pooling tensorsketch -o birds.mercer`,
		Args: nArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && t.appendTo != nil {
				if t.holdout != 0 {
					return usagef("--holdout keeps back rows of DATA, and there are none")
				}
				return t.run(cmd, "")
			}
			if err := nArgs(1, 1)(cmd, args); err != nil {
				return err
			}
			return t.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&t.appendTo, "append", nil, "file of statistics whose rows DATA are added to; may be given several times")
	f.StringVar(&t.like, "like", "", "file of statistics whose scaling and map to use, without its rows")
	f.StringVar(&t.saveStats, "save-stats", "", "file to write the statistics of the rows to, for --append and merge")
	f.StringVarP(&t.out, "output", "o", "", "file to write the model to")
	f.StringVar(&t.test, "test", "", "data to test the model on")
	f.StringVar(&t.testLabels, "test-labels", "", "file of labels for --test")
	f.Float64Var(&t.holdout, "holdout", 0, "share of the rows, drawn by --seed, to keep back and test on")
	f.StringVar(&t.unlabelled, "unlabelled", "", "file of more rows, without labels or with some that do not count, to find principal components with")
	f.StringVar(&t.cfg.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel; or outliers, whatever they are")
	scaleFlag(cmd, &t.cfg)
	metricFlags(cmd, &t.cfg)
	modelFlags(cmd, &t.cfg)
	reductionFlags(cmd, &t.cfg)
	learnerFlags(cmd, &t.cfg)
	dataFlags(cmd, &t.data)
	bagFlags(cmd, &t.data, &t.bag)
	f.BoolVar(&t.online, "online", false, "the same as --learner online")
	f.StringVar(&t.from, "continue", "", "model of the learner online that goes on learning, with all its settings")
	f.Var(&t.memory, "memory", "most memory to train in, such as 8GiB (default: 80 % of what is free)")
	t.autoFlags(cmd)
	f.BoolVar(&t.json, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &t.progress)
	pageFlags(cmd, &t.pages)
	return cmd
}

func (t *training) check() error {
	if t.out == "" && !t.estimate {
		return usagef("no file to write the model to; give -o MODEL")
	}
	if t.test != "" && t.holdout != 0 {
		return usagef("--test and --holdout both say what to test on; give one of them")
	}
	if t.data.Stream = t.cfg.SurveyRows > 0; t.data.Stream {
		switch {
		case t.cfg.Epochs > 1:
			return usagef("--survey-rows is for one pass over the data, --epochs %d for several; leave out one of them", t.cfg.Epochs)
		case t.holdout > 0:
			return usagef("--survey-rows reads the data once, so no rows can be kept back by --holdout; give a file with --test")
		case t.cfg.Calibrate != "" && t.cfg.Calibrate != "none":
			return usagef("--survey-rows reads the data once, but --calibrate needs several passes; the logistic loss has probabilities of its own")
		}
	}
	if t.holdout < 0 || t.holdout >= 1 || math.IsNaN(t.holdout) {
		return usagef("--holdout %g is not a share between 0 and 1", t.holdout)
	}
	if err := t.cfg.Check(); err != nil {
		return usageError{err}
	}
	if t.unlabelled != "" {
		switch {
		case t.auto || t.estimate:
			return usagef("--unlabelled is for a training whose principal components are known; leave out --auto and --estimate")
		case t.saveStats != "":
			return usagef("--save-stats keeps the rows of DATA alone, and a training that goes on from them would find other components than with --unlabelled; leave out one of them")
		case t.data.Group != "" || t.cfg.Bag != nil:
			return usagef("--unlabelled is for rows, not for bags")
		case t.cfg.Components == 0 && t.cfg.VarianceShare == 0 && t.cfg.MapComponents == 0:
			return usagef("--unlabelled rows are to find principal components with; give --components or --variance-share as well")
		}
	}
	t.data.Memory = int64(t.memory)
	return checkData(&t.data)
}

func (t *training) run(cmd *cobra.Command, path string) error {
	start := time.Now()
	ctx := cmd.Context()
	if t.online {
		if cmd.Flags().Changed("learner") && t.cfg.Learner != "online" {
			return usagef("--online and --learner %s are two learners; give one of them", t.cfg.Learner)
		}
		t.cfg.Learner = "online"
	}
	if t.from != "" {
		return t.goOn(cmd, path)
	}
	if err := settle(cmd, &t.cfg); err != nil {
		return err
	}
	if err := settleBags(cmd, path, &t.data, &t.cfg, &t.bag); err != nil {
		return err
	}
	if err := readLandmarks(ctx, &t.cfg, t.data); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	t.path = path
	if err := t.checkAuto(cmd, path); err != nil {
		return err
	}
	if err := t.loadStatistics(cmd, path); err != nil {
		return err
	}
	if err := checkApart([]namedFile{{"--output", t.out}, {"--save-stats", t.saveStats}}, namedFile{"DATA", path}, namedFile{"--test", t.test},
		namedFile{"--test-labels", t.testLabels}, namedFile{"--labels", t.data.LabelsFile}, namedFile{"--unlabelled", t.unlabelled}); err != nil {
		return err
	}
	if err := t.pages.check(t.out, t.saveStats, path, t.test, t.testLabels, t.data.LabelsFile, t.unlabelled); err != nil {
		return err
	}
	p, err := newProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	// Whether the model can be written is known before hours of training.
	for _, path := range []string{t.out, t.saveStats} {
		if path == "" {
			continue
		}
		out, err := whole.Create(path)
		if err != nil {
			return err
		}
		out.Close()
	}
	if err := t.findTest(); err != nil {
		return err
	}
	if t.stats != nil && t.test != "" {
		if err := t.checkTest(ctx, *t.stats.DataSchema(), "the file of statistics", "make that with"); err != nil {
			return err
		}
	}

	memory := int64(t.memory)
	if memory == 0 {
		memory = availableMemory() / 5 * 4
	}
	if t.estimate {
		return t.printCost(cmd, path, memory)
	}
	t.announce(ctx, p, path, memory)
	t.fitRows = func(src dataset.Source, opt train.Options) (*model.Model, *train.Report, error) {
		if t.auto {
			return t.fitAuto(ctx, cmd, src, p, opt)
		}
		return train.Fit(ctx, src, t.cfg, opt)
	}
	data, fit, err := t.open(ctx, path)
	if err != nil {
		return err
	}
	defer data.Close()
	opt := train.Options{Progress: p.report, Memory: memory, Validated: func(v learn.OnlinePoint) { p.say("  " + v.String()) }}
	if t.test != "" {
		opt.Surveyed = func(read dataset.Schema) error { return t.checkTest(ctx, read, filepath.Base(path), "train with") }
	}
	if t.unlabelled != "" {
		var more []*dataset.File
		defer func() {
			for _, f := range more {
				f.Close()
			}
		}()
		opt.Unlabelled = func(read dataset.Schema) (dataset.Source, error) {
			o := t.data
			o.Schema, o.LabelsFile, o.Dim = &read, "", 0
			f, err := dataset.Open(ctx, t.unlabelled, o)
			if err != nil {
				return nil, err
			}
			more = append(more, f)
			return f, nil
		}
	}
	if t.saveStats != "" {
		// They appear with the model: whoever adds rows to a file of statistics and is interrupted before there is a
		// model can do it again.
		defer func() {
			if t.kept != nil {
				t.kept.Close()
			}
		}()
		opt.Keep = func(s *train.Statistics) error {
			if t.kept, err = whole.Create(t.saveStats); err != nil {
				return err
			}
			if err := s.Write(t.kept); err != nil {
				return fmt.Errorf("%s: %w", t.saveStats, err)
			}
			return nil
		}
	}
	m, report, held, err := fit(opt)
	p.done()
	if err != nil {
		return err
	}
	warnUnseen(cmd, data)
	name := filepath.Base(path)
	if path == "" {
		name = strings.Join(t.appendTo, " + ")
	}
	return t.finish(cmd, m, report, held, p, name, start)
}

// finish tests the model, saves it and tells what it is.
func (t *training) finish(cmd *cobra.Command, m *model.Model, report *train.Report, held dataset.Source, p *progress, name string, start time.Time) error {
	tested, err := t.testModel(cmd, m, held, p)
	p.done()
	if err != nil {
		if cmd.Context().Err() != nil {
			return err
		}
		// What is wrong with the test data does not spoil the model.
		if saved := t.save(m); saved != nil {
			return errors.Join(err, saved)
		}
		return fmt.Errorf("%w (the model was trained before that; it is in %s)", err, t.out)
	}
	if err := t.save(m); err != nil {
		return err
	}
	report.Total = time.Since(start).Seconds()
	if t.json {
		if err := t.writePages(cmd, m, report, tested, name, t.more()...); err != nil {
			return err
		}
		out := present.NewTrainJSON(m.Info(), report, tested, t.out, peakRSS())
		out.Auto = t.chosen
		return present.JSON(cmd.OutOrStdout(), out)
	}
	if t.chosen != nil {
		present.AutoText(cmd.OutOrStdout(), t.chosen)
	}
	present.TrainText(cmd.OutOrStdout(), present.ModelOf(m), report, name, peakRSS(), tested)
	present.SavedText(cmd.OutOrStdout(), t.out, sizeOf(t.out))
	return t.writePages(cmd, m, report, tested, name, t.more()...)
}

// save writes the model, and the statistics that are to be kept.
func (t *training) save(m *model.Model) error {
	if err := m.Save(t.out); err != nil || t.kept == nil {
		return err
	}
	return t.kept.Commit()
}

// open opens the data; fit trains on them and gives the rows that were kept back to test the
// model, nil if there are none.
func (t *training) open(ctx context.Context, path string) (file dataFile, fit func(train.Options) (*model.Model, *train.Report, dataset.Source, error), err error) {
	seed := max(t.cfg.Seed, 1)
	if t.stats != nil {
		return t.openMore(ctx, path)
	}
	if t.cfg.Bag == nil {
		f, err := dataset.Open(ctx, path, t.data)
		if err != nil {
			return nil, nil, err
		}
		return f, func(opt train.Options) (*model.Model, *train.Report, dataset.Source, error) {
			var src, held dataset.Source = f, nil
			if t.holdout > 0 {
				src, held = dataset.Split(f, t.holdout, seed)
			}
			m, report, err := t.fitRows(src, opt)
			return m, report, held, err
		}, nil
	}
	f, err := dataset.OpenBags(ctx, path, t.data)
	if err != nil {
		return nil, nil, err
	}
	if t.testsFiles() || isFolder(t.test) {
		o := t.data
		o.Schema, o.LabelsFile = f.Schema(), t.testLabels
		test, err := dataset.OpenBags(ctx, t.test, o)
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		test.Close()
	}
	return f, func(opt train.Options) (*model.Model, *train.Report, dataset.Source, error) {
		var src, held dataset.Bags = f, nil
		if t.holdout > 0 {
			src, held = dataset.SplitBags(f, t.holdout, seed)
		}
		m, report, err := train.FitBags(ctx, src, t.cfg, opt)
		if err != nil || held == nil {
			return m, report, nil, err
		}
		return m, report, m.Bag().Source(held), nil
	}, nil
}

// findTest fails where a file of test data is not there.
func (t *training) findTest() error {
	for _, path := range []string{t.test, t.testLabels} {
		if _, err := os.Stat(path); path != "" && path != "-" && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	return nil
}

// testsFiles says that the test data are files, which can be looked at before the training.
func (t *training) testsFiles() bool {
	for _, path := range []string{t.test, t.testLabels} {
		if st, err := os.Stat(path); path != "" && (err != nil || !st.Mode().IsRegular()) {
			return false
		}
	}
	return t.test != ""
}

// checkTest says before the training what would keep the test data from being read after it: other columns or, in LIBSVM text, of which only a
// whole pass tells it, larger indices. read is how the training data were read, of the file trained, and advice what to do with the flag --dim.
// What can be read once only is not looked at.
func (t *training) checkTest(ctx context.Context, read dataset.Schema, trained, advice string) error {
	if !t.testsFiles() {
		return nil
	}
	dim := read.Dim
	o := t.data
	o.Schema, o.LabelsFile, o.Dim = &read, t.testLabels, 0
	test, err := dataset.Open(ctx, t.test, o)
	if err == nil && read.Format == "libsvm" && test.Schema().Format == "libsvm" {
		test.Close()
		read.Dim = 0 // any
		test, err = dataset.Open(ctx, t.test, o)
	}
	if err != nil {
		return err
	}
	defer test.Close()
	if read.Format != "libsvm" || test.Schema().Format != "libsvm" {
		return nil
	}
	in, err := test.Open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	widest := 0
	for {
		b, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		widest = max(widest, b.X.Dim())
	}
	if widest > dim {
		return fmt.Errorf("%s: has %s dimensions, but %s has %s; %s --dim %d", filepath.Base(t.test), units.Count(widest), trained, units.Count(dim), advice, widest)
	}
	return nil
}

// testModel measures the model on the test data; nil if there are none.
func (t *training) testModel(cmd *cobra.Command, m *model.Model, held dataset.Source, p *progress) (*present.Tested, error) {
	show := lab.Options{Curves: t.pages.wanted(), Progress: func(rows int, share float64) { p.report("test", rows, share) }}
	switch {
	case t.test != "":
		o := t.data
		o.LabelsFile = t.testLabels
		test, err := openRows(cmd, m, t.test, o)
		if err != nil {
			return nil, err
		}
		defer test.Close()
		metrics, err := lab.Evaluate(cmd.Context(), m, test, show)
		if err != nil {
			return nil, err
		}
		warnUnseen(cmd, test)
		return &present.Tested{Metrics: metrics, On: filepath.Base(t.test)}, nil
	case held != nil:
		metrics, err := lab.Evaluate(cmd.Context(), m, held, show)
		if err != nil {
			return nil, err
		}
		return &present.Tested{Metrics: metrics, On: fmt.Sprintf("%g %% of the %ss, held back", 100*t.holdout, present.ModelOf(m).Row())}, nil
	}
	return nil, nil
}

// warnUnseen tells of categories that the model has never seen; they count as none.
func warnUnseen(cmd *cobra.Command, src dataFile) {
	for _, u := range src.UnseenCategories() {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s: column %q has values that the model was not trained on, such as %q (%s); they count as none of the known ones\n",
			cmd.CommandPath(), src.Name(), u.Column, u.Value, units.Plural(u.Rows, "row"))
	}
}

// more are the sections of a report that only some trainings have.
func (t *training) more() (sections []func(*report.Page)) {
	if t.chosen != nil {
		sections = append(sections, present.AutoSections(t.chosen))
	}
	return sections
}

// writePages writes the page of a training, if one is wanted; name is that of the data. Others add sections after those of the
// evaluation.
func (t *training) writePages(cmd *cobra.Command, m *model.Model, r *train.Report, tested *present.Tested, name string, more ...func(*report.Page)) error {
	if !t.pages.wanted() {
		return nil
	}
	page := present.TrainPage(present.ModelOf(m), r, filepath.Base(t.out), name, tested, peakRSS(), more...)
	if tested != nil {
		tested.Metrics.Curves = nil // the page has them
	}
	if err := t.pages.write(cmd, page, t.json); err != nil {
		return fmt.Errorf("%w (the model is in %s)", err, t.out)
	}
	return nil
}
