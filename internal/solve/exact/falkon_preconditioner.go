package exact

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/landmarks"
	"mercer/matrix"
)

// The preconditioner of Falkon: T and A with
//
//	TᵀT = K_mm + jitter·I,   AᵀA = (Σw/m)·TTᵀ + λI.
//
// If the rows are distributed like the centres, K_nmᵀWK_nm is about (Σw/m)·K_mm² = (Σw/m)·Tᵀ(TTᵀ)T. Each of T, TTᵀ
// and A takes m³/6 multiply-adds. T and TTᵀ serve many λ; both are in one square, TTᵀ below the diagonal.

// jitterOf is the jitter that λ needs.
//
// If K_mm is numerically singular, two roundings matter. That of K_mm itself, about m·2⁻⁵²,
// decides whether there is a T. And K_nm has relative errors of about 2⁻²⁶, as it is
// rounded to float32. In directions where K_nm is otherwise zero, the targets would be fitted to
// these errors as to features of size Σw·2⁻⁵²; a penalty λ·jitter 2¹² times that size suppresses
// them. The penalty itself matters only if λ/Σw is below about 2⁻²⁰/√m, which is beyond the
// precision of float32.
func (f *falkon) jitterOf(total, lambda float64) float64 {
	return max(float64(f.m)*0x1p-51*f.most, total*0x1p-40*f.most*f.most/lambda)
}

// reuse is the factor by which λ may differ from that of A, and some rounding. Eigenvalues of the preconditioned
// matrix that were about 1 then range to 10 or 1/10 at most, which takes some five iterations more for a residual
// of 10⁻³. If there are so many rows that these take longer than a Cholesky factorisation, A is computed for every λ.
func (f *falkon) reuse() float64 {
	if float64(f.m)*float64(f.m) < 100*float64(f.n)*float64(f.k) {
		return 1.01
	}
	return 10.01
}

// scantJitter is by how much the jitter of T may be less than λ needs: of the factor 2¹² above, 2⁷ remain.
const scantJitter = 32

// precondition makes T and A fit for λ: the λ of A is no further away than the factor reuse, and T has at least 1/32
// of the jitter that λ needs. The first λ gets what it needs. If a smaller one asks for more, it gets a tenth of its
// need: smaller ones are tried after the one ten times larger, which is often the best and must not suffer.
func (f *falkon) precondition(total, lambda float64) error {
	if need := f.jitterOf(total, lambda); f.jitter < need/scantJitter {
		if f.jitter > 0 {
			need /= 10
		}
		if err := f.factorCentres(need); err != nil {
			return cmp.Or(f.ctx.Err(), fmt.Errorf("%w with λ = %g: give a larger λ", err, lambda))
		}
	}
	ratio := lambda / total
	if within := f.reuse(); f.ratio > 0 && ratio <= within*f.ratio && within*ratio >= f.ratio {
		return nil
	}
	f.ratio = 0
	m, c := f.m, total/float64(f.m)
	transposeUpper(f.a, f.t, m)
	vec.Parallel(m, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := f.a[i*m+i : (i+1)*m]
			row[0] = f.diagonal[i]
			for j := range row {
				row[j] *= c
			}
			row[0] += lambda
		}
	})
	if !vec.Cholesky(f.ctx, m, f.a, m) {
		return cmp.Or(f.ctx.Err(), fmt.Errorf("λ = %g is too small for %d centres: the preconditioner is not positive definite; "+
			"give a larger λ", lambda, m))
	}
	f.ratio = ratio
	return nil
}

// factorCentres computes T and TTᵀ with a jitter, or a larger one if that is not enough.
func (f *falkon) factorCentres(jitter float64) error {
	m := f.m
	f.jitter, f.ratio = 0, 0
	centres := matrix.Rows{Dense: f.centres}
	jitter, ok := landmarks.Factor(f.ctx, m, f.t, jitter, 1e-3*f.most, func() {
		vec.Parallel(m, 64, func(lo, hi int) {
			work := make([]float64, 64*f.against.Work())
			for i := lo; i < hi && f.ctx.Err() == nil; i += 64 {
				f.against.Rows(centres, i, min(i+64, hi), f.t[i*m:], work)
			}
		})
	})
	if !ok {
		return cmp.Or(f.ctx.Err(), fmt.Errorf("the kernel matrix of %d centres is not positive definite", m))
	}
	for i := range m {
		clear(f.t[i*m : i*m+i])
	}
	f.multiplyTT()
	if err := f.ctx.Err(); err != nil {
		return err
	}
	for i := range m {
		f.diagonal[i] = f.a[i*m+i]
	}
	transposeLower(f.t, f.a, m)
	f.jitter = jitter
	return nil
}

