package eval_test

import (
	"math"
	"strings"
	"testing"

	"mercer/eval"
)

// The rise of 1 - R² of a linear model is about 2·w²·Var x/Var y; a column of weight 0 has exactly none.
func TestImportanceOfALinearModel(t *testing.T) {
	const n, d = 4000, 4
	weight := []float64{3, 0, -1, 0.5}
	m := modelOf(t, d, func(row []float32) (sum float64) {
		for j, v := range row {
			sum += weight[j] * float64(v)
		}
		return sum
	})
	x, noise := normal(n, d, 10), normal(n, 1, 11)
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(noise.Data[i])
		for j, v := range x.Row(i) {
			y[i] += weight[j] * float64(v)
		}
	}
	imp, err := eval.Importance(ctx, m, drawn(t, m, dense(x), y, n), eval.ImportanceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range imp.Columns {
		order = append(order, c.Column)
		j := int(c.Column[0] - '0')
		r, want := c.Rises[0], 2*weight[j]*weight[j]/(1+9+1+0.25)
		// The variances of y and x of n rows are off by √(2/n) each.
		if math.Abs(r.Mean-want) > 5*math.Hypot(r.SE, 2*want/math.Sqrt(n)) || weight[j] == 0 && r != (eval.Rise{}) {
			t.Errorf("column %s rises by %+v, want %.4f", c.Column, r, want)
		}
		if weight[j] != 0 && !(r.SE > r.RepeatSE && r.RepeatSE > 0) {
			t.Errorf("column %s: the error over rows is %g, over repeats %g", c.Column, r.SE, r.RepeatSE)
		}
	}
	if got := strings.Join(order, ""); got != "0231" {
		t.Errorf("the order is %s", got)
	}
	if want := 1 / (1 + 9 + 1 + 0.25); imp.Measures[0] != "1-r2" || math.Abs(imp.Losses[0]-want) > 5*want*math.Sqrt(4.0/n) {
		t.Errorf("%s is %g, want %g", imp.Measures[0], imp.Losses[0], want)
	}
}
