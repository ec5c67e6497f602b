package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/learn"
	"mercer/model"
	"mercer/reduce"
	"mercer/train"
)

func newInspect() *cobra.Command {
	var (
		data     dataset.Options
		asJSON   bool
		progress string
	)
	cmd := &cobra.Command{
		Use:   "inspect [flags] MODEL|DATA",
		Short: "Tell what a model or a data file holds",
		Long: `Tell what is in a model file (what it predicts, how it was trained, what was chosen and why), in
a text model of LIBSVM or LIBLINEAR, or in a data file (format, rows, columns, labels, and the scaling that train would choose). With
--group, and in a folder, rows are members of bags.`,
		Example: `  mercer inspect adult.mercer
  mercer inspect adult.csv
  mercer inspect adult.mercer --json`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkData(&data); err != nil {
				return err
			}
			if isModel(args[0]) {
				return inspectModel(cmd, args[0], asJSON)
			}
			if kind := foreignKind(args[0]); kind != "" {
				return inspectForeign(cmd, kind, args[0], asJSON)
			}
			p, err := newProgress(cmd, progress)
			if err != nil {
				return err
			}
			if data.Group != "" || isFolder(args[0]) {
				return inspectBags(cmd, args[0], data, p, asJSON)
			}
			return inspectData(cmd, args[0], data, p, asJSON)
		},
	}
	dataFlags(cmd, &data)
	groupFlag(cmd, &data)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &progress)
	return cmd
}

// isModel says whether a file looks like a model file: a header of JSON after its length.
func isModel(path string) bool {
	if path == "-" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return strings.HasSuffix(path, ".mercer")
	}
	defer f.Close()
	head := make([]byte, 9)
	n, _ := f.Read(head)
	return strings.HasSuffix(path, ".mercer") || n == 9 && head[8] == '{' && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0
}

func inspectModel(cmd *cobra.Command, path string, asJSON bool) error {
	m, err := model.Load(path)
	if err != nil {
		if s, other := train.LoadStatistics(path); other == nil {
			return inspectStatistics(cmd, path, s, asJSON)
		}
		return err
	}
	info := m.Info()
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]any{"kind": "model", "model": info})
	}
	w := cmd.OutOrStdout()
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	line("model", "%s (%s)", path, bytesText(st.Size()))
	if b := info.Bag; b != nil {
		line("trained", "on %s of %s × %s dimensions (%s)", plural(info.Training.Rows, "bag"), membersText(b.Least, b.Most), comma(b.Schema.Dim), b.Schema.Format)
	} else {
		line("trained", "on %s rows × %s dimensions (%s)", comma(info.Training.Rows), comma(m.Dim()), info.Schema.Format)
	}
	printInfo(line, m)
	if r := model.ReportOf[*learn.RidgeReport](&info.Training); r != nil && len(r.Path) > 0 && !r.Whole {
		fmt.Fprintf(w, "\n  %-14s%s\n", "λ", "mean squared error")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14.3g%.5g%s\n", p.Lambda, p.Error, mark)
		}
	}
	if r := model.ReportOf[*learn.LassoReport](&info.Training); r != nil && len(r.Path) > 0 {
		fmt.Fprintf(w, "\n  %-14s%-30s%s\n", "λ", "held-out mean squared error", "weights that are not 0")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14.3g%-30.5g%d%s\n", p.Lambda, p.Error, p.Weights, mark)
		}
	}
	if r := model.ReportOf[*learn.SVMReport](&info.Training); r != nil && len(r.Path) > 0 {
		fmt.Fprintf(w, "\n  %-14s%s\n", "C", "held-out error")
		for _, p := range r.Path {
			mark := ""
			if p.Chosen {
				mark = "  chosen"
			}
			fmt.Fprintf(w, "  %-14g%.2f %%%s\n", p.C, 100*p.Error, mark)
		}
	}
	if r := info.Training.Reduction; r != nil {
		printVariances(w, r)
	}
	if r := model.ReportOf[*learn.OnlineReport](&info.Training); r != nil {
		fmt.Fprintf(w, "\n  %-14s%s\n", "rows", "loss and error before they were learned")
		for _, p := range r.Progressive {
			fmt.Fprintf(w, "  %-14s%-10.4g", comma(int(p.Rows)), p.Loss)
			if p.Error != nil {
				fmt.Fprintf(w, "  %.2f %%", 100**p.Error)
			}
			fmt.Fprintln(w)
		}
	}
	schema := &info.Schema
	if info.Bag != nil {
		schema = &info.Bag.Schema
	}
	if cols := schema.Columns; len(cols) > 0 && (schema.Header || hasCategories(cols)) {
		fmt.Fprintf(w, "\n  %s\n", "columns")
		for _, c := range cols {
			what := "numeric"
			if c.Categories != nil {
				what = plural(len(c.Categories), "value") + ": " + shortened(c.Categories, 8)
			}
			fmt.Fprintf(w, "    %-24s%s\n", c.Name, what)
		}
	}
	return nil
}

