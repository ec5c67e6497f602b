package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/units"
)

// missingLine says how many values of columns of numbers the training had none of, and where, if it had any such gaps.
func missingLine(line lines, s *dataset.Schema) {
	type gaps struct {
		name string
		rows int
	}
	var all []gaps
	total := 0
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Seen != nil && c.Seen.Missing > 0 {
			all, total = append(all, gaps{c.Name, c.Seen.Missing}), total+c.Seen.Missing
		}
	}
	if all == nil {
		return
	}
	slices.SortStableFunc(all, func(a, b gaps) int { return cmp.Compare(b.rows, a.rows) })
	const most = 6
	var parts []string
	for i, g := range all {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %s more", units.Plural(len(all)-most, "column")))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", ShortLabel(g.name, listedName), units.Count(g.rows)))
	}
	line("missing", "%s replaced by the mean of the column: %s", units.Plural(total, "value"), strings.Join(parts, ", "))
}
