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
