package dataset

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// readTable makes a table of text and reads all of it.
func readTable(t *testing.T, text, format string, opt Options) (*table, []row, error) {
	t.Helper()
	src, err := newTable(context.Background(), &memInput{"f.csv", []byte(text)}, opt, format)
	if err != nil {
		return nil, nil, err
	}
	rows, err := readRows(t, src, 4096)
	return src.(*table), rows, err
}

func TestTableErrorsSayWhereAndWhatToDo(t *testing.T) {
	const ages = "age,job,y\n39,clerk,1\n50,cook,0\n41,cook,1\n"
	missing := func(cell string) string {
		return fmt.Sprintf(`f.csv:5: column "age": %q is not a number (a missing value? missing=mean or missing=zero fills it in)`, cell)
	}
	many := "1"
	header := "c0"
	for j := 1; j < 20; j++ {
		many += ",1"
		header += fmt.Sprintf(",c%d", j)
	}
	for _, c := range []struct {
		opt  Options
		text string
		want string
	}{
		{Options{Missing: "error"}, ages + "n/a,cook,0\n", missing("n/a")},
		{Options{Missing: "error"}, ages + "?,cook,0\n", missing("?")},
		{Options{Missing: "error"}, ages + ",cook,0\n", missing("")},
		{Options{Missing: "error"}, ages + "NaN,cook,0\n", missing("NaN")},
		{Options{Missing: "error"}, ages + " NA ,cook,0\n", missing("NA")},
		{Options{Missing: "error"}, ages + "\"null\",cook,0\n", missing("null")},
		{Options{}, ages + "abc,cook,0\n", `f.csv:5: column "age": "abc" is not a number (na=abc counts such cells as missing, categorical=age takes the column as text)`},
		{Options{}, ages + "0x10,cook,0\n", `f.csv:5: column "age": "0x10" is not a number (na=0x10 counts such cells as missing, categorical=age takes the column as text)`},
		{Options{}, ages + "inf,cook,0\n", `f.csv:5: column "age": "inf" is not a finite number; na=inf counts it as missing`},
		{Options{}, ages + "-1e39,cook,0\n", `f.csv:5: column "age": -1e39 is out of float32's range (3.4e38)`},
		{Options{}, ages + "1,cook,?\n", `f.csv:5: column "y": the label is missing ("?"), as in 1 of 4 rows; give these rows labels, or leave them out with drop_unlabelled`},
		{Options{Missing: "zero"}, ages + "1,cook,\n", `f.csv:5: column "y": the label is missing (""), as in 1 of 4 rows; give these rows labels, or leave them out with drop_unlabelled`},
		{Options{}, ages + "1,cook,-inf\n", `f.csv:5: column "y": the label "-inf" is not a finite number; na=-inf counts it as missing`},
		{Options{}, ages + "1,cook,1e999\n", `f.csv:5: column "y": the label 1e999 is out of float64's range`},
		{Options{Label: "age,y"}, ages + "1,cook,a\n", `f.csv:5: column "y": the label "a" is not a number; with several outputs all must be`},
		{Options{}, ages + "1,cook\n", "f.csv:5: 2 columns where the first row has 3"},
		{Options{}, ages + "1\n", "f.csv:5: 1 column where the first row has 3"},
		{Options{}, ages + "1,cook,1,\n", "f.csv:5: 4 columns where the first row has 3"},
		{Options{}, ages + "1,\"cook,1\n2,cook,3\n", `f.csv:5: column "job": a quote opens the cell and nothing closes it`},
		{Options{}, ages + "1,\"cook\"s,1\n",
			`f.csv:5: column "job": text follows the closing quote of the cell; a quote inside a quoted cell must be doubled`},
		{Options{}, ages + "1,5\" pipe,1\n2,7\" pipe,0\n",
			`f.csv:5: column "job": the cell has a double quote inside and so the row goes on in the next line; put ` +
				`the cell in double quotes and double the one inside`},
		{Options{}, "1,2,3\n4,5,6\n7,x,9\n", `f.csv:3: column 1: "x" is not a number`},
		{Options{}, "1,2,3\n4,\"5\n\",6\n7,8,9\n", "f.csv:2: column 1: \"5\\n\" is not a number"},
		{Options{Label: "sex"}, ages, `f.csv: there is no column "sex" for label; the columns are age, job, y`},
		{Options{Label: "3"}, ages, `f.csv: there is no column 3 for label; the columns are age, job, y`},
		{Options{Label: "-4"}, ages, `f.csv: there is no column -4 for label; the columns are age, job, y`},
		{Options{Label: "y,-1"}, ages, `f.csv: label names column "y" twice`},
		{Options{Label: "y"}, "1,2,3\n4,5,6\n", `f.csv: there is no column "y" for label; the columns are 0 to 2 and have no names`},
		{Options{Label: "y"}, header + "\n" + many + "\n" + many + "\n",
			`f.csv: there is no column "y" for label; the columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 and 8 more`},
		{Options{Weight: "w"}, ages, `f.csv: there is no column "w" for weight; the columns are age, job, y`},
		{Options{Weight: "0,1"}, ages, `f.csv: weight "0,1" names 2 columns; one is possible`},
		{Options{Weight: "y", Label: "y"}, ages, `f.csv: column "y" is the label and the weight; name another weight or label`},
		{Options{Weight: "age"}, ages + "-1,cook,0\n", `f.csv:5: column "age": "-1" is not a weight; weights are numbers of 0 or more`},
		{Options{Weight: "age"}, ages + "?,cook,0\n", `f.csv:5: column "age": "?" is not a weight; weights are numbers of 0 or more`},
		{Options{Label: "0,1,2"}, ages, "f.csv: no column is left as input beside labels and weights (3 in all; is " +
			"the separator one of , ; tab | blank?)"},
		{Options{}, "1\n2\n3\n", "f.csv: no column is left as input beside labels and weights (1 in all; is the " +
			"separator one of , ; tab | blank?)"},
		{Options{}, "", "f.csv: has no rows"},
		{Options{}, " \n\n", "f.csv: has no rows"},
		{Options{}, "|1x3 Cross validator\n1,2,3\n4,5,6\n7,8,9\n",
			`f.csv:1: 1 column where the rows below have 3; remove the line if it is not part of the table (it starts ` +
				`with "|1x3 Cross validator")`},
		{Options{}, "\"a,1\n2,3\n", "f.csv:1: column 0: a quote opens the cell and nothing closes it"},
		{Options{}, strings.Repeat("1,", headSize) + "1\n",
			"f.csv:1: the line is longer than 1.0 MiB, too long for a table; NPY and LIBSVM files may have rows so wide"},
	} {
		_, _, err := readTable(t, c.text, "", c.opt)
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60q %+v:\nerror %v\nwant  %s", c.text, c.opt, err, c.want)
		}
	}
}

