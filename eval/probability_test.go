package eval

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
)

func metricIs(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-12 {
		t.Errorf("%s: %v, want %g", name, got, want)
	}
}

func TestProbabilityMetricsByHand(t *testing.T) {
	var m Metrics
	q := NewProbability(true)
	q.Add(1, []float64{0.2, 0.8}, 1)
	q.Add(0, []float64{0.4, 0.6}, 1)
	q.Into(&m)
	metricIs(t, "log loss", m.LogLoss, -(math.Log(0.8)+math.Log(0.4))/2)
	metricIs(t, "Brier", m.Brier, (0.2*0.2+0.6*0.6)/2)
	metricIs(t, "ECE", m.ECE, (0.2+0.6)/2) // bins of their own: right by 0.8, wrong by 0.6

	q = NewProbability(false)
	q.Add(2, []float64{0.1, 0.2, 0.7}, 1)
	q.Add(0, []float64{0, 0.3, 0.7}, 1)
	q.Into(&m)
	metricIs(t, "log loss", m.LogLoss, -(math.Log(0.7)+math.Log(0x1p-52))/2)
	metricIs(t, "Brier", m.Brier, (0.01+0.04+0.09+1+0.09+0.49)/2)
	metricIs(t, "ECE", m.ECE, 1.4/2-0.5) // one bin: half right by 0.7

	q = NewProbability(false)
	q.AddLabels([]bool{true, false}, []float64{0.9, 0.4}, 1)
	q.Into(&m)
	metricIs(t, "log loss", m.LogLoss, -(math.Log(0.9)+math.Log(0.6))/2)
	metricIs(t, "Brier", m.Brier, (0.01+0.16)/2)
	metricIs(t, "ECE", m.ECE, (0.1+0.4)/2)

	var none Metrics
	NewProbability(true).Into(&none)
	if none.LogLoss != nil {
		t.Error("a log loss of no rows")
	}
}

func TestMultiLabelMetricsByHand(t *testing.T) {
	l := NewMultiLabel([]string{"a", "b", "c"})
	l.Add([]bool{true, false, false}, []bool{true, false, false}, nil, 0, 1) // exact
	l.Add([]bool{true, true, false}, []bool{true, false, false}, nil, 0, 1)
	l.Add([]bool{false, false, false}, []bool{false, true, false}, nil, 0, 1)
	l.Add([]bool{false, false, false}, []bool{false, false, false}, nil, 1, 1) // misses one it does not know
	m := l.Metrics()
	metricIs(t, "subset accuracy", m.SubsetAccuracy, 1.0/4)
	metricIs(t, "Hamming loss", m.HammingLoss, 2.0/12)
	metricIs(t, "micro F1", m.MicroF1, 2*2.0/(2+1+2+1+1))
	metricIs(t, "macro F1", m.MacroF1, (1+0)/2.0) // c is neither there nor predicted
	if a := m.Labels[0]; a.Rows != 2 || a.Precision != 1 || a.Recall != 1 || a.F1 != 1 || m.Labels[1].F1 != 0 || m.N != 4 {
		t.Errorf("%+v", m.Labels)
	}
}

// TestCalibrationLowersTheCalibrationError draws scores that are three times the logits of the
// truth: their own sigmoid is far off, what is fitted to other rows is not.
func TestCalibrationLowersTheCalibrationError(t *testing.T) {
	s := random.New(1, "miscalibrated")
	draw := func(n int) (scores []float32, y []float64) {
		for range n {
			logit := 1.5 * s.Normal()
			hit := -1.0
			if s.Uniform() < 1/(1+math.Exp(-logit)) {
				hit = 1
			}
			scores, y = append(scores, float32(3*logit)), append(y, hit)
		}
		return scores, y
	}
	const n = 20000
	fitOn, labels := draw(n)
	test, truth := draw(n)
	ece := func(c *learn.Calibration) float64 {
		q, p := NewProbability(true), make([]float64, 2)
		for i := range test {
			c.Probabilities(p, test[i:i+1])
			q.Add(int(truth[i]+1)/2, p, 1)
		}
		var m Metrics
		q.Into(&m)
		return *m.ECE
	}
	before := ece(&learn.Calibration{Method: "temperature", T: 1})
	if before < 0.08 {
		t.Fatalf("no test: calibration error %.4f", before)
	}
	// Of perfect probabilities each of the m bins in use is off by a mean of √(2p(1-p)/(πn_b)),
	// together at most √(m/(2πn)).
	noise := math.Sqrt(8 / (2 * math.Pi * n))
	for _, method := range learn.CalibrationMethods() {
		c, err := learn.FitCalibration(method, false, fitOn, labels, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if after := ece(c); after > 3*noise {
			t.Errorf("%s: calibration error %.4f, before %.4f, noise %.4f", method, after, before, noise)
		}
	}
}

func TestLogOddsOrderProbabilities(t *testing.T) {
	last := math.Inf(-1)
	for _, p := range []float64{0, 1e-300, 1e-9, 0.25, 0.5, 0.75, 1 - 1e-9, 1 - 1e-12, 1 - 1e-15, 1} {
		odds := float64(LogOdds(p))
		if p > 0 && !(odds > last) {
			t.Errorf("log-odds %g of %g, before %g", odds, p, last)
		}
		last = odds
	}
	if LogOdds(1+0x1p-52) != LogOdds(1) || LogOdds(-0x1p-60) != LogOdds(0) || math.Abs(float64(LogOdds(0.75))-math.Log(3)) > 1e-7 {
		t.Error("log-odds of 0, 3/4 or 1")
	}
}
