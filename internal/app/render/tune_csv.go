package render

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"mercer/internal/search"
)

// SearchCSV writes all candidates of a search with their scores, a line each.
func SearchCSV(w io.Writer, r *search.TuneResult) error {
	differ, same := axisNames(r)
	names := append(differ, same...)
	slices.Sort(names)
	head := append([]string{"rank"}, names...)
	head = append(head, "mean", "sd", "se")
	for i := range r.Splits {
		head = append(head, "score"+strconv.Itoa(i+1))
	}
	rows := [][]string{append(head, "picked", "dropped")}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i, c := range r.Candidates {
		row := []string{strconv.Itoa(i + 1)}
		for _, name := range names {
			row = append(row, c.Values[name])
		}
		if c.Dropped == "" {
			row = append(row, number(c.Mean), number(c.SD), number(c.SE))
			for _, v := range c.Scores {
				row = append(row, number(v))
			}
		} else {
			row = append(row, make([]string, 3+r.Splits)...)
		}
		picked := ""
		if c.Picked {
			picked = "picked"
		}
		rows = append(rows, append(row, picked, c.Dropped))
	}
	return csv.NewWriter(w).WriteAll(rows)
}
