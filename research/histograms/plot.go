package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/research/papers"
)

// A panel for each data set in a row for each kernel: errors from highest to lowest and numbers of features,
// both by logarithms.
const (
	width, height   = 230, 220
	left, top       = 46, 30
	highest, lowest = 1.0, 1e-6
	legend          = 60
)

// The numbers of features at the ticks, and the ends of the axis: of a dimension, and of all.
var (
	ticks      = []int{1, 2, 3, 5, 9, 21, 40}
	totalTicks = []int{256, 1024, 4096, 16384}
)

// colours of the curves, by the name of the map; variants of it are dashed.
var colours = map[string]string{"homogeneous": "#0072b2", "chebyshev": "#d55e00",
	"elementary": "#009e73", "unary": "#cc79a7", "skewed": "#cc79a7", "scikit-learn": "#000000"}
var dashes = map[string]string{"": "", "rectangular": "6 3", "uniform": "2 3",
	"not stretched": "2 3", "step": "2 3", "rff": "8 2", "phase": "8 2"}

// svg draws the figures, but for those of other h, whose curves lie where those of h = 1 do.
func svg(figures []papers.ErrorFigure) string {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f papers.ErrorFigure) bool { return strings.Contains(f.Kernel, ", h = ") })
	var kernels, sets, names []string
	for _, f := range figures {
		kernels, sets = add(kernels, title(f)), add(sets, f.Set)
		for _, c := range f.Curves {
			names = add(names, c.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		left+len(sets)*width, top+len(kernels)*height+legend)
	fmt.Fprintln(&b, `<rect width="100%" height="100%" fill="white"/>`)
	for _, f := range figures {
		x, y := left+slices.Index(sets, f.Set)*width, top+slices.Index(kernels, title(f))*height
		panel(&b, f, float64(x), float64(y))
	}
	for i, name := range names {
		x, y := left+(i%6)*260, top+len(kernels)*height+14+i/6*18
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" %s/><text x="%d" y="%d">%s</text>`+"\n",
			x, y-4, x+30, y-4, style(name), x+36, y, name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func style(name string) string {
	of, variant, _ := strings.Cut(name, ", ")
	s := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="1.5"`, colours[of])
	if dashes[variant] != "" {
		s += fmt.Sprintf(` stroke-dasharray="%s"`, dashes[variant])
	}
	return s
}

// panel draws one figure with its upper left corner at (x, y).
func panel(b *strings.Builder, f papers.ErrorFigure, x, y float64) {
	const w, h = width - 30, height - 50
	marks := ticks
	if f.Total {
		marks = totalTicks
	}
	least, most := float64(marks[0]), 1.2*float64(marks[len(marks)-1])
	across := func(features int) float64 {
		return x + w*math.Log(float64(features)/least)/math.Log(most/least)
	}
	down := func(e float64) float64 {
		e = min(max(e, lowest), highest)
		return y + h*math.Log(highest/e)/math.Log(highest/lowest)
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-weight="bold" font-size="10">%s, %s</text>`+"\n", x, y-8, title(f), f.Set)
	for e := highest; e > lowest/2; e /= 10 {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%.0e</text>`+"\n",
			x, down(e), x+w, down(e), x-3, down(e)+4, e)
	}
	for _, t := range marks {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n",
			across(t), y, across(t), y+h, across(t), y+h+14, t)
	}
	for _, c := range f.Curves {
		var points []string
		for i, t := range c.Features {
			points = append(points, fmt.Sprintf("%.1f,%.1f", across(t), down(c.Errors[i])))
		}
		fmt.Fprintf(b, `<polyline points="%s" %s/>`+"\n", strings.Join(points, " "), style(c.Name))
	}
}
