// Package report draws pictures and puts them into pages that need no network.
//
// A Page is sections of facts, tables, notes and figures. Write makes one HTML file of it:
// style and pictures (SVG) inside, no script, readable on paper, in dark mode and on a narrow
// screen. SavePlots writes the same pictures as files. Data come in as plain numbers and text,
// in the order in which they are to be seen; the same data give the same bytes.
//
// Colours are those of Okabe and Ito, "Color Universal Design" (2008), which people with any
// of the common colour deficiencies tell apart; what they say is said by a dash, a marker or
// a word as well.
package report

import "slices"

// Page is one document.
type Page struct {
	Title, Subtitle string

	sections []*Section
}

// Section is a part of a page with a heading. What is added to it appears in that order.
type Section struct {
	title  string
	blocks []any // facts, note, code, *Table or *Figure
}

// Section adds a section to the page.
func (p *Page) Section(title string) *Section {
	s := &Section{title: title}
	p.sections = append(p.sections, s)
	return s
}

// Figures are the figures of all sections, in their order.
func (p *Page) Figures() []*Figure {
	var all []*Figure
	for _, s := range p.sections {
		for _, b := range s.blocks {
			if f, ok := b.(*Figure); ok {
				all = append(all, f)
			}
		}
	}
	return all
}

// Fact is a name with its value and, where there is something to say about it, a remark, such
// as why this value was chosen.
type Fact struct {
	Name, Value, Remark string
}

type (
	facts []Fact
	note  string
	code  string
)

// Facts adds a list of names and values.
func (s *Section) Facts(f ...Fact) {
	if len(f) > 0 {
		s.blocks = append(s.blocks, facts(slices.Clone(f)))
	}
}

// Note adds a paragraph.
func (s *Section) Note(text string) { s.blocks = append(s.blocks, note(text)) }

// Code adds text that keeps its spaces and lines, such as a command.
func (s *Section) Code(text string) { s.blocks = append(s.blocks, code(text)) }

// Table adds a table.
func (s *Section) Table(t *Table) { s.blocks = append(s.blocks, t) }

// Figure adds a figure. Figures that follow each other stand side by side where there is room.
func (s *Section) Figure(f *Figure) { s.blocks = append(s.blocks, f) }

// Empty says that nothing has been added to the section; such a section is not written.
func (s *Section) Empty() bool { return len(s.blocks) == 0 }

// Table is text in rows and columns. Rows that are shorter than Columns end in empty cells.
type Table struct {
	// Caption says what the table shows.
	Caption string

	Columns []Column
	Rows    [][]string

	best map[[2]int]bool
}

// Column is the head of a column. Numbers are set flush right with digits of one width.
type Column struct {
	Name   string
	Number bool
}

// MarkBest marks a cell as the best of its column, row or table.
func (t *Table) MarkBest(row, column int) {
	if t.best == nil {
		t.best = map[[2]int]bool{}
	}
	t.best[[2]int{row, column}] = true
}
