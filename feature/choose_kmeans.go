package feature

import (
	"mercer/internal/engine/cluster"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// kmeans makes landmarks of the centres of clusters (Zhang, Tsang and Kwok, "Improved Nyström
// low-rank approximation and error analysis", 2008, which bounds the kernel's error by the sum
// of squared distances to the centres).
//
// O(nmd) operations an iteration, in matrix products, and 4n(d + 512) bytes for n rows.
func kmeans(c choice) (*matrix.Dense, error) {
	rows := cluster.New(gather(c.sample, sampled(c.sample, c.m, c.seed)), nil)
	centres := rows.Seeds(c.ctx, c.m, random.New(c.seed, "feature.landmarks.kmeans"))
	if _, err := rows.Lloyd(c.ctx, centres, mostLloyd, smallGain); err != nil {
		return nil, err
	}
	rows.Uncentred(centres)
	lowest := c.kernel.Lowest() // which rounding may fall below, although no mean of rows does
	for i := range centres.Rows {
		for j, v := range centres.Row(i) {
			centres.Row(i)[j] = max(lowest, v)
		}
	}
	return centres, nil
}

// mostLloyd bounds the iterations, and smallGain is the relative gain
// at which they stop: landmarks need no more.
const mostLloyd, smallGain = 50, 1e-4

// mostClustered bounds the numbers in the rows to be clustered: 1 GB of them.
const mostClustered = 1 << 28

// sampled chooses rows of a sample: all, unless that takes too much memory.
func sampled(sample matrix.Rows, m int, seed uint64) []int {
	n := sample.Len()
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = i
	}
	if most := max(2*m, mostClustered/sample.Dim()); n > most {
		chosen = random.New(seed, "feature.landmarks.kmeans.rows").Perm(n)[:most]
	}
	return chosen
}
