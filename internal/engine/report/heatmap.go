package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"mercer/internal/engine/units"
)

// HeatMap is a matrix of numbers shown by colour: a confusion matrix, a grid of two
// parameters. Small ones show the numbers as well. More than 120 rows or columns are shown as
// means of neighbours.
type HeatMap struct {
	// RowName and ColumnName say what rows and columns are, Rows and Columns name each.
	RowName, ColumnName string
	Rows, Columns       []string

	// Values are len(Rows) by len(Columns) numbers that choose the colour, from Low (the
	// background) to High; both 0: the range of Values. A number that is not finite is an
	// empty cell.
	Values    [][]float64
	Low, High float64

	// Text is what stands in the cells; nil: Values.
	Text [][]string

	// Legend says what the colours mean, Percent writes them as shares.
	Legend  string
	Percent bool

	// Root makes the colour that of the square root, so that small values are seen beside
	// large ones. Low must not be negative.
	Root bool
}

// Confusion is the heat map of a confusion matrix: counts[i][j] rows (or their weight) of class
// i were predicted as class j. The colour is the share of the true class. One row more than
// there are classes is that of classes that the model does not know.
func Confusion(classes []string, counts [][]float64) *HeatMap {
	h := &HeatMap{RowName: "true class", ColumnName: "predicted class", Rows: classes, Columns: classes,
		Low: 0, High: 1, Legend: "share of the true class", Percent: true, Root: len(classes) > 3}
	if len(counts) == len(classes)+1 {
		h.Rows = append(slices.Clone(classes), "unknown")
	}
	for _, row := range counts {
		total := 0.0
		for _, n := range row {
			total += n
		}
		values, text := make([]float64, len(row)), make([]string, len(row))
		for j, n := range row {
			values[j] = math.NaN()
			if total > 0 {
				values[j] = n / total
			}
			if text[j] = shortText(n); n == math.Trunc(n) && n < 1e9 {
				text[j] = units.Commas(strconv.FormatFloat(n, 'f', 0, 64))
			}
			if n == 0 && h.Root {
				text[j] = "·"
			}
		}
		h.Values, h.Text = append(h.Values, values), append(h.Text, text)
	}
	return h
}

// mostCells bounds the rows and the columns that are drawn.
const mostCells = 120

func (h *HeatMap) layout() (picture, error) {
	if len(h.Values) != len(h.Rows) || h.Text != nil && len(h.Text) != len(h.Rows) {
		return picture{}, fmt.Errorf("%d names of rows, %d rows of values and %d of text", len(h.Rows), len(h.Values), len(h.Text))
	}
	var values span
	empty := 0
	for i, row := range h.Values {
		if len(row) != len(h.Columns) || h.Text != nil && len(h.Text[i]) != len(h.Columns) {
			return picture{}, fmt.Errorf("row %d (%s) has not the %d values that there are columns", i+1, h.Rows[i], len(h.Columns))
		}
		for _, v := range row {
			if (Axis{}).shows(v) {
				values.add(v)
			} else {
				empty++
			}
		}
	}
	g := h.shrunk()
	if g.Low == 0 && g.High == 0 {
		g.Low, g.High = values.lo, values.hi
	}
	p := picture{width: columnWidth, desc: h.describe(values)}
	if len(g.Rows) < len(h.Rows) || len(g.Columns) < len(h.Columns) {
		p.notes = append(p.notes, fmt.Sprintf("Of %s rows and %s columns, neighbours are shown together by their mean.", units.Count(len(h.Rows)),
			units.Count(len(h.Columns))))
	}
	l := g.grid(columnWidth)
	if !l.texts && len(g.Columns) > 4 || max(len(g.Columns), len(g.Rows)) > 16 {
		l, p.wide = g.grid(pageWidth), true
		p.width = pageWidth
	}
	p.height = heatTop + l.head + l.cellHeight*float64(max(len(g.Rows), 1)) + heatKey
	p.draw = l.draw
	return p, nil
}

// shrunk is the heat map with at most mostCells rows and columns, by means of neighbours.
func (h *HeatMap) shrunk() *HeatMap {
	g := *h
	perRow := (len(h.Rows) + mostCells - 1) / mostCells
	perColumn := (len(h.Columns) + mostCells - 1) / mostCells
	if perRow <= 1 && perColumn <= 1 {
		return &g
	}
	perRow, perColumn = max(perRow, 1), max(perColumn, 1)
	g.Rows, g.Columns, g.Text = merged(h.Rows, perRow), merged(h.Columns, perColumn), nil
	g.Values = make([][]float64, len(g.Rows))
	for i := range g.Values {
		g.Values[i] = make([]float64, len(g.Columns))
		for j := range g.Values[i] {
			sum, n := 0.0, 0
			for _, row := range h.Values[i*perRow : min((i+1)*perRow, len(h.Rows))] {
				for _, v := range row[j*perColumn : min((j+1)*perColumn, len(h.Columns))] {
					if (Axis{}).shows(v) {
						sum, n = sum+v, n+1
					}
				}
			}
			g.Values[i][j] = sum / float64(n) // NaN: an empty cell
		}
	}
	return &g
}

