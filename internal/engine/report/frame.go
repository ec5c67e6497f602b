package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"mercer/internal/engine/units"
)

// Sizes of pictures in points: one that stands in a column and one as wide as the page.
const (
	columnWidth = 440.0
	pageWidth   = 900.0
)

var (
	tickStyle  = style{paint: muted, size: small}
	nameStyle  = style{paint: ink, size: normal}
	markStyle  = style{paint: ink, size: small}
	gridStroke = stroke{paint: grid, width: 0.8}
	axisStroke = stroke{paint: muted, width: 1}
	dashStroke = stroke{paint: muted, width: 1.1, dash: []float64{4, 3}}
)

// frame is a pair of axes on a picture: the name of the Y axis stands above it, flat, where it
// can be read without turning one's head.
type frame struct {
	*pen
	x, y                     Axis
	left, right, bottom, top float64 // of the area of the data
	xTicks, yTicks           []tick
}

// markLine is the height of a line of the names of marks.
const markLine = 15.0

// newFrame settles axes on a pen below its upper margin, with room above the data for so many
// lines of names of marks.
func newFrame(p *pen, x, y Axis, margin float64, markLines int) *frame {
	f := &frame{pen: p, x: x, y: y}
	f.top = p.height - margin - 6
	if y.Name != "" {
		p.text(nameStyle, 2, f.top-4, 0, shortened(nameStyle, y.Name, p.width-4))
		f.top -= 20
	}
	f.top -= markLine * float64(markLines)
	f.bottom = 24
	if x.Name != "" {
		f.bottom = 42
	}
	f.yTicks = y.ticks(max(2, int((f.top-f.bottom)/44)))
	widest := 0.0
	for _, t := range f.yTicks {
		widest = max(widest, textWidth(tickStyle, t.label))
	}
	f.right = p.width - 12
	f.setLeft(widest + 10)
	return f
}

// setLeft settles where the X axis begins, and with that its ticks, whose labels keep apart.
func (f *frame) setLeft(left float64) {
	f.left = left
	for n := max(2, int((f.right-f.left)/44)); ; n-- {
		f.xTicks = f.x.ticks(n)
		end, fits := math.Inf(-1), true
		for _, t := range f.xTicks {
			half := textWidth(tickStyle, t.label) / 2
			fits = fits && f.px(t.at)-half > end+10
			end = f.px(t.at) + half
		}
		if fits || n <= 2 {
			return
		}
	}
}

// px and py are where values lie on the picture.
func (f *frame) px(v float64) float64 { return f.left + f.x.place(v)*(f.right-f.left) }
func (f *frame) py(v float64) float64 { return f.bottom + f.y.place(v)*(f.top-f.bottom) }

// axes draws grid, axes, ticks and the name of the X axis.
func (f *frame) axes() {
	for _, t := range f.yTicks {
		f.line(gridStroke, f.left, f.py(t.at), f.right, f.py(t.at))
		f.text(tickStyle, f.left-6, f.py(t.at), 1, t.label)
	}
	for _, t := range f.xTicks {
		f.line(gridStroke, f.px(t.at), f.bottom, f.px(t.at), f.top)
	}
	end := math.Inf(-1)
	for _, t := range f.xTicks {
		x := f.px(t.at)
		half := textWidth(tickStyle, t.label) / 2
		middle := min(max(x, half), f.width-half)
		f.line(axisStroke, x, f.bottom, x, f.bottom-4)
		if middle-half > end+4 {
			f.text(tickStyle, middle, f.bottom-12, 0.5, t.label)
			end = middle + half
		}
	}
	f.baseline()
	if f.x.Name != "" {
		name := shortened(nameStyle, f.x.Name, f.width-8)
		half := textWidth(nameStyle, name) / 2
		f.text(nameStyle, min(max((f.left+f.right)/2, half+2), f.width-half-2), 9, 0.5, name)
	}
}

// baseline draws the lower axis.
func (f *frame) baseline() { f.line(axisStroke, f.left, f.bottom, f.right, f.bottom) }

// named are the marks that have names.
func named(list []Mark) int {
	n := 0
	for _, m := range list {
		if m.Name != "" {
			n++
		}
	}
	return n
}

// marks draws vertical lines with their names above the data. The names of marks further left
// stand higher, so that they pass over the lines of the others.
func (f *frame) marks(list []Mark) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Mark) int { return cmp.Compare(b.X, a.X) })
	type label struct {
		name    string
		x, y, w float64
	}
	var labels []label
	for _, m := range list {
		if !f.x.shows(m.X) || f.x.place(m.X) < 0 || f.x.place(m.X) > 1 {
			continue
		}
		x, y := f.px(m.X), f.top
		if m.Name != "" {
			y += markLine * (float64(len(labels)) + 0.5)
			l := label{name: shortened(markStyle, oneLine(m.Name), f.right-f.left-8), x: x + 5, y: y}
			if l.w = textWidth(markStyle, l.name); l.x+l.w > f.width-2 {
				l.x = max(x-5-l.w, 2)
			}
			labels = append(labels, l)
			y += 5
		}
		f.line(dashStroke, x, f.bottom, x, y)
	}
	for _, l := range labels {
		f.rectangle(back, l.x-1, l.y-7, l.x+l.w+2, l.y+7)
		f.text(markStyle, l.x, l.y, 0, l.name)
	}
}

