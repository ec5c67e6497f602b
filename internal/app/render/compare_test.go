package render

import (
	"bytes"
	"math"
	"testing"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/search"
)

func compared(names []string) *ModelsJSON {
	out := &ModelsJSON{Comparison: &eval.Comparison{N: 1460, Metric: "accuracy", Better: "higher", Level: 0.95, Chosen: true, Test: "mcnemar"}}
	for i, name := range names {
		m := ModelJSON{Compared: eval.Compared{Name: name, Value: 0.95 - 0.01*float64(i), Low: 0.94 - 0.01*float64(i),
			High: 0.96 - 0.01*float64(i), MicrosPerRow: 1.5 * float64(i+1)}, Bytes: 1 << (10 + 2*i)}
		if i > 0 {
			m.Difference = &eval.Difference{Value: -0.01 * float64(i), Low: -0.02 * float64(i), High: 0.001, P: 0.00001 * float64(i), Holm: 0.2}
		}
		out.Models = append(out.Models, m)
	}
	return out
}

func configs(names []string) *eval.ConfigComparison {
	out := &eval.ConfigComparison{N: 1000, Folds: 5, Repeats: 2, Metric: "rmse", Better: "lower", Level: 0.9, Test: "t"}
	for i, name := range names {
		c := eval.ComparedConfig{Name: name, Mean: 12.5 + float64(i), SD: 0.123, Seconds: float64(i), MicrosPerRow: 2}
		if i > 0 {
			c.Difference = &eval.Difference{Value: float64(i), Low: 0.5, High: float64(2 * i), P: 0.03, Holm: 0.06}
		}
		out.Configs = append(out.Configs, c)
	}
	return out
}

func TestComparisons(t *testing.T) {
	for name, names := range map[string][]string{"": {"rbf.mercer", "linear.mercer"}, "-hostile": hostile(9)[2:]} {
		m, c := compared(names), configs(names)
		goldenText(t, "models"+name, func(w *bytes.Buffer) {
			if err := ModelsText(w, m, "test.csv", 2000); err != nil {
				t.Error(err)
			}
		})
		goldenText(t, "configs"+name, func(w *bytes.Buffer) {
			if err := ConfigsText(w, c, "data.csv"); err != nil {
				t.Error(err)
			}
		})
		for what, make := range map[string]func() (*report.Page, error){
			"models": func() (*report.Page, error) { return ModelsPage(m, "test.csv", 2000) }, "configs": func() (*report.Page,
				error) {
				return ConfigsPage(c, "data.csv")
			}} {
			page, err := make()
			if err != nil {
				t.Fatal(err)
			}
			goldenPage(t, what+name, page)
		}
	}
	goldenJSON(t, "models", compared([]string{"a", "b"}))
	goldenJSON(t, "configs", ConfigsJSON{configs([]string{"a", "b"}), &search.Forecast{Seconds: 12}})
	// A metric that is not known is an error, not a panic.
	wrong := compared([]string{"a", "b"})
	wrong.Metric = "beauty"
	if err := ModelsText(&bytes.Buffer{}, wrong, "d", 1); err == nil {
		t.Error("beauty is a metric")
	}
	// Undefined uncertainty does not break a table.
	m, err := eval.MetricNamed("rmse")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 0} {
		if got := figuresFor(m, v).value(1.5); got != "1.5000" {
			t.Errorf("uncertain by %g: %s", v, got)
		}
	}
}
