package feature

import (
	"context"
	"math"
	"slices"

	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// kmedoid chooses rows h_j that minimise Σ_i min_j ‖φ(x_i) - φ(h_j)‖², the squared distances
// k(x,x) + k(h,h) - 2k(x,h) in the kernel's own feature space: that is the loss if each row
// is replaced by a landmark, and Nyström's map, which projects onto all of them, loses less.
// (Kumar's tutorial of 2010 lists k-medoid among the ways to choose landmarks.)
//
// The search is FasterPAM (Schubert and Rousseeuw, "Fast and eager k-medoids clustering",
// 2021): starting from seeds like those of k-means++, a row replaces the medoid that it
// can best replace, as soon as that lowers the sum, until there is no such row.
//
// A pass takes O(n²) operations, on n = 4096 rows of the sample, or four for each landmark if
// that is more: 4n² bytes.
func kmedoid(c choice) (*matrix.Dense, error) {
	rows := c.sample
	if most := max(4096, 4*c.m); rows.Len() > most {
		chosen := random.New(c.seed, "feature.landmarks.kmedoid.rows").Perm(rows.Len())[:most]
		slices.Sort(chosen)
		rows = matrix.Rows{Dense: gather(rows, chosen)}
	}
	d2, err := featureDistances(c, rows)
	if err != nil {
		return nil, err
	}
	p := newMedoids(rows.Len(), d2)
	p.seeds(c.m, random.New(c.seed, "feature.landmarks.kmedoid"))
	if err := p.improve(c.ctx); err != nil {
		return nil, err
	}
	slices.Sort(p.medoid)
	return gather(rows, p.medoid), nil
}

// featureDistances returns the matrix of squared distances in the kernel's feature space.
func featureDistances(c choice, x matrix.Rows) ([]float32, error) {
	n := x.Len()
	diagonal := c.kernel.Diagonal(x)
	d2 := make([]float32, n*n)
	const step = 256
	for i := 0; i < n; i += step {
		end := min(i+step, n)
		k, err := gramRows(c.ctx, c.kernel, x.Slice(i, end), x)
		if err != nil {
			return nil, err
		}
		for r := i; r < end; r++ {
			for j, v := range k[(r-i)*n:][:n] {
				d := max(0, diagonal[r]+diagonal[j]-2*v)
				if j == r {
					d = 0
				}
				if d-d != 0 || d > math.MaxFloat32/float64(n) {
					return nil, errNotFinite
				}
				d2[r*n+j] = float32(d)
			}
		}
	}
	return d2, nil
}

// medoids is a state of the search: each row's nearest and second nearest medoid, as
// indices into medoid.
type medoids struct {
	n               int
	d               []float32 // n×n distances
	medoid          []int
	first, second   []int
	dFirst, dSecond []float32
}

func newMedoids(n int, d []float32) *medoids {
	return &medoids{n: n, d: d, first: make([]int, n), second: make([]int, n), dFirst: make([]float32, n), dSecond: make([]float32, n)}
}

// seeds draws the medoids, each with a probability proportional to its distance from the previous ones.
// There are fewer if all other rows coincide with one of them.
func (p *medoids) seeds(m int, stream *random.Stream) {
	p.medoid = []int{stream.Intn(p.n)}
	nearest := slices.Clone(p.d[p.medoid[0]*p.n:][:p.n])
	cumulated := make([]float64, p.n)
	for len(p.medoid) < m {
		sum := 0.0
		for i, v := range nearest {
			sum += float64(v)
			cumulated[i] = sum
		}
		if sum == 0 {
			break
		}
		next := random.Pick(cumulated, stream.Uniform())
		p.medoid = append(p.medoid, next)
		for i, v := range p.d[next*p.n:][:p.n] {
			nearest[i] = min(nearest[i], v)
		}
	}
	for i := range p.n {
		p.near(i)
	}
}

// near finds the nearest two medoids of row i. If there is only one, the second is at infinity.
func (p *medoids) near(i int) {
	p.first[i], p.second[i] = -1, -1
	p.dFirst[i], p.dSecond[i] = math.MaxFloat32, math.MaxFloat32
	row := p.d[i*p.n:][:p.n]
	for t, h := range p.medoid {
		switch d := row[h]; {
		case d < p.dFirst[i] || p.first[i] < 0:
			p.second[i], p.dSecond[i] = p.first[i], p.dFirst[i]
			p.first[i], p.dFirst[i] = t, d
		case d < p.dSecond[i] || p.second[i] < 0:
			p.second[i], p.dSecond[i] = t, d
		}
	}
}

// cost is the sum of the distances to the nearest medoids.
func (p *medoids) cost() float64 {
	sum := 0.0
	for _, v := range p.dFirst {
		sum += float64(v)
	}
	return sum
}

// mostPasses bounds the passes over all rows; a few suffice.
const mostPasses = 20

// improve swaps until no swap of a medoid with a row lowers the cost.
func (p *medoids) improve(ctx context.Context) error {
	m := len(p.medoid)
	if m == p.n {
		return nil
	}
	if m == 1 {
		p.best()
		return nil
	}
	loss, gain := make([]float64, m), make([]float64, m)
	p.losses(loss)
	unchanged := 0 // rows since the last swap
	for range mostPasses {
		for c := range p.n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if unchanged++; unchanged > p.n {
				return nil
			}
			row := p.d[c*p.n:][:p.n]
			if p.dFirst[c] == 0 {
				continue // a medoid, or equal to one
			}
			// The gain of c whichever medoid goes, and the additional gain for each of them.
			copy(gain, loss)
			all := 0.0
			for i, d := range row {
				if d >= p.dSecond[i] {
					continue
				}
				f := p.first[i]
				if d < p.dFirst[i] {
					all += float64(d) - float64(p.dFirst[i])
					gain[f] += float64(p.dFirst[i]) - float64(p.dSecond[i])
				} else {
					gain[f] += float64(d) - float64(p.dSecond[i])
				}
			}
			best := 0
			for t, v := range gain {
				if v < gain[best] {
					best = t
				}
			}
			if change := all + gain[best]; change < -1e-9*p.cost() {
				p.swap(best, c)
				p.losses(loss)
				unchanged = 0
			}
		}
	}
	return nil
}

// best finds the one medoid.
func (p *medoids) best() {
	least := p.cost()
	for c := range p.n {
		sum := 0.0
		for _, v := range p.d[c*p.n:][:p.n] {
			sum += float64(v)
		}
		if sum < least {
			least, p.medoid[0] = sum, c
		}
	}
	for i := range p.n {
		p.near(i)
	}
}

// losses writes the increase in cost if each medoid were removed.
func (p *medoids) losses(loss []float64) {
	clear(loss)
	for i, f := range p.first {
		loss[f] += float64(p.dSecond[i]) - float64(p.dFirst[i])
	}
}

// swap replaces medoid t by row c.
func (p *medoids) swap(t, c int) {
	p.medoid[t] = c
	row := p.d[c*p.n:][:p.n]
	vec.Parallel(p.n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if p.first[i] == t || p.second[i] == t {
				p.near(i)
				continue
			}
			switch d := row[i]; {
			case d < p.dFirst[i]:
				p.second[i], p.dSecond[i] = p.first[i], p.dFirst[i]
				p.first[i], p.dFirst[i] = t, d
			case d < p.dSecond[i]:
				p.second[i], p.dSecond[i] = t, d
			}
		}
	})
}
