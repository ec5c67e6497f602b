// Package matrix holds rows of numbers: dense (float32, row-major) or sparse (CSR), and
// batches of rows with their labels and weights. Views share memory; nothing is copied
// unless a function says so.
package matrix

import "fmt"

// Dense is a Rows×Cols matrix of float32, row-major: element (i, j) is Data[i*Stride+j].
type Dense struct {
	Rows, Cols, Stride int
	Data               []float32
}

// NewDense returns a zero matrix of rows×cols.
func NewDense(rows, cols int) *Dense {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("matrix: NewDense(%d, %d): negative size", rows, cols))
	}
	return &Dense{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// Row returns row i as a slice of length Cols that shares the matrix's memory.
func (m *Dense) Row(i int) []float32 {
	if i < 0 || i >= m.Rows {
		panic(fmt.Sprintf("matrix: row %d of %d", i, m.Rows))
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// Slice returns rows [i, j) as a view.
func (m *Dense) Slice(i, j int) *Dense {
	if i < 0 || j < i || j > m.Rows {
		panic(fmt.Sprintf("matrix: rows [%d, %d) of %d", i, j, m.Rows))
	}
	v := &Dense{Rows: j - i, Cols: m.Cols, Stride: m.Stride}
	if i < j {
		v.Data = m.Data[i*m.Stride : (j-1)*m.Stride+m.Cols]
	}
	return v
}

// Columns returns columns [i, j) as a view.
func (m *Dense) Columns(i, j int) *Dense {
	if i < 0 || j < i || j > m.Cols {
		panic(fmt.Sprintf("matrix: columns [%d, %d) of %d", i, j, m.Cols))
	}
	v := &Dense{Rows: m.Rows, Cols: j - i, Stride: m.Stride}
	if m.Rows > 0 && i < j {
		v.Data = m.Data[i : (m.Rows-1)*m.Stride+j]
	}
	return v
}

// Reshape makes m a contiguous rows×cols matrix, reusing its memory where that is large
// enough. The elements are unspecified.
func (m *Dense) Reshape(rows, cols int) {
	if n := rows * cols; cap(m.Data) < n {
		m.Data = make([]float32, n)
	} else {
		m.Data = m.Data[:n]
	}
	m.Rows, m.Cols, m.Stride = rows, cols, cols
}

// Contiguous returns the elements row by row without gaps: m's own memory where it has none.
func (m *Dense) Contiguous() []float32 {
	if m.Stride == m.Cols {
		return m.Data[:m.Rows*m.Cols]
	}
	data := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		data = append(data, m.Row(i)...)
	}
	return data
}
