package cli

import (
	"math"
	"slices"

	"mercer/feature"
	"mercer/internal/app/render"
	"mercer/internal/search/approx"
)

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
	p, t, s, ok := approx.VectorOptions(cfg)
	if !ok {
		return false, nil
	}
	if p > mostFactors {
		return false, usagef("--correlation: coordinates of projection vectors of degree %d are products of so many random numbers, "+
			"of which %d vectors tell nothing; give a --degree of %d or less", p, vectorsDrawn, mostFactors)
	}
	if tooSparse(p, t, s) {
		return false, usagef("--correlation: a product of %d entries of sparsity %g is 0 but once in %.3g, so %d vectors of %s show too few; "+
			"give a smaller --sparsity, a larger --t, or --entries normal", p, s, math.Pow(s, float64(p)), vectorsDrawn, cfg.Map)
	}
	return true, nil
}

// checkCorrelation fails where no candidate has projection vectors to look at.
func checkCorrelation(candidates []approx.Candidate) error {
	found := false
	for _, c := range candidates {
		ok, err := checkVectors(c.Config)
		if err != nil {
			return err
		}
		found = found || ok
	}
	if !found {
		return usagef("--correlation: of the maps pk-rp and d2pk-rp, of the poly kernel, and none of them is measured")
	}
	return nil
}

// tooSparse says whether sums of t products of p entries of sparsity s are nearly always 0.
func tooSparse(p, t int, s float64) bool {
	return s > 1 && vectorsDrawn*float64(t) < fewestNonZeros*math.Pow(s, float64(p))
}

// vectors looks at the projection vectors of the maps that have some.
func (a *approximation) vectors(candidates []approx.Candidate) []render.VectorLine {
	var list []render.VectorLine
	for _, c := range candidates {
		cfg := c.Config
		if ok, err := checkVectors(cfg); !ok || err != nil {
			continue
		}
		p, own, s, _ := approx.VectorOptions(cfg)
		terms := []int{0, 1, 2, 4, 10, 30, own}
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			if t > 0 && tooSparse(p, t, s) {
				continue
			}
			l := render.VectorLine{Map: cfg.Map, T: t, OfMap: t == own, Vectors: vectorsDrawn, Dimensions: vectorDimensions, Sparsity: s}
			for k := range a.opt.Seeds {
				v := approx.VectorsOf(cfg, vectorsDrawn, vectorDimensions, t, a.cfg.Seed+uint64(k))
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
