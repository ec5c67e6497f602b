//go:build !amd64 || purego

package vec

func sparsePanel(idx []int32, val, panel, c []float32) { sparsePanelGo(idx, val, panel, c) }
