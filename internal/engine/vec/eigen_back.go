package vec

import "context"

// reflectBack multiplies each row s of S, rows×n with stride lds, as a column by Q, the product
// of the reflections that tridiagonalise left in A's rows: s = Q·s.
//
// A block of k reflections is I - VᵀTV for V, k×n, whose rows they are, and an upper
// triangular T (Schreiber and Van Loan 1989). So the rows become S - (S·Vᵀ)(TᵀV), the last
// block first. It returns false if the context ended.
func reflectBack(ctx context.Context, n, rows int, a []float64, lda int, tau, s []float64, lds int) bool {
	if rows == 0 {
		return true
	}
	block := backBlock(n)
	ld := stride(n)
	v, tv := aligned[float64](block*ld), aligned[float64](block*ld)
	sv, t, gram := aligned[float64](rows*block), make([]float64, block*block), make([]float64, block*block)
	for j0 := (n - 2) / block * block; j0 >= 0; j0 -= block {
		if ctx.Err() != nil {
			return false
		}
		k := min(block, n-1-j0)
		if k <= 0 {
			continue
		}
		at := j0 + 1
		m := n - at // columns that the block touches
		for p := range k {
			row := v[p*ld : p*ld+m]
			clear(row[:p])
			copy(row[p:], a[(j0+p)*lda+j0+p+1:][:m-p])
		}
		GemmNT(k, k, m, v, ld, v, ld, gram, k)
		blockReflector(k, tau[j0:], gram, t)
		clear(tv)
		GemmAddTN(k, m, k, t, k, v, ld, tv, ld)
		GemmNT(rows, k, m, s[at:], lds, v, ld, sv, k)
		subtractProduct(ctx, rows, m, k, sv, k, 1, tv, ld, s[at:], lds)
	}
	return ctx.Err() == nil
}

// backBlock is how many reflections are applied together.
func backBlock(n int) int { return max(32, min(256, n/8&^31)) }

// blockReflector computes T, k×k, of a block of reflections from gram = V·Vᵀ: column i is
// -tau_i·T·(V·v_i) above the diagonal and tau_i on it.
func blockReflector(k int, tau, gram, t []float64) {
	clear(t[:k*k])
	for i := range k {
		products := gram[i*k : i*k+i]
		for r := range i {
			t[r*k+i] = -tau[i] * Dot64(t[r*k+r:r*k+i], products[r:])
		}
		t[i*k+i] = tau[i]
	}
}
