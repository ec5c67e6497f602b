package cli

import (
	"time"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/solve/pipeline"
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
	divide     string // how rows are held out, as --holdout-kind says
	memory     bytesValue
	json       bool
	progress   string
	pages      Pages

	appendTo   []string // files of statistics that the rows are added to
	like       string   // file of statistics or "" whose scaling and map are taken
	saveStats  string
	unlabelled string            // file of rows for the principal components alone
	kept       *atomicfile.File  // the file of saveStats that is to appear with the model
	stats      *train.Statistics // nil: a training from the beginning
	online     bool
	from       string // the model to continue

	auto, estimate, plan bool
	budget               time.Duration
}

func newTrain() *cobra.Command {
	t := &training{}
	cmd := &cobra.Command{
		Use:     "train [flags] DATA -o MODEL",
		Short:   "Train a model and print a summary",
		Long:    trainHelp,
		Example: trainExamples,
		Args:    nArgs(0, 1),
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
	holdoutFlags(cmd, t)
	f.StringVar(&t.unlabelled, "unlabelled", "", "file of more rows to find principal components with; labels in it are ignored")
	configFlags(cmd, &t.cfg)
	dataFlags(cmd, &t.data)
	labelFlags(cmd, &t.data)
	bagFlags(cmd, &t.data, &t.bag)
	f.BoolVar(&t.online, onlineName, false, "the same as --learner "+onlineName)
	f.StringVar(&t.from, "continue", "", "model of the learner online that goes on learning, with all its settings")
	f.Var(&t.memory, "memory", "most memory to train in, such as 8GiB (default: 80 % of what is free)")
	t.autoFlags(cmd)
	f.BoolVar(&t.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &t.progress)
	PageFlags(cmd, &t.pages)
	return cmd
}

const trainHelp = `Train a model on DATA and write it to MODEL. DATA is a table, in nearly any form, whose last column, or that of --label, is to be predicted from the
others. Everything else is chosen by the data, and the summary says what was chosen.

The model is written whole or not at all. DATA is LIBSVM text, CSV, TSV, text separated by blanks, ARFF, JSON lines, Parquet, Arrow, NPY, npz of a sparse matrix
(scipy.sparse.save_npz) or IDX, found out from its content, also compressed (gzip, bzip2,
zstd); "-" is standard input. It is read twice: once to see what it holds, once to train.

Without further flags Mercer chooses by the data and says what it chose: whether labels are
classes or numbers to predict, a scaling of the inputs, and a learner. On a table of numbers that
is rfm, recursive feature machines: kernels whose distances are learned, so that columns count by
how much they matter, in the leaves of a tree of the rows. It takes 1,000 to any number of rows
that fit into memory, and wide rows as far as there is time; where it is not taken, the summary
says why, and docs/learners.md has all conditions. --leaf, --members and --features (with
--learner rfm) trade accuracy for time and size.

Elsewhere, with --quick, and where flags ask for something else, Mercer trains on features: of the
rbf kernel with γ from the median distance of the rows, by orthogonal random features. The
learner is then for classes a support vector machine, as long as its 4·n·D bytes for n rows and
D features stay below 2 GiB; else, and for numbers, a ridge regression, which takes 16 to 56·D²
bytes by the way it chooses λ, however many rows there are (where even that is more, classes stay
with the support vector machine).

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

Classes have probabilities (predict --proba) by rfm, by the logistic loss, and with --calibrate. A row may have any number of
labels: as a list in front of LIBSVM rows ("3,7 1:0.5"), in a column with --label-separator, or as
columns of 0 and 1 with --task multilabel.

` + autoHelp + "\n" + bagsHelp

const trainExamples = `  mercer train adult.csv -o adult.mercer
  mercer train houses.csv --label price -o houses.mercer --holdout 0.2 --report houses.html
  mercer train customers.csv --label stays --id number --ignore 'note*' -o stays.mercer
  mercer train adult.csv -o adult.mercer --quick
  mercer train adult.csv -o adult.mercer --auto --budget 2m --holdout 0.2
  mercer train clicks.svm --estimate
  mercer train a9a.gz -o adult.mercer --test a9a.t.gz
  mercer train images-idx3-ubyte.gz --labels labels-idx1-ubyte.gz -o digits.mercer --features 8192 --learner svm
  zcat rows.svm.gz | mercer train - -o rows.mercer --json
  mercer train monday.csv -o m.mercer --learner ridge --save-stats week.stats
  mercer train tuesday.csv -o m.mercer --append week.stats --save-stats week.stats
  mercer train sensors.csv --label none -o usual.mercer --learner one-class --outliers 0.05
  tail -f clicks.svm | head -1000000 | mercer train - -o clicks.mercer --online --survey-rows 10000
  mercer train --continue clicks.mercer tomorrow.svm -o clicks2.mercer
  mercer train readings.csv --group device --label state -o devices.mercer
  mercer train descriptors.npy --labels species.txt --pooling tensorsketch -o birds.mercer`

// configFlags are the flags of a configuration.
func configFlags(cmd *cobra.Command, c *train.Config) {
	f := cmd.Flags()
	f.StringVar(&c.Task, "task", "auto", "what labels are: auto, classify, regress, multilabel; or outliers, whatever they are")
	scaleFlag(cmd, c)
	settingFlags(f, &c.Metric, train.Metric.Help)
	modelFlags(cmd, c)
	settingFlags(f, &c.Reduce, train.Reduction.Help)
	learnerFlags(cmd, c)
	f.BoolVar(&c.Quick, "quick", false, "leave rfm out of the choice of the learner: train on features of the rbf kernel, which takes less time and often predicts worse")
}

func (t *training) check() error {
	if t.out == "" && !t.estimate && !t.plan {
		return usagef("no file to write the model to; give -o MODEL")
	}
	if t.test != "" && t.holdout != 0 {
		return usagef("--test and --holdout both say what to test on; give one of them")
	}
	online := train.As[train.SGD](t.cfg.Learner)
	if t.data.Stream = online.SurveyRows > 0; t.data.Stream {
		switch {
		case online.Epochs > 1:
			return usagef("--survey-rows is for one pass over the data, --epochs %d for several; leave out one of them", online.Epochs)
		case t.holdsOut():
			return usagef("--survey-rows reads the data once, so no rows can be kept back by --holdout; give a file with --test")
		case t.cfg.Calibrate.Method != "" && t.cfg.Calibrate.Method != "auto" && t.cfg.Calibrate.Method != "none":
			return usagef("--survey-rows reads the data once, but --calibrate needs several passes; " +
				"the logistic loss has probabilities of its own")
		}
	}
	if err := t.checkHoldout(); err != nil {
		return err
	}
	if err := t.cfg.Check(); err != nil {
		return UsageError{err}
	}
	if t.unlabelled != "" {
		switch {
		case t.auto || t.estimate || t.plan:
			return usagef("--unlabelled is for a training whose principal components are known; leave out --auto, --estimate and --plan")
		case t.saveStats != "":
			return usagef("--save-stats keeps the rows of DATA alone, and a training that goes on from them would find other components " +
				"than with --unlabelled; leave out one of them")
		case t.data.Group != "" || t.cfg.Bag != nil:
			return usagef("--unlabelled is for rows, not for bags")
		case t.cfg.Reduce.Components == 0 && t.cfg.Reduce.Share == 0 && t.cfg.Reduce.MapComponents == 0:
			return usagef("--unlabelled rows are to find principal components with; give --components or --variance-share as well")
		}
	}
	t.data.Memory, t.data.LabelsOptional = int64(t.memory), t.cfg.Outliers() && !t.holdsOut()
	return checkRows(&t.data, &t.cfg)
}

// checkFiles finds files that are given twice, or that cannot be written or found: before hours of training.
func (t *training) checkFiles(path string) error {
	outputs := []namedFile{{"--output", t.out}, {"--save-stats", t.saveStats}}
	if err := checkApart(outputs, namedFile{"DATA", path}, namedFile{"--test", t.test}, namedFile{"--test-labels", t.testLabels},
		namedFile{"--labels", t.data.LabelsFile}, namedFile{"--unlabelled", t.unlabelled}); err != nil {
		return err
	}
	return t.pages.Check(t.out, t.saveStats, path, t.test, t.testLabels, t.data.LabelsFile, t.unlabelled)
}
