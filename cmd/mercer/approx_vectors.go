package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"mercer/approx"
	"mercer/feature"
	"mercer/report"
)

// vectorLine says how the coordinates of projection vectors that are sums of T terms depend on one
// another; T is 0 of vectors with independent coordinates, for comparison. Means over the seeds.
type vectorLine struct {
	Map         string  `json:"map"`
	T           int     `json:"t"`
	OfMap       bool    `json:"of_map"` // the t of the map that was measured
	Vectors     int     `json:"vectors"`
	Dimensions  int     `json:"dimensions"`  // of a row
	Coordinates int     `json:"coordinates"` // of a vector
	Correlation float64 `json:"mean_abs_correlation"`
	Disjoint    float64 `json:"distance_correlation"`        // of pairs without a common factor
	Common      float64 `json:"distance_correlation_common"` // of pairs with common factors
}

// So many projection vectors are drawn, of rows of up to so many dimensions: the papers' figures have
// as many, and how two coordinates depend on one another does not depend on how many others there are.
const vectorsDrawn, vectorDimensions = 500, 5

// mostCoordinates bounds the coordinates of a vector, of which all pairs are looked at.
const mostCoordinates = 128

// checkVectors says whether the coordinates of a map's projection vectors can be looked at.
func checkVectors(cfg feature.Config) (ok bool, err error) {
	if cfg.Map != "pk-rp" && cfg.Map != "d2pk-rp" {
		return false, nil
	}
	if cfg.Map == "pk-rp" && (cfg.Entries == "sparse" || cfg.Sparsity != 0) {
		return false, usagef("--correlation: the projection vectors of pk-rp are drawn with normal entries; leave --entries and --sparsity out")
	}
	if math.Pow(2, float64(cfg.Kernel.Degree)) > mostCoordinates {
		return false, usagef("--correlation: a projection vector of degree %d has more than %d coordinates for 2 dimensions; give a smaller --degree", cfg.Kernel.Degree, mostCoordinates)
	}
	return true, nil
}

// vectors looks at the projection vectors of the maps that have some.
func (a *approximation) vectors(candidates []approx.Candidate) []vectorLine {
	var list []vectorLine
	for _, c := range candidates {
		cfg := c.Config
		if ok, err := checkVectors(cfg); !ok || err != nil {
			continue
		}
		own, d := cfg.T, vectorDimensions
		if own == 0 && cfg.Map == "d2pk-rp" {
			own = 2
		}
		own = max(own, 1)
		for cfg.Map == "pk-rp" && math.Pow(float64(d), float64(cfg.Kernel.Degree)) > mostCoordinates {
			d--
		}
		terms := []int{0, 1, 2, 4, 10, 30, own}
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			l := vectorLine{Map: cfg.Map, T: t, OfMap: t == own, Vectors: vectorsDrawn, Dimensions: d}
			for s := range a.opt.Seeds {
				seed := a.cfg.Seed + uint64(s)
				var v approx.ProjectionVectors
				if cfg.Map == "d2pk-rp" {
					sparsity := cfg.Sparsity
					if sparsity == 0 {
						sparsity = 3
					}
					v = approx.QuadraticVectors(vectorsDrawn, d, t, sparsity, seed)
				} else {
					v = approx.TensorVectors(vectorsDrawn, d, cfg.Kernel.Degree, t, seed)
				}
				n := float64(a.opt.Seeds)
				e := v.Dependence()
				l.Coordinates = v.X.Cols
				l.Correlation, l.Disjoint, l.Common = l.Correlation+e.Correlation/n, l.Disjoint+e.Disjoint/n, l.Common+e.Common/n
			}
			list = append(list, l)
		}
	}
	return list
}

// terms is how a line calls its vectors.
func (l *vectorLine) terms() string {
	switch {
	case l.T == 0:
		return "independent"
	case l.OfMap:
		return strconv.Itoa(l.T) + ", as measured"
	}
	return strconv.Itoa(l.T)
}

func printVectors(w io.Writer, lines []vectorLine) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n  coordinates of %d projection vectors: means over pairs of coordinates\n", vectorsDrawn)
	fmt.Fprintf(w, "  %-10s%-18s%14s%12s%22s%19s\n", "map", "terms t", "coordinates", "|corr.|", "distance corr.", "of common factors")
	for i := range lines {
		l := &lines[i]
		name := l.Map
		if i > 0 && lines[i-1].Map == name {
			name = ""
		}
		fmt.Fprintf(w, "  %-10s%-18s%14d%12s%22s%19s\n", name, l.terms(), l.Coordinates, percentText(l.Correlation), percentText(l.Disjoint), percentText(l.Common))
	}
}

func vectorTable(lines []vectorLine) *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("Coordinates of %d projection vectors: means over pairs of coordinates. Those with common factors depend on one another; sums of more terms hide it.", vectorsDrawn),
		Columns: []report.Column{{Name: "map"}, {Name: "terms t"}, {Name: "coordinates", Number: true}, {Name: "|correlation|", Number: true},
			{Name: "distance correlation", Number: true}, {Name: "of common factors", Number: true}}}
	for i := range lines {
		l := &lines[i]
		t.Rows = append(t.Rows, []string{l.Map, l.terms(), strconv.Itoa(l.Coordinates), percentText(l.Correlation), percentText(l.Disjoint), percentText(l.Common)})
	}
	return t
}
