package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	sealed "mercer/internal/engine/checkpoint"
	"mercer/research/papers"
)

func TestReproduceList(t *testing.T) {
	text := ok(t, "reproduce", "--list")
	for _, table := range papers.Tables() {
		if !strings.Contains(text, "  "+table.Name+" ") || !strings.Contains(text, table.Title) {
			t.Errorf("%s is not in the list:\n%s", table.Name, text)
		}
	}
	for _, want := range []string{"  LS19  table 3.3, ", "        data not available: STL-10", "        S14-F4.1\n",
		"        no experiment: formulas\n", "        LS19-3.6; data not available: webspam, ", "; nearest: LS18-1 and "} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	var list tablesJSON
	if err := json.Unmarshal([]byte(ok(t, "reproduce", "--list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tables) != len(papers.Tables()) || list.Tables[0].Name != "S14-4.1" || !(list.Tables[0].Seconds > 0) ||
		len(list.Items) != len(papers.Inventory()) || list.Items[0].Mark == "" {
		t.Errorf("%+v", list)
	}
}

// lacks runs a command line that makes what it can and ends with the exit code 1, since some tables have no data;
// it returns its standard output.
func lacks(t *testing.T, tables string, args ...string) string {
	t.Helper()
	r := run(t, args...)
	if r.code != 1 || !strings.Contains(r.stderr, " for "+tables+"; --data names the folder of the data sets\n") ||
		strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("research %s: exit code %d, %q", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// The name of a paper lists what there is of that paper, and of no other.
func TestReproduceListsAPaper(t *testing.T) {
	for _, args := range [][]string{{"reproduce", "LS18"}, {"reproduce", "--list", "ls18"}} {
		text := ok(t, args...)
		if !strings.Contains(text, "  LS18-1 ") || !strings.Contains(text, "  LS18  table 1, ") ||
			strings.Contains(text, "  LS19-4.2 ") || strings.Contains(text, "  S14   ") || strings.Contains(text, "  LS19  ") {
			t.Errorf("%v lists\n%s", args, text)
		}
	}
	var list tablesJSON
	if err := json.Unmarshal([]byte(ok(t, "reproduce", "K10", "S14", "--json")), &list); err != nil || len(list.Tables) < 10 ||
		list.Tables[0].Name != "S14-4.1" {
		t.Errorf("%v, %+v", err, list.Tables)
	}
	for _, c := range []struct{ args, want string }{
		{"LS18-9", `"LS18-9" is not a table; those of LS18 are LS18-1, LS18-2, `},
		{"XY-1", `"XY-1" is not a table; known are S14-4.1, `},
		{"LS18 S14-4.1", "LS18 is a paper, whose tables are listed, and others are tables to be made"},
		{"--list S14-4.1", `"S14-4.1" is not a paper; --list takes S14, LS18, LS19, K10, L12`},
	} {
		if r := run(t, append([]string{"reproduce"}, strings.Fields(c.args)...)...); r.code != 2 ||
			!strings.Contains(r.stderr, c.want) || strings.Contains(c.args, "LS18-9") && strings.Contains(r.stderr, "S14") {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
	}
}

// Theirs stand above ours, with a mark for each cell.
func TestReproduce(t *testing.T) {
	text := lacks(t, "LS19-4.3", "reproduce", "s14-4.1", "LS19-4.3", "--quick", "--data", t.TempDir())
	for _, want := range []string{
		"S14-4.1  Kernel estimation error of Fastfood and TensorSketch\n",
		"ours: one seed, quick, ",
		"mean error, by D          Fastfood abs.",
		"8192              theirs  0.0036 ",
		"\n\nLS19-4.3  Distances in the feature space of (x·y)³, MNIST\n",
		"ours: data not available: there is no ",
		"PK-RP normal, m = 976  theirs  0.119 ± 0.019       0.095 ± 0.023       0.092 ± 0.031\n" +
			"                       ours    data not available  data not available  data not available\n",
		"KG-RP, m = 122         theirs  ?                   ?                   ?\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	marks := func(text string) int {
		return strings.Count(text, " within") + strings.Count(text, " better") + strings.Count(text, " worse")
	}
	if n := marks(text); n != 0 {
		t.Errorf("%d marks for S14-4.1 with one seed, beside figures without a deviation", n)
	}
	if n := marks(ok(t, "reproduce", "S14-F4.5", "--seeds", "3")); n != 2 {
		t.Errorf("%d marks for the 2 figures of S14-F4.5", n)
	}
}

func TestReproduceJSON(t *testing.T) {
	var results []reproducedJSON
	if err := json.Unmarshal([]byte(lacks(t, "LS19-4.2", "reproduce", "LS19-4.2", "S14-4.1",
		"--quick", "--json", "--data", t.TempDir())), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].Missing == "" || len(results[0].Cells) != 72 || len(results[1].Cells) != 40 {
		t.Fatalf("%+v", results)
	}
	if c := results[0].Cells[0]; c.Ours != nil || c.Theirs == nil || c.Theirs.Mean != 0.079 || c.Theirs.SD != 0.002 ||
		c.Mark != papers.NoData {
		t.Errorf("%+v", c)
	}
	if c := results[0].Cells[71]; c.Theirs != nil || c.Row != "KG-RP, m = 122" || c.Column != "D = 1000" {
		t.Errorf("%+v", c)
	}
	if c := results[1].Cells[39]; c.Ours == nil || !(c.Ours.Mean > 0) || c.Ours.SD != 0 {
		t.Errorf("%+v", c)
	}
}

// A page holds the table with theirs and ours, curves and the points of a scatter plot; the pictures are
// files as well.
func TestReproduceReport(t *testing.T) {
	dir := t.TempDir()
	html, plots := filepath.Join(dir, "r.html"), filepath.Join(dir, "plots")
	out := lacks(t, "LS19-4.3", "reproduce", "S14-4.1", "S14-F4.1", "LS19-4.3", "--quick", "--data", dir, "--report", html, "--plots", plots)
	if !strings.Contains(out, "report    "+html) || !strings.Contains(out, "plots     "+plots) {
		t.Errorf("nothing is said of what was written:\n%s", out)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"S14-4.1", "TensorSketch abs., theirs", "KG-RP, m = 122", "data not available: there is no ",
		"on the line an estimate is exact"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, name := range []string{"s14-4-1.svg", "s14-4-1.png", "s14-f4-1-points-1.svg"} {
		if st, err := os.Stat(filepath.Join(plots, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := run(t, "reproduce", "S14-4.1", "--quick", "--report", filepath.Join(dir, "no", "r.html")); r.code != 1 ||
		!strings.Contains(r.stderr, "no") {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
}

// What a journal has is not made again.
func TestReproduceGoesOn(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	table := func(args ...string) []reproducedJSON {
		var results []reproducedJSON
		if err := json.Unmarshal([]byte(ok(t, append([]string{"reproduce", "S14-F4.6", "--json", "--journal", journal},
			args...)...)), &results); err != nil {
			t.Fatal(err)
		}
		return results
	}
	first := table("--seeds", "2")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	// Other numbers in the journal are those of the table.
	if again := table("--seeds", "2"); !reflect.DeepEqual(again, first) {
		t.Errorf("%+v, then %+v", first, again)
	}
	if now, _ := os.ReadFile(journal); string(now) != string(text) {
		t.Error("the journal has changed")
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if strings.Contains(line, `"seed":1,"row":"`+first[0].Cells[0].Row+`"`) {
			head, values, _ := strings.Cut(line, `"values":[`)
			_, rest, _ := strings.Cut(values, ",")
			line = head + `"values":[12345,` + rest
			lines[i] = string(sealed.Seal([]byte(line[:strings.LastIndexByte(line, ' ')])))
		}
	}
	if err := os.WriteFile(journal, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := table("--seeds", "1")[0].Cells[0]; c.Ours.Mean != 12345 {
		t.Errorf("%+v", c.Ours)
	}
	if r := run(t, "reproduce", "S14-F4.6", "--journal", journal, "--report", journal); r.code != 2 {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, told strings.Builder
	if code := program().Run(ctx, []string{"reproduce", "S14-F4.6", "--journal", filepath.Join(t.TempDir(), "new")}, nil, &out,
		&told); code != 130 || !strings.Contains(told.String(), "the same command goes on from there") {
		t.Errorf("exit code %d, %s", code, told.String())
	}
}

func TestReproduceErrors(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"reproduce"}, "research reproduce: no table; give a TABLE of --list"},
		{[]string{"reproduce", "LS19-"}, `research reproduce: "LS19-" is not a table; those of LS19 are LS19-4.2, `},
		{[]string{"reproduce", "S14-4.1", "--quick", "--seeds", "20"},
			"research reproduce: --quick is one seed; leave out --seeds 20, or --quick"},
		{[]string{"reproduce", "S14-4.1", "--seeds", "0"}, "research reproduce: --seeds 0: give 1 or more"},
	} {
		r := run(t, c.args...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit code %d, %s", c.args, r.code, r.stderr)
		}
	}
}
