package kernel

import "mercer/matrix"

// pair is work memory that lays two rows side by side.
type pair struct{ x, y []float32 }

// of returns row i of a and row j of b with their elements side by side, in the order of
// the dimensions. Of two sparse rows, dimensions where both are 0 are left out: no kernel
// depends on them. The result is good until the next call.
func (p *pair) of(a matrix.Rows, i int, b matrix.Rows, j int) (x, y []float32) {
	switch {
	case a.Dense != nil && b.Dense != nil:
		return a.Dense.Row(i), b.Dense.Row(j)
	case a.Dense != nil:
		p.y = scatter(p.y, b.CSR, j)
		return a.Dense.Row(i), p.y
	case b.Dense != nil:
		p.x = scatter(p.x, a.CSR, i)
		return p.x, b.Dense.Row(j)
	}
	aIdx, aVal := a.CSR.Row(i)
	bIdx, bVal := b.CSR.Row(j)
	p.x, p.y = p.x[:0], p.y[:0]
	for len(aIdx) > 0 || len(bIdx) > 0 {
		var v, w float32
		takeA := len(bIdx) == 0 || len(aIdx) > 0 && aIdx[0] <= bIdx[0]
		takeB := len(aIdx) == 0 || len(bIdx) > 0 && bIdx[0] <= aIdx[0]
		if takeA {
			v, aIdx, aVal = aVal[0], aIdx[1:], aVal[1:]
		}
		if takeB {
			w, bIdx, bVal = bVal[0], bIdx[1:], bVal[1:]
		}
		p.x, p.y = append(p.x, v), append(p.y, w)
	}
	return p.x, p.y
}

// scatter returns row i of m in full, in dst's memory if that suffices.
func scatter(dst []float32, m *matrix.CSR, i int) []float32 {
	if cap(dst) < m.Cols {
		dst = make([]float32, m.Cols)
	}
	dst = dst[:m.Cols]
	clear(dst)
	idx, val := m.Row(i)
	for k, j := range idx {
		dst[j] = val[k]
	}
	return dst
}
