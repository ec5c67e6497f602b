package approx

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// Gram returns the whole Gram matrix of rows, n×n, row by row.
func Gram(k kernel.Kernel, x matrix.Rows) ([]float64, error) {
	g, err := kernel.NewGram(k, x, x)
	if err != nil {
		return nil, err
	}
	n := x.Len()
	all := make([]float64, n*n)
	g.Rows(0, n, all)
	return all, nil
}

// Distances2 returns the squared distances k(x, x) + k(y, y) - 2k(x, y) of rows in a kernel's
// feature space, n×n.
func Distances2(k kernel.Kernel, x matrix.Rows) ([]float64, error) {
	g, err := kernel.NewGram(k, x, x)
	if err != nil {
		return nil, err
	}
	n := x.Len()
	all := make([]float64, n*n)
	g.Distances2(0, n, all)
	return all, nil
}

// Distortion returns the mean of |‖z_i-z_j‖²/d² - 1| over all pairs i < j of rows with d² > 0
// (López-Sánchez, Corchado and González Arrieta 2018, equation 22), from the Gram matrix of the
// features, n×n, and Distances2 of the kernel. ok is false if all rows are equal: there is then nothing
// to preserve.
func Distortion(n int, gram, distances2 []float64) (mean float64, ok bool) {
	sums, pairs := make([]float64, n), make([]int, n)
	vec.Parallel(n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range i {
				d2 := distances2[i*n+j]
				if d2 <= 0 {
					continue
				}
				ours := gram[i*n+i] + gram[j*n+j] - 2*gram[i*n+j]
				sums[i] += math.Abs(ours-d2) / d2
				pairs[i]++
			}
		}
	})
	sum, count := 0.0, 0
	for i := range n {
		sum += sums[i]
		count += pairs[i]
	}
	if count == 0 || math.IsInf(sum, 0) {
		return 0, false
	}
	return sum / float64(count), true
}
