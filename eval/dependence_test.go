package eval_test

import (
	"math"
	"slices"
	"testing"

	"mercer/eval"
	"mercer/matrix"
	"mercer/train"
)

// The partial dependence of a linear model is a line, with the slope of the weight; the band has the quantiles of
// the other columns. Counts cover all rows.
func TestDependenceOfALinearModel(t *testing.T) {
	m := modelOf(t, 2, func(row []float32) float64 { return 2*float64(row[0]) - float64(row[1]) })
	x := normal(1000, 2, 13)
	for i := range x.Rows {
		x.Row(i)[1] = float32(i % 3)
	}
	d, err := eval.Dependence(ctx, m, drawn(t, m, dense(x), nil, 1000), eval.DependenceOptions{Rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if d.Of != "value" || d.Rows != 1000 || len(d.Curves) != 2 || !slices.Equal(d.Curves[1].Values, []float64{0, 1, 2}) ||
		!slices.Equal(d.Curves[1].Rows, []int{334, 333, 333}) {
		t.Fatalf("%+v", d)
	}
	c := d.Curves[0]
	rows := 0
	for p, v := range c.Values {
		if want := 2*v - 0.999; math.Abs(c.Mean[0][p]-want) > 1e-5 || math.Abs(c.Low[0][p]-(2*v-2)) > 1e-5 || math.Abs(c.High[0][p]-2*v) > 1e-5 {
			t.Errorf("at %g: %g (%g to %g), want %g", v, c.Mean[0][p], c.Low[0][p], c.High[0][p], want)
		}
		rows += c.Rows[p]
	}
	if len(c.Values) != 20 || rows != 1000 || !slices.IsSorted(c.Values) {
		t.Errorf("%d points count %d rows: %v", len(c.Values), rows, c.Values)
	}
}

// A categorical column has a point for each category, with its rows, and probabilities of the second of two classes.
func TestDependenceOnCategories(t *testing.T) {
	m, held := fitted(t, true, train.Config{Map: train.Map{Features: 256}, Learner: train.Logistic{}})
	rows, err := eval.Draw(ctx, m, held, 800, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := eval.Dependence(ctx, m, rows, eval.DependenceOptions{Columns: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	c := d.Curves[0]
	if d.Of != "probability" || !slices.Equal(d.Outputs, []string{"low"}) || !slices.Equal(c.Categories, []string{"ball", "cube", "rod"}) ||
		c.Rows[0]+c.Rows[1]+c.Rows[2] != 800 || !(c.Mean[0][0] > c.Mean[0][1] && c.Mean[0][1] > c.Mean[0][2]) || c.Mean[0][0] > 1 {
		t.Errorf("%+v", d)
	}
	two, err := eval.Dependence(ctx, m, rows, eval.DependenceOptions{Columns: []int{1}, Points: 2})
	if err != nil || len(two.Curves[0].Categories) != 2 || two.Curves[0].Left != 800-two.Curves[0].Rows[0]-two.Curves[0].Rows[1] {
		t.Errorf("%+v, %v", two, err)
	}
}

// A column that is nearly always 0 still gets points where it is not.
func TestDependenceOnARareValue(t *testing.T) {
	m := modelOf(t, 1, func(row []float32) float64 { return float64(row[0]) })
	x := matrix.NewDense(2000, 1)
	for i := range 30 {
		x.Data[i*60] = float32(i + 1)
	}
	d, err := eval.Dependence(ctx, m, drawn(t, m, dense(x), nil, 2000), eval.DependenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Curves[0]; len(c.Values) != 20 || c.Values[0] != 0 || c.Rows[0] < 1970 || c.Values[19] < 25 {
		t.Errorf("%v: %v", c.Values, c.Rows)
	}
}
