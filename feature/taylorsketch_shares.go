package feature

import (
	"math"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// How the features of [TaylorSketch] are shared out among the terms of the series.

// taylorShare is a sketch to be: of one term, with m features, which stands for others with probability q.
type taylorShare struct {
	degree, m int
	q         float64
}

// taylorPair has, of two rows, s = (ρ‖u‖‖v‖)², t = ρ u·v and the factor f of squares of estimates, ρ = γ and f = 1 for exp,
// ρ = 2γ and f = exp(-2γ‖u‖²-2γ‖v‖²) for rbf.
type taylorPair struct{ s, t, f float64 }

const (
	taylorPairCount = 200  // pairs of rows that decide, a tenth of them of a row and itself: near rows matter most
	longestTerm     = 100. // longer ρ‖u‖‖v‖ count as this: nothing approximates them
	mostTaylor      = 24   // terms with features of their own, at most
)

// taylorPairs draws pairs of rows of a sample, the same ones for every seed of the map.
func taylorPairs(cfg Config, sample matrix.Rows, centre []float64) []taylorPair {
	r := random.New(0, "feature.taylorsketch.pairs")
	rho := taylorRoot(cfg.Kernel)
	rho *= rho
	pairs := make([]taylorPair, taylorPairCount)
	u, v := make([]float64, len(centre)), make([]float64, len(centre))
	some := false
	for p := range pairs {
		clear(u)
		addRow(u, sample, r.Intn(sample.Len()))
		if copy(v, u); p%10 > 0 {
			clear(v)
			addRow(v, sample, r.Intn(sample.Len()))
		}
		uu, vv, uv := 0.0, 0.0, 0.0
		for j, c := range centre {
			a, b := u[j]-c, v[j]-c
			uu, vv, uv = uu+float64(a*a), vv+float64(b*b), uv+float64(a*b)
		}
		length := rho * math.Sqrt(uu) * math.Sqrt(vv)
		shrink := min(1, longestTerm/max(length, longestTerm))
		pairs[p] = taylorPair{s: length * shrink * length * shrink, t: rho * uv * shrink, f: 1}
		if cfg.Kernel.Kind() == kernel.RBF {
			pairs[p].f = math.Exp(-rho * (uu + vv))
		}
		some = some || pairs[p].s*pairs[p].f > 0
	}
	if !some { // rows that are all alike, or infinitely far apart, say nothing
		return []taylorPair{{s: 1, t: 0.5, f: 1}}
	}
	return pairs
}

// taylorCosts are means over pairs: v[n] is D_n times the variance of term n, m[n] its second moment without the sketch's
// variance, and rest[n] the square of the sum of the terms above n.
type taylorCosts struct{ v, m, rest []float64 }

// newTaylorCosts leaves out Σu_i²v_i² of the sketches' variance, which is the smaller part of it.
func newTaylorCosts(pairs []taylorPair) taylorCosts {
	series, _ := kernel.Kernel{Name: kernel.Exp.Name(), Gamma: 1}.Series(mostTerms)
	count := len(series.Powers)
	c := taylorCosts{make([]float64, count), make([]float64, count), make([]float64, count)}
	for _, p := range pairs {
		share := p.f / float64(len(pairs))
		square := p.t * p.t
		for i, term := range series.Powers {
			n, a2 := float64(term.N), term.A*term.A
			moment := math.Pow(square, n)
			c.v[i] += share * a2 * (math.Pow(p.s, n) + math.Pow(2*square, n) - 2*moment)
			c.m[i] += share * a2 * moment
		}
		sum := 0.0
		for i := count - 1; i >= 0; i-- {
			c.rest[i] += share * sum * sum
			sum += series.Powers[i].A * math.Pow(p.t, float64(i))
		}
	}
	return c
}

// weights are the roots of the second moments of the terms above p, for a sketch with m features, and their sum.
func (c taylorCosts) weights(p, m int) (w []float64, sum float64) {
	for n := p + 1; n < len(c.v); n++ {
		w = append(w, math.Sqrt(max(0, c.v[n]/float64(m)+c.m[n])))
		sum += w[len(w)-1]
	}
	return w, sum
}

// tail is the variance of the sketch for the terms above p.
func (c taylorCosts) tail(p, m int) float64 {
	_, sum := c.weights(p, m)
	return max(0, sum*sum-c.rest[p])
}

// shareTaylor returns the shares with the least variance. The balanced sketch of term 1 is exact with a feature for each of the
// dim dimensions, which is tried as well.
func shareTaylor(cfg Config, dim int, pairs []taylorPair) []taylorShare {
	c := newTaylorCosts(pairs)
	var best []int // features of the terms from 1 on, and last those of the sketch for the rest
	least := math.Inf(1)
	for p := min(1, cfg.Features-2); p <= min(mostTaylor, cfg.Features-2); p++ {
		for _, exact := range []int{0, dim} {
			if exact > 0 && (cfg.Hash == "pairwise" || p == 0 || exact > cfg.Features-1-p) {
				continue
			}
			m := c.shared(p, cfg.Features-1, exact)
			variance := c.tail(p, m[p])
			for n := 1; n <= p; n++ {
				if n > 1 || exact == 0 {
					variance += c.v[n] / float64(m[n-1])
				}
			}
			if variance < least {
				best, least = m, variance
			}
		}
	}
	shares := []taylorShare{{0, 1, 1}}
	p := len(best) - 1
	for n := 1; n <= p; n++ {
		shares = append(shares, taylorShare{n, best[n-1], 1})
	}
	degree, q := c.drawDegree(p, best[p], random.New(cfg.Seed, "feature.taylorsketch.degree"))
	return append(shares, taylorShare{degree, best[p], q})
}

// shared shares features out among the terms 1 to p and the rest: each has one, and whichever gains most for each of them
// doubles its own, until nothing can be doubled. Term 1, which is not transformed, takes what is left. If first is not 0, it has
// so many to begin with, and does not double them.
func (c taylorCosts) shared(p, features, first int) []int {
	m := make([]int, p+1)
	for n := range m {
		m[n] = 1
	}
	features -= len(m)
	if first > 0 {
		m[0], features = first, features-first+1
	}
	for {
		best, most := -1, -1.0
		for n, size := range m {
			if size > features || n == 0 && first > 0 {
				continue
			}
			gain := 0.0
			if n < p {
				gain = c.v[n+1] / float64(2*size*size)
			} else {
				gain = (c.tail(p, size) - c.tail(p, 2*size)) / float64(size)
			}
			if gain > most {
				best, most = n, gain
			}
		}
		if best < 0 {
			break
		}
		features -= m[best]
		m[best] *= 2
	}
	m[0] += features
	return m
}

// drawDegree draws N > p for a sketch with m features, and returns its probability. A tenth of that falls by halves, so
// that no term is left out whatever the sample was.
func (c taylorCosts) drawDegree(p, m int, r *random.Stream) (n int, q float64) {
	w, sum := c.weights(p, m)
	u := r.Uniform()
	falling := 1.0
	for i := range w {
		if falling /= 2; i == len(w)-1 {
			falling *= 2
		}
		if q = falling; sum > 0 {
			q = 0.9*w[i]/sum + 0.1*falling
		}
		if u < q || i == len(w)-1 {
			return p + 1 + i, q
		}
		u -= q
	}
	panic("feature: taylorsketch: there are no terms")
}
