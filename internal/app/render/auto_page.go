package render

import (
	"fmt"
	"strconv"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// AutoSections are the sections of train --auto for TrainPage.
func AutoSections(a *AutoJSON) func(*report.Page) {
	return func(page *report.Page) {
		s := page.Section("How it was chosen")
		var facts []report.Fact
		for i, why := range a.Why {
			facts = append(facts, report.Fact{Name: []string{"why", "and"}[min(i, 1)], Value: why})
		}
		if a.Short != "" {
			facts = append(facts, report.Fact{Name: "short", Value: a.Short, Remark: "--budget " + search.BudgetText(a.Wanted) + " would do"})
		}
		facts = append(facts, report.Fact{Name: "time", Value: fmt.Sprintf("%s to choose, %s with the training", units.Seconds(a.Seconds),
			units.Seconds(a.Total))})
		if e := a.Exact; e != nil {
			facts = append(facts, report.Fact{Name: "exact", Value: exactText(e), Remark: exactFrom(e)})
		}
		s.Facts(facts...)
		s.Code(a.Command)
		for _, h := range a.Heats {
			s.Table(raceTable(h))
		}
		if figure := raceFigure(a.Heats); figure != nil {
			s.Figure(figure)
		}
	}
}

// exactText is what an exact machine would have needed, and exactFrom where that is from.
func exactText(e *search.ExactPrediction) string {
	return fmt.Sprintf("a support vector machine with the kernel itself: %s for the Gram matrix, and %s a C and γ", units.Bytes(e.Bytes),
		units.Roughly(e.Seconds))
}

func exactFrom(e *search.ExactPrediction) string {
	first, last := e.Trials[0].Rows, e.Trials[len(e.Trials)-1].Rows
	return fmt.Sprintf("extrapolated as n^%.1f from %s to %s rows", e.Exponent, units.Count(first), units.Count(last))
}

// scoreNames are what a race's candidates are judged by.
var scoreNames = map[string]string{"accuracy": "accuracy in %", "rmse": "RMSE", "log_loss": "log loss", "hamming": "wrong labels in %"}

// raceTable has a candidate a row, the best first.
func raceTable(r *search.RaceResult) *report.Table {
	folds := ""
	if r.Folds > 1 {
		folds = fmt.Sprintf(", in %d folds", r.Folds)
	}
	t := &report.Table{Caption: fmt.Sprintf("The race of the %s: %s on so many rows, judged by %s others%s", r.Of, scoreNames[r.Metric],
		units.Count(r.Held), folds)}
	t.Columns = append(t.Columns, report.Column{Name: "candidate"})
	for _, n := range r.Rungs {
		t.Columns = append(t.Columns, report.Column{Name: units.Count(n), Number: true})
	}
	t.Columns = append(t.Columns, report.Column{Name: "features", Number: true}, report.Column{Name: "seconds", Number: true}, report.Column{})
	for k, i := range r.Ranking() {
		c := r.Racers[i]
		row, total := []string{c.Name}, 0.0
		for _, n := range r.Rungs {
			cell := ""
			for _, run := range c.Runs {
				if run.Rows == n {
					cell, total = raceScoreText(r.Metric, run.Score), total+run.Seconds
				}
			}
			row = append(row, cell)
		}
		features := ""
		if d := c.Config.Map.Features; d > 0 {
			features = units.Count(d)
		}
		note := c.Dropped
		if i == r.Winner {
			note = "the best"
		}
		t.Rows = append(t.Rows, append(row, features, strconv.FormatFloat(total, 'f', 1, 64), note))
		if k == 0 {
			t.MarkBest(0, len(r.Rungs))
		}
	}
	return t
}

// raceFigure shows the score of every training against its seconds.
func raceFigure(heats []*search.RaceResult) *report.Figure {
	s := &report.Scatter{X: report.Axis{Name: "seconds of a candidate's trainings", Log: true}}
	for _, h := range heats {
		cloud := report.Cloud{Name: h.Of}
		for _, c := range h.Racers {
			for _, run := range c.Runs {
				if run.Seconds > 0 {
					cloud.X, cloud.Y = append(cloud.X, run.Seconds), append(cloud.Y, run.Score)
				}
			}
		}
		if len(cloud.X) > 0 {
			s.Clouds = append(s.Clouds, cloud)
		}
		s.Y = report.Axis{Name: h.Metric, Percent: h.Metric != "rmse" && h.Metric != "log_loss"}
		if !s.Y.Percent {
			s.Y.Name = scoreNames[h.Metric]
		}
	}
	if len(s.Clouds) == 0 {
		return nil
	}
	better := "higher"
	if heats[0].Metric != "accuracy" {
		better = "lower"
	}
	return &report.Figure{Name: "race", Title: "Scores against seconds", Drawing: s,
		Caption: "Every training of the races: further left is faster, further " + map[string]string{"higher": "up",
			"lower": "down"}[better] + " better."}
}
