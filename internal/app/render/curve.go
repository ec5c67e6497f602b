package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"mercer/internal/engine/units"
	"mercer/internal/search"
)

// CurveText writes learning curves as tables with a small picture of the test errors.
func CurveText(w io.Writer, c *search.Curve) {
	what := map[string]string{"error": "error in %", "rmse": "RMSE", "hamming": "wrong labels in %"}[c.Metric]
	number := func(v float64) string {
		if c.Metric == "rmse" {
			return fmt.Sprintf("%.4g", v)
		}
		return fmt.Sprintf("%.2f", 100*v)
	}
	spread := func(mean, sd float64) string {
		if c.Seeds < 2 { // of one nothing deviates
			if c.Metric == "rmse" {
				return fmt.Sprintf("%.4g", mean)
			}
			return number(mean)
		}
		if c.Metric == "rmse" {
			return fmt.Sprintf("%.4g ± %.2g", mean, sd)
		}
		return number(mean) + " ± " + number(sd)
	}
	fmt.Fprintf(w, "  %s; %s; tested on %s rows\n", what, seedsText(c.Seeds), units.Count(c.Held))
	table := func(title string, points []search.CurvePoint) {
		fmt.Fprintf(w, "\n  %-12s%10s%10s%20s%20s%10s%10s\n", title, "rows", "features", "train", "test", "seconds", "memory")
		line := spark(points)
		for i, p := range points {
			fmt.Fprintf(w, "  %-12s%10s%10s%20s%20s%10s%10s  %s\n", "", units.Count(p.Rows), units.Count(p.Features),
				spread(p.Train, p.TrainSD), spread(p.Test, p.TestSD), units.Seconds(p.Seconds), units.Bytes(p.Bytes), line[i])
		}
	}
	law := func(l *search.Law, n string) {
		if l == nil {
			return
		}
		factor, unit := 1.0, ""
		if c.Metric != "rmse" {
			factor, unit = 100, " %"
		}
		fmt.Fprintf(w, "  %-12stest ≈ %.4g + %.4g·%s^-%.2g%s, off by %s in the mean\n", "", factor*l.A, factor*l.B, n, l.C, unit,
			number(l.Misfit))
	}
	table("by rows", c.ByRows)
	law(c.RowsLaw, "n")
	for _, e := range c.Extrapolated {
		fmt.Fprintf(w, "  %-12s%10s%10s%20s%20s%10s%10s  extrapolated\n", "", units.Count(e.Rows), "", "", number(e.Test),
			units.Roughly(e.Seconds), units.Bytes(e.Bytes))
	}
	if len(c.ByFeatures) > 0 {
		table("by features", c.ByFeatures)
		law(c.FeaturesLaw, "D")
	}
	if c.SecondsExponent > 0 {
		fmt.Fprintf(w, "\n  seconds ≈ %.2g·n^%.2g\n", c.SecondsFactor, c.SecondsExponent)
	}
}

// seedsText says what numbers are over the seeds.
func seedsText(seeds int) string {
	if seeds < 2 {
		return "of one seed"
	}
	return "means and deviations over " + units.Plural(seeds, "seed")
}

// spark are bars as long as the points' test errors, the largest having 20 characters, in eighths
// of a character.
func spark(points []search.CurvePoint) []string {
	most := 0.0
	for _, p := range points {
		if !math.IsInf(p.Test, 1) && p.Test > most {
			most = p.Test
		}
	}
	bars := make([]string, len(points))
	for i, p := range points {
		if !(p.Test > 0 && p.Test <= most) {
			continue // no error, or none that can be drawn
		}
		eighths := int(math.Round(160 * p.Test / most))
		bars[i] = strings.Repeat("█", eighths/8)
		if part := eighths % 8; part > 0 {
			bars[i] += string([]rune("▏▎▍▌▋▊▉")[part-1])
		}
	}
	return bars
}
