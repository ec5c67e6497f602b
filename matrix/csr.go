package matrix

import "fmt"

// CSR is a sparse matrix in compressed rows: row i has the values Val[Ptr[i]:Ptr[i+1]] in
// the columns Idx[Ptr[i]:Ptr[i+1]], which increase strictly and lie in [0, Cols).
// Ptr has Rows+1 entries; in a view Ptr[0] need not be 0.
type CSR struct {
	Rows, Cols int
	Ptr        []int
	Idx        []int32
	Val        []float32
}

// Row returns the columns and values of row i; both share the matrix's memory.
func (m *CSR) Row(i int) (idx []int32, val []float32) {
	if i < 0 || i >= m.Rows {
		panic(fmt.Sprintf("matrix: row %d of %d", i, m.Rows))
	}
	a, b := m.Ptr[i], m.Ptr[i+1]
	return m.Idx[a:b:b], m.Val[a:b:b]
}

// Slice returns rows [i, j) as a view.
func (m *CSR) Slice(i, j int) *CSR {
	if i < 0 || j < i || j > m.Rows {
		panic(fmt.Sprintf("matrix: rows [%d, %d) of %d", i, j, m.Rows))
	}
	return &CSR{Rows: j - i, Cols: m.Cols, Ptr: m.Ptr[i : j+1], Idx: m.Idx, Val: m.Val}
}

// NNZ is the number of stored values.
func (m *CSR) NNZ() int {
	if len(m.Ptr) == 0 {
		return 0
	}
	return m.Ptr[m.Rows] - m.Ptr[0]
}

// Densify writes the matrix into dst, which is reshaped.
func (m *CSR) Densify(dst *Dense) {
	dst.Reshape(m.Rows, m.Cols)
	clear(dst.Data)
	for i := range m.Rows {
		idx, val := m.Row(i)
		row := dst.Row(i)
		for k, j := range idx {
			row[j] = val[k]
		}
	}
}
