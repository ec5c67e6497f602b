package export

import (
	"fmt"
	"strings"
)

// line is a column that is linear in column c between knots, constant beyond them, and NULL where c is.
//
// PostgreSQL and DuckDB take the knots as arrays, which are one constant each for a planner: DuckDB copies a view's expressions for each sum that is
// joined to its rows, and planned some hundreds of nested CASEs for seconds.
func (q *sqlModel) line(c int, knots, rise []float64) int {
	x, last := q.x(c), len(knots)-1
	ends := fmt.Sprintf("CASE WHEN %s < %s THEN %s WHEN %s >= %s THEN %s WHEN %s IS NOT NULL THEN ", x, digits(knots[0]), digits(rise[0]), x, digits(knots[last]),
		digits(rise[last]), x)
	if last == 0 {
		return q.put(ends+digits(rise[0])+" END", c)
	}
	slopes := make([]float64, last)
	for i := range slopes {
		if knots[i+1] > knots[i] {
			slopes[i] = (rise[i+1] - rise[i]) / (knots[i+1] - knots[i])
		}
	}
	if q.name == "sqlite" {
		return q.put(ends+bisected(x, knots, rise, slopes, 0, last)+" END", c)
	}
	list := q.numbers(knots)
	before := "width_bucket(" + x + ", " + list + ")"
	if q.name == "duckdb" {
		before = "len([k FOR k IN " + list + " IF k <= " + x + "])"
	}
	n := q.put("CASE WHEN "+x+" IS NOT NULL THEN "+before+" END", c)
	at := func(of []float64) string { return "(" + q.numbers(of) + ")[" + q.x(n) + "]" }
	return q.put(ends+at(rise)+" + ("+x+" - "+at(knots)+")*"+at(slopes)+" END", c, n)
}

// bisected is a function between knots: bisection written out.
func bisected(x string, knots, rise, slopes []float64, lo, hi int) string {
	switch mid := (lo + hi) / 2; {
	case hi-lo > 1:
		return fmt.Sprintf("CASE WHEN %s < %s THEN %s ELSE %s END", x, digits(knots[mid]), bisected(x, knots, rise, slopes, lo, mid),
			bisected(x, knots, rise, slopes, mid, hi))
	case slopes[lo] == 0:
		return digits(rise[lo])
	}
	return fmt.Sprintf("%s + (%s - %s)*%s", digits(rise[lo]), x, digits(knots[lo]), digits(slopes[lo]))
}

// numbers is an array that is one constant.
func (d *dialect) numbers(of []float64) string {
	list := make([]string, len(of))
	for i, v := range of {
		list[i] = digits(v)
	}
	text := strings.Join(list, ",")
	if d.name == "duckdb" {
		return "'[" + text + "]'::DOUBLE[]"
	}
	return "'{" + text + "}'::DOUBLE PRECISION[]"
}
