package matrix

// Pick copies the rows of the given numbers, in their order.
func Pick[I int | int32](x Rows, rows []I) Rows {
	if x.CSR == nil {
		d := NewDense(len(rows), x.Dim())
		for i, r := range rows {
			copy(d.Row(i), x.Dense.Row(int(r)))
		}
		return Rows{Dense: d}
	}
	values := 0
	for _, r := range rows {
		values += x.CSR.Ptr[r+1] - x.CSR.Ptr[r]
	}
	c := &CSR{Rows: len(rows), Cols: x.Dim(), Ptr: make([]int, 1, len(rows)+1), Idx: make([]int32, 0, values), Val: make([]float32, 0, values)}
	for _, r := range rows {
		idx, val := x.CSR.Row(int(r))
		c.Idx, c.Val = append(c.Idx, idx...), append(c.Val, val...)
		c.Ptr = append(c.Ptr, len(c.Idx))
	}
	return Rows{CSR: c}
}
