package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// element is one of an XML document.
type element struct {
	name     string
	attr     map[string]string
	text     string // directly inside
	children []*element
}

func (e *element) all(name string) []*element {
	var list []*element
	if e.name == name {
		list = append(list, e)
	}
	for _, c := range e.children {
		list = append(list, c.all(name)...)
	}
	return list
}

// parse reads strict XML, which pages are beside HTML.
func parse(t testing.TB, text string) *element {
	t.Helper()
	root := &element{}
	stack := []*element{root}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(stack) != 1 {
				t.Fatalf("<%s> is not closed", stack[len(stack)-1].name)
			}
			return root
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		top := stack[len(stack)-1]
		switch v := token.(type) {
		case xml.StartElement:
			e := &element{name: v.Name.Local, attr: map[string]string{}}
			for _, a := range v.Attr {
				name := a.Name.Local
				if a.Name.Space != "" {
					name = a.Name.Space + ":" + name
				}
				if _, twice := e.attr[name]; twice {
					t.Fatalf("<%s> has %s twice", e.name, name)
				}
				e.attr[name] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(v)
		}
	}
}

// box is a rectangle of the picture that text covers.
type box struct {
	x0, y0, x1, y1 float64
	text           string
}

var rotation = regexp.MustCompile(`^rotate\((\S+) (\S+) (\S+)\)$`)

// checkPicture finds out whether all of an SVG lies inside it and no text covers another.
func checkPicture(t testing.TB, svg *element) {
	t.Helper()
	var x, y, w, h float64
	if n, err := fmt.Sscan(svg.attr["viewBox"], &x, &y, &w, &h); n != 4 || err != nil || x != 0 || y != 0 {
		t.Fatalf("viewBox %q", svg.attr["viewBox"])
	}
	inside := func(x, y float64, what string) {
		t.Helper()
		if !(x >= -0.5 && x <= w+0.5 && y >= -0.5 && y <= h+0.5) {
			t.Errorf("%s reaches (%g, %g) of a picture of %g × %g", what, x, y, w, h)
		}
	}
	for _, p := range svg.all("path") {
		for _, q := range pathPoints(t, p.attr["d"]) {
			inside(q[0], q[1], "a path of class "+p.attr["class"])
		}
	}
	var boxes []box
	for _, e := range svg.all("text") {
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(e.attr[name], 64)
			if err != nil {
				t.Fatalf("text %q: %s is %q", e.text, name, e.attr[name])
			}
			return v
		}
		s := style{size: number("font-size"), bold: e.attr["font-weight"] == "bold"}
		if s.size < 7.5 {
			t.Errorf("text %q is %g points large", e.text, s.size)
		}
		x, y, wide, tall := number("x"), number("y"), textWidth(s, e.text), 0.72*s.size
		b := box{x, y - tall, x + wide, y, e.text}
		if turn := e.attr["transform"]; turn != "" {
			m := rotation.FindStringSubmatch(turn)
			if m == nil || m[1] != "-90" {
				t.Fatalf("text %q: transform %q", e.text, turn)
			}
			b = box{x - tall, y - wide, x, y, e.text}
		}
		inside(b.x0, b.y0, fmt.Sprintf("text %q", e.text))
		inside(b.x1, b.y1, fmt.Sprintf("text %q", e.text))
		for _, o := range boxes {
			const room = 0.5
			if b.x0 < o.x1-room && o.x0 < b.x1-room && b.y0 < o.y1-room && o.y0 < b.y1-room {
				t.Errorf("text %q covers %q", e.text, o.text)
			}
		}
		boxes = append(boxes, b)
	}
}

var pathToken = regexp.MustCompile(`[MLHVhAZCQ]|-?\d+(?:\.\d+)?`)

// pathPoints are the ends of the pieces of a path.
func pathPoints(t testing.TB, d string) [][2]float64 {
	t.Helper()
	if rest := strings.TrimSpace(pathToken.ReplaceAllString(d, "")); rest != "" {
		t.Fatalf("path has %q", rest)
	}
	var points [][2]float64
	var at [2]float64
	tokens := pathToken.FindAllString(d, -1)
	take := func() float64 {
		if len(tokens) == 0 {
			t.Fatalf("path %.60q ends early", d)
		}
		v, err := strconv.ParseFloat(tokens[0], 64)
		if err != nil || math.IsNaN(v) {
			t.Fatalf("path %.60q: %v", d, err)
		}
		tokens = tokens[1:]
		return v
	}
	for len(tokens) > 0 {
		command := tokens[0]
		tokens = tokens[1:]
		switch command {
		case "M", "L":
			at = [2]float64{take(), take()}
		case "A":
			for range 5 {
				take()
			}
			at = [2]float64{take(), take()}
		case "H":
			at[0] = take()
		case "V":
			at[1] = take()
		case "h":
			at[0] += take()
		case "Z":
		default:
			t.Fatalf("path %.60q: command %q", d, command)
		}
		points = append(points, at)
	}
	return points
}
