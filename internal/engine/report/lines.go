package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Lines are curves over one pair of axes: ROC, precision and recall, a path of λ, errors
// against D, accuracy against seconds.
type Lines struct {
	X, Y   Axis
	Curves []Curve

	// Diagonal draws the line y = x.
	Diagonal bool

	// Marks are vertical lines with a name, such as the chosen λ.
	Marks []Mark

	// Edges and Counts tell where along the X axis the data lie, as those of a Histogram: grey bars at the foot of
	// the picture, whose areas are the counts. Both nil: none.
	Edges, Counts []float64
}

// Curve is one line of a picture: the points (X[i], Y[i]) joined in their order.
type Curve struct {
	Name string // in the legend; "": the curve has no place there
	X, Y []float64

	// Low and High bound a band around the line, at the same X; nil: none.
	Low, High []float64

	// Bars draws an error bar from Low to High at each point in place of the band.
	Bars bool

	// Points marks each point as well. With few points it is done without asking.
	Points bool

	// Dashed is for a line that the others are compared with, drawn thin and grey: chance, a
	// fitted rate, an exact method.
	Dashed bool
}

// Mark is a place on the X axis with a name.
type Mark struct {
	X    float64
	Name string
}

// dashes tell curves apart beside their colours.
var dashes = [][]float64{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 4}}

// look is how the i-th curve looks. Curves are told apart by colour, dash and marker; after
// eight colours the dashes shift, so that many dozens differ.
func (c *Curve) look(i int) stroke {
	if c.Dashed {
		return dashStroke
	}
	k := len(series)
	return stroke{paint: series[i%k], width: 1.9, dash: dashes[(i+i/k)%len(dashes)]}
}

// marked says that a curve's points are marked.
func (c *Curve) marked() bool { return c.Points || len(c.X) <= 12 && !c.Dashed }

func (l *Lines) layout() (picture, error) {
	x, y := l.X, l.Y
	var xs, ys span
	left, drawn := 0, 0
	if len(l.Edges) != len(l.Counts)+1 && len(l.Edges)+len(l.Counts) > 0 {
		return picture{}, fmt.Errorf("%d edges and %d counts; there is one edge more than counts", len(l.Edges), len(l.Counts))
	}
	for i := range l.Curves {
		c := &l.Curves[i]
		if len(c.X) != len(c.Y) || c.Low != nil && len(c.Low) != len(c.X) || c.High != nil && len(c.High) != len(c.X) ||
			(c.Low == nil) != (c.High == nil) {
			return picture{}, fmt.Errorf("curve %q has %d X, %d Y, %d Low and %d High; give as many of each, or neither Low nor High", c.Name,
				len(c.X), len(c.Y), len(c.Low), len(c.High))
		}
		for j := range c.X {
			if !x.shows(c.X[j]) || !y.shows(c.Y[j]) {
				left++
				continue
			}
			drawn++
			xs.add(c.X[j])
			ys.add(c.Y[j])
			if c.Low != nil && y.shows(c.Low[j]) && y.shows(c.High[j]) {
				ys.add(c.Low[j])
				ys.add(c.High[j])
			}
		}
	}
	for _, m := range l.Marks {
		if x.shows(m.X) {
			xs.add(m.X)
		}
	}
	x, y = x.fit(xs), y.fit(ys)
	for _, a := range []Axis{x, y} {
		if err := a.check(); err != nil {
			return picture{}, err
		}
	}
	keys := l.keys()
	height := 300 + keysHeight(columnWidth, keys) + markLine*float64(named(l.Marks))
	if x.From == y.From && x.To == y.To {
		height += 60 // nearly square
	}
	return picture{width: columnWidth, height: height,
		draw: func(p *pen) {
			p.legend(keys)
			f := newFrame(p, x, y, keysHeight(p.width, keys), named(l.Marks))
			f.axes()
			if drawn == 0 {
				f.empty()
			}
			l.draw(f)
		},
		desc:  l.describe(x, y),
		notes: leftOut(left, "point", unshown(x, y))}, nil
}

func (l *Lines) keys() []key {
	var keys []key
	if len(l.Curves) > 1 {
		for i := range l.Curves {
			c := &l.Curves[i]
			if c.Name == "" {
				continue
			}
			keys = append(keys, key{c.Name, func(p *pen, x, y float64) {
				p.line(c.look(i), x, y, x+keySample, y)
				if c.marked() {
					p.marker(c.look(i).paint, i, x+keySample/2, y)
				}
			}})
		}
	}
	return keys
}

// footHeight is the height of the highest bar of counts, as a share of the picture.
const footHeight = 0.18

// foot draws the bars of Counts.
func (l *Lines) foot(f *frame) {
	density := make([]float64, len(l.Counts))
	most := 0.0
	for i, n := range l.Counts {
		if width := l.Edges[i+1] - l.Edges[i]; width > 0 && n > 0 && f.x.shows(l.Edges[i]) && f.x.shows(l.Edges[i+1]) {
			density[i] = n / width
			most = max(most, density[i])
		}
	}
	for i, d := range density {
		from, to := max(f.px(l.Edges[i]), f.left), min(f.px(l.Edges[i+1]), f.right)
		if d > 0 && from < to {
			gap := min(0.6, (to-from)/8)
			f.rectangle(muted.faded(0.3), from+gap, f.bottom, to-gap, f.bottom+footHeight*(f.top-f.bottom)*d/most)
		}
	}
}

