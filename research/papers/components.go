package papers

import (
	"context"
	"fmt"
	"math"

	"mercer/internal/engine/vec"
	"mercer/internal/solve/learn"
	"mercer/matrix"
)

// components turns features into their first d principal components (L12, algorithm 2), of the training rows. There are
// fewer rows here than features, so they are computed from products of rows: with the eigenvectors u of
// the centred Gram matrix of the training rows, and its eigenvalues λ, the directions are (Z - 1z̄ᵀ)ᵀu/√λ. It
// takes 32n² bytes for n rows. If there are no more than d directions, the features are left unchanged: for a machine
// with a free intercept that is equivalent.
func components(z split, d int) (split, error) {
	train := z.train.x.Dense
	n := train.Rows
	if n-1 <= d || train.Cols <= d {
		return z, nil
	}
	k := products(train)
	means, mean := make([]float64, n), 0.0
	for i := range n {
		for _, v := range k[i*n : (i+1)*n] {
			means[i] += v / float64(n)
		}
		mean += means[i] / float64(n)
	}
	for i := range n {
		for j := range n {
			k[i*n+j] += mean - means[i] - means[j]
		}
	}
	values := make([]float64, n)
	kept := 0
	if !vec.EigenSymTop(context.Background(), n, k, n, values, func(ascending []float64) int {
		for kept < d && ascending[n-1-kept] > 1e-10*ascending[n-1] {
			kept++
		}
		return kept
	}) {
		return z, fmt.Errorf("the products of %d rows have no eigenvalues", n)
	}
	// Row r of k is the vector of values[n-kept+r].
	alpha := matrix.NewDense(n, kept)
	for r := range kept {
		c := kept - 1 - r // the largest first
		for i, v := range k[r*n : (r+1)*n] {
			alpha.Data[i*kept+c] = float32(v / math.Sqrt(values[n-kept+r]))
		}
	}
	directions := &learn.Linear{W: matrix.NewDense(train.Cols, kept), B: make([]float64, kept)}
	vec.GemmTN32(train.Cols, kept, n, train.Data, train.Stride, alpha.Data, kept, directions.W.Data, kept)
	parts := []*labelled{&z.train, &z.test}
	for i, part := range parts {
		c := matrix.NewDense(part.x.Len(), kept)
		directions.Scores(c, part.x)
		if i == 0 { // those of the mean row are 0
			for r := range n {
				for j, v := range c.Row(r) {
					directions.B[j] -= float64(v) / float64(n)
				}
			}
			directions.Scores(c, part.x)
		}
		part.x = matrix.Rows{Dense: c}
	}
	return z, nil
}
