package dataset

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const arffHeader = `% a comment
@RELATION 'some name'

@attribute age NUMERIC
@Attribute 'the colour' {red, 'light blue', "green"}
	@ATTRIBUTE size real % no comment here
@attribute class {yes,no}
@DATA
`

func TestARFFRows(t *testing.T) {
	text := arffHeader + strings.Join([]string{
		"1, red, 2.5, yes",
		"% between rows",
		"",
		"3,'light blue',-1e1,\"no\"\r",
		"{0 7, 1 green, 3 no}",
		"{ 1 'light blue' , 2 .5 }",
		"{}",
		"\t5 ,green\t,0,yes",
	}, "\n")
	src, got, err := readTable(t, text, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := src.Schema()
	columns := []Column{{Place: Place{"age", 0}, Mean: 8.0 / 3},
		{Place: Place{"the colour", 1}, Categories: []string{"green", "light blue", "red"}}, {Place: Place{"size", 2}, Mean: -3.5 / 3}}
	if s.Format != "arff" || !s.Header || s.Dim != 5 || !reflect.DeepEqual(s.Columns, columns) ||
		!reflect.DeepEqual(s.Labels, []Place{{"class", 3}}) {
		t.Errorf("schema %+v", s)
	}
	// What a sparse row leaves out is 0, or the first value that is declared.
	want := []row{
		{x: map[int]float32{0: 1, 3: 1, 4: 2.5}, name: "yes"},
		{x: map[int]float32{0: 3, 2: 1, 4: -10}, name: "no"},
		{x: map[int]float32{0: 7, 1: 1}, name: "no"},
		{x: map[int]float32{2: 1, 4: .5}, name: "yes"},
		{x: map[int]float32{3: 1}, name: "yes"},
		{x: map[int]float32{0: 5, 1: 1}, name: "yes"},
	}
	for i := range want {
		want[i].first, want[i].y, want[i].weight = i, []float64{0}, 1
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows %v\nwant %v", got, want)
	}
}

func TestARFFNamesAndValuesMayBeQuoted(t *testing.T) {
	text := "@relation x\n@attribute \"a b\" real\n@attribute 'it\\'s' {'x,y', 'it\\'s', \"}\"}\n@attribute c integer\n@data\n" +
		"1,'x,y',2\n3,'it\\'s',4\n5,\"}\",6\n{0 8, 1 'x,y'}\n{1 \"}\"}\n"
	src, got, err := readTable(t, text, "arff", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a b", "it's", "c"}; !reflect.DeepEqual(src.names, want) {
		t.Errorf("names %q, want %q", src.names, want)
	}
	// Sorted: it's, x,y, }.
	for i, code := range []int{2, 1, 3, 2, 3} {
		if got[i].x[code] != 1 {
			t.Errorf("row %d is %v, want category %d", i, got[i].x, code)
		}
	}
}

func TestARFFMissingValues(t *testing.T) {
	text := arffHeader + "1,red,?,yes\n2,?,4,no\n"
	if _, _, err := readTable(t, text, "", Options{Missing: "error"}); err == nil ||
		err.Error() != `f.csv:9: column "size": "?" is not a number (a missing value? missing=mean or missing=zero fills it in)` {
		t.Errorf("error %v", err)
	}
	src, got, err := readTable(t, text, "", Options{Missing: "mean"})
	if err != nil || src.Schema().Columns[2].Mean != 4 || got[0].x[5] != 4 {
		t.Errorf("%v, error %v", got, err)
	}
	if want := []string{"?", "green", "light blue", "red"}; !reflect.DeepEqual(src.Schema().Columns[1].Categories, want) {
		t.Errorf("categories %q, want %q", src.Schema().Columns[1].Categories, want)
	}
}

func TestARFFErrorsSayWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"@relation x\n@attribute d date 'yyyy\n@data\n", `f.csv:2: attribute "d": the quote ' is not closed`},
		{"@relation x\n@attribute d relational\n@data\n", `f.csv:2: attribute "d" is of type relational; turn it into numbers first`},
		{"@relation x\n@attribute d float\n@data\n",
			`f.csv:2: attribute "d" has type "float"; known are numeric, real, integer, string, date and {values}`},
		{"@relation x\n@attribute d\n@data\n", `f.csv:2: attribute "d" has type ""; known are numeric, real, integer, string, date and {values}`},
		{"@relation x\n@attribute\n@data\n", `f.csv:2: an @attribute needs a name and a type`},
		{"@relation x\n@attribute 'd real\n@data\n", `f.csv:2: an @attribute needs a name and a type`},
		{"@relation x\n@attribute d {a,b\n@data\n", `f.csv:2: the values of attribute "d" have no closing brace`},
		{"@relation x\n@attribute d {a,'b}\n@data\n", `f.csv:2: attribute "d": a quote opens the cell and nothing closes it`},
		{"@relation x\n@attribute d {}\n@data\n", `f.csv:2: attribute "d" declares no values`},
		{"@relation x\n@attribute d real\n@attribute d real\n@data\n", `f.csv:3: attribute "d" is declared twice`},
		{"@relation x\n@data\n1,2\n", `f.csv:2: @data comes before any @attribute`},
		{"@relation x\n@attribute d real\n1,2\n", `f.csv:3: "1,2" is none of @relation, @attribute, @data`},
		{"@relation x\n@attribute d real\n", `f.csv: no @data line in its first 30 bytes`},
		{arffHeader + "1,red,2\n", "f.csv:9: 3 columns where the header declares 4"},
		{arffHeader + "1,red,2,no\n\n1,red,2,no,5\n", "f.csv:11: 5 columns where the header declares 4"},
		{arffHeader + "1,red,2,no,{5}\n", "f.csv:9: row weights in braces are not read; put them into a column and name it with weight"},
		{arffHeader + "{0 1}, {5}\n", "f.csv:9: row weights in braces are not read; put them into a column and name it with weight"},
		{arffHeader + "{0 1} x\n", `f.csv:9: "x" follows the closing brace`},
		{arffHeader + "x,red,2,no\n", `f.csv:9: column "age": "x" is not a number (na=x counts such cells as missing, categorical=age takes the column as text)`},
		{arffHeader + "1,pink,2,no\n", `f.csv:9: column "the colour": "pink" is not among the declared values`},
		{arffHeader + "1,red,2,maybe\n", `f.csv:9: column "class": "maybe" is not among the declared values`},
		{"@relation x\n@attribute a real\n@attribute c {1,2}\n@data\n1,1.0\n2,3\n", `f.csv:6: column "c": "3" is not among the declared values`},
		{arffHeader + "1,'red,2,no\n", `f.csv:9: column "the colour": a quote opens the cell and nothing closes it`},
		{arffHeader + "1,'red' x,2,no\n", `f.csv:9: column "the colour": text follows the closing quote of the cell; ` +
			`a quote inside a quoted cell must be doubled`},
		{arffHeader + "1,red,2,?\n", `f.csv:9: column "class": the label is missing ("?"), as in 1 of 1 row; give these rows labels, or leave them out with drop_unlabelled`},
		{arffHeader + "{0 1\n", "f.csv:9: the sparse row has no closing brace"},
		{arffHeader + "{\n", "f.csv:9: the sparse row has no closing brace"},
		{arffHeader + "{0\n", "f.csv:9: the sparse row has no closing brace"},
		{arffHeader + "{4 1}\n", `f.csv:9: "4" is not an index from 0 to 3`},
		{arffHeader + "{-1 1}\n", `f.csv:9: "-1" is not an index from 0 to 3`},
		{arffHeader + "{2 1, 0 1}\n", "f.csv:9: index 0 comes after 2; indices must increase within a row"},
		{arffHeader + "{2 1, 2 1}\n", "f.csv:9: index 2 comes twice"},
		{arffHeader + "{2}\n", `f.csv:9: column "size": index 2 has no value`},
		{arffHeader + "{2 1 x 4}\n", `f.csv:9: column "size": "x 4}" follows the value; a comma or a brace is expected`},
		{arffHeader + "{1 'red}\n", `f.csv:9: column "the colour": the quote ' is not closed`},
	} {
		_, _, err := readTable(t, c.text, "arff", Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\nerror %v\nwant  %s", strings.TrimPrefix(c.text, arffHeader), err, c.want)
		}
	}
}

