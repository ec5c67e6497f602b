package report

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a vg.Canvas that writes the inside of an SVG element. gonum's own (vgsvg) has
// fixed colours and repeats them with every stroke; this one names roles, so that a style sheet
// decides, and is a quarter of the size. Y points up on a vg.Canvas and down in SVG.
type svgCanvas struct {
	b      strings.Builder
	height float64
	stack  []svgState
}

type svgState struct {
	paint  paint
	width  float64
	dash   string
	matrix [6]float64 // x' = m[0]·x + m[2]·y + m[4], y' = m[1]·x + m[3]·y + m[5]
}

func newSVGCanvas(height float64) *svgCanvas {
	return &svgCanvas{height: height, stack: []svgState{{paint: ink, width: 1, matrix: [6]float64{1, 0, 0, 1, 0, 0}}}}
}

func (c *svgCanvas) top() *svgState { return &c.stack[len(c.stack)-1] }

func (c *svgCanvas) SetLineWidth(w vg.Length) { c.top().width = w.Points() }

func (c *svgCanvas) SetLineDash(pattern []vg.Length, _ vg.Length) {
	var parts []string
	for _, p := range pattern {
		parts = append(parts, number(p.Points()))
	}
	c.top().dash = strings.Join(parts, " ")
}

func (c *svgCanvas) SetColor(clr color.Color) {
	p, ok := clr.(paint)
	if !ok {
		p = ink
	}
	c.top().paint = p
}

func (c *svgCanvas) apply(m [6]float64) {
	t := &c.top().matrix
	*t = [6]float64{
		t[0]*m[0] + t[2]*m[1], t[1]*m[0] + t[3]*m[1],
		t[0]*m[2] + t[2]*m[3], t[1]*m[2] + t[3]*m[3],
		t[0]*m[4] + t[2]*m[5] + t[4], t[1]*m[4] + t[3]*m[5] + t[5],
	}
}

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.apply([6]float64{cos, sin, -sin, cos, 0, 0})
}

func (c *svgCanvas) Translate(p vg.Point) {
	c.apply([6]float64{1, 0, 0, 1, p.X.Points(), p.Y.Points()})
}

func (c *svgCanvas) Scale(x, y float64) { c.apply([6]float64{x, 0, 0, y, 0, 0}) }

func (c *svgCanvas) Push() { c.stack = append(c.stack, *c.top()) }

func (c *svgCanvas) Pop() { c.stack = c.stack[:len(c.stack)-1] }

// at is where a point comes to lie in the SVG.
func (c *svgCanvas) at(x, y float64) (float64, float64) {
	m := c.top().matrix
	return m[0]*x + m[2]*y + m[4], c.height - (m[1]*x + m[3]*y + m[5])
}

func (c *svgCanvas) Stroke(path vg.Path) {
	s := c.top()
	if s.width <= 0 || len(path) == 0 {
		return
	}
	c.element(path, fmt.Sprintf(`class="k-%s" fill="none" stroke-width="%s"%s`, s.paint.role, number(s.width),
		attribute("stroke-dasharray", s.dash)))
}

func (c *svgCanvas) Fill(path vg.Path) {
	if len(path) > 0 {
		c.element(path, fmt.Sprintf(`class="f-%s"`, c.top().paint.role))
	}
}

// dots draws round dots of the same size as one path of lines without length.
func (c *svgCanvas) dots(points []vg.Point, radius float64) {
	var d strings.Builder
	for _, p := range points {
		x, y := c.at(p.X.Points(), p.Y.Points())
		d.WriteString("M" + number(x) + " " + number(y) + "h0")
	}
	s := c.top()
	fmt.Fprintf(&c.b, `<path class="k-%s" fill="none" stroke-linecap="round" stroke-width="%s"%s d="%s"/>`+"\n",
		s.paint.role, number(2*radius), opacityAttribute(s.paint), d.String())
}

func (c *svgCanvas) element(path vg.Path, style string) {
	fmt.Fprintf(&c.b, `<path %s%s d="%s"/>`+"\n", style, opacityAttribute(c.top().paint), c.data(path))
}

func opacityAttribute(p paint) string {
	if p.opacity == 1 {
		return ""
	}
	return attribute("opacity", number(p.opacity))
}

func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, value)
}

// data is a path in SVG's words.
func (c *svgCanvas) data(path vg.Path) string {
	var b strings.Builder
	point := func(command string, x, y float64) {
		x, y = c.at(x, y)
		b.WriteString(command + number(x) + " " + number(y))
	}
	for _, p := range path {
		switch p.Type {
		case vg.MoveComp:
			point("M", p.Pos.X.Points(), p.Pos.Y.Points())
		case vg.LineComp:
			point("L", p.Pos.X.Points(), p.Pos.Y.Points())
		case vg.ArcComp:
			c.arc(&b, p, b.Len() > 0)
		case vg.CurveComp:
			command := "C"
			if len(p.Control) == 1 {
				command = "Q"
			}
			for _, q := range p.Control {
				point(command, q.X.Points(), q.Y.Points())
				command = " "
			}
			point(" ", p.Pos.X.Points(), p.Pos.Y.Points())
		case vg.CloseComp:
			b.WriteString("Z")
		}
	}
	return b.String()
}

// arc writes an arc as quarters, for SVG cannot draw a circle as one.
func (c *svgCanvas) arc(b *strings.Builder, p vg.PathComp, joined bool) {
	m := c.top().matrix
	r := p.Radius.Points()
	on := func(angle float64) (float64, float64) {
		sin, cos := math.Sincos(angle)
		return c.at(p.Pos.X.Points()+r*cos, p.Pos.Y.Points()+r*sin)
	}
	x, y := on(p.Start)
	if joined {
		b.WriteString("L" + number(x) + " " + number(y))
	} else {
		b.WriteString("M" + number(x) + " " + number(y))
	}
	size := number(r * math.Sqrt(math.Abs(m[0]*m[3]-m[1]*m[2])))
	sweep := "0" // counterclockwise where y points up
	if p.Angle < 0 {
		sweep = "1"
	}
	parts := max(1, int(math.Ceil(math.Abs(p.Angle)/(math.Pi/2)-1e-9)))
	for i := range parts {
		x, y = on(p.Start + p.Angle*float64(i+1)/float64(parts))
		b.WriteString("A" + size + " " + size + " 0 0 " + sweep + " " + number(x) + " " + number(y))
	}
}

func (c *svgCanvas) FillString(f font.Face, p vg.Point, text string) {
	s := c.top()
	x, y := c.at(p.X.Points(), p.Y.Points())
	turn, weight := "", ""
	if angle := -math.Atan2(s.matrix[1], s.matrix[0]) * 180 / math.Pi; math.Abs(angle) > 1e-6 {
		turn = fmt.Sprintf(` transform="rotate(%s %s %s)"`, number(angle), number(x), number(y))
	}
	if f.Font.Typeface == boldFace {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(&c.b, `<text class="f-%s" x="%s" y="%s" font-size="%s"%s%s>%s</text>`+"\n",
		s.paint.role, number(x), number(y), number(f.Font.Size.Points()), weight, turn, escape(text))
}

// DrawImage is part of vg.Canvas; no picture of this package holds images.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {
	panic("report: pictures are drawn of lines and text")
}

// number writes a coordinate to a hundredth of a point.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}

// escape makes text safe inside XML; characters that XML does not have become �.
func escape(text string) string {
	var b strings.Builder
	// A strings.Builder does not fail.
	xml.EscapeText(&b, []byte(text))
	return b.String()
}
