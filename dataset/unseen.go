package dataset

// note counts a value that the model does not know.
func (p *tableParser) note(input int, cell []byte) {
	u := p.noted(input)
	if u.Rows++; u.Rows == 1 {
		u.Value = string(cell)
	}
}

// noteGap counts a missing value where the training had none in the column.
func (p *tableParser) noteGap(input int) {
	if c := &p.schema.Columns[input]; p.opt.Schema != nil && p.auto() && !c.Indicator && c.Means == nil {
		p.noted(input).Missing++
	}
}

// noted is what is counted of a column.
func (p *tableParser) noted(input int) *Unseen {
	if p.unknown == nil {
		p.unknown = map[int]*Unseen{}
	}
	u := p.unknown[input]
	if u == nil {
		u = &Unseen{Column: p.schema.Columns[input].Name}
		p.unknown[input] = u
	}
	return u
}

// noteUnseen adds what a block had to what all had.
func (p *tableParser) noteUnseen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, u := range p.unknown {
		if known := p.table.unseen[i]; known != nil {
			if known.Rows > 0 && (u.Rows == 0 || known.Value < u.Value) {
				u.Value = known.Value
			}
			u.Rows += known.Rows
			u.Missing += known.Missing
		}
		p.table.unseen[i] = u
	}
}
