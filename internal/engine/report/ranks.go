package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Ranks is a critical-difference diagram (Demšar, "Statistical comparisons of classifiers over
// multiple data sets", 2006): methods on an axis of their average ranks, the best on the left,
// with bars that join those whose ranks do not differ significantly.
type Ranks struct {
	Names    []string
	Averages []float64 // rank of each name, from 1

	// Critical is the critical difference, shown as a bar above the axis; 0: none.
	Critical float64

	// Groups are index lists into Names whose members do not differ; nil: the largest runs of
	// ranks within Critical.
	Groups [][]int
}

func (r *Ranks) layout() (picture, error) {
	n := len(r.Names)
	if len(r.Averages) != n || n == 0 {
		return picture{}, fmt.Errorf("%d names and %d average ranks; give as many of each, at least one", n, len(r.Averages))
	}
	for i, v := range r.Averages {
		if !(v >= 1 && v <= float64(n)) {
			return picture{}, fmt.Errorf("average rank %g of %q is not between 1 and %d", v, r.Names[i], n)
		}
	}
	if !(r.Critical >= 0) || math.IsInf(r.Critical, 0) {
		return picture{}, fmt.Errorf("critical difference %g", r.Critical)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := r.Averages[a] - r.Averages[b]; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	bars, err := r.bars(order)
	if err != nil {
		return picture{}, err
	}
	widest := 0.0
	for i, name := range r.Names {
		widest = max(widest, textWidth(markStyle, oneLine(name)+"  "+rankText(r.Averages[i])))
	}
	p := picture{width: columnWidth, desc: r.describe(order)}
	if n > 8 || widest > 0.24*columnWidth {
		p.width, p.wide = pageWidth, true
	}
	levels := 0
	for _, b := range bars {
		levels = max(levels, b.level+1)
	}
	d := diagram{Ranks: r, order: order, bars: bars, levels: levels, names: min(widest+24, 0.34*p.width)}
	p.height = diagramTop + 12 + diagramBar*float64(levels) + diagramLine*float64((n+1)/2) + 12
	p.draw = d.draw
	return p, nil
}

// rankBar joins ranks from lo to hi.
type rankBar struct {
	lo, hi float64
	level  int
}

// bars are the groups on levels such that no two of a level touch.
func (r *Ranks) bars(order []int) ([]rankBar, error) {
	groups := r.Groups
	if groups == nil && r.Critical > 0 {
		groups = r.runs(order)
	}
	var bars []rankBar
	for _, g := range groups {
		var s span
		for _, i := range g {
			if i < 0 || i >= len(r.Names) {
				return nil, fmt.Errorf("group %v names method %d of %d", g, i, len(r.Names))
			}
			s.add(r.Averages[i])
		}
		if len(g) < 2 {
			continue
		}
		b := rankBar{lo: s.lo, hi: s.hi}
		for slices.ContainsFunc(bars, func(o rankBar) bool { return o.level == b.level && b.lo <= o.hi+0.1 && o.lo <= b.hi+0.1 }) {
			b.level++
		}
		bars = append(bars, b)
	}
	return bars, nil
}

// runs are the largest runs of neighbouring ranks within the critical difference.
func (r *Ranks) runs(order []int) [][]int {
	var groups [][]int
	end := 0
	for i := range order {
		j := i
		for j+1 < len(order) && r.Averages[order[j+1]]-r.Averages[order[i]] <= r.Critical {
			j++
		}
		if j > i && j+1 > end {
			groups = append(groups, slices.Clone(order[i:j+1]))
			end = j + 1
		}
	}
	return groups
}

func rankText(v float64) string { return fmt.Sprintf("%.2f", v) }

const (
	diagramTop  = 64.0 // critical difference, numbers, axis
	diagramBar  = 9.0
	diagramLine = 19.0
)

// diagram is Ranks with its order and room settled.
type diagram struct {
	*Ranks
	order  []int
	bars   []rankBar
	levels int
	names  float64
}

func (d diagram) draw(p *pen) {
	n := len(d.Names)
	left, right := d.names, p.width-d.names
	px := func(rank float64) float64 {
		if n == 1 {
			return (left + right) / 2
		}
		return left + (rank-1)/float64(n-1)*(right-left)
	}
	y := p.height - diagramTop
	p.line(axisStroke, px(1), y, px(float64(n)), y)
	every := max(1, int(math.Ceil(22*float64(n-1)/max(right-left, 1))))
	for k := 1; k <= n; k++ {
		long := 0.0
		if (k-1)%every == 0 {
			p.text(tickStyle, px(float64(k)), y+15, 0.5, fmt.Sprint(k))
			long = 3
		}
		p.line(axisStroke, px(float64(k)), y, px(float64(k)), y+4+long)
	}
	heavy := stroke{paint: ink, width: 1.6}
	if d.Critical > 0 && n > 1 {
		width := d.Critical / float64(n-1) * (right - left)
		label := "critical difference " + rankText(d.Critical)
		x1 := min(left+width, p.width-4)
		top := p.height - 26
		p.line(heavy, left, top, x1, top)
		p.line(heavy, left, top-4, left, top+4)
		p.line(heavy, x1, top-4, x1, top+4)
		p.text(markStyle, max(left, 2), p.height-10, 0, label)
	}
	for _, b := range d.bars {
		height := y - 10 - diagramBar*float64(b.level)
		p.line(stroke{paint: series[1], width: 4}, px(b.lo)-4, height, px(b.hi)+4, height)
	}
	first := y - 12 - diagramBar*float64(d.levels)
	half := (n + 1) / 2
	for k, i := range d.order {
		x, side, row, part := px(d.Averages[i]), left-6, k, 1.0
		if k >= half {
			side, row, part = right+6, n-1-k, 0
		}
		height := first - diagramLine*(float64(row)+0.5)
		s := stroke{paint: muted, width: 1}
		p.line(s, x, y, x, height)
		p.line(s, x, height, side, height)
		rank := rankText(d.Averages[i])
		rankWidth := textWidth(tickStyle, rank) + 6
		name := shortened(markStyle, oneLine(d.Names[i]), d.names-14-rankWidth)
		sign := 2*part - 1 // the name lies on the left of side for 1, on the right for -1
		p.text(markStyle, side-3*sign, height, part, name)
		p.text(tickStyle, side-(3+textWidth(markStyle, name)+6)*sign, height, part, rank)
		p.dots(series[0], []vg.Point{at(x, y)}, 3)
	}
}

func (r *Ranks) describe(order []int) string {
	var b strings.Builder
	b.WriteString("Average ranks, best first:")
	for _, i := range order {
		fmt.Fprintf(&b, " %s %s,", r.Names[i], rankText(r.Averages[i]))
	}
	text := strings.TrimRight(b.String(), ",") + "."
	if r.Critical > 0 {
		text += " The critical difference is " + rankText(r.Critical) + "."
	}
	groups := r.Groups
	if groups == nil && r.Critical > 0 {
		groups = r.runs(order)
	}
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		var members []string
		for _, i := range g {
			members = append(members, r.Names[i])
		}
		text += " No significant difference among " + strings.Join(members, ", ") + "."
	}
	return text
}