func merged(names []string, per int) []string {
	var list []string
	for i := 0; i < len(names); i += per {
		name := names[i]
		if last := min(i+per, len(names)) - 1; last > i {
			name += " … " + names[last]
		}
		list = append(list, name)
	}
	return list
}

const (
	heatTop = 22.0 // above the names of the columns: what the columns are
	heatKey = 44.0 // below: what the colours mean
)

var cellStyle = style{paint: ink, size: small}

// heatGrid is a HeatMap whose cells have their sizes.
type heatGrid struct {
	*HeatMap
	left                  float64 // room for the names of the rows
	head                  float64 // and for those of the columns
	cellWidth, cellHeight float64
	flat                  bool // the names of the columns have room side by side
	texts                 bool // and the texts in their cells
}

// grid settles the cells of a picture of some width.
func (h *HeatMap) grid(width float64) *heatGrid {
	l := &heatGrid{HeatMap: h, flat: true}
	for _, name := range h.Rows {
		l.left = max(l.left, textWidth(tickStyle, shortened(tickStyle, oneLine(name), width/4)))
	}
	l.left = max(l.left, min(textWidth(nameStyle, oneLine(h.RowName)), width/4)) + 10
	l.cellWidth = min(96, (width-l.left-8)/float64(max(len(h.Columns), 1)))
	need := 0.0
	for i := range h.Values {
		for j := range h.Values[i] {
			if need <= l.cellWidth {
				need = max(need, textWidth(cellStyle, oneLine(h.text(i, j)))+6)
			}
		}
	}
	l.cellHeight = min(34, l.cellWidth)
	if l.texts = need <= l.cellWidth && l.cellWidth >= 13; !l.texts {
		// Squares without text need little room.
		l.cellWidth = min(l.cellWidth, max(16, min(34, 400/float64(max(len(h.Columns), len(h.Rows), 1)))))
		l.cellHeight = l.cellWidth
	} else if len(h.Rows) <= 3 {
		l.cellHeight = min(56, max(l.cellWidth, 30))
	}
	longest := 0.0
	for _, name := range h.Columns {
		w := textWidth(tickStyle, shortened(tickStyle, oneLine(name), 110))
		l.flat = l.flat && w <= l.cellWidth-6
		longest = max(longest, w)
	}
	if l.head = 20; !l.flat {
		l.head = longest + 10
	}
	return l
}

func (h *HeatMap) text(i, j int) string {
	if h.Text != nil {
		return h.Text[i][j]
	}
	if !(Axis{}).shows(h.Values[i][j]) {
		return ""
	}
	if h.Percent {
		return fmt.Sprintf("%.1f %%", 100*h.Values[i][j])
	}
	return shortText(h.Values[i][j])
}

func (h *heatGrid) draw(p *pen) {
	cw, ch, left := h.cellWidth, h.cellHeight, h.left
	top := p.height - heatTop - h.head
	width := cw * float64(len(h.Columns))
	p.text(nameStyle, left, p.height-9, 0, shortened(nameStyle, oneLine(h.ColumnName), p.width-left))
	p.text(nameStyle, 2, top+10, 0, shortened(nameStyle, oneLine(h.RowName), left-6))
	if len(h.Columns) == 0 || len(h.Rows) == 0 {
		p.text(style{paint: muted, size: normal}, p.width/2, heatKey+10, 0.5, "no data")
		return
	}
	// Names stand at as many rows and columns as have room for one.
	every := max(1, int(math.Ceil(13/ch)))
	for i := 0; i < len(h.Rows); i += every {
		name := shortened(tickStyle, oneLine(h.Rows[i]), p.width/4)
		p.text(tickStyle, left-6, top-ch*(float64(i)+0.5), 1, name)
	}
	every = 1
	if !h.flat {
		every = max(1, int(math.Ceil(13/cw)))
	}
	for j := 0; j < len(h.Columns); j += every {
		name := shortened(tickStyle, oneLine(h.Columns[j]), 110)
		x := left + cw*(float64(j)+0.5)
		if h.flat {
			p.text(tickStyle, x, top+10, 0.5, name)
		} else {
			p.turnedText(tickStyle, x, top+5, 0, 90, name)
		}
	}
	h.cells(p, left, top, cw, ch)
	outline := stroke{paint: muted, width: 0.8}
	p.set(outline)
	frame := polygon([]vg.Point{at(left, top), at(left+width, top), at(left+width, top-ch*float64(len(h.Rows))),
		at(left, top-ch*float64(len(h.Rows)))})
	frame.Close()
	p.Stroke(frame)
	h.key(p, left)
}

