package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"mercer/internal/engine/units"
	"mercer/research/papers"
)

// listed is a table of the list as JSON, and listedItem a table or figure of a paper.
type listed struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Source  string  `json:"source"`
	Data    string  `json:"data,omitempty"`
	Seconds float64 `json:"seconds"` // about, of one seed
}

type listedItem struct {
	Paper  string   `json:"paper"`
	Number string   `json:"number"`
	Shows  string   `json:"shows"`
	By     []string `json:"by,omitempty"`
	Mark   string   `json:"mark,omitempty"`
	How    string   `json:"-"` // both
}

// tablesJSON lists the tables that can be made again, and every table and figure of the papers with what makes it again, or why
// nothing does.
type tablesJSON struct {
	Tables []listed     `json:"tables"`
	Items  []listedItem `json:"items"`
}

// newTablesJSON lists tables, and what the papers have.
func newTablesJSON(tables []*papers.Table, items []papers.Item) tablesJSON {
	var list tablesJSON
	for _, t := range tables {
		list.Tables = append(list.Tables, listed{t.Name, t.Title, t.Source, t.Data, t.Cost})
	}
	for _, i := range items {
		list.Items = append(list.Items, listedItem{i.Paper, i.Number, i.Shows, i.By, i.Mark(), i.How()})
	}
	return list
}

// tablesText writes that list.
func tablesText(w io.Writer, list tablesJSON) {
	fmt.Fprintln(w, "Tables that can be made again: name, data, about how long one seed takes on two cores, title")
	for _, t := range list.Tables {
		data := t.Data
		if data == "" {
			data = "-"
		}
		fmt.Fprintf(w, "  %-15s%-16s%8s  %s\n", t.Name, data, units.Roughly(t.Seconds), t.Title)
	}
	fmt.Fprintln(w, "\nTables and figures of the papers: what makes them again, or why nothing does")
	for _, i := range list.Items {
		fmt.Fprintf(w, "  %-6s%s, %s\n        %s\n", i.Paper, i.Number, i.Shows, i.How)
	}
}

// ranText says how a result came about, and in how many seconds.
func ranText(r *papers.Result, took float64) string {
	switch {
	case r.Missing != "":
		return fmt.Sprintf("data not available: there is no %s; --data names the folder of the data sets", r.Missing)
	case r.Quick:
		return "one seed, quick, " + units.Seconds(took)
	case r.Certain:
		return "one run, as nothing is random, " + units.Seconds(took)
	case r.Seeds == 1:
		return "one seed, " + units.Seconds(took)
	}
	return fmt.Sprintf("mean ± standard deviation of %d seeds, %s", r.Seeds, units.Seconds(took))
}

// reproducedText writes a table that was made again in so many seconds: for each row a line of theirs and one of ours.
func reproducedText(w io.Writer, r *papers.Result, took float64) {
	fmt.Fprintf(w, "%s  %s\n%s\n", r.Name, r.Title, r.Source)
	for _, line := range wrap(r.Protocol, 110) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintf(w, "ours: %s\n", ranText(r, took))
	first := utf8.RuneCountInString(r.Corner)
	for _, row := range r.Rows {
		first = max(first, utf8.RuneCountInString(row.Name))
	}
	width := make([]int, len(r.Columns))
	ours := make([][]string, len(r.Rows))
	for j, c := range r.Columns {
		width[j] = utf8.RuneCountInString(c)
		for i, row := range r.Rows {
			var theirs papers.Figure
			if row.Theirs != nil {
				theirs = row.Theirs[j]
			}
			ours[i] = append(ours[i], cellText(r.Cells[i][j], theirs))
			width[j] = max(width[j], utf8.RuneCountInString(ours[i][j]), utf8.RuneCountInString(theirsText(theirs)))
		}
	}
	line := func(name, who string, cells func(j int) string) {
		text := fmt.Sprintf("%-*s  %-6s", first, name, who)
		for j := range r.Columns {
			text += fmt.Sprintf("  %-*s", width[j], cells(j))
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	fmt.Fprintln(w)
	line(r.Corner, "", func(j int) string { return r.Columns[j] })
	for i, row := range r.Rows {
		name := row.Name
		if row.Theirs != nil {
			line(name, "theirs", func(j int) string { return theirsText(row.Theirs[j]) })
			name = ""
		}
		line(name, "ours", func(j int) string { return ours[i][j] })
	}
}

func theirsText(f papers.Figure) string { return strings.Replace(f.Text, "±", " ± ", 1) }

// cellText is our figure and its mark: with one decimal more than theirs has, or four digits where
// there is none of theirs.
func cellText(c papers.Cell, theirs papers.Figure) string {
	if c.Mark == papers.NoData || c.Mark == papers.NotRun || c.Mark == papers.Alone {
		return string(c.Mark)
	}
	decimals := 4
	format := "%.*f"
	if mean, _, _ := strings.Cut(theirs.Text, "±"); theirs.Readable() {
		mean, _, power := strings.Cut(mean, "e")
		if power {
			format = "%.*e"
		}
		_, digits, _ := strings.Cut(mean, ".")
		decimals = len(digits) + 1
	} else if theirs.Text == "" && c.Mean != 0 && math.Abs(c.Mean) < 1e-9 {
		decimals, format = 3, "%.*e"
	} else if theirs.Text == "" && c.Mean != 0 {
		decimals = max(0, 3-int(math.Floor(math.Log10(math.Abs(c.Mean)))))
	}
	text := fmt.Sprintf(format, decimals, c.Mean)
	if c.SD > 0 {
		text += fmt.Sprintf(" ± "+format, decimals, c.SD)
	}
	if c.Mark == papers.Unreadable || c.Mark == papers.NoFigure {
		return text
	}
	return text + " " + string(c.Mark)
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// reproducedJSON is a table of reproduce --json.
type reproducedJSON struct {
	Name    string           `json:"name"`
	Title   string           `json:"title"`
	Source  string           `json:"source"`
	Missing string           `json:"missing,omitempty"`
	Seeds   int              `json:"seeds"`
	Quick   bool             `json:"quick"`
	Cells   []reproducedCell `json:"cells"`
}

// reproducedCell is a cell: theirs is absent where it cannot be read, ours where it was not
// computed.
type reproducedCell struct {
	Row    string      `json:"row"`
	Column string      `json:"column"`
	Theirs *meanAndSD  `json:"theirs,omitempty"`
	Ours   *meanAndSD  `json:"ours,omitempty"`
	Mark   papers.Mark `json:"mark,omitempty"`
}

type meanAndSD struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd,omitempty"`
}

// newReproducedJSON is a result as JSON.
func newReproducedJSON(r *papers.Result) reproducedJSON {
	out := reproducedJSON{Name: r.Name, Title: r.Title, Source: r.Source, Missing: r.Missing, Seeds: r.Seeds, Quick: r.Quick}
	for i, row := range r.Rows {
		for j, column := range r.Columns {
			ours := r.Cells[i][j]
			c := reproducedCell{Row: row.Name, Column: column, Mark: ours.Mark}
			if row.Theirs != nil && row.Theirs[j].Readable() {
				c.Theirs = &meanAndSD{row.Theirs[j].Mean, row.Theirs[j].SD}
			}
			if ours.Mark != papers.NoData && ours.Mark != papers.NotRun && ours.Mark != papers.Alone {
				c.Ours = &meanAndSD{ours.Mean, ours.SD}
			}
			out.Cells = append(out.Cells, c)
		}
	}
	return out
}
