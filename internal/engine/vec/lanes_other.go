//go:build !amd64 || purego

package vec

func interleave(rows, cols int, dst []float32, step int, src []float32, stride int) {}

func deinterleave(rows, cols int, dst []float32, stride int, src []float32, step int) {}

func (s *SparseSigns) lists(ptr []int, dst []float32, step, group int, src []float32, scale float32, shift []float32) {
}

func (p *Products) rowsKernel(rows int, dst []float32, stride int, k []float32) {}

func (p *Products) rowKernel(z, k []float32) {}
