package report

import (
	"fmt"
	"strings"
)

// Figure is a picture with what has to be said about it.
type Figure struct {
	// Name is that of its file in SavePlots, without extension, such as "roc"; "": made of Title.
	Name string

	// Title is short, Caption tells what is to be seen; both are printed under the picture.
	Title, Caption string

	// Desc describes the picture to those who cannot see it; "": made of the data.
	Desc string

	// Drawing is the picture: *Lines, *Scatter, *Histogram, *HeatMap, *Intervals or *Ranks.
	Drawing Drawing
}

// Drawing is a picture of data. Numbers that are not finite, and those that a logarithmic
// axis cannot show, are left out, and the figure says how many. Data that do not fit together
// (an X longer than its Y) are an error of Write and SavePlots.
type Drawing interface {
	// layout checks the data and settles the size of the picture.
	layout() (picture, error)
}

// picture is a drawing whose size is settled.
type picture struct {
	width, height float64 // points, which are the units of the SVG
	wide          bool    // more than a column
	draw          func(p *pen)
	desc          string   // what is to be seen, in words
	notes         []string // what was left out
}

// name is that of the figure's file, without extension.
func (f *Figure) name() string {
	name := f.Name
	if name == "" {
		name = f.Title
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == 60 {
			break
		}
	}
	if name = strings.Trim(b.String(), "-"); name == "" {
		return "figure"
	}
	return name
}

// names are the file names of figures, made different where they are not.
func names(figures []*Figure) []string {
	seen := map[string]bool{}
	list := make([]string, len(figures))
	for i, f := range figures {
		name := f.name()
		for k := 2; seen[name]; k++ {
			name = fmt.Sprintf("%s-%d", f.name(), k)
		}
		seen[name] = true
		list[i] = name
	}
	return list
}

// lay settles a figure's picture.
func (f *Figure) lay() (picture, error) {
	if f.Drawing == nil {
		return picture{}, fmt.Errorf("report: figure %q has no drawing", f.Title)
	}
	p, err := f.Drawing.layout()
	if err != nil {
		return picture{}, fmt.Errorf("report: figure %q: %w", f.Title, err)
	}
	if f.Desc != "" {
		p.desc = f.Desc
	}
	return p, nil
}
