package approx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/feature"
)

// Goal is an error that is asked for.
type Goal struct {
	// Error is the mean error; Relative says that it is relative, Point.MeanRel, and not
	// Point.MeanAbs.
	Error    float64
	Relative bool
}

// Offer is how a map meets a goal.
type Offer struct {
	Map      string
	Features int

	// Error is the mean error: by the fitted rate, or as measured.
	Error float64

	// PerRow (microseconds) and Bytes are interpolated between what was measured, and in proportion
	// to D beyond, unless measured at this D.
	PerRow float64
	Bytes  int64

	// Point is the measurement, nil if there was no need for one: the map looked too dear.
	Point *Point

	config feature.Config
	curve  Curve // with what was measured for the offer
	tries  int
}

// Recommendation is the cheapest offer, measured.
type Recommendation struct {
	Goal Goal
	Offer

	// Config is the map, but for its seed.
	Config feature.Config

	// Offers are those of all maps, cheapest first; Hopeless are the maps that do not meet the goal by
	// 65,536 features, or not by 16 times as many as were measured.
	Offers   []Offer
	Hopeless []string
}

// mostFeatures is the largest D that is recommended, and mostExtrapolated how many times the
// largest D that was measured: fitted rates are not to be trusted further.
const mostFeatures, mostExtrapolated = 1 << 16, 16

// Times within a fifth of one another count as equal: measured again, they may come the other way
// round. Then fewer bytes are cheaper.
const sameTime = 1.2

// mostTries is how often a map is measured for an offer.
const mostTries = 6

// Recommend finds the cheapest map for a goal, by the time a row takes in batches and then by the
// bytes that the map holds, among the maps that were measured. What the rates say is not taken on
// trust: the cheapest offer is measured at its D, on the same rows; if the error is above the goal, by
// more than its standard error, the offer is made again with more features, and if time or bytes
// are more than was thought, the next offer may be the cheapest. It fails if no map meets the goal.
func Recommend(ctx context.Context, rows Rows, r *Result, goal Goal, opt Options) (*Recommendation, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if !(goal.Error > 0) || math.IsInf(goal.Error, 0) {
		return nil, fmt.Errorf("approx: an error of %g is asked for; it must be a positive number", goal.Error)
	}
	m := newMeter(rows, opt)
	rec := &Recommendation{Goal: goal}
	least := math.Inf(1)
	for _, c := range r.Curves {
		for _, p := range c.Points {
			if e := p.error(goal); e != nil {
				least = min(least, e.Mean)
			}
		}
		if o, ok := c.offer(goal, m.rows.Judge.Dim()); ok {
			rec.Offers = append(rec.Offers, o)
		} else {
			rec.Hopeless = append(rec.Hopeless, c.Map)
		}
	}
	if math.IsInf(least, 1) {
		return nil, errors.New("approx: no map has such an error on these rows: the kernel is 0 for all pairs")
	}
	for len(rec.Offers) > 0 {
		cheapestFirst(rec.Offers)
		o := &rec.Offers[0]
		if o.Point != nil {
			rec.Offer, rec.Config = *o, o.config
			return rec, nil
		}
		ok, err := m.try(ctx, o, goal)
		if err != nil {
			return nil, err
		}
		if !ok {
			rec.Hopeless = append(rec.Hopeless, o.Map)
			rec.Offers = rec.Offers[1:]
		}
	}
	return nil, fmt.Errorf("approx: no map that was measured comes to an error of %g by %d features, or %d times as many as were measured; the least is %.3g: ask for more, or measure other maps or more features", goal.Error, mostFeatures, mostExtrapolated, least)
}