func TestTableSeparatorsAndQuotes(t *testing.T) {
	want := []row{
		{first: 0, x: map[int]float32{0: 1, 1: -2.5}, y: []float64{3}, weight: 1},
		{first: 1, x: map[int]float32{0: 4, 1: 5e-3}, y: []float64{0}, name: "a", weight: 1},
	}
	for _, c := range []struct{ format, text string }{
		{"", "1,-2.5,3\n4,5e-3,a\n"},
		{"csv", "1;-2.5;3\n4;5e-3;a\n"},
		{"", "1;-2.5;3\n4;5e-3;a\n"},
		{"tsv", "1\t-2.5\t3\n4\t5e-3\ta\n"},
		{"", "1\t-2.5\t3\n4\t5e-3\ta\n"},
		{"blank", "  1   -2.5\t3\n4 \t 5e-3 a  \n"},
		{"", "  1   -2.5   3 \n4 5e-3 a\n"},
		{"", "\"1\",\"-2.5\",\" 3\"\n4, \"5e-3\" ,\"a\"\n"},
		{"", "1 , -2.5 , 3\n4,\t5e-3,a\n"},
		{"", "1\t -2.5 \t3\n4\t\"5e-3\"\t\"a\"\n"},
		{"blank", "\"1\" -2.5 3\n4 5e-3 \"a\"\n"},
	} {
		_, got, err := readTable(t, c.text, c.format, Options{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %q:\n%v\nwant %v\nerror %v", c.format, c.text, got, want, err)
		}
	}
	// Quoted cells may hold separators, quotes and newlines; quotes inside others stand
	// for themselves.
	_, got, err := readTable(t, "1,\"a, \"\"b\"\"\nc\"\n2,5\" to 7\"\n3,\"\"\"\"\n", "", Options{})
	names := []string{}
	for _, r := range got {
		names = append(names, r.name)
	}
	if want := []string{"a, \"b\"\nc", "5\" to 7\"", "\""}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("labels %q, want %q; error %v", names, want, err)
	}
}

func TestTableHeaderIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		text  string
		opt   Options
		names string // "": no header
	}{
		{"a,b,c\n1,2,3\n4,5,6\n", Options{}, "a b c"},
		{"1,2,3\n4,5,6\n", Options{}, ""},
		{"T,2,8\nI,5,12\nD,4,11\n", Options{}, ""},
		{"a,b\nx,y\nx,z\n", Options{}, "a b"},      // texts that do not occur again
		{"x,b\nx,y\nx,z\n", Options{}, ""},         // one that does
		{"a,a\nx,y\nx,z\n", Options{}, ""},         // twice the same
		{"abc,2,3\n1,2,3\n4,5,6\n", Options{}, ""}, // more likely a bad cell than a name
		{"2019,age,name\n1,2,x\n3,4,y\n", Options{}, ""},
		{"2019,age,name\n1,2,x\n3,4,y\n", Options{Header: "yes"}, "2019 age name"},
		{"0,1,2,class\n1,2,3,x\n3,4,5,x\n", Options{}, "0 1 2 class"}, // as pandas names columns
		{"0,1,2,x\n1,2,3,x\n3,4,5,y\n", Options{}, ""},
		{"a,b,c\n1,2,3\n4,5,6\n", Options{Header: "no", Label: "none"}, ""},
		{"\na,,a\n1,2,3\n4,5,6\n", Options{}, "a 1 a.1"},
		{"\"a\nb\",c\n1,2\n3,4\n", Options{}, "a\nb c"},
		{"a,b\n1,?\n?,2\n", Options{Missing: "zero"}, "a b"},
		{"a,b,y\n1,2,3\n", Options{Schema: &Schema{Format: "csv", Header: true, Dim: 1, Width: 2,
			Columns: []Column{{Place: Place{"b", 0}}}, Labels: []Place{{"y", 1}}}}, "a b y"},
		{"b,a\n", Options{Schema: &Schema{Format: "csv", Header: true, Dim: 1, Width: 2, Columns: []Column{{Place: Place{"b", 0}}}}}, "b a"},
	} {
		src, err := newTable(context.Background(), &memInput{"f.csv", []byte(c.text)}, c.opt, "csv")
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		names := ""
		if src.Schema().Header {
			names = strings.Join(src.(*table).names, " ")
		}
		if names != c.names {
			t.Errorf("%q: names %q, want %q", c.text, names, c.names)
		}
	}
}