func (l *Lines) draw(f *frame) {
	l.foot(f)
	if l.Diagonal {
		lo, hi := max(f.x.From, f.y.From), min(f.x.To, f.y.To)
		if lo < hi {
			f.line(dashStroke, f.px(lo), f.py(lo), f.px(hi), f.py(hi))
		}
	}
	for i := range l.Curves {
		if c := &l.Curves[i]; c.Low != nil && c.Bars {
			l.bars(f, c, i)
		} else if c.Low != nil {
			l.band(f, c, i)
		}
	}
	f.marks(l.Marks)
	for i := range l.Curves {
		c := &l.Curves[i]
		look := c.look(i)
		for _, part := range f.parts(c.X, c.Y) {
			for _, piece := range f.clip(thinned(part)) {
				f.lines(look, piece)
			}
			if c.marked() || len(part) == 1 {
				for _, q := range part[:min(len(part), 500)] {
					if f.inside(q) {
						f.marker(look.paint, i, q.X.Points(), q.Y.Points())
					}
				}
			}
		}
	}
}

// band fills the area between Low and High.
func (l *Lines) band(f *frame, c *Curve, i int) {
	var upper, lower []vg.Point
	inside := func(v float64) float64 { return min(max(v, f.bottom), f.top) }
	for j, x := range c.X {
		if f.x.shows(x) && f.y.shows(c.Low[j]) && f.y.shows(c.High[j]) {
			upper = append(upper, at(f.px(x), inside(f.py(c.High[j]))))
			lower = append(lower, at(f.px(x), inside(f.py(c.Low[j]))))
		}
	}
	if len(upper) == 0 {
		return
	}
	upper, lower = thinned(upper), thinned(lower)
	slices.Reverse(lower)
	f.fill(c.look(i).paint.faded(0.16), append(upper, lower...))
}

// bars draws a line from Low to High at each point, with short ends where these are inside the picture.
func (l *Lines) bars(f *frame, c *Curve, i int) {
	s := stroke{paint: c.look(i).paint, width: 1.2}
	for j, v := range c.X {
		if !f.x.shows(v) || !f.y.shows(c.Low[j]) || !f.y.shows(c.High[j]) {
			continue
		}
		x, low, high := f.px(v), max(f.py(c.Low[j]), f.bottom), min(f.py(c.High[j]), f.top)
		if low >= high || x < f.left || x > f.right {
			continue
		}
		f.line(s, x, low, x, high)
		for _, y := range []float64{low, high} {
			if y > f.bottom && y < f.top {
				f.line(s, x-3, y, x+3, y)
			}
		}
	}
}

// parts are the runs of points that can be shown, on the picture.
func (f *frame) parts(xs, ys []float64) [][]vg.Point {
	var parts [][]vg.Point
	var part []vg.Point
	for i := range xs {
		if !f.x.shows(xs[i]) || !f.y.shows(ys[i]) {
			if part != nil {
				parts, part = append(parts, part), nil
			}
			continue
		}
		part = append(part, at(f.px(xs[i]), f.py(ys[i])))
	}
	if part != nil {
		parts = append(parts, part)
	}
	return parts
}

// mostPoints bounds the points of a curve, and so the size of a picture.
const mostPoints = 2000

// thinned leaves out points that lie within 0.2 of a point before that stays (more, where more
// than mostPoints would stay), so that no part of the line moves by more than that.
func thinned(points []vg.Point) []vg.Point {
	for near := 0.2; len(points) > 300; near *= 2 {
		kept := []vg.Point{points[0]}
		for i, q := range points[1:] {
			last := kept[len(kept)-1]
			if math.Hypot(float64(q.X-last.X), float64(q.Y-last.Y)) > near || i == len(points)-2 {
				kept = append(kept, q)
			}
		}
		if len(kept) <= mostPoints {
			return kept
		}
	}
	return points
}

// describe says in words what the curves do.
func (l *Lines) describe(x, y Axis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Line chart of %s against %s, %s from %s to %s.", nameOr(y.Name, "values"), nameOr(x.Name, "x"), nameOr(x.Name, "x"),
		x.say(x.From), x.say(x.To))
	for i := range l.Curves {
		c := &l.Curves[i]
		if i == 12 {
			fmt.Fprintf(&b, " And %d more curves.", len(l.Curves)-i)
			break
		}
		first, last := -1, -1
		for j := range c.X {
			if x.shows(c.X[j]) && y.shows(c.Y[j]) {
				if first < 0 {
					first = j
				}
				last = j
			}
		}
		if first < 0 {
			fmt.Fprintf(&b, " %s has no points.", nameOr(c.Name, "The curve"))
			continue
		}
		fmt.Fprintf(&b, " %s goes from (%s, %s) to (%s, %s).", nameOr(c.Name, "The curve"), x.say(c.X[first]), y.say(c.Y[first]),
			x.say(c.X[last]), y.say(c.Y[last]))
	}
	return b.String()
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// say writes a value of an axis in words.
func (a Axis) say(v float64) string {
	if a.Percent {
		return shortText(100*v) + " %"
	}
	return shortText(v)
}

// span is the range of numbers.
type span struct {
	lo, hi float64
	any    bool
}

func (s *span) add(v float64) {
	if !s.any {
		s.lo, s.hi, s.any = v, v, true
		return
	}
	s.lo, s.hi = min(s.lo, v), max(s.hi, v)
}
