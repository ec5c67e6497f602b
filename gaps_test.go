package mercer

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mercer/train"
)

// A model of rows without gaps takes rows with gaps by every way of the front, as if they held the training's mean, and no
// option asks for it.
func TestGapsThatTrainingDidNotHave(t *testing.T) {
	ctx := context.Background()
	var b strings.Builder
	b.WriteString("noise,size,price\n")
	sum := 0
	for i := range 400 {
		sum += i * 37 % 101
		fmt.Fprintf(&b, "%d,%d,%d\n", i*37%101, i%50, 3*(i%50))
	}
	full := file(b.String(), Options{})
	r, err := Train(ctx, full, Config{Config: train.Config{Map: train.Map{Features: 64}}})
	if err != nil {
		t.Fatal(err)
	}
	mean := float64(sum) / 400
	gaps := file("noise,size,price\n,49,147\n3,,0\n", Options{})
	want, err := Predict(ctx, r.Model, file(fmt.Sprintf("noise,size,price\n%g,49,147\n3,24.5,0\n", mean), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Predict(ctx, r.Model, gaps)
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4*(1+math.Abs(b)) }
	for i := range got {
		if !near(got[i].Values[0], want[i].Values[0]) {
			t.Errorf("row %d: %g with a gap, %g with the mean", i+1, got[i].Values[0], want[i].Values[0])
		}
	}
	p, err := NewPredictor(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	// Rows to predict need no label, even where they have its column.
	if bare, err := Predict(ctx, r.Model, file("noise,size,price\n,49,\n3,,?\n", Options{})); err != nil || bare[1].Values[0] != got[1].Values[0] {
		t.Errorf("rows without labels: %v, %v", bare, err)
	}
	for name, one := range map[string]func() (*Prediction, error){
		"Record": func() (*Prediction, error) { return p.Record(map[string]any{"noise": nil, "size": 49}) },
		"Values": func() (*Prediction, error) { return p.Values(nil, 49) },
	} {
		if out, err := one(); err != nil || !near(out.Values[0], want[0].Values[0]) {
			t.Errorf("%s: %v, %v; want %g", name, out, err, want[0].Values[0])
		}
	}
	if _, err := Evaluate(ctx, r.Model, gaps); err != nil {
		t.Error(err)
	}
	if list, err := Contributions(ctx, r.Model, gaps, full); err != nil || !near(list[0].Score[0], want[0].Values[0]) {
		t.Errorf("%v, %v", list, err)
	}
	many := file(strings.Replace(b.String(), "\n37,", "\n,", 1), Options{})
	if _, err := Importance(ctx, r.Model, many); err != nil {
		t.Error(err)
	}
	if _, err := Dependence(ctx, r.Model, many); err != nil {
		t.Error(err)
	}
}
