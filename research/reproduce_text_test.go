package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/report"
	"mercer/research/papers"
)

// Times stand beside the paper's without a mark, and figures without one of theirs have four digits.
func TestReproducedCells(t *testing.T) {
	for _, c := range []struct {
		cell   papers.Cell
		theirs papers.Figure
		want   string
	}{
		{papers.Cell{Mean: 0.012341}, papers.Figure{}, "0.01234"},
		{papers.Cell{Mean: 9.43567e-15}, papers.Figure{}, "9.436e-15"},
		{papers.Cell{Mean: 25.829}, papers.Figure{}, "25.83"},
		{papers.Cell{Mean: 71234}, papers.Figure{}, "71234"},
		{papers.Cell{Mean: 0.5, SD: 0.1}, papers.Figure{Text: "?"}, "0.5000 ± 0.1000"},
		{papers.Cell{Mean: 1.234, Mark: papers.Within}, papers.Figure{Text: "1.2±0.3"}, "1.23 within"},
		{papers.Cell{Mean: 16.71}, papers.Figure{Text: "509"}, "16.7"},
		{papers.Cell{Mean: 6.7953462e-6, Mark: papers.Within}, papers.Figure{Text: "6.79534e-6"}, "6.795346e-06 within"},
		{papers.Cell{Mark: papers.NotRun}, papers.Figure{Text: "509"}, "not run"},
	} {
		if got := cellText(c.cell, c.theirs); got != c.want {
			t.Errorf("%+v beside %q: %q, want %q", c.cell, c.theirs.Text, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := strings.Join(wrap("one  two three", 7), "|"); got != "one two|three" {
		t.Error(got)
	}
}

func someTable() *papers.Result {
	t := &papers.Table{Name: "X-1", Title: "Errors", Source: "A paper, table 1", Protocol: strings.Repeat("as the paper says ", 12),
		Data: "digits", Corner: "error, by D", Columns: []string{"256", "1024"},
		Rows: []papers.Row{{Name: "rff", Theirs: []papers.Figure{{Text: "0.10±0.01", Mean: 0.1, SD: 0.01}, {Text: "?"}}},
			{Name: strings.Repeat("ours alone ", 9)}}}
	return &papers.Result{Table: t, Seeds: 10, Cells: [][]papers.Cell{{{Mean: 0.101, SD: 0.012, Mark: papers.Within},
		{Mean: 0.05, Mark: papers.Unreadable}}, {{Mean: math.NaN()}, {Mark: papers.NotRun}}}}
}

func TestReproduced(t *testing.T) {
	missing := someTable()
	missing.Missing = "digits"
	for name, r := range map[string]*papers.Result{"reproduced": someTable(), "reproduced-missing": missing} {
		goldenText(t, name, func(w *bytes.Buffer) { reproducedText(w, r, 83) })
		page := &report.Page{Title: "t"}
		if err := reproducedSection(page, r, 83); err != nil {
			t.Fatal(err)
		}
		goldenPage(t, name, page)
	}
	r := someTable()
	r.Cells[1][0].Mean = 0.25
	goldenJSON(t, "reproduced", newReproducedJSON(r))
	for _, c := range []struct {
		r    papers.Result
		want string
	}{{papers.Result{Table: &papers.Table{}, Quick: true, Seeds: 1},
		"one seed, quick, 2 s"}, {papers.Result{Table: &papers.Table{Certain: true}}, "one run, as nothing is random, 2 s"},
		{papers.Result{Table: &papers.Table{}, Seeds: 1}, "one seed, 2 s"}} {
		if got := ranText(&c.r, 2); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	list := newTablesJSON([]*papers.Table{someTable().Table}, nil)
	goldenText(t, "tables", func(w *bytes.Buffer) { tablesText(w, list) })
	goldenJSON(t, "tables", list)
}
