package papers

import (
	"math"
	"testing"
)

// The figures of S14 that give numbers: ours over ten maps are theirs of one, within what maps
// scatter.
func TestSivertsenFiguresAreTheirs(t *testing.T) {
	for _, c := range []struct {
		table       string
		row, column int
	}{{"S14-F4.1", 0, 3}, {"S14-F4.5", 0, 3}, {"S14-F4.5", 1, 3}, {"S14-F4.6", 0, 2}} {
		table, err := Find(c.table)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), table, Options{Seeds: 10})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := r.at(c.row, c.column)
		if off := math.Abs(ours.Mean-theirs.Mean) / ours.SD; off > 4 {
			t.Errorf("%s, %s: %.4g ± %.2g beside %s", c.table, table.Rows[c.row].Name, ours.Mean, ours.SD, theirs.Text)
		}
	}
}

// Both forms' errors fall as 1/√D: by a factor of √512 over the table.
func TestPhasesHaveNoErrorFloor(t *testing.T) {
	table, err := Find("S14-F4.4")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), table, Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []int{0, 2} {
		if fall := r.Cells[0][column].Mean / r.Cells[9][column].Mean; fall < math.Sqrt(512)/2.5 || fall > 2.5*math.Sqrt(512) {
			t.Errorf("%s falls by a factor of %g", table.Columns[column], fall)
		}
	}
}

// On positive rows TensorSketch's relative error is far less than around 0, where few pairs are below
// 100 %; converted estimates are as the paper says.
func TestSketchesOnTwoRangesAndConverted(t *testing.T) {
	run := func(name string) *Result {
		table, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), table, Options{Seeds: 3})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run("S14-F4.2")
	if around, positive := r.Cells[0], r.Cells[1]; around[4].Mean > 70 || positive[4].Mean < 99 || positive[3].Mean > around[3].Mean/2 {
		t.Errorf("%v and %v", around, positive)
	}
	r = run("S14-F4.8")
	rel := func(i int) float64 { return r.Cells[i][1].Mean }
	if rel(1) > 10 || rel(3) < 50 || rel(4) > 15 {
		t.Errorf("relative errors %.3g by TensorSketch, %.3g and %.3g by Fastfood", rel(1), rel(3), rel(4))
	}
	for i, row := range r.Cells {
		if !(row[0].Mean > 0) {
			t.Errorf("row %d: %v", i, row)
		}
	}
}

// Tenths hold all pairs, as many each, in order.
func TestTenthsArePartsInOrder(t *testing.T) {
	c := Cloud{}
	for i := range 37 {
		c.Exact, c.Estimate = append(c.Exact, float64(i*7%37)), append(c.Estimate, float64(i))
	}
	last, n := -1.0, 0
	for _, p := range c.tenths() {
		if len(p.Exact) < 3 || len(p.Exact) > 4 {
			t.Errorf("a part of %d", len(p.Exact))
		}
		for i, k := range p.Exact {
			if k <= last || int(p.Estimate[i])*7%37 != int(k) {
				t.Errorf("%g after %g, estimate %g", k, last, p.Estimate[i])
			}
			last, n = k, n+1
		}
	}
	if n != 37 {
		t.Errorf("%d pairs", n)
	}
}
