package main

import (
	"math"

	"mercer"
	"mercer/matrix"
)

var nan = math.NaN()

// predict writes scores, and where they are wanted the numbers of classes, and probabilities or the values of a regression.
func (f *fitted) predict(a *array, scores []float32, classes []int64, proba []float64) error {
	m := f.m
	if a.csr == nil && a.rows == 1 {
		return f.single(a, scores, classes, proba)
	}
	k := m.Outputs()
	width := 0
	if proba != nil {
		width = len(proba) / max(a.rows, 1)
	}
	var dense matrix.Dense
	step := a.rows
	if a.csr == nil && !a.direct() {
		step = batchRows
	}
	learned := m.Scores
	if proba != nil && m.Info().Task == "regress" {
		learned = m.Learned // of which values keep the digits of float64
	}
	for i := 0; i < a.rows; i += step {
		j := min(i+step, a.rows)
		x, err := a.slice(i, j, &dense)
		if err != nil {
			return err
		}
		if err := learned(&matrix.Dense{Rows: j - i, Cols: k, Stride: k, Data: scores[i*k : j*k]}, x); err != nil {
			return err
		}
		for r := i; r < j; r++ {
			if classes != nil {
				classes[r] = int64(m.Class(scores[r*k : (r+1)*k]))
			}
			switch {
			case proba == nil:
			case m.Info().Task == "regress":
				for t := range width {
					proba[r*width+t] = m.Value(t, scores[r*k+t])
				}
			default:
				if err := m.Probabilities(proba[r*width:(r+1)*width], scores[r*k:(r+1)*k]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// single is predict for one row, which allocates nothing.
func (f *fitted) single(a *array, scores []float32, classes []int64, proba []float64) error {
	p, _ := f.singles.Get().(*mercer.Predictor)
	if p == nil {
		var err error
		if p, err = mercer.NewPredictor(f.m); err != nil {
			return err
		}
	}
	defer f.singles.Put(p)
	var dense matrix.Dense
	var out *mercer.Prediction
	x, err := a.slice(0, 1, &dense)
	if err == nil {
		out, err = p.Row32(x.Dense.Row(0))
	}
	if err != nil {
		return err
	}
	copy(scores, out.Scores)
	if classes != nil {
		classes[0] = int64(f.m.Class(out.Scores))
	}
	switch {
	case proba == nil:
	case f.m.Info().Task == "regress":
		copy(proba, out.Values)
	default:
		if err := f.m.NoProbabilities(); err != nil {
			return err
		}
		copy(proba, out.Probabilities)
	}
	return nil
}

// transform writes features.
func (f *fitted) transform(a *array, dst []float32) error {
	_, d := f.p.Dims()
	var dense matrix.Dense
	for i := 0; i < a.rows; i += batchRows {
		j := min(i+batchRows, a.rows)
		x, err := a.slice(i, j, &dense)
		if err != nil {
			return err
		}
		if err := f.p.Transform(&matrix.Dense{Rows: j - i, Cols: d, Stride: d, Data: dst[i*d : j*d]}, x); err != nil {
			return err
		}
	}
	return nil
}
