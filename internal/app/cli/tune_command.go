package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/search"
)

// trainCommand is the command line of train that makes the model that was picked, "" where there is none:
// train has no flag for a column that is for folds alone.
func (t *tuning) trainCommand(cmd *cobra.Command, found *search.TuneResult, path string) string {
	if t.foldGroup != "" {
		return ""
	}
	picked, train := found.Picked, newTrain().Flags()
	words := []string{"mercer train", quoted(path)}
	add := func(name, value string) {
		words = append(words, "--"+name+"="+quoted(value))
		if f := train.Lookup(name); f == nil || f.Value.Type() != "bool" {
			words[len(words)-1] = "--" + name + " " + quoted(value)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name := strings.ReplaceAll(f.Name, "-", "_")
		searched := slices.ContainsFunc(found.Candidates, func(c *search.Candidate) bool { return c.Values[name] != "" })
		if train.Lookup(f.Name) != nil && !searched && !contains(namesakes[cmd.Name()], f.Name) &&
			!contains("output json progress report plots", f.Name) {
			add(f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	if picked.Values["learner"] == "" && !cmd.Flags().Changed("learner") {
		add("learner", picked.Config.LearnerName())
	}
	for _, name := range search.Settings() {
		value, flag := picked.Values[name], strings.ReplaceAll(name, "_", "-")
		switch {
		case value == "" || value == "auto" && (name == "lambda" || name == "c"):
		case train.Lookup(flag) == nil:
			return ""
		default:
			add(flag, value)
		}
	}
	return strings.Join(words, " ") + " -o " + quoted(t.train.out)
}
