package learn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRulesOfThresholdsAreRead(t *testing.T) {
	for text, want := range map[string]ThresholdRule{
		"0.3": {Kind: "probability", Value: 0.3}, "score=-0.2": {Kind: "score", Value: -0.2}, " Max-F1": {Kind: "max-f1"},
		"precision=0.9": {Kind: "precision", Value: 0.9}, "recall=1": {Kind: "recall", Value: 1},
		"cost=fn:5,fp:1": {Kind: "cost", FN: 5, FP: 1}, "cost=fp:0, fn:2.5": {Kind: "cost", FN: 2.5},
	} {
		if got, err := ParseThreshold(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "not known", "f1": "not known", "0": "between 0 and 1", "1": "between 0 and 1", "-2": "give score=-2", "nan": "between 0 and 1",
		"max-f1=2": "not known", "precision=0": "above 0", "recall=1.5": "up to 1", "precision=x": `"x" is not a number`, "score=nan": "not a number",
		"score=1e300": "float32", "cost=": "fn:NUMBER", "cost=fn:5": "both errors", "cost=fn:0,fp:0": "above 0", "cost=fn:-1,fp:1": `"fn:-1"`,
		"cost=fn:1,tp:2": `"tp:2"`, "precision": "not known", "cost=fn:inf,fp:1": `"fn:inf"`,
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestThresholdsAreTheBest compares with a count of all rows for each cut, with ties and weights of 0.
func TestThresholdsAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + r.IntN(30)
		scores, positive, weights := make([]float32, n), make([]bool, n), make([]float64, n)
		for i := range n {
			scores[i], positive[i], weights[i] = float32(r.IntN(12))/4-1, r.IntN(3) == 0, float64(r.IntN(4))
		}
		positive[0], positive[1], weights[0], weights[1] = true, false, 1, 1
		measured := func(cut float32) (c Cut, fn, fp float64) {
			var tp, all float64
			for i, s := range scores {
				all += weights[i]
				switch {
				case s >= cut && positive[i]:
					tp += weights[i]
				case s >= cut:
					fp += weights[i]
				case positive[i]:
					fn += weights[i]
				}
			}
			c.Recall, c.F1, c.Cost = tp/(tp+fn), 2*tp/(2*tp+fp+fn), (5*fn+2*fp)/all
			if tp > 0 {
				c.Precision = tp / (tp + fp)
			}
			return c, fn, fp
		}
		best := map[string]float64{"max-f1": 0, "precision=0.6": -1, "recall=0.7": -1, "cost=fn:5,fp:2": math.Inf(1)}
		for cut := float32(-1.125); cut < 3; cut += 0.25 {
			c, _, _ := measured(cut)
			best["max-f1"] = max(best["max-f1"], c.F1)
			best["cost=fn:5,fp:2"] = min(best["cost=fn:5,fp:2"], c.Cost)
			if c.Precision >= 0.6 && c.Recall > 0 {
				best["precision=0.6"] = max(best["precision=0.6"], c.Recall)
			}
			if c.Recall >= 0.7 {
				best["recall=0.7"] = max(best["recall=0.7"], c.Precision)
			}
		}
		for rule, want := range best {
			parsed, err := ParseThreshold(rule)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parsed.Choose(scores, positive, weights)
			if want < 0 {
				if err == nil || !strings.Contains(err.Error(), "no threshold has a precision of 0.6") {
					t.Errorf("%s: %+v, %v where there is none", rule, got, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", rule, err)
			}
			c, _, _ := measured(got.Score)
			value := map[string]float64{"max-f1": c.F1, "precision=0.6": c.Recall, "recall=0.7": c.Precision, "cost=fn:5,fp:2": c.Cost}[rule]
			if math.Abs(value-want) > 1e-12 || math.Abs(got.F1-c.F1) > 1e-12 || got.Recall != c.Recall || got.Precision != c.Precision {
				t.Errorf("%s: %+v, measured %+v, the best is %g", rule, got, c, want)
			}
		}
	}
	if _, err := (ThresholdRule{Kind: "max-f1"}).Choose([]float32{1, 2}, []bool{true, true}, nil); err == nil {
		t.Error("rows of one class choose a threshold")
	}
	// Scores next to each other.
	up := math.Nextafter32(1, 2)
	if c, err := (ThresholdRule{Kind: "max-f1"}).Choose([]float32{1, up}, []bool{false, true}, nil); err != nil || c.Score != up || c.F1 != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
