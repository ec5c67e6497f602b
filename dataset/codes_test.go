package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// A column of few different values, of which some are no numbers, has categories; one of many numbers with a few cells that are none is told
// to have typing errors.
func TestCodesAreCategories(t *testing.T) {
	column := func(n int, cell func(i int) string) string {
		var b strings.Builder
		b.WriteString("x,v,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%s,%d\n", i%7, cell(i), i%2)
		}
		return b.String()
	}
	codes := []string{"0", "1", "2", "3", "4", "5+"}
	for name, c := range map[string]struct {
		text string
		want string // in a notice, or in an error
		err  bool
	}{
		"a last code": {column(600, func(i int) string { return codes[i%6] }),
			`column "v" looks like numbers, but "5+" in line 7 is none: it becomes categories, of which it has 6`, false},
		"a rare code": {column(600, func(i int) string { return codes[i%5+max(0, i%50-48)] }), "of which it has 6", false},
		"a code below 1 %": {column(600, func(i int) string {
			if i == 200 || i == 500 {
				return "other"
			}
			return fmt.Sprint(9 + i%4)
		}), `"other" in line 202 is none: it becomes categories, of which it has 5`, false},
		"two typing errors": {column(600, func(i int) string {
			if i == 300 || i == 400 {
				return fmt.Sprint("O", i)
			}
			return fmt.Sprint(i % 5)
		}), `"O300" is not a number`, true},
		"one typing error": {column(600, func(i int) string {
			if i == 300 {
				return "1O"
			}
			return fmt.Sprint(i % 5)
		}), `"1O" is not a number`, true},
		"many numbers": {column(600, func(i int) string {
			if i%40 == 3 {
				return fmt.Sprint("see ", i)
			}
			return fmt.Sprint(i)
		}), `"see 3" is not a number`, true},
	} {
		f, err := openMemory([]byte(c.text), Options{})
		if err == nil {
			_, err = readBytes([]byte(c.text), Options{})
		}
		if c.err {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if told := fmt.Sprint(f.Notices()); !strings.Contains(told, c.want) {
			t.Errorf("%s: told %s, want %s", name, told, c.want)
		}
	}
}

// Postcodes of a region may all begin with 0; numbers that were padded are numbers.
func TestCodesOfDigits(t *testing.T) {
	for text, want := range map[string]bool{
		"02139 10001 94110": true, "02139 01002 02790": true, "00017 00003 00120": false, "000 001 017": false, "0123 0001": false, "02139 2140": false, "12345 23456": false,
	} {
		if isCode(strings.Fields(text)) != want {
			t.Errorf("codes %q: %v", text, !want)
		}
	}
}
