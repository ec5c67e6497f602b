package serve

import (
	"bytes"
	"encoding/csv"
	"io"
	"mime"
	"strconv"
	"strings"
)

// readCSV reads a table whose first line names the columns, in any order.
func (c *call) readCSV(tabs bool) error {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(c.body, []byte("\ufeff"))))
	r.ReuseRecord = true
	if tabs {
		r.Comma = '\t'
	}
	header, err := r.Read()
	if err != nil {
		return badf("the CSV has no header that names the columns: %w", err)
	}
	in := c.in
	to, err := in.columnsOf(header, "the CSV's header")
	if err != nil {
		return err
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return badf("CSV: %w", err)
		}
		dst, err := in.next()
		if err != nil {
			return err
		}
		clear(in.values)
		for i, text := range record {
			if at := to[i]; at >= 0 {
				in.values[at] = text
			}
		}
		if err := in.encoder.Values(dst, in.values...); err != nil {
			line, _ := r.FieldPos(0)
			return badf("line %d of the CSV: %w", line, err)
		}
	}
}

// kserve answers KServe's first protocol.
func (c *call) kserve() error {
	name, ok := strings.CutSuffix(c.r.PathValue("action"), ":predict")
	if !ok {
		return &notFound{"expected POST /v1/models/NAME:predict"}
	}
	if err := c.model(name, ""); err != nil {
		return err
	}
	in, found := c.in, false
	err := in.parser.object(func(key []byte) error {
		switch string(key) {
		case "instances":
		case "parameters":
			return in.parameters()
		default:
			return in.parser.skip()
		}
		if found {
			return badf(`"instances" is given twice`)
		}
		found = true
		return in.parser.array(in.rowOrRecord)
	})
	if err == nil {
		err = in.parser.end()
	}
	if err == nil && !found {
		err = badf(`expected "instances": a list of records or rows`)
	}
	if err != nil {
		return err
	}
	return c.predicted()
}

// predicted answers with the predictions alone.
func (c *call) predicted() error {
	if err := c.score(); err != nil {
		return err
	}
	if err := c.spread(false, c.in.sure.asked); err != nil {
		return err
	}
	if err := c.answers(3 * c.in.m.Outputs() * numberBytes); err != nil {
		return err
	}
	in := c.in
	in.out = append(in.predictions(append(in.out[:0], `{"predictions":`...)), "}\n"...)
	return c.json(in.out)
}

// mlflow answers the protocol of MLflow's scoring server: exactly one of dataframe_split, dataframe_records, instances and
// inputs; or CSV.
func (c *call) mlflow() error {
	if err := c.model("", ""); err != nil {
		return err
	}
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "text/csv":
		if err := c.readCSV(false); err != nil {
			return err
		}
		return c.predicted()
	case err != nil || kind != "application/json":
		return unsupported(kind, "application/json or text/csv")
	}
	in, forms := c.in, 0
	p := &in.parser
	err = p.object(func(key []byte) error {
		switch name := string(key); name {
		case "params":
			return in.parameters()
		case "dataframe_split", "dataframe_records", "instances", "inputs":
			if forms++; forms > 1 {
				return badf("expected exactly one of dataframe_split, dataframe_records, instances and inputs")
			}
			if name == "dataframe_split" {
				return c.split()
			}
			if p.next() == '{' { // columns with their values, of which one in JSON is at least two bytes, and here 24 and more
				if err := c.lease.take(16 * int64(len(c.body))); err != nil {
					return err
				}
				return c.byColumn()
			}
			return p.array(in.rowOrRecord)
		default:
			return badf("%q is not known; expected dataframe_split, dataframe_records, instances or inputs", shortened(key))
		}
	})
	if err == nil {
		err = p.end()
	}
	if err == nil && forms == 0 {
		err = badf("expected one of dataframe_split, dataframe_records, instances and inputs")
	}
	if err != nil {
		return err
	}
	return c.predicted()
}

// split reads the form of a data frame with columns and data, in either order.
func (c *call) split() error {
	in := c.in
	p := &in.parser
	var columns []int
	var data int // where the rows begin, 0 for not yet
	read := func() error {
		return p.array(func() error {
			dst, err := in.next()
			if err != nil {
				return err
			}
			clear(in.values)
			i := 0
			err = p.array(func() error {
				v, err := p.scalar()
				if columns == nil && i < len(in.values) {
					in.values[i] = v
				} else if columns != nil && i < len(columns) && columns[i] >= 0 {
					in.values[columns[i]] = v
				}
				i++
				return err
			})
			if err != nil {
				return err
			}
			if want := len(columns); columns != nil && i != want {
				return in.located(badf("%d values for %d columns", i, want))
			} else if columns == nil && i != len(in.values) {
				return in.located(in.wrongLength(i))
			}
			return in.located(in.encoder.Values(dst, in.values...))
		})
	}
	waiting := false
	err := p.object(func(key []byte) error {
		switch string(key) {
		case "columns":
			columns = []int{}
			return p.array(func() error {
				name, err := p.scalar()
				text, ok := name.(string)
				if n, isNumber := name.(float64); isNumber {
					text, ok = strconv.FormatFloat(n, 'f', -1, 64), true
				}
				if err == nil && !ok {
					return badf("a column's name is not a text")
				}
				at, known := in.at[text]
				if !known {
					at = -1
				}
				columns = append(columns, at)
				return err
			})
		case "data":
			if columns == nil { // they may come later
				p.next()
				data, waiting = p.at, true
				return p.skip()
			}
			return read()
		}
		return p.skip()
	})
	if err != nil || !waiting {
		return err
	}
	after := p.at
	p.at = data
	err = read()
	p.at = after
	return err
}

// byColumn reads an object that has a list of values for each column.
func (c *call) byColumn() error {
	in := c.in
	p := &in.parser
	columns := make([][]any, len(in.columns))
	rows := -1
	err := p.object(func(key []byte) error {
		name := string(key)
		at, known := in.at[name]
		var values []any
		single := func() error {
			v, err := p.scalar()
			values = append(values, v)
			if len(values) > in.most {
				return badf("more than %d rows; send fewer at a time", in.most)
			}
			return err
		}
		list := func() error { return p.array(single) }
		if p.next() != '[' {
			list = single
		}
		if err := list(); err != nil {
			return err
		}
		if rows < 0 {
			rows = len(values)
		}
		if len(values) != rows {
			return badf("column %q has %d values, the columns before it have %d", shortened([]byte(name)), len(values), rows)
		}
		if known {
			columns[at] = values
		}
		return nil
	})
	if err != nil {
		return err
	}
	return in.fromColumns(columns, rows)
}

// fromColumns appends rows of columns with their values; nil means that a column is missing.
func (in *input) fromColumns(columns [][]any, rows int) error {
	for r := range rows {
		dst, err := in.next()
		if err != nil {
			return err
		}
		for i, values := range columns {
			if in.values[i] = nil; values != nil {
				in.values[i] = values[r]
			}
		}
		if err := in.encoder.Values(dst, in.values...); err != nil {
			return in.located(err)
		}
	}
	return nil
}
