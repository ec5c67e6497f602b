package pipeline

import (
	"errors"
	"fmt"

	"mercer/dataset"
	"mercer/kernel"
	"mercer/matrix"
)

// RowError says which number of some rows a pipeline does not take.
type RowError struct {
	Row, Dim int // from 0; a Dim below 0 is all of the row
	Reason   string
}

func (e *RowError) Error() string {
	if e.Dim < 0 {
		return fmt.Sprintf("row %d (from 0): %s", e.Row, e.Reason)
	}
	return fmt.Sprintf("row %d, dimension %d (from 0): %s", e.Row, e.Dim, e.Reason)
}

// Located returns an error about the rows of a batch, whose first row has the number first, as
// one about their source: a [RowError] then names the row of the file, from 1, and the column.
func Located(err error, src dataset.Source, first int) error {
	var e *RowError
	if errors.As(err, &e) {
		return fmt.Errorf("%s, %s: %s", Place(src, first+e.Row), src.Schema().DimName(e.Dim), e.Reason)
	}
	return fmt.Errorf("%s: %w", src.Name(), err)
}

// Place says where a row of a source, from 0, stands: the file and the number there, from 1. Rows
// that were bags are counted as bags are in all messages, from 0.
func Place(src dataset.Source, row int) string {
	row = dataset.Origin(src, row)
	if src.Schema().Format == pooledFormat {
		return fmt.Sprintf("%s: bag %d (from 0)", src.Name(), row)
	}
	return fmt.Sprintf("%s: row %d", src.Name(), row+1)
}

// AnotherScale says what to do about numbers that a kernel does not take.
func AnotherScale(flag string) string {
	return "; use another kernel, or a " + flag + " that leaves no such numbers"
}

// Check refuses rows of another width than the pipeline was settled for (sparse rows may be
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
		for j, v := range row {
			if v-v != 0 {
				if x.CSR != nil {
					j = int(x.CSR.Idx[x.CSR.Ptr[i]+j])
				}
				return &RowError{i, j, fmt.Sprintf("%g is not a finite number", v)}
			}
		}
	}
	return nil
}

// Outside finds the first number of rows, not scaled yet, that the kernel does not take.
func (p *Pipeline) Outside(x matrix.Rows) *RowError {
	if bad := p.outside(p.Pass().Scale(x)); bad != nil {
		return &RowError{bad.Row, bad.Dim, p.reason(bad)}
	}
	return nil
}

// outside finds the first number of scaled rows that the kernel does not take.
func (p *Pipeline) outside(x matrix.Rows) *kernel.DomainError {
	bad, _ := p.domain.CheckRows(x).(*kernel.DomainError)
	return bad
}

// reason says what is wrong with a number, without its place.
func (p *Pipeline) reason(bad *kernel.DomainError) string {
	if p.scaler.Kind == "none" {
		return bad.Reason()
	}
	return bad.Reason() + ", after scaling (" + p.scaler.Kind + ")"
}