// multiplyTT writes the upper triangle of TTᵀ into a. A block is too small a product for several threads, so each
// takes blocks, those with the longest rows first.
func (f *falkon) multiplyTT() {
	const block = 256
	m := f.m
	var blocks [][2]int
	for j := 0; j < m; j += block {
		for i := 0; i <= j; i += block {
			blocks = append(blocks, [2]int{i, j})
		}
	}
	var taken atomic.Int64
	vec.Parallel(min(vec.Threads(), len(blocks)), 1, func(lo, hi int) {
		for b := int(taken.Add(1)) - 1; b < len(blocks) && f.ctx.Err() == nil; b = int(taken.Add(1)) - 1 {
			i, j := blocks[b][0], blocks[b][1]
			// The inner index starts at j: T is upper triangular.
			vec.GemmNT(min(block, m-i), min(block, m-j), m-j, f.t[i*m+j:], m, f.t[j*m+j:], m, f.a[i*m+j:], m)
		}
	})
}

// transposeLower copies what is above the diagonal of src, m×m, to below that of dst.
func transposeLower(dst, src []float64, m int) {
	tiles(m, func(i0, i1, j0, j1 int) {
		for j := j0; j < j1; j++ {
			for i := i0; i < min(i1, j); i++ {
				dst[j*m+i] = src[i*m+j]
			}
		}
	})
}

// transposeUpper copies what is below the diagonal of src, m×m, to above that of dst.
func transposeUpper(dst, src []float64, m int) {
	tiles(m, func(i0, i1, j0, j1 int) {
		for i := i0; i < i1; i++ {
			for j := max(i+1, j0); j < j1; j++ {
				dst[i*m+j] = src[j*m+i]
			}
		}
	})
}

// tiles calls do for tiles of rows [i0, i1) and columns [j0, j1) that cover the upper triangle, small enough for both
// a tile and its transpose to stay in the L1 cache.
func tiles(m int, do func(i0, i1, j0, j1 int)) {
	const side = 32
	vec.Parallel((m+side-1)/side, 4, func(lo, hi int) {
		for i := lo * side; i < min(hi*side, m); i += side {
			for j := i; j < m; j += side {
				do(i, min(i+side, m), j, min(j+side, m))
			}
		}
	})
}

// solveBlock is how many unknowns of a triangular system are eliminated from the others at a time.
const solveBlock = 256

// solveUpper overwrites each of the K rows of b with the solution of Ux = b. Every number of U is read once.
func (f *falkon) solveUpper(u, b []float64) {
	m, k := f.m, f.k
	products := make([]float64, solveBlock*k)
	for lo := (m - 1) / solveBlock * solveBlock; lo >= 0; lo -= solveBlock {
		hi := min(lo+solveBlock, m)
		switch {
		case hi == m:
			clear(products)
		case k > fewOutputs:
			vec.GemmNT(hi-lo, k, m-hi, u[lo*m+hi:], m, b[hi:], m, products, k)
		default:
			vec.Parallel(hi-lo, 16, func(from, to int) {
				for i := from; i < to; i++ {
					for t := range k {
						products[i*k+t] = vec.Dot64(u[(lo+i)*m+hi:(lo+i+1)*m], b[t*m+hi:(t+1)*m])
					}
				}
			})
		}
		vec.Parallel(k, 1, func(from, to int) {
			for i := hi - 1; i >= lo; i-- {
				row := u[i*m+i : i*m+hi]
				for t := from; t < to; t++ {
					x := b[t*m+i : t*m+hi]
					x[0] = (x[0] - products[(i-lo)*k+t] - vec.Dot64(row[1:], x[1:])) / row[0]
				}
			}
		})
	}
}

// solveUpperT is solveUpper for Uᵀx = b.
func (f *falkon) solveUpperT(u, b []float64) {
	m, k := f.m, f.k
	known := make([]float64, solveBlock*k)
	for lo := 0; lo < m; lo += solveBlock {
		hi := min(lo+solveBlock, m)
		vec.Parallel(k, 1, func(from, to int) {
			for i := lo; i < hi; i++ {
				row := u[i*m+i : i*m+hi]
				for t := from; t < to; t++ {
					x := b[t*m+i : t*m+hi]
					x[0] /= row[0]
					vec.Axpy64(-x[0], row[1:], x[1:])
				}
			}
		})
		if k > fewOutputs {
			for i := range hi - lo {
				for t := range k {
					known[i*k+t] = -b[t*m+lo+i]
				}
			}
			vec.GemmAddTN(k, m-hi, hi-lo, known, k, u[lo*m+min(hi, m-1):], m, b[min(hi, m-1):], m)
			continue
		}
		vec.Parallel(m-hi, 512, func(from, to int) {
			for c := hi + from; c < hi+to; c += 512 {
				d := min(c+512, hi+to)
				for i := lo; i < hi; i++ {
					for t := range k {
						vec.Axpy64(-b[t*m+i], u[i*m+c:i*m+d], b[t*m+c:t*m+d])
					}
				}
			}
		})
	}
}