func TestTableLabelsAndWeights(t *testing.T) {
	const text = "a,b,\"c,d\",w\n1,2,3,0.5\n4,5,6,2\n"
	for _, c := range []struct {
		opt     Options
		x       map[int]float32
		y       []float64
		weights float64
		labels  []Place
	}{
		{Options{}, map[int]float32{0: 1, 1: 2, 2: 3}, []float64{.5}, 1, []Place{{"w", 3}}},
		{Options{Label: "a"}, map[int]float32{0: 2, 1: 3, 2: .5}, []float64{1}, 1, []Place{{"a", 0}}},
		{Options{Label: "0"}, map[int]float32{0: 2, 1: 3, 2: .5}, []float64{1}, 1, []Place{{"a", 0}}},
		{Options{Label: "-2"}, map[int]float32{0: 1, 1: 2, 2: .5}, []float64{3}, 1, []Place{{"c,d", 2}}},
		{Options{Label: "c,d"}, map[int]float32{0: 1, 1: 2, 2: .5}, []float64{3}, 1, []Place{{"c,d", 2}}},
		{Options{Label: "b, 0"}, map[int]float32{0: 3, 1: .5}, []float64{2, 1}, 1, []Place{{"b", 1}, {"a", 0}}},
		{Options{Label: "none"}, map[int]float32{0: 1, 1: 2, 2: 3, 3: .5}, nil, 1, nil},
		{Options{LabelsFile: "y"}, map[int]float32{0: 1, 1: 2, 2: 3, 3: .5}, nil, 1, nil},
		{Options{LabelsFile: "y", Label: "a"}, map[int]float32{0: 2, 1: 3, 2: .5}, []float64{1}, 1, []Place{{"a", 0}}},
		{Options{Weight: "w"}, map[int]float32{0: 1, 1: 2}, []float64{3}, .5, []Place{{"c,d", 2}}},
		{Options{Weight: "1"}, map[int]float32{0: 1, 1: 3}, []float64{.5}, 2, []Place{{"w", 3}}},
	} {
		src, got, err := readTable(t, text, "csv", c.opt)
		if err != nil || len(got) != 2 {
			t.Errorf("%+v: %v", c.opt, err)
			continue
		}
		want := row{x: c.x, y: c.y, weight: c.weights}
		if !reflect.DeepEqual(got[0], want) || !reflect.DeepEqual(src.schema.Labels, c.labels) {
			t.Errorf("%+v: %v, labels %v\nwant %v, %v", c.opt, got[0], src.schema.Labels, want, c.labels)
		}
	}
}

