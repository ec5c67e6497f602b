package model

import (
	"errors"
	"fmt"
	"sync"

	"mercer/dataset"
	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/reduce"
)

// Mapping is what happens to rows before the learner: scaling, then the feature map. Like a
// Model it does not change and is safe for use by any number of goroutines.
type Mapping struct {
	in      int
	scaler  *dataset.Scaler
	fmap    feature.Map // nil: the linear kernel; else made is its configuration
	made    *feature.Config
	domain  kernel.Kernel // which numbers scaled rows may hold
	scratch sync.Pool     // of *scratch

	// The principal components of the features, nil if all features are kept or if the learner
	// has taken the projection into its weights.
	projection *reduce.Projection
	reduction  *reduce.Report
}

// scratch is the working memory of one call.
type scratch struct {
	scale dataset.Workspace
	z     matrix.Dense
	csr   matrix.CSR

	centred, components matrix.Dense
}

// chunk is how many rows are mapped at a time: enough for the products to run at speed, few
// enough that their features (4·chunk·D bytes) stay near the processor.
const chunk = 256

// Dims is the number of input dimensions and of features, or of their principal components.
func (p *Mapping) Dims() (in, out int) {
	if p.projection != nil {
		_, out = p.projection.Dims()
		return p.in, out
	}
	if p.fmap == nil {
		return p.in, p.in
	}
	return p.fmap.Dims()
}

// Feature is the configuration of the map, nil if there is none.
func (p *Mapping) Feature() *feature.Config { return p.made }

// Chosen says what the map decided on that its configuration leaves open, "" if nothing.
func (p *Mapping) Chosen() string {
	if m, ok := p.fmap.(feature.Chooser); ok {
		return m.Chosen()
	}
	return ""
}

// Transform writes the features of the rows x into dst, which must be Len×D. It fails like
// Model.Scores.
func (p *Mapping) Transform(dst *matrix.Dense, x matrix.Rows) error {
	if _, d := p.Dims(); dst.Rows != x.Len() || dst.Cols != d {
		panic(fmt.Sprintf("model: Transform wants a %d×%d dst, got %d×%d", x.Len(), d, dst.Rows, dst.Cols))
	}
	return p.Each(x, func(i, j int, z matrix.Rows) error {
		for r := i; r < j; r++ {
			row := dst.Row(r)
			if z.Dense != nil {
				copy(row, z.Dense.Row(r-i))
				continue
			}
			clear(row)
			idx, val := z.CSR.Row(r - i)
			for k, c := range idx {
				row[c] = val[k]
			}
		}
		return nil
	})
}

// RowError says which number of some rows a model does not take.
type RowError struct {
	Row, Dim int // from 0
	Reason   string
}

func (e *RowError) Error() string {
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

// Each hands the features of the rows x to body, rows [i, j) at a time, sparse where the map
// prefers that. body may keep nothing of them, and ends the pass by an error. Each fails like
// Model.Scores.
func (p *Mapping) Each(x matrix.Rows, body func(i, j int, z matrix.Rows) error) error {
	if err := p.check(x); err != nil {
		return err
	}
	s, _ := p.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	defer p.scratch.Put(s)
	for i := 0; i < x.Len(); i += chunk {
		j := min(i+chunk, x.Len())
		z, bad := p.features(s, x.Slice(i, j))
		if bad != nil {
			return &RowError{i + bad.Row, bad.Dim, p.reason(bad)}
		}
		if err := body(i, j, z); err != nil {
			return err
		}
	}
	return nil
}

// features scales and maps rows; the result lives in s.
func (p *Mapping) features(s *scratch, x matrix.Rows) (matrix.Rows, *kernel.DomainError) {
	x = p.scaled(s, x)
	if bad := p.outside(x); bad != nil {
		return x, bad
	}
	if p.fmap != nil {
		x = feature.Apply(p.fmap, x, &s.z, &s.csr)
	}
	if p.projection != nil {
		_, k := p.projection.Dims()
		s.components.Reshape(x.Len(), k)
		p.projection.Transform(&s.components, x, &s.centred)
		x = matrix.Rows{Dense: &s.components}
	}
	return x, nil
}

// Reduction says which principal components of the features rows become, nil if none.
func (p *Mapping) Reduction() *reduce.Report { return p.reduction }

// outside finds the first number of scaled rows that the map does not take.
func (p *Mapping) outside(x matrix.Rows) *kernel.DomainError {
	bad, _ := p.domain.CheckRows(x).(*kernel.DomainError)
	return bad
}

// reason says what is wrong with a number, without its place.
func (p *Mapping) reason(bad *kernel.DomainError) string {
	if p.scaler.Kind == "none" {
		return bad.Reason()
	}
	return bad.Reason() + ", after scaling (" + p.scaler.Kind + ")"
}

// scaled widens sparse rows to the model's dimensions and scales; the result lives in s.
func (p *Mapping) scaled(s *scratch, x matrix.Rows) matrix.Rows {
	if x.CSR != nil && x.CSR.Cols < p.in {
		wide := *x.CSR
		wide.Cols = p.in
		x = matrix.Rows{CSR: &wide}
	}
	return p.scaler.Apply(x, &s.scale)
}

// check refuses rows of another width (sparse rows may be narrower), and values that are
// not finite.
func (p *Mapping) check(x matrix.Rows) error {
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

// Scale returns the rows x scaled, without the map; they may share memory with x.
func (p *Mapping) Scale(x matrix.Rows) (matrix.Rows, error) {
	if err := p.check(x); err != nil {
		return matrix.Rows{}, err
	}
	return p.scaled(&scratch{}, x), nil
}
