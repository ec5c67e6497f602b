package render

import (
	"fmt"
	"io"
	"strconv"

	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// AutoJSON is what train --auto --json prints under "auto".
type AutoJSON struct {
	*search.AutoReport

	// Command trains the same model again; where the model is of fewer rows than there are, it
	// trains the same configuration on all of them.
	Command string `json:"command"`
}

// AutoText writes what train --auto tried and why it chose.
func AutoText(w io.Writer, a *AutoJSON) {
	f := a.Facts
	line := linesTo(w)
	text := map[string]string{"regress": "numbers to predict, of deviation " + strconv.FormatFloat(f.Deviation, 'g', 4, 64),
		"multilabel": "multi-label"}[f.Task]
	if f.Task == "classify" {
		text = fmt.Sprintf("%d classes of %.2g to %.2g %% of the rows", f.Classes, 100*f.Least, 100*f.Most)
	}
	if f.Histograms {
		text += "; rows are histograms"
	}
	line("auto", "%s rows × %s dimensions; %s", units.Count(f.Rows), units.Count(f.Dim), text)
	for _, h := range a.Heats {
		raceText(w, h)
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
		line("short", "%s; --budget %s would do", a.Short, search.BudgetText(a.Wanted))
	}
	line("time", "%s to choose, %s with the training", units.Seconds(a.Seconds), units.Seconds(a.Total))
	if a.Short == "" {
		line("again", "%s", a.Command)
	} else {
		line("all rows", "%s", a.Command)
	}
	fmt.Fprintln(w)
}

// raceText is a table of candidates: their scores on each rung, best first, and why they were
// dropped.
func raceText(w io.Writer, r *search.RaceResult) {
	fmt.Fprintf(w, "\n  %-40s", scoreNames[r.Metric])
	for _, n := range r.Rungs {
		fmt.Fprintf(w, "%12s", units.Count(n))
	}
	fmt.Fprintf(w, "%10s\n", "seconds")
	for _, i := range r.Ranking() {
		c := r.Racers[i]
		fmt.Fprintf(w, "  %s", padded(ShortLabel(c.Name, 39), 40))
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
	if metric == "rmse" || metric == "log_loss" {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(100*v, 'f', 2, 64)
}
