package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/report"
	"mercer/model"
)

// evaluating is the state of the command "eval".
type evaluating struct {
	data     dataset.Options
	json     bool
	perClass bool
	curves   bool
	least    string
	quantile float64
	progress string
	pages    Pages
}

const evalHelp = `Predict the rows of DATA with MODEL and compare with their labels.

What matters most comes first. For classes: accuracy and error, macro F1 (the mean over the
classes) and, for two classes, F1 and the area under the ROC curve, with the second class as the
positive one. For numbers: root mean squared error, mean absolute error, R². For labels of which
a row may have any number: subset accuracy (the share of rows with exactly the predicted labels),
Hamming loss (the share of wrong decisions), micro and macro F1, and each label. For a model with
probabilities: log loss, Brier score and expected calibration error. Then come further numbers, each
with what it is; all are defined as in scikit-learn.

A label that the model has never seen counts as an error. With --weight all metrics take the rows
by the weights in that column. What cannot be said of these rows, such as the area under the
curve of one class alone, is left out.

--per-class shows the numbers of each class (or label, or output), and the confusion matrix, or of
more than 20 classes the pairs that are confused most often. --json gives all that,
and with --curves the points of ROC curves, of precision against recall, of calibration, and of
residuals.`

func newEval() *cobra.Command {
	e := &evaluating{}
	cmd := &cobra.Command{
		Use:   "eval [flags] MODEL DATA",
		Short: "Measure how well a model predicts labelled data",
		Long:  evalHelp,
		Example: `  mercer eval adult.mercer a9a.t.gz
  mercer eval adult.mercer a9a.t.gz --per-class
  mercer eval adult.mercer a9a.t.gz --json
  mercer eval adult.mercer a9a.t.gz --report adult.html --plots pictures
  mercer eval digits.mercer t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1]) },
	}
	dataFlags(cmd, &e.data)
	labelFlags(cmd, &e.data)
	groupFlag(cmd, &e.data)
	e.measures(cmd)
	ProgressFlag(cmd, &e.progress)
	return cmd
}

// measures adds the flags that say what is measured and how it is shown.
func (e *evaluating) measures(cmd *cobra.Command) {
	thresholdFlag(cmd, &e.least)
	f := cmd.Flags()
	f.BoolVar(&e.json, "json", false, "print one JSON object instead of text")
	f.BoolVar(&e.perClass, "per-class", false, "show each class (label, output) and the confusion matrix")
	f.BoolVar(&e.curves, "curves", false, "with --json: points of curves")
	f.Float64Var(&e.quantile, "quantile", 0, "quantile of the pinball loss (default: the model's)")
	PageFlags(cmd, &e.pages)
}

// checkMeasures finds what is wrong with these; inputs are the files of the command.
func (e *evaluating) checkMeasures(cmd *cobra.Command, inputs ...string) error {
	if cmd.Flags().Changed("quantile") && !(e.quantile > 0 && e.quantile < 1) {
		return usagef("--quantile %g is not between 0 and 1", e.quantile)
	}
	if e.curves && !e.json {
		return usagef("--curves is for --json; give both")
	}
	return e.pages.Check(inputs...)
}

// options are what is measured.
func (e *evaluating) options() eval.Options {
	return eval.Options{Curves: e.curves || e.pages.Wanted(), Quantile: e.quantile}
}

// run evaluates the model of a file on the data at path.
func (e *evaluating) run(cmd *cobra.Command, file, path string) error {
	if err := checkData(&e.data); err != nil {
		return err
	}
	if err := e.checkMeasures(cmd, file, path); err != nil {
		return err
	}
	p, err := NewProgress(cmd, e.progress)
	if err != nil {
		return err
	}
	if err := modelThenData(cmd, file, path); err != nil {
		return err
	}
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	if m, err = divided(m, file, e.least); err != nil {
		return err
	}
	src, err := openRows(cmd, m, path, e.data)
	if err != nil {
		return err
	}
	defer src.Close()
	opt := e.options()
	opt.Progress = func(rows int, share float64) { p.Report("test", rows, share) }
	metrics, err := eval.Evaluate(cmd.Context(), m, src, opt)
	p.Done()
	if err != nil {
		return err
	}
	warnUnseen(cmd, unseenIn(src))
	var page *report.Page
	if e.pages.Wanted() {
		if page, err = evalPage(cmd.Context(), m, file, src, metrics); err != nil {
			return err
		}
	}
	return e.print(cmd, m, metrics, page)
}

// print prints what was measured, and writes the page, if there is one.
func (e *evaluating) print(cmd *cobra.Command, m *model.Model, metrics *eval.Metrics, page *report.Page) error {
	if !e.curves {
		metrics.Curves = nil
	}
	if !e.json {
		render.EvalText(cmd.OutOrStdout(), metrics, render.ModelOf(m).Row(), e.perClass)
	}
	if err := e.pages.Write(cmd, page, e.json); err != nil || !e.json {
		return err
	}
	return render.JSON(cmd.OutOrStdout(), metrics)
}

// evalPage is the page of eval, for which it reads the data once more.
func evalPage(ctx context.Context, m *model.Model, file string, src *rows, metrics *eval.Metrics) (*report.Page, error) {
	data := &render.Data{Name: filepath.Base(src.Name())}
	var err error
	if bags, are := src.file.(*dataset.BagFile); are {
		data.Schema = *bags.Schema()
		data.Bags, err = dataset.SurveyBags(ctx, bags, dataset.SurveyOptions{})
	} else {
		data.Schema = *src.Schema()
		data.Summary, err = dataset.Survey(ctx, src, dataset.SurveyOptions{})
	}
	if err != nil {
		return nil, err
	}
	return render.EvalPage(render.ModelOf(m), filepath.Base(file), metrics, data), nil
}
