package feature

import (
	"os"
	"strings"
	"testing"
)

// The table of costs and variances in docs/algorithms.md has every map.
func TestTableOfMapsIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n| map | time a row |")
	if !ok {
		t.Fatal("docs/algorithms.md has no table of times")
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	firsts := ""
	for line := range strings.Lines(table) {
		firsts += strings.Split(line+"| | ", "|")[1]
	}
	names, _ := Names()
	for _, name := range names {
		if !strings.Contains(firsts, "`"+name+"`") {
			t.Errorf("%s has no row", name)
		}
	}
}
