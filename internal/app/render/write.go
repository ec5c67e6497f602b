// Package render turns results into what people and programs read: text for a terminal, pages,
// CSV, and the objects that --json prints.
//
// Its functions are pure. They take a result and write to an io.Writer or give a report.Page; they know
// neither flags nor files nor the clock, so what a command measures beside its result (the peak of memory,
// the size of a file, the time that it took) is passed to them.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
)

// JSON writes v as one JSON object on one line.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Line writes a fact: its name in a column, and what there is to say.
func Line(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "  %-9s %s\n", name, visible.Text(fmt.Sprintf(format, args...)))
}

// File writes a line about a file that was written or read: what it is to the command, its name and its size.
func File(w io.Writer, what, path string, bytes int64) {
	Line(w, what, "%s (%s)", path, units.Bytes(bytes))
}

// lines is Line with a writer, or a collector of facts in its place.
type lines func(name, format string, args ...any)

func linesTo(w io.Writer) lines {
	return func(name, format string, args ...any) { Line(w, name, format, args...) }
}

// factLines collects lines as facts of a page. A line without a name goes on with the one before,
// unless it is one of a table set with blanks: pages have such numbers in tables of their own.
func factLines(print func(line lines)) []report.Fact {
	var list []report.Fact
	print(func(name, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if n := len(list); name == "" && n > 0 {
			if !strings.Contains(strings.TrimSpace(text), "  ") {
				list[n-1].Value += "; " + text
			}
			return
		}
		list = append(list, report.Fact{Name: name, Value: text})
	})
	return list
}

// mostWords bounds a word in a column.
const mostWords = 100

// Columns writes rows in columns, of which the first few are words and the others numbers; the
// first row is the titles. What a row has beyond the titles is written as it is.
func Columns(w io.Writer, words int, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range widths {
			if i < words && row[i] != "" {
				row[i] = ShortLabel(row[i], mostWords)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i < len(widths) {
				if i < words {
					cell = "  " + padded(cell, widths[i])
				} else {
					cell = "  " + leftPadded(cell, widths[i])
				}
			}
			b.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// ShortLabel is a name of the data on one line, cut where it is longer than so many characters.
func ShortLabel(s string, most int) string {
	if s == "" {
		s = "(empty)"
	}
	s = visible.Text(s)
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 1)]) + "…"
	}
	return s
}

// padded is text with blanks after it, at least so wide.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// leftPadded is text with blanks before it, at least so wide.
func leftPadded(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

// listedName bounds a name in a list of them.
const listedName = 40

// firstOf lists the first names of a list.
func firstOf(names []string, most int) string {
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, ShortLabel(name, listedName))
	}
	if len(names) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// orDash is text, or a dash where there is none.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
