package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/solve/learn"
	"mercer/internal/solve/rfm"
)

// Machines of few rows have probabilities by the rows that their draws hold out, few as these are: rows that are told well have a small
func TestProbabilitiesOfMachinesOfFewRows(t *testing.T) {
	x, names, _, _ := drawn(17, 1300, 6, 3)
	parts := streams(t, 17, 1300)
	for _, rows := range []int{50, 80, 200} {
		m, _, err := Fit(context.Background(), parts["classify"](0, rows, false), Config{Task: "classify", Seed: 1, Learner: RFM{}}, Options{Probabilities: true})
		if err != nil {
			t.Fatal(err)
		}
		logistic := m.Info().Training.Report.(*rfm.Report).Logistic
		info := m.Info().Training.Calibration
		if info == nil || info.Method != rfm.Temperature(logistic) || info.Folds != 0 || info.Rows < freeRows {
			t.Fatalf("%d rows: %+v", rows, info)
		}
		loss, right := 0.0, 0
		for i := 1000; i < 1300; i++ {
			p, err := m.Predict(x.Row(i))
			if err != nil {
				t.Fatal(err)
			}
			if p[0].Label == names[i] {
				right++
			}
			loss += learn.LogLoss(p[0].Probabilities[slices.Index(m.Info().Classes, names[i])])
		}
		t.Logf("%d rows, logistic %v: log loss %.4f, %d of 300 right, T %.3g by %d", rows, logistic, loss/300, right, info.Temperature, info.Rows)
		if none := 300 * math.Log(3); loss > 0.85*none || right < 200 {
			t.Errorf("%d rows, logistic %v: log loss %.4f, %d of 300 right, T %.3g", rows, logistic, loss/300, right, info.Temperature)
		}
	}
}
