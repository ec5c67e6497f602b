package option

import (
	"encoding/csv"
	"strings"
)

// List are the parts of an option that is a list: they are separated by commas, and those that hold commas are in double quotes, as in CSV.
func List(text string) []string {
	parts := strings.Split(text, ",")
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	if quoted, err := r.ReadAll(); err == nil && len(quoted) == 1 { // otherwise quotes belong to a name
		parts = quoted[0]
	} else if ranges, ok := withRanges(text); ok {
		parts = ranges
	}
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

// withRanges is a list with ranges of quoted names, such as "a, b".."c": its parts as they are written.
func withRanges(text string) (parts []string, ok bool) {
	part := ""
	for text != "" {
		switch end := quotedEnd(text); {
		case end > 0 && !isRange(strings.TrimSpace(part)):
			return nil, false
		case end > 0:
			part, text, ok = part+text[:end], text[end:], true
		case text[0] == ',':
			parts, part, text = append(parts, unquoted(strings.TrimSpace(part))), "", text[1:]
		default:
			part, text = part+text[:1], text[1:]
		}
	}
	return append(parts, unquoted(strings.TrimSpace(part))), ok
}

// isRange says that what is before a quoted name may be so: nothing, or the beginning of a range.
func isRange(before string) bool {
	return before == "" || strings.HasSuffix(before, "..") || strings.HasSuffix(before, `"-`)
}

// quotedEnd is where a quoted text at the beginning of another ends, 0 if there is none.
func quotedEnd(text string) int {
	if !strings.HasPrefix(text, `"`) {
		return 0
	}
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			i++
			continue
		}
		return i + 1
	}
	return 0
}

// Range cuts a range of names, FIRST..LAST, either of which may be quoted; behind a quoted one a hyphen does as well.
func Range(part string) (first, last string, ok bool) {
	if end := quotedEnd(part); end > 0 {
		rest := strings.TrimSpace(part[end:])
		if last, ok = strings.CutPrefix(rest, ".."); !ok {
			last, ok = strings.CutPrefix(rest, "-")
		}
		first = part[:end]
	} else {
		first, last, ok = strings.Cut(part, "..")
	}
	return unquoted(strings.TrimSpace(first)), unquoted(strings.TrimSpace(last)), ok
}

func unquoted(name string) string {
	if end := quotedEnd(name); end > 0 && end == len(name) {
		return strings.ReplaceAll(name[1:end-1], `""`, `"`)
	}
	return name
}

// Listed is the option that List reads as some parts.
func Listed(parts []string) string {
	list := make([]string, len(parts))
	for i, part := range parts {
		if list[i] = part; strings.ContainsAny(part, `,"`) {
			list[i] = `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
		}
	}
	return strings.Join(list, ",")
}
