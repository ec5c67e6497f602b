package render

import (
	"fmt"
	"testing"

	"mercer/dataset"
)

// The summary says how many numbers were missing and where: the six columns with the most of them by name.
func TestMissingLine(t *testing.T) {
	var told []string
	line := func(name, format string, args ...any) { told = append(told, name+": "+fmt.Sprintf(format, args...)) }
	s := &dataset.Schema{}
	missingLine(line, s)
	for i := range 8 {
		c := dataset.Column{Place: dataset.Place{Name: string(rune('a' + i))}}
		if i > 0 {
			c.Seen = &dataset.Seen{Missing: 1000 * (i - 1)}
		}
		s.Columns = append(s.Columns, c)
	}
	missingLine(line, s)
	s.Columns = append(s.Columns, dataset.Column{Place: dataset.Place{Name: "i"}, Seen: &dataset.Seen{Missing: 1}})
	missingLine(line, s)
	want := []string{"missing: 21,000 values replaced by the mean of the column: h 6,000, g 5,000, f 4,000, e 3,000, d 2,000, c 1,000",
		"missing: 21,001 values replaced by the mean of the column: h 6,000, g 5,000, f 4,000, e 3,000, d 2,000, c 1,000, and 1 column more"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("%q", told)
	}
}
