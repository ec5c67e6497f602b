package random

import "slices"

// Pick is the first index at which the cumulative weights exceed a share u of their sum.
func Pick(cumulated []float64, u float64) int {
	at := u * cumulated[len(cumulated)-1]
	i, found := slices.BinarySearch(cumulated, at)
	if found {
		for i < len(cumulated)-1 && cumulated[i] <= at {
			i++
		}
	}
	return min(i, len(cumulated)-1)
}
