package search

import (
	"slices"
	"testing"
)

// A curve of a small table begins with as many rows as the default takes to choose by.
func TestCurvesOfFewRows(t *testing.T) {
	for most, want := range map[int][]int{48: {20, 48}, 12: {12}, 400: {50, 100, 200, 400}} {
		if got, err := curveRows(nil, most, "x"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows: points of %v, %v; want %v", most, got, err, want)
		}
	}
}
