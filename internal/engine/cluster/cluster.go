// Package cluster finds clusters of rows by k-means: seeds of k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's
// iteration. On features z(x) that is kernel k-means in time linear in the rows.
//
// O(nkd) operations an iteration, in matrix products, and 24n bytes beside the rows.
package cluster

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Options say how KMeans searches.
type Options struct {
	// Clusters is k. Starts is the number of seedings, of which the best is kept, 0 meaning 1.
	Clusters, Starts int

	// Iterations bounds those of each start, 0 meaning 100.
	Iterations int

	// Seed chooses the random streams.
	Seed uint64

	// Progress, if not nil, is told the number of starts that are done.
	Progress func(starts int)
}

// Result are clusters.
type Result struct {
	// Centres are the means of the clusters. There are fewer than k if there are fewer different rows.
	Centres *matrix.Dense

	// Nearest is the cluster of each row.
	Nearest []int

	// Inertia is the weighted sum of the squared distances to the nearest centres.
	Inertia float64

	// Iterations is their number in the best start.
	Iterations int
}

// KMeans clusters the rows of x, which it takes over and changes. weights are those of the rows, 0 or more; nil
// means 1. The result depends on the seed, not on the number of threads.
func KMeans(ctx context.Context, x *matrix.Dense, weights []float64, opt Options) (*Result, error) {
	if opt.Clusters < 1 || opt.Clusters > x.Rows {
		return nil, fmt.Errorf("%d clusters of %d rows: there must be at least 1, and no more than rows", opt.Clusters, x.Rows)
	}
	if weights != nil {
		sum := 0.0
		for i, w := range weights {
			if !(w >= 0) || math.IsInf(w, 0) {
				return nil, fmt.Errorf("row %d has the weight %g; weights are 0 or more", i, w)
			}
			sum += w
		}
		if sum == 0 {
			return nil, fmt.Errorf("all weights are 0")
		}
	}
	most := opt.Iterations
	if most == 0 {
		most = 100
	}
	c := New(x, weights)
	stream := random.New(opt.Seed, "cluster.kmeans")
	var best *Result
	for start := range max(opt.Starts, 1) {
		centres := c.Seeds(ctx, opt.Clusters, stream)
		objective, err := c.Lloyd(ctx, centres, most, 1e-7)
		if err != nil {
			return nil, err
		}
		if sum := c.assign(ctx, centres); best == nil || sum < best.Inertia {
			best = &Result{Centres: centres, Nearest: append([]int(nil), c.nearest...), Inertia: sum, Iterations: len(objective)}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			opt.Progress(start + 1)
		}
	}
	c.Uncentred(best.Centres)
	return best, nil
}
