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
	}
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
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
