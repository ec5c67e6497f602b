package render

import (
	"fmt"
	"io"

	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// CostText writes what train --estimate predicts, and the trials that it rests on.
func CostText(w io.Writer, c *search.Prediction) {
	rows := units.Count(c.Rows)
	if c.RowsGuessed {
		rows = "about " + rows + " (by the share of the file that was read)"
	}
	Line(w, "estimate", "%s", c.Text())
	Line(w, "rows", "%s", rows)
	Line(w, "training", "%s; %s features, %s", search.Describe(c.Plan.Config), units.Count(c.Plan.Features),
		units.Plural(c.Plan.Outputs, "output"))
	metric := ""
	if c.Metric > 0 {
		metric = "metric " + units.Seconds(c.Metric) + " · "
	}
	Line(w, "time", "read %s · %smap %s · solve %s", units.Seconds(c.Read), metric, units.Seconds(c.Map), units.Seconds(c.Solve))
	Line(w, "memory", "%s (%s)", units.Bytes(c.Plan.Bytes), c.Plan.Formula)
	fmt.Fprintf(w, "\n  %-10s%10s%10s%12s%12s\n", "trials", "rows", "features", "map", "solve")
	for _, t := range c.Trials {
		fmt.Fprintf(w, "  %-10s%10s%10s%12s%12s\n", "", units.Count(t.Rows), units.Count(t.Features), units.Seconds(t.Map),
			units.Seconds(t.Solve))
	}
}
