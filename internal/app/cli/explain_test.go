package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/app/render"
	"mercer/internal/engine/chromium"
)

// flats are rows whose price depends on area and district, not on the number.
func flats(n int, classes bool) string {
	var b strings.Builder
	b.WriteString("number,area,district,price\n")
	for i := range n {
		area := 40 + i*37%120
		price := 2*area + 50*(i%3)
		label := fmt.Sprint(price)
		if classes {
			label = []string{"cheap", "dear"}[min(1, price/250)]
		}
		fmt.Fprintf(&b, "%d,%d,%s,%s\n", i*7919%101, area, []string{"east", "north", "west"}[i%3], label)
	}
	return b.String()
}

// explain names the columns that decide, in text, JSON, CSV and on a page.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	for _, classes := range []bool{false, true} {
		data, m := write(t, dir, "flats.csv", flats(600, classes)), filepath.Join(dir, "m.mercer")
		learner := map[bool]string{false: "ridge", true: "logistic"}[classes]
		ok(t, "train", data, "-o", m, "--features", "128", "--learner", learner)
		page, table := filepath.Join(dir, "e.html"), filepath.Join(dir, "e.csv")
		text := ok(t, "explain", m, data, "--report", page, "--csv", table, "--dependence", "2")
		area, number := strings.Index(text, "\n  area"), strings.Index(text, "\n  number")
		if area < 0 || number < area || !strings.Contains(text, "\narea: mean ") || !strings.Contains(text, "train it with --metric full") {
			t.Errorf("explain:\n%s", text)
		}
		if lines, err := os.ReadFile(table); err != nil || !strings.HasPrefix(string(lines), "column,measure,rise,se,repeat_se\narea,") {
			t.Errorf("%v: %s", err, lines)
		}
		if html, err := os.ReadFile(page); err != nil || strings.Count(string(html), "<svg") < 3 {
			t.Error(err)
		}
		var e render.Explanation
		parse(t, ok(t, "explain", m, data, "--json", "--threads", "1"), &e)
		if e.Importance.Columns[0].Column != "area" || len(e.Dependence.Curves) != 3 || e.NoPairs == "" || e.Importance.Rows != 600 {
			t.Errorf("%+v", e)
		}
		if ok(t, "explain", m, data, "--json", "--threads", "2") != ok(t, "explain", m, data, "--json", "--threads", "1") {
			t.Error("the result depends on the threads")
		}
	}
}

func parse(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err, text)
	}
}

// explain --rows has the rows asked for by their numbers in the file, with contributions that add up.
func TestExplainRows(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "flats.csv", flats(600, true)), filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "-o", m, "--features", "128", "--learner", "logistic")
	unlabelled := write(t, dir, "new.csv", "number,area,district\n7,41,east\n8,159,west\n9,100,north\n")
	for rows, want := range map[string]string{"2": "[1 2]", "3": "[1 2 3]", "9": "[1 2 3]", "2-2": "[2]", "1,3": "[1 3]", "2-3": "[2 3]"} {
		table := filepath.Join(dir, "c.csv")
		var c render.Contributions
		parse(t, ok(t, "explain", m, unlabelled, "--rows", rows, "--background", data, "--json", "--csv", table), &c)
		var numbers []int
		for _, r := range c.Rows {
			numbers = append(numbers, r.Row)
			sum := r.Base[0]
			for _, v := range r.Values[0] {
				sum += v
			}
			if math.Abs(sum-r.Score[0]) > 1e-12*math.Abs(sum) || !r.Exact || len(r.Inputs) != 3 {
				t.Errorf("row %d adds up to %g: %+v", r.Row, sum, r)
			}
		}
		if fmt.Sprint(numbers) != want || c.Background != 100 || c.BackgroundData != "flats.csv" {
			t.Errorf("--rows %s: %v of %d rows of %s, want %s", rows, numbers, c.Background, c.BackgroundData, want)
		}
		lines, err := os.ReadFile(table)
		if err != nil || strings.Count(string(lines), "\n") != 1+len(numbers) ||
			!strings.HasPrefix(string(lines), "row,output,base,score,number,area,district\n") {
			t.Errorf("%v: %s", err, lines)
		}
	}
	// A row has the same contributions alone as among others.
	one, all := ok(t, "explain", m, data, "--rows", "7-7"), ok(t, "explain", m, data, "--rows", "9", "--background", "100")
	if !strings.Contains(all, one) || !strings.HasPrefix(one, "row 7: predicted ") {
		t.Errorf("%s\nis not in\n%s", one, all)
	}
	// For the first of two classes, the signs are turned.
	cheap, dear := ok(t, "explain", m, data, "--rows", "1", "--class", "cheap"), ok(t, "explain", m, data, "--rows", "1", "--class", "dear")
	turned := strings.NewReplacer("+", "-", "-", "+")
	line := func(text, column string) string {
		_, rest, _ := strings.Cut(text, "\n  "+column)
		value, _, _ := strings.Cut(rest, "\n")
		return strings.Join(strings.Fields(value), " ")
	}
	if a, b := line(cheap, "area"), line(dear, "area"); a == "" || a != turned.Replace(b) {
		t.Errorf("area contributes %q to cheap, %q to dear", a, b)
	}
}

