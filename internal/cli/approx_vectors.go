package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"mercer/approx"
	"mercer/feature"
	"mercer/internal/report"
)

// vectorLine says how the coordinates of projection vectors that are sums of T terms depend on one
// another; T is 0 of vectors with independent coordinates, for comparison. Means over the seeds.
type vectorLine struct {
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

// So many projection vectors are drawn, of rows of so many dimensions: the papers' figures have as
// many, and how two coordinates depend on one another does not depend on how many others there are.
const vectorsDrawn, vectorDimensions = 500, 5

// mostFactors bounds the factors of a coordinate: with more, nearly all pairs of coordinates have some
// in common, and one of the vectors is larger than all others together.
const mostFactors = 20

// fewestNonZeros is how many of the vectors have to differ from 0 in a coordinate.
const fewestNonZeros = 5

// checkVectors says whether the coordinates of a map's projection vectors can be looked at.
func checkVectors(cfg feature.Config) (ok bool, err error) {
	if cfg.Map != "pk-rp" && cfg.Map != "d2pk-rp" {
		return false, nil
	}
	p, t, s := vectorOptions(cfg)
	if p > mostFactors {
		return false, usagef("--correlation: coordinates of projection vectors of degree %d are products of so many random numbers, of which %d vectors tell nothing; give a --degree of %d or less", p, vectorsDrawn, mostFactors)
	}
	if tooSparse(p, t, s) {
		return false, usagef("--correlation: a product of %d entries of sparsity %g is 0 but once in %.3g, so %d vectors of %s show too few; give a smaller --sparsity, a larger --t, or --entries normal",
			p, s, math.Pow(s, float64(p)), vectorsDrawn, cfg.Map)
	}
	return true, nil
}

// vectorOptions are the degree of a map's vectors, how many terms they add up, and the sparsity of the
// entries of a term, 0 if they are normal.
func vectorOptions(cfg feature.Config) (p, t int, s float64) {
	p, t, s = cfg.Kernel.Degree, max(cfg.T, 1), cfg.Sparsity
	if cfg.Map == "d2pk-rp" {
		p = 2
		if cfg.T == 0 {
			t = 2
		}
	}
	if s == 0 && (cfg.Map == "d2pk-rp" || cfg.Entries == "sparse") {
		s = 3
	}
	return p, t, s
}

// tooSparse says whether sums of t products of p entries of sparsity s are nearly always 0.
func tooSparse(p, t int, s float64) bool {
	return s > 1 && vectorsDrawn*float64(t) < fewestNonZeros*math.Pow(s, float64(p))
}

// vectors looks at the projection vectors of the maps that have some.
func (a *approximation) vectors(candidates []approx.Candidate) []vectorLine {
	var list []vectorLine
	for _, c := range candidates {
		cfg := c.Config
		if ok, err := checkVectors(cfg); !ok || err != nil {
			continue
		}
		p, own, s := vectorOptions(cfg)
		terms := []int{0, 1, 2, 4, 10, 30, own}
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			if t > 0 && tooSparse(p, t, s) {
				continue
			}
			l := vectorLine{Map: cfg.Map, T: t, OfMap: t == own, Vectors: vectorsDrawn, Dimensions: vectorDimensions, Sparsity: s}
			for k := range a.opt.Seeds {
				seed := a.cfg.Seed + uint64(k)
				var v approx.ProjectionVectors
				if cfg.Map == "d2pk-rp" {
					v = approx.QuadraticVectors(vectorsDrawn, vectorDimensions, t, s, seed)
				} else {
					v = approx.TensorVectors(vectorsDrawn, vectorDimensions, p, t, s, seed)
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

// name is how a line calls the map.
func (l *vectorLine) name() string {
	if l.Sparsity > 0 {
		return fmt.Sprintf("%s, s %g", l.Map, l.Sparsity)
	}
	return l.Map
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
	fmt.Fprintf(w, "  %-16s%-18s%14s%12s%22s%19s\n", "map", "terms t", "coordinates", "|corr.|", "distance corr.", "of common factors")
	for i := range lines {
		l := &lines[i]
		name := l.name()
		if i > 0 && lines[i-1].name() == name {
			name = ""
		}
		fmt.Fprintf(w, "  %-16s%-18s%14d%12s%22s%19s\n", name, l.terms(), l.Coordinates, percentText(l.Correlation), percentText(l.Disjoint), percentText(l.Common))
	}
}

func vectorTable(lines []vectorLine) *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("Coordinates of %d projection vectors: means over pairs of coordinates. Those with common factors depend on one another; sums of more terms hide it.", vectorsDrawn),
		Columns: []report.Column{{Name: "map"}, {Name: "terms t"}, {Name: "coordinates", Number: true}, {Name: "|correlation|", Number: true},
			{Name: "distance correlation", Number: true}, {Name: "of common factors", Number: true}}}
	for i := range lines {
		l := &lines[i]
		t.Rows = append(t.Rows, []string{l.name(), l.terms(), strconv.Itoa(l.Coordinates), percentText(l.Correlation), percentText(l.Disjoint), percentText(l.Common)})
	}
	return t
}
