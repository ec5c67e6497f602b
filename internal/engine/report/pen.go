package report

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Text is measured in Liberation Sans. Arial and Helvetica have the same widths, so that a
// picture fits with any of them.
const (
	fontFamily = `"Liberation Sans",Arial,Helvetica,sans-serif`

	plainFace font.Typeface = "plain"
	boldFace  font.Typeface = "bold"
)

// Sizes of text in points. A picture is 440 points wide and shown 440 to 500 pixels wide.
const (
	small  = 11.0
	normal = 12.0
)

var fonts = sync.OnceValue(func() *font.Cache {
	var c font.Collection
	for face, data := range map[font.Typeface][]byte{plainFace: liberationsansregular.TTF, boldFace: liberationsansbold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			panic(fmt.Sprintf("report: the font inside the binary does not parse: %v", err))
		}
		c = append(c, font.Face{Font: font.Font{Typeface: face}, Face: f})
	}
	return font.NewCache(c)
})

// pen draws on a canvas, in points, y up from the lower edge.
type pen struct {
	vg.Canvas
	width, height float64
}

func at(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(y)} }

// style is how text looks.
type style struct {
	paint paint
	size  float64
	bold  bool
}

func (s style) face(size float64) font.Face {
	face := plainFace
	if s.bold {
		face = boldFace
	}
	return fonts().Lookup(font.Font{Typeface: face}, vg.Length(size))
}

// superscripts that not every font has; all are drawn as smaller raised characters.
var superscripts = map[rune]rune{
	'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5',
	'⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9', '⁻': '−', '⁺': '+',
}

// run is a piece of text at one height.
type run struct {
	text   string
	raised bool
}

// runs splits text where a number in superscript begins and ends that not every font has whole;
// ², ³ and the like alone are left as they are.
func runs(text string) []run {
	if !strings.ContainsAny(text, "⁰⁹⁻⁺") {
		return []run{{text: text}}
	}
	var list []run
	for _, r := range text {
		low, raised := superscripts[r]
		if !raised {
			low = r
		}
		if n := len(list); n == 0 || list[n-1].raised != raised {
			list = append(list, run{raised: raised})
		}
		list[len(list)-1].text += string(low)
	}
	return list
}

func (r run) size(s style) float64 {
	if r.raised {
		return 0.72 * s.size
	}
	return s.size
}

// textWidth is the width of text in points.
func textWidth(s style, text string) float64 {
	w := 0.0
	for _, r := range runs(oneLine(text)) {
		face := s.face(r.size(s))
		w += face.Width(r.text).Points()
	}
	return w
}

// shortened is text that is at most so wide, its end cut where it is not.
func shortened(s style, text string, width float64) string {
	text = oneLine(text)
	if textWidth(s, text) <= width {
		return text
	}
	r := []rune(text)
	lo, hi := 0, min(len(r), int(width)) // no character is narrower than 1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if textWidth(s, string(r[:mid])+"…") <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return strings.TrimRight(string(r[:lo]), " ") + "…"
}

// text draws one line of text: at says which part of its width is at x (0 left, 0.5 centre, 1
// right), its middle is at y.
func (p *pen) text(s style, x, y, part float64, text string) {
	text = oneLine(text)
	x -= part * textWidth(s, text)
	y -= 0.36 * s.size // half the height of a capital
	p.SetColor(s.paint)
	for _, r := range runs(text) {
		if r.text == "" {
			continue
		}
		up := 0.0
		if r.raised {
			up = 0.38 * s.size
		}
		face := s.face(r.size(s))
		p.FillString(face, at(x, y+up), r.text)
		x += face.Width(r.text).Points()
	}
}

// turnedText draws text that rises to the right, its end (part 1) or beginning (part 0) at (x, y).
func (p *pen) turnedText(s style, x, y, part, degrees float64, text string) {
	p.Push()
	p.Translate(at(x, y))
	p.Rotate(degrees * math.Pi / 180)
	p.text(s, 0, 0, part, text)
	p.Pop()
}

// oneLine is text without what would break a line or hide.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f:
			return -1
		}
		return r
	}, text)
}

// stroke is how a line looks.
type stroke struct {
	paint paint
	width float64
	dash  []float64
}

func (p *pen) set(s stroke) {
	p.SetColor(s.paint)
	p.SetLineWidth(vg.Length(s.width))
	var dash []vg.Length
	for _, d := range s.dash {
		dash = append(dash, vg.Length(d))
	}
	p.SetLineDash(dash, 0)
}

func (p *pen) line(s stroke, x0, y0, x1, y1 float64) {
	p.set(s)
	p.Stroke(vg.Path{{Type: vg.MoveComp, Pos: at(x0, y0)}, {Type: vg.LineComp, Pos: at(x1, y1)}})
}

// lines draws points joined by lines.
func (p *pen) lines(s stroke, points []vg.Point) {
	p.set(s)
	p.Stroke(polygon(points))
}

func polygon(points []vg.Point) vg.Path {
	var path vg.Path
	for i, q := range points {
		if i == 0 {
			path.Move(q)
		} else {
			path.Line(q)
		}
	}
	return path
}

func (p *pen) fill(c paint, points []vg.Point) {
	p.SetColor(c)
	path := polygon(points)
	path.Close()
	p.Fill(path)
}

func (p *pen) rectangle(c paint, x0, y0, x1, y1 float64) {
	p.fill(c, []vg.Point{at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1)})
}

// dots draws dots of one size.
func (p *pen) dots(c paint, points []vg.Point, radius float64) {
	if len(points) == 0 {
		return
	}
	p.SetColor(c)
	if svg, ok := p.Canvas.(*svgCanvas); ok {
		svg.dots(points, radius)
		return
	}
	for _, q := range points {
		path := vg.Path{}
		path.Move(at(q.X.Points()+radius, q.Y.Points()))
		path.Arc(q, vg.Length(radius), 0, 2*math.Pi)
		path.Close()
		p.Fill(path)
	}
}

// markers are the shapes of points of different series.
const markerShapes = 6

// marker draws the shape of a series around a point.
func (p *pen) marker(c paint, shape int, x, y float64) {
	const r = 3.2
	corner := func(radius float64, degrees ...float64) []vg.Point {
		var points []vg.Point
		for _, d := range degrees {
			sin, cos := math.Sincos(d * math.Pi / 180)
			points = append(points, at(x+radius*cos, y+radius*sin))
		}
		return points
	}
	switch shape % markerShapes {
	case 0:
		p.dots(c, []vg.Point{at(x, y)}, r)
	case 1:
		p.fill(c, corner(1.25*r, 45, 135, 225, 315))
	case 2:
		p.fill(c, corner(1.4*r, 90, 210, 330))
	case 3:
		p.fill(c, corner(1.4*r, 0, 90, 180, 270))
	case 4:
		p.fill(c, corner(1.4*r, 270, 30, 150))
	case 5:
		s := stroke{paint: c, width: 1.6}
		p.line(s, x-r, y-r, x+r, y+r)
		p.line(s, x-r, y+r, x+r, y-r)
	}
}
