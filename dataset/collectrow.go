package dataset

import (
	"fmt"
	"math"
	"slices"
)

// beginCollecting prepares a parser of a collecting pass.
func (p *tableParser) beginCollecting() {
	n := len(p.attributes)
	p.marked, p.bounds, p.signs = map[string]int{}, make([]boundCount, n), make([]boundCount, n)
	p.gaps = make([][]float64, n)
	p.met, p.measures, p.counts, p.texts = make([]map[string]int, n), make([]coder, n), make([][]int64, n), make([]*textCoder, n)
	for i := range p.attributes {
		a := &p.attributes[i]
		p.gaps[i] = gapsAmong(p.schema.NA, a.marks)
		switch a.measure {
		case measureText:
			p.met[i] = map[string]int{}
		case measureWritten:
			n := newNumberCoder(a.coding, 0)
			n.bounds = true
			p.measures[i] = n
		case measureDate:
			p.measures[i] = newDateCoder(a.coding, 0)
		case measureWords:
			p.texts[i] = newTextCoder(a.coding)
			p.counts[i] = make([]int64, a.buckets)
		}
	}
}

// endCollecting adds the words of a block to those of all parsers.
func (p *tableParser) endCollecting() {
	p.collector.mu.Lock()
	defer p.collector.mu.Unlock()
	for class, n := range p.marked {
		p.collector.marked[class] += n
	}
	clear(p.marked)
	for i := range p.bounds {
		p.collector.bounds[i].add(&p.bounds[i])
		p.collector.signs[i].add(&p.signs[i])
	}
	clear(p.bounds)
	clear(p.signs)
	for i, counts := range p.counts {
		for k, n := range counts {
			p.collector.documents[i][k] += n
		}
		clear(counts)
	}
}

// collectRow is row for a pass that collects: a number for each column, NaN for one that is missing. What is wrong with
// a cell is found in the next pass.
func (p *tableParser) collectRow(rows *rowBuffer) error {
	for i := range p.attributes {
		cell, err := p.cell(i)
		if err != nil {
			return err
		}
		v, err := p.collectCell(i, cell)
		if err != nil {
			return p.wrong(i, cell, err)
		}
		rows.Y = append(rows.Y, v)
	}
	if err := p.end(); err != nil {
		return err
	}
	rows.dense.Rows++
	rows.endRow("")
	return nil
}

// wrongCell stands for what the next pass calls an error.
var wrongCell = math.Inf(1)

func (p *tableParser) collectCell(i int, cell []byte) (float64, error) {
	a := &p.attributes[i]
	if p.roles[i].kind == label && p.schema.LabelSeparator == "" {
		return p.collectLabel(i, cell)
	}
	switch a.measure {
	case measureNothing:
		return math.NaN(), nil
	case measureNumber:
		v, ok := parseNumber(trim(cell))
		switch {
		case ok && p.schema.NA == nil && p.gaps[i] == nil:
			return v, nil
		case p.isMissing(cell) || ok && slices.Contains(p.gaps[i], v) || !ok && (noNumber(cell) || among(a.marks, cell)):
			return math.NaN(), nil
		case !ok:
			if v, ok = parseOther(trim(cell), p.decimal); ok {
				return v, nil
			}
			b, isBound := cutBound(cell)
			if v, ok = parseWritten(b, p.decimal); !ok || !isBound {
				return wrongCell, nil
			}
			p.bounds[i].note(p.line, cell)
		}
		return v, nil
	case measureText:
		if p.isMissing(cell) && (p.auto() || p.roles[i].kind == coded) {
			return math.NaN(), nil
		}
		return p.collectText(i, cell)
	}
	if p.isMissing(cell) || a.measure != measureWords && noNumber(cell) || among(a.marks, cell) {
		return math.NaN(), nil
	}
	switch a.measure {
	case measureWritten:
		n := p.measures[i].(*numberCoder)
		if v, ok := n.value(cell); ok && slices.Contains(p.gaps[i], v) {
			return math.NaN(), nil
		} else if ok {
			if _, isBound := cutBound(cell); isBound {
				p.bounds[i].note(p.line, cell)
			}
			if n.otherSign(cell, v) != "" {
				p.signs[i].note(p.line, cell)
			}
			return v, nil
		}
		return wrongCell, nil
	case measureDate:
		if t, ok := p.measures[i].(*dateCoder).parse(string(cell)); ok {
			return daysOf(t), nil
		}
		return wrongCell, nil
	}
	p.texts[i].documents(cell, p.counts[i])
	return 0, nil
}

// collectText is the number of a text.
func (p *tableParser) collectText(i int, cell []byte) (float64, error) {
	id, met := p.met[i][string(cell)]
	if !met {
		var err error
		if id, err = p.collector.add(i, string(cell)); err != nil {
			return 0, err
		}
		p.met[i][string(cell)] = id
	}
	return float64(id), nil
}

// collectLabel is collectCell for a label, which may be a class that is written like a missing value.
func (p *tableParser) collectLabel(i int, cell []byte) (float64, error) {
	a := &p.attributes[i]
	v, number := parseNumber(trim(cell))
	if v, ok := p.writtenLabel(i, cell, number); ok {
		return v, nil
	}
	if p.noLabel(i, cell, number) {
		return math.NaN(), nil
	}
	if !number && a.categories == nil && len(p.schema.Labels) == 1 && (missing(cell) || !a.text && noNumber(cell)) {
		p.marked[string(cell)]++
	}
	switch {
	case a.measure == measureText:
		return p.collectText(i, cell)
	case !number:
		return wrongCell, nil
	}
	return v, nil
}

// add puts a value into a column.
func (c *collector) add(column int, value string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.texts[column][value]
	if c.declared[column] && !known && !missing([]byte(value)) {
		return 0, fmt.Errorf("%q is not among the declared values", shorten([]byte(value)))
	}
	if !known && len(c.values[column]) == maxCategories {
		return 0, fmt.Errorf("more than %d different texts are too many categories; leave the column out", maxCategories)
	}
	return c.number(column, value), nil
}
