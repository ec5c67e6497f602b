package eval_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/random"
	"mercer/model"
	"mercer/train"
)

// oblique is a table in which a wave along a combination of two of six numbers decides, and a shape moves it.
func oblique(n int) string {
	r := random.New(14, "explain.oblique")
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,shape,target\n")
	for range n {
		v, shape := make([]float64, 6), r.Intn(3)
		for j := range v {
			v[j] = r.Normal()
			fmt.Fprintf(&b, "%.3f,", v[j])
		}
		fmt.Fprintf(&b, "%s,%.4f\n", []string{"ball", "cube", "rod"}[shape], math.Sin(v[1]+v[4])+0.5*float64(shape))
	}
	return b.String()
}

// Of a full metric, a pair is the cosine of the two rows of A, and of categories that of the blocks. The pair that
// acts together is the first; without a full metric the error says so.
func TestPairs(t *testing.T) {
	if _, err := eval.Pairs(modelOf(t, 2, together)); err == nil || !strings.Contains(err.Error(), "no learned metric") {
		t.Errorf("without a metric: %v", err)
	}
	src, err := dataset.OpenBytes(ctx, "oblique.csv", []byte(oblique(1500)), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	by := func(form string) *model.Model {
		cfg := train.Config{Map: train.Map{Features: 64, Name: "nystrom"}, Learner: train.Ridge{},
			Metric: train.Metric{Form: form, Landmarks: 200}}
		m, _, err := train.Fit(ctx, src, cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if _, err := eval.Pairs(by("diagonal")); err == nil || !strings.Contains(err.Error(), "is diagonal") {
		t.Errorf("of a diagonal metric: %v", err)
	}
	m := by("full")
	pairs, err := eval.Pairs(m)
	if err != nil || len(pairs) == 0 {
		t.Fatal(pairs, err)
	}
	if p := pairs[0]; p.First != "b" || p.Second != "e" || p.Strength < 0.9 {
		t.Errorf("the first pair is %+v", p)
	}
	axes := m.Pipeline().Metric().Axes
	norm := func(from, to eval.Column) float64 {
		sum := 0.0
		for i := from.From; i < from.To; i++ {
			for j := to.From; j < to.To; j++ {
				product := 0.0
				for k, v := range axes.Row(i) {
					product += float64(v) * float64(axes.Row(j)[k])
				}
				sum += product * product
			}
		}
		return math.Sqrt(sum)
	}
	columns := map[string]eval.Column{}
	for _, c := range eval.Columns(m) {
		columns[c.Name] = c
	}
	blocks := 0
	for i, p := range pairs {
		a, b := columns[p.First], columns[p.Second]
		want := norm(a, b) / math.Sqrt(norm(a, a)*norm(b, b))
		if math.Abs(p.Strength-want) > 1e-9 || p.Strength > 1 || i > 0 && p.Size > pairs[i-1].Size {
			t.Errorf("%+v, want %g", p, want)
		}
		if b.Categories != nil {
			blocks++
		}
	}
	if blocks == 0 {
		t.Errorf("no pair has the categories: %+v", pairs)
	}
}
