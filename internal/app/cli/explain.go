package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/spelling"
	"mercer/matrix"
	"mercer/model"
)

// explaining is the state of the command explain.
type explaining struct {
	data         dataset.Options
	sample       int
	dependence   int
	rows         string
	background   string
	permutations int
	class        string
	seed         uint64
	top          int
	json         bool
	progress     string
	pages        Pages
}

func newExplain() *cobra.Command {
	e := &explaining{}
	cmd := &cobra.Command{
		Use:   "explain [flags] MODEL DATA",
		Short: "Tell which columns matter to a model, or to its prediction of a row",
		Long: `Tell what a model goes by, from its predictions alone, so that it holds for every kernel, map and learner.

Without --rows: the importance of each column, which is how much the loss rises if the column's values are permuted among
the rows; the partial dependence on the leading columns, which is the mean prediction over rows that all have one
value in the column; and the pairs of columns that act together, where the model has a full or low-rank
learned metric. DATA should have labels, and rows that the model was not trained on.

With --rows: the contributions of the columns to the scores of single rows, which add up to the difference from the
mean score of background rows (interventional Shapley values). --rows 5 takes the first five rows, --rows
3,17,100-120 rows by their numbers from 1, and --rows 7-7 only row 7. Labels are not needed. The score is that of "predict
--scores": the log-odds of a logistic model, a margin, or the number.

A column is one of the file: the values of a categorical column go together. docs/explain.md tells the definitions.`,
		Example: `  mercer explain adult.mercer test.csv
  mercer explain adult.mercer test.csv --report adult.html
  mercer explain adult.mercer new.csv --rows 5 --background train.csv
  mercer explain adult.mercer new.csv --rows 3,17 --class '>50K' --json`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringVar(&e.rows, "rows", "", "rows to explain: N for the first N, or numbers and ranges from 1 such as 3,17,100-120")
	f.StringVar(&e.background, "background", "", "with --rows: how many rows of DATA to compare with, drawn at random, "+
		"or a file, of which 100 rows are drawn (default 100 rows of DATA)")
	f.IntVar(&e.permutations, "permutations", 0, "without --rows: permutations of each column, 2 or more (default 5); "+
		"with --rows: orders of the columns for each background row, an even number "+
		"(default: 4 to 40, or all subsets)")
	f.StringVar(&e.class, "class", "", "with --rows: class, label or target whose score is shown "+
		"(default: the predicted class, or the first target)")
	f.IntVar(&e.sample, "sample", 0, "without --rows: rows that importance is measured on, drawn at random "+
		"(default: 5000, or fewer with many columns)")
	f.IntVar(&e.dependence, "dependence", 6, "without --rows: leading columns whose partial dependence is shown")
	f.IntVar(&e.top, "top", 10, "columns, and pairs of them, to show")
	f.Uint64Var(&e.seed, "seed", 1, "seed of all that is random")
	dataFlags(cmd, &e.data)
	labelFlags(cmd, &e.data)
	f.BoolVar(&e.json, "json", false, "print one JSON object instead of text")
	PageFlags(cmd, &e.pages)
	tableFlag(cmd, &e.pages)
	ProgressFlag(cmd, &e.progress)
	return cmd
}

// check finds what is wrong with the flags themselves.
func (e *explaining) check(cmd *cobra.Command) error {
	if err := checkData(&e.data); err != nil {
		return err
	}
	only := map[bool]string{false: "background class", true: "sample dependence"}[e.rows != ""]
	for name := range strings.FieldsSeq(only) {
		if cmd.Flags().Changed(name) && e.rows == "" {
			return usagef("--%s is about single rows; say which by --rows", name)
		} else if cmd.Flags().Changed(name) {
			return usagef("--%s is about the model as a whole; leave out --rows", name)
		}
	}
	switch {
	case e.top < 1:
		return usagef("--top %d: give 1 or more", e.top)
	case e.dependence < 0:
		return usagef("--dependence %d: give 0 or more", e.dependence)
	case e.sample < 0 || e.sample == 0 && cmd.Flags().Changed("sample"):
		return usagef("--sample %d: give 1 or more", e.sample)
	case e.rows == "" && cmd.Flags().Changed("permutations") && e.permutations < 2:
		return usagef("--permutations %d: give 2 or more, so that there is a spread", e.permutations)
	case e.rows != "" && cmd.Flags().Changed("permutations") && (e.permutations < 4 || e.permutations%2 != 0):
		return usagef("--permutations %d: give an even number of orders for each row, 4 or more", e.permutations)
	}
	return nil
}

func (e *explaining) run(cmd *cobra.Command, modelPath, path string) error {
	if err := e.check(cmd); err != nil {
		return err
	}
	if err := e.pages.Check(modelPath, path, e.file()); err != nil {
		return err
	}
	wanted, err := parseRowList(e.rows)
	if err != nil {
		return err
	}
	bars, err := NewProgress(cmd, e.progress)
	if err != nil {
		return err
	}
	if err := modelThenData(cmd, modelPath, path); err != nil {
		return err
	}
	if kind := foreignKind(modelPath); kind != "" {
		return fmt.Errorf("%s is a model of %s; only Mercer's own are explained", modelPath, kind)
	}
	m, err := model.Load(modelPath)
	if err != nil {
		return err
	}
	if m.Bag() != nil {
		return fmt.Errorf("%s predicts bags, whose rows are pooled and have no columns of the data; only models of rows are explained", modelPath)
	}
	shown, err := e.outputOf(m)
	if err != nil {
		return err
	}
	e.data.LabelsOptional = wanted != nil
	src, err := openRows(cmd, m, path, e.data)
	if err != nil {
		return err
	}
	defer src.Close()
	if wanted == nil {
		err = e.whole(cmd, m, modelPath, src, bars)
	} else {
		err = e.single(cmd, m, modelPath, src, bars, wanted, shown)
	}
	bars.Done()
	if err != nil {
		return err
	}
	warnUnseen(cmd, unseenIn(src))
	return nil
}

// whole explains the model as a whole.
func (e *explaining) whole(cmd *cobra.Command, m *model.Model, modelPath string, src *rows, bars *Progress) error {
	ctx, repeats := cmd.Context(), cmp.Or(e.permutations, eval.Repeats)
	if e.sample == 0 {
		e.sample = eval.DefaultRows(m, repeats)
	}
	sample, err := eval.Draw(ctx, m, src, e.sample, e.seed)
	if err != nil {
		return err
	}
	out := &render.Explanation{Model: filepath.Base(modelPath), Data: filepath.Base(src.Name())}
	out.Importance, err = eval.Importance(ctx, m, sample, eval.ImportanceOptions{Repeats: repeats, Seed: e.seed,
		Progress: func(share float64) { bars.Report("permute", -1, share) }})
	if err != nil {
		return err
	}
	if e.dependence > 0 {
		out.Dependence, err = eval.Dependence(ctx, m, sample, eval.DependenceOptions{
			Columns: out.Importance.Leading(e.dependence), Seed: e.seed,
			Progress: func(share float64) { bars.Report("depend", -1, share) }})
		if err != nil {
			return err
		}
	}
	pairs, err := eval.Pairs(m)
	switch {
	case err != nil:
		out.NoPairs = oneLine(err)
	case len(pairs) == 0:
		out.NoPairs = "the model's metric has no two columns that go together"
	}
	out.Pairs = pairs
	bars.Done()
	if e.json {
		if err := render.JSON(cmd.OutOrStdout(), out); err != nil {
			return err
		}
	} else {
		render.ExplainText(cmd.OutOrStdout(), out, e.top)
	}
	if err := e.pages.writeTable(cmd, e.json, func(w io.Writer) error { return render.ExplainCSV(w, out) }); err != nil {
		return err
	}
	return e.pages.Write(cmd, render.ExplainPage(out, e.top), e.json)
}

// file is the file of background rows, "" if there is none.
func (e *explaining) file() string {
	if _, err := strconv.Atoi(e.background); err == nil {
		return ""
	}
	return e.background
}

// compared are the rows to compare with.
func (e *explaining) compared(cmd *cobra.Command, m *model.Model, src *rows) (*eval.Rows, error) {
	if path := e.file(); path != "" {
		other, err := openRows(cmd, m, path, e.data)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		return eval.Draw(cmd.Context(), m, other, eval.BackgroundRows, e.seed)
	}
	n := eval.BackgroundRows
	if e.background != "" {
		n, _ = strconv.Atoi(e.background)
		if n < 1 {
			return nil, usagef("--background %s: give the number of rows to compare with, or a file with such rows", e.background)
		}
	}
	back, err := eval.Draw(cmd.Context(), m, src, n, e.seed)
	if err == nil && e.background != "" && back.Of < n {
		err = fmt.Errorf("--background %d: %s has %d rows; give fewer, or a file with more", n, src.Name(), back.Of)
	}
	return back, err
}

// single explains single rows.
func (e *explaining) single(cmd *cobra.Command, m *model.Model, modelPath string, src *rows, bars *Progress, wanted *rowList,
	shown outputShown) error {
	back, err := e.compared(cmd, m, src)
	if err != nil {
		return err
	}
	if e.file() == "" && wanted.last() >= back.Of && !wanted.first {
		return fmt.Errorf("%s has %d rows, and --rows asks for row %d", src.Name(), back.Of, wanted.last()+1)
	}
	columns := eval.Columns(m)
	out := &render.Contributions{Model: filepath.Base(modelPath), Data: filepath.Base(src.Name()), Background: back.X.Len(),
		BackgroundData: filepath.Base(back.Name()), Outputs: eval.OutputNames(m)}
	for i := range columns {
		out.Columns = append(out.Columns, columns[i].Name)
	}
	told := !e.json && e.pages.csv == ""
	if told {
		bars.w = nil // text and a progress line would mix on a terminal
	}
	write := func(table *csv.Writer) error {
		return wanted.each(cmd, src, func(b dataset.Step, i, row int) error {
			opt := eval.ContributionOptions{Permutations: e.permutations, Seed: e.seed, First: row}
			for c, err := range eval.Contributions(cmd.Context(), m, b.X.Slice(i, i+1), back, opt) {
				if err != nil {
					if at := (*dataset.RowError)(nil); errors.As(err, &at) && at.Source == "" {
						return dataset.Locate(err, src, row)
					}
					return err
				}
				r := shown.row(m, columns, c, b.X.Slice(i, i+1))
				bars.Report("explain", row+1, b.Pass.Progress())
				if table != nil {
					if err := out.CSVRow(table, &r); err != nil {
						return err
					}
				}
				if e.json || e.pages.Wanted() {
					out.Rows = append(out.Rows, r)
				}
				if told {
					out.Text(cmd.OutOrStdout(), &r, e.top)
				}
			}
			return nil
		})
	}
	if e.pages.csv == "" {
		err = write(nil)
	} else {
		err = e.pages.writeTable(cmd, e.json, func(w io.Writer) error {
			table := csv.NewWriter(w)
			if err := out.CSVHeader(table); err != nil {
				return err
			}
			if err := write(table); err != nil {
				return err
			}
			table.Flush()
			return table.Error()
		})
	}
	if err != nil {
		return err
	}
	bars.Done()
	if e.json {
		if err := render.JSON(cmd.OutOrStdout(), out); err != nil {
			return err
		}
	}
	if !e.pages.Wanted() {
		return nil
	}
	return e.pages.Write(cmd, out.Page(e.top), e.json)
}

// outputShown is the score that is shown of each row.
type outputShown struct {
	asked   bool
	output  int
	negated bool // the score of the second of two classes is shown for the first
}

// outputOf is the score that --class asks for.
func (e *explaining) outputOf(m *model.Model) (outputShown, error) {
	if e.class == "" {
		return outputShown{}, nil
	}
	names := eval.OutputNames(m)
	if k := slices.Index(names, e.class); k >= 0 {
		return outputShown{true, k, false}, nil
	}
	if classes := m.Classes(); classes != nil {
		k := dataset.NewClasses(classes).Named(e.class)
		switch {
		case k >= 0 && len(names) < len(classes):
			return outputShown{true, 0, k == 0}, nil
		case k >= 0:
			return outputShown{true, k, false}, nil
		}
		names = classes
	}
	meant := ""
	if near := spelling.Near(e.class, names); near != "" {
		meant = fmt.Sprintf("; did you mean %s?", near)
	}
	listed := names[:min(len(names), 20)]
	return outputShown{}, usagef("--class %s: the model has %s%s", e.class, strings.Join(listed, ", "), meant)
}

// row is what is presented of a row.
func (s outputShown) row(m *model.Model, columns []eval.Column, c *eval.Contribution, x matrix.Rows) render.RowContributions {
	scores := make([]float32, len(c.Score))
	for k, v := range c.Score {
		if offset := m.Info().Offset; offset != nil {
			v -= offset[k]
		}
		scores[k] = float32(v)
	}
	r := render.RowContributions{Row: c.Row + 1, Prediction: strings.ReplaceAll(string(m.AppendPrediction(nil, scores)), "\t", ", "),
		Base: c.Base, Score: c.Score, Values: c.Values, SE: c.SE, Exact: c.Exact, Output: s.output, Negated: s.negated}
	for i := range columns {
		r.Inputs = append(r.Inputs, columns[i].Text(x, 0))
	}
	switch classes := m.Classes(); {
	case s.asked:
	case classes != nil && len(scores) < len(classes):
		r.Negated = m.Class(scores) == 0
	case classes != nil:
		r.Output = m.Class(scores)
	case m.Labels() != nil:
		for k, v := range scores {
			if v > scores[r.Output] {
				r.Output = k
			}
		}
	}
	if names := eval.OutputNames(m); m.Classes() != nil && r.Negated {
		r.Class = m.Classes()[0]
	} else if m.Classes() != nil || len(names) > 1 {
		r.Class = names[r.Output]
	}
	return r
}
