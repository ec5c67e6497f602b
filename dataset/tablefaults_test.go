package dataset

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A name that two columns have does not say which is meant.
func TestANameOfTwoColumnsIsAskedBack(t *testing.T) {
	const text = "y,x,w,y\n1,0,1,a\n2,1,1,b\n1,2,1,b\n"
	const want = `the columns 0 and 3, counted from 0, are all named "y"; say which by its number`
	for name, opt := range map[string]Options{
		"label":    {Label: "y"},
		"labels":   {Label: "x,y"},
		"weight":   {Weight: "y"},
		"group":    {Group: "y"},
		"id":       {Columns: ColumnOptions{ID: "y"}},
		"ignore":   {Columns: ColumnOptions{Ignore: "x, y"}},
		"range":    {Columns: ColumnOptions{Ignore: "x..y"}},
		"ordinal":  {Columns: ColumnOptions{Ordinal: "y"}},
		"of kinds": {Columns: ColumnOptions{Kinds: &Kinds{Columns: []ColumnKind{{Name: "y", Kind: KindLabel}}}}},
	} {
		if _, _, err := readTable(t, text, "", opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, opt := range []Options{{}, {Label: "0"}, {Label: "-1"}, {Label: "y.1"}, {Label: "x", Columns: ColumnOptions{Ignore: "y*"}}} {
		if _, _, err := readTable(t, text, "", opt); err != nil {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

func TestDeclaredValuesOfTheLabelAreClasses(t *testing.T) {
	var declared, rows []string
	for k := range 26 {
		declared = append(declared, fmt.Sprint(k+1))
		rows = append(rows, fmt.Sprintf("%d.5,%d", k, k+1), fmt.Sprintf("%d,%d", -k, k+1))
	}
	for of, want := range map[string]string{"{" + strings.Join(declared, ",") + "}": "classify", "numeric": "regress"} {
		text := "@relation r\n@attribute a numeric\n@attribute c " + of + "\n@data\n" + strings.Join(rows, "\n")
		src, _, err := readTable(t, text, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := Survey(context.Background(), src, SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if task, why, err := sum.Task("auto"); task != want || err != nil {
			t.Errorf("%.9s: %s (%s), %v", of, task, why, err)
		}
		if c, err := sum.Classes(); err != nil || strings.Join(c.Labels(), ",") != strings.Join(declared, ",") {
			t.Errorf("classes %v, %v", c, err)
		}
	}
}

func TestARFFRowsMayBeCutByBlanks(t *testing.T) {
	const header = "@relation r\n@attribute a numeric\n@attribute p {'Iris a','b c',d}\n@attribute c {x,y}\n@data\n"
	_, want, err := readTable(t, header+"1,'Iris a',x\n2,\"b c\",y\n0,d,y\n4,'Iris a',x\n", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []string{
		"1 'Iris a' x\n2 \"b c\" y\n 0\td\ty\n4  'Iris a'  x \n",
		"1\t'Iris a'\tx\r\n2\t'b c'\ty\r\n0\td\ty\r\n{0 4}\r\n",
		"1 'Iris a', x\n2, 'b c' y\n{1 d 2 y}\n{0 4 1 'Iris a' 2 x}\n",
	} {
		if _, got, err := readTable(t, header+rows, "", Options{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", rows, got, err)
		}
	}
}

func TestASeparatorAtTheEndOfLinesIsNoColumn(t *testing.T) {
	for _, text := range []string{
		"a,b,y,\n1,2,p,\n3,4,q,\n5,6,q,\n", "a,b,y\r\n1,2,p,\r\n3,4,q,\r\n5,6,q,\r\n", "a;b;y;\n1;2;p; \n3;4;q;\n5;6;q\n",
		"a\tb\ty\t\n1\t2\tp\t\n3\t4\tq\t\n5\t6\tq\t\n", "a,b,y,\n1,2,p\n3,4,q\n5,6,q\n",
	} {
		src, rows, err := readTable(t, text, "", Options{})
		if err != nil || strings.Join(src.names, "") != "aby" || len(rows) != 3 || rows[1].x[0] != 3 || rows[1].name != "q" {
			t.Errorf("%q: %v, %v", text, rows, err)
		}
	}
	for text, want := range map[string]string{
		"a,b,y\n1,2,p,7\n3,4,q,7\n5,6,q,\n": "f.csv:1: 3 names where the rows below have 4; give each column one name (those here are a, b, y)",
		"a,b,y,z\n1,2,p,\n3,4,q,\n":         `f.csv:2: column "z": the label is missing (""), as in 2 of 2 rows; give these rows labels, or leave them out with drop_unlabelled`,
		"a,b,y,\n" + strings.Repeat("1,2,3,\n", lookRows) + "1,2,3,4\n": "f.csv:2002: 4 columns where the first row has 3 and a separator at the " +
			"end, behind which there is nothing in the first rows",
	} {
		if _, _, err := readTable(t, text, "", Options{}); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestYearsAboveFractionsAreNames(t *testing.T) {
	const rows = "1.5,2.5,0.25\n-0.5,3,1.5\n2.25,1,?\n0.5,0.125,7.5\n1,2,3.5\n"
	for text, want := range map[string]bool{
		"2010,2011,2012\n" + rows: true, "2010,2011,y\n" + rows: true, "2012,2011,2010\n" + rows: true, "2010,2011,2.5\n" + rows: false,
		"2010,2011,2012\n" + strings.NewReplacer(".5", "", ".25", "", "0.125", "0").Replace(rows): false, "1,2,3\n" + rows: false,
	} {
		for _, header := range []string{"auto", "yes", "no"} {
			f, err := OpenBytes(context.Background(), "f.csv", []byte(text), Options{Header: header})
			if err != nil {
				t.Errorf("%q %s: %v", text, header, err)
				continue
			}
			told := slices.ContainsFunc(f.Notices(), func(n Notice) bool { return n.Kind == "header" })
			if f.Schema().Header != (want && header == "auto" || header == "yes") || told != (want && header == "auto") {
				t.Errorf("%q %s: header %v, told %v", text, header, f.Schema().Header, told)
			}
			f.Close()
		}
	}
}

// What stands above a table is no row of it, and names may be numbers, or lack for the column of an index.
func TestWhatStandsAboveTheRows(t *testing.T) {
	rows := func(format string) (text string) {
		for i := range 12 {
			text += fmt.Sprintf(format, i, i*7%5, []string{"u", "v"}[i%2])
		}
		return text
	}
	plain := rows("%d.5,%d,%s\n")
	for _, c := range []struct{ text, names, told string }{
		{"# made by x\n# 2020\na,b,y\n" + plain, "a b y", `what is above the table is left out (2 lines, such as "# made by x")`},
		{"# made by x, y and z\n\na,b,y\n" + plain, "a b y", "(1 line"},
		{"Sales,\nof 2020\na,b,y\n" + plain, "a b y", "(2 lines"},
		{"Sales of 2020,,\n,,\na,b,y\n" + plain, "a b y", "(2 lines"},
		{"u,,\na,b,y\n" + rows("%d,v%d,%s\n"), "a b y", "(1 line"},
		{"sep=;\na;b;y\n" + strings.ReplaceAll(plain, ",", ";"), "a b y", "(1 line"},
		{"# a b y\n" + strings.ReplaceAll(plain, ",", " "), "a b y", ""},
		{"% one two three four\n" + strings.ReplaceAll(plain, ",", " "), "0 1 2", "(1 line"},
		{"\"a\",\"b\",\"y\"\n" + rows("\"r%d\",3,%d,%s\n"), "0 a b y", ""},
		{"a,b,y,,\n" + rows("%d.5,%d,%s,,\n"), "a b y 3", `column "3" has no value in any row`},
		{"0,1,2,3\n" + rows("%d.5,%d,3,7%.0s\n"), "0 1 2 3", "the first line (0, 1, 2, …) is taken for the names"},
		{"5,6,7,y\n" + rows("%d,%d,9,%s\n"), "5 6 7 y", "is taken for the names"},
		{"town,2020,2019,2018,y\n" + rows("p,%d,%d,9,%s\n"), "town 2020 2019 2018 y", "is taken for the names"},
		{"5,6,7,u\n" + rows("%d,%d,9,%s\n"), "0 1 2 3", ""},
		{"1,2,3,4\n2,3,4,5\n" + rows("%d,%d,3,7%.0s\n"), "0 1 2 3", ""},
	} {
		f, err := OpenBytes(context.Background(), "f.csv", []byte(c.text), Options{})
		if err != nil {
			t.Errorf("%.30q: %v", c.text, err)
			continue
		}
		notices := slices.DeleteFunc(slices.Clone(f.Notices()), func(n Notice) bool { return n.Kind == "constant" || n.Kind == "id" })
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Errorf("%.30q: %v", c.text, err)
			continue
		}
		want := 12
		if !f.Schema().Header && c.told == "" {
			want += strings.Count(c.text, "\n") - 12
		}
		if told := fmt.Sprint(notices); strings.Join(f.table().names, " ") != c.names || all.X.Len() != want || (c.told == "") != (len(notices) == 0) || !strings.Contains(told, c.told) {
			t.Errorf("%.30q: %q, %d rows, %s", c.text, f.table().names, all.X.Len(), told)
		}
		f.Close()
	}
}

// A first line that is taken for a row, but may be names, is told of; so are separators at the end of lines, and names that stand there again.
func TestLinesThatMayBeNamesAreToldOf(t *testing.T) {
	rows := func(row string) string { return strings.Repeat(row+"\n"+strings.Replace(row, "1", "5", 1)+"\n", 10) }
	for text, want := range map[string]string{
		"0,1,2\n" + rows("1.5,7,0"):                "the first line (0, 1, 2) is taken for a row, but may be the names",
		"2019,2020\n" + rows("1,7"):                "the first line (2019, 2020) is taken for a row, but may be the names",
		"1.5,2.5,y\n" + rows("1.5,7,yes"):          "the first line (1.5, 2.5, y) is taken for a row, but may be the names",
		"0,1,2\n" + rows("0,1,2"):                  "", // it comes again
		"1.5,7,yes\n" + rows("1,7,no") + "1,2,yes": "",
		"3,1,2\n" + rows("1.5,7,0"):                "",
		"a,b,y,\n" + rows("1,2,p,"):                "lines end with a separator, behind which there is nothing: that is no column",
		"a,b,y\n" + rows("1,2,p"):                  "",
	} {
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, n := range f.Notices() {
			if n.Kind == "header" {
				told += n.Text
			}
		}
		if !strings.HasPrefix(told, want) || want == "" && told != "" {
			t.Errorf("%.20q: %q", text, told)
		}
	}
	for text, want := range map[string]string{
		"a,b,y\n": "a.csv: has no rows: its only line (a, b, y) looks like the names of columns; header=no takes it for a row",
		"a,b,y\n" + rows("1,2,p") + "a,b,y\n" + rows("1,2,p"): `a.csv:22: column "a": the name of the column is there again; remove the line if it repeats the header`,
	} {
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text), Options{})
		if err == nil {
			_, err = Survey(t.Context(), f, SurveyOptions{})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
