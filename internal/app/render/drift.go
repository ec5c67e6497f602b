package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mercer/eval"
	"mercer/internal/engine/units"
)

// mostDrifted bounds the columns that are named.
const mostDrifted = 10

// DriftLines tells how rows differ from those of a training, a line each.
func DriftLines(r *eval.DriftReport) []string {
	if r.Rows == 0 {
		return []string{"there are no rows to compare"}
	}
	columns := slices.Clone(r.Columns)
	slices.SortStableFunc(columns, func(a, b eval.DriftedColumn) int { return cmp.Compare(b.Outside, a.Outside) })
	text := fmt.Sprintf("%s of %s %s a value that the training did not have", units.Count(r.Outside), units.Plural(r.Rows, "row"),
		map[bool]string{true: "has", false: "have"}[r.Outside == 1])
	var named []string
	for i, c := range columns {
		if c.Outside == 0 {
			break
		}
		if i == mostDrifted {
			named = append(named, "…")
			break
		}
		within := ""
		if c.Min != 0 || c.Max != 0 {
			within = fmt.Sprintf(" (%s to %s)", Number(c.Min), Number(c.Max))
		}
		named = append(named, fmt.Sprintf("%s %s%s", ShortLabel(c.Column, listedName), units.Count(c.Outside), within))
	}
	if named != nil {
		text += ": " + strings.Join(named, ", ")
	}
	lines := []string{text}
	slices.SortStableFunc(columns, func(a, b eval.DriftedColumn) int { return cmp.Compare(b.Distance, a.Distance) })
	left := r.Drifted
	for _, c := range columns {
		if !c.Drifted {
			continue
		}
		if r.Drifted-left == mostDrifted {
			lines = append(lines, fmt.Sprintf("%s more have drifted", units.Plural(left, "column")))
			break
		}
		left--
		lines = append(lines, fmt.Sprintf("column %q has drifted: its distribution is %.2g away from that of the training, p %s", c.Column, c.Distance, smallP(c.P)))
	}
	if r.Drifted == 0 {
		lines = append(lines, fmt.Sprintf("none of %s has drifted", units.Plural(len(r.Columns), "column")))
	}
	return lines
}

// smallP is a p-value with its sign of comparison.
func smallP(p float64) string {
	if p < 1e-15 {
		return "< 1e-15"
	}
	return fmt.Sprintf("= %.2g", p)
}
