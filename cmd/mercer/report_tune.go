package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"mercer/lab"
	"mercer/report"
	"mercer/tune"
)

// searchPage adds what a search tried and what came of it.
func searchPage(page *report.Page, r *tune.Result, took time.Duration) {
	metric, err := lab.MetricNamed(r.Metric)
	if err != nil {
		return
	}
	var judged []*tune.Candidate
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged = append(judged, c)
		}
	}
	s := page.Section("The search")
	differ, same := axisNames(r)
	facts := []report.Fact{
		{Name: "search", Value: fmt.Sprintf("%s, %s each, in %s", plural(len(judged), "configuration"), plural(r.Splits, "training"), secondsText(took))},
		{Name: "judged", Value: foldsText(r) + " by " + metric.Title, Remark: metric.About}}
	for _, name := range same {
		facts = append(facts, report.Fact{Name: name, Value: r.Candidates[0].Values[name]})
	}
	s.Facts(facts...)
	dots := &report.Intervals{X: report.Axis{Name: metric.Title, Percent: metric.Percent}}
	for i, c := range judged {
		if i < shownTrials || c.Picked {
			dots.Rows = append(dots.Rows, report.Interval{Name: c.Text(differ), Value: c.Mean, Low: c.Mean - c.SE, High: c.Mean + c.SE, Best: c.Picked})
		}
	}
	s.Figure(&report.Figure{Name: "tuning", Title: "Configurations", Caption: "Mean " + metric.Title + " and one standard error over the folds, the best first. The one that was trained is marked.", Drawing: dots})
	if len(differ) == 2 {
		s.Figure(tuningGrid(metric, judged, differ[0], differ[1]))
	}
	s.Table(trialTable(metric, judged, differ))
	for _, warning := range r.Warnings {
		s.Note(warning)
	}
}

// tuningGrid shows two settings as rows and columns; what was not judged is an empty cell.
func tuningGrid(metric *lab.Metric, judged []*tune.Candidate, rows, columns string) *report.Figure {
	h := &report.HeatMap{RowName: rows, ColumnName: columns, Legend: metric.Title, Percent: metric.Percent}
	values := func(name string) []string {
		var list []string
		for _, c := range judged {
			if v := orDash(c.Values[name]); !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		slices.SortStableFunc(list, func(a, b string) int {
			x, errX := strconv.ParseFloat(a, 64)
			y, errY := strconv.ParseFloat(b, 64)
			if errX == nil && errY == nil {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(a, b)
		})
		return list
	}
	h.Rows, h.Columns = values(rows), values(columns)
	for range h.Rows {
		line, text := make([]float64, len(h.Columns)), make([]string, len(h.Columns))
		for j := range line {
			line[j] = math.NaN()
		}
		h.Values, h.Text = append(h.Values, line), append(h.Text, text)
	}
	for _, c := range judged {
		i, j := slices.Index(h.Rows, orDash(c.Values[rows])), slices.Index(h.Columns, orDash(c.Values[columns]))
		h.Values[i][j], h.Text[i][j] = c.Mean, scoreText(metric, c.Mean)
		if c.Picked {
			h.Text[i][j] += " *"
		}
	}
	better := "larger"
	if !metric.LargerIsBetter {
		better = "smaller"
	}
	return &report.Figure{Name: "tuning-grid", Title: rows + " and " + columns, Caption: "Mean " + metric.Title + " over the folds; " + better + " is better. A star marks the one that was trained.", Drawing: h}
}

func trialTable(metric *lab.Metric, judged []*tune.Candidate, differ []string) *report.Table {
	t := &report.Table{Caption: "Configurations, the best first"}
	for _, name := range differ {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	for _, name := range []string{metric.Title, "sd", "se"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: true})
	}
	t.Columns = append(t.Columns, report.Column{})
	for i, c := range judged {
		if i >= mostColumns && !c.Picked {
			continue
		}
		var row []string
		for _, name := range differ {
			row = append(row, orDash(c.Values[name]))
		}
		picked := ""
		if c.Picked {
			picked = "trained"
		}
		t.Rows = append(t.Rows, append(row, scoreText(metric, c.Mean), scoreText(metric, c.SD), scoreText(metric, c.SE), picked))
		if c.Best {
			t.MarkBest(len(t.Rows)-1, len(differ))
		}
	}
	if n := len(judged) - len(t.Rows); n > 0 {
		t.Caption += fmt.Sprintf("; %s more are not shown", comma(n))
	}
	return t
}

// searchSections is searchPage for writePages.
func searchSections(r *tune.Result, took time.Duration) func(*report.Page) {
	return func(page *report.Page) { searchPage(page, r, took) }
}
