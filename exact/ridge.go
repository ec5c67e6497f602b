// Package exact holds exact kernel machines: baselines to compare with, and for small data.
package exact

import (
	"fmt"

	"mercer/internal/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Options say how to fit kernel ridge regression.
type Options struct {
	// Lambda is λ > 0.
	Lambda float64

	// Memory bounds the bytes of the Gram matrix, 8·n²; 0 means 4 GiB.
	Memory int64
}

// Fit solves (K + λI)α = y - ȳ by Cholesky, y row-major n×outputs, and sets b = ȳ. It takes
// 8·n² bytes and n³/3 multiplications. The machine keeps x.
func Fit(k kernel.Kernel, x matrix.Rows, y []float64, outputs int, opt Options) (*Machine, error) {
	n := x.Len()
	if len(y) != n*outputs {
		panic(fmt.Sprintf("exact: Fit of %d rows given %d targets of %d outputs", n, len(y), outputs))
	}
	if n == 0 {
		return nil, fmt.Errorf("no rows to fit a kernel machine on")
	}
	if !(opt.Lambda > 0) {
		return nil, fmt.Errorf("lambda %g is not a positive number", opt.Lambda)
	}
	limit := opt.Memory
	if limit == 0 {
		limit = 4 << 30
	}
	if need := 8 * float64(n) * float64(n); need > float64(limit) {
		return nil, fmt.Errorf("the Gram matrix of %d rows takes 8·n² = %.1f GB, of %.1f GB allowed; use fewer rows or a feature map", n, need/1e9, float64(limit)/1e9)
	}
	gram, err := kernel.NewGram(k, x, x)
	if err != nil {
		return nil, err
	}
	b, _ := mean(y, nil, outputs)
	alpha := make([]float64, len(y))
	for i, v := range y {
		alpha[i] = v - b[i%outputs]
	}
	a := make([]float64, n*n)
	gram.Rows(0, n, a)
	for i := range n {
		a[i*n+i] += opt.Lambda
	}
	if !vec.CholeskySolve(n, a, n, outputs, alpha, outputs) {
		return nil, fmt.Errorf("the matrix K + λI is not positive definite with λ = %g; give a larger λ", opt.Lambda)
	}
	return NewMachine(k, x, alpha, b)
}
