package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/train"
)

const autoHelp = `--auto chooses kernel, γ, scaling, learner and the number of features: it looks at the data,
races candidates on growing samples of the rows, judged by rows that none is trained on, and
trains the best on all rows. The last race is on up to 16,000 rows, and has what is trained without
--auto among its candidates. Flags that are given hold for all of them. The same data and seed
give the same model, unless --budget bounds the time: then candidates may be left out, and there
are as many features as there is time for. It prints what it tried, why it chose, the command
that trains the same model again, and what a support vector machine with the kernel itself would
have taken.

--estimate predicts the time and the memory of the training by a few small ones, and stops. Where
progress is shown, a training of more than some ten seconds says so before it begins. --plan reads
the data once and says what the training would do, step by step: what the survey decides, why, and
what held-out rows choose from; with --json as the configuration that trains the same model.
`

// autoFlags are those of choosing by races.
func (t *training) autoFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&t.auto, "auto", false, "choose kernel, γ, scaling, learner and number of features by races on samples of the rows")
	f.DurationVar(&t.budget, "budget", 0, "most time that --auto may take, with the training (default: any)")
	f.BoolVar(&t.plan, "plan", false, "survey the data, say what the training would do and why, and stop")
	f.BoolVar(&t.estimate, "estimate", false, "predict the time and the memory of the training, and stop")
}

// checkAuto finds flags that do not go together with --auto.
func (t *training) checkAuto(cmd *cobra.Command, path string) error {
	switch what := t.estimable(path); {
	case !t.auto && cmd.Flags().Changed("budget"):
		return usagef("--budget is the time that --auto may take; give --auto as well")
	case !t.auto:
		return nil
	case t.estimate || t.plan:
		return usagef("--auto chooses what to train, --estimate and --plan are about a training that is known; give one of them")
	case what != "":
		return usagef("--auto chooses among trainings on a file of rows, not on %s", what)
	case t.saveStats != "":
		return usagef("--auto may choose a learner without statistics; leave out --save-stats, and train with the command that --auto prints")
	case t.budget < 0 || t.budget == 0 && cmd.Flags().Changed("budget"):
		return usagef("--budget %s is not a time; give one such as 60s or 10m", t.budget)
	}
	return nil
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
		case "auto", "budget", "json", "progress", "estimate", "plan", "output", "report", "plots":
		default:
			set(f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	weight := train.As[train.SVM](c.Learner).C
	for _, f := range []struct {
		flag
		given bool
	}{
		{flag{"task", c.Task}, true},
		{flag{"scale", c.Scale}, c.Scale != "auto"},
		{flag{"kernel", c.Kernel.Name}, c.Kernel.Name != ""},
		{flag{"gamma", c.Kernel.Gamma}, c.Kernel.Gamma != "" && c.Kernel.Gamma != "median"},
		{flag{"degree", strconv.Itoa(c.Kernel.Degree)}, c.Kernel.Degree != 0},
		{flag{"coef0", strconv.FormatFloat(c.Kernel.Coef0, 'g', -1, 64)}, c.Kernel.Coef0 != 1 && c.Kernel.Name != ""},
		{flag{"map", c.Map.Name}, c.Map.Name != ""},
		{flag{"features", strconv.Itoa(c.Map.Features)}, c.Map.Features != 0},
		{flag{"learner", c.LearnerName()}, true},
		{flag{"c", strconv.FormatFloat(weight, 'g', -1, 64)}, weight != 0},
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
