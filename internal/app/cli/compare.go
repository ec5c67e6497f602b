package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/model"
)

// compare is the state of the command of that name.
type compare struct {
	data     dataset.Options
	opt      eval.FoldOptions
	control  string
	files    bool     // the arguments are configurations
	flags    []string // configurations in flags
	memory   bytesValue
	json     bool
	progress string
	pages    Pages
}

func newCompare() *cobra.Command {
	c := &compare{}
	cmd := &cobra.Command{
		Use:   "compare [flags] DATA MODEL MODEL...",
		Short: "Compare models, or configurations, on the same data",
		Long: `Predict the labelled rows of DATA with several models in one pass and compare them: a metric of
each with an interval, the difference of each to the best, or to --control, with an interval and
a p-value, the size of the model's file and the time of a prediction. A MODEL is one of Mercer's,
or a text model of LIBSVM or LIBLINEAR (for DATA of numbers in the order of its columns).

Intervals are by the bootstrap (BCa) of --resamples samples of the rows, the same for all models,
so that what makes rows hard for all does not blur the differences. p is that of McNemar's exact
test for accuracy and error, which looks at the rows that only one of the two has right; for other
metrics it is where the interval of the level 1-p would end at 0. Holm's procedure adjusts it for the number of comparisons: by the
column "p (Holm)" any of them may be called significant. The best by these rows was chosen with
them, which flatters it a little; a --control named before does not have that.

These tests take the models as they are. Whether another training would do as well is told
by configurations: with --configs the arguments after DATA are files of configurations in JSON
(such as train --json shows under "trained", "config"), and each --config gives one as flags of
train. Each is trained on all folds of DATA but one and judged on that, with the same --folds for
all, --repeats times. p and interval of a difference are then those of the corrected resampled
t-test (Nadeau and Bengio), or p is McNemar's for the rows as predicted out of their fold
(--test mcnemar). Where that takes more than ten seconds, standard error says before the first training
about how long and how much memory (not with --progress never; with --json also under "forecast").

Metrics: accuracy (the usual one for classes), error, balanced_accuracy, mcc, kappa, and f1,
precision and recall behind micro_, macro_ and weighted_; of two classes f1, precision, recall, auc,
average_precision; with probabilities log_loss, brier. Of numbers rmse (the usual one), mae, r2,
relative_rmse. Of labels of which a row may have any number micro_f1 (the usual one), samples_f1,
precision and recall behind micro_ and samples_, subset_accuracy, hamming_loss.

A row takes 4 bytes and 4 more a model (8 for areas under curves, 4 an output for numbers), and
where the metric is none of classes 4 a thread and some 20 ns a bootstrap sample, model and row,
so that fewer --resamples may suit millions of rows. The rows themselves are never all in memory.`,
		Example: `  mercer compare a9a.t.gz rbf.mercer linear.mercer svm.libsvm
  mercer compare a9a.t.gz rbf.mercer linear.mercer --metric auc --control linear.mercer
  mercer compare houses.csv --configs ridge.json svr.json --folds 10 --report houses.html
  mercer compare a9a.gz --config "--kernel linear" --config "--features 1024" --config "--features 4096"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no data; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&c.opt.Metric, "metric", "", "metric to compare by (default: accuracy, rmse, or micro_f1)")
	f.StringVar(&c.control, "control", "", "model or configuration that the others are compared with, by its name or number from 1 "+
		"(default: the best)")
	f.Float64Var(&c.opt.Level, "level", 0.95, "level of the intervals")
	f.IntVar(&c.opt.Resamples, "resamples", 2000, "bootstrap samples")
	f.BoolVar(&c.files, "configs", false, "the arguments after DATA are configurations in JSON, not models")
	f.StringArrayVar(&c.flags, "config", nil, `a configuration as flags of train, such as "--kernel linear --c 1"; may be repeated`)
	f.IntVar(&c.opt.Folds, "folds", 5, "folds of configurations")
	f.IntVar(&c.opt.Repeats, "repeats", 1, "how often the rows are divided into folds anew")
	f.StringVar(&c.opt.Test, "test", "t", "p-value of configurations: t, mcnemar")
	f.Uint64Var(&c.opt.Seed, "seed", 1, "seed of bootstrap samples and folds")
	f.Var(&c.memory, "memory", "most memory to train configurations in, such as 8GiB (default: 80 % of what is free)")
	dataFlags(cmd, &c.data)
	labelFlags(cmd, &c.data)
	f.BoolVar(&c.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &c.progress)
	PageFlags(cmd, &c.pages)
	return cmd
}

func (c *compare) run(cmd *cobra.Command, path string, args []string) error {
	c.data.Memory = int64(c.memory)
	if err := checkData(&c.data); err != nil {
		return err
	}
	configs := c.files || c.flags != nil
	for _, name := range []string{"folds", "repeats", "test", "memory"} {
		if !configs && cmd.Flags().Changed(name) {
			return usagef("--%s is for configurations; give them with --configs or --config", name)
		}
	}
	switch {
	case configs && cmd.Flags().Changed("resamples"):
		return usagef("--resamples is for models; configurations are compared by their folds")
	case c.opt.Resamples < 100:
		return usagef("--resamples %d are too few for an interval; give 100 or more", c.opt.Resamples)
	case !(c.opt.Level > 0 && c.opt.Level < 1):
		return usagef("--level %g is not between 0 and 1", c.opt.Level)
	case c.opt.Folds < 2:
		return usagef("--folds %d: give 2 or more", c.opt.Folds)
	case c.opt.Repeats < 1:
		return usagef("--repeats %d: give 1 or more", c.opt.Repeats)
	case !contains("t mcnemar", c.opt.Test):
		return usagef("--test %q is not known; known are t, mcnemar", c.opt.Test)
	case c.opt.Metric != "":
		if err := eval.ComparedMetric(c.opt.Metric); err != nil {
			return UsageError{err}
		}
	}
	p, err := NewProgress(cmd, c.progress)
	if err != nil {
		return err
	}
	if err := c.pages.Check(append(args, path)...); err != nil {
		return err
	}
	c.opt.Progress = p.Report
	if err := dataThenModels(cmd, path, args); err != nil {
		return err
	}
	if configs {
		return c.configurations(cmd, path, args, p)
	}
	return c.models(cmd, path, args, p)
}

// setControl finds the control among names.
func (c *compare) setControl(names []string) error {
	if c.control == "" {
		return nil
	}
	at := slices.Index(names, c.control)
	for i := range names {
		if at < 0 && c.control == fmt.Sprint(i+1) {
			at = i
		}
	}
	if at < 0 {
		return usagef("--control %q is none of %s", c.control, strings.Join(names, ", "))
	}
	c.opt.Control = at + 1
	return nil
}

// fileNames are names of files, as short as tells them apart.
func fileNames(paths []string) []string {
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	for i, name := range names {
		if slices.Index(names, name) < i {
			return paths
		}
	}
	return names
}

// models compares trained models.
func (c *compare) models(cmd *cobra.Command, path string, paths []string, p *Progress) error {
	if len(paths) < 2 {
		return usagef("%s to compare; give two or more, or configurations with --configs", units.Plural(len(paths), "model"))
	}
	names := fileNames(paths)
	if err := c.setControl(names); err != nil {
		return err
	}
	predictors, first, schemas, err := loadPredictors(paths, names)
	if err != nil {
		return err
	}
	var src dataset.Source
	var file dataFile
	if first != nil {
		rows, err := openRows(cmd, first, path, c.data)
		if err != nil {
			return err
		}
		defer rows.Close()
		src, file = rows, rows
	} else {
		f, err := dataset.Open(cmd.Context(), path, c.data)
		if err != nil {
			return err
		}
		defer f.Close()
		src, file = f, f
	}
	result, err := eval.Compare(cmd.Context(), predictors, src, c.opt.CompareOptions)
	p.Done()
	if err != nil {
		return err
	}
	unseen := unseenIn(file)
	for _, u := range unseen {
		for i, s := range schemas {
			if s == nil || u.Missing == 0 {
				continue
			}
			if err := eval.SameGaps(&first.Info().Schema, s, u.Column); err != nil {
				return fmt.Errorf("%s does not read the rows of %s as the first model does: %w", names[i], u.Data, err)
			}
		}
	}
	warnUnseen(cmd, unseen)
	out := &render.ModelsJSON{Comparison: result}
	for i, m := range result.Models {
		entry := render.ModelJSON{Compared: m}
		if size, err := bytesOf(paths[i]); err == nil {
			entry.Bytes = size
		}
		out.Models = append(out.Models, entry)
	}
	page, err := render.ModelsPage(out, filepath.Base(dataset.ShownPath(path)), c.opt.Resamples)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.pages.Write(cmd, page, true); err != nil {
			return err
		}
		return render.JSON(cmd.OutOrStdout(), out)
	}
	if err := render.ModelsText(cmd.OutOrStdout(), out, filepath.Base(dataset.ShownPath(path)), c.opt.Resamples); err != nil {
		return err
	}
	return c.pages.Write(cmd, page, false)
}

// loadPredictors loads models, and gives the first of Mercer's, nil if there is none, and how each of Mercer's reads rows.
func loadPredictors(paths, names []string) (all []*eval.Predictor, first *model.Model, schemas []*dataset.Schema, err error) {
	schemas = make([]*dataset.Schema, len(paths))
	firstName := ""
	dims := make([]int, len(paths)) // of models of LIBSVM and LIBLINEAR
	for i, path := range paths {
		if kind := foreignKind(path); kind != "" {
			m, err := loadForeign(kind, path)
			if err != nil {
				return nil, nil, nil, err
			}
			dims[i] = m.Dim()
			all = append(all, foreignPredictor(names[i], m))
			continue
		}
		m, err := model.Load(path)
		if err != nil {
			return nil, nil, nil, err
		}
		if m.Bag() != nil {
			return nil, nil, nil, fmt.Errorf("%s: is a model of bags, which are pooled by the model; measure each with mercer eval", path)
		}
		if first == nil {
			first, firstName = m, names[i]
		} else if err := eval.SameColumns(&first.Info().Schema, &m.Info().Schema); err != nil {
			return nil, nil, nil, fmt.Errorf("%s and %s do not read the same rows: %w", firstName, names[i], err)
		}
		schemas[i] = &m.Info().Schema
		all = append(all, eval.PredictorOf(names[i], m))
	}
	for i, d := range dims {
		if first != nil && d > first.Dim() {
			return nil, nil, nil, fmt.Errorf("%s and %s do not read the same rows: they have %d and %d input dimensions", firstName, names[i],
				first.Dim(), d)
		}
	}
	return all, first, schemas, nil
}