func TestCategoriesAreSortedAndOneHot(t *testing.T) {
	// More texts than numbers make a column categorical; a missing cell is a category.
	src, got, err := readTable(t, "red,1,x\n7,2,x\ngreen,3,y\n?,4,x\nred,5,y\n", "csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns := []Column{{Place: Place{"0", 0}, Categories: []string{"", "7", "green", "red"}}, {Place: Place{"1", 1}, Mean: 3}}
	if s := src.Schema(); !reflect.DeepEqual(s.Columns, columns) || s.Dim != 5 {
		t.Fatalf("schema %+v", s)
	}
	for i, code := range []int{3, 1, 2, 0, 3} {
		if want := map[int]float32{code: 1, 4: float32(i + 1)}; !reflect.DeepEqual(got[i].x, want) {
			t.Errorf("row %d is %v, want %v", i, got[i].x, want)
		}
	}
}

func TestWideOneHotTablesAreSparse(t *testing.T) {
	var b bytes.Buffer
	const n = 1200
	for i := range n {
		fmt.Fprintf(&b, "v%04d,%d,w%d,%d\n", i*7%n, i%3, i%5, i%2)
	}
	src := csvSource(t, b.String(), Options{Columns: ColumnOptions{Categorical: "0"}})
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if batch, err := r.Next(); err != nil || batch.X.CSR == nil {
		t.Fatalf("rows are not sparse; error %v", err)
	}
	got, err := readRows(t, src, 4096)
	if err != nil || len(got) != n || src.Schema().Dim != n+1+5 {
		t.Fatalf("%d rows of %d dimensions, error %v", len(got), src.Schema().Dim, err)
	}
	for i, r := range got {
		want := map[int]float32{i * 7 % n: 1, n + 1 + i%5: 1}
		if i%3 != 0 {
			want[n] = float32(i % 3)
		}
		if !reflect.DeepEqual(r.x, want) {
			t.Fatalf("row %d is %v, want %v", i, r.x, want)
		}
	}
}

func TestMissingValuesAreFilledIn(t *testing.T) {
	const text = "a,b,c,y\n1,?,r,1\n3,10,NA,2\nn/a,20,r,3\n, null,s,4\n"
	src, got, err := readTable(t, text, "csv", Options{Missing: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	if m := src.Schema().Columns; m[0].Mean != 2 || m[1].Mean != 15 {
		t.Errorf("means %v, %v", m[0].Mean, m[1].Mean)
	}
	// The categories NA, r and s are dimensions 2, 3 and 4.
	want := []map[int]float32{{0: 1, 1: 15, 3: 1}, {0: 3, 1: 10, 2: 1}, {0: 2, 1: 20, 3: 1}, {0: 2, 1: 15, 4: 1}}
	for i := range got {
		if !reflect.DeepEqual(got[i].x, want[i]) {
			t.Errorf("row %d is %v, want %v", i, got[i].x, want[i])
		}
	}
	// Later data are filled with the model's means, not with their own.
	_, later, err := readTable(t, "a,b,c\n?,100,r\n50,?,q\n", "csv", Options{Schema: src.Schema()})
	if err != nil || !reflect.DeepEqual(later[0].x, map[int]float32{0: 2, 1: 100, 3: 1}) ||
		!reflect.DeepEqual(later[1].x, map[int]float32{0: 50, 1: 15}) {
		t.Errorf("later rows %v, error %v", later, err)
	}
	_, got, err = readTable(t, text, "csv", Options{Missing: "zero"})
	if err != nil || !reflect.DeepEqual(got[0].x, map[int]float32{0: 1, 3: 1}) {
		t.Errorf("rows %v, error %v", got, err)
	}
}

func TestTableFollowsTheModelByName(t *testing.T) {
	train, _, err := readTable(t, "a,c,b,y\n1,r,2,0\n3,s,4,1\n5,r,6,1\n", "csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Schema: train.Schema()}
	// Another order, one column more, with and without the label.
	src, got, err := readTable(t, "y,b,extra,c,a\n1,4,9,s,3\n0,5,9,t,7\n", "csv", opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]float32{0: 3, 2: 1, 3: 4}; !reflect.DeepEqual(got[0].x, want) || got[0].y[0] != 1 {
		t.Errorf("row %v, want %v", got[0], want)
	}
	if want := map[int]float32{0: 7, 3: 5}; !reflect.DeepEqual(got[1].x, want) {
		t.Errorf("a category that the model does not know gives %v, want %v", got[1].x, want)
	}
	if u := src.UnseenCategories(); !reflect.DeepEqual(u, []Unseen{{"c", "t", 1, 0, 0, "", 0}}) {
		t.Errorf("unseen %v", u)
	}
	if again, err := readRows(t, src, 4096); err != nil || !reflect.DeepEqual(again, got) || src.UnseenCategories()[0].Rows != 1 {
		t.Errorf("a second pass gives %v, unseen %v, error %v", again, src.UnseenCategories(), err)
	}
	if _, got, err = readTable(t, "b,c,a\n4,s,3\n", "csv", opt); err != nil || got[0].y != nil || got[0].x[0] != 3 {
		t.Errorf("without label: %v, error %v", got, err)
	}
	two := *train.Schema()
	two.Labels = append(two.Labels, Place{"y2", 4})
	if _, got, err = readTable(t, "b,c,a,y\n4,s,3,0\n", "csv", Options{Schema: &two}); err != nil || got[0].y != nil {
		t.Errorf("with one label of two: %v, error %v", got, err)
	}
	opt.Label = "z"
	if _, got, err = readTable(t, "b,c,a,y,z\n4,s,3,0,8\n", "csv", opt); err != nil || got[0].y[0] != 8 {
		t.Errorf("with another label: %v, error %v", got, err)
	}
}

// TestGapsThatTrainingDidNotHave are filled in and counted: in rows, in Parquet, in records, and in columns of each kind.
func TestGapsThatTrainingDidNotHave(t *testing.T) {
	train := csvSource(t, "a,c,d,p,y\n1,r,2024-01-02,\"1,200\",0\n3,s,2024-01-04,\"1,400\",1\n5,r,2024-01-06,\"1,300\",1\n", Options{})
	schema := train.Schema()
	if schema.Missing != "auto" || schema.Columns[0].Mean != 3 || schema.Columns[0].Indicator {
		t.Fatalf("schema %+v", schema)
	}
	text := "a,c,d,p\n,s,2024-01-04,1300\nNA,?,2024-01-04,1300\n3,r,,\n3,t,2024-01-04,1300\n"
	src, rows, err := readTable(t, text, "csv", Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	want := []Unseen{{"a", "", 0, 2, 0, "", 0}, {"c", "t", 1, 1, 0, "", 0}, {"d", "", 0, 1, 0, "", 0}, {"p", "", 0, 1, 0, "", 0}}
	if u := src.UnseenCategories(); !reflect.DeepEqual(u, want) {
		t.Errorf("unseen %+v, want %+v", u, want)
	}
	if rows[0].x[0] != 3 || rows[1].x[0] != 3 || rows[1].x[1] != 0 || rows[1].x[2] != 0 {
		t.Errorf("rows %v", rows)
	}
	e := NewEncoder(schema)
	dst := make([]float32, schema.Dim)
	if err := e.Map(dst, map[string]any{"c": "r"}); err != nil {
		t.Fatal(err)
	}
	for j, v := range dst {
		if rows[2].x[j] != v { // which lacks d and p, and has the mean as a
			t.Errorf("dimension %d of a record is %g, of a row %g", j, v, rows[2].x[j])
		}
	}
	old := *schema
	old.Missing = ""
	if _, _, err := readTable(t, text, "csv", Options{Schema: &old}); err == nil ||
		!strings.Contains(err.Error(), "trained without a rule") {
		t.Errorf("an older model: %v", err)
	}
	if _, _, err := readTable(t, text, "csv", Options{Schema: schema, Missing: "zero"}); err == nil || !strings.Contains(err.Error(), "contradicts the model") {
		t.Errorf("another rule: %v", err)
	}
	if _, _, err := readTable(t, text, "csv", Options{Schema: schema, Missing: "error"}); err == nil || !strings.Contains(err.Error(), `f.csv:2: column "a"`) {
		t.Errorf("a strict reader: %v", err)
	}
}

func TestUnseenCategoriesAreCountedOverBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	schema := csvSource(t, "1,r,0\n2,s,1\n3,r,1\n", Options{}).Schema()
	const n = 200_000
	text := "1,z,0\n" + strings.Repeat("2,r,0\n3,u,1\n", n)
	src := csvSource(t, text, Options{Schema: schema}).(*table)
	if rows, err := readRows(t, src, 4096); err != nil || len(rows) != 2*n+1 || len(text) < 2*blockSize {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	if u := src.UnseenCategories(); !reflect.DeepEqual(u, []Unseen{{"1", "u", n + 1, 0, 0, "", 0}}) {
		t.Errorf("unseen %v", u)
	}
}

func TestTableFollowsTheModelByPosition(t *testing.T) {
	train, _, err := readTable(t, "T,2,x,8\nI,5,x,12\nT,4,z,11\n", "csv", Options{Label: "0"})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Schema: train.Schema()}
	want := map[int]float32{0: 7, 2: 1, 3: 6}
	if _, got, err := readTable(t, "I,7,z,6\n", "csv", opt); err != nil || got[0].name != "I" || !reflect.DeepEqual(got[0].x, want) {
		t.Errorf("same columns: %v, error %v", got, err)
	}
	if _, got, err := readTable(t, "7,z,6\n", "csv", opt); err != nil || got[0].y != nil || !reflect.DeepEqual(got[0].x, want) {
		t.Errorf("inputs only: %v, error %v", got, err)
	}
	opt.Label = "-1"
	if _, got, err := readTable(t, "7,z,6,K\n", "csv", opt); err != nil || got[0].name != "K" || !reflect.DeepEqual(got[0].x, want) {
		t.Errorf("the label somewhere else: %v, error %v", got, err)
	}
	opt.Label = "none"
	if _, got, err := readTable(t, "I,7,z,6\n", "csv", opt); err != nil || got[0].y != nil || !reflect.DeepEqual(got[0].x, want) {
		t.Errorf("the label ignored: %v, error %v", got, err)
	}

	// Models of rows without columns fix the width only.
	opt = Options{Schema: &Schema{Format: "libsvm", Dim: 2, Base: 1}}
	if _, got, err := readTable(t, "a,b\n1,2\n3,4\n", "csv", opt); err != nil || got[0].y != nil || got[1].x[1] != 4 {
		t.Errorf("inputs only: %v, error %v", got, err)
	}
	if _, got, err := readTable(t, "1,2,0\n3,4,1\n", "csv", opt); err != nil || got[1].y[0] != 1 || got[1].x[1] != 4 {
		t.Errorf("inputs and label: %v, error %v", got, err)
	}
}

func TestTableThatDoesNotFitTheModelIsAnError(t *testing.T) {
	named, _, err := readTable(t, "a,c,y\n1,r,0\n3,s,1\n5,r,1\n", "csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	numbered, _, err := readTable(t, "1,2,0\n3,4,1\n", "csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	unruled := *named.Schema()
	unruled.Missing = "" // as in older models
	old := &unruled
	for _, c := range []struct {
		model *Schema
		opt   Options
		text  string
		want  string
	}{
		{named.Schema(), Options{}, "c,y\nr,0\ns,1\nr,1\n",
			`f.csv: there is no column "a", which the model was trained on; the columns are c, y`},
		{named.Schema(), Options{}, "b,y\nr,0\ns,1\n",
			`f.csv: there are no columns "a", "c", which the model was trained on; the columns are b, y`},
		{named.Schema(), Options{Label: "a"}, "a,c\n1,r\n2,s\n2,r\n",
			`f.csv: column "a" was an input when the model was trained; it cannot be the label or the weight`},
		{named.Schema(), Options{}, "a,c,y\nred,r,1\n2,r,1\n2,r,1\n", `f.csv:2: column "a": "red" is not a number`},
		{named.Schema(), Options{Missing: "mean"}, "a,c,y\n1,r,1\n2,r,1\n",
			"f.csv: missing=mean contradicts the model, which was trained with missing=auto; leave it out"},
		{old, Options{Missing: "mean"}, "a,c,y\n1,r,1\n2,r,1\n",
			"f.csv: the model was trained without missing=mean and knows no means; use missing=zero, or train it again"},
		{numbered.Schema(), Options{}, "1,2,3,4,5,6,7\n",
			"f.csv: 7 columns, but the model was trained on 2 inputs (and 1 label); check the file and label"},
		{numbered.Schema(), Options{}, "1;2\n", ""},
		{numbered.Schema(), Options{}, "1\n", "f.csv: 1 column, but the model was trained on 2 inputs (and 1 label); check the file and label"},
		{numbered.Schema(), Options{Label: "0"}, "1,2\n",
			"f.csv: 1 column beside labels and weights, but the model was trained on 2 inputs (and 1 label); check the file and label"},
		{&Schema{Format: "npy", Dim: 1 << 30}, Options{}, "1,2\n",
			"f.csv: 2 columns, but the model was trained on 1,073,741,824 inputs; check the file and label"},
	} {
		c.opt.Schema = c.model
		_, _, err := readTable(t, c.text, "", c.opt)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %+v:\nerror %v\nwant  %s", c.text, c.opt.Label, err, c.want)
		}
	}
}

func TestTooManyCategoriesAreAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src := csvSource(t, "a,1\nb,2\n", Options{}).(*table)
	src.schema.Columns[0].Categories = nil // none are declared
	c := newCollector(src)
	for i := range maxCategories - len(c.values[0]) {
		if _, err := c.add(0, fmt.Sprint("v", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.add(0, "one more")
	if want := "more than 1000000 different texts are too many categories; leave the column out"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestFileThatChangesBetweenPassesIsAnError(t *testing.T) {
	in := &memInput{"f.csv", []byte("a,1\nb,2\na,3\n")}
	src, err := newTable(context.Background(), in, Options{}, "csv")
	if err != nil {
		t.Fatal(err)
	}
	in.data = []byte("a,1\nc,2\na,3\n")
	_, err = readRows(t, src, 4096)
	if want := `f.csv:2: column 0: "c" was not there in the pass before; did the file change?`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
