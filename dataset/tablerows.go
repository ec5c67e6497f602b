package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mercer/internal/option"
	"mercer/internal/units"
)

// tableParser parses blocks of a table.
type tableParser struct {
	*table
	cut      cutter
	given    [][]byte // the cells of a sparse ARFF row; nil: they are yet to be cut
	interned map[string]string
	unknown  map[int]*Unseen
	key      string // the bag of the previous row

	pairs     []pair
	sparseRow [][]byte

	collection *collection       // nil unless this pass collects
	collected  []map[string]bool // what this parser has added to it
}

// pair is a value of a sparse row.
type pair struct {
	at int32
	v  float32
}

func (t *table) newParser(c *collection) parser {
	p := &tableParser{table: t, cut: cutter{sep: t.sep, arff: t.arff}, interned: map[string]string{}, collection: c}
	if c != nil {
		for range c.values {
			p.collected = append(p.collected, map[string]bool{})
		}
	}
	return p
}

func (p *tableParser) parse(text []byte, line int, rows *rowBuffer) error {
	switch {
	case p.collection != nil:
		rows.shape(0, len(p.schema.Columns), false)
	default:
		rows.shape(len(p.schema.Labels), p.schema.Dim, p.sparse)
	}
	p.unknown = nil
	quoted := !p.arff && bytes.IndexByte(text, '"') >= 0
	for len(text) > 0 {
		row, rest, lines := record(text, quoted)
		if err := p.row(row, line, lines > 1, rows); err != nil {
			return atLine(p.Name(), line, err)
		}
		text, line = rest, line+lines
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, u := range p.unknown {
		if known := p.table.unseen[i]; known != nil {
			u.Rows += known.Rows
			u.Value = min(u.Value, known.Value)
		}
		p.table.unseen[i] = u
	}
	return nil
}

// row parses one record, which starts at a line of the file.
func (p *tableParser) row(line []byte, number int, spans bool, rows *rowBuffer) error {
	if isBlank(line, p.sep) || p.arff && line[0] == '%' {
		return nil
	}
	p.given = nil
	if p.arff && bytes.HasPrefix(trim(line), openBrace) {
		var err error
		if p.given, err = p.sparseCells(line); err != nil {
			return err
		}
	}
	p.cut.start(line, spans)
	if p.collection != nil {
		return p.collectRow(rows)
	}
	targets := len(rows.Y)
	for range rows.Outputs {
		rows.Y = append(rows.Y, 0)
	}
	var dense []float32
	if !p.sparse {
		from := len(rows.dense.Data)
		rows.dense.Data = slices.Grow(rows.dense.Data, p.schema.Dim)[:from+p.schema.Dim]
		dense = rows.dense.Data[from:]
		clear(dense)
	}
	p.pairs = p.pairs[:0]
	name := ""
	for i := range p.roles {
		r := &p.roles[i]
		if r.kind == numeric && dense != nil && p.given == nil && p.cut.at >= 0 {
			// This handles nearly all cells of nearly all tables.
			at := p.cut.at
			if v, ok := p.cut.number(); ok && v <= maxValue && v >= -maxValue {
				dense[r.at] = float32(v)
				continue
			}
			p.cut.at = at
		}
		cell, err := p.cell(i)
		if err != nil {
			return err
		}
		at, v := int32(r.at), float32(0)
		switch r.kind {
		case ignored:
			continue
		case label:
			y, text, err := p.label(i, cell)
			if err != nil {
				return err
			}
			rows.Y[targets+r.at], name = y, text
			continue
		case weight:
			w, ok := parseNumber(trim(cell))
			if !ok || w < 0 || math.IsInf(w, 0) {
				return p.wrong(i, cell, fmt.Errorf("%q is not a weight; weights are numbers of 0 or more", shorten(cell)))
			}
			rows.Weights = append(rows.Weights, w)
			continue
		case group:
			if len(cell) == 0 {
				return p.wrong(i, nil, errors.New("the cell is empty, so nothing says which bag the row is of"))
			}
			if string(cell) != p.key {
				p.key = string(cell)
			}
			rows.keys, rows.lines = append(rows.keys, p.key), append(rows.lines, number)
			continue
		case numeric:
			x, err := p.number(i, cell)
			if err != nil {
				return err
			}
			v = float32(x)
		case categorical:
			code, known := r.codes[string(cell)]
			if !known {
				if p.opt.Schema == nil {
					return p.wrong(i, cell, fmt.Errorf("%q was not there in the pass before; did the file change?", shorten(cell)))
				}
				p.note(r.input, cell)
				continue
			}
			at, v = at+code, 1
		}
		if dense != nil {
			dense[at] = v
		} else if v != 0 {
			p.pairs = append(p.pairs, pair{at, v})
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	if dense == nil {
		// Columns may be in a different order than in training.
		slices.SortFunc(p.pairs, func(a, b pair) int { return cmp.Compare(a.at, b.at) })
		for _, q := range p.pairs {
			rows.csr.Idx, rows.csr.Val = append(rows.csr.Idx, q.at), append(rows.csr.Val, q.v)
		}
	}
	rows.endRow(name)
	return nil
}

var openBrace = []byte{'{'}

// cell takes cell i of the row.
func (p *tableParser) cell(i int) ([]byte, error) {
	if p.given != nil {
		return p.given[i], nil
	}
	if p.cut.at < 0 {
		return nil, p.ragged()
	}
	cell, err := p.cut.next()
	if err != nil {
		return nil, p.wrong(i, nil, err)
	}
	return cell, nil
}

// end is called after the last cell of a row.
func (p *tableParser) end() error {
	if p.given != nil || p.cut.at < 0 {
		return nil
	}
	if p.arff && bytes.HasPrefix(p.cut.line[p.cut.skip(p.cut.at):], openBrace) {
		return errRowWeight
	}
	return p.ragged()
}

// ragged is the error for a row with the wrong number of cells.
func (p *tableParser) ragged() error {
	cells, err := p.cut.all(p.cut.line, p.cut.spans, nil)
	if err != nil {
		return inColumn(fmt.Sprintf("column %d", len(cells)), strconv.Itoa(len(cells)), -1, nil, err)
	}
	if p.arff {
		return fmt.Errorf("%s where the header declares %d", units.Plural(len(cells), "column"), len(p.roles))
	}
	return fmt.Errorf("%s where the first row has %d", units.Plural(len(cells), "column"), len(p.roles))
}

// collectRow is row for a pass that collects: numbers, or NaN if they are missing.
func (p *tableParser) collectRow(rows *rowBuffer) error {
	from := len(rows.dense.Data)
	for range rows.dense.Cols {
		rows.dense.Data = append(rows.dense.Data, float32(math.NaN()))
	}
	for i := range p.roles {
		cell, err := p.cell(i)
		if err != nil {
			return err
		}
		switch r := &p.roles[i]; r.kind {
		case numeric:
			if p.opt.Missing == "mean" && !missing(cell) {
				v, err := p.number(i, cell)
				if err != nil {
					return err
				}
				rows.dense.Data[from+r.input] = float32(v)
			}
		case categorical:
			if p.collected[r.input][string(cell)] {
				continue
			}
			value := string(cell)
			p.collected[r.input][value] = true
			if err := p.collection.add(r.input, value); err != nil {
				return p.wrong(i, cell, err)
			}
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	rows.endRow("")
	return nil
}

// column names a column in a message.
func (t *table) column(i int) string {
	if t.schema.Header {
		return fmt.Sprintf("column %q", t.names[i])
	}
	return "column " + t.names[i]
}

// wrong is an error about the cell of column i.
func (p *tableParser) wrong(i int, cell []byte, err error) error {
	dim := -1
	if p.roles[i].kind == numeric {
		dim = p.roles[i].at
	}
	return inColumn(p.column(i), p.names[i], dim, cell, err)
}

// number is the value of a numeric cell.
func (p *tableParser) number(i int, cell []byte) (float64, error) {
	v, ok := parseNumber(trim(cell))
	switch {
	case ok && v <= maxValue && v >= -maxValue:
		return v, nil
	case ok:
		return 0, p.wrong(i, cell, fmt.Errorf("%s is out of float32's range (3.4e38)", shorten(cell)))
	case missing(cell):
		switch p.schema.Missing {
		case "mean":
			return p.schema.Columns[p.roles[i].input].Mean, nil
		case "zero":
			return 0, nil
		}
		return 0, p.wrong(i, cell, option.Errorf("%q is not a number (a missing value? %s or %s fills it in)", cell,
			option.Set("missing", "mean"), option.Set("missing", "zero")))
	case notFinite(cell):
		return 0, p.wrong(i, cell, fmt.Errorf("%q is not a finite number", cell))
	}
	return 0, p.wrong(i, cell, fmt.Errorf("%q is not a number", shorten(cell)))
}

// label is the label in a cell: a number, or NaN and a text if text is allowed.
func (p *tableParser) label(i int, cell []byte) (float64, string, error) {
	if sep := p.schema.LabelSeparator; sep != "" {
		y, text, err := labelList(p.interned, cell, sep)
		if err != nil {
			return 0, "", p.wrong(i, cell, err)
		}
		return y, text, nil
	}
	v, ok := parseNumber(trim(cell))
	switch {
	case ok && math.IsInf(v, 0):
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label %s is out of float64's range", shorten(cell)))
	case ok:
		return v, "", nil
	case missing(cell):
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label is missing (%q); remove the row or give it a label", cell))
	case notFinite(cell):
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label %q is not a finite number", cell))
	case len(p.schema.Labels) > 1 && bytes.EqualFold(trim(cell), []byte("true")):
		return 1, "", nil
	case len(p.schema.Labels) > 1 && bytes.EqualFold(trim(cell), []byte("false")):
		return 0, "", nil
	case len(p.schema.Labels) > 1:
		return 0, "", p.wrong(i, cell, fmt.Errorf("the label %q is not a number; with several outputs all must be", shorten(cell)))
	}
	return math.NaN(), intern(p.interned, cell), nil
}

// note counts a value that the model does not know.
func (p *tableParser) note(input int, cell []byte) {
	if p.unknown == nil {
		p.unknown = map[int]*Unseen{}
	}
	u := p.unknown[input]
	if u == nil {
		u = &Unseen{Column: p.schema.Columns[input].Name, Value: string(cell)}
		p.unknown[input] = u
	}
	u.Rows++
}
