package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
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
		{"comments and titles", "# exported\n# by hand\nMonthly report,,\n,,\n" + rows("region,units,y\n", func(i int) string { return "NSEW"[i%4 : i%4+1] }), "what is above the table is left out (4 lines"},
		{"dates as labels", "a,b,when\n" + strings.Repeat("1.5,2,2024-01-03\n2.5,1,2024-02-07\n", 30), `column "when" has dates, each of which is a class`},
		{"apostrophes", "'item','z','y'\n" + strings.Repeat("'a b','1.5','2'\n'c','','3'\n", 20), "cells are between apostrophes, such as 'item', which are no quotes of CSV"},
		{"some apostrophes", rows("item,z,y\n", func(i int) string { return fmt.Sprintf("'item%d'", i%7) }), ""},
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

// Lines that are none of the rows, and have no label, are told apart from rows with a wrong number.
func TestLinesWithoutLabelAmongNumbers(t *testing.T) {
	head, body := "size,z,y\n", ""
	for i := range 60 {
		body += fmt.Sprintf("%d.5,%d,%s\n", i%17, i%5, []string{"no", "yes"}[i%2])
	}
	const advice = "; the line has no label either: remove it if it is none of the rows, or leave out all such with drop_unlabelled"
	for name, c := range map[string]struct{ text, line string }{
		"units":     {head + "[m],[s],\n" + body, `f:2: column "size": "[m]"`},
		"total":     {head + body + "Total,90,\n", `f:62: column "size": "Total"`},
		"footnote":  {head + body + "\nSource: us,,\n", `f:63: column "size": "Source: us"`},
		"no number": {head + body + "tall,2,no\n", `f:62: column "size": "tall"`},
	} {
		f, err := OpenBytes(t.Context(), "f", []byte(c.text), Options{})
		if err == nil {
			_, err = everything(f)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.line+" is not a number") || strings.HasSuffix(err.Error(), advice) != (name != "no number") {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no number" {
			continue
		}
		f, err = OpenBytes(t.Context(), "f", []byte(c.text), Options{DropUnlabelled: true})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := everything(f); err != nil || all.X.Len() != 60 {
			t.Errorf("%s, left out: %v", name, err)
		}
	}
}

// In few rows a column of many different numbers has a relation to the label, and one that says all of it is told of.
func TestRelationsInFewRows(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,stage,copy,y\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 240 {
		a, b := r.NormFloat64(), r.NormFloat64()
		won := a+r.NormFloat64()/3 > 0
		fmt.Fprintf(&text, "%.3f,%.3f,%s,%d,%v\n", a, b, map[bool]string{true: "closed-won", false: "closed-lost"}[won], map[bool]int{true: 1, false: 7}[won], won)
	}
	f, err := OpenBytes(t.Context(), "f", []byte(text.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Profile().Columns
	if c[0].Relation < 0.4 || c[0].Relation > 0.95 || c[1].Relation > 0.2 || c[2].Relation != 1 {
		t.Errorf("relations %g, %g, %g", c[0].Relation, c[1].Relation, c[2].Relation)
	}
	for _, name := range []string{"stage", "copy"} {
		if got := fmt.Sprint(f.Notices()); !strings.Contains(got, `column "`+name+`" says all of the label "y"`) {
			t.Error(got)
		}
	}
}

// A line of names between blanks above rows that have a tab here and there: all are blanks.
func TestTabsAmongBlanks(t *testing.T) {
	for text, want := range map[string]int{
		"a b c y\n" + strings.Repeat("1.5  2\tx no\n2.5  7\tz yes\n", 20):                 3,
		"first name\tage\ty\n" + strings.Repeat("Ann Lee\t30\tno\nBo Ray\t31\tyes\n", 20): 2,
	} {
		f, err := OpenBytes(t.Context(), "f", []byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Schema().Columns); got != want {
			t.Errorf("%.20q: %d columns, want %d", text, got, want)
		}
	}
}

// Strings of numbers, and of missing values, among numbers of JSON are numbers; alone they are texts.
func TestQuotedNumbersAmongNumbersOfJSON(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		mixed, gap := fmt.Sprintf("%d.5", i%9), fmt.Sprint(i%7)
		if i%2 == 0 {
			mixed = `"` + mixed + `"`
		}
		if i%5 == 0 {
			gap = `"N/A"`
		}
		fmt.Fprintf(&text, `{"mixed":%s,"gap":%s,"text":"%d","flag":%v,"y":"%c"}`+"\n", mixed, gap, i%3, i%4 == 0, "ab"[i%2])
	}
	f, err := OpenBytes(t.Context(), "f", []byte(text.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Profile().Columns
	if c[0].Kind != KindNumber || c[1].Kind != KindNumber || c[1].Missing != 12 || c[2].Kind != KindCategory || c[3].Kind != KindCategory {
		t.Errorf("%+v", c)
	}
	all, err := everything(f)
	if err != nil || all.X.Dense.Row(10)[0] != 1.5 {
		t.Errorf("%v, %v", all, err)
	}
	_, err = OpenBytes(t.Context(), "f", []byte("{\"a\":1,\"y\":2},\n{\"a\":2,\"y\":3},\n"), Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "the line ends with a comma; take them out: sed 's/,$//' FILE > DATA") {
		t.Error(err)
	}
}
