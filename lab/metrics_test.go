package lab

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// recorded are scikit-learn's metrics; testdata/metrics.py wrote them.
type recorded struct {
	Truth, Predicted, Score                   []float64
	Accuracy, MacroF1, F1, AUC, RMSE, MAE, R2 float64
}

func (r *recorded) UnmarshalJSON(text []byte) error {
	var v struct {
		Truth     []float64 `json:"truth"`
		Predicted []float64 `json:"predicted"`
		Score     []float64 `json:"score"`
		Accuracy  float64   `json:"accuracy"`
		MacroF1   float64   `json:"macro_f1"`
		F1        float64   `json:"f1"`
		AUC       float64   `json:"auc"`
		RMSE      float64   `json:"rmse"`
		MAE       float64   `json:"mae"`
		R2        float64   `json:"r2"`
	}
	err := json.Unmarshal(text, &v)
	*r = recorded(v)
	return err
}

func load(t *testing.T) map[string]*recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]*recorded
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, scikit-learn gives %g", what, got, want)
	}
}

func TestClassificationAgreesWithScikitLearn(t *testing.T) {
	for name, classes := range map[string]int{"classes": 4, "binary": 2} {
		r := load(t)[name]
		c := NewClassification([]string{"a", "b", "c", "d"}[:classes])
		for i, truth := range r.Truth {
			var scores []float32
			if r.Score != nil {
				scores = []float32{float32(r.Score[i])}
			}
			c.Add(int(truth), int(r.Predicted[i]), scores, 1)
		}
		m := c.Metrics()
		near(t, name+" accuracy", m.Accuracy, r.Accuracy)
		near(t, name+" macro F1", m.MacroF1, r.MacroF1)
		if *m.Accuracy+*m.Error != 1 || m.N != len(r.Truth) || m.RMSE != nil {
			t.Errorf("%s: %+v", name, m)
		}
		if classes == 2 {
			near(t, "F1", m.F1, r.F1)
			near(t, "AUC", m.AUC, r.AUC)
		} else if m.F1 != nil || m.AUC != nil {
			t.Errorf("F1 and AUC of %d classes", classes)
		}
	}
}

func TestRegressionAgreesWithScikitLearn(t *testing.T) {
	r := load(t)["numbers"]
	g := NewRegression(nil, 2)
	for i := 0; i < len(r.Truth); i += 2 {
		g.Add(r.Truth[i:i+2], []float32{float32(r.Predicted[i]), float32(r.Predicted[i+1])}, 1)
	}
	m := g.Metrics()
	near(t, "RMSE", m.RMSE, r.RMSE)
	near(t, "MAE", m.MAE, r.MAE)
	near(t, "R²", m.R2, r.R2)
	if m.N != 40 || m.Accuracy != nil {
		t.Errorf("%+v", m)
	}
}

func TestUnknownLabelsAreErrors(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	c.Add(0, 0, []float32{-1}, 1)
	c.Add(-1, 1, []float32{2}, 1)
	c.Add(-1, 0, []float32{-2}, 1)
	m := c.Metrics()
	if *m.Accuracy != 0.5 || *m.AUC != 1 {
		t.Errorf("accuracy %g, AUC %g", *m.Accuracy, *m.AUC)
	}
	// Of the rows predicted as the second class one is; F1 = 2/(1+2).
	if math.Abs(*m.F1-2.0/3) > 1e-15 {
		t.Errorf("F1 %g", *m.F1)
	}
}

func TestAUCNeedsBothClasses(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	if m := c.Metrics(); m.AUC != nil {
		t.Errorf("AUC %g of positive rows alone", *m.AUC)
	}
}

func TestConstantTargets(t *testing.T) {
	for _, c := range []struct {
		predicted float32
		want      float64
	}{{3, 1}, {2, 0}} {
		g := NewRegression(nil, 1)
		for range 5 {
			g.Add([]float64{3}, []float32{c.predicted}, 1)
		}
		if m := g.Metrics(); *m.R2 != c.want {
			t.Errorf("predicting %g for 3: R² %g, want %g", c.predicted, *m.R2, c.want)
		}
	}
}

// TestScriptsFindTheirKeys holds the names of DESIGN's contract, which scripts read.
func TestScriptsFindTheirKeys(t *testing.T) {
	c := NewClassification([]string{"no", "yes"})
	c.Add(1, 1, []float32{1}, 1)
	c.Add(0, 0, []float32{0}, 1)
	g := NewRegression(nil, 1)
	g.Add([]float64{1}, []float32{1}, 1)
	g.Add([]float64{2}, []float32{1}, 1)
	for _, x := range []struct {
		m          *Metrics
		want, none []string
	}{
		{c.Metrics(), []string{"n", "accuracy", "error", "macro_f1", "f1", "auc"}, []string{"rmse", "r2", "log_loss", "weight"}},
		{g.Metrics(), []string{"n", "rmse", "mae", "r2"}, []string{"accuracy", "auc", "f1"}},
	} {
		got := keys(t, x.m)
		for _, k := range x.want {
			if _, there := got[k]; !there {
				t.Errorf("no key %q in %v", k, got)
			}
		}
		for _, k := range x.none {
			if _, there := got[k]; there {
				t.Errorf("a key %q in %v", k, got)
			}
		}
	}
}

func keys(t *testing.T, m *Metrics) map[string]any {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