// clip are the pieces of a line that lie inside the area of the data.
func (f *frame) clip(points []vg.Point) [][]vg.Point {
	x0, x1, y0, y1 := f.left, f.right, f.bottom, f.top
	var pieces [][]vg.Point
	var piece []vg.Point
	for i := 1; i < len(points); i++ {
		a, b, ok := clipSegment(points[i-1], points[i], x0-1, x1+1, y0-1, y1+1)
		if !ok {
			continue
		}
		if n := len(piece); n == 0 || piece[n-1] != a {
			if n > 0 {
				pieces = append(pieces, piece)
			}
			piece = []vg.Point{a}
		}
		piece = append(piece, b)
	}
	if piece != nil {
		pieces = append(pieces, piece)
	}
	return pieces
}

// clipSegment is the part of a line from a to b inside a rectangle (Liang and Barsky, "A new
// concept and method for line clipping", 1984).
func clipSegment(a, b vg.Point, x0, x1, y0, y1 float64) (vg.Point, vg.Point, bool) {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	from, to := 0.0, 1.0
	for _, e := range [4][2]float64{
		{-dx, float64(a.X) - x0}, {dx, x1 - float64(a.X)}, {-dy, float64(a.Y) - y0}, {dy, y1 - float64(a.Y)},
	} {
		switch {
		case e[0] == 0 && e[1] < 0:
			return a, b, false
		case e[0] < 0:
			from = max(from, e[1]/e[0])
		case e[0] > 0:
			to = min(to, e[1]/e[0])
		}
	}
	if from > to {
		return a, b, false
	}
	on := func(t float64) vg.Point {
		switch t {
		case 0:
			return a
		case 1:
			return b
		}
		return at(float64(a.X)+t*dx, float64(a.Y)+t*dy)
	}
	return on(from), on(to), true
}

// inside says that a point lies in the area of the data.
func (f *frame) inside(q vg.Point) bool {
	return q.X.Points() >= f.left-0.5 && q.X.Points() <= f.right+0.5 && q.Y.Points() >= f.bottom-0.5 && q.Y.Points() <= f.top+0.5
}

// empty says in the middle of the frame that there is nothing in it.
func (f *frame) empty() {
	f.text(style{paint: muted, size: normal}, (f.left+f.right)/2, (f.bottom+f.top)/2, 0.5, "no data")
}

// key is an entry of a legend: a name and how to draw its sample, 24 points wide.
type key struct {
	name   string
	sample func(p *pen, x, y float64)
}

const (
	keyLine   = 17.0 // height of a line of a legend
	keySample = 24.0
	keysFrom  = 2.0 // where a line of a legend begins
)

// keyRows spreads keys over lines of the width of the picture.
func keyRows(width float64, keys []key) [][]int {
	var rows [][]int
	x := math.Inf(1)
	for i, k := range keys {
		w := keySample + 6 + textWidth(markStyle, k.short(width)) + 16
		if x+w > width+16 {
			rows = append(rows, nil)
			x = keysFrom
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		x += w
	}
	return rows
}

func (k key) short(width float64) string {
	return shortened(markStyle, oneLine(k.name), min(width-40, 260))
}

// keysHeight is the height of a legend.
func keysHeight(width float64, keys []key) float64 {
	if len(keys) == 0 {
		return 0
	}
	return keyLine*float64(len(keyRows(width, keys))) + 4
}

// legend draws keys from the top of the picture down.
func (p *pen) legend(keys []key) {
	for i, row := range keyRows(p.width, keys) {
		x, y := keysFrom, p.height-9-keyLine*float64(i)
		for _, j := range row {
			k := keys[j]
			k.sample(p, x, y)
			p.text(markStyle, x+keySample+6, y, 0, k.short(p.width))
			x += keySample + 6 + textWidth(markStyle, k.short(p.width)) + 16
		}
	}
}

// leftOut says how many points a picture does not show, if any.
func leftOut(n int, what, why string) []string {
	switch n {
	case 0:
		return nil
	case 1:
		return []string{"1 " + what + " is left out: " + why + "."}
	}
	return []string{fmt.Sprintf("%s %ss are left out: %s.", units.Count(n), what, why)}
}

// unshown says why values are not shown.
func unshown(x, y Axis) string {
	if x.Log || y.Log {
		return "not finite, or not above 0 on a logarithmic axis"
	}
	return "not finite"
}
