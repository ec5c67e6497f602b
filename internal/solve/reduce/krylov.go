package reduce

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
)

// A block Krylov method pays off when few of many components are wanted: from krylovFrom features
// on, up to one component in krylovShare. It falls back to the full decomposition when its basis
// grows to one vector in krylovLimit; by then it has cost about as much.
const (
	krylovFrom  = 512
	krylovShare = 10
	krylovLimit = 3
)

// krylovTolerance is the largest residual ‖Hu - λu‖ relative to the largest eigenvalue. The vectors
// are the exact ones of a matrix that differs from H by that much, far less than the effect of rounding
// H's elements to float32.
const krylovTolerance = 0x1p-30

// The block has one row per krylovRows features, within the given bounds. When all vectors seem to be
// found, as many random rows as the lower bound are followed for probeSteps steps.
const (
	krylovRows  = 64
	leastBlock  = 16
	mostBlock   = 64
	probeSteps  = 3
	neverProbed = -1
)

// krylov finds the k largest eigenvalues of a symmetric A, d×d, and their vectors, by the
// Rayleigh-Ritz method on the space of G, GA, GA², … for a block G of random rows (block
// Lanczos: Golub and Underwood 1977; with random G, Musco and Musco 2015). Every block is made
// orthogonal to all earlier ones, twice, so that the basis Q stays orthonormal to rounding, and
// T = QAQᵀ is the projected matrix.
//
// A maps the basis into itself except for the rows W that come from multiplying the last block,
// so a Ritz vector u = Qᵀs has the residual ‖Au - θu‖ = ‖Wᵀs‖, where only the part of s for the last block counts.
// If an eigenvalue has more vectors than the block has rows, some may stay hidden. Before
// it ends, the method therefore follows a few new random rows for some steps, which reveal them, and
// repeats this as long as the values grow.
//
// A spectrum without vectors means that it gave up, or that the context ended.
func krylov(ctx context.Context, d int, a *vec.Packed[float64], k int, tolerance float64) *spectrum {
	limit, rows := d/krylovLimit, max(leastBlock, min(mostBlock, d/krylovRows&^7))
	b := &basis{d: d, a: a, most: limit, q: make([]float64, limit*d), t: make([]float64, limit*limit),
		work: make([]float64, 2*mostBlock*limit)}
	front := orthonormalised(gaussian(0, rows, d), d, 0)
	next := k + rows             // the size of the basis at which to check the vectors
	probing := neverProbed       // steps that are left
	var open []leaving           // of the blocks no longer followed (settled of them), and of the last
	settled, sum := 0, 0.0       // sum of the values before probing
	before, sizeBefore := 0.0, 0 // the residual at the last check
	for len(front) > 0 && b.size+len(front)/d <= limit && ctx.Err() == nil {
		first := b.size
		last := leaving{first, b.extend(front)}
		open = append(open[:settled], last)
		if probing > 0 {
			probing--
		}
		switch {
		case probing > 0:
			front = b.orthogonal(last.w)
			if len(front) == 0 { // an invariant space
				front = b.fresh()
			}
			continue
		case probing == neverProbed && b.size < next:
		default:
			values, s, residual := b.ritz(ctx, open, k)
			now := 0.0
			for _, v := range values {
				now += v
			}
			switch {
			case residual > tolerance:
				// The logarithm of the residual falls ever faster. Give up beyond half of the limit if it would take
				// twice the limit at the present pace.
				if probing == neverProbed && before > 0 && b.size > limit/2 &&
					math.Log(residual/tolerance)*float64(b.size-sizeBefore) > math.Log(before/residual)*float64(2*limit-b.size) {
					return &spectrum{}
				}
				before, sizeBefore = residual, b.size
				probing = neverProbed
				next = b.size + max(rows, b.size/8)
			case probing == 0 && now-sum <= tolerance*values[0]:
				vectors := make([]float64, k*d)
				vec.GemmAddTN(k, d, b.size, s, k, b.q, d, vectors, d)
				return &spectrum{values: values, vectors: vectors, residual: residual}
			default:
				probing, settled, sum = probeSteps, len(open), now
				front = b.fresh()
				continue
			}
		}
		settled = 0
		var w []float64
		for _, o := range open {
			w = append(w, o.w...)
		}
		if front = b.orthogonal(w); len(front) == 0 {
			front = b.fresh()
		}
	}
	return &spectrum{}
}

// leaving are the rows w by which A maps the rows of the basis from first on out of its span.
type leaving struct {
	first int
	w     []float64
}

// gaussian returns n random rows.
func gaussian(index uint64, n, d int) []float64 {
	stream := random.New(1, "reduce.krylov", index)
	rows := make([]float64, n*d)
	for i := range rows {
		rows[i] = stream.Normal()
	}
	return rows
}

// basis is orthonormal rows Q with T = QAQᵀ.
type basis struct {
	d, most int
	a       *vec.Packed[float64]
	size    int
	q       []float64 // most×d
	t       []float64 // most×most, upper triangle
	work    []float64 // of products of Q and a block
	norm    float64   // the largest length of a row of QA
	drawn   uint64    // number of random blocks so far
}

