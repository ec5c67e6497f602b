package mercer

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mercer/train"
)

// The front door explains a model by any data: the column that decides is the most important, the curve on it rises,
// and the contributions of a row add up to its score.
func TestExplain(t *testing.T) {
	ctx := context.Background()
	var b strings.Builder
	b.WriteString("noise,size,price\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i*37%101, i%50, 3*(i%50))
	}
	data := file(b.String(), Options{})
	r, err := Train(ctx, data, Config{Config: train.Config{Map: train.Map{Features: 64}}})
	if err != nil {
		t.Fatal(err)
	}
	imp, err := Importance(ctx, r.Model, data)
	if err != nil || imp.Columns[0].Column != "size" || imp.Columns[0].Rises[0].Mean < 1 {
		t.Errorf("%+v, %v", imp, err)
	}
	dep, err := Dependence(ctx, r.Model, data)
	if err != nil || len(dep.Curves) != 2 {
		t.Fatal(dep, err)
	}
	if mean := dep.Curves[1].Mean[0]; mean[len(mean)-1]-mean[0] < 100 {
		t.Errorf("the price rises from %g to %g", mean[0], mean[len(mean)-1])
	}
	list, err := Contributions(ctx, r.Model, Rows([][]float64{{1, 49}, {2, 0}}, nil), data)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, c := range list {
		if sum := c.Base[0] + c.Values[0][0] + c.Values[0][1]; math.Abs(sum-c.Score[0]) > 1e-9*math.Abs(c.Score[0]) {
			t.Errorf("%+v adds up to %g", c, sum)
		}
	}
	if _, err := Importance(ctx, nil, data); err == nil {
		t.Error("a nil model is no error")
	}
	if _, err := Importance(ctx, r.Model, Rows([][]float64{{1, 49}}, nil)); err == nil || !strings.Contains(err.Error(), "no labels") {
		t.Error(err)
	}
	if _, err := Contributions(ctx, r.Model, Rows([][]float64{{1, 1e38}}, nil), data); err != nil {
		t.Error(err)
	}
}