// What is wrong with the command line or the data is said.
func TestExplainErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "flats.csv", flats(60, true))
	write(t, dir, "new.csv", "number,area,district\n7,41,east\n8,159,west\n")
	write(t, dir, "narrow.csv", "number,area,price\n7,41,cheap\n8,159,dear\n")
	write(t, dir, "strange.csv", "number,area,district,price\n7,41,east,free\n8,159,west,free\n")
	write(t, dir, "libsvm.model", "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n1\n")
	ok(t, "train", "flats.csv", "-o", "m.mercer", "--features", "16", "--learner", "ridge", "--lambda", "1")
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"m.mercer new.csv", "no labels to measure importance with; name them with --label or --labels", 1},
		{"m.mercer strange.csv", "the model knows none of the labels", 1},
		{"m.mercer narrow.csv", `district`, 1},
		{"m.mercer flats.csv --rows 1 --class cheep", "the model has cheap, dear; did you mean cheap?", 2},
		{"m.mercer flats.csv --rows 1 --background 61", "flats.csv has 60 rows; give fewer, or a file with more", 1},
		{"m.mercer flats.csv --rows 1 --background 0", "--background 0: give the number of rows", 2},
		{"m.mercer flats.csv --rows 1 --background none.csv", "none.csv", 1},
		{"m.mercer flats.csv --rows 50-61", "flats.csv has 60 rows, and --rows asks for row 61", 1},
		{"m.mercer new.csv --rows 1,3 --background flats.csv", "new.csv has 2 rows, and --rows asks for row 3", 1},
		{"m.mercer flats.csv --rows 5-3", "--rows 5-3: give N", 2},
		{"m.mercer flats.csv --rows 0", "--rows 0: give N", 2},
		{"m.mercer flats.csv --class cheap", "--class is about single rows; say which by --rows", 2},
		{"m.mercer flats.csv --rows 1 --sample 3", "--sample is about the model as a whole; leave out --rows", 2},
		{"m.mercer flats.csv --permutations 1", "give 2 or more", 2},
		{"m.mercer flats.csv --rows 1 --permutations 7", "even number", 2},
		{"m.mercer flats.csv --top 0", "--top 0", 2},
		{"flats.csv m.mercer", "the model comes first", 2},
		{"libsvm.model flats.csv", "only Mercer's own are explained", 1},
		{"m.mercer flats.csv --report flats.csv", "flats.csv", 2},
	} {
		r := mercer(t, append([]string{"explain"}, strings.Fields(c.line)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("explain %s: exit %d: %s, want %d: %s", c.line, r.code, r.stderr, c.code, c.want)
		}
	}
	var bags strings.Builder
	bags.WriteString("item,red,class\n")
	for i := range 80 {
		fmt.Fprintf(&bags, "i%d,%d,%c\n", i/4, i%9, 'a'+i/4%2)
	}
	write(t, dir, "bags.csv", bags.String())
	ok(t, "train", "bags.csv", "-o", "b.mercer", "--group", "item", "--bag-features", "8")
	if r := mercer(t, "explain", "b.mercer", "bags.csv"); r.code != 1 || !strings.Contains(r.stderr, "predicts bags") {
		t.Errorf("%+v", r)
	}
}

// The pages are shown and printed, on a narrow screen too.
func TestExplainPagesInChromium(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains a model and starts a browser")
	}
	dir := t.TempDir()
	data, m := write(t, dir, "flats.csv", flats(300, true)), filepath.Join(dir, "m.mercer")
	ok(t, "train", data, "-o", m, "--features", "64", "--learner", "logistic")
	whole, rows := filepath.Join(dir, "whole.html"), filepath.Join(dir, "rows.html")
	ok(t, "explain", m, data, "--report", whole)
	ok(t, "explain", m, data, "--rows", "2", "--report", rows)
	browser := chromium.Open(t)
	for _, page := range []string{whole, rows} {
		for _, width := range []int{1200, 500} {
			picture, console := browser.Screenshot(page, false, width, 2500)
			text, curves := chromium.Seen(picture, false)
			if text < 3000 || curves < 300 || console != "" {
				t.Errorf("%s at %d: %d points of text and %d of curves; the console says %q", filepath.Base(page), width, text, curves, console)
			}
		}
		if p, console := browser.Printed(page); p.Texts < 50 || p.Lines < 10 || console != "" {
			t.Errorf("%s is printed as %+v; the console says %q", filepath.Base(page), p, console)
		}
	}
}
