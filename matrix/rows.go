package matrix

// Rows is a set of rows, dense or sparse: exactly one of the two fields is set.
type Rows struct {
	Dense *Dense
	CSR   *CSR
}

// Len is the number of rows.
func (r Rows) Len() int {
	if r.CSR != nil {
		return r.CSR.Rows
	}
	return r.Dense.Rows
}

// Dim is the number of columns.
func (r Rows) Dim() int {
	if r.CSR != nil {
		return r.CSR.Cols
	}
	return r.Dense.Cols
}

// Slice returns rows [i, j) as a view.
func (r Rows) Slice(i, j int) Rows {
	if r.CSR != nil {
		return Rows{CSR: r.CSR.Slice(i, j)}
	}
	return Rows{Dense: r.Dense.Slice(i, j)}
}

// Batch is a run of consecutive rows of a data set with what belongs to each row.
type Batch struct {
	X Rows

	// First is the number of the first row within its data set, counted from 0.
	First int

	// Outputs is the number of target values of a row: 0 in unlabelled data.
	Outputs int

	// Y holds the targets, row-major Len×Outputs. A label that is not a number is NaN
	// here and stands in Names.
	Y []float64

	// Names holds labels that are text; "" where the label is the number in Y. It is nil
	// where all labels of the batch are numbers, and only set when Outputs is 1.
	Names []string

	// Weights has one weight a row; nil means that all are 1.
	Weights []float64
}

// Slice returns rows [i, j) of the batch as a view.
func (b *Batch) Slice(i, j int) Batch {
	v := Batch{X: b.X.Slice(i, j), First: b.First + i, Outputs: b.Outputs}
	if b.Y != nil {
		v.Y = b.Y[i*b.Outputs : j*b.Outputs]
	}
	if b.Names != nil {
		v.Names = b.Names[i:j]
	}
	if b.Weights != nil {
		v.Weights = b.Weights[i:j]
	}
	return v
}

// Append copies rows to the end of the batch; dim is the width of sparse ones.
func (b *Batch) Append(rows *Batch, dim int) {
	n := 0
	if b.X.Dense != nil || b.X.CSR != nil {
		n = b.X.Len()
	}
	switch x := rows.X.CSR; {
	case x == nil:
		d := rows.X.Dense
		if b.X.Dense == nil {
			b.X.Dense = &Dense{Cols: d.Cols, Stride: d.Cols}
		}
		for i := range d.Rows {
			b.X.Dense.Data = append(b.X.Dense.Data, d.Row(i)...)
		}
		b.X.Dense.Rows += d.Rows
	default:
		if b.X.CSR == nil {
			b.X.CSR = &CSR{Cols: dim, Ptr: []int{0}}
		}
		for i := range x.Rows {
			idx, val := x.Row(i)
			b.X.CSR.Idx = append(b.X.CSR.Idx, idx...)
			b.X.CSR.Val = append(b.X.CSR.Val, val...)
			b.X.CSR.Ptr = append(b.X.CSR.Ptr, len(b.X.CSR.Idx))
		}
		b.X.CSR.Rows += x.Rows
		b.X.CSR.Cols = max(b.X.CSR.Cols, x.Cols)
	}
	b.Outputs = rows.Outputs
	b.Y = append(b.Y, rows.Y...)
	if rows.Names != nil && b.Names == nil {
		b.Names = make([]string, n)
	}
	if b.Names != nil {
		b.Names = append(b.Names, rows.Names...)
		if rows.Names == nil {
			b.Names = append(b.Names, make([]string, rows.X.Len())...)
		}
	}
	b.Weights = append(b.Weights, rows.Weights...)
}
