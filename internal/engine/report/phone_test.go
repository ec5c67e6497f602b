package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/chromium"
)

// wideTables shows a page in a frame of so many pixels and gives what the browser says of tables that do not fit.
func wideTables(t *testing.T, browser *chromium.Browser, page string, width int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "frame.html")
	frame := fmt.Sprintf(`<!DOCTYPE html><meta charset="utf-8"><iframe width="%d" height="2000" srcdoc="%s"></iframe><script>
addEventListener('load', () => {
  const d = document.querySelector('iframe').contentDocument;
  console.log('tables ' + d.querySelectorAll('table').length);
  for (const t of d.querySelectorAll('table, td, th')) {
    if (t.getBoundingClientRect().right > %d) console.log('too wide: ' + t.textContent.slice(0, 30));
  }
});
</script>`, width, html.EscapeString(page), width)
	if err := os.WriteFile(path, []byte(frame), 0o644); err != nil {
		t.Fatal(err)
	}
	_, console := browser.Screenshot(path, false, 1000, 2100)
	return console
}

func TestTablesFitOnATelephone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser := chromium.Open(t)
	p := &Page{Title: "t"}
	wide := &Table{Caption: "Many columns", Columns: []Column{{Name: "class"}}}
	row, long := []string{"a"}, []string{strings.Repeat("x", 300)}
	for i := range 8 {
		wide.Columns = append(wide.Columns, Column{Name: fmt.Sprintf("precision %d", i), Number: true})
		row, long = append(row, "100.00 %"), append(long, "12,345,678")
	}
	wide.Rows = [][]string{row, long, {"short"}}
	wide.MarkBest(0, 3)
	p.Section("s").Table(wide)
	p.Section("s").Table(&Table{Columns: []Column{{Name: "metric"}, {Name: "value", Number: true}, {Name: "what it is"}},
		Rows: [][]string{{"balanced accuracy", "90.00 %", strings.Repeat("the mean over the classes ", 9)}, {strings.Repeat("y", 200), "1", ""}}})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if said := wideTables(t, browser, b.String(), 390); !strings.Contains(said, "tables 2") || strings.Contains(said, "too wide") {
		t.Errorf("at 390 pixels the browser says %s", said)
	}
	// A table that is not stacked does not fit, and the test would see it; on a wide screen all are tables.
	if said := wideTables(t, browser, strings.ReplaceAll(b.String(), ` class="stacked"`, ""), 390); !strings.Contains(said, "too wide") {
		t.Errorf("without stacking the browser says %s", said)
	}
	plain := strings.ReplaceAll(b.String(), strings.Repeat("x", 300), "x")
	said := wideTables(t, browser, strings.ReplaceAll(plain, strings.Repeat("y", 200), "y"), 980)
	if !strings.Contains(said, "tables 2") || strings.Contains(said, "too wide") {
		t.Errorf("at 980 pixels the browser says %s", said)
	}
}

func TestStackedCellsHaveNames(t *testing.T) {
	p := &Page{Title: "t"}
	p.Section("s").Table(&Table{Columns: []Column{{Name: "a"}, {Name: `b "<`, Number: true}, {Name: "c"}, {Name: "d"}},
		Rows: [][]string{{"r", "1", "", "2"}}})
	p.Section("s").Table(&Table{Columns: []Column{{Name: "a"}, {Name: "b"}}, Rows: [][]string{{"r", "1"}}})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	tables := parse(t, b.String()).all("table")
	if len(tables) != 2 || tables[0].attr["class"] != "stacked" || tables[1].attr["class"] != "" {
		t.Fatalf("%d tables", len(tables))
	}
	var names []string
	for _, cell := range tables[0].all("td") {
		names = append(names, cell.attr["data-name"])
	}
	if got := strings.Join(names, ";"); got != `b "<;;d` {
		t.Errorf("names %s", got)
	}
	for _, cell := range tables[1].all("td") {
		if cell.attr["data-name"] != "" {
			t.Error("a table of two columns has named cells")
		}
	}
}