// printVariances prints how the variance falls from component to component: of the first ones
// each, then of powers of two, and of the last.
func printVariances(w io.Writer, r *reduce.Report) {
	fmt.Fprintf(w, "\n  %-14s%-30s%s\n", "component", "share of the variance", "of it and those before")
	sum := 0.0
	for i, v := range r.Variances {
		sum += v
		if n := i + 1; n <= 8 || n&(n-1) == 0 || n == len(r.Variances) {
			fmt.Fprintf(w, "  %-14d%-30s%.2f %%\n", n, fmt.Sprintf("%.3g %%", 100*v/r.Variance), 100*sum/r.Variance)
		}
	}
}

func hasCategories(cols []dataset.Column) bool {
	for _, c := range cols {
		if c.Categories != nil {
			return true
		}
	}
	return false
}

// shortened lists the first words of a list.
func shortened(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:most], ", ") + ", …"
}

func inspectData(cmd *cobra.Command, path string, opt dataset.Options, p *progress, asJSON bool) error {
	src, err := dataset.Open(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.Survey(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.report("read", rows, share) },
	})
	p.done()
	if err != nil {
		return err
	}
	return printData(cmd, src.Name(), *src.Schema(), sum, nil, asJSON)
}

// inspectBags is inspectData for bags.
func inspectBags(cmd *cobra.Command, path string, opt dataset.Options, p *progress, asJSON bool) error {
	src, err := dataset.OpenBags(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.SurveyBags(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.report("read", rows, share) },
	})
	p.done()
	if err != nil {
		return err
	}
	return printData(cmd, src.Name(), *src.Schema(), sum.Summary, sum, asJSON)
}

// printData prints what a pass over data told; bags is nil for rows.
func printData(cmd *cobra.Command, name string, schema dataset.Schema, sum *dataset.Summary, bags *dataset.BagSummary, asJSON bool) error {
	schema.Dim = sum.Dim
	kind, why := dataset.ChooseScale(sum)
	task, taskWhy, taskErr := sum.Task("auto")
	if asJSON {
		v := map[string]any{"kind": "data", "name": name, "rows": sum.Rows, "d": sum.Dim, "density": sum.Density(),
			"schema": schema, "scale": kind}
		if taskErr == nil {
			v["task"] = task
		}
		if bags != nil {
			v["bags"], v["least"], v["most"] = bags.Bags, bags.Least, bags.Most
		}
		return printJSON(cmd.OutOrStdout(), v)
	}
	w := cmd.OutOrStdout()
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	line("data", "%s (%s)", name, schema.Format)
	if bags != nil {
		line("bags", "%s of %s", comma(bags.Bags), membersText(bags.Least, bags.Most))
	}
	line("rows", "%s × %s dimensions, %.3g %% of the values not zero", comma(sum.Rows), comma(sum.Dim), 100*sum.Density())
	switch {
	case taskErr != nil:
		line("labels", "%s", taskErr)
	case task == "multilabel":
		if l, err := sum.LabelSets(&schema); err == nil {
			line("labels", "%d, of which a row may have any number (%s): %s", len(l.Labels()), taskWhy, shortened(l.Labels(), 12))
		} else {
			line("labels", "%s", err)
		}
	case task == "regress":
		line("labels", "%s to predict (%s)", plural(sum.Outputs, "number"), taskWhy)
	default:
		if c, err := sum.Classes(); err == nil {
			line("labels", "%d classes (%s): %s", len(c.Labels()), taskWhy, shortened(c.Labels(), 12))
		} else {
			line("labels", "%s", err)
		}
	}
	line("scaling", "train would choose %s (%s)", kind, why)
	if len(schema.Columns) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n    %-24s%12s%12s%12s%12s\n", "column", "min", "mean", "max", "deviation")
	at := 0
	for i, c := range schema.Columns {
		if i == 40 {
			fmt.Fprintf(w, "    … and %s more (--json lists all)\n", comma(len(schema.Columns)-i))
			break
		}
		if c.Categories != nil {
			fmt.Fprintf(w, "    %-24s%s values: %s\n", c.Name, comma(len(c.Categories)), shortened(c.Categories, 6))
		} else {
			s := &sum.Columns[at]
			fmt.Fprintf(w, "    %-24s%12.5g%12.5g%12.5g%12.5g\n", c.Name, s.Min, s.Mean, s.Max, math.Sqrt(s.Variance))
		}
		at += c.Width()
	}
	return nil
}
