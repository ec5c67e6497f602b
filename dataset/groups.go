package dataset

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
)

// member is what a group of columns may name: an input column, or a dimension of data without columns.
type member struct {
	name     string
	at       int // its position
	from, to int // its dimensions
}

// inputs are those of rows of dim dimensions.
func (s *Schema) inputs(dim int) (all []member) {
	first := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		all = append(all, member{c.Name, c.At, first, first + c.Width()})
		first += c.Width()
	}
	for ; first < dim && s.Columns == nil; first++ {
		all = append(all, member{strconv.Itoa(first + s.Base), first + s.Base, first, first + 1})
	}
	return all
}

// GroupDims are the dimensions of a list of columns, as in ColumnOptions, as rising ranges [from, to).
func (s *Schema) GroupDims(list string, dim int) ([][2]int, error) {
	all := s.inputs(dim)
	taken := make([]bool, len(all))
	for _, part := range option.List(list) {
		if !take(all, part, taken) {
			return nil, fmt.Errorf("there is no input column %q for a group; there are %s", part, someOf(all))
		}
	}
	return rangesOf(all, func(i int) bool { return taken[i] }), nil
}

// rangesOf are the dimensions of some inputs.
func rangesOf(all []member, some func(i int) bool) (ranges [][2]int) {
	for i, c := range all {
		switch n := len(ranges); {
		case !some(i):
		case n > 0 && ranges[n-1][1] == c.from:
			ranges[n-1][1] = c.to
		default:
			ranges = append(ranges, [2]int{c.from, c.to})
		}
	}
	return ranges
}

// take marks the inputs that a part of a list names, and says whether there are any.
func take(all []member, part string, taken []bool) bool {
	find := func(name string) int {
		if i := slices.IndexFunc(all, func(c member) bool { return c.name == name }); i >= 0 {
			return i
		}
		at, err := strconv.Atoi(name)
		return slices.IndexFunc(all, func(c member) bool { return err == nil && c.at == at })
	}
	if i := find(part); i >= 0 {
		taken[i] = true
		return true
	}
	if first, last, ok := strings.Cut(part, ".."); ok {
		if i, j := find(strings.TrimSpace(first)), find(strings.TrimSpace(last)); i >= 0 && i <= j {
			for ; i <= j; i++ {
				taken[i] = true
			}
			return true
		}
	}
	some := func(c member) bool { return false }
	if first, last, ok := strings.Cut(part, "-"); ok {
		from, err := strconv.Atoi(first)
		to, other := strconv.Atoi(last)
		if err == nil && other == nil && to <= all[len(all)-1].at {
			some = func(c member) bool { return from <= c.at && c.at <= to }
		}
	}
	if strings.ContainsAny(part, "*?[") {
		some = func(c member) bool {
			match, err := path.Match(strings.ReplaceAll(part, "/", "\x00"), strings.ReplaceAll(c.name, "/", "\x00"))
			return err == nil && match
		}
	}
	found := false
	for i, c := range all {
		if some(c) {
			taken[i], found = true, true
		}
	}
	return found
}

// someOf names a few inputs.
func someOf(all []member) string {
	var names []string
	for _, c := range all[:min(len(all), 8)] {
		names = append(names, strconv.Quote(c.name))
	}
	text := strings.Join(names, ", ")
	if n := len(all) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// PrefixGroups divides the input columns by what their names have before a separator (_ . - : / or a blank) or before
// digits at their end. Columns that share this with no other are one group, whose name is "".
func (s *Schema) PrefixGroups(dim int) (names []string, dims [][][2]int, err error) {
	if !s.Header {
		return nil, nil, fmt.Errorf("groups by prefixes of names: the columns have no names; name the groups, such as 0-15;16-63")
	}
	all := s.inputs(dim)
	prefixes, count := make([]string, len(all)), map[string]int{}
	for i, c := range all {
		p := c.name
		if at := strings.IndexAny(p, "_.-:/ "); at > 0 {
			p = p[:at]
		} else {
			p = strings.TrimRight(p, "0123456789")
		}
		prefixes[i] = p
		count[p]++
	}
	for i, p := range prefixes {
		if count[p] == 1 {
			prefixes[i] = ""
		}
		if !slices.Contains(names, prefixes[i]) {
			names = append(names, prefixes[i])
		}
	}
	if len(names) < 2 {
		return nil, nil, fmt.Errorf("groups by prefixes of names: the names have %d, and 2 or more are needed; "+
			"name the groups, such as 'hue*;size,weight'", len(names))
	}
	for _, name := range names {
		dims = append(dims, rangesOf(all, func(i int) bool { return prefixes[i] == name }))
	}
	return names, dims, nil
}

// Part is the summary of some dimensions, ranges [from, to), but for the sample, which stays as it is.
func (s *Summary) Part(ranges [][2]int) *Summary {
	p := *s
	p.Columns, p.NonZero = nil, 0
	for _, r := range ranges {
		p.Columns = append(p.Columns, s.Columns[r[0]:r[1]]...)
	}
	for _, c := range p.Columns {
		p.NonZero += c.NonZero
	}
	p.Dim = len(p.Columns)
	return &p
}
