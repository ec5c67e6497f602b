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

// Machine is a kernel machine: scores = K(x, X)·α + b over the training rows X. It is safe
// for concurrent use.
type Machine struct {
	kernel kernel.Kernel
	x      matrix.Rows
	k      int
	alpha  []float64 // n×K
	b      []float64 // K
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
	m := &Machine{kernel: k, x: x, k: outputs, alpha: make([]float64, len(y)), b: make([]float64, outputs)}
	for i, v := range y {
		m.b[i%outputs] += v / float64(n)
	}
	for i, v := range y {
		m.alpha[i] = v - m.b[i%outputs]
	}
	a := make([]float64, n*n)
	gram.Rows(0, n, a)
	for i := range n {
		a[i*n+i] += opt.Lambda
	}
	if !vec.CholeskySolve(n, a, n, outputs, m.alpha, outputs) {
		return nil, fmt.Errorf("the matrix K + λI is not positive definite with λ = %g; give a larger λ", opt.Lambda)
	}
	return m, nil
}

// Scores writes the scores of the rows x into dst, which must be Len×K.
func (m *Machine) Scores(dst *matrix.Dense, x matrix.Rows) error {
	if dst.Rows != x.Len() || dst.Cols != m.k {
		panic(fmt.Sprintf("exact: Scores wants a %d×%d dst, got %d×%d", x.Len(), m.k, dst.Rows, dst.Cols))
	}
	gram, err := kernel.NewGram(m.kernel, x, m.x)
	if err != nil {
		return err
	}
	const block = 128
	n := m.x.Len()
	part := make([]float64, block*n)
	sums := make([]float64, m.k)
	for lo := 0; lo < x.Len(); lo += block {
		hi := min(lo+block, x.Len())
		gram.Rows(lo, hi, part[:(hi-lo)*n])
		for i := lo; i < hi; i++ {
			copy(sums, m.b)
			for j, v := range part[(i-lo)*n : (i-lo+1)*n] {
				for t, a := range m.alpha[j*m.k : (j+1)*m.k] {
					sums[t] += v * a
				}
			}
			for t, v := range sums {
				dst.Row(i)[t] = float32(v)
			}
		}
	}
	return nil
}
