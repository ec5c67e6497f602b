package exact

import (
	"fmt"

	"mercer/internal/vec"
	"mercer/matrix"
)

// factorCentres computes T for λ.
//
// If K_mm is numerically singular, two roundings matter. That of K_mm itself, about m·2⁻⁵²,
// decides whether there is a T. And K_nm has relative errors of about 2⁻²⁶, as it is
// rounded to float32. In directions where K_nm is otherwise zero, the targets would be fitted to
// these errors as to features of size Σw·2⁻⁵²; a penalty λ·jitter 2¹² times that size suppresses
// them. The penalty itself matters only if λ/Σw is below about 2⁻²⁰/√m, which is beyond the
// precision of float32.
func (f *falkon) factorCentres(total, lambda float64) error {
	m := f.m
	centres := matrix.Rows{Dense: f.centres}
	for f.jitter = max(float64(m)*0x1p-51*f.most, total*0x1p-40*f.most*f.most/lambda); ; f.jitter *= 10 {
		vec.Parallel(m, 64, func(lo, hi int) {
			work := make([]float64, 64*f.against.Work())
			for i := lo; i < hi; i += 64 {
				f.against.Rows(centres, i, min(i+64, hi), f.t[i*m:], work)
			}
		})
		for i := range m {
			f.t[i*m+i] += f.jitter
		}
		if vec.Cholesky(m, f.t, m) {
			break
		}
		if f.jitter > 1e-3*f.most {
			return fmt.Errorf("the kernel matrix of %d centres is not positive definite with λ = %g: give a larger λ", m, lambda)
		}
	}
	for i := range m {
		clear(f.t[i*m : i*m+i])
	}
	return nil
}

// factor computes T and A for λ: if the rows are distributed like the centres, K_nmᵀWK_nm is about (Σw/m)·K_mm²
// = (Σw/m)·Tᵀ(TTᵀ)T.
func (f *falkon) factor(total, lambda float64) error {
	if err := f.factorCentres(total, lambda); err != nil {
		return err
	}
	m := f.m
	const block = 256
	for i := 0; i < m; i += block {
		for j := i; j < m; j += block {
			// The inner index starts at j: T is upper triangular.
			vec.GemmNT(min(block, m-i), min(block, m-j), m-j, f.t[i*m+j:], m, f.t[j*m+j:], m, f.a[i*m+j:], m)
		}
	}
	c := total / float64(m)
	for i := range m {
		row := f.a[i*m+i : (i+1)*m]
		for j := range row {
			row[j] *= c
		}
		row[0] += lambda
	}
	if !vec.Cholesky(m, f.a, m) {
		return fmt.Errorf("λ = %g is too small for %d centres: the preconditioner is not positive definite; give a larger λ", lambda, m)
	}
	return nil
}

// solveUpper overwrites each of the K rows of b with the solution of Ux = b.
func (f *falkon) solveUpper(u, b []float64) {
	m := f.m
	vec.Parallel(f.k, 1, func(lo, hi int) {
		for i := m - 1; i >= 0; i-- {
			row := u[i*m+i : (i+1)*m]
			for t := lo; t < hi; t++ {
				x := b[t*m+i : (t+1)*m]
				x[0] = (x[0] - vec.Dot64(row[1:], x[1:])) / row[0]
			}
		}
	})
}

// solveUpperT is solveUpper for Uᵀx = b.
func (f *falkon) solveUpperT(u, b []float64) {
	m := f.m
	vec.Parallel(f.k, 1, func(lo, hi int) {
		for i := range m {
			row := u[i*m+i : (i+1)*m]
			for t := lo; t < hi; t++ {
				x := b[t*m+i : (t+1)*m]
				x[0] /= row[0]
				vec.Axpy64(-x[0], row[1:], x[1:])
			}
		}
	})
}
