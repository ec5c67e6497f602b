package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mercer/internal/engine/atomicfile"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page as HTML. Every figure must have a caption.
func (p *Page) Write(w io.Writer) error {
	view, err := p.view()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, view); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(clean(b.Bytes()))
	return err
}

// clean replaces what no text of a page may hold, control characters and broken UTF-8, by �.
func clean(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, text)
}

// Save writes the page to a file that appears whole or not at all.
func (p *Page) Save(path string) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// The views are what the template sees.
type (
	pageView struct {
		Title, Subtitle string
		Style           template.CSS
		Sections        []sectionView
		Contents        bool
	}
	sectionView struct {
		ID     string
		Title  string
		Blocks []blockView
	}
	blockView struct {
		Facts   []Fact
		Note    string
		Code    string
		Table   *tableView
		Figures []figureView
	}
	tableView struct {
		Caption string
		Columns []Column
		Rows    [][]cellView
		Stacked bool // on a narrow screen a row becomes a paragraph
	}
	cellView struct {
		Text, Name   string // Name is that of the column, of stacked tables
		Number, Best bool
		Head         bool
	}
	figureView struct {
		ID             string
		Number         int
		Title, Caption string
		Notes          []string
		Wide           bool
		SVG            template.HTML
	}
)

func (p *Page) view() (*pageView, error) {
	v := &pageView{Title: p.Title, Subtitle: p.Subtitle, Style: template.CSS(pageCSS + pictureStyle(".picture "))}
	number := 0
	for _, s := range p.sections {
		if s.Empty() {
			continue
		}
		sv := sectionView{ID: fmt.Sprintf("section-%d", len(v.Sections)+1), Title: s.title}
		for _, b := range s.blocks {
			switch b := b.(type) {
			case facts:
				sv.Blocks = append(sv.Blocks, blockView{Facts: b})
			case note:
				sv.Blocks = append(sv.Blocks, blockView{Note: string(b)})
			case code:
				sv.Blocks = append(sv.Blocks, blockView{Code: string(b)})
			case *Table:
				t, err := b.view()
				if err != nil {
					return nil, err
				}
				sv.Blocks = append(sv.Blocks, blockView{Table: t})
			case *Figure:
				number++
				f, err := b.view(number)
				if err != nil {
					return nil, err
				}
				if n := len(sv.Blocks); n == 0 || sv.Blocks[n-1].Figures == nil {
					sv.Blocks = append(sv.Blocks, blockView{})
				}
				last := &sv.Blocks[len(sv.Blocks)-1]
				last.Figures = append(last.Figures, f)
			}
		}
		v.Sections = append(v.Sections, sv)
	}
	v.Contents = len(v.Sections) > 3
	return v, nil
}

func (t *Table) view() (*tableView, error) {
	const narrow = 3 // columns that have room on a telephone
	v := &tableView{Caption: t.Caption, Columns: t.Columns, Stacked: len(t.Columns) > narrow}
	for i, row := range t.Rows {
		if len(row) > len(t.Columns) {
			return nil, fmt.Errorf("report: table %q: row %d has %d cells and there are %d columns", t.Caption, i+1, len(row), len(t.Columns))
		}
		cells := make([]cellView, len(t.Columns))
		for j, c := range t.Columns {
			cells[j] = cellView{Number: c.Number, Best: t.best[[2]int{i, j}], Head: j == 0 && !c.Number}
			if j < len(row) {
				cells[j].Text = row[j]
			}
			if v.Stacked && cells[j].Text != "" {
				cells[j].Name = c.Name
			}
		}
		v.Rows = append(v.Rows, cells)
	}
	return v, nil
}

func (f *Figure) view(number int) (figureView, error) {
	if f.Caption == "" {
		return figureView{}, fmt.Errorf("report: figure %q has no caption", f.Title)
	}
	p, err := f.lay()
	if err != nil {
		return figureView{}, err
	}
	id := fmt.Sprintf("figure-%d", number)
	return figureView{ID: id, Number: number, Title: f.Title, Caption: f.Caption, Notes: p.notes, Wide: p.wide,
		SVG: template.HTML(p.svg(f.Title, id, "", "picture"))}, nil
}

// svg is the picture as an SVG element. Names of its title and description begin with id; css,
// if any, becomes a style sheet inside.
func (p picture) svg(title, id, css, class string) string {
	c := newSVGCanvas(p.height)
	p.draw(&pen{Canvas: c, width: p.width, height: p.height})
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %s %s" width="%s" height="%s" `+
		`role="img" aria-labelledby="%s-title %s-desc">`+"\n",
		class, number(p.width), number(p.height), number(p.width), number(p.height), id, id)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", id, escape(title), id, escape(p.desc))
	if css != "" {
		fmt.Fprintf(&b, "<style>%s</style>\n<path class=\"f-back\" d=\"M0 0H%sV%sH0Z\"/>\n", css, number(p.width), number(p.height))
	}
	b.WriteString(c.b.String())
	b.WriteString("</svg>\n")
	return b.String()
}
