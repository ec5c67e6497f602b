package feature

import (
	"cmp"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// leverage chooses rows with probabilities proportional to their ridge leverage scores
//
//	l_i(λ) = [K(K + λI)⁻¹]_ii
//
// (Alaoui and Mahoney 2015), approximated by recursion (Musco and Musco, "Recursive sampling for
// the Nyström method", 2017): half of the rows give weighted landmarks S, and these the scores
// of all,
//
//	l_i(λ) ≈ (1/λ)·[k_ii - k_iSᵀ(K_SS + λW⁻²)⁻¹k_iS]
//
// where W² are the inverses of the probabilities with which rows entered S. λ is the residual
// trace of pivoted Cholesky with a fixed number of rows, divided by that number: about
// the mean of the eigenvalues that so many landmarks miss.
//
// O(nm(d + m)) operations and 8m·n bytes for n rows and m landmarks.
func leverage(c choice) (*matrix.Dense, error) {
	n := c.sample.Len()
	stream := random.New(c.seed, "feature.landmarks.leverage")
	perm := stream.Perm(n)
	many := math.Log(float64(max(c.m, 3))) // how many times a row's score it is drawn with
	size := n
	for size > 2*c.m {
		size = (size + 1) / 2
	}
	// Half of the rows of the current level were scored before, and each was kept
	// with its probability.
	kept, chance := slices.Clone(perm[:min(c.m, size)]), []float64{}
	for range kept {
		chance = append(chance, float64(len(kept))/float64(size))
	}
	for {
		scores, err := c.scores(perm[:size], kept, chance, many)
		if err != nil {
			return nil, err
		}
		if size == n {
			return gather(c.sample, weightedChoice(perm, scores, c.m, stream)), nil
		}
		kept, chance = kept[:0], chance[:0]
		for t, i := range perm[:size] {
			p := min(1, many*scores[t])
			if stream.Uniform() < p && len(kept) < 2*c.m {
				kept, chance = append(kept, i), append(chance, p)
			}
		}
		if len(kept) == 0 {
			kept, chance = append(kept, perm[0]), append(chance, 1/float64(size))
		}
		size = min(n, 2*size)
	}
}

// scores approximates the leverage scores of rows from those that were kept, each with its
// probability.
func (c choice) scores(rows, kept []int, chance []float64, many float64) ([]float64, error) {
	s := matrix.Rows{Dense: gather(c.sample, kept)}
	pilot, err := gramRows(c.ctx, c.kernel, s, s)
	if err != nil {
		return nil, err
	}
	m := len(kept)
	lambda := ridge(m, pilot, chance, max(1, int(float64(c.m)/(4*many))))
	if !(lambda > 0 && lambda <= math.MaxFloat64) {
		return nil, errNotFinite
	}
	inverse := make([]float64, m*m)
	for i := range m {
		pilot[i*m+i] += lambda * chance[i]
		inverse[i*m+i] = 1
	}
	if !vec.CholeskySolve(c.ctx, m, pilot, m, m, inverse, m) {
		return nil, cmp.Or(c.ctx.Err(), errNotFinite)
	}
	scores := make([]float64, len(rows))
	const step = 512
	product := make([]float64, step*m)
	for i := 0; i < len(rows); i += step {
		part := rows[i:min(i+step, len(rows))]
		x := matrix.Rows{Dense: gather(c.sample, part)}
		k, err := gramRows(c.ctx, c.kernel, x, s)
		if err != nil {
			return nil, err
		}
		vec.GemmNT(len(part), m, m, k, m, inverse, m, product, m)
		for t, kii := range c.kernel.Diagonal(x) {
			scores[i+t] = min(1, max(0, kii-vec.Dot64(k[t*m:][:m], product[t*m:][:m]))/lambda)
		}
	}
	return scores, nil
}

// ridge is λ: the residual trace of the kernel matrix of m rows, each standing for 1/chance rows,
// after k rows chosen by pivoted Cholesky, divided by k.
func ridge(m int, gram, chance []float64, k int) float64 {
	left, factor := make([]float64, m), make([]float64, k*m) // a column of the factor per line
	for i := range m {
		left[i] = gram[i*m+i] / chance[i]
	}
	whole := total(left)
	for r := range min(k, m) {
		p := argmax(left)
		if left[p] <= exhausted*whole {
			break
		}
		column := factor[r*m:][:m]
		for i := range m {
			column[i] = gram[p*m+i] / math.Sqrt(chance[p]*chance[i])
		}
		for q := range r {
			vec.Axpy64(-factor[q*m+p], factor[q*m:][:m], column)
		}
		root := math.Sqrt(left[p])
		for i, v := range column {
			column[i] = v / root
			left[i] = max(0, left[i]-float64(column[i]*column[i]))
		}
		left[p] = 0
	}
	return max(total(left)/float64(k), 1e-12*whole)
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// argmax is the first place of the largest number.
func argmax(x []float64) int {
	at := 0
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// weightedChoice draws m of the items without replacement, one by one, with
// probabilities proportional to the weights of the remaining ones: the first m of independent
// exponential times, each with its weight as rate (Efraimidis and Spirakis 2006).
func weightedChoice(items []int, weights []float64, m int, stream *random.Stream) []int {
	order, time := make([]int, len(items)), make([]float64, len(items))
	for i, w := range weights {
		order[i], time[i] = i, stream.Exponential()/w
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(time[a], time[b]) })
	chosen := make([]int, min(m, len(items)))
	for i := range chosen {
		chosen[i] = items[order[i]]
	}
	slices.Sort(chosen)
	return chosen
}
