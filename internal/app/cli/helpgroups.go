package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/train"
)

// flagGroup is a part of the flags of commands, under one title in the help. Names are separated by blanks, in
// the order of the help; the common ones stand in --help, the rest in --help-all alone.
type flagGroup struct {
	title, common, rest string
}

// flagGroups are the groups of the flags that several commands share. All other flags of a command are its own.
var flagGroups = []flagGroup{
	{"Data",
		"format label labels weight group missing ignore test test-labels holdout split-group fit",
		"holdout-kind split-time split-column only id schema numeric categorical date ordinal text na decimal label-separator drop-unlabelled header encoding base dim batch unlabelled query table"},
	{"Bags",
		"pooling",
		"bag bag-scale bag-kernel bag-gamma bag-map bag-features streams first norm"},
	{"Kernel and map",
		"kernel gamma sigma degree map features scale metric seed",
		"coef0 nu homogeneity form radius order hash complex series entries sparsity pool t reuse rank terms window period stretch landmarks width widths group-kernels group-weights " +
			"reduce components variance-share map-components whiten metric-rounds metric-rank metric-rows metric-landmarks"},
	{"Learner",
		"task learner lambda c loss class-weight calibrate threshold",
		"multiclass penalty solver tolerance max-iter lambda-by path l1-ratio variance shrinkage priors conformal calibrate-folds epsilon quantile huber " +
			"svm-nu outliers leaf members target-means product accuracy lookup lookup-form subsample " +
			"online optimizer rate epochs average-from survey-rows continue append like save-stats"},
	{"Choosing",
		"quick auto budget estimate folds search trials pick",
		"plan fold-kind fold-group fold-share repeats strict space no-reuse journal keep-journal"},
	{"Output",
		"output output-format json report plots csv progress memory threads",
		"results"},
}

func init() { // options of learners are in no group but theirs
	for _, s := range train.Settings() {
		name := strings.ReplaceAll(s.Name, "_", "-")
		if _, _, shared := groupOf(name); s.Help != nil && !shared {
			at := slices.IndexFunc(flagGroups, func(g flagGroup) bool { return g.title == "Learner" })
			flagGroups[at].rest += " " + name
		}
	}
}

// ownRest are flags of one command alone that --help leaves to --help-all; all its others are common.
var ownRest = map[string]string{
	"approx": "correlation convert",
}

// few are the flags that --help of a command has alone, in this order, where the common ones of all groups would be too many.
var few = map[string]string{
	"train": "output label ignore id holdout test auto quick estimate report json",
}

// namesakes are flags of a command that share no more than the name with those of a group.
var namesakes = map[string]string{
	"tune":    "metric", // what a search goes by
	"compare": "metric",
	"curve":   "metric",
}

// shownGroup is a group of the flags that a command has.
type shownGroup struct {
	title string
	flags []*pflag.Flag
	left  int // how many more --help-all has
}

// fewestLeft is how many flags --help leaves out at least: of fewer it shows them, too.
const fewestLeft = 4

// groupsOf are the groups of a command's flags, its own first; all says that none is left out.
func groupsOf(cmd *cobra.Command, all bool) []shownGroup {
	if names := few[cmd.Name()]; names != "" && !all {
		return fewOf(cmd, names)
	}
	groups, left := split(cmd, all)
	if left < fewestLeft {
		groups, _ = split(cmd, true)
	}
	return groups
}

// fewOf is one group of the flags that are named.
func fewOf(cmd *cobra.Command, names string) []shownGroup {
	groups, _ := split(cmd, true)
	g := shownGroup{title: "Common flags"}
	for _, other := range groups {
		g.left += len(other.flags)
	}
	for name := range strings.FieldsSeq(names) {
		g.flags = append(g.flags, cmd.Flags().Lookup(name))
	}
	g.left -= len(g.flags)
	return []shownGroup{g}
}

// split divides a command's flags into groups; left is how many are left out.
func split(cmd *cobra.Command, all bool) (groups []shownGroup, left int) {
	flags := map[string]*pflag.Flag{}
	own := shownGroup{title: "Flags"}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch _, _, shared := groupOf(f.Name); {
		case f.Hidden || f.Name == "help" || f.Name == helpAll:
		case shared && !contains(namesakes[cmd.Name()], f.Name):
			flags[f.Name] = f
		case contains(ownRest[cmd.Name()], f.Name) && !all:
			own.left++
		default:
			own.flags = append(own.flags, f)
		}
	})
	if f := cmd.Root().PersistentFlags().Lookup("threads"); f != nil {
		flags["threads"] = f
	}
	groups = append(groups, own)
	for _, g := range flagGroups {
		shown := shownGroup{title: g.title}
		for name := range strings.FieldsSeq(g.common) {
			if f := flags[name]; f != nil {
				shown.flags = append(shown.flags, f)
			}
		}
		for name := range strings.FieldsSeq(g.rest) {
			if f := flags[name]; f != nil && all {
				shown.flags = append(shown.flags, f)
			} else if f != nil {
				shown.left++
			}
		}
		groups = append(groups, shown)
	}
	for _, g := range groups {
		left += g.left
	}
	return groups, left
}

// groupOf is the group of a flag that commands share, and whether it is a common one.
func groupOf(name string) (title string, common, shared bool) {
	for _, g := range flagGroups {
		if contains(g.common, name) {
			return g.title, true, true
		}
		if contains(g.rest, name) {
			return g.title, false, true
		}
	}
	return "", false, false
}
