package model

import (
	"fmt"
	"math"
	"time"

	"mercer/dataset"
	"mercer/internal/random"
	"mercer/learn"
	"mercer/matrix"
)

// ridge trains the ridge learner in one pass. Unless λ is given, a seeded tenth of the rows
// goes into statistics of its own, which choose it.
func (f *fit) ridge(sum *dataset.Summary) error {
	d, k := f.learnDim(), f.m.info.Outputs
	main := learn.NewStats(d, k)
	var held *learn.Stats
	if f.cfg.Lambda == 0 {
		held = learn.NewStats(d, k)
	}
	y := make([]float64, chunk*k)
	var dense matrix.Dense
	err := f.each("train", func(b *matrix.Batch, z matrix.Rows) error {
		start := time.Now()
		defer func() { f.report.Solve += time.Since(start).Seconds() }()
		rows := z.Dense
		if z.CSR != nil {
			z.CSR.Densify(&dense)
			rows = &dense
		}
		n := rows.Rows
		y := y[:n*k]
		if err := f.targets(b, y); err != nil {
			return err
		}
		for i := range n {
			into, w := main, 1.0
			if f.heldOut(held, b.First+i) {
				into = held
			}
			if b.Weights != nil {
				w = b.Weights[i]
			}
			into.AddRow(rows.Row(i), y[i*k:(i+1)*k], w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	f.progress("solve", 0, -1)
	linear, report, err := learn.FitRidge(main, held, learn.Ridge{Lambda: f.cfg.Lambda})
	if err != nil {
		return fmt.Errorf("%s: %w", f.src.Name(), err)
	}
	f.m.linear, f.m.info.Training.Ridge = linear, report
	return nil
}

// heldOut says whether a row is in the tenth that chooses λ.
func (f *fit) heldOut(held *learn.Stats, row int) bool {
	return held != nil && random.Hash(f.cfg.Seed, "held-out", uint64(row)) < math.MaxUint64/10
}

// targets writes what the learner is to predict for the rows of a batch.
func (f *fit) targets(b *matrix.Batch, dst []float64) error {
	if f.classes == nil {
		copy(dst, b.Y)
		return nil
	}
	k := f.m.info.Outputs
	for i := range b.X.Len() {
		c, err := f.class(b, i)
		if err != nil {
			return err
		}
		learn.Target(dst[i*k:(i+1)*k], c)
	}
	return nil
}

// class is the class of row i of a batch.
func (f *fit) class(b *matrix.Batch, i int) (int, error) {
	c := f.classes.Of(b, i)
	if c < 0 {
		return 0, fmt.Errorf("%s: the data changed while they were read: row %d has a new label", f.src.Name(), b.First+i)
	}
	return c, nil
}

// svm maps all rows into memory and trains there.
func (f *fit) svm(sum *dataset.Summary) error {
	var all matrix.Batch // only X grows
	z := &matrix.Dense{Cols: f.learnDim(), Stride: f.learnDim()}
	sparse := &matrix.CSR{Cols: f.learnDim(), Ptr: []int{0}}
	class := make([]int, 0, sum.Rows)
	var weights []float64
	err := f.each("map", func(b *matrix.Batch, rows matrix.Rows) error {
		for i := range rows.Len() {
			c, err := f.class(b, i)
			if err != nil {
				return err
			}
			class = append(class, c)
		}
		weights = append(weights, b.Weights...)
		if rows.CSR != nil {
			for i := range rows.Len() {
				idx, val := rows.CSR.Row(i)
				sparse.Idx = append(sparse.Idx, idx...)
				sparse.Val = append(sparse.Val, val...)
				sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
			}
			sparse.Rows += rows.Len()
			return nil
		}
		if z.Data == nil {
			z.Data = make([]float32, 0, sum.Rows*z.Cols)
		}
		for i := range rows.Len() {
			z.Data = append(z.Data, rows.Dense.Row(i)...)
		}
		z.Rows += rows.Len()
		return nil
	})
	if err != nil {
		return err
	}
	if p, ok := f.src.(*pooled); ok {
		p.forget() // this was the last pass
	}
	all.X.Dense = z
	if sparse.Rows > 0 {
		all.X = matrix.Rows{CSR: sparse}
	}
	start := time.Now()
	defer func() { f.report.Solve += time.Since(start).Seconds() }()
	opt := learn.SVM{
		C: f.cfg.C, Loss: f.cfg.Loss, Tolerance: f.cfg.Tolerance, MaxIter: f.cfg.MaxIter, Seed: f.cfg.Seed,
		Progress: func(passes int, share float64) { f.progress("solve", passes*sum.Rows, share) },
	}
	classes := len(f.m.info.Classes)
	var path []learn.CPoint
	if opt.C == 0 {
		if opt.C, path, err = learn.ChooseC(f.ctx, all.X, class, classes, weights, opt); err != nil {
			return err
		}
	}
	linear, report, err := learn.FitSVM(f.ctx, all.X, class, classes, weights, opt)
	if err != nil {
		return err
	}
	report.Path = path
	f.m.linear, f.m.info.Training.SVM = linear, report
	return nil
}
