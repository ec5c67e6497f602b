package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/internal/app/cli"
	"mercer/internal/app/render"
	"mercer/internal/engine/hypothesis"
	"mercer/internal/engine/units"
)

// ranks is the state of the command of that name.
type ranks struct {
	higher, lower bool
	alpha         float64
	control       string
	json          bool
	pages         cli.Pages
}

func newRanks() *cobra.Command {
	r := &ranks{}
	cmd := &cobra.Command{
		Use:   "ranks [flags] TABLE",
		Short: "Tell which methods differ by their scores on several data sets",
		Long: `Compare methods by a table of scores with a row a data set and a column a method: comma,
semicolon or tab between the cells, the methods' names in the first line and, if it is not
numbers, the data sets' in the first column. "-" is standard input.

The best method of a row has rank 1, and equal scores share their mean rank. Friedman's test
says whether the methods differ at all, with the less conservative F of Iman and Davenport
beside it. If they do, the comparisons after it say which: mean ranks that lie further apart than
the critical difference (Nemenyi) differ at the level --alpha, all pairs taken together. For
each pair there is z, the difference of the mean ranks in standard errors, its p, p adjusted for
all pairs (Nemenyi, Holm, Shaffer), and the p of Wilcoxon's signed-rank test of the scores
themselves, adjusted by Holm, which does not depend on the other methods in the table. With
--control there is instead, for each other method, the comparison with that one (Bonferroni-Dunn,
Holm, Hochberg). Two methods are compared by Wilcoxon's test and the sign test.

In the diagram, methods joined by a line on the right do not differ significantly; with --control,
those marked ≈ do not differ from it.

Scores should come from other data sets, not from folds or seeds of one: those are not
independent, and make everything look significant.`,
		Example: `  go run . ranks accuracy.csv
  go run . ranks rmse.csv --lower --control "exact kernel"
  go run . ranks accuracy.csv --alpha 0.1 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%d arguments; usage: %s", len(args), cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.higher, "higher", false, "larger scores are better, as of accuracies (the default)")
	f.BoolVar(&r.lower, "lower", false, "smaller scores are better, as of errors and times")
	f.Float64Var(&r.alpha, "alpha", 0.05, "level of significance")
	f.StringVar(&r.control, "control", "", "method that all others are compared with")
	f.BoolVar(&r.json, "json", false, "print one JSON object instead of text")
	cli.PageFlags(cmd, &r.pages)
	return cmd
}

// scoreTable is a table of scores with its name.
type scoreTable struct {
	hypothesis.Table
	name string
}

func (r *ranks) run(cmd *cobra.Command, path string) error {
	if r.higher && r.lower {
		return usagef("--higher and --lower exclude each other; give one of them")
	}
	if !(r.alpha > 0 && r.alpha < 1) {
		return usagef("--alpha %g is not a level between 0 and 1, such as 0.05", r.alpha)
	}
	if err := r.pages.Check(path); err != nil {
		return err
	}
	t, err := readScores(cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	if r.control != "" && !slices.Contains(t.Methods, r.control) {
		return usagef("--control %q is no method of %s, which has %s", r.control, t.name, strings.Join(t.Methods, ", "))
	}
	out, err := hypothesis.Compare(t.Table, hypothesis.CompareOptions{Lower: r.lower, Alpha: r.alpha, Control: r.control})
	if err != nil {
		return fmt.Errorf("%s: %s", t.name, strings.TrimPrefix(err.Error(), "rank: "))
	}
	if r.json {
		if err := r.pages.Write(cmd, ranksPage(out, t.name), true); err != nil {
			return err
		}
		return render.JSON(cmd.OutOrStdout(), out)
	}
	ranksText(cmd.OutOrStdout(), out, t.name)
	return r.pages.Write(cmd, ranksPage(out, t.name), false)
}

// readScores reads a table of scores.
func readScores(stdin io.Reader, path string) (*scoreTable, error) {
	t := &scoreTable{name: filepath.Base(path)}
	if path == "-" {
		t.name = "standard input"
	}
	text, err := cli.ReadSmall(path, stdin)
	if err != nil {
		return nil, err
	}
	c := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
	c.Comment, c.TrimLeadingSpace, c.FieldsPerRecord = '#', true, -1
	head, _, _ := strings.Cut(string(text), "\n")
	for _, comma := range "\t;" {
		if strings.ContainsRune(head, comma) {
			c.Comma = comma
			c.TrimLeadingSpace = comma != '\t' // an empty cell is not to be skipped
			break
		}
	}
	var lines []int
	var cells [][]string
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var where *csv.ParseError
			if errors.As(err, &where) {
				return nil, fmt.Errorf("%s:%d: %w", t.name, where.Line, where.Err)
			}
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		line, _ := c.FieldPos(0)
		lines, cells = append(lines, line), append(cells, record)
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s: the table is empty; the first line names the methods, and every other has their scores on a data set", t.name)
	}
	header := cells[0]
	for i, row := range cells[1:] {
		if len(row) != len(header) {
			return nil, fmt.Errorf("%s:%d: %s, but the first line has %d", t.name, lines[i+1], units.Plural(len(row), "cell"), len(header))
		}
	}
	first := 0
	for _, row := range cells[1:] {
		if _, err := strconv.ParseFloat(row[0], 64); err != nil && row[0] != "" {
			first = 1
		}
	}
	t.Methods = header[first:]
	for i, name := range t.Methods {
		if name == "" {
			return nil, fmt.Errorf("%s:%d: column %d has no name; the first line names the methods", t.name, lines[0], first+i+1)
		}
		if slices.Index(t.Methods, name) < i {
			return nil, fmt.Errorf("%s:%d: two columns are called %q", t.name, lines[0], name)
		}
	}
	if len(t.Methods) < 2 {
		return nil, fmt.Errorf("%s: has %s to compare; give a column for each of two or more", t.name, units.Plural(len(t.Methods), "method"))
	}
	if n := len(cells) - 1; n < 3 {
		return nil, fmt.Errorf("%s: %s cannot tell methods apart by their ranks; give three or more, "+
			"or compare models on the rows of one with mercer compare", t.name, units.Plural(n, "data set"))
	}
	for i, row := range cells[1:] {
		scores := make([]float64, len(t.Methods))
		for j, cell := range row[first:] {
			v, err := strconv.ParseFloat(cell, 64)
			switch {
			case cell == "" || cell == "?" || strings.EqualFold(cell, "na"):
				return nil, fmt.Errorf("%s:%d: column %q: there is no score; ranks take one of every method "+
					"on every data set, so leave out the row or the column", t.name, lines[i+1], t.Methods[j])
			case err != nil || v-v != 0:
				return nil, fmt.Errorf("%s:%d: column %q: %q is not a finite number", t.name, lines[i+1], t.Methods[j], cell)
			}
			scores[j] = v
		}
		t.Scores = append(t.Scores, scores)
	}
	return t, nil
}
