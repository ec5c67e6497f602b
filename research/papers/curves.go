package papers

import (
	"slices"
	"strconv"
	"strings"
)

// Curves are the figures of a table as functions of a number, such as errors by D.
type Curves struct {
	X      string // what the number is, such as D
	Y      string // what the figures are
	Curves []Curve
}

// Curve is a row or a column of a table. Its lists have one element for each figure of ours that was
// computed.
type Curve struct {
	Name     string
	X        []float64
	Mean, SD []float64 // ours

	// TheirX are the X at which the paper has a legible figure.
	TheirX, Theirs, TheirSD []float64
}

// Curves returns a table's figures as curves: one for every row if all columns are values of one
// number (D = 40, D = 80, …), or for every column if all rows are. ok is false if there is no such
// number.
func (r *Result) Curves() (c Curves, ok bool) {
	if name, x := numbers(r.Columns); x != nil {
		c.X, c.Y = name, r.Corner
		for i, row := range r.Rows {
			c.add(row.Name, x, func(j int) (Cell, Figure) { return r.at(i, j) })
		}
		return c, true
	}
	var rows []string
	for _, row := range r.Rows {
		rows = append(rows, row.Name)
	}
	name, x := numbers(rows)
	if x == nil {
		return c, false
	}
	c.X, c.Y = name, r.Corner
	if what, by, found := strings.Cut(r.Corner, ", by "); found {
		c.X, c.Y = by, what
	} else if name == "" {
		c.X, c.Y = r.Corner, ""
	}
	for j, column := range r.Columns {
		c.add(column, x, func(i int) (Cell, Figure) { return r.at(i, j) })
	}
	return c, true
}

// at is our figure and theirs.
func (r *Result) at(i, j int) (ours Cell, theirs Figure) {
	if r.Rows[i].Theirs != nil {
		theirs = r.Rows[i].Theirs[j]
	}
	return r.Cells[i][j], theirs
}

// add appends a curve if it has any figure.
func (c *Curves) add(name string, x []float64, at func(i int) (Cell, Figure)) {
	curve := Curve{Name: name}
	for i, x := range x {
		ours, theirs := at(i)
		if ours.Mark != NoData && ours.Mark != NotRun {
			curve.X, curve.Mean, curve.SD = append(curve.X, x), append(curve.Mean, ours.Mean), append(curve.SD, ours.SD)
		}
		if theirs.Readable() {
			curve.TheirX, curve.Theirs, curve.TheirSD = append(curve.TheirX, x), append(curve.Theirs, theirs.Mean), append(curve.TheirSD, theirs.SD)
		}
	}
	if len(curve.X)+len(curve.TheirX) > 0 {
		c.Curves = append(c.Curves, curve)
	}
}

// numbers reads names such as "D = 40", or plain numbers, if all have the same name and different numbers;
// at least two.
func numbers(names []string) (name string, values []float64) {
	for i, text := range names {
		before, number, found := strings.Cut(text, " = ")
		if !found {
			before, number = "", text
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || i > 0 && before != name || slices.Contains(values, v) {
			return "", nil
		}
		name, values = before, append(values, v)
	}
	if len(values) < 2 {
		return "", nil
	}
	return name, values
}
