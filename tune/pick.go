package tune

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// pick finds the candidate with the best mean, and by "one-se" the simplest of those whose mean is no worse
// than that by more than its standard error (Breiman, Friedman, Olshen and Stone 1984): the fewest
// features or principal components, as which a machine with the kernel itself counts the rows that it is
// trained on or its landmarks; then the lowest degree; among these the learner of the one with
// the best mean, with the strongest penalty, the largest λ or the smallest C; and where all
// that is the same, the best mean. Equal means are told apart by the order of the candidates.
func pick(all []*Candidate, larger bool, rule string) (best, picked *Candidate) {
	better := func(a, b *Candidate) bool {
		if larger {
			return a.Mean > b.Mean
		}
		return a.Mean < b.Mean
	}
	best = all[0]
	for _, c := range all {
		if better(c, best) {
			best = c
		}
	}
	if rule != "one-se" {
		return best, best
	}
	left := slices.DeleteFunc(slices.Clone(all), func(c *Candidate) bool { return math.Abs(c.Mean-best.Mean) > best.SE })
	least := func(of func(c *Candidate) float64) {
		low := math.Inf(1)
		for _, c := range left {
			low = min(low, of(c))
		}
		left = slices.DeleteFunc(left, func(c *Candidate) bool { return of(c) > low })
	}
	least(func(c *Candidate) float64 { return float64(c.Size) })
	least(func(c *Candidate) float64 { return float64(c.Config.Degree) })
	first := left[0]
	for _, c := range left {
		if better(c, first) {
			first = c
		}
	}
	left = slices.DeleteFunc(left, func(c *Candidate) bool {
		return c.Config.Learner != first.Config.Learner || c.Config.LambdaBy != first.Config.LambdaBy
	})
	least(func(c *Candidate) float64 { return -c.Config.Lambda })
	least(func(c *Candidate) float64 { return c.Config.C })
	picked = left[0]
	for _, c := range left {
		if better(c, picked) {
			picked = c
		}
	}
	return best, picked
}

// Text is the values of a candidate in words, in the order of the names.
func (c *Candidate) Text(names []string) string {
	var parts []string
	for _, name := range names {
		if v, ok := c.Values[name]; ok {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}

// atEnds are the settings of a candidate whose value is the smallest or the largest of three or more
// numbers that were tried, so that better ones may lie beyond.
func atEnds(picked *Candidate, all []*Candidate) (names []string) {
	for _, name := range Settings() {
		value, ok := amount(picked.Values[name])
		if !ok {
			continue
		}
		tried := map[float64]bool{}
		below, above := false, false
		for _, c := range all {
			if v, ok := amount(c.Values[name]); ok {
				tried[v] = true
				below, above = below || v < value, above || v > value
			}
		}
		if len(tried) > 2 && below != above {
			names = append(names, name)
		}
	}
	return names
}

// amount is the number in a value of a setting, 1 for the median itself.
func amount(text string) (v float64, ok bool) {
	if text == "median" || text == "scale" {
		return 1, true
	}
	v, err := strconv.ParseFloat(text[strings.IndexByte(text, '*')+1:], 64)
	return v, err == nil
}
