package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A label that is a bound is its number too.
func TestLabelsAreBounds(t *testing.T) {
	text := "x,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s\n", i, []string{"<0.5", fmt.Sprint(i, ".25")}[min(i%4, 1)])
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := Survey(context.Background(), f, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if task, _, err := sum.Task("auto"); task != "regress" || err != nil || !strings.Contains(fmt.Sprint(f.Notices()), `has labels such as "<0.5", which count as their numbers`) {
		t.Errorf("%s, %v: %v", task, f.Notices(), err)
	}
}

// Bounds among numbers, such as <0.01, count as their numbers, with a word on how many there are and where; where most cells are bounds, or the
// numbers are levels, they stay categories.
func TestBoundsAreNumbers(t *testing.T) {
	column := func(rows int, cell func(i int) string) (cells []string) {
		for i := range rows {
			cells = append(cells, cell(i))
		}
		return cells
	}
	plain := func(i int) string { return fmt.Sprintf("%d.%d", i*7%40, i%9) }
	every := func(n int, bound string, other func(i int) string) func(i int) string {
		return func(i int) string {
			if i%n == n-2 {
				return bound
			}
			return other(i)
		}
	}
	whole := func(n int) func(i int) string { return func(i int) string { return fmt.Sprint(i % n) } }
	for _, c := range []struct {
		name   string
		cells  []string
		bound  string
		v      float64
		notice string
		kind   string
	}{
		{"some", column(60, every(5, "<0.01", plain)), "<0.01", 0.01, `has bounds such as "<0.01" in 12 rows, first in line 5`, KindNumber},
		{"alike", column(3000, every(9, "> 1,000", plain)), "> 1,000", 1000, "in 333 rows, first in line 9", KindNumber},
		{"comma", column(60, func(i int) string { return strings.ReplaceAll(every(5, "≤ 0.5", plain)(i), ".", ",") }), "≤ 0,5", 0.5, "in 12 rows", KindNumber},
		{"unit", column(60, func(i int) string { return every(5, "<=5", whole(33))(i) + " mg" }), "<=5 mg", 5, "in 12 rows", KindNumber},
		{"late", column(2600, func(i int) string {
			if i == 2500 {
				return "≥100"
			}
			return plain(i)
		}), "≥100", 100, "in 1 row, first in line 2,502", KindNumber},
		{"plus", column(60, every(5, "90+", whole(33))), "90+", 90, `such as "90+" in 12 rows, first in line 5`, KindNumber},
		{"or more", column(60, every(5, "90 or more", whole(33))), "90 and over", 90, `such as "90 or more" in 12 rows`, KindNumber},
		{"at least", column(2600, func(i int) string {
			if i == 2500 {
				return "More than 1,000"
			}
			return plain(i)
		}), "at least 100", 100, "in 1 row, first in line 2,502", KindNumber},
		{"more levels", column(200, every(5, "3+", whole(4))), "", 0, "", KindCategory},
		{"gaps", column(60, every(7, "-", every(5, "<0.01", plain))), "<0.01", 0.01, "in 11 rows, first in line 5", KindNumber},
		{"levels", column(200, every(5, ">3", whole(4))), "", 0, "", KindCategory},
		{"most", column(60, every(2, "<0.1", every(3, "<0.2", plain))), "", 0, "", KindCategory},
		{"words", column(60, every(3, "<1 year", func(i int) string { return fmt.Sprint(i%12, " years") })), "", 0, "", KindCategory},
	} {
		text, lines := "x;z;y\n", "{"
		for i, cell := range c.cells {
			text += fmt.Sprintf("%s;%d.5;%d\n", cell, i%17, i%2)
			lines += fmt.Sprintf("\"x\":%q,\"z\":%d.5,\"y\":%d}\n{", cell, i%17, i%2)
		}
		for _, form := range []struct{ name, text string }{{"a.csv", text}, {"a.jsonl", strings.TrimSuffix(lines, "{")}} {
			notice := c.notice
			if form.name == "a.jsonl" { // which has no line of names, and whose texts are texts where none of the first looks like a bound
				if notice, _, _ = strings.Cut(notice, ", first"); c.name == "late" || c.name == "at least" {
					continue
				}
			}
			path := filepath.Join(t.TempDir(), form.name)
			if err := os.WriteFile(path, []byte(form.text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(context.Background(), path, Options{Label: "y"})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			_, err = Survey(context.Background(), f, SurveyOptions{})
			if kind := f.Profile().Columns[0].Kind; kind != c.kind || err != nil {
				t.Errorf("%s in %s: the kind is %s, not %s: %v", c.name, form.name, kind, c.kind, err)
			}
			told := slices.ContainsFunc(f.Notices(), func(n Notice) bool { return n.Kind == "bounds" && strings.Contains(n.Text, notice) })
			if told != (c.notice != "") {
				t.Errorf("%s in %s: told %v", c.name, form.name, f.Notices())
			}
			if c.bound != "" {
				schema := *f.Schema()
				row := make([]float32, schema.Dim)
				if err := NewEncoder(&schema).Map(row, map[string]any{"x": c.bound, "z": 1.5}); err != nil || row[0] != float32(c.v) {
					t.Errorf("%s in %s: %s is %v, not %v: %v", c.name, form.name, c.bound, row[0], c.v, err)
				}
			}
			f.Close()
		}
	}
}
