package rfm

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"mercer/internal/engine/random"
)

// Nothing is blended better by weights in steps of a twentieth, but for members that weigh too little; shares
// add up to 1.
func TestBlend(t *testing.T) {
	r := random.New(1, "rfm.blend")
	for _, n := range []int{1, 2, 3} {
		for trial := range 40 {
			const rows, outputs = 60, 2
			targets, weights := make([]float64, rows*outputs), make([]float64, rows)
			for i := range targets {
				targets[i] = r.Normal()
			}
			for i := range weights {
				weights[i] = r.Uniform()
			}
			scores := make([][]float64, n)
			for c := range scores {
				noise := 0.2 + r.Uniform()
				for _, y := range targets {
					scores[c] = append(scores[c], y+noise*r.Normal())
				}
			}
			wrong := func(shares []float64) (sum float64) {
				for i, y := range targets {
					mean := 0.0
					for c, s := range shares {
						mean += s * scores[c][i]
					}
					sum += weights[i/outputs] * (mean - y) * (mean - y)
				}
				return sum
			}
			for most := 1; most <= 3; most++ {
				shares := blend(scores, every(n), targets, weights, outputs, most)
				sum, used := 0.0, 0
				for _, s := range shares {
					sum += s
					if s > 0 {
						used++
						if s < leastWeight && n > 1 {
							t.Errorf("a share of %g", s)
						}
					}
				}
				if math.Abs(sum-1) > 1e-12 || used > most || len(shares) != n {
					t.Errorf("shares %v of at most %d", shares, most)
				}
				// The best of the same members, by brute force.
				least := math.Inf(1)
				grid(n, blendSteps, func(parts []float64) {
					for c, s := range parts {
						if s > 0 && shares[c] == 0 {
							return
						}
					}
					least = min(least, wrong(parts))
				})
				if e := wrong(shares); e > 1.03*least {
					t.Errorf("trial %d: shares %v have the error %g, the best %g", trial, shares, e, least)
				}
			}
		}
	}
	// Members without a use get no share.
	shares := blend([][]float64{{1, 2, 3}, {9, -9, 9}, {1, 2, 3}}, every(3), []float64{1, 2, 3}, []float64{1, 1, 1}, 1, 3)
	if !slices.Equal(shares, []float64{1, 0, 0}) {
		t.Errorf("shares %v", shares)
	}
}

func every(n int) []bool { return slices.Repeat([]bool{true}, n) }

// A member that is not allowed has no weight, however good it is.
func TestBlendOfAllowedMembers(t *testing.T) {
	scores := [][]float64{{1, 2, 3}, {2, 2, 2}, {3, 2, 2}}
	shares := blend(scores, []bool{false, true, true}, []float64{1, 2, 3}, []float64{1, 1, 1}, 1, 3)
	if shares[0] != 0 || math.Abs(shares[1]+shares[2]-1) > 1e-12 {
		t.Errorf("shares %v", shares)
	}
}

// A full metric is averaged if it is better than the best diagonal one by three standard errors, with its weights, and
// without a diagonal one in any case. The standard errors are of those of differences of pairs, by hand.
func TestFullMetricsAreEarned(t *testing.T) {
	r := random.New(1, "rfm.earned")
	const rows, outputs = 400, 2
	targets, weights := make([]float64, rows*outputs), make([]float64, rows)
	for i := range weights {
		weights[i] = 2 * r.Uniform()
	}
	noisy := func(size float64) (scores []float64) {
		for _, y := range targets {
			scores = append(scores, y+size*r.Normal())
		}
		return scores
	}
	poor, good := noisy(2), noisy(1)
	yes, no := 0, 0
	for range 300 {
		full := noisy(0.85 + 0.15*r.Uniform())
		var gains []float64
		for i := range rows {
			g := 0.0
			for o := i * outputs; o < (i+1)*outputs; o++ {
				g += (good[o]-targets[o])*(good[o]-targets[o]) - (full[o]-targets[o])*(full[o]-targets[o])
			}
			gains = append(gains, weights[i]*g)
		}
		mean, deviation := stat.MeanStdDev(gains, nil)
		want := mean > surely*deviation/math.Sqrt(rows)
		if want {
			yes++
		} else {
			no++
		}
		got := earned([]string{"diagonal", "full", "diagonal"}, [][]float64{poor, full, good}, targets, weights, outputs, surely)
		if !slices.Equal(got, []bool{true, want, true}) {
			t.Fatalf("earned %v; %g standard errors better", got, mean/deviation*math.Sqrt(rows))
		}
	}
	if yes < 20 || no < 20 {
		t.Errorf("%d are better by enough, %d are not; the test needs both", yes, no)
	}
	if got := earned([]string{"full", "full"}, [][]float64{poor, good}, targets, weights, outputs, surely); !slices.Equal(got, every(2)) {
		t.Errorf("full metrics alone: %v", got)
	}
	if got := earned([]string{"diagonal", "full"}, [][]float64{good, poor}, targets, weights, outputs, 0); !slices.Equal(got, every(2)) {
		t.Errorf("without a margin: %v", got)
	}
}

// grid calls f with all shares of n in steps.
func grid(n, steps int, f func(parts []float64)) {
	parts := make([]float64, n)
	var next func(c, left int)
	next = func(c, left int) {
		if c == n-1 {
			parts[c] = float64(left) / float64(steps)
			f(parts)
			return
		}
		for take := range left + 1 {
			parts[c] = float64(take) / float64(steps)
			next(c+1, left-take)
		}
	}
	next(0, steps)
}
