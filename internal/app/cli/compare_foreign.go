package cli

import (
	"slices"
	"strconv"

	"mercer/eval"
	"mercer/internal/solve/liblinear"
	"mercer/internal/solve/libsvm"
	"mercer/matrix"
)

// foreignPredictor is a model of LIBSVM or LIBLINEAR as a predictor.
func foreignPredictor(name string, m foreignModel) *eval.Predictor {
	labels, numbers := []int(nil), false
	switch m := m.(type) {
	case *libsvm.Model:
		labels, numbers = m.Labels, !m.Classifies()
	case liblinearModel:
		labels, numbers = m.Labels, m.Solver.Regression()
		if m.Solver == liblinear.OneClassSVM {
			labels = nil
		}
	}
	p := &eval.Predictor{Name: name, Task: "classify", Outputs: 1, Probabilities: m.HasProbabilities()}
	switch {
	case numbers:
		p.Task, p.Probabilities = "regress", false
	case labels == nil:
		p.Task, labels = "outliers", []int{1, -1}
	}
	sorted := slices.Sorted(slices.Values(labels))
	for _, l := range sorted {
		p.Classes = append(p.Classes, strconv.Itoa(l))
	}
	place := make([]int, len(labels)) // of the labels of the file among the sorted ones
	for i, l := range labels {
		place[i] = slices.Index(sorted, l)
	}
	p.Predict = func(x matrix.Rows, proba bool, each func(int, *eval.Said) error) error {
		s := &eval.Said{Numbers: make([]float64, 1)}
		if proba {
			s.Probabilities = make([]float64, len(labels))
		}
		i := -1
		return m.Predict(x, proba, func(v *libsvm.Values) error {
			i++
			if numbers {
				s.Numbers[0] = v.Prediction
				return each(i, s)
			}
			s.Class = slices.Index(sorted, int(v.Prediction))
			if len(labels) == 2 {
				// Decisions are for the first label of the file, or one for each.
				of := v.Decisions[0]
				if len(v.Decisions) == 2 {
					of -= v.Decisions[1]
				}
				if place[0] == 0 {
					of = -of
				}
				s.Score = float32(of)
			}
			for k, q := range v.Probabilities {
				s.Probabilities[place[k]] = q
			}
			return each(i, s)
		})
	}
	return p
}