// fresh returns new random rows that are orthogonal to the basis.
func (b *basis) fresh() []float64 {
	b.drawn++
	w := gaussian(b.drawn, leastBlock, b.d)
	b.purge(w, false)
	return b.orthogonal(w)
}

// extend adds the rows of a block and returns the part of their product with A outside the basis.
func (b *basis) extend(block []float64) (w []float64) {
	d, n := b.d, len(block)/b.d
	copy(b.q[b.size*d:], block)
	b.size += n
	w = make([]float64, n*d)
	b.a.Multiply(n, block, d, w, d, nil)
	for i := range n {
		b.norm = max(b.norm, math.Sqrt(vec.Dot64(w[i*d:(i+1)*d], w[i*d:(i+1)*d])))
	}
	b.purge(w, true)
	b.purge(w, false)
	return w
}

// purge subtracts from rows their components in the basis; if keep is set, the rows are the product
// of the last rows with A, and their components go into T.
func (b *basis) purge(rows []float64, keep bool) {
	d, n, m := b.d, len(rows)/b.d, b.size
	parts := b.work[:m*n] // Q·rowsᵀ
	vec.GemmNT(m, n, d, b.q, d, rows, d, parts, n)
	for i := range parts {
		parts[i] = -parts[i]
	}
	if keep {
		for i := range m {
			for c := range n {
				if j := m - n + c; i <= j {
					b.t[i*b.most+j] = -parts[i*n+c]
				}
			}
		}
	}
	vec.GemmAddTN(n, d, m, parts, n, b.q, d, rows, d)
}

// orthogonal returns orthonormal rows that span those of w, which was purged of the basis once.
func (b *basis) orthogonal(w []float64) []float64 {
	w = orthonormalised(w, b.d, b.norm)
	if len(w) == 0 {
		return nil
	}
	b.purge(w, false) // division by small lengths magnified what was left
	return orthonormalised(w, b.d, 0)
}

// ritz returns the k largest eigenvalues of T, descending, their vectors as columns of S, size×k,
// and the largest residual relative to the largest eigenvalue, given that only open leaves the basis.
func (b *basis) ritz(ctx context.Context, open []leaving, k int) (values, s []float64, residual float64) {
	m, d := b.size, b.d
	t := make([]float64, m*m)
	for i := range m {
		copy(t[i*m+i:(i+1)*m], b.t[i*b.most+i:i*b.most+m])
	}
	ascending := make([]float64, m)
	if !vec.EigenSymTop(ctx, m, t, m, ascending, func([]float64) int { return k }) {
		return nil, nil, math.Inf(1)
	}
	values, s = make([]float64, k), make([]float64, m*k)
	residuals := make([]float64, k)
	for c := range k {
		values[c] = ascending[m-1-c]
		for i, v := range t[(k-1-c)*m : (k-c)*m] {
			s[i*k+c] = v
		}
	}
	for _, o := range open {
		n := len(o.w) / d
		gram := make([]float64, n*n)
		vec.GemmNT(n, n, d, o.w, d, o.w, d, gram, n)
		for c := range k {
			part := t[(k-1-c)*m+o.first:][:n]
			square := 0.0
			for i, v := range part {
				square += float64(v * vec.Dot64(gram[i*n:(i+1)*n], part))
			}
			residuals[c] += math.Sqrt(max(0, square))
		}
	}
	residual = slices.Max(residuals)
	if !(values[0] > 0) {
		return values, s, math.Inf(1)
	}
	return values, s, residual / values[0]
}

// orthonormalised returns orthonormal rows that span the given ones, without directions that are
// negligible relative to norm (0: relative to the rows themselves): the eigenvectors V of the rows' Gram
// matrix give Λ^(-1/2)VᵀW, twice.
func orthonormalised(w []float64, d int, norm float64) []float64 {
	for range 2 {
		n := len(w) / d
		gram, values := make([]float64, n*n), make([]float64, n)
		vec.GemmNT(n, n, d, w, d, w, d, gram, n)
		if !vec.EigenSym(context.Background(), n, gram, n, values, true) || !(values[n-1] > 0) {
			return nil
		}
		least := values[n-1] * 0x1p-40
		if norm > 0 {
			least = max(least, norm*norm*0x1p-88)
		}
		first := 0
		for first < n && values[first] <= least {
			first++
		}
		// Rows of Λ^(-1/2)Vᵀ as columns.
		kept := n - first
		if kept == 0 {
			return nil
		}
		factors := make([]float64, n*kept)
		for c := range kept {
			f := 1 / math.Sqrt(values[first+c])
			for i, v := range gram[(first+c)*n : (first+c+1)*n] {
				factors[i*kept+c] = f * v
			}
		}
		next := make([]float64, kept*d)
		vec.GemmAddTN(kept, d, n, factors, kept, w, d, next, d)
		w, norm = next, 0
	}
	return w
}
