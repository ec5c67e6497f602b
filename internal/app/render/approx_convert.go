package render

import (
	"fmt"
	"io"
	"strings"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// Converted is how good estimates of another kernel are that are made from those of maps.
type Converted struct {
	Kernel kernel.Kernel // the other
	List   []approx.Converted
}

type convertedJSON struct {
	Kernel  kernel.Kernel   `json:"kernel"`
	Results []convertedLine `json:"results"`
}

type convertedLine struct {
	Map      string `json:"map"`
	Features int    `json:"features"`

	// Estimates are own, those of the map's kernel; lengths-of-features, those of the other by the lengths that features tell;
	// lengths-of-rows, those by the lengths of the rows.
	Estimates string `json:"estimates"`

	MeanAbs    float64  `json:"mean_abs"`
	MaxAbs     float64  `json:"max_abs"`
	MeanRel    *float64 `json:"mean_rel"`
	RelShare   float64  `json:"rel_share"`
	Impossible float64  `json:"impossible"`
}

// conversions are the three kinds of estimates of a map.
func conversions(c *approx.Converted) (names []string, list []*approx.Conversions) {
	return []string{"own", "lengths-of-features", "lengths-of-rows"}, []*approx.Conversions{&c.Own, &c.ByMap, &c.ByRows}
}

func (c *Converted) json() *convertedJSON {
	if c == nil {
		return nil
	}
	out := &convertedJSON{Kernel: c.Kernel}
	for i := range c.List {
		one := &c.List[i]
		names, kinds := conversions(one)
		for k, e := range kinds {
			out.Results = append(out.Results, convertedLine{one.Map, one.Features, names[k], e.MeanAbs.Mean, e.MaxAbs.Mean, meanOf(e.MeanRel),
				e.Within.Mean, e.Impossible})
		}
	}
	return out
}

// lines are those of the text and of the page.
func (c *Converted) lines() [][]string {
	lines := [][]string{{"map", "estimates", "D", "mean abs", "max abs", "rel", "within", "impossible"}}
	for i := range c.List {
		one := &c.List[i]
		names, kinds := conversions(one)
		for k, e := range kinds {
			name, d := one.Map, units.Count(one.Features)
			if one.Features == 0 {
				d = "–"
			}
			if k > 0 {
				name = ""
			}
			impossible := "–"
			if k > 0 {
				impossible = percentText(e.Impossible)
			}
			lines = append(lines, []string{name, strings.ReplaceAll(names[k], "-", " "), d, withSD(e.MeanAbs), short(e.MaxAbs.Mean), percentOf(e.MeanRel),
				percentOf(&e.Within), impossible})
		}
	}
	return lines
}

func (c *Converted) text(w io.Writer) {
	if c == nil {
		return
	}
	fmt.Fprintf(w, "\n  estimates of the kernel %s made from these\n", c.Kernel)
	Columns(w, 2, c.lines())
}

func (c *Converted) table() *report.Table {
	lines := c.lines()
	t := &report.Table{Caption: fmt.Sprintf("Estimates of the kernel %s made from those of the maps, by ‖x−y‖² = ‖x‖² + ‖y‖² − 2x·y: "+
		"with the lengths of rows that z(x)·z(x) tells, and with their own. Those that no rows have are impossible.", c.Kernel)}
	for i, name := range lines[0] {
		t.Columns = append(t.Columns, report.Column{Name: name, Number: i > 1})
	}
	t.Rows = lines[1:]
	return t
}
