// Package approx measures how well explicit maps approximate a kernel on given rows: how far
// z(x)·z(y) is from k(x, y) for all pairs of rows, how far the two Gram matrices are from one
// another, how the error falls with the number of features D, and what a row costs; from
// these it finds the cheapest map and D for a given error.
//
// Maps that preserve the kernel's distances but not its inner products ([feature.Centred])
// are measured after centring both Gram matrices at the mean of the rows.
package approx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Rows are the rows on which maps are measured.
type Rows struct {
	// Judge are the rows whose pairs are all compared.
	Judge matrix.Rows

	// Fit are the rows that data-dependent maps are fitted to. They should differ from those of Judge:
	// otherwise a map that keeps rows, such as nystrom, is judged on rows that it has seen.
	Fit matrix.Rows
}

// Candidate is a map without D and the seed.
type Candidate struct {
	// Config has no Seed, and no Features, which are varied.
	Config feature.Config

	// Features are the numbers D to measure, if the map has a configurable D (Sizes). The terms of a
	// histogram map become the largest number that fits in D. There are none for other maps.
	Features []int
}

// Name is the map's name, for chains and sums with those of the steps.
func (c Candidate) Name() string { return nameOf(c.Config) }

func nameOf(cfg feature.Config) string {
	if cfg.Steps == nil {
		if cfg.Map == "" {
			return "rff"
		}
		return cfg.Map
	}
	var steps []string
	for _, s := range cfg.Steps {
		steps = append(steps, nameOf(s))
	}
	return cfg.Map + "(" + strings.Join(steps, ", ") + ")"
}

// Options define how maps are measured. The zero value is a good start.
type Options struct {
	// Seeds is how often each map is drawn; 0 means 5.
	Seeds int

	// Seed is the first seed; 0 means 1. The random numbers of a map depend on it and on D, so that
	// errors at different D are independent.
	Seed uint64

	// Lambda is λ > 0 of the spectral closeness and of effective dimensions; 0 means a thousandth of
	// the trace of K, which means the same for any number of rows.
	Lambda float64

	// MaxBytes bounds the memory that a map may hold; 0 means 16 GiB.
	MaxBytes int64

	// Progress, if not nil, is called with what is being measured and the share of the work that is done.
	Progress func(what string, share float64)
}

