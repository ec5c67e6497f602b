package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
)

// rowList are rows by their numbers, from 0: ranges [from, to).
type rowList struct {
	ranges [][2]int
	first  bool // the first ones, however many there are
}

// parseRowList reads rows as --rows names them; nil for "".
func parseRowList(text string) (*rowList, error) {
	if text == "" {
		return nil, nil
	}
	number := func(s string) (int, bool) {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		return n, err == nil && n >= 1
	}
	wrong := usagef("--rows %s: give N for the first N rows, or numbers and ranges from 1 such as 3,17,100-120", text)
	if n, ok := number(text); ok {
		return &rowList{[][2]int{{0, n}}, true}, nil
	}
	list := new(rowList)
	for part := range strings.SplitSeq(text, ",") {
		a, b, is := strings.Cut(part, "-")
		from, ok := number(a)
		to, other := from, ok
		if is {
			to, other = number(b)
		}
		if !ok || !other || to < from {
			return nil, wrong
		}
		list.ranges = append(list.ranges, [2]int{from - 1, to})
	}
	return list, nil
}

// has says whether a row is in the list.
func (l *rowList) has(row int) bool {
	for _, r := range l.ranges {
		if row >= r[0] && row < r[1] {
			return true
		}
	}
	return false
}

// last is the last row of the list.
func (l *rowList) last() int {
	last := 0
	for _, r := range l.ranges {
		last = max(last, r[1]-1)
	}
	return last
}

// each calls body with the rows of the list: row i of a batch, and its number in src.
func (l *rowList) each(cmd *cobra.Command, src dataset.Source, body func(b dataset.Step, i, row int) error) error {
	rows, last := 0, l.last()
	for b, err := range dataset.Each(cmd.Context(), src) {
		if err != nil {
			return err
		}
		for i := range b.X.Len() {
			if row := b.First + i; l.has(row) {
				if err := body(b, i, row); err != nil {
					return err
				}
			}
		}
		if rows = b.First + b.X.Len(); rows > last {
			return nil
		}
	}
	if rows == 0 || !l.first {
		return fmt.Errorf("%s has %d rows, and --rows asks for row %d", src.Name(), rows, last+1)
	}
	return nil
}
