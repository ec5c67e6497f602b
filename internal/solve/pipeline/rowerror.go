package pipeline

import (
	"context"
	"errors"
	"fmt"

	"mercer/dataset"
	"mercer/internal/engine/option"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// bad is the error for a number of row i in dimension dim that is not accepted.
func bad(i, dim int, reason error) *dataset.RowError {
	return &dataset.RowError{Row: i, Dim: dim, Err: reason}
}

// AnotherScale is an error about a number outside a kernel's domain, with advice; scale
// names the option.
func AnotherScale(err error, scale string) error {
	advise := func(reason error) error {
		return option.Errorf("%w; use another kernel, or a %s that leaves no such numbers", reason, option.Ref(scale))
	}
	var e *dataset.RowError
	if !errors.As(err, &e) {
		return err
	}
	at := *e
	at.Err = advise(e.Err)
	return &at
}

// Refused is an error about a number of a batch of rows outside the kernel's domain, with its place in
// the source and advice; first is the number of the batch's first row.
func Refused(err error, src dataset.Source, first int) error {
	return dataset.Locate(AnotherScale(err, "scale"), src, first)
}

// FindOutside passes over the rows of src for the first number outside the kernel's domain, and returns
// an error with its place.
func (p *Pipeline) FindOutside(ctx context.Context, src dataset.Source) error {
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return err
		}
		if bad := p.Outside(b.X); bad != nil {
			return Refused(bad, src, b.First)
		}
	}
	return nil
}

// Check rejects rows that are wider or narrower than the pipeline was settled for (sparse rows may be
// narrower), and numbers that are not finite.
func (p *Pipeline) Check(x matrix.Rows) error {
	if d := x.Dim(); d != p.in && (x.CSR == nil || d > p.in) {
		return fmt.Errorf("the rows have %d dimensions, but the model was trained on %d", d, p.in)
	}
	for i := range x.Len() {
		var row []float32
		if x.CSR != nil {
			_, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		if vec.Finite32(row) {
			continue
		}
		for j, v := range row {
			if v-v != 0 {
				if x.CSR != nil {
					j = int(x.CSR.Idx[x.CSR.Ptr[i]+j])
				}
				return bad(i, j, fmt.Errorf("%g is not a finite number", v))
			}
		}
	}
	return nil
}

// Outside finds the first number outside the kernel's domain in rows that are not yet scaled.
func (p *Pipeline) Outside(x matrix.Rows) *dataset.RowError {
	if e := p.outside(p.Pass().Scale(x)); e != nil {
		return bad(e.Row, e.Dim, p.reason(e))
	}
	return nil
}

// outside finds the first number of scaled rows outside the kernel's domain.
func (p *Pipeline) outside(x matrix.Rows) *kernel.DomainError {
	e, _ := p.domain.CheckRows(x).(*kernel.DomainError)
	if e == nil && p.groups != nil {
		return p.groups.CheckGroups(x)
	}
	return e
}

// reason says what is wrong with a number, without its place.
func (p *Pipeline) reason(e *kernel.DomainError) error {
	if p.scaler.Kind == "none" {
		return errors.New(e.Reason())
	}
	if p.scaler.Kind == "minmax" {
		return option.Errorf("%s, and the scaling minmax makes 0 of the least number of the column in training; train with rows as low as this one, "+
			"or with %s if no number is negative", e.Reason(), option.Set("scale", "maxabs"))
	}
	return fmt.Errorf("%s, after scaling (%s)", e.Reason(), p.scaler.Kind)
}