// cheapestFirst sorts offers by time, and those about as fast as the fastest by bytes.
func cheapestFirst(offers []Offer) {
	slices.SortStableFunc(offers, func(a, b Offer) int { return cmp.Compare(a.PerRow, b.PerRow) })
	near := 1
	for near < len(offers) && offers[near].PerRow <= sameTime*offers[0].PerRow {
		near++
	}
	slices.SortStableFunc(offers[:near], func(a, b Offer) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// try measures an offer and corrects it. ok is false if it cannot be kept.
func (m *meter) try(ctx context.Context, o *Offer, goal Goal) (ok bool, err error) {
	t, err := m.target(o.curve.Config)
	if err != nil {
		return false, err
	}
	o.config = sized(o.curve.Config, o.Features, m.rows.Judge.Dim())
	p, err := m.point(ctx, t, o.config, func(seed int) {
		if m.opt.Progress != nil {
			m.opt.Progress(fmt.Sprintf("verify %s %d", o.Map, o.Features), float64(seed)/float64(m.opt.Seeds))
		}
	})
	if err != nil {
		return false, err
	}
	e := p.error(goal)
	if e == nil {
		return false, nil
	}
	if e.Mean <= goal.Error+e.SD/math.Sqrt(float64(m.opt.Seeds)) {
		o.Features, o.Error, o.PerRow, o.Bytes, o.Point = p.Features, e.Mean, p.PerRow, p.Bytes, p
		return true, nil
	}
	if o.tries++; o.tries == mostTries || p.Outputs < o.Features {
		return false, nil
	}
	// The next D, by the law between this point and the next one that meets the goal, or by that of
	// the whole curve.
	law := o.curve.rate(goal)
	for _, q := range o.curve.Points {
		if met := q.error(goal); q.Features > o.Features && met != nil && met.Mean <= goal.Error {
			law = FitRate([]float64{float64(o.Features), float64(q.Features)}, []float64{e.Mean, met.Mean})
			break
		}
	}
	if law == nil || law.Exponent >= 0 {
		return false, nil
	}
	more := roundUp(o.curve.Config, max(float64(o.Features+1), float64(o.Features)*math.Pow(goal.Error/e.Mean, 1/law.Exponent)), m.rows.Judge.Dim())
	last := o.curve.Points[len(o.curve.Points)-1].Features
	if more > min(mostFeatures, mostExtrapolated*last) {
		return false, nil
	}
	o.PerRow, o.Bytes = p.PerRow*float64(more)/float64(o.Features), int64(float64(p.Bytes)*float64(more)/float64(o.Features))
	o.Features = more
	return true, nil
}

func (p *Point) error(g Goal) *Stat {
	if g.Relative {
		return p.MeanRel
	}
	return &p.MeanAbs
}

func (c *Curve) rate(g Goal) *Rate {
	if g.Relative {
		return c.RateRel
	}
	return c.Rate
}

// roundUp is the least number of features that a map can have, of at least d: an even one, as pairs of
// waves need it, or whole terms of each input dimension.
func roundUp(cfg feature.Config, d float64, dim int) int {
	n := int(math.Ceil(min(d, 1<<40) * (1 - 1e-9))) // but for what rounding of logarithms has added
	if Sizes(cfg) != "terms" {
		return n + n%2
	}
	terms := (n + dim - 1) / dim
	if cfg.Map == "homogeneous" && terms%2 == 0 {
		terms++
	}
	return terms * dim
}

// offer is the least D at which a curve meets a goal: by the rate, unless a measured point with fewer
// features or a map without a rate meets it. Rates are followed down to an eighth of what was
// measured, and up to mostExtrapolated.
func (c *Curve) offer(g Goal, dim int) (Offer, bool) {
	best := Offer{Map: c.Map, curve: *c}
	for _, p := range c.Points {
		if e := p.error(g); e != nil && e.Mean <= g.Error {
			best.Features, best.Error, best.PerRow, best.Bytes = p.Features, e.Mean, p.PerRow, p.Bytes
			break
		}
	}
	rate := c.rate(g)
	if rate == nil || len(c.Points) < 2 {
		return best, best.Features > 0
	}
	d, ok := rate.Features(g.Error)
	least, last := float64(c.Points[0].Features)/8, c.Points[len(c.Points)-1].Features
	n := roundUp(c.Config, max(d, least), dim)
	if !ok || n > min(mostFeatures, mostExtrapolated*last) || best.Features > 0 && best.Features <= n {
		return best, best.Features > 0
	}
	best.Features, best.Error = n, rate.At(float64(n))
	best.PerRow = c.between(float64(n), func(p *Point) float64 { return p.PerRow })
	best.Bytes = int64(c.between(float64(n), func(p *Point) float64 { return float64(p.Bytes) }))
	return best, true
}

// between interpolates what grows with D linearly between the points of a curve. Before the first and
// beyond the last it is in proportion to D: a slope of times would be that of their noise.
func (c *Curve) between(d float64, of func(p *Point) float64) float64 {
	at := func(i int) (x, y float64) { return float64(c.Points[i].Features), of(&c.Points[i]) }
	last := len(c.Points) - 1
	x0, y0 := at(0)
	for i := range last {
		x1, y1 := at(i + 1)
		if x0 <= d && d <= x1 {
			return y0 + (y1-y0)*(d-x0)/(x1-x0)
		}
		if x1 < d {
			x0, y0 = x1, y1
		}
	}
	return y0 * d / x0
}
