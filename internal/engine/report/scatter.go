package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"

	"mercer/internal/engine/random"
	"mercer/internal/engine/units"
)

// Scatter is points in the plane: exact against approximate kernel values, truth against
// prediction. Of more than 2,000 points 2,000 are drawn, taken at random by a fixed seed.
type Scatter struct {
	X, Y   Axis
	Clouds []Cloud

	// Diagonal draws the line y = x and gives both axes the same range; Zero draws y = 0.
	Diagonal, Zero bool
}

// Cloud is one kind of points (X[i], Y[i]).
type Cloud struct {
	Name string
	X, Y []float64
}

// dotsDrawn bounds the points of a cloud.
const dotsDrawn = 2000

func (s *Scatter) layout() (picture, error) {
	x, y := s.X, s.Y
	var xs, ys span
	left, drawn := 0, 0
	shown := make([][]int, len(s.Clouds))
	var notes []string
	for i := range s.Clouds {
		c := &s.Clouds[i]
		if len(c.X) != len(c.Y) {
			return picture{}, fmt.Errorf("points %q have %d X and %d Y; give as many of each", c.Name, len(c.X), len(c.Y))
		}
		for j := range c.X {
			if !x.shows(c.X[j]) || !y.shows(c.Y[j]) {
				left++
				continue
			}
			shown[i] = append(shown[i], j)
			xs.add(c.X[j])
			ys.add(c.Y[j])
		}
		if n := len(shown[i]); n > dotsDrawn/len(s.Clouds) {
			of := ""
			if c.Name != "" {
				of = " of " + c.Name
			}
			notes = append(notes, fmt.Sprintf("%s of the %s points%s are drawn, taken at random.", units.Count(dotsDrawn/len(s.Clouds)),
				units.Count(n), of))
			shown[i] = drawnFrom(shown[i], dotsDrawn/len(s.Clouds))
		}
		drawn += len(shown[i])
	}
	if s.Zero {
		ys.add(0)
	}
	if s.Diagonal && xs.any {
		xs.add(ys.lo)
		xs.add(ys.hi)
		ys = xs
	}
	x, y = x.fit(xs), y.fit(ys)
	for _, a := range []Axis{x, y} {
		if err := a.check(); err != nil {
			return picture{}, err
		}
	}
	keys := s.keys()
	return picture{width: columnWidth, height: 380 + keysHeight(columnWidth, keys),
		draw: func(p *pen) {
			p.legend(keys)
			f := newFrame(p, x, y, keysHeight(p.width, keys), 0)
			f.axes()
			if drawn == 0 {
				f.empty()
			}
			s.draw(f, shown)
		},
		desc: fmt.Sprintf("Scatter plot of %s against %s: %s points, %s from %s to %s, %s from %s to %s.",
			nameOr(y.Name, "y"), nameOr(x.Name, "x"), units.Count(drawn), nameOr(x.Name, "x"), x.say(x.From), x.say(x.To), nameOr(y.Name,
				"y"), y.say(y.From), y.say(y.To)),
		notes: append(notes, leftOut(left, "point", unshown(x, y))...)}, nil
}

// drawnFrom are n of the numbers, at random but always the same, in their order.
func drawnFrom(list []int, n int) []int {
	r := random.New(1, "report scatter")
	var kept []int
	for i, v := range list {
		// Each is taken with the share of those still wanted among those still to come.
		if r.Intn(len(list)-i) < n-len(kept) {
			kept = append(kept, v)
		}
	}
	return kept
}

func (s *Scatter) keys() []key {
	var keys []key
	if len(s.Clouds) > 1 {
		for i, c := range s.Clouds {
			keys = append(keys, key{c.Name, func(p *pen, x, y float64) { p.marker(series[i%len(series)], i, x+keySample/2, y) }})
		}
	}
	return keys
}

func (s *Scatter) draw(f *frame, shown [][]int) {
	for i, c := range s.Clouds {
		color := series[i%len(series)]
		var points []vg.Point
		for _, j := range shown[i] {
			if q := at(f.px(c.X[j]), f.py(c.Y[j])); f.inside(q) {
				points = append(points, q)
			}
		}
		if len(points) <= 200 {
			for _, q := range points {
				f.marker(color.faded(0.75), i, q.X.Points(), q.Y.Points())
			}
			continue
		}
		// Layers let dense places look dense.
		const layers = 8
		for k := range layers {
			var layer []vg.Point
			for j := k; j < len(points); j += layers {
				layer = append(layer, points[j])
			}
			f.dots(color.faded(0.45), layer, 1.6)
		}
	}
	if s.Zero && f.y.place(0) >= 0 && f.y.place(0) <= 1 {
		f.line(stroke{paint: ink, width: 1.1, dash: dashStroke.dash}, f.left, f.py(0), f.right, f.py(0))
	}
	if s.Diagonal {
		lo, hi := max(f.x.From, f.y.From), min(f.x.To, f.y.To)
		if lo < hi {
			f.line(stroke{paint: ink, width: 1.1, dash: dashStroke.dash}, f.px(lo), f.py(lo), f.px(hi), f.py(hi))
		}
	}
}
