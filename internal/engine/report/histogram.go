package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Histogram counts values in neighbouring bins: bin i is [Edges[i], Edges[i+1]) and holds
// Counts[i] of them, so that there is one edge more than counts. Edges rise.
type Histogram struct {
	X      Axis
	Edges  []float64
	Counts []float64

	// What is counted, such as "rows"; it names the other axis.
	What string

	// Marks are vertical lines with a name, such as 0 for residuals.
	Marks []Mark
}

// Bins counts values in bins of one round width, about as many as the rule of Freedman and
// Diaconis ("On the histogram as a density estimator", 1981) gives: width 2·(Q₃ - Q₁)/∛n, at
// least 8 bins and at most 60. Values that are not finite are left out.
func Bins(values []float64) (edges, counts []float64) {
	var v []float64
	for _, x := range values {
		if (Axis{}).shows(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return nil, nil
	}
	slices.Sort(v)
	lo, hi := v[0], v[len(v)-1]
	if lo == hi {
		room := max(math.Abs(lo)/10, 0.5)
		return []float64{lo - room, lo + room}, []float64{float64(len(v))}
	}
	quarters := v[len(v)*3/4] - v[len(v)/4]
	width := 2 * quarters / math.Cbrt(float64(len(v)))
	width = niceStep(min(max(width, (hi-lo)/60), (hi-lo)/8))
	first := math.Floor(lo / width)
	n := max(1, int(math.Floor(hi/width)-first)+1)
	for i := range n + 1 {
		edges = append(edges, (first+float64(i))*width)
	}
	counts = make([]float64, n)
	for _, x := range v {
		i := min(max(int(x/width-first), 0), n-1)
		// Rounding may miss the bin by one.
		if x < edges[i] && i > 0 {
			i--
		} else if x >= edges[i+1] && i < n-1 {
			i++
		}
		counts[i]++
	}
	return edges, counts
}

func (h *Histogram) layout() (picture, error) {
	if len(h.Edges) != len(h.Counts)+1 && len(h.Edges)+len(h.Counts) > 0 {
		return picture{}, fmt.Errorf("%d edges and %d counts; there is one edge more than bins", len(h.Edges), len(h.Counts))
	}
	x := h.X
	x.Log = false
	y := Axis{Name: h.What}
	var xs, ys span
	ys.add(0)
	total, most := 0.0, 0
	for i, e := range h.Edges {
		if !x.shows(e) || i > 0 && !(e > h.Edges[i-1]) {
			return picture{}, fmt.Errorf("edge %d of %d is %g; edges are finite and rise", i+1, len(h.Edges), e)
		}
		xs.add(e)
	}
	for i, n := range h.Counts {
		if !y.shows(n) || n < 0 {
			return picture{}, fmt.Errorf("bin %d counts %g; counts are finite and not negative", i+1, n)
		}
		ys.add(n)
		total += n
		if n > h.Counts[most] {
			most = i
		}
	}
	if xs.any && x.From == 0 && x.To == 0 {
		x.From, x.To = xs.lo, xs.hi
	}
	x, y = x.fit(xs), y.fit(ys)
	if err := x.check(); err != nil {
		return picture{}, err
	}
	desc := fmt.Sprintf("Histogram of %s with no values.", nameOr(x.Name, "values"))
	if total > 0 {
		desc = fmt.Sprintf("Histogram of %s: %s values in %d bins from %s to %s; the fullest bin, %s to %s, holds %s.", nameOr(x.Name, "values"),
			shortText(total), len(h.Counts), x.say(xs.lo), x.say(xs.hi), x.say(h.Edges[most]), x.say(h.Edges[most+1]), shortText(h.Counts[most]))
	}
	return picture{width: columnWidth, height: 300 + markLine*float64(named(h.Marks)), desc: desc, draw: func(p *pen) {
		f := newFrame(p, x, y, 0, named(h.Marks))
		f.axes()
		if total == 0 {
			f.empty()
		}
		var bars vg.Path
		for i, n := range h.Counts {
			x0, x1, top := f.px(h.Edges[i]), f.px(h.Edges[i+1]), f.py(n)
			if x1 <= f.left || x0 >= f.right || n == 0 {
				continue
			}
			gap := min(0.6, (x1-x0)/8)
			bars = append(bars, polygon([]vg.Point{
				at(max(x0, f.left)+gap, f.bottom), at(max(x0, f.left)+gap, top), at(min(x1, f.right)-gap, top), at(min(x1, f.right)-gap, f.bottom)})...)
			bars.Close()
		}
		f.SetColor(series[0])
		f.Fill(bars)
		f.baseline()
		f.marks(h.Marks)
	}}, nil
}
