package hypothesis

import (
	"fmt"
	"math"
)

// Zeros says what Wilcoxon's test does with differences of 0.
type Zeros string

const (
	DropZeros  Zeros = "wilcox" // as Wilcoxon did: they are left out
	PrattZeros Zeros = "pratt"  // they are ranked with the others, and then left out (Pratt 1959)
)

// WilcoxonTest is the outcome of Wilcoxon's signed-rank test.
type WilcoxonTest struct {
	// N is the number of differences that are not 0.
	N int

	// Plus and Minus are the sums of the ranks of positive and of negative differences.
	Plus, Minus float64

	// P is the p-value; Exact says that it is that of the exact distribution. Z is the statistic of the normal
	// approximation, with its continuity correction, 0 where P is exact.
	P     float64
	Exact bool
	Z     float64
}

// exactWilcoxon is the largest number of differences whose exact distribution is computed; its counts are
// integers below 2⁵³.
const exactWilcoxon = 50

// Wilcoxon tests whether paired differences lie symmetrically around 0. Their absolute values are ranked, equal ones
// sharing their mean rank. p is exact for up to 50 differences of which none are 0 or tied, and otherwise that
// of a normal distribution with the variance corrected for ties and a continuity correction of ½. It fails
// where no difference is left, and on differences that are not finite.
func Wilcoxon(differences []float64, zeros Zeros) (*WilcoxonTest, error) {
	if zeros != DropZeros && zeros != PrattZeros {
		return nil, fmt.Errorf("rank: zeros %q is not known; known are %s, %s", zeros, DropZeros, PrattZeros)
	}
	var size []float64
	var sign []float64
	dropped := 0
	for i, d := range differences {
		if d-d != 0 {
			return nil, fmt.Errorf("rank: difference %d is %g, not a finite number", i+1, d)
		}
		if d == 0 {
			dropped++
			if zeros == DropZeros {
				continue
			}
		}
		size, sign = append(size, math.Abs(d)), append(sign, d)
	}
	t := &WilcoxonTest{N: len(differences) - dropped}
	if t.N == 0 {
		return nil, fmt.Errorf("rank: of %d differences none is other than 0", len(differences))
	}
	ranks, ties := ranked(size)
	for i, r := range ranks {
		switch {
		case sign[i] > 0:
			t.Plus += r
		case sign[i] < 0:
			t.Minus += r
		}
	}
	if t.N <= exactWilcoxon && dropped == 0 && ties == 0 {
		t.Exact, t.P = true, signedRankP(t.N, int(min(t.Plus, t.Minus)))
		return t, nil
	}
	n := float64(len(ranks))
	mean, variance := n*(n+1)/4, n*(n+1)*(2*n+1)/24
	if zeros == PrattZeros {
		z := float64(dropped)
		mean -= z * (z + 1) / 4
		variance -= z * (z + 1) * (2*z + 1) / 24
		ties -= z*z*z - z // the zeros' own tie
	}
	variance -= ties / 48
	d := t.Plus - mean
	if d != 0 {
		d -= math.Copysign(0.5, d)
	}
	t.Z = d / math.Sqrt(variance)
	t.P = normalTail(t.Z)
	return t, nil
}

// signedRankP is min(1, 2·P(W ≤ w)) for the sum W of the ranks 1…n that fair coins choose.
func signedRankP(n, w int) float64 {
	count := make([]float64, n*(n+1)/2+1) // subsets by their sum
	count[0] = 1
	for r := 1; r <= n; r++ {
		for s := len(count) - 1; s >= r; s-- {
			count[s] += count[s-r]
		}
	}
	below := 0.0
	for _, c := range count[:w+1] {
		below += c
	}
	return min(1, 2*below/math.Pow(2, float64(n)))
}

// Sign is the p-value of the sign test: how probable wins and losses as unequal as these are where each is as likely
// as the other. Draws do not count; without wins and losses it is 1.
func Sign(wins, losses int) float64 { return binomialHalf(wins, losses) }
