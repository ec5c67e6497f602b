package model

import (
	"fmt"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/learn"
	"mercer/matrix"
)

// gathered are the training rows of a learner that goes through them many times.
type gathered struct {
	x       matrix.Rows
	class   []int     // of each row; nil if there are no classes
	y       []float64 // n×Outputs: numbers, or ±1 for labels; nil for classes
	weights []float64 // nil: all 1
}

// gather maps all rows into memory.
func (f *fit) gather(sum *dataset.Summary) (*gathered, error) {
	all := &gathered{}
	z := &matrix.Dense{Cols: f.learnDim(), Stride: f.learnDim()}
	sparse := &matrix.CSR{Cols: f.learnDim(), Ptr: []int{0}}
	err := f.each("map", func(b *matrix.Batch, rows matrix.Rows) error {
		switch {
		case f.labels != nil:
			n := len(all.y)
			all.y = append(all.y, make([]float64, rows.Len()*f.m.info.Outputs)...)
			if err := f.targets(b, all.y[n:]); err != nil {
				return err
			}
		case f.classes == nil:
			all.y = append(all.y, b.Y...)
		default:
			for i := range rows.Len() {
				c, err := f.class(b, i)
				if err != nil {
					return err
				}
				all.class = append(all.class, c)
			}
		}
		if b.Weights != nil || f.classWeights != nil {
			for i := range rows.Len() {
				all.weights = append(all.weights, f.weight(b, i))
			}
		}
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
		return nil, err
	}
	if p, ok := f.src.(*pooled); ok && !f.cfg.calibrates() {
		p.forget() // this was the last pass
	}
	all.x.Dense = z
	if sparse.Rows > 0 {
		all.x = matrix.Rows{CSR: sparse}
	}
	return all, nil
}

// rowsMemory is how many bytes of features a learner holds that gathers rows: 4·n·D, or 8 a
// value of sparse features.
func (f *fit) rowsMemory(sum *dataset.Summary) (bytes float64, formula string) {
	n, d := float64(sum.Rows), float64(f.learnDim())
	formula = "4·n·D bytes"
	if f.cfg.reduces() {
		return 4 * n * d, formula
	}
	if f.m.info.Feature == nil && sum.Sparse && !f.m.mapping.scaler.Densify {
		return 8 * n * d * sum.Density(), formula
	}
	if m, ok := f.m.mapping.fmap.(feature.Sparse); ok {
		var s scratch
		x := f.m.mapping.scaled(&s, sum.Sample.Slice(0, min(chunk, sum.Sample.Len())))
		if m.Sparsely(x) {
			m.TransformSparse(&s.csr, x)
			return 8 * n * float64(s.csr.NNZ()) / float64(x.Len()), formula
		}
	}
	return 4 * n * d, formula
}

// weight is the weight of row i of a batch: its own times that of its class.
func (f *fit) weight(b *matrix.Batch, i int) float64 {
	w := 1.0
	if b.Weights != nil {
		w = b.Weights[i]
	}
	if f.classWeights != nil {
		if c := f.classes.Of(b, i); c >= 0 {
			w *= f.classWeights[c]
		}
	}
	return w
}

// targets writes what the learner is to predict for the rows of a batch.
func (f *fit) targets(b *matrix.Batch, dst []float64) error {
	k := f.m.info.Outputs
	if f.labels != nil {
		for i := range b.X.Len() {
			if err := f.labels.Targets(b, i, dst[i*k:(i+1)*k]); err != nil {
				return fmt.Errorf("%s: row %d: %w", f.src.Name(), b.First+i+1, err)
			}
		}
		return nil
	}
	if f.classes == nil {
		copy(dst, b.Y)
		return nil
	}
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
	if c < 0 && f.stats != nil {
		label := "none"
		switch {
		case b.Names != nil && b.Names[i] != "":
			label = strconv.Quote(b.Names[i])
		case b.Outputs > 0:
			label = strconv.FormatFloat(b.Y[i*b.Outputs], 'g', -1, 64)
		}
		return 0, fmt.Errorf("%s: row %d: the label is %s; the statistics have the classes %s", f.src.Name(), b.First+i+1, label, strings.Join(f.classes.Labels(), ", "))
	}
	if c < 0 {
		return 0, fmt.Errorf("%s: the data changed while they were read: row %d has a new label", f.src.Name(), b.First+i)
	}
	return c, nil
}
