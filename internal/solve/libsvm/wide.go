package libsvm

import (
	"slices"

	"mercer/matrix"
)

// Products of rows hold a row as wide as the largest index, which a few bytes can make any number. Beyond widest columns, those
// that no support vector has are left out.

// widest is the width up to which columns are as in the file.
const widest = 1 << 20

// pack numbers the columns that support vectors have, if these are wide.
func (m *Model) pack() {
	m.packed = m.x
	if m.x.Cols <= widest {
		return
	}
	m.columns = slices.Clone(m.x.Idx)
	slices.Sort(m.columns)
	m.columns = slices.Clip(slices.Compact(m.columns))
	m.packed = &matrix.CSR{Rows: m.x.Rows, Cols: len(m.columns), Ptr: m.x.Ptr, Val: m.x.Val, Idx: make([]int32, len(m.x.Idx))}
	for e, j := range m.x.Idx {
		at, _ := slices.BinarySearch(m.columns, j)
		m.packed.Idx[e] = int32(at)
	}
}

// narrow is x and the support vectors with fewer columns and the same products and distances: columns that only x has follow
// those of the support vectors, numbered in each row for itself.
func (m *Model) narrow(x *matrix.CSR) (rows, vectors *matrix.CSR) {
	out := &matrix.CSR{Rows: x.Rows, Cols: m.packed.Cols, Ptr: make([]int, 1, x.Rows+1)}
	for i := range x.Rows {
		idx, val := x.Row(i)
		from := len(out.Idx)
		for e, j := range idx {
			if at, ok := m.column(j); ok {
				out.Idx, out.Val = append(out.Idx, at), append(out.Val, val[e])
			}
		}
		if len(out.Idx)-from < len(idx) {
			at := int32(m.packed.Cols)
			for e, j := range idx {
				if _, ok := m.column(j); !ok {
					out.Idx, out.Val = append(out.Idx, at), append(out.Val, val[e])
					at++
				}
			}
			out.Cols = max(out.Cols, int(at))
		}
		out.Ptr = append(out.Ptr, len(out.Idx))
	}
	y := *m.packed
	y.Cols = out.Cols
	return out, &y
}

// column is where a column is in the packed support vectors, if they have it.
func (m *Model) column(j int32) (int32, bool) {
	if m.columns == nil {
		return j, int(j) < m.packed.Cols
	}
	at, ok := slices.BinarySearch(m.columns, j)
	return int32(at), ok
}
