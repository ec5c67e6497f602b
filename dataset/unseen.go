package dataset

import "cmp"

// note counts a value that the model does not know.
func (p *tableParser) note(input int, cell []byte) {
	u := p.noted(input, "")
	if u.Rows++; u.Rows == 1 {
		u.Value = string(cell)
	}
}

// noteWritten counts a number that is not written as those of the training are.
func (p *tableParser) noteWritten(input int, cell []byte, how string) {
	u := p.noted(input, how)
	if u.Rows++; u.Rows == 1 {
		u.Value, u.Line = string(cell), p.line
	}
}

// noteGap counts a missing value where the training had none in the column.
func (p *tableParser) noteGap(input int) {
	if c := &p.schema.Columns[input]; p.opt.Schema != nil && p.auto() && !c.Indicator && c.Means == nil {
		p.noted(input, "").Missing++
	}
}

// noted is what is counted of a column.
func (p *tableParser) noted(input int, written string) *Unseen {
	if p.unknown == nil {
		p.unknown = map[unseenKey]*Unseen{}
	}
	key := unseenKey{input, written}
	u := p.unknown[key]
	if u == nil {
		u = &Unseen{Column: p.schema.Columns[input].Name, Written: written}
		p.unknown[key] = u
	}
	return u
}

// noteUnseen adds what a block had to what all had.
func (p *tableParser) noteUnseen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, u := range p.unknown {
		if known := p.table.unseen[i]; known != nil {
			if known.Rows > 0 && (u.Rows == 0 || cmp.Or(cmp.Compare(known.Line, u.Line), cmp.Compare(known.Value, u.Value)) < 0) {
				u.Value, u.Line = known.Value, known.Line
			}
			u.Rows += known.Rows
			u.Missing += known.Missing
		}
		p.table.unseen[i] = u
	}
}
