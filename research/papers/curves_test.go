package papers

import (
	"slices"
	"testing"
)

func TestCurvesAreRowsByColumnsThatAreNumbers(t *testing.T) {
	r := &Result{
		Table: &Table{Corner: "error", Columns: []string{"D = 40", "D = 80", "D = 160"}, Rows: []Row{
			{"a", figures("0.4±0.1 ? 0.2±0.3")}, {"b", nil},
		}},
		Cells: [][]Cell{
			{{Mean: 1, SD: 0.1}, {Mean: 2}, {Mark: NotRun}},
			{{Mark: NoData}, {Mark: NoData}, {Mark: NoData}},
		},
	}
	c, ok := r.Curves()
	if !ok || c.X != "D" || c.Y != "error" || len(c.Curves) != 1 {
		t.Fatalf("%+v", c)
	}
	a := c.Curves[0]
	if a.Name != "a" || !slices.Equal(a.X, []float64{40, 80}) || !slices.Equal(a.Mean, []float64{1, 2}) ||
		!slices.Equal(a.SD, []float64{0.1, 0}) ||
		!slices.Equal(a.TheirX, []float64{40, 160}) || !slices.Equal(a.Theirs, []float64{0.4, 0.2}) ||
		!slices.Equal(a.TheirSD, []float64{0.1, 0.3}) {
		t.Errorf("%+v", a)
	}
}

func TestCurvesAreColumnsByRowsThatAreNumbers(t *testing.T) {
	r := &Result{
		Table: &Table{Corner: "mean error, by D", Columns: []string{"x", "y"}, Rows: []Row{{"16", nil}, {"32", figures("3 -")}}},
		Cells: [][]Cell{{{Mean: 5}, {Mean: 6}}, {{Mean: 7}, {Mean: 8}}},
	}
	c, ok := r.Curves()
	if !ok || c.X != "D" || c.Y != "mean error" || len(c.Curves) != 2 {
		t.Fatalf("%+v", c)
	}
	if x := c.Curves[0]; !slices.Equal(x.X, []float64{16, 32}) || !slices.Equal(x.Mean, []float64{5, 7}) ||
		!slices.Equal(x.TheirX, []float64{32}) {
		t.Errorf("%+v", x)
	}
	if y := c.Curves[1]; !slices.Equal(y.Mean, []float64{6, 8}) || y.TheirX != nil {
		t.Errorf("%+v", y)
	}
	for _, columns := range [][]string{{"MNIST", "covtype"}, {"D = 1", "k = 2"}, {"D = 1"}, {"D = 1", "test", "D = 2", "test"}} {
		r := &Result{Table: &Table{Columns: columns, Rows: []Row{{"a", nil}}}, Cells: [][]Cell{make([]Cell, len(columns))}}
		if c, ok := r.Curves(); ok {
			t.Errorf("%v are curves: %+v", columns, c)
		}
	}
}
