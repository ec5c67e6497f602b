package mercer

import (
	"context"
	"io"
	"time"

	"mercer/dataset"
	"mercer/eval"
	"mercer/matrix"
	"mercer/train"
)

// ContinueError says why the model of Config.Continue cannot go on learning.
type ContinueError struct{ Err error }

func (e *ContinueError) Error() string { return "the model to continue: " + e.Err.Error() }
func (e *ContinueError) Unwrap() error { return e.Err }

// goOn lets a model of the online learner learn the rows.
func (j *job) goOn(data Data) error {
	c, r := &j.cfg, j.result
	online, err := train.Continue(c.Continue)
	if err != nil {
		return &ContinueError{err}
	}
	online.Validated(c.Training.Validated)
	if err := j.tryTest(); err != nil {
		return err
	}
	src, o, err := rowsFor(j.ctx, c.Continue, data, false)
	if err != nil {
		return err
	}
	defer o.close()
	if f, ok := o.rows.(interface{ LastPass() }); ok {
		f.LastPass()
	}
	start := time.Now()
	err = online.PartialFitSource(j.ctx, src, func(rows int, share float64) {
		if c.Training.Progress != nil {
			c.Training.Progress("train", rows, share)
		}
	})
	if err != nil {
		return err
	}
	r.Report, r.Unseen = &Report{Total: time.Since(start).Seconds()}, o.unseen()
	r.Model, err = online.Model()
	return err
}

// tryTest finds what would keep a model that goes on learning from being tested later, by what the model of now
// makes of the first rows.
func (j *job) tryTest() error {
	m, test := j.cfg.Continue, j.cfg.Test
	if m.Bag() == nil {
		if err := test.Fits(j.ctx, m.Info().Schema); err != nil {
			return err
		}
	}
	if !test.regular() && !test.folder() {
		return nil
	}
	src, o, err := rowsFor(j.ctx, m, test, false)
	if err != nil {
		return err
	}
	defer o.close()
	_, err = eval.Evaluate(j.ctx, m, firstRows{src}, eval.Options{})
	return err
}

// firstRows is the first batch of a source.
type firstRows struct{ dataset.Source }

func (s firstRows) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := s.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &firstReader{Reader: r}, nil
}

type firstReader struct {
	dataset.Reader
	read bool
}

func (r *firstReader) Next() (*matrix.Batch, error) {
	if r.read {
		return nil, io.EOF
	}
	r.read = true
	return r.Reader.Next()
}