func (o Options) withDefaults() (Options, error) {
	if o.Seeds == 0 {
		o.Seeds = 5
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Seeds < 1 {
		return o, fmt.Errorf("approx: seeds is %d; 1 or more are needed", o.Seeds)
	}
	if o.Lambda < 0 || math.IsNaN(o.Lambda) || math.IsInf(o.Lambda, 0) {
		return o, fmt.Errorf("approx: lambda is %g; it must be a positive number", o.Lambda)
	}
	return o, nil
}

// Result is what was measured.
type Result struct {
	Rows  int // judged: n
	Pairs int // of different rows, n(n-1)/2
	Seeds int

	// Curves are the maps with their errors by D, in the order of the candidates.
	Curves []Curve

	// Skipped gives the reasons for candidates that could not be made.
	Skipped []Skipped
}

// Skipped is a map that was left out.
type Skipped struct {
	Map, Reason string
}

// Curve is a map with its errors by D.
type Curve struct {
	Map    string
	Config feature.Config // without Features and Seed

	// Centred means that the map preserves distances and not the kernel's inner
	// products (feature.Centred): all numbers here then compare z(x)·z(y) and k(x, y) after both
	// were centred at the mean of the judged rows.
	Centred bool

	Exact  Exact
	Points []Point // by D, ascending, each with more outputs than the one before

	// Repeated are the numbers of features at which the map had no more outputs than at the last of
	// Points, so that nothing new was measured.
	Repeated []int

	// Rate and RateRel are how fast Point.MeanAbs and Point.MeanRel fall with D; nil if fewer than
	// two numbers of features were measured, or if there is no error.
	Rate, RateRel *Rate
}

// Exact describes the exact Gram matrix K that a map is measured against.
type Exact struct {
	Lambda float64 // 0 if K is 0

	// Dimension is tr K(K+λI)⁻¹, the effective dimension, and StableRank ‖K‖_F²/‖K‖², both of the rows
	// that the spectral closeness is measured on (see Spectral).
	Dimension, StableRank float64
}

// Stat is a mean over the seeds and the standard deviation (n - 1), 0 for one seed.
type Stat struct {
	Mean, SD float64
}

// Point is the measurement of a map with D features. Values that are nil are undefined on these rows.
type Point struct {
	Features int   // D, as asked for where the map takes it
	Outputs  int   // what the map has: fewer where rows of a sample were too few or alike
	Bytes    int64 // that the map holds

	MeanAbs, MaxAbs Stat // see Errors, as the next
	MeanRel, MaxRel *Stat
	Within          Stat

	// MeanSigned is the mean of z(x)·z(y) - k(x, y) over pairs: for an unbiased map it is 0 up to
	// its standard error, SD/√seeds.
	MeanSigned Stat

	// RMS is the root mean square error over pairs and seeds. Its square is the sum of
	// those of Bias, which all draws of the map share, and Spread, the deviation
	// between draws. Bias is corrected for the noise of the mean, and 0 if nothing remains.
	// For a single seed Spread is 0 and everything is Bias.
	RMS, Bias, Spread float64

	RelFrobenius *Stat // ‖K̃-K‖_F/‖K‖_F, with the diagonal
	Distortion   *Stat // see Distortion
	Delta1       *Stat // see Spectral
	Delta2       *Stat
	Dimension    *Stat // tr K̃(K̃+λI)⁻¹

	// PerRow is microseconds per row in batches of all judged rows, OneRow for single
	// rows: medians, averaged over the seeds.
	PerRow, OneRow float64

	// Pairs are up to 2,000 random pairs of different rows under the first seed.
	Pairs []Pair

	runs []run
}

// Pair is the kernel of a pair of rows and its estimate z(x)·z(y).
type Pair struct {
	Exact, Estimate float64
}

// mostRows bounds the rows judged: data on all their pairs are held several times, and cost n²D multiply-adds.
const mostRows = 8000

// Measure measures candidates on rows. A candidate that cannot be made for these rows is
// Result.Skipped, unless none can; then the first reason is the error.
//
// It holds 8n²·(3 for each kernel + 3) and 4nD bytes for n judged rows, beside the map.
func Measure(ctx context.Context, rows Rows, candidates []Candidate, opt Options) (*Result, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	n := rows.Judge.Len()
	if n < 2 {
		return nil, fmt.Errorf("approx: %d rows have no pairs; 2 or more are needed", n)
	}
	if n > mostRows {
		return nil, fmt.Errorf("approx: %d rows; give %d at most, of which there are %d pairs", n, mostRows, mostRows*(mostRows-1)/2)
	}
	if len(candidates) == 0 {
		return nil, errors.New("approx: no maps are given")
	}
	m := newMeter(rows, opt)
	r := &Result{Rows: n, Pairs: n * (n - 1) / 2, Seeds: opt.Seeds}
	total, done := 0, 0
	for _, c := range candidates {
		total += max(1, len(c.Features)) * opt.Seeds
	}
	var first error
	for _, c := range candidates {
		planned := max(1, len(c.Features)) * opt.Seeds
		at := done
		curve, err := m.curve(ctx, c, func(what string, runs int) {
			if opt.Progress != nil {
				opt.Progress(what, float64(at+runs)/float64(total))
			}
		})
		done += planned
		if e := ctx.Err(); e != nil {
			return nil, e
		}
		if err != nil {
			if first == nil {
				first = err
			}
			r.Skipped = append(r.Skipped, Skipped{c.Name(), err.Error()})
			continue
		}
		r.Curves = append(r.Curves, *curve)
	}
	if len(r.Curves) == 0 {
		return nil, first
	}
	return r, nil
}

// curve measures a candidate at all its D.
func (m *meter) curve(ctx context.Context, c Candidate, progress func(what string, runs int)) (*Curve, error) {
	name := c.Name()
	t, err := m.target(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	curve := &Curve{Map: name, Config: c.Config, Centred: t.centred, Exact: t.about()}
	dims := slices.Clone(c.Features)
	slices.Sort(dims)
	dims = slices.Compact(dims)
	if len(dims) == 0 {
		dims = []int{0}
	}
	var refused error
	for i, d := range dims {
		cfg := sized(c.Config, d, m.rows.Judge.Dim())
		what := name
		if d > 0 {
			what = fmt.Sprintf("%s %d", name, d)
		}
		p, err := m.point(ctx, t, cfg, func(seed int) { progress(what, i*m.opt.Seeds+seed) })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			refused = err
			continue
		}
		if k := len(curve.Points); k > 0 && p.Outputs <= curve.Points[k-1].Outputs {
			curve.Repeated = append(curve.Repeated, p.Features)
			continue // it can have no more features on these rows
		}
		curve.Points = append(curve.Points, *p)
	}
	if len(curve.Points) == 0 {
		return nil, refused
	}
	curve.fit()
	return curve, nil
}

// Sizes is the option that sets D for the map of a configuration: "features", "terms"
// for histogram maps, whose features are per input dimension, or "" if the map or its steps
// decide on D. For a chain it is that of the last step.
func Sizes(cfg feature.Config) string {
	switch {
	case cfg.Map == "chain" && len(cfg.Steps) > 0:
		if Sizes(cfg.Steps[len(cfg.Steps)-1]) == "features" {
			return "features"
		}
		return ""
	case cfg.Features > 0 || cfg.Steps != nil:
		return ""
	case !cfg.Decides():
		return "features"
	case exactly(cfg.Kernel):
		return ""
	case cfg.Terms == 0 && slices.Contains(feature.OptionsOf(cfg.Map), "terms"):
		return "terms"
	}
	return ""
}

// exactly reports whether a kernel is a sum of products of powers, which one feature per dimension represents
// exactly.
func exactly(k kernel.Kernel) bool {
	a, ok := k.Additive()
	return ok && a.Roots()
}

// sized is the configuration of a map with D features, if D can be set.
func sized(cfg feature.Config, d, dim int) feature.Config {
	switch Sizes(cfg) {
	case "features":
		if last := len(cfg.Steps) - 1; last >= 0 {
			cfg.Steps = slices.Clone(cfg.Steps)
			cfg.Steps[last] = sized(cfg.Steps[last], d, dim)
			return cfg
		}
		cfg.Features = d
	case "terms":
		if d == 0 {
			return cfg
		}
		cfg.Terms = max(1, d/dim)
		if cfg.Map == "homogeneous" && cfg.Terms%2 == 0 {
			cfg.Terms-- // a constant and pairs of waves
		}
	}
	return cfg
}

// Maps lists the maps that approximate a kernel at a reasonable
// cost: without those that go through the feature space itself, learn landmarks,
// or project the features of another map in the list.
func Maps(k kernel.Kernel) []string {
	return slices.DeleteFunc(feature.MapsOf(k.Name), func(name string) bool {
		switch name {
		case feature.ExplicitRP, feature.ExplicitPoly, feature.ReducedPoly, feature.CKSVD, feature.ICholesky,
			feature.KGRP, feature.KORP, feature.KPCARP:
			return true
		case feature.D2PKRP:
			return k.Degree != 2
		}
		return false
	})
}