// shades is the number of steps of the colours.
const shades = 24

// shade is the step of a value, from 0 to shades, -1 for an empty cell.
func (h *HeatMap) shade(v float64) int {
	if !(Axis{}).shows(v) {
		return -1
	}
	if h.High == h.Low {
		return shades / 2
	}
	share := min(max((v-h.Low)/(h.High-h.Low), 0), 1)
	if h.Root {
		share = math.Sqrt(share)
	}
	s := int(math.Round(share * shades))
	// What is little is not the same as nothing.
	if s == 0 && share > 0 {
		s = 1
	}
	return s
}

func shadePaint(s int) paint {
	return series[0].faded(float64(s) / shades)
}

// cellInk is the colour of text on a shade: of light and dark that with more contrast.
func cellInk(shade int) paint {
	switch {
	case shade > shades*85/100:
		return back
	case shade > shades*65/100:
		return deep
	}
	return pale
}

// cells draws the cells, all of one shade as one path.
func (h *heatGrid) cells(p *pen, left, top, cw, ch float64) {
	paths := make([]vg.Path, shades+1)
	var cross vg.Path
	gap := 0.0
	if min(cw, ch) > 8 {
		gap = 0.5
	}
	for i, row := range h.Values {
		for j, v := range row {
			x0, y1 := left+cw*float64(j), top-ch*float64(i)
			s := h.shade(v)
			if s < 0 && h.Text == nil {
				cross.Move(at(x0+cw/2-3, y1-ch/2))
				cross.Line(at(x0+cw/2+3, y1-ch/2))
			}
			if s <= 0 {
				continue
			}
			paths[s] = append(paths[s], polygon([]vg.Point{at(x0+gap, y1-gap), at(x0+cw-gap, y1-gap), at(x0+cw-gap, y1-ch+gap),
				at(x0+gap, y1-ch+gap)})...)
			paths[s].Close()
		}
	}
	for s, path := range paths {
		p.SetColor(shadePaint(s))
		p.Fill(path)
	}
	if !h.texts {
		return
	}
	p.set(stroke{paint: muted, width: 1})
	p.Stroke(cross)
	for i, row := range h.Values {
		for j, v := range row {
			st := cellStyle
			st.paint = cellInk(h.shade(v))
			if i == j && h.RowName == "true class" {
				st.bold = true
			}
			p.text(st, left+cw*(float64(j)+0.5), top-ch*(float64(i)+0.5), 0.5, h.text(i, j))
		}
	}
}

// key shows some shades with the values they stand for.
func (h *HeatMap) key(p *pen, left float64) {
	const steps, size, gap = 8, 18.0, 1.0
	a := Axis{Percent: h.Percent}
	y := heatKey - 22
	left = min(left, p.width-(steps+1)*size-20)
	for s := range steps + 1 {
		x := left + size*float64(s)
		share := float64(s) / steps
		p.rectangle(shadePaint(int(share*shades)), x+gap/2, y, x+size-gap/2, y+10)
		if s%2 != 0 {
			continue
		}
		if h.Root {
			share *= share
		}
		if label := a.say(h.Low + share*(h.High-h.Low)); textWidth(tickStyle, label) < 2*size-2 || s == 0 || s == steps {
			p.text(tickStyle, x+size/2, y-9, 0.5, label)
		}
	}
	p.set(stroke{paint: muted, width: 0.6})
	box := polygon([]vg.Point{at(left, y-0.5), at(left+size, y-0.5), at(left+size, y+10.5), at(left, y+10.5)})
	box.Close()
	p.Stroke(box)
	right := left + (steps+1)*size + 8
	p.text(markStyle, right, y+5, 0, shortened(markStyle, h.Legend, p.width-right))
}

func (h *HeatMap) describe(values span) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Matrix of %d rows (%s) and %d columns (%s)", len(h.Rows), nameOr(h.RowName, "rows"), len(h.Columns),
		nameOr(h.ColumnName, "columns"))
	if !values.any {
		return b.String() + " without values."
	}
	a := Axis{Percent: h.Percent}
	fmt.Fprintf(&b, ", %s from %s to %s.", nameOr(h.Legend, "values"), a.say(values.lo), a.say(values.hi))
	if len(h.Rows) > 12 || len(h.Columns) > 12 {
		return b.String()
	}
	for i, name := range h.Rows {
		fmt.Fprintf(&b, " %s:", name)
		for j := range h.Columns {
			sep := ""
			if j > 0 {
				sep = ","
			}
			fmt.Fprintf(&b, "%s %s", sep, nameOr(h.text(i, j), "nothing"))
		}
		b.WriteString(".")
	}
	return b.String()
}
