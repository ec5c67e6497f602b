package feature

import (
	"math"

	"mercer/internal/engine/cluster"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// projectedDims is the number of dimensions in which rows are clustered by random projections: distances are kept within some √(2/64), 18 %, and
// sums of squares of a cluster, which are means of many, much better.
const projectedDims = 64

// projectedMeans makes landmarks of the means of clusters that k-means finds in random projections of the rows, for rows of many dimensions (Kumar 2010; Boutsidis, Zouzias
// and Drineas 2010). Entries are ±1/√r (Achlioptas 2003). Rows of at most projectedDims dimensions are clustered as they are.
//
// O(nd r) operations once and O(nmr) an iteration, r = projectedDims, where kmeans has O(nmd).
func projectedMeans(c choice) (*matrix.Dense, error) {
	d := c.sample.Dim()
	if d <= projectedDims {
		return kmeans(c)
	}
	x := gather(c.sample, sampled(c.sample, c.m, c.seed))
	stream := random.New(c.seed, "feature.landmarks.projected")
	signs := matrix.NewDense(d, projectedDims)
	for i := range signs.Data {
		signs.Data[i] = float32(math.Copysign(1/math.Sqrt(projectedDims), stream.Uniform()-0.5))
	}
	small := matrix.NewDense(x.Rows, projectedDims)
	vec.Gemm32(x.Rows, projectedDims, d, x.Data, x.Stride, signs.Data, signs.Stride, small.Data, small.Stride)
	found, err := cluster.KMeans(c.ctx, small, nil, cluster.Options{Clusters: c.m, Iterations: mostLloyd, Seed: c.seed})
	if err != nil {
		return nil, err
	}
	return means(x, found.Nearest, found.Centres.Rows), nil
}

// means are the means of the rows of each cluster that has any.
func means(x *matrix.Dense, nearest []int, clusters int) *matrix.Dense {
	sums, counts := make([]float64, clusters*x.Cols), make([]float64, clusters)
	for i, k := range nearest {
		counts[k]++
		for j, v := range x.Row(i) {
			sums[k*x.Cols+j] += float64(v)
		}
	}
	centres := matrix.NewDense(clusters, x.Cols)
	used := 0
	for k, n := range counts {
		if n == 0 {
			continue
		}
		row := centres.Row(used)
		for j := range row {
			row[j] = float32(sums[k*x.Cols+j] / n)
		}
		used++
	}
	centres.Rows = used
	return centres
}
