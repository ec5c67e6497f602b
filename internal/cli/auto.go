package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/auto"
	"mercer/dataset"
	"mercer/model"
	"mercer/train"
	"mercer/trial"
)

const autoHelp = `--auto chooses kernel, γ, scaling, learner and the number of features: it looks at the data,
races candidates on growing samples of the rows, judged by rows that none is trained on, and
trains the best on all rows, with as many features as --budget and --memory have room for. Flags
that are given hold for all candidates. It prints what it tried, why it chose, the command that
trains the same model again, and what a support vector machine with the kernel itself would
have taken.

--estimate predicts the time and the memory of the training by a few small ones, and stops. Where
progress is shown, a training of more than some ten seconds says so before it begins.
`

// defaultBudget is --budget where it is not given.
const defaultBudget = 60 * time.Second

// autoFlags are those of choosing by races.
func (t *training) autoFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&t.auto, "auto", false, "choose kernel, γ, scaling, learner and number of features by races on samples of the rows")
	f.DurationVar(&t.budget, "budget", defaultBudget, "time that --auto may take, with the training")
	f.BoolVar(&t.estimate, "estimate", false, "predict the time and the memory of the training, and stop")
}

// checkAuto finds flags that do not go together with --auto.
func (t *training) checkAuto(cmd *cobra.Command, path string) error {
	switch what := t.estimable(path); {
	case !t.auto && cmd.Flags().Changed("budget"):
		return usagef("--budget is the time that --auto may take; give --auto as well")
	case !t.auto:
		return nil
	case t.estimate:
		return usagef("--auto chooses what to train, --estimate predicts a training that is known; give one of them")
	case what != "":
		return usagef("--auto chooses among trainings on a file of rows, not on %s", what)
	case t.saveStats != "":
		return usagef("--auto may choose a learner without statistics; leave out --save-stats, and train with the command that --auto prints")
	case t.budget <= 0:
		return usagef("--budget %s is not a time; give one such as 60s or 10m", t.budget)
	}
	return nil
}

// fitAuto chooses and trains.
func (t *training) fitAuto(ctx context.Context, cmd *cobra.Command, src dataset.Source, p *progress, opt train.Options) (*model.Model, *train.Report, error) {
	given := t.cfg
	if !cmd.Flags().Changed("kernel") {
		given.Kernel = ""
	}
	if !cmd.Flags().Changed("gamma") {
		given.Gamma = ""
	}
	m, report, chosen, err := auto.Train(ctx, src, auto.Options{
		Config: given, Budget: t.budget, Training: opt,
		Progress: func(what string) { p.report("auto: "+what, 0, -1) },
	})
	if err != nil {
		return nil, nil, err
	}
	t.chosen = &autoJSON{Report: chosen, Command: trainCommand(cmd, chosen.Config, t.path)}
	return m, report, nil
}

// autoJSON is what train --auto --json prints under "auto".
type autoJSON struct {
	*auto.Report

	// Command trains the same model again; where the model is of fewer rows than there are, it
	// trains the same configuration on all of them.
	Command string `json:"command"`
}

