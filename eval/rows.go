package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// Rows are rows of data in memory, drawn at random.
type Rows struct {
	matrix.Batch

	// Numbers are those of the rows in their source, from 0; Of is how many rows that has.
	Numbers []int
	Of      int

	src dataset.Source
}

// Draw draws at most n rows of a source in one pass, by the seed; 0 stands for 1. Memory: that of n rows. It fails
// for a source without rows and for a model of bags, whose rows have no columns of the data.
func Draw(ctx context.Context, m *model.Model, src dataset.Source, n int, seed uint64) (*Rows, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%d rows cannot be drawn; 1 or more can", n)
	}
	b, numbers, of, err := dataset.Sample(ctx, src, n, m.Dim(), max(seed, 1))
	if err != nil {
		return nil, err
	}
	if of == 0 {
		return nil, fmt.Errorf("%s: has no rows", src.Name())
	}
	return &Rows{Batch: *b, Numbers: numbers, Of: of, src: src}, nil
}

// Name is the name of the source.
func (r *Rows) Name() string { return r.src.Name() }

// scores are the scores of all rows. An error in a row names its place.
func (r *Rows) scores(ctx context.Context, m *model.Model) (*matrix.Dense, error) {
	all := matrix.NewDense(r.X.Len(), m.Outputs())
	for i := 0; i < all.Rows; i += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := min(i+blockRows, all.Rows)
		if err := m.Learned(all.Slice(i, j), r.X.Slice(i, j)); err != nil {
			var at *dataset.RowError
			if errors.As(err, &at) && at.Source == "" {
				moved := *at
				moved.Row = r.Numbers[i+at.Row]
				err = &moved
			}
			return nil, dataset.Locate(err, r.src, 0)
		}
	}
	return all, nil
}

// check says whether a model can be explained.
func check(m *model.Model) error {
	switch {
	case m == nil:
		return errors.New("the model is nil; train one or load one")
	case m.Bag() != nil:
		return errors.New("the model predicts bags, whose rows are pooled and have no columns of the data; only models of rows are explained")
	}
	return nil
}

// Column is a column of the data: the dimensions [From, To) of a row.
type Column struct {
	Name     string
	From, To int

	// Categories are the values of a categorical column, one for each dimension; nil for numbers.
	Categories []string

	of *dataset.Column // nil in formats without columns
}

// category is the number of the category of row i, -1 for none; of several with the same mean targets, the first.
func (c *Column) category(x matrix.Rows, i int) int {
	if c.of.Means == nil {
		for k := range c.Categories {
			if value(x, i, c.From+k) != 0 {
				return k
			}
		}
		return -1
	}
	for k := range c.Categories {
		if c.is(x, i, c.of.Part(k)) {
			return k
		}
	}
	return -1
}

// is says whether the column's dimensions of row i are these.
func (c *Column) is(x matrix.Rows, i int, part []float32) bool {
	for k, v := range part {
		if value(x, i, c.From+k) != v {
			return false
		}
	}
	return true
}

// Columns are the columns of the rows that a model takes; of formats without columns, the dimensions.
func Columns(m *model.Model) []Column {
	schema := &m.Info().Schema
	ones := make([]float64, m.Dim())
	for i := range ones {
		ones[i] = 1
	}
	names, widths := schema.ByColumn(ones)
	of := slices.DeleteFunc(slices.Clone(schema.Columns), func(c dataset.Column) bool { return c.Width() == 0 })
	list := make([]Column, len(names))
	at := 0
	for i, name := range names {
		list[i] = Column{Name: name, From: at, To: at + int(widths[i])}
		if i < len(of) {
			list[i].Categories, list[i].of = of[i].Categories, &of[i]
		}
		at = list[i].To
	}
	return list
}

// Text is the value of the column in row i: the category, "" for none of those known, or the number.
func (c *Column) Text(x matrix.Rows, i int) string {
	if c.Categories == nil {
		return fmt.Sprintf("%.6g", value(x, i, c.From))
	}
	if k := c.category(x, i); k >= 0 {
		return c.Categories[k]
	}
	return ""
}

// value is that of a dimension of row i.
func value(x matrix.Rows, i, dim int) float32 {
	if x.CSR == nil {
		return x.Dense.Row(i)[dim]
	}
	idx, val := x.CSR.Row(i)
	if k, found := slices.BinarySearch(idx, int32(dim)); found {
		return val[k]
	}
	return 0
}

// columnOf is the column of each dimension.
func columnOf(columns []Column) []int32 {
	var of []int32
	for c := range columns {
		for range columns[c].To - columns[c].From {
			of = append(of, int32(c))
		}
	}
	return of
}

// differing appends to dst the columns in which row i of x differs from row j of y, in their order.
func differing(dst []int, of []int32, x matrix.Rows, i int, y matrix.Rows, j int) []int {
	add := func(dim int) {
		if c := int(of[dim]); len(dst) == 0 || dst[len(dst)-1] != c {
			dst = append(dst, c)
		}
	}
	if x.CSR == nil {
		other := y.Dense.Row(j)
		for dim, v := range x.Dense.Row(i) {
			if v != other[dim] {
				add(dim)
			}
		}
		return dst
	}
	merge(x.CSR, i, y.CSR, j, func(dim int32, v, w float32) {
		if v != w {
			add(int(dim))
		}
	})
	return dst
}

// same says whether rows i and j of x have the same value of a column.
func (c *Column) same(x matrix.Rows, i, j int) bool {
	if x.CSR == nil {
		return slices.Equal(x.Dense.Row(i)[c.From:c.To], x.Dense.Row(j)[c.From:c.To])
	}
	for dim := c.From; dim < c.To; dim++ {
		if value(x, i, dim) != value(x, j, dim) {
			return false
		}
	}
	return true
}

// merge calls body with each dimension that row i of x or row j of y has, in their order, and with both values.
func merge(x *matrix.CSR, i int, y *matrix.CSR, j int, body func(dim int32, v, w float32)) {
	a, v := x.Row(i)
	b, w := y.Row(j)
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			body(a[0], v[0], 0)
			a, v = a[1:], v[1:]
		case len(a) == 0 || b[0] < a[0]:
			body(b[0], 0, w[0])
			b, w = b[1:], w[1:]
		default:
			body(a[0], v[0], w[0])
			a, v, b, w = a[1:], v[1:], b[1:], w[1:]
		}
	}
}
