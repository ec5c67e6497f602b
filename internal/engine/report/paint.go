package report

import (
	"fmt"
	"image/color"
	"strings"
)

// paint is a colour by its role: pictures in pages and SVG files follow the reader's light or
// dark mode, PNG files have the light one.
type paint struct {
	role        string // class in SVG
	light, dark color.NRGBA
	opacity     float64
}

// RGBA is the light colour, for canvases that know nothing of roles.
func (p paint) RGBA() (r, g, b, a uint32) {
	c := p.light
	c.A = uint8(255*p.opacity + 0.5)
	return c.RGBA()
}

// faded is the paint with some of the background seen through it.
func (p paint) faded(opacity float64) paint {
	p.opacity = opacity
	return p
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

func newPaint(role string, light, dark uint32) paint {
	return paint{role: role, light: rgb(light), dark: rgb(dark), opacity: 1}
}

var (
	ink   = newPaint("ink", 0x1d2127, 0xe6e8eb)   // text
	muted = newPaint("muted", 0x5a626d, 0xa3abb6) // less important text, axes
	grid  = newPaint("grid", 0xe1e5ea, 0x343a43)
	back  = newPaint("back", 0xffffff, 0x16191e)

	// Text on the colours of heat maps, from the palest on; the last is back.
	pale = newPaint("pale", 0x1d2127, 0xffffff)
	deep = newPaint("deep", 0x000000, 0x000000)

	// series are those of Okabe and Ito, the yellow (invisible on white) last and darker; on
	// dark they are lighter where they have to be.
	series = []paint{
		newPaint("s1", 0x0072b2, 0x56b4e9), // blue
		newPaint("s2", 0xd55e00, 0xf0834a), // vermilion
		newPaint("s3", 0x009e73, 0x2bc79c), // bluish green
		newPaint("s4", 0xb85c93, 0xd98cb8), // reddish purple
		newPaint("s5", 0xc98500, 0xe69f00), // orange
		newPaint("s6", 0x3d9bd1, 0x9fd4f5), // sky blue
		newPaint("s7", 0x8a7f00, 0xf0e442), // yellow
		newPaint("s8", 0x3b4048, 0xc8cdd4), // black
	}
)

// paints are all roles, for style sheets.
func paints() []paint { return append([]paint{ink, muted, grid, back, pale, deep}, series...) }

// hex writes a colour as CSS does.
func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// pictureStyle is the style sheet of pictures: the class f-ROLE fills, k-ROLE strokes. Its
// rules begin with scope, "" or a selector with a blank behind it.
func pictureStyle(scope string) string {
	var light, dark strings.Builder
	for _, p := range paints() {
		for b, c := range map[*strings.Builder]color.NRGBA{&light: p.light, &dark: p.dark} {
			fmt.Fprintf(b, "%s.f-%s{fill:%s}%s.k-%s{stroke:%s}\n", scope, p.role, hex(c), scope, p.role, hex(c))
		}
	}
	return fmt.Sprintf("%stext{font-family:%s}\n%s@media screen and (prefers-color-scheme:dark){\n%s}\n", scope, fontFamily, light.String(),
		dark.String())
}
