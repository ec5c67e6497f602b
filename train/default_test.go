package train

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Width alone keeps no table from its learner, as long as there is time for it; where it is not taken there is a reason.
func TestWhyTheDefaultIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		data Data
		why  string
	}{
		"narrow":         {Data{Rows: 1000, Dim: 10}, ""},
		"many rows":      {Data{Rows: 10_000_000, Dim: wideRows}, ""},
		"wide":           {Data{Rows: 5000, Dim: 5121, Numbers: 5121, Filled: 1}, ""},
		"categories":     {Data{Rows: 5000, Dim: 5121, Density: 0.01, Numbers: 20, Filled: 0.3}, ""},
		"as many as may": {Data{Rows: mostNumbers / 1000, Dim: 1000, Numbers: 1000, Filled: 1}, ""},
		"too many":       {Data{Rows: mostNumbers/1000 + 1, Dim: 1000, Numbers: 1000, Filled: 1}, "100,001 rows of 1,000 dimensions take it long"},
		"too wide":       {Data{Rows: 1000, Dim: widestRows + 1, Filled: 1}, "more than 10,000 dimensions take it long"},
		"pictures":       {Data{Rows: 1000, Dim: 784, Numbers: 784, Filled: 0.2}, "as wide rows of so many zeros"},
		"texts":          {Data{Rows: 1000, Dim: 784, Sparse: true, Density: 0.02}, "as rows of so many zeros are texts"},
		"few rows":       {Data{Rows: 49, Dim: 10}, "which wants 50 rows to choose by"},
		"outputs":        {Data{Rows: 1000, Dim: 10, Classes: 101}, "which is for up to 100 outputs"},
	} {
		c.data.Task = "regress"
		if _, ok := c.data.Default(Config{}); ok != (c.why == "") || !strings.Contains(c.data.noTable(), c.why) {
			t.Errorf("%s: taken %v, %q", name, ok, c.data.noTable())
		}
	}
}

// The model says why it is not what a table gets, and what to do; where something was asked for that is answer enough.
func TestModelSaysWhyNoTable(t *testing.T) {
	x, names := rings(1, 40, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	const want = "; not rfm, which wants 50 rows to choose by (name it to have it)"
	for _, c := range []struct {
		cfg  Config
		says bool
	}{{Config{}, true}, {Config{Quick: true}, false}, {Config{Learner: Named{Options: map[string]any{"c": 1}}}, false}} {
		m, _, err := Fit(context.Background(), src, c.cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if why := m.Info().Training.Why["learner"]; strings.HasSuffix(why, want) != c.says {
			t.Errorf("%+v: %q", c.cfg, why)
		}
	}
}

// Zeros of categories and of the marks of gaps are no zeros of numbers.
func TestNumbersOfAWideTable(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c,d,x,gap,y\n")
	draw := random.New(1, "wide table")
	for i := range 1200 {
		gap := "1.5"
		if i%10 == 0 {
			gap = ""
		}
		fmt.Fprintf(&text, "a%d,b%d,c%d,d%d,%d,%s,k%d\n", draw.Intn(90), draw.Intn(90), draw.Intn(90), draw.Intn(90), draw.Intn(2), gap, draw.Intn(12))
	}
	src, err := dataset.OpenBytes(context.Background(), "wide.csv", []byte(text.String()), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := chosen(t, src, Config{}, Options{})
	dims, filled := f.schema.Numbers(f.sum)
	if f.sum.Dim <= wideRows || dims != 2 || filled < 0.7 || filled > 0.8 {
		t.Errorf("%d of %d dimensions are numbers, %.2f of them not 0", dims, f.sum.Dim, filled)
	}
	if f.cfg.LearnerName() != "rfm" {
		t.Errorf("the learner of %d one-hot dimensions is %s", f.sum.Dim, f.cfg.LearnerName())
	}
}
