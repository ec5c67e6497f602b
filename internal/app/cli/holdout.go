package cli

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/internal/app/render"
)

// holdoutFlags are those that say which rows a model is tested on.
func holdoutFlags(cmd *cobra.Command, t *training) {
	f, c := cmd.Flags(), &t.data.Columns
	f.Float64Var(&t.holdout, "holdout", 0, "share of the rows to keep back and test on (default: 0.2 with --split-group and --split-time)")
	f.StringVar(&t.divide, "holdout-kind", "auto", "how --holdout draws the rows by --seed: random, stratified (the same share of each class), "+
		"or auto: stratified for classes, else random")
	f.StringVar(&c.SplitGroup, "split-group", "", "column whose rows with the same value are all held back or all trained on; no input; "+
		"qid in LIBSVM text")
	f.StringVar(&c.SplitTime, "split-time", "", "column with a date or a number, by which the last rows are held back")
	f.StringVar(&c.SplitColumn, "split-column", "", "column that says train or test of each row; no input")
}

// splitFlag is the flag of a column to divide rows by, "" where none is given.
func (t *training) splitFlag() string {
	c := &t.data.Columns
	switch {
	case c.SplitGroup != "":
		return "--split-group"
	case c.SplitTime != "":
		return "--split-time"
	case c.SplitColumn != "":
		return "--split-column"
	}
	return ""
}

// holdsOut says that some rows of DATA are for the test.
func (t *training) holdsOut() bool { return t.holdout > 0 || t.splitFlag() != "" }

// checkHoldout finds what is wrong with the flags of rows to test on.
func (t *training) checkHoldout() error {
	c, split := &t.data.Columns, t.splitFlag()
	given := slices.DeleteFunc([]string{c.SplitGroup, c.SplitTime, c.SplitColumn}, func(s string) bool { return s == "" })
	switch {
	case t.holdout < 0 || t.holdout >= 1 || math.IsNaN(t.holdout):
		return usagef("--holdout %g is not a share between 0 and 1", t.holdout)
	case !slices.Contains([]string{"", "auto", "random", "stratified"}, t.divide):
		return usagef("--holdout-kind %q is not known; known are auto, random, stratified", t.divide)
	case len(given) > 1:
		return usagef("--split-group, --split-time and --split-column each say how rows are divided; give one of them")
	case t.divide != "auto" && t.divide != "" && split != "":
		return usagef("--holdout-kind %s and %s both say how rows are held back; give one of them", t.divide, split)
	case t.divide != "auto" && t.divide != "" && t.holdout == 0:
		return usagef("--holdout-kind %s is about the rows of --holdout; give their share, such as --holdout 0.2", t.divide)
	case c.SplitColumn != "" && t.holdout > 0:
		return usagef("--split-column says which rows to test on; leave out --holdout")
	case split != "" && t.test != "":
		return usagef("--test and %s both say what to test on; give one of them", split)
	case split != "" && (t.data.Group != "" || t.cfg.Bag != nil):
		return usagef("%s is for rows, and bags are held back whole; give --holdout", split)
	}
	if t.divide == "auto" {
		t.divide = ""
	}
	return nil
}

// heldBack says which rows a model was tested on.
func (t *training) heldBack(r *front.Result) string {
	if r.Held == nil {
		return fmt.Sprintf("%g %% of the %ss, held back", 100*t.holdout, render.ModelOf(r.Model).Row())
	}
	return r.Held.String()
}
