package learn

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/internal/solve/moments"
)

// LambdaBy are the ways to choose λ, with descriptions.
//
// Held-out and folds solve for every λ that they try by Cholesky, the others for all λ at
// once from one eigendecomposition H = UDUᵀ, which takes as long as 20 to 50 Cholesky
// factorisations. Only loo reads the rows again.
func LambdaBy() (names, about []string) {
	for _, r := range lambdaRoutes {
		names, about = append(names, r[0]), append(about, r[1])
	}
	return names, about
}

var lambdaRoutes = [][2]string{
	{"auto", "folds for fewer than 20,000 rows and up to 2,048 features, else held-out"},
	{"given", "λ as it is given, also 0"},
	{"trace", "λ as it is given times tr(H)/D, the features' mean sum of squares around their means"},
	{"held-out", "least error on a tenth of the rows"},
	{"folds", "least error over five folds"},
	{"gcv", "least generalised cross-validation error"},
	{"loo", "least leave-one-out error, in a second pass over the rows"},
	{"evidence", "largest likelihood of the targets under a normal prior of the weights"},
}

// Folds is how many statistics "folds" needs.
const Folds = 5

// AutoLambda is what "auto" stands for with n rows and d features: the cheapest way that is
// sound. A tenth of many rows is enough to choose λ; with fewer rows all are needed.
// (On real data gcv, which costs no more than folds, prefers too small a λ if some
// rows have much more leverage than others.)
func AutoLambda(n, d int) string {
	if n < 20000 && d <= 2048 {
		return "folds"
	}
	return "held-out"
}

// Parts is how many statistics of disjoint sets of rows a way to choose λ needs.
func Parts(by string) int {
	switch by {
	case "held-out":
		return 2
	case "folds":
		return Folds
	}
	return 1
}

// The path runs over λ = tr(H)/D·10^e. A search starts at pathStart, goes downhill in steps of
// ten until the error rises, and then tries the two half steps beside the best: the error as
// a function of λ has one valley, so that a few factorisations find its bottom. Below pathLow
// the rounding of float32 features is larger than λ.
const (
	pathStart = -3.0
	pathLow   = -9.0
	pathHigh  = 4.0
	pathStep  = 0.5
)

// unit is tr(H)/D, the scale of λ; 1 if no feature varies.
func unit(s *moments.Moments) float64 {
	t := 0.0
	for i := range s.D {
		t += s.H[i*s.D+i]
	}
	if t <= 0 {
		return 1
	}
	return t / float64(s.D)
}

// search walks the path of m downhill, or all of it if that was requested, and sets the
// report's λ and path. An error of judge means that a λ cannot be fitted.
func (f *ridgeFit) search(m *moments.Moments, judge func(lambda float64) (float64, error)) error {
	scale := unit(m)
	tried := map[float64]float64{} // exponent → error
	try := func(e float64) float64 {
		if err, ok := tried[e]; ok {
			return err
		}
		tried[e] = math.Inf(1)
		if v, err := judge(scale * math.Pow(10, e)); err == nil && v-v == 0 {
			tried[e] = v
		}
		return tried[e]
	}
	best := pathStart
	if f.opt.Path {
		for e := pathLow; e <= pathHigh; e += pathStep {
			if try(e) < try(best) {
				best = e
			}
		}
	} else {
		for _, step := range []float64{-1, 1} {
			for e := best + step; e >= pathLow && e <= pathHigh && try(e) < try(best); e += step {
				best = e
			}
			if best != pathStart {
				break
			}
		}
		for _, e := range []float64{best - pathStep, best + pathStep} {
			if try(e) < try(best) {
				best = e
			}
		}
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if math.IsInf(try(best), 1) {
		return fmt.Errorf("no λ from %.2g to %.2g makes the system of %d features positive definite; scale the inputs, or give a larger λ",
			scale*math.Pow(10, pathLow), scale*math.Pow(10, pathHigh), m.D)
	}
	r := f.report
	r.Lambda = scale * math.Pow(10, best)
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		if !math.IsInf(tried[e], 1) {
			r.Path = append(r.Path, PathPoint{Lambda: scale * math.Pow(10, e), Error: tried[e], Chosen: e == best})
		}
	}
	return nil
}

// judge returns the moments that λ is searched with, by what λ grows for all rows, and the error of a λ: that on the second
// of two parts, or of each part under the fit of all others, whose moments are the total minus its own. There is
// none if parts have too few rows.
func (f *ridgeFit) judge(parts []*moments.Stats) (m *moments.Moments, growth float64, judge func(lambda float64) (float64, error)) {
	if len(parts) == 2 {
		m, h := parts[0].Moments(), parts[1].Moments()
		if h.Weight == 0 || m.Weight == 0 {
			return m, 1, nil
		}
		return m, (m.Weight + h.Weight) / m.Weight, func(lambda float64) (float64, error) {
			if err := f.solver.solve(f.ctx, m, lambda); err != nil {
				return 0, err
			}
			return f.solver.heldOut(m.MeanZ, m.MeanY, h) / h.Weight, nil
		}
	}
	total := moments.New(f.solver.d, f.solver.k)
	filled := 0
	for _, p := range parts {
		total.Merge(p)
		if p.Moments().Weight > 0 {
			filled++
		}
	}
	all := total.Moments()
	if filled < 2 {
		return all, 1, nil
	}
	return all, float64(filled) / float64(filled-1), func(lambda float64) (float64, error) {
		sum := 0.0
		for _, p := range parts {
			fold := p.Moments()
			if fold.Weight == 0 {
				continue
			}
			z, y, err := f.solver.solveWithout(f.ctx, all, fold, lambda)
			if err != nil {
				return 0, err
			}
			sum += f.solver.heldOut(z, y, fold)
		}
		return sum / all.Weight, nil
	}
}