// trainCommand is the command line that trains a configuration, with the flags that were
// given besides.
func trainCommand(cmd *cobra.Command, c train.Config, path string) string {
	type flag struct{ name, value string }
	var all []flag
	set := func(name, value string) {
		for i := range all {
			if all[i].name == name {
				all[i].value = value
				return
			}
		}
		all = append(all, flag{name, value})
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "auto", "budget", "json", "progress", "estimate", "output", "report", "plots":
		default:
			set(f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	for _, f := range []struct {
		flag
		given bool
	}{
		{flag{"task", c.Task}, true},
		{flag{"scale", c.Scale}, c.Scale != "auto"},
		{flag{"kernel", c.Kernel}, true},
		{flag{"gamma", c.Gamma}, c.Gamma != "median"},
		{flag{"degree", strconv.Itoa(c.Degree)}, c.Degree != 0},
		{flag{"coef0", strconv.FormatFloat(c.Coef0, 'g', -1, 64)}, c.Coef0 != 1},
		{flag{"map", c.Map}, c.Map != ""},
		{flag{"features", strconv.Itoa(c.Features)}, c.Features != 0},
		{flag{"learner", c.Learner}, true},
		{flag{"c", strconv.FormatFloat(c.C, 'g', -1, 64)}, c.C != 0},
	} {
		if f.given {
			set(f.name, f.value)
		}
	}
	text := "mercer train " + quoted(path)
	for _, f := range all {
		if cmd.Flags().Lookup(f.name).Value.Type() == "bool" {
			text += " --" + f.name + "=" + f.value
			continue
		}
		text += " --" + f.name + " " + quoted(f.value)
	}
	return text + " -o " + quoted(cmd.Flags().Lookup("output").Value.String())
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,+@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printAuto tells a person what was tried and why it was chosen.
func printAuto(w io.Writer, a *autoJSON) {
	f := a.Facts
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	text := map[string]string{"regress": "numbers to predict, of deviation " + strconv.FormatFloat(f.Deviation, 'g', 4, 64), "multilabel": "labels, any number a row"}[f.Task]
	if f.Task == "classify" {
		text = fmt.Sprintf("%d classes of %.2g to %.2g %% of the rows", f.Classes, 100*f.Least, 100*f.Most)
	}
	if f.Histograms {
		text += "; rows are histograms"
	}
	line("auto", "%s rows × %s dimensions; %s", comma(f.Rows), comma(f.Dim), text)
	for _, h := range a.Heats {
		printRace(w, h)
	}
	fmt.Fprintln(w)
	for i, why := range a.Why {
		line([]string{"why", ""}[min(i, 1)], "%s", why)
	}
	if e := a.Exact; e != nil {
		line("exact", "%s", exactText(e))
		line("", "(%s)", exactFrom(e))
	}
	if a.Short != "" {
		line("short", "%s; --budget %s would do", a.Short, budgetText(a.Wanted))
	}
	line("time", "%s to choose, %s with the training", secondsText(duration(a.Seconds)), secondsText(duration(a.Total)))
	if a.Short == "" {
		line("again", "%s", a.Command)
	} else {
		line("all rows", "%s", a.Command)
	}
	fmt.Fprintln(w)
}

// budgetText is a number of seconds as --budget takes it.
func budgetText(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.0fs", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%.0fm", math.Ceil(seconds/60))
	}
	return fmt.Sprintf("%.0fh", math.Ceil(seconds/3600))
}

// printRace is a table of candidates: their scores on each rung, best first, and why they were
// dropped.
func printRace(w io.Writer, r *trial.RaceResult) {
	fmt.Fprintf(w, "\n  %-40s", scoreNames[r.Metric])
	for _, n := range r.Rungs {
		fmt.Fprintf(w, "%12s", comma(n))
	}
	fmt.Fprintf(w, "%10s\n", "seconds")
	for _, i := range r.Ranking() {
		c := r.Racers[i]
		name := []rune(c.Name)
		if len(name) > 39 {
			name = append(name[:38], '…')
		}
		fmt.Fprintf(w, "  %-40s", string(name))
		total := 0.0
		for _, n := range r.Rungs {
			cell := ""
			for _, run := range c.Runs {
				if run.Rows == n {
					cell, total = raceScoreText(r.Metric, run.Score), total+run.Seconds
				}
			}
			fmt.Fprintf(w, "%12s", cell)
		}
		note := c.Dropped
		if i == r.Winner {
			note = "the best"
		}
		fmt.Fprintf(w, "%10s  %s\n", strconv.FormatFloat(total, 'f', 1, 64), note)
	}
	if r.Stopped != "" {
		fmt.Fprintf(w, "  %s\n", r.Stopped)
	}
}

func raceScoreText(metric string, v float64) string {
	if metric == "rmse" {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(100*v, 'f', 2, 64)
}

// longText is a time that is only roughly known.
func longText(seconds float64) string {
	switch {
	case seconds < 99:
		return fmt.Sprintf("%.2g s", seconds)
	case seconds < 5400:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 36*3600:
		return fmt.Sprintf("%.0f h", seconds/3600)
	}
	return comma(int(math.Round(seconds/86400))) + " days"
}
