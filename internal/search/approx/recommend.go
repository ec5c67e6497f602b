package approx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mercer/feature"
)

// Goal is a required error.
type Goal struct {
	// Error is the mean error; Relative means that it is relative, Point.MeanRel, and
	// not Point.MeanAbs.
	Error    float64
	Relative bool
}

// Offer is how a map meets a goal.
type Offer struct {
	Map string

	// Features is the D to request from the map, Outputs what it then has: fewer only if a measured
	// map that had fewer meets the goal, and a map of which so few are requested does not.
	Features, Outputs int

	// Error is the mean error: by the fitted rate, or as measured.
	Error float64

	// PerRow (microseconds) and Bytes are interpolated between measurements, and proportional to
	// D beyond them, unless measured at this D.
	PerRow float64
	Bytes  int64

	// Point is the measurement, nil if there was no need for one because the map looked too expensive.
	Point *Point

	// Added is the additional number of features that was measured to fit a rate, since the curve
	// had a single point; 0 if there was no need.
	Added int

	curve Curve
	tries int
}

// Recommendation is the cheapest offer, measured.
type Recommendation struct {
	Goal Goal
	Offer

	// Config is the map without its seed, and Exact what it is measured against.
	Config feature.Config
	Exact  Exact

	// Offers are those of all maps, cheapest first; Hopeless are the maps that do not meet the goal
	// with 65,536 features, or with 16 times as many as were measured.
	Offers   []Offer
	Hopeless []string
}

// OutOfReach is the error of Recommend if no map meets the goal.
type OutOfReach struct {
	Goal  Goal
	Least float64 // error of the points that were measured
}

func (e *OutOfReach) Error() string {
	return fmt.Sprintf("approx: no map that was measured comes to an error of %g: the least measured is %.3g, and its "+
		"rate is followed to no more than %d times the features that were measured, nor beyond %d; "+
		"allow a larger error, or measure more features or other maps", e.Goal.Error, e.Least, mostExtrapolated, mostFeatures)
}

// mostFeatures is the largest D that is recommended, and mostExtrapolated how many times the
// largest D that was measured: fitted rates are not to be trusted further.
const mostFeatures, mostExtrapolated = 1 << 16, 16

// Times within a fifth of one another count as equal, since their order may change when measured
// again. Then fewer bytes are cheaper.
const sameTime = 1.2

// mostTries is how often a map is measured for an offer, and leastStep the least growth of D between
// measurements: errors scatter, and smaller steps might not terminate.
const mostTries, leastStep = 6, 1.1

// Recommend finds the cheapest map for a goal, by the time per row in batches and then
// by the bytes that the map holds, among the maps that were measured. Rates are verified:
// the cheapest offer is measured at its D, on the same rows; if the error is above the goal, the
// offer is repeated with more features, and if time or bytes are more than predicted, the next
// offer may be the cheapest. A curve of one point has no rate; it is measured at a quarter of its D
// as well. The error is OutOfReach if no map meets the goal.
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
		c, added, err := m.second(ctx, c, goal)
		if err != nil {
			return nil, err
		}
		if o, ok := c.offer(goal, m.rows.Judge.Dim()); ok {
			o.Added = added
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
			rec.Offer, rec.Config, rec.Exact = *o, sized(o.curve.Config, o.Features, m.rows.Judge.Dim()), o.curve.Exact
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
	return nil, &OutOfReach{Goal: goal, Least: least}
}

