package dataset

import (
	"errors"
	"math"
	"slices"

	"mercer/internal/engine/vec"
	"mercer/matrix"
)

const (
	// rankSample is how many rows the scalings by ranks want of a survey: enough that seven lie beyond
	// mostScore on either side.
	rankSample = 10_000

	// maxKnots bounds the knots of a dimension.
	maxKnots = 1000

	// mostScore bounds the normal scores. Beyond it lie 1.4 rows of a thousand.
	mostScore = 3.2

	// softClip is the value that robust scaling tends to, far from the median.
	softClip = 3

	// deviationOfQuartiles is the distance between the quartiles of a normal distribution in deviations.
	deviationOfQuartiles = 1.3489795003921634
)

// Ranks are tables of the scaling "quantile": a function for every dimension that turns values into the
// normal scores of their ranks, linear between knots and constant beyond the first and the last.
type Ranks struct {
	// The knots of dimension j are Knots[Ends[j-1]:Ends[j]], ascending, and so are their Scores. A
	// dimension that does not vary has none, and becomes 0.
	Ends          []int
	Knots, Scores []float64
}

// newRanks makes the tables from a survey. A value has the score Φ⁻¹(p) of p = its mid-rank in the
// sample over the number of rows there: exactly for each value of a dimension that has at most maxKnots
// different ones, otherwise at maxKnots quantiles. fixed says that 0 stays 0: all scores of a dimension
// are less by its score.
func newRanks(s *Summary, fixed bool) *Ranks {
	knots, scores := make([][]float64, s.Dim), make([][]float64, s.Dim)
	eachColumn(s.Sample, s.Dim, func(j int, sorted []float64) {
		knots[j], scores[j] = rankColumn(sorted, s.Columns[j].Min, s.Columns[j].Max)
		if !fixed {
			return
		}
		zero := score(knots[j], scores[j], 0)
		for i := range scores[j] {
			scores[j][i] -= zero
		}
	})
	r := &Ranks{Ends: make([]int, s.Dim)}
	for j := range s.Dim {
		r.Knots = append(r.Knots, knots[j]...)
		r.Scores = append(r.Scores, scores[j]...)
		r.Ends[j] = len(r.Knots)
	}
	return r
}

// rankColumn returns the knots of a sample's sorted values and their scores, none if the dimension does
// not vary. least and most are those of all rows: where only the sample has a single value, they
// are the other knots.
func rankColumn(sorted []float64, least, most float64) (knots, scores []float64) {
	n := float64(len(sorted))
	var ranks []float64
	add := func(v, rank float64) { knots, ranks = append(knots, v), append(ranks, rank) }
	for i := 0; i < len(sorted); {
		end := i + 1
		for end < len(sorted) && sorted[end] == sorted[i] {
			end++
		}
		add(sorted[i], float64(i+end)/2/n)
		i = end
	}
	switch {
	case least == most:
		return nil, nil
	case len(knots) > maxKnots:
		knots, ranks = thinned(sorted)
	}
	if len(knots) == 1 {
		only := knots[0]
		knots, ranks = nil, nil
		if least < only {
			add(least, 0.5/n)
		}
		add(only, 0.5)
		if most > only {
			add(most, 1-0.5/n)
		}
	}
	for _, p := range ranks {
		scores = append(scores, max(-mostScore, min(mostScore, math.Sqrt2*math.Erfinv(2*p-1))))
	}
	return knots, scores
}

// thinned returns the values at maxKnots quantiles and their ranks. A value at several of them has the
// middle of their ranks.
func thinned(sorted []float64) (knots, ranks []float64) {
	first := 0.0
	for i := range maxKnots {
		p := (float64(i) + 0.5) / maxKnots
		v := sorted[int(p*float64(len(sorted)))]
		if last := len(knots) - 1; last >= 0 && knots[last] == v {
			ranks[last] = (first + p) / 2
			continue
		}
		first = p
		knots, ranks = append(knots, v), append(ranks, p)
	}
	return knots, ranks
}

// eachColumn calls body with the sorted values of every dimension of rows, zeros of sparse rows included,
// on several threads.
func eachColumn(x matrix.Rows, dim int, body func(j int, sorted []float64)) {
	n := x.Len()
	var by [][]float64 // of sparse rows: the values of each dimension that are stored
	if x.CSR != nil {
		by = make([][]float64, dim)
		for i := range n {
			idx, val := x.CSR.Row(i)
			for k, j := range idx {
				by[j] = append(by[j], float64(val[k]))
			}
		}
	}
	vec.Parallel(dim, 1, func(lo, hi int) {
		values := make([]float64, n)
		for j := lo; j < hi; j++ {
			clear(values)
			if by != nil {
				copy(values, by[j])
			} else {
				for i := range n {
					values[i] = float64(x.Dense.Row(i)[j])
				}
			}
			slices.Sort(values)
			body(j, values)
		}
	})
}

// of is the score of value v in dimension j.
func (r *Ranks) of(j int, v float64) float64 {
	from := 0
	if j > 0 {
		from = r.Ends[j-1]
	}
	return score(r.Knots[from:r.Ends[j]], r.Scores[from:r.Ends[j]], v)
}

// score is the score of v by the knots of its dimension.
func score(knots, scores []float64, v float64) float64 {
	switch last := len(knots) - 1; {
	case last < 0:
		return 0
	case v <= knots[0]:
		return scores[0]
	case v >= knots[last]:
		return scores[last]
	}
	low, high := 0, len(knots)-1 // knots[low] ≤ v < knots[high]
	for high-low > 1 {
		if middle := (low + high) / 2; v < knots[middle] {
			high = middle
		} else {
			low = middle
		}
	}
	share := (v - knots[low]) / (knots[high] - knots[low])
	return scores[low] + float64(share*(scores[high]-scores[low]))
}

// check says whether these are tables of dim dimensions.
func (r *Ranks) check(dim int) error {
	if len(r.Ends) != dim || len(r.Knots) != len(r.Scores) {
		return errors.New("the tables of the scaling quantile do not have a size that fits")
	}
	from := 0
	for _, end := range r.Ends {
		if end < from || end > len(r.Knots) || end-from == 1 {
			return errors.New("the tables of the scaling quantile end where none can end")
		}
		for i := from; i < end; i++ {
			k, s := r.Knots[i], r.Scores[i]
			if k-k != 0 || !(math.Abs(s) <= 2*mostScore) || i > from && (!(k > r.Knots[i-1]) || s < r.Scores[i-1]) {
				return errors.New("the tables of the scaling quantile are not ascending numbers")
			}
		}
		from = end
	}
	if from != len(r.Knots) {
		return errors.New("the tables of the scaling quantile hold more knots than they tell of")
	}
	return nil
}

// softly bends a scaled value so that it stays within ±softClip: near 0 it is itself.
func softly(u float64) float64 {
	u /= softClip
	if math.Abs(u) > 1e100 { // whose square overflows
		return math.Copysign(softClip, u)
	}
	return softClip * u / math.Sqrt(1+u*u)
}

// quartiles are the median and the distance between the quartiles of sorted values.
func quartiles(sorted []float64) (median, between float64) {
	at := func(p float64) float64 {
		x := p * float64(len(sorted)-1)
		i := int(x)
		if i+1 == len(sorted) {
			return sorted[i]
		}
		return sorted[i] + float64((x-float64(i))*(sorted[i+1]-sorted[i]))
	}
	return at(0.5), at(0.75) - at(0.25)
}
