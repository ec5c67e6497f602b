package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// TuneJSON is what tune --json prints: what train does, and the search.
type TuneJSON struct {
	TrainJSON
	Search  *search.TuneResult `json:"search"`
	Picked  *search.Candidate  `json:"picked"`
	Seconds float64            `json:"search_seconds"`

	// Command trains the same model again, without a search.
	Command string `json:"command,omitempty"`
}

// axisNames are the settings in which candidates differ.
func axisNames(found *search.TuneResult) (differ, same []string) {
	for _, name := range search.Settings() {
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

// SearchText writes how the candidates of a search did, the best first, and after how many seconds. Command is what trains the model
// again without a search, "" where there is none.
func SearchText(w io.Writer, r *search.TuneResult, seconds float64, command string) {
	line := linesTo(w)
	judged := 0
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged++
		}
	}
	of := ""
	if judged < len(r.Candidates) {
		of = fmt.Sprintf(" of %s", units.Count(len(r.Candidates)))
	}
	goes := ""
	if r.Resumed > 0 {
		goes = fmt.Sprintf(", %s of which a journal had", units.Count(r.Resumed))
	}
	line("search", "%s%s, %s each, in %s%s", units.Plural(judged, "configuration"), of, units.Plural(r.Splits, "training"),
		units.Seconds(seconds), goes)
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
	metric, _ := eval.MetricNamed(r.Metric)
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
		rows = append(rows, append(row, scoreText(metric, c.Mean), spreadText(metric, c.Mean, c.SD), spreadText(metric, c.Mean, c.SE),
			tookText(c), mark))
	}
	fmt.Fprintln(w)
	Columns(w, len(differ), rows)
	if judged > shownTrials {
		fmt.Fprintf(w, "  … and %s more (--results writes all)\n", units.Count(judged-shownTrials))
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
	if command != "" {
		line("again", "%s", command)
	}
	fmt.Fprintln(w)
}

// tookText is how long a candidate took, which an older journal does not say.
func tookText(c *search.Candidate) string {
	if c.Seconds == 0 {
		return "-"
	}
	return units.Seconds(c.Seconds)
}

// leftOutText says how many combinations were not tried, "" if all were.
func leftOutText(r *search.TuneResult) string {
	if r.Wrong == 0 {
		return ""
	}
	return fmt.Sprintf("%s that cannot be (%s)", units.Plural(r.Wrong, "combination"), r.Why)
}

// droppedText says how many candidates have no scores and why the last has none, "" if all have some.
func droppedText(r *search.TuneResult, differ []string) string {
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
	return fmt.Sprintf("%s not judged, such as %s: %s", units.Count(n), c.Text(differ), c.Dropped)
}

// endText names the settings that were picked at an end of what was tried, "" if none was.
func endText(r *search.TuneResult) string {
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

func workTexts(r *search.TuneResult) (all []workText) {
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
		text := units.Count(int(w.done)) + " " + w.of
		if w.alone > w.done && w.done > 0 {
			text += fmt.Sprintf(", %.3g times fewer than without sharing", float64(w.alone)/float64(w.done))
		}
		all = append(all, workText{w.what, text})
	}
	return all
}

// foldsText is how rows were divided, in words.
func foldsText(r *search.TuneResult) string {
	repeats := ""
	if r.Folds.Repeats > 1 {
		repeats = fmt.Sprintf(", %d times", r.Folds.Repeats)
	}
	switch r.Folds.Kind {
	case "holdout":
		return fmt.Sprintf("%.3g %% of the rows, held out%s,", 100*r.Folds.Share, repeats)
	case "time":
		if r.Timed {
			return fmt.Sprintf("%d blocks in the order of time", r.Folds.K)
		}
		return fmt.Sprintf("%d blocks in the order of the rows", r.Folds.K)
	case "group":
		return fmt.Sprintf("%d folds of groups%s", r.Folds.K, repeats)
	case "kfold":
		return fmt.Sprintf("%d folds%s", r.Folds.K, repeats)
	}
	return fmt.Sprintf("%d %s folds%s", r.Folds.K, r.Folds.Kind, repeats)
}
