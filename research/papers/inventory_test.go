package papers

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every item of the inventory is made again, or says why not, and every table makes one.
func TestInventoryIsWhole(t *testing.T) {
	made := map[string]bool{}
	for _, table := range Tables() {
		made[table.Name] = false
	}
	seen := map[string]bool{}
	for _, i := range Inventory() {
		name := i.Paper + ", " + i.Number
		if seen[name] || i.Shows == "" {
			t.Errorf("%s is there twice, or shows nothing", name)
		}
		seen[name] = true
		ways := 0
		for _, has := range []bool{len(i.By) > 0, i.Lacks != "", i.Drawing != ""} {
			if has {
				ways++
			}
		}
		if partly := len(i.By) > 0 && i.Lacks != "" && i.Drawing == ""; ways != 1 && !partly {
			t.Errorf("%s: tables make it, or it lacks data, or shows no experiment", name)
		}
		if i.Near != "" && i.Lacks == "" {
			t.Errorf("%s: it lacks nothing, so that nothing is near it", name)
		}
		for _, near := range regexp.MustCompile(`(S14|LS1[89]|K10|L12)-[^ ,]+`).FindAllString(i.Near, -1) {
			if _, known := made[near]; !known {
				t.Errorf("%s: there is no table %s", name, near)
			}
		}
		if (i.Mark() == "") != (len(i.By) > 0 && i.Lacks == "") {
			t.Errorf("%s: mark %q", name, i.Mark())
		}
		for _, by := range i.By {
			if _, known := made[by]; !known {
				t.Errorf("%s: there is no table %s", name, by)
			}
			made[by] = true
		}
	}
	for name, is := range made {
		if !is {
			t.Errorf("%s is no item of a paper", name)
		}
	}
}

// Costs are said of every table, and what is fast without data is run: it gives a figure for every cell.
func TestTablesWithoutDataRun(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, table := range Tables() {
		if !(table.Cost > 0) {
			t.Errorf("%s: no cost", table.Name)
		}
		if table.Data != "" || table.Cost > 1 {
			continue
		}
		r, err := Run(t.Context(), table, Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range r.Cells {
			for j, c := range row {
				timed := slices.Contains(table.Unmarked, j)
				if !(c.Mean >= 0) || c.Mark == NotRun || timed && c.Mark != NoFigure {
					t.Errorf("%s: %s, %s: %+v", table.Name, table.Rows[i].Name, table.Columns[j], c)
				}
			}
		}
	}
}

// docs/papers-tables.md has a line for every item that is an experiment.
func TestInventoryIsInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/papers-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range Inventory() {
		line := "| " + i.Paper + ", " + i.Number + " | " + i.Shows + " | " + i.How() + " |\n"
		if has := strings.Contains(string(page), line); has == (i.Drawing != "") {
			t.Errorf("the page has %t of the line %s", has, line)
		}
	}
}

// docs/papers-tables.md has a result of every table, or says that it has none.
func TestTablesWithoutResultAreNamed(t *testing.T) {
	page, err := os.ReadFile("../docs/papers-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	_, none, found := strings.Cut(string(page), "\nTables of which this page has no result: ")
	none, _, ends := strings.Cut(none, "\n")
	if !found || !ends {
		t.Fatal("the page does not say which tables it has no result of")
	}
	named := strings.FieldsFunc(none, func(r rune) bool { return strings.ContainsRune(" ,;", r) })
	for _, table := range Tables() {
		// A printed table begins with its name, a paragraph with results has it in bold.
		result := regexp.MustCompile(`(?m)^(\*\*|\*\*\S+ and )?` + regexp.QuoteMeta(table.Name) + `(  |\*\*| and )`).Match(page)
		without := slices.Contains(named, table.Name)
		if result == without {
			t.Errorf("%s: the page has a result: %t, and says that it has none: %t", table.Name, result, without)
		}
	}
}
