package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/lab"
	"mercer/model"
)

func newEval() *cobra.Command {
	var (
		data     dataset.Options
		asJSON   bool
		progress string
		pages    pages
	)
	cmd := &cobra.Command{
		Use:   "eval [flags] MODEL DATA",
		Short: "Measure how well a model predicts labelled data",
		Long: `Predict the rows of DATA with MODEL and compare with their labels.

For classes: accuracy and error, macro F1 (the mean over the classes) and, for two classes,
F1 and the area under the ROC curve, with the second class as the positive one. For numbers:
root mean squared error, mean absolute error, R². For labels of which a row may have any
number: subset accuracy (the share of rows with exactly the predicted labels), Hamming loss (the
share of wrong decisions), micro and macro F1, and each label. For a model with probabilities:
log loss, Brier score and expected calibration error. A label that the model has never seen
counts as an error.`,
		Example: `  mercer eval adult.mercer a9a.t.gz
  mercer eval adult.mercer a9a.t.gz --json
  mercer eval adult.mercer a9a.t.gz --report adult.html --plots pictures
  mercer eval digits.mercer t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkData(&data); err != nil {
				return err
			}
			if err := pages.check(); err != nil {
				return err
			}
			p, err := newProgress(cmd, progress)
			if err != nil {
				return err
			}
			m, err := model.Load(args[0])
			if err != nil {
				return err
			}
			src, err := openRows(cmd, m, args[1], data)
			if err != nil {
				return err
			}
			defer src.Close()
			metrics, err := lab.Evaluate(cmd.Context(), m, src, lab.Options{Curves: pages.wanted(), Progress: func(rows int, share float64) { p.report("test", rows, share) }})
			p.done()
			if err != nil {
				return err
			}
			warnUnseen(cmd, src)
			if !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-10s%s\n", rowWord(m)+"s", comma(metrics.N))
				printMetrics(cmd.OutOrStdout(), metrics)
			}
			if pages.wanted() {
				if err := pages.write(cmd, evalPage(m, args[0], src.Name(), metrics), asJSON); err != nil {
					return err
				}
				metrics.Curves = nil
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), metrics)
			}
			return nil
		},
	}
	dataFlags(cmd, &data)
	groupFlag(cmd, &data)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	pageFlags(cmd, &pages)
	progressFlag(cmd, &progress)
	return cmd
}

// printMetrics prints metrics for a person.
func printMetrics(w io.Writer, m *lab.Metrics) {
	percent := func(name string, v *float64) {
		if v != nil {
			fmt.Fprintf(w, "  %-10s%.2f %%\n", name, 100**v)
		}
	}
	number := func(name string, v *float64) {
		if v != nil {
			fmt.Fprintf(w, "  %-10s%.5g\n", name, *v)
		}
	}
	percent("accuracy", m.Accuracy)
	percent("error", m.Error)
	percent("exact", m.SubsetAccuracy)
	percent("Hamming", m.HammingLoss)
	percent("micro F1", m.MicroF1)
	percent("macro F1", m.MacroF1)
	percent("F1", m.F1)
	number("AUC", m.AUC)
	number("RMSE", m.RMSE)
	number("MAE", m.MAE)
	number("R²", m.R2)
	number("log loss", m.LogLoss)
	number("Brier", m.Brier)
	number("ECE", m.ECE)
	for i, l := range m.Labels {
		if i == 0 {
			fmt.Fprintf(w, "\n  %-20s%10s%11s%11s%11s\n", "label", "rows", "precision", "recall", "F1")
		}
		if i == 40 {
			fmt.Fprintf(w, "  … and %s more (--json lists all)\n", comma(len(m.Labels)-i))
			break
		}
		fmt.Fprintf(w, "  %-20s%10s%9.2f %%%9.2f %%%9.2f %%\n", l.Label, comma(int(l.Rows)), 100*l.Precision, 100*l.Recall, 100*l.F1)
	}
}
