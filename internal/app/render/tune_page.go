package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// searchPage adds what a search tried, what came of it after how many seconds, and the command that trains the same model
// again, if there is one.
func searchPage(page *report.Page, r *search.TuneResult, took float64, command string) {
	metric, err := eval.MetricNamed(r.Metric)
	if err != nil {
		return
	}
	var judged []*search.Candidate
	for _, c := range r.Candidates {
		if c.Dropped == "" {
			judged = append(judged, c)
		}
	}
	s := page.Section("The search")
	differ, same := axisNames(r)
	facts := []report.Fact{
		{Name: "search", Value: fmt.Sprintf("%s, %s each, in %s", units.Plural(len(judged), "configuration"),
			units.Plural(r.Splits, "training"), units.Seconds(took))},
		{Name: "judged", Value: foldsText(r) + " by " + metric.Title, Remark: metric.About}}
	for _, name := range same {
		facts = append(facts, report.Fact{Name: name, Value: r.Candidates[0].Values[name]})
	}
	if text := leftOutText(r); text != "" {
		facts = append(facts, report.Fact{Name: "left out", Value: text})
	}
	if text := droppedText(r, differ); text != "" {
		facts = append(facts, report.Fact{Name: "dropped", Value: text})
	}
	for _, v := range workTexts(r) {
		facts = append(facts, report.Fact{Name: v.what, Value: v.text})
	}
	s.Facts(facts...)
	if command != "" {
		s.Code(command)
	}
	dots := &report.Intervals{X: report.Axis{Name: metric.Title, Percent: metric.Percent}}
	for i, c := range judged {
		if i < shownTrials || c.Picked {
			dots.Rows = append(dots.Rows, report.Interval{Name: c.Text(differ), Value: c.Mean, Low: c.Mean - c.SE, High: c.Mean + c.SE,
				Best: c.Picked})
		}
	}
	s.Figure(&report.Figure{Name: "tuning", Title: "Configurations", Caption: "Mean " + metric.Title +
		" and one standard error over the folds, the best first. The one that was trained is marked.", Drawing: dots})
	if len(differ) == 2 {
		s.Figure(tuningGrid(metric, judged, differ[0], differ[1]))
	}
	if figure := searchSeconds(metric, judged); figure != nil {
		s.Figure(figure)
	}
	s.Table(trialTable(metric, judged, differ))
	if text := endText(r); text != "" {
		s.Note(strings.ToUpper(text[:1]) + text[1:] + ".")
	}
	for _, warning := range r.Warnings {
		s.Note(warning)
	}
}

// searchSeconds shows the score of every configuration against its seconds, by learner; nil where no
// time is known.
func searchSeconds(metric *eval.Metric, judged []*search.Candidate) *report.Figure {
	s := &report.Scatter{X: report.Axis{Name: "seconds of a configuration's trainings", Log: true},
		Y: report.Axis{Name: metric.Title, Percent: metric.Percent}}
	for _, c := range judged {
		if c.Seconds == 0 {
			continue
		}
		name := c.Config.LearnerName()
		i := slices.IndexFunc(s.Clouds, func(v report.Cloud) bool { return v.Name == name })
		if i < 0 {
			i = len(s.Clouds)
			s.Clouds = append(s.Clouds, report.Cloud{Name: name})
		}
		cloud := &s.Clouds[i]
		cloud.X, cloud.Y = append(cloud.X, c.Seconds), append(cloud.Y, c.Mean)
	}
	if len(s.Clouds) == 0 {
		return nil
	}
	better := "up"
	if !metric.LargerIsBetter {
		better = "down"
	}
	return &report.Figure{Name: "score-against-seconds", Title: "Score against seconds", Drawing: s,
		Caption: "Mean " + metric.Title + " of every configuration against what its trainings took over all folds; what several share " +
			"is divided equally among them. Further left is faster, further " + better + " better."}
}

// tuningGrid shows two settings as rows and columns; what was not judged is an empty cell.
func tuningGrid(metric *eval.Metric, judged []*search.Candidate, rows, columns string) *report.Figure {
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
	return &report.Figure{Name: "tuning-grid", Title: rows + " and " + columns,
		Caption: "Mean " + metric.Title + " over the folds; " + better + " is better. A star marks the one that was trained.", Drawing: h}
}

func trialTable(metric *eval.Metric, judged []*search.Candidate, differ []string) *report.Table {
	t := &report.Table{Caption: "Configurations, the best first"}
	for _, name := range differ {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	for _, name := range []string{metric.Title, "sd", "se", "seconds"} {
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
		t.Rows = append(t.Rows, append(row, scoreText(metric, c.Mean), scoreText(metric, c.SD), scoreText(metric, c.SE), tookText(c), picked))
		if c.Best {
			t.MarkBest(len(t.Rows)-1, len(differ))
		}
	}
	if n := len(judged) - len(t.Rows); n > 0 {
		t.Caption += fmt.Sprintf("; %s more are not shown", units.Count(n))
	}
	return t
}

// SearchSections are the sections of a search for TrainPage: what it tried and what came of it after how many seconds, and the
// command that trains the same model again, "" if there is none.
func SearchSections(r *search.TuneResult, took float64, command string) func(*report.Page) {
	return func(page *report.Page) { searchPage(page, r, took, command) }
}
