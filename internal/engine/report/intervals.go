package report

import (
	"fmt"
	"strings"

	"mercer/internal/engine/units"
)

// Intervals are named values with their uncertainty, one a line: results of tuning, models
// compared.
type Intervals struct {
	X    Axis
	Rows []Interval

	// Bars draws bars from 0 instead of dots; then the axis is not logarithmic.
	Bars bool

	// Marks are vertical lines with a name, such as 0 for differences.
	Marks []Mark
}

// Interval is a value between Low and High; all three equal, or Low and High NaN: no
// uncertainty known.
type Interval struct {
	Name             string
	Value, Low, High float64

	// Best marks the line.
	Best bool
}

// linesShown bounds the lines of Intervals.
const linesShown = 60

func (v *Intervals) layout() (picture, error) {
	x := v.X
	if v.Bars && x.Log {
		return picture{}, fmt.Errorf("bars begin at 0, which a logarithmic axis does not have")
	}
	rows := v.Rows
	var notes []string
	if len(rows) > linesShown {
		notes = append(notes, fmt.Sprintf("The first %d of %s lines are shown.", linesShown, units.Count(len(rows))))
		rows = rows[:linesShown]
	}
	var xs span
	left, names := 0, 0.0
	for _, r := range rows {
		if !x.shows(r.Value) {
			left++
		} else {
			xs.add(r.Value)
			if x.shows(r.Low) && x.shows(r.High) {
				xs.add(r.Low)
				xs.add(r.High)
			}
		}
		names = max(names, textWidth(style{size: small, bold: true}, oneLine(r.Name)))
	}
	if v.Bars {
		xs.add(0)
	}
	for _, m := range v.Marks {
		if x.shows(m.X) {
			xs.add(m.X)
		}
	}
	x = x.fit(xs)
	if err := x.check(); err != nil {
		return picture{}, err
	}
	p := picture{width: columnWidth, desc: v.describe(x, rows), notes: append(notes, leftOut(left, "value", unshown(x, x))...)}
	if names > 0.45*columnWidth || len(rows) > 30 {
		p.width, p.wide = pageWidth, true
	}
	const line = 21.0
	names = min(names, 0.45*p.width)
	p.height = 24 + 8 + markLine*float64(named(v.Marks)) + line*float64(max(len(rows), 1))
	if x.Name != "" {
		p.height += 18
	}
	p.draw = func(p *pen) {
		f := newFrame(p, x, Axis{From: 0, To: 1}, 0, named(v.Marks))
		f.yTicks = nil
		f.setLeft(names + 14)
		f.axes()
		f.marks(v.Marks)
		if len(rows) == 0 {
			f.empty()
		}
		for i, r := range rows {
			v.row(f, r, f.top-line*(float64(i)+0.5), names)
		}
	}
	return p, nil
}

// row draws a line at height y.
func (v *Intervals) row(f *frame, r Interval, y, names float64) {
	st, c := style{paint: ink, size: small, bold: r.Best}, series[0]
	if r.Best {
		c = series[1]
	}
	f.text(st, f.left-8, y, 1, shortened(st, oneLine(r.Name), names))
	if !f.x.shows(r.Value) {
		return
	}
	inside := func(v float64) float64 { return min(max(f.px(v), f.left), f.right) }
	x := inside(r.Value)
	lineColor := c
	if v.Bars {
		f.rectangle(c, inside(0), y-6, x, y+6)
		lineColor = ink
	}
	if f.x.shows(r.Low) && f.x.shows(r.High) && r.Low < r.High {
		lo, hi := inside(r.Low), inside(r.High)
		s := stroke{paint: lineColor, width: 1.6}
		if v.Bars {
			f.line(stroke{paint: back, width: 3.6}, lo, y, hi, y)
		}
		f.line(s, lo, y, hi, y)
		f.line(s, lo, y-4, lo, y+4)
		f.line(s, hi, y-4, hi, y+4)
	}
	switch {
	case v.Bars:
	case r.Best:
		f.marker(c, 3, x, y)
	default:
		f.marker(c, 0, x, y)
	}
}

func (v *Intervals) describe(x Axis, rows []Interval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %d:", nameOr(x.Name, "Values"), len(rows))
	for i, r := range rows {
		if i == 20 {
			fmt.Fprintf(&b, " and %d more", len(rows)-i)
			break
		}
		fmt.Fprintf(&b, " %s %s", r.Name, x.say(r.Value))
		if r.Low < r.High {
			fmt.Fprintf(&b, " (%s to %s)", x.say(r.Low), x.say(r.High))
		}
		if r.Best {
			b.WriteString(", best")
		}
		b.WriteString(";")
	}
	return strings.TrimRight(b.String(), ";:") + "."
}
