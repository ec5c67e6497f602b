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

// Offer is how a map can meet a goal.
type Offer struct {
	Map      string
	Features int

	// Expected is the mean error by the fitted rate, or as measured.
	Expected float64

	// PerRow (microseconds) and Bytes are interpolated between what was measured, and in proportion
	// to D beyond.
	PerRow float64
	Bytes  int64
}

// Recommendation is the cheapest offer, measured.
type Recommendation struct {
	Goal  Goal
	Offer // with PerRow and Bytes as measured

	// Point is the measurement, Met whether its mean error is at most the goal's, or no more
	// than its standard error above.
	Point *Point
	Met   bool

	// Config is the map, but for its seed.
	Config feature.Config

	// Offers are those of all maps, cheapest first; Hopeless are the maps that do not meet the goal by
	// mostFeatures.
	Offers   []Offer
	Hopeless []string
}

// mostFeatures is the largest D that is recommended, and mostExtrapolated how many times the
// largest D that was measured: fitted rates are not to be trusted further.
const mostFeatures, mostExtrapolated = 1 << 16, 16

// Times within a fifth of one another count as equal: measured again, they may come the other way
// round. Then fewer bytes are cheaper.
const sameTime = 1.2

// Recommend finds the cheapest map for a goal, by the time a row takes in batches and then by
// the bytes that the map holds, among the maps that were measured and are known to meet the goal
// at some D by their fitted rates. It measures that map at that D on the same rows, with more features
// if these are too few. It fails if no map meets the goal.
func Recommend(ctx context.Context, rows Rows, r *Result, goal Goal, opt Options) (*Recommendation, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if !(goal.Error > 0) || math.IsInf(goal.Error, 0) {
		return nil, fmt.Errorf("approx: an error of %g is asked for; it must be a positive number", goal.Error)
	}
	rec := &Recommendation{Goal: goal}
	curves := map[string]*Curve{}
	least := math.Inf(1)
	for i := range r.Curves {
		c := &r.Curves[i]
		for _, p := range c.Points {
			if e := p.error(goal); e != nil {
				least = min(least, e.Mean)
			}
		}
		o, ok := c.offer(goal)
		if !ok {
			rec.Hopeless = append(rec.Hopeless, c.Map)
			continue
		}
		rec.Offers, curves[c.Map] = append(rec.Offers, o), c
	}
	if math.IsInf(least, 1) {
		return nil, errors.New("approx: no map has such an error on these rows: the kernel is 0 for all pairs")
	}
	if len(rec.Offers) == 0 {
		return nil, fmt.Errorf("approx: no map that was measured comes to an error of %g by %d features; the least is %.3g: ask for more, or measure other maps or more features", goal.Error, mostFeatures, least)
	}
	slices.SortStableFunc(rec.Offers, func(a, b Offer) int { return cmp.Compare(a.PerRow, b.PerRow) })
	near := 1
	for near < len(rec.Offers) && rec.Offers[near].PerRow <= sameTime*rec.Offers[0].PerRow {
		near++
	}
	slices.SortStableFunc(rec.Offers[:near], func(a, b Offer) int { return cmp.Compare(a.Bytes, b.Bytes) })
	rec.Offer = rec.Offers[0]
	return rec, rec.verify(ctx, newMeter(rows, opt), curves[rec.Map])
}

// verify measures the offer, and again with more features while its error is above the goal.
func (rec *Recommendation) verify(ctx context.Context, m *meter, c *Curve) error {
	t, err := m.target(c.Config)
	if err != nil {
		return err
	}
	const attempts = 4
	for attempt := range attempts {
		asked := rec.Features
		cfg := sized(c.Config, asked, m.rows.Judge.Dim())
		p, err := m.point(ctx, t, cfg, func(seed int) {
			if m.opt.Progress != nil {
				m.opt.Progress(fmt.Sprintf("verify %s %d", rec.Map, asked), (float64(attempt)+float64(seed)/float64(m.opt.Seeds))/attempts)
			}
		})
		if err != nil {
			return err
		}
		e := p.error(rec.Goal)
		if e == nil {
			return fmt.Errorf("approx: %s with %d features has no relative error on these rows", rec.Map, asked)
		}
		rec.Point, rec.Features, rec.PerRow, rec.Bytes, rec.Config = p, p.Features, p.PerRow, p.Bytes, cfg
		if rec.Met = e.Mean <= rec.Goal.Error+e.SD/math.Sqrt(float64(m.opt.Seeds)); rec.Met {
			return nil
		}
		rate := c.rate(rec.Goal)
		if rate == nil || rate.Exponent >= 0 || p.Outputs < asked {
			return nil
		}
		more := evenly(float64(asked) * math.Pow(e.Mean/rec.Goal.Error, -1/rate.Exponent))
		if more > mostFeatures || more <= asked {
			return nil
		}
		rec.Features = more
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

// evenly rounds a number of features up to an even one, as pairs of waves need it, but for what
// rounding of logarithms has added.
func evenly(d float64) int {
	n := int(math.Ceil(min(d, 1<<40) * (1 - 1e-9)))
	return n + n%2
}

// offer is the least D at which a curve meets a goal: by the rate, unless a measured point with fewer
// features or a map without a rate meets it.
func (c *Curve) offer(g Goal) (Offer, bool) {
	best := Offer{Map: c.Map}
	for _, p := range c.Points {
		if e := p.error(g); e != nil && e.Mean <= g.Error {
			best.Features, best.Expected, best.PerRow, best.Bytes = p.Features, e.Mean, p.PerRow, p.Bytes
			break
		}
	}
	rate := c.rate(g)
	if rate == nil {
		return best, best.Features > 0
	}
	d, ok := rate.Features(g.Error)
	last := c.Points[len(c.Points)-1].Features
	n := evenly(d)
	if !ok || n > min(mostFeatures, mostExtrapolated*last) || best.Features > 0 && best.Features <= n {
		return best, best.Features > 0
	}
	best.Features, best.Expected = n, rate.At(float64(n))
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
