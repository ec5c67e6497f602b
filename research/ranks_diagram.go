package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mercer/internal/app/render"
	"mercer/internal/engine/hypothesis"
)

// mostName bounds the name of a method in a diagram.
const mostName = 40

// ranksDiagram draws a critical-difference diagram: the methods, the best first, on the axis of mean ranks, and the groups that
// do not differ as lines on the right; with a control, ≈ marks what does not differ from it.
func ranksDiagram(w io.Writer, out *hypothesis.Comparison) {
	const axis = 48 // characters from rank 1 to rank k
	k := len(out.Methods)
	column := func(r float64) int { return int(math.Round((r - 1) / float64(k-1) * axis)) }
	name, control := len("control"), math.NaN()
	for _, m := range out.Methods {
		name = max(name, utf8.RuneCountInString(render.ShortLabel(m.Method, mostName)))
		if m.Method == out.Control {
			control = m.MeanRank
		}
	}
	left := strings.Repeat(" ", name+2+6+3)
	scale, ticks := []rune(strings.Repeat(" ", axis+4)), []rune(strings.Repeat("─", axis+1))
	every := (k + 11) / 12
	for r := 1; r <= k; r += every {
		at := column(float64(r))
		copy(scale[at:], []rune(strconv.Itoa(r)))
		ticks[at] = '┼'
	}
	fmt.Fprintf(w, "%s%s\n%s%s\n", left, strings.TrimRight(string(scale), " "), left, string(ticks))
	for _, m := range out.Methods {
		at := column(m.MeanRank)
		row := strings.Repeat("·", at) + "●" + strings.Repeat(" ", axis-at)
		marks := ""
		switch {
		case out.Control == "":
			for _, g := range out.Groups {
				if slices.Contains(g, m.Method) {
					marks += " ┃"
				} else {
					marks += "  "
				}
			}
		case m.Method == out.Control:
			marks = "  control"
		case math.Abs(m.MeanRank-control) <= out.CriticalDifference:
			marks = "  ≈"
		}
		text := fmt.Sprintf("  %-*s  %6.3f %s%s", name, render.ShortLabel(m.Method, mostName), m.MeanRank, row, marks)
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if d := column(1 + out.CriticalDifference); d <= axis {
		fmt.Fprintf(w, "%s├%s┤ critical difference\n", left, strings.Repeat("─", max(0, d-1)))
	}
}
