package present

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mercer/internal/papers"
	"mercer/internal/report"
)

func TestMaps(t *testing.T) {
	all := MapsJSON{Maps: []MapJSON{{Map: "orf", About: "orthogonal frequencies", Kernels: []string{"rbf", "matern"},
		Options: []string{"form"}}, {Map: "nystrom", About: "landmarks", Fitted: true}, {Map: "chain", About: "maps one after the other"}},
		Poolings: []PoolingJSON{{Pooling: "mean", About: "means", Options: []string{"map", "features", "norm"}}}}
	goldenText(t, "maps", func(w *bytes.Buffer) { MapsText(w, all) })
	goldenJSON(t, "maps", all)
}

func TestDemo(t *testing.T) {
	s := &StreamJSON{Rows: 1_000_000, Dims: 20, Features: 512, LinearR2: 0.5, R2: 0.95, Seconds: 8.25, RowsPerSec: 121_212.1,
		PeakRSS: 100 << 20, ModelBytes: 12_345, Identical: true}
	goldenText(t, "demo", func(w *bytes.Buffer) {
		DigitsHead(w, 1337, 460, 0.001)
		DigitsLine(w, DigitsJSON{"linear model", 0.05, 0.02, 0.001})
		StreamHead(w, s.Rows, s.Dims)
		StreamTrained(w, s, 1, 2, 3)
		StreamScores(w, s)
		StreamSaved(w, s, 50_000)
		StreamTrained(w, &StreamJSON{}, 0, 0, 0)
	})
	goldenJSON(t, "demo", DemoJSON{Stream: s})
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
		goldenText(t, name, func(w *bytes.Buffer) { ReproducedText(w, r, 83) })
		page := &report.Page{Title: "t"}
		if err := ReproducedSection(page, r, 83); err != nil {
			t.Fatal(err)
		}
		goldenPage(t, name, page)
	}
	r := someTable()
	r.Cells[1][0].Mean = 0.25
	goldenJSON(t, "reproduced", NewReproducedJSON(r))
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
	list := NewTablesJSON([]*papers.Table{someTable().Table}, nil)
	goldenText(t, "tables", func(w *bytes.Buffer) { TablesText(w, list) })
	goldenJSON(t, "tables", list)
}
