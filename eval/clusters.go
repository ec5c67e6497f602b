package eval

import (
	"math"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Agreement counts rows by their cluster and their label.
type Agreement struct {
	rows             float64
	cells            map[[2]string]float64
	clusters, labels map[string]float64
}

// Add counts a row.
func (a *Agreement) Add(cluster, label string) {
	if a.cells == nil {
		a.cells, a.clusters, a.labels = map[[2]string]float64{}, map[string]float64{}, map[string]float64{}
	}
	a.rows++
	a.cells[[2]string{cluster, label}]++
	a.clusters[cluster]++
	a.labels[label]++
}

// Rand is the adjusted Rand index (Hubert and Arabie 1985): 1 for the same division of the rows, 0 on average by chance. It is NaN of
// fewer than two rows.
func (a *Agreement) Rand() float64 {
	pairs := func(counts map[string]float64) (sum float64) {
		for _, n := range counts {
			sum += n * (n - 1) / 2
		}
		return sum
	}
	both := 0.0
	for _, n := range a.cells {
		both += n * (n - 1) / 2
	}
	x, y := pairs(a.clusters), pairs(a.labels)
	chance := x * y / (a.rows * (a.rows - 1) / 2)
	if most := (x + y) / 2; most != chance || math.IsNaN(chance) {
		return (both - chance) / (most - chance)
	}
	return 1
}

// Information is the normalised mutual information: that of clusters and labels, by the mean of their entropies.
func (a *Agreement) Information() float64 {
	entropy := func(counts map[string]float64) (h float64) {
		for _, n := range counts {
			h -= n / a.rows * math.Log(n/a.rows)
		}
		return h
	}
	mutual := 0.0
	for at, n := range a.cells {
		mutual += n / a.rows * math.Log(n*a.rows/(a.clusters[at[0]]*a.labels[at[1]]))
	}
	mean := (entropy(a.clusters) + entropy(a.labels)) / 2
	if mean == 0 {
		return 1
	}
	return max(0, mutual/mean)
}

// Label is the label that most rows of a cluster have, and their share.
func (a *Agreement) Label(cluster string) (label string, share float64) {
	most := 0.0
	for at, n := range a.cells {
		if at[0] == cluster && (n > most || n == most && at[1] < label) {
			label, most = at[1], n
		}
	}
	return label, most / a.clusters[cluster]
}

// Silhouette is the mean over rows of (b - a)/max(a, b) (Rousseeuw 1987): a is the mean distance from the rows of the same cluster, b that
// from the rows of the nearest other one; 0 for a row that is alone in its cluster. It is NaN if there is one cluster.
func Silhouette(x *matrix.Dense, cluster []int) float64 {
	n, k := x.Rows, 0
	for _, t := range cluster {
		k = max(k, t+1)
	}
	size := make([]int, k)
	filled := 0
	for _, t := range cluster {
		if size[t]++; size[t] == 1 {
			filled++
		}
	}
	if filled < 2 {
		return math.NaN()
	}
	widths := make([]float64, n)
	vec.Parallel(n, 16, func(lo, hi int) {
		sums := make([]float64, k)
		for i := lo; i < hi; i++ {
			clear(sums)
			a := x.Row(i)
			for j := range n {
				square := 0.0
				for c, v := range x.Row(j) {
					d := float64(v - a[c])
					square += float64(d * d)
				}
				sums[cluster[j]] += math.Sqrt(square)
			}
			own := cluster[i]
			if size[own] == 1 {
				continue
			}
			within, other := sums[own]/float64(size[own]-1), math.Inf(1)
			for t, sum := range sums {
				if t != own && size[t] > 0 {
					other = min(other, sum/float64(size[t]))
				}
			}
			if most := max(within, other); most > 0 {
				widths[i] = (other - within) / most
			}
		}
	})
	sum := 0.0
	for _, w := range widths {
		sum += w
	}
	return sum / float64(n)
}
