package dataset

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// Amounts in several currencies, numbers with several units, a row of totals and a line of merged cells above the names are told of.
func TestOddTablesAreTold(t *testing.T) {
	rows := func(head string, cells func(i int) string) string {
		text := head
		for i := range 60 {
			text += fmt.Sprintf("%s,%d.5,%d\n", cells(i), i%17, i%2)
		}
		return text
	}
	for _, c := range []struct{ name, text, want string }{
		{"currencies", rows("price,z,y\n", func(i int) string { return []string{"$", "€"}[i%2] + fmt.Sprint(i, ".50") }), `column "price" has amounts in $ and €, which`},
		{"one currency", rows("price,z,y\n", func(i int) string { return "$" + fmt.Sprint(i, ".50") }), ""},
		{"units", rows("weight,z,y\n", func(i int) string { return fmt.Sprint(i, []string{" kg", " g"}[i%2]) }), `several units (kg, g), and is taken for text`},
		{"streets", rows("street,z,y\n", func(i int) string { return fmt.Sprint(i%9, []string{" Main St", " Oak Ave"}[i%2]) }), ""},
		{"total", rows("item,z,y\n", func(i int) string { return fmt.Sprint("item", i%7) }) + "Grand total:,900,1\n", `has "Grand total:" in one row`},
		{"sums", rows("item,z,y\n", func(i int) string { return fmt.Sprint("item", i%7) }) + "All,474,30\n", `the last row has the sums of the others in 2 columns (z, y)`},
		{"sums first", "item,z,y\n,474,30\n" + rows("", func(i int) string { return fmt.Sprint("item", i%7) }), `the first row has the sums of the others`},
		{"no sums", rows("item,z,y\n", func(i int) string { return fmt.Sprint("item", i%7) }) + "x,480,30\n", ""},
		{"merged", rows("Sales,,2023\nregion,units,y\n", func(i int) string { return "NSEW"[i%4 : i%4+1] }), ""},
		{"merged more", rows("Sales,,\nregion,units,y\n", func(i int) string { return "NSEW"[i%4 : i%4+1] }), "what is above the table is left out (1 line"},
		{"merged wide", strings.ReplaceAll(rows("Sales,,2023\nregion,units,y\n", func(i int) string { return "N,7" }), "Sales,,2023\nregion,", "Sales,,2023,\nregion,q,"),
			"what is above the table is left out (1 line"},
	} {
		f, err := OpenBytes(context.Background(), "f", []byte(c.text), Options{})
		if err != nil {
			if c.name != "merged" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got := fmt.Sprint(f.Notices()); !strings.Contains(got, c.want) || c.want == "" && len(f.Notices()) > 0 && c.name != "streets" ||
			c.name == "streets" && strings.Contains(got, "several units") {
			t.Errorf("%s: told %s", c.name, got)
		}
	}
}