// second measures a curve of one point at another D, so that a rate can be fitted: a quarter of its D,
// which costs a quarter, or 4 times it if a quarter is not possible. added is that D, 0 if the
// curve has enough points, if D cannot be set, or if the map has no error.
func (m *meter) second(ctx context.Context, c Curve, goal Goal) (curve Curve, added int, err error) {
	first := &c.Points[0]
	if e := first.error(goal); len(c.Points) > 1 || Sizes(c.Config) == "" || e == nil || e.Mean == 0 {
		return c, 0, nil
	}
	t, err := m.target(ctx, c.Config)
	if err != nil {
		return c, 0, err
	}
	dim := m.rows.Judge.Dim()
	for _, want := range []float64{float64(first.Outputs) / 4, 4 * float64(first.Outputs)} {
		d := roundUp(c.Config, max(want, 2), dim)
		if want < float64(first.Outputs) && d >= first.Outputs {
			continue
		}
		p, err := m.point(ctx, t, sized(c.Config, d, dim), func(seed int) {
			if m.opt.Progress != nil {
				m.opt.Progress(fmt.Sprintf("rate %s %d", c.Map, d), float64(seed)/float64(m.opt.Seeds))
			}
		})
		if ctx.Err() != nil {
			return c, 0, ctx.Err()
		}
		if err != nil || p.Outputs == first.Outputs {
			continue // the map does not take this D on these rows
		}
		c.Points = []Point{*p, *first}
		if p.Outputs > first.Outputs {
			slices.Reverse(c.Points)
		}
		c.fit()
		return c, p.Outputs, nil
	}
	return c, 0, nil
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
	t, err := m.target(ctx, o.curve.Config)
	if err != nil {
		return false, err
	}
	cfg := sized(o.curve.Config, o.Features, m.rows.Judge.Dim())
	p, err := m.point(ctx, t, cfg, func(seed int) {
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
	if e.Mean <= goal.Error {
		o.take(p, goal)
		return true, nil
	}
	next, law := o.curve.meets(goal, o.Features), o.curve.rate(goal)
	if p.exhausted() || next != nil && next.Outputs <= max(o.Features, p.Outputs) { // it has no other D up to next
		if next != nil {
			o.take(next, goal)
		}
		return next != nil, nil
	}
	// The next D, by the law between this point and the next one that meets the goal, or by that of
	// the whole curve.
	if next != nil {
		law = FitRate([]float64{float64(p.Outputs), float64(next.Outputs)}, []float64{e.Mean, next.error(goal).Mean})
	}
	if law == nil || law.Exponent >= 0 {
		return false, nil
	}
	want := max(leastStep*float64(o.Features), float64(p.Outputs)*math.Pow(goal.Error/e.Mean, 1/law.Exponent))
	more := roundUp(o.curve.Config, want, m.rows.Judge.Dim())
	o.tries++
	switch {
	case next != nil && (more >= next.Outputs || o.tries == mostTries):
		o.take(next, goal)
		return true, nil
	case o.tries == mostTries || more > o.curve.most():
		return false, nil
	}
	o.PerRow, o.Bytes = p.PerRow*float64(more)/float64(o.Features), int64(float64(p.Bytes)*float64(more)/float64(o.Features))
	o.Features, o.Outputs = more, more
	return true, nil
}

// take makes an offer from a point that meets the goal.
func (o *Offer) take(p *Point, g Goal) {
	o.Features, o.Outputs, o.Error, o.PerRow, o.Bytes, o.Point = p.Features, p.Outputs, p.error(g).Mean, p.PerRow, p.Bytes, p
}

// exhausted reports whether a map has so many fewer outputs than requested that requesting
// more would add little: it has used up its rows. With similar rows it loses a few at any D.
func (p *Point) exhausted() bool { return 4*p.Outputs < 3*p.Features }

// most is the largest D to which the rate of a curve is extrapolated.
func (c *Curve) most() int {
	last := &c.Points[len(c.Points)-1]
	if last.exhausted() || len(c.Repeated) > 0 {
		return last.Outputs
	}
	return min(mostFeatures, mostExtrapolated*last.Outputs)
}

// meets is the first point of a curve with d outputs or more that meets a goal, nil if none does.
func (c *Curve) meets(g Goal, d int) *Point {
	for i := range c.Points {
		if e := c.Points[i].error(g); e != nil && e.Mean <= g.Error && c.Points[i].Outputs >= d {
			return &c.Points[i]
		}
	}
	return nil
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

// roundUp is the least good number of features of a map, of at least d: an even one for pairs of sine
// and cosine, a power of two for Fourier transforms, or whole terms for each input dimension.
func roundUp(cfg feature.Config, d float64, dim int) int {
	n := int(math.Ceil(min(d, 1<<40) * (1 - 1e-9))) // but for what rounding of logarithms has added
	switch {
	case cfg.Map == "tensorsketch" && n > 1:
		return 1 << bits.Len(uint(n-1))
	case Sizes(cfg) != "terms":
		return n + n%2
	}
	terms := (n + dim - 1) / dim
	if cfg.Map == "homogeneous" && terms%2 == 0 {
		terms++
	}
	return terms * dim
}

// offer is the least D at which a curve meets a goal: by the rate, unless a measured point with fewer
// features or a map without a rate meets it. A point that had fewer outputs than requested is
// offered with that number requested, which has yet to be measured: on more rows, the original number would
// cost more. Rates are extrapolated down to an eighth of what was measured, and up to Curve.most.
func (c *Curve) offer(g Goal, dim int) (Offer, bool) {
	best := Offer{Map: c.Map, curve: *c}
	if p := c.meets(g, 0); p != nil {
		best.take(p, g)
		if p.Outputs < p.Features {
			best.Features, best.Point = p.Outputs, nil
		}
	}
	rate := c.rate(g)
	if rate == nil || len(c.Points) < 2 {
		return best, best.Features > 0
	}
	d, ok := rate.Features(g.Error)
	least := float64(c.Points[0].Outputs) / 8
	n := roundUp(c.Config, max(d, least), dim)
	if !ok || n > c.most() || best.Features > 0 && best.Features <= n {
		return best, best.Features > 0
	}
	best.Features, best.Outputs, best.Error, best.Point = n, n, rate.At(float64(n)), nil
	best.PerRow = c.between(float64(n), func(p *Point) float64 { return p.PerRow })
	best.Bytes = int64(c.between(float64(n), func(p *Point) float64 { return float64(p.Bytes) }))
	return best, true
}

// between interpolates a quantity that grows with D linearly between the points of a curve. Before the
// first and beyond the last it is proportional to D: a slope of times would be dominated by noise.
func (c *Curve) between(d float64, of func(p *Point) float64) float64 {
	at := func(i int) (x, y float64) { return float64(c.Points[i].Outputs), of(&c.Points[i]) }
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
