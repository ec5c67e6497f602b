package option

import (
	"slices"
	"testing"
)

// A list is read as CSV is, also where quotes belong to a name; what Listed writes, List reads.
func TestListsAreQuotedAsInCSV(t *testing.T) {
	for text, want := range map[string][]string{
		`a, b ,c`:          {"a", "b", "c"},
		`"a,b",c`:          {"a,b", "c"},
		`c, "say ""a,b"""`: {"c", `say "a,b"`},
		`5" pipe,b`:        {`5" pipe`, "b"},
		`"a`:               {`"a`},
		`a,`:               {"a", ""},
		``:                 {""},
	} {
		got := List(text)
		if !slices.Equal(got, want) {
			t.Errorf("List(%s) is %q, want %q", text, got, want)
		}
		if again := List(Listed(got)); !slices.Equal(again, got) {
			t.Errorf("%q is written as %s and read as %q", got, Listed(got), again)
		}
	}
}
