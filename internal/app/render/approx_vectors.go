package render

import (
	"fmt"
	"io"
	"strconv"

	"mercer/internal/engine/report"
)

// VectorLine says how the coordinates of projection vectors that are sums of T terms depend on one
// another; T is 0 of vectors with independent coordinates, for comparison. Means over the seeds.
type VectorLine struct {
	Map         string  `json:"map"`
	T           int     `json:"t"`
	OfMap       bool    `json:"of_map"` // the t of the map that was measured
	Vectors     int     `json:"vectors"`
	Dimensions  int     `json:"dimensions"`  // of a row
	Coordinates int     `json:"coordinates"` // of a vector that were looked at
	Sparsity    float64 `json:"sparsity"`    // of the entries, 0 of normal ones
	Correlation float64 `json:"mean_abs_correlation"`
	Disjoint    float64 `json:"distance_correlation"`        // of pairs without a common factor
	Common      float64 `json:"distance_correlation_common"` // of pairs with common factors
}

// name is how a line calls the map.
func (l *VectorLine) name() string {
	if l.Sparsity > 0 {
		return fmt.Sprintf("%s, s %g", l.Map, l.Sparsity)
	}
	return l.Map
}

// terms is how a line calls its vectors.
func (l *VectorLine) terms() string {
	switch {
	case l.T == 0:
		return "independent"
	case l.OfMap:
		return strconv.Itoa(l.T) + ", as measured"
	}
	return strconv.Itoa(l.T)
}

// vectorsText writes how the coordinates of projection vectors depend on one another.
func vectorsText(w io.Writer, lines []VectorLine) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n  coordinates of %d projection vectors: means over pairs of coordinates\n", lines[0].Vectors)
	fmt.Fprintf(w, "  %-16s%-18s%14s%12s%22s%19s\n", "map", "terms t", "coordinates", "|corr.|", "distance corr.", "of common factors")
	for i := range lines {
		l := &lines[i]
		name := l.name()
		if i > 0 && lines[i-1].name() == name {
			name = ""
		}
		fmt.Fprintf(w, "  %-16s%-18s%14d%12s%22s%19s\n", name, l.terms(), l.Coordinates, percentText(l.Correlation), percentText(l.Disjoint),
			percentText(l.Common))
	}
}

// vectorTable is vectorsText for a page.
func vectorTable(lines []VectorLine) *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("Coordinates of %d projection vectors: means over pairs of coordinates. Those with "+
		"common factors depend on one another; sums of more terms hide it.", lines[0].Vectors),
		Columns: []report.Column{{Name: "map"}, {Name: "terms t"}, {Name: "coordinates", Number: true}, {Name: "|correlation|", Number: true},
			{Name: "distance correlation", Number: true}, {Name: "of common factors", Number: true}}}
	for i := range lines {
		l := &lines[i]
		t.Rows = append(t.Rows, []string{l.name(), l.terms(), strconv.Itoa(l.Coordinates), percentText(l.Correlation),
			percentText(l.Disjoint), percentText(l.Common)})
	}
	return t
}