func TestLooksLikeARFF(t *testing.T) {
	for text, want := range map[string]bool{
		"@relation x\n":                    true,
		"% c\n\n  @RELATION x\n":           true,
		"\xef\xbb\xbf@attribute a real\n":  true,
		"@data\n":                          false,
		"a,@relation\n":                    false,
		"1,2,3\n@relation x\n":             false,
		"":                                 false,
		"% only a comment\n%and another\n": false,
	} {
		if got := looksLikeARFF([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Dates are of the layout that they are declared with, or of ISO 8601.
func TestDatesOfARFF(t *testing.T) {
	text := "@relation x\n@attribute d date \"dd.MM.yyyy HH:mm\"\n@attribute e DATE\n@attribute y {a,b}\n@data\n" +
		"\"01.02.1970 06:00\",1970-01-02T12:00:00,a\n?,'1970-01-03T00:00:00',b\n"
	f := openMessy(t, text, Options{})
	all, err := Collect(context.Background(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if x := all.X.Dense.Row(0); x[0] != 31.25 || x[1] != 1970 || x[9] != 1.5 || f.Profile().Columns[0].Missing != 1 {
		t.Errorf("%v %+v", x, f.Profile().Columns[0])
	}
}

// Strings of ARFF that differ in all rows are IDs as those of other tables.
func TestIDsOfARFF(t *testing.T) {
	text := "@relation x\n@attribute s string\n@attribute a real\n@attribute y {a,b}\n@data\n"
	for i := range 60 {
		text += fmt.Sprintf("'id %d',%d.5,%s\n", i, i%7, "ab"[i%2:i%2+1])
	}
	if n := openMessy(t, text, Options{}).Notices(); len(n) != 1 || !strings.Contains(n[0].Text, `looks like an ID (60 different texts in 60 rows, such as "id 0")`) {
		t.Errorf("%v", n)
	}
}
