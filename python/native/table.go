package main

import (
	"context"
	"fmt"

	"mercer/dataset"
)

// column is a column of a data frame: numbers with NaN where they are missing, or codes of texts with -1 there.
type column struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // "number", "text" or "bool" (codes 0 and 1)
	Categories []string `json:"categories"`
	Days       bool     `json:"days"`  // dates without a time of day
	Fixed      bool     `json:"fixed"` // the type says that these are categories, whatever they look like
	numbers    []float64
	codes      []int32
	values     []any // of the codes
}

type table struct {
	rows    int
	columns []column
}

// prepare makes the values of codes once, so that rows allocate nothing for texts.
func (t *table) prepare() error {
	for i := range t.columns {
		c := &t.columns[i]
		switch c.Kind {
		case "text":
			for _, v := range c.Categories {
				c.values = append(c.values, v)
			}
		case "bool":
			c.values = []any{false, true}
		}
		for r, code := range c.codes {
			if int(code) >= len(c.values) {
				return fmt.Errorf("column %q, row %d: category %d of %d", c.Name, r, code, len(c.values))
			}
		}
	}
	return nil
}

func (c *column) at(i int) any {
	switch {
	case c.numbers != nil:
		if v := c.numbers[i]; v == v {
			return v
		}
	case c.codes[i] >= 0:
		return c.values[c.codes[i]]
	}
	return nil
}

func (t *table) source(ctx context.Context, opt dataset.Options) (*dataset.File, error) {
	var names []string
	var kinds dataset.Kinds
	for _, c := range t.columns {
		names = append(names, c.Name)
		if c.Fixed {
			kinds.Columns = append(kinds.Columns, dataset.ColumnKind{Name: c.Name, Kind: dataset.KindCategory})
		}
	}
	if kinds.Columns != nil {
		opt.Columns.Kinds = &kinds
	}
	row := func(i int) any {
		values := make([]any, len(t.columns))
		for k := range t.columns {
			values[k] = t.columns[k].at(i)
		}
		return values
	}
	return dataset.FromList(ctx, "data frame", names, t.rows, row, opt)
}

// encode writes the rows of a table as numbers. Columns are found by name.
func (t *table) encode(e *dataset.Encoder, dst []float32) error {
	by := map[string]int{}
	for i, c := range t.columns {
		by[c.Name] = i
	}
	want := e.Columns()
	from := make([]int, len(want))
	for i, name := range want {
		k, ok := by[name]
		if !ok {
			return fmt.Errorf("the data have no column %q, which the model takes; its columns are %q", name, want)
		}
		from[i] = k
	}
	values, d := make([]any, len(want)), e.Dim()
	for i := range t.rows {
		for k, at := range from {
			values[k] = t.columns[at].at(i)
		}
		if err := e.Values(dst[i*d:(i+1)*d], values...); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}
