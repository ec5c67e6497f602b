package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/whole"
	"mercer/lab"
	"mercer/tune"
)

// tuneJSON is what tune --json prints: what train does, and the search.
type tuneJSON struct {
	trainJSON
	Search  *tune.Result    `json:"search"`
	Picked  *tune.Candidate `json:"picked"`
	Seconds float64         `json:"search_seconds"`

	// Command trains the same model again, without a search.
	Command string `json:"command,omitempty"`
}

// trainCommand is the command line of train that makes the model that was picked, "" where there is none:
// train has no flag for a column that is for folds alone.
func (t *tuning) trainCommand(cmd *cobra.Command, found *tune.Result, path string) string {
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
		searched := slices.ContainsFunc(found.Candidates, func(c *tune.Candidate) bool { return c.Values[name] != "" })
		if train.Lookup(f.Name) != nil && !searched && !contains("output json progress report plots", f.Name) {
			add(f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	if picked.Values["learner"] == "" && !cmd.Flags().Changed("learner") {
		add("learner", picked.Config.Learner)
	}
	for _, name := range tune.Settings() {
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

// axisNames are the settings in which candidates differ.
func axisNames(found *tune.Result) (differ, same []string) {
	for _, name := range tune.Settings() {
		values := map[string]bool{}
		for _, c := range found.Candidates {
			values[c.Values[name]] = true
		}
		if len(values) > 1 {
			differ = append(differ, name)
		} else if !values[""] {
			same = append(same, name)
		}
	}
	return differ, same
}

// shownTrials is how many candidates people see.
const shownTrials = 20

// printSearch tells a person how candidates did, best first.
func printSearch(w io.Writer, r *tune.Result, took time.Duration) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	judged := 0
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged++
		}
	}
	of := ""
	if judged < len(r.Candidates) {
		of = fmt.Sprintf(" of %s", comma(len(r.Candidates)))
	}
	goes := ""
	if r.Resumed > 0 {
		goes = fmt.Sprintf(", %s of which a journal had", comma(r.Resumed))
	}
	line("search", "%s%s, %s each, in %s%s", plural(judged, "configuration"), of, plural(r.Splits, "training"), secondsText(took), goes)
	line("judged", "%s by %s", foldsText(r), r.Metric)
	if text := leftOutText(r); text != "" {
		line("left out", "%s", text)
	}
	differ, same := axisNames(r)
	for _, name := range same {
		line(name, "%s", r.Candidates[0].Values[name])
	}
	titles := append(slices.Clone(differ), r.Metric, "sd", "se", "seconds")
	rows := [][]string{titles}
	metric, _ := lab.MetricNamed(r.Metric)
	for i, c := range r.Candidates {
		if i >= shownTrials && !c.Picked || c.Dropped != "" {
			continue
		}
		var row []string
		for _, name := range differ {
			row = append(row, orDash(c.Values[name]))
		}
		mark := ""
		switch {
		case c.Best && c.Picked:
			mark = "  best, picked"
		case c.Best:
			mark = "  best"
		case c.Picked:
			mark = "  picked: the simplest within one standard error"
		}
		rows = append(rows, append(row, scoreText(metric, c.Mean), spreadText(metric, c.Mean, c.SD), spreadText(metric, c.Mean, c.SE), tookText(c), mark))
	}
	fmt.Fprintln(w)
	printColumns(w, len(differ), rows)
	if judged > shownTrials {
		fmt.Fprintf(w, "  … and %s more (--results writes all)\n", comma(judged-shownTrials))
	}
	for _, text := range []string{droppedText(r, differ), endText(r)} {
		if text != "" {
			fmt.Fprintf(w, "  %s\n", text)
		}
	}
	fmt.Fprintln(w)
	for _, v := range workTexts(r) {
		line(v.what, "%s", v.text)
	}
}

// tookText is how long a candidate took, which an older journal does not say.
func tookText(c *tune.Candidate) string {
	if c.Seconds == 0 {
		return "-"
	}
	return secondsText(duration(c.Seconds))
}

// leftOutText says how many combinations were not tried, "" if all were.
func leftOutText(r *tune.Result) string {
	if r.Wrong == 0 {
		return ""
	}
	return fmt.Sprintf("%s that cannot be (%s)", plural(r.Wrong, "combination"), r.Why)
}

// droppedText says how many candidates have no scores and why the last has none, "" if all have some.
func droppedText(r *tune.Result, differ []string) string {
	n := 0
	for _, c := range r.Candidates {
		if c.Dropped != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	c := r.Candidates[len(r.Candidates)-1]
	return fmt.Sprintf("%s not judged, such as %s: %s", comma(n), c.Text(differ), c.Dropped)
}

// endText names the settings that were picked at an end of what was tried, "" if none was.
func endText(r *tune.Result) string {
	if len(r.AtEnd) == 0 {
		return ""
	}
	var ends []string
	for _, name := range r.AtEnd {
		ends = append(ends, name+" "+r.Picked.Values[name])
	}
	return "at the end of what was tried: " + strings.Join(ends, ", ") + "; better values may lie beyond"
}

// workText is one kind of work that a search did, and how much less that is than without sharing.
type workText struct{ what, text string }

func workTexts(r *tune.Result) (all []workText) {
	for _, w := range []struct {
		what        string
		done, alone int64
		of          string
	}{
		{"mapped", r.Work.Mapped, r.Alone.Mapped, "rows"},
		{"collected", r.Work.Collected, r.Alone.Collected, "rows into statistics"},
		{"solved", r.Work.Solves, r.Alone.Solves, "linear models"},
	} {
		if w.alone == 0 {
			continue
		}
		text := comma(int(w.done)) + " " + w.of
		if w.alone > w.done && w.done > 0 {
			text += fmt.Sprintf(", %.3g times fewer than without sharing", float64(w.alone)/float64(w.done))
		}
		all = append(all, workText{w.what, text})
	}
	return all
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// foldsText is how rows were divided, in words.
func foldsText(r *tune.Result) string {
	repeats := ""
	if r.Folds.Repeats > 1 {
		repeats = fmt.Sprintf(", %d times", r.Folds.Repeats)
	}
	switch r.Folds.Kind {
	case "holdout":
		return fmt.Sprintf("%.3g %% of the rows, held out%s,", 100*r.Folds.Share, repeats)
	case "time":
		return fmt.Sprintf("%d blocks in the order of the rows", r.Folds.K)
	case "group":
		return fmt.Sprintf("%d folds of groups%s", r.Folds.K, repeats)
	case "kfold":
		return fmt.Sprintf("%d folds%s", r.Folds.K, repeats)
	}
	return fmt.Sprintf("%d %s folds%s", r.Folds.K, r.Folds.Kind, repeats)
}

// writeTrials writes all candidates with their scores.
func writeTrials(path string, r *tune.Result) error {
	f, err := whole.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	differ, same := axisNames(r)
	names := append(differ, same...)
	slices.Sort(names)
	w := csv.NewWriter(f)
	head := append([]string{"rank"}, names...)
	head = append(head, "mean", "sd", "se")
	for i := range r.Splits {
		head = append(head, "score"+strconv.Itoa(i+1))
	}
	rows := [][]string{append(head, "picked", "dropped")}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i, c := range r.Candidates {
		row := []string{strconv.Itoa(i + 1)}
		for _, name := range names {
			row = append(row, c.Values[name])
		}
		if c.Dropped == "" {
			row = append(row, number(c.Mean), number(c.SD), number(c.SE))
			for _, v := range c.Scores {
				row = append(row, number(v))
			}
		} else {
			row = append(row, make([]string, 3+r.Splits)...)
		}
		picked := ""
		if c.Picked {
			picked = "picked"
		}
		rows = append(rows, append(row, picked, c.Dropped))
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}
