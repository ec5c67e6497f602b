package search

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
)

// Rows of a group say the same ten times: the error is that of the groups' means. Rows on their own are groups
// of one.
func TestErrorOfClusters(t *testing.T) {
	s := random.New(5, "clusters")
	var means, all []float64
	var of, own []int
	for c := range 40 {
		v := s.Normal()
		means = append(means, v)
		for range 10 {
			all, of, own = append(all, v), append(of, c), append(own, len(all))
		}
	}
	mean, se := meanError(means)
	if m, e := clusterError(all, of); math.Abs(m-mean) > 1e-12 || math.Abs(e-se) > 1e-12 {
		t.Errorf("%g ± %g, want %g ± %g", m, e, mean, se)
	}
	_, se = meanError(all)
	if _, e := clusterError(all, own); math.Abs(e-se) > 1e-12 {
		t.Errorf("± %g, want %g", e, se)
	}
	if _, e := clusterError(all[:10], of[:10]); e != 0 {
		t.Errorf("one cluster has the error %g", e)
	}
}
