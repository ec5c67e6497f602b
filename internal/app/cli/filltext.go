package cli

import "strings"

// filled is the text of a help in lines of at most width characters. Paragraphs are filled anew. Lines that are
// indented or have columns stay as they are where they fit, else their last column is filled anew, together with
// the lines below that go on in it.
func filled(text string, width int) string {
	var out []string
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		j := i + 1
		column := lastColumn(lines[i])
		if column == 0 {
			for j < len(lines) && lines[i] != "" && lines[j] != "" && lastColumn(lines[j]) == 0 {
				j++
			}
			out = append(out, broken(strings.Join(lines[i:j], " "), "", "", width))
			i = j
			continue
		}
		long := len([]rune(lines[i])) > width
		for j < len(lines) && indent(lines[i]) < column && indent(lines[j]) == column && lastColumn(lines[j]) == column {
			long = long || len([]rune(lines[j])) > width
			j++
		}
		if !long {
			out = append(out, lines[i:j]...)
			i = j
			continue
		}
		first := []rune(lines[i])
		item := string(first[column:])
		for _, more := range lines[i+1 : j] {
			item += " " + strings.TrimSpace(more)
		}
		out = append(out, broken(item, string(first[:column]), strings.Repeat(" ", column), width))
		i = j
	}
	return strings.Join(out, "\n")
}

// indent is how many blanks a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// lastColumn is where the last column of a line begins: behind two blanks or more; 0 for a line of a paragraph.
func lastColumn(line string) int {
	trimmed := strings.TrimRight(line, " ")
	at := strings.LastIndex(trimmed, "  ")
	if at < 0 {
		return 0
	}
	return len([]rune(trimmed[:at])) + 2
}

// broken is text in lines of at most width characters where words allow it: the first begins with first, the
// others with rest.
func broken(text, first, rest string, width int) string {
	var b strings.Builder
	b.WriteString(first)
	at, empty := len([]rune(first)), true
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case empty:
		case at+1+n > width:
			b.WriteString("\n" + rest)
			at = len([]rune(rest))
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at, empty = at+n, false
	}
	return b.String()
}

// filledCommands is command lines, one a line, those that are too long broken as a shell takes it: between words
// with a backslash, and in quoted JSON behind commas.
func filledCommands(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if len([]rune(line)) <= width {
			out = append(out, line)
			continue
		}
		const rest = "      "
		at := line[:indent(line)]
		empty := true
		for _, word := range commandWords(line) {
			for _, part := range jsonParts(word, width-len(rest)-2) {
				switch n := len([]rune(at + " " + part.text)); {
				case empty:
					at += part.text
				case part.inside && n <= width:
					at += part.text
				case part.inside:
					out, at = append(out, at), rest+part.text
				case n+2 <= width:
					at += " " + part.text
				default:
					out, at = append(out, at+" \\"), rest+part.text
				}
				empty = false
			}
		}
		out = append(out, at)
	}
	return strings.Join(out, "\n")
}

// commandWords are the words of a command line, a flag with its value being one; a word in quotes may hold blanks.
func commandWords(line string) (words []string) {
	var word strings.Builder
	quote := rune(0)
	for _, c := range line + " " {
		switch {
		case quote == 0 && c == ' ':
			switch n := len(words); {
			case word.Len() == 0:
			case n > 0 && len(words[n-1]) > 1 && words[n-1][0] == '-' && !strings.Contains(words[n-1], " ") &&
				word.String()[0] != '-' && word.String()[0] != '\'':
				words[n-1] += " " + word.String()
			default:
				words = append(words, word.String())
			}
			word.Reset()
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
		word.WriteRune(c)
	}
	return words
}

// commandPart is a word of a command line, or a part of one; inside says that it goes on with a word.
type commandPart struct {
	text   string
	inside bool
}

// jsonParts cuts a quoted word of JSON that is longer than width behind commas; others stay whole.
func jsonParts(word string, width int) (parts []commandPart) {
	if len([]rune(word)) <= width || !strings.HasPrefix(word, "'{") {
		return []commandPart{{word, false}}
	}
	for piece := range strings.SplitAfterSeq(word, ",") {
		parts = append(parts, commandPart{piece, len(parts) > 0})
	}
	return parts
}
