package tune

import (
	"strconv"
	"strings"
)

// atEnds returns the settings of a candidate whose value is the smallest or the largest of three or more
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
