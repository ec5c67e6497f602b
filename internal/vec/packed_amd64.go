//go:build amd64 && !purego

package vec

// sparsePanel adds Σ val[t]·panel[idx[t]] to c, for rows of len(c) = nr numbers.
func sparsePanel(idx []int32, val, panel, c []float32) {
	switch level {
	case avx512:
		sparse32_avx512(len(idx), &idx[0], &val[0], &panel[0], &c[0])
	case avx2:
		sparse32_avx2(len(idx), &idx[0], &val[0], &panel[0], &c[0])
	default:
		sparsePanelGo(idx, val, panel, c)
	}
}
