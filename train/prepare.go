package train

import (
	"context"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// Prepared is a training that has reached its learner: the task and the classes are known, and
// the scaling, the map and the principal components are fitted. It is the starting point for training several learners
// on the same features. It does not change.
type Prepared struct {
	f    *job
	info model.Info
}

// Prepare does everything with the rows of src that Fit does before its learner. Principal components
// are always found in a separate pass.
func Prepare(ctx context.Context, src dataset.Source, cfg Config, opt Options) (*Prepared, error) {
	t, err := beginRows(ctx, src, cfg, opt)
	if err == nil {
		err = t.take(ofPrepared)
	}
	if err != nil {
		return nil, err
	}
	return &Prepared{t.job, t.job.info(&solution{})}, nil
}

// Info says what was chosen; the training is not in it.
func (p *Prepared) Info() *model.Info { return &p.info }

// Config is the configuration as given.
func (p *Prepared) Config() Config { return p.f.asked }

// Summary describes the rows that it was prepared with.
func (p *Prepared) Summary() *dataset.Summary { return p.f.sum }

// Learner is the name of the learner that would come next.
func (p *Prepared) Learner() string { return p.f.learner.name }

// Dim is the number of features, or of their principal components.
func (p *Prepared) Dim() int { return p.f.learnDim() }

// Default is Data.Default for the rows that it was prepared with.
func (p *Prepared) Default(c Config) (with Config, ok bool) { return p.f.dataOf().Default(c) }

// FeatureBytes is the number of bytes of the features of all rows: 4·n·D, or 8 per value of sparse
// ones.
func (p *Prepared) FeatureBytes() float64 {
	bytes, _ := p.f.rowsMemory()
	return bytes
}

// MappedRows are rows with their features and targets, ready for a learner.
type MappedRows struct {
	// First is the number of the first row in its source, from 0.
	First int

	// Z are the features, valid until the function that received them returns.
	Z matrix.Rows

	// Batch are the rows as they were read.
	Batch *matrix.Batch

	// Class has the class of each row, -1 for an unknown one; nil if there are no classes.
	Class []int

	// Y are the targets, row-major Len×Outputs: numbers, or 1 and -1 according to whether a row has
	// a class or label; 0 for an unknown class.
	Y []float64

	// Weights has one weight per row, including that of its class.
	Weights []float64
}

// Each passes over the rows of src, which are read like those it was prepared with, and calls body
// with some at a time.
func (p *Prepared) Each(ctx context.Context, src dataset.Source, progress func(rows int, share float64),
	body func(*MappedRows) error) error {
	f := *p.f
	f.ctx, f.src, f.opt.Progress = ctx, src, nil
	if progress != nil {
		f.opt.Progress = func(_ string, rows int, share float64) { progress(rows, share) }
	}
	k := f.outputs
	var rows MappedRows
	return f.each("map", func(b *matrix.Batch, z matrix.Rows) error {
		n := b.X.Len()
		rows.First, rows.Z, rows.Batch = b.First, z, b
		rows.Y = slices.Grow(rows.Y[:0], n*k)[:n*k]
		rows.Weights = slices.Grow(rows.Weights[:0], n)[:n]
		if f.classes != nil {
			rows.Class = slices.Grow(rows.Class[:0], n)[:n]
		} else if f.labels == nil && b.Outputs != k {
			return fmt.Errorf("%s: rows have %d targets, and %d are wanted", src.Name(), b.Outputs, k)
		} else if err := f.targets(b, rows.Y); err != nil {
			return err
		}
		for i := range n {
			if f.classes != nil {
				rows.Class[i] = f.classes.Of(b, i)
				if y := rows.Y[i*k : (i+1)*k]; rows.Class[i] < 0 {
					clear(y)
				} else {
					learn.Target(y, rows.Class[i])
				}
			}
			rows.Weights[i] = f.weight(b, i)
		}
		return body(&rows)
	})
}
