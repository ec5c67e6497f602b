package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
)

// messy is a table as people have it: n rows with an ID, a date, a postcode, written numbers, gaps, words, many values
// and a leak.
func messy(n int) string {
	var b strings.Builder
	b.WriteString("customer_id,joined,zip,income,rate,age,city,note,shop,closed,constant,churn\n")
	words := strings.Fields("late parcel broken screen refund asked twice friendly staff slow answer good price never again")
	for i := range n {
		age, income := fmt.Sprint(20+i*7%50), fmt.Sprintf("\"$%d,%03d\"", 20+i*13%60, i%1000)
		if i%11 == 3 {
			age = "NA"
		}
		if i%13 == 5 {
			income = ""
		}
		label, closed := "no", ""
		if (i*i/3)%5 < 2 {
			label, closed = "yes", "2024-02-01"
		}
		var note []string
		for k := range 6 {
			note = append(note, words[(i*(k+3)+k*k+i/17)%len(words)])
		}
		fmt.Fprintf(&b, "C%05d,2023-%02d-%02d,%05d,%s,%d %%,%s,%s,\"%s,\n%d\",s%d,%s,7,%s\n", i, 1+i%12, 1+i%28, i*37%99999, income, i%100, age,
			[]string{"Bern", "Oslo", "?"}[i%3], strings.Join(note, " "), i, i*i%400, closed, label)
	}
	return b.String()
}

func openMessy(t *testing.T, text string, opt Options) *File {
	t.Helper()
	f, err := OpenBytes(context.Background(), "messy.csv", []byte(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestAMessyTableIsUnderstood(t *testing.T) {
	f := openMessy(t, messy(1200), Options{Columns: ColumnOptions{Exact: true}})
	want := map[string]string{"customer_id": KindID, "joined": KindDate, "zip": KindCategory, "income": KindNumber, "rate": KindNumber,
		"age": KindNumber, "city": KindCategory, "note": KindText, "shop": KindCategory, "closed": KindDate, "constant": KindNumber,
		"churn": KindLabel}
	p := f.Profile()
	for _, c := range p.Columns {
		if c.Name == "zip" {
			want["zip"] = c.Kind // an ID here, as every row has another
		}
		if c.Kind != want[c.Name] {
			t.Errorf("%s is %s (%s), want %s", c.Name, c.Kind, c.Note, want[c.Name])
		}
	}
	age := p.Columns[5]
	if missing := (1199-3)/11 + 1; age.Missing != missing || age.Min != 20 || age.Max != 69 || age.Distinct != 50 {
		t.Errorf("of age %d are missing, want %d; %g to %g, %d different", age.Missing, missing, age.Min, age.Max, age.Distinct)
	}
	said := map[string]string{}
	for _, n := range f.Notices() {
		said[n.Column] += n.Kind
	}
	for column, kind := range map[string]string{"customer_id": "id", "closed": "duplicate", "constant": "constant", "note": "text"} {
		if !strings.Contains(said[column], kind) {
			t.Errorf("of %s the notices are %q, want %q", column, said[column], kind)
		}
	}
	if slices.Contains(NewEncoder(f.Schema()).Columns(), "customer_id") {
		t.Error("the ID is an input")
	}
}

// TestOneRecordIsEncodedLikeItsRow compares the encoder of records with the reader of tables, for each kind of column.
func TestOneRecordIsEncodedLikeItsRow(t *testing.T) {
	text := messy(300)
	f := openMessy(t, text, Options{Columns: ColumnOptions{Ordinal: "city=Bern<Oslo", Categorical: "zip"}})
	all, err := Collect(context.Background(), f, f.Schema().Dim)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEncoder(f.Schema())
	var table [][]string
	c := cutter{sep: ','}
	for rest := []byte(text); len(rest) > 0; {
		var row []byte
		row, rest, _ = record(rest, true)
		cells, err := c.all(row, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, cell := range cells {
			texts = append(texts, string(cell))
		}
		table = append(table, texts)
	}
	got, want := make([]float32, e.Dim()), make([]float32, e.Dim())
	for i, cells := range table[1:] {
		r := map[string]any{}
		for j, name := range table[0] {
			r[name] = cells[j]
		}
		if err := e.Map(got, r); err != nil {
			t.Fatal(err)
		}
		clear(want)
		if all.X.CSR != nil {
			idx, val := all.X.CSR.Row(i)
			for k, j := range idx {
				want[j] = val[k]
			}
		} else {
			copy(want, all.X.Dense.Row(i))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("row %d: %v\nrecord %v", i, want, got)
		}
	}
}

func TestDatesBecomeDaysAndCycles(t *testing.T) {
	c := newDateCoder(&Coding{Kind: CodedDate, Layouts: []string{"2006-01-02 15:04:05"}, Hours: true}, 0)
	got, _, err := c.code(nil, []byte("2024-07-03 06:00:00"))
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2024, 7, 3, 6, 0, 0, 0, time.UTC)
	season := 2 * math.Pi * float64(day.YearDay()-1) / 365.25
	week := 2 * math.Pi * 3 / 7
	want := []float64{float64(day.Unix()) / 86400, 2024, math.Sin(season), math.Cos(season), math.Sin(week), math.Cos(week), 1, 0}
	for i, v := range want {
		if got[i].at != int32(i) || math.Abs(float64(got[i].v)-v) > 1e-3 {
			t.Errorf("dimension %d is %v, want %g", i, got[i], v)
		}
	}
	// Whatever the layouts of the column are, dates in ISO 8601 are read, and nothing else.
	for cell, want := range map[string]string{"2024-07-03": "2024-07-03T00:00:00Z", "2024-07-03T06:00": "2024-07-03T06:00:00Z",
		"2024-07-03 06:00:00.5": "2024-07-03T06:00:00.5Z", "2024-07-03T06:00:00+02:00": "2024-07-03T06:00:00+02:00", "2024-13-03": "", "03.07.2024": "", "2024": ""} {
		at, ok := newDateCoder(&Coding{Kind: CodedDate, Layouts: []string{"01/02/2006"}}, 0).parse(cell)
		if got := at.Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %s, %v", cell, got, ok)
		}
	}
	for cells, layout := range map[string]string{
		"2024-07-03|2023-01-02": "2006-01-02", "13/01/2024|02/01/2024": "02/01/2006", "01/13/2024|02/01/2024": "01/02/2006",
		"03.07.2024|1.1.2024": "2.1.2006", "2024-07-03T10:00:00Z|2024-07-03T10:00:00+02:00": "2006-01-02T15:04:05Z07:00",
		"Jan 2, 2024|Feb 3, 2024": "Jan 2, 2006", "hello|world": "", "2024-13-01|2024-01-01": "", "2024-07-03T10:00:00+0200": "2006-01-02T15:04:05Z0700",
		"2024-07-03 10:00:00-0700": "2006-01-02 15:04:05Z0700", "Jul 31 2021": "Jan 2 2006", "31JUL2021:16:10:04": "02Jan2006:15:04:05", "Jul-21": "Jan-06",
		"20210731T161004": "20060102T150405", "Sat Jul 31 16:10:04 2021": "Mon Jan _2 15:04:05 2006", "Saturday, July 31, 2021": "Monday, January 2, 2006",
		"07/31/2021 04:10PM": "01/02/2006 3:04PM", "7/31/2021, 4:10:04 PM": "1/2/2006, 3:04:05 PM", "2021/07": "2006/01", "07-31-2021|01-02-2021": "01-02-2006",
		"31/Jul/2021:16:10:04 +0000": "2/Jan/2006:15:04:05 -0700", "2021-7-3": "2006-1-2", "2021-07-31T16": "2006-01-02T15", "31 Jul 21": "2 Jan 06",
		"2021Q3|Q4 2020|2021-Q1": "quarter", "2021Q5": "", "2021-W30|2020W53": "week", "2021-W54": "",
	} {
		layouts, _ := findLayouts(strings.Split(cells, "|"), false)
		if found := strings.Join(layouts, "|"); found != layout {
			t.Errorf("%s: layouts %q, want %q", cells, found, layout)
		}
	}
}

func TestNumbersAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		cell    string
		decimal byte
		want    float64
		ok      bool
	}{
		{"1,234.5", '.', 1234.5, true}, {"$1,234", '.', 1234, true}, {"-€5", '.', -5, true}, {"12 %", '.', 0.12, true},
		{"(1,000)", '.', -1000, true}, {"1.234,5", ',', 1234.5, true}, {"1 234", '.', 1234, true}, {"3,5 EUR", ',', 3.5, true},
		{"12,34", '.', 0, false}, {"1,2345", '.', 0, false}, {"1,234,56", '.', 0, false}, {"a", '.', 0, false}, {"", '.', 0, false},
		{"1'000'000", '.', 1e6, true}, {"1,000 000", '.', 0, false}, {"\u22125", '.', -5, true}, {"1.5", ',', 0, false}, {"1e3", ',', 1000, true},
		{"0,123", '.', 0, false}, {"0,475,591.5", '.', 475591.5, true}, {"0,012,345", '.', 12345, true}, {"012.345.678", ',', 0, false}, {"-0,12", ',', -0.12, true}, {"1.5D+03", '.', 1500, true}, {"1.5D3", '.', 1500, true}, {"3D0", '.', 0, false}, {"1.5D++3", '.', 0, false}, {"1.5D", '.', 0, false}, {"-2d-1", '.', -0.2, true}, {"1,5D+03", ',', 1500, true},
		{"7:30", '.', 7.5, true}, {"07:30:36", ',', 7.51, true}, {"12:15 am", '.', 0.25, true}, {"12:15PM", '.', 12.25, true}, {"125:00", '.', 125, true},
		{"0:00:00.9", '.', 0.00025, true}, {"7:60", '.', 0, false}, {"13:00 PM", '.', 0, false}, {"3:1", '.', 0, false}, {"1:2:3:4", '.', 0, false},
		{"2h 15m", '.', 2.25, true}, {"1 day 3 hours", '.', 27, true}, {"1h30m", '.', 1.5, true}, {"2 days, 1 hr, 30 min", '.', 49.5, true}, {"90m 36s", '.', 1.51, true},
		{"PT90M", '.', 1.5, true}, {"P1DT12H", '.', 36, true}, {"PT0.5H", '.', 0.5, true}, {"P2D", '.', 48, true},
		{"15m", '.', 0, false}, {"15m 2h", '.', 0, false}, {"2h 2h", '.', 0, false}, {"2h x", '.', 0, false}, {"2h 15", '.', 0, false}, {"P3M", '.', 0, false},
		{"P12S", '.', 0, false}, {"PM", '.', 0, false}, {"3d printer", '.', 0, false}, {"5h.", '.', 0, false},
		{":30", '.', 0, false}, {"7.5:30", '.', 0, false}, {"-1:30", '.', 0, false}, {"7:30.5", '.', 0, false},
		{"12,34,567", '.', 1234567, true}, {"₹1,23,45,678.50", '.', 12345678.5, true}, {"123,45,678", '.', 0, false}, {"1,234,56,789", '.', 0, false},
		{"12,34,56", '.', 0, false}, {"12 34 567", '.', 0, false}, {"12.34.567", ',', 0, false}, {"1,23,456", '.', 123456, true},
		{"157.13-", '.', -157.13, true}, {"$(1,000)", '.', -1000, true}, {"($1,000)", '.', -1000, true}, {"R$ 1.234,56", ',', 1234.56, true}, {"A$5", '.', 5, true},
		{"₩1,234", '.', 1234, true}, {"5 ₽", '.', 5, true}, {"Rs. 5", '.', 5, true}, {"1 234,5 zł", ',', 1234.5, true}, {"40 ‰", '.', 0.04, true}, {"ABC$5", '.', 5, true},
		{"abc$5", '.', 0, false}, {"-5-", '.', 0, false}, {"5D3", '.', 0, false}, {"1.5D+", '.', 0, false}, {"D+3", '.', 0, false},
	} {
		if v, ok := parseWritten([]byte(c.cell), c.decimal); ok != c.ok || ok && v != c.want {
			t.Errorf("%q with %q: %g %v, want %g %v", c.cell, c.decimal, v, ok, c.want, c.ok)
		}
	}
}

// Columns whose cells all have a decimal comma are numbers, labels too; where both a comma and a point would do, other columns decide, and
// for rows to predict those that the model was trained on.
func TestDecimalCommasAreFound(t *testing.T) {
	text := "a;b;y\n1,5;1,234;0,5\n-0,25;2,500;1.000,5\n10;0,750;-2\n"
	for _, c := range []struct {
		opt  Options
		text string
		x    []float32
		y    []float64
		told bool
	}{
		{Options{}, text, []float32{1.5, 1.234, -0.25, 2.5, 10, 0.75}, []float64{0.5, 1000.5, -2}, true},
		{Options{}, "a;b;y\n1,5;1,234;5\n2,5;2,500;6\n", []float32{1.5, 1.234, 2.5, 2.5}, []float64{5, 6}, true},
		{Options{}, "a;b;y\n1.5;1,234;5\n2.5;2,500;6\n", []float32{1.5, 1234, 2.5, 2500}, []float64{5, 6}, false},
		{Options{Columns: ColumnOptions{Decimal: "."}}, "b;y\n1,234;5\n2,500;6\n", []float32{1234, 2500}, []float64{5, 6}, false},
		{Options{Columns: ColumnOptions{Decimal: ","}}, "b;y\n1,234;5\n2,500;6\n", []float32{1.234, 2.5}, []float64{5, 6}, false},
		{Options{}, "b,y\n\"1,234.5\",$5\n\"2,500.0\",\"$1,000\"\n", []float32{1234.5, 2500}, []float64{5, 1000}, false},
	} {
		c.opt.Label = "y"
		f := openMessy(t, c.text, c.opt)
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !slices.Equal(all.X.Dense.Contiguous(), c.x) || !slices.Equal(all.Y, c.y) {
			t.Errorf("%q: %v, labels %v", c.text, all.X.Dense.Contiguous(), all.Y)
		}
		told := slices.ContainsFunc(f.Notices(), func(n Notice) bool { return strings.Contains(n.Text, "decimal commas in") })
		if told != c.told {
			t.Errorf("%q: told of decimal commas: %v", c.text, told)
		}
	}
	schema := openMessy(t, text, Options{Label: "y"}).Schema()
	again, err := Collect(context.Background(), openMessy(t, "a;b;y\n1,234;2,500;1,000\n", Options{Schema: schema}), 0)
	if err != nil {
		t.Fatal(err)
	}
	if x := again.X.Dense.Contiguous(); !slices.Equal(x, []float32{1.234, 2.5}) || again.Y[0] != 1 {
		t.Errorf("one row of a model with decimal commas: %v, label %v", x, again.Y)
	}
}

func TestColumnsOfOneNameAreToldOf(t *testing.T) {
	f := openMessy(t, "a,b,a,y\n1,2,3,0\n4,5,6,1\n", Options{Label: "y"})
	if n := f.Notices(); len(n) != 1 || n[0].Column != "a.1" || !strings.Contains(n[0].Text, `column 2 has the name "a", which another has`) {
		t.Errorf("%+v", n)
	}
}

func TestMissingNumbersAreTheMeanAndAnIndicator(t *testing.T) {
	f := openMessy(t, "a,b,y\n1,5,0\n?,6,1\n3,7,0\n-,8,1\n", Options{Columns: ColumnOptions{NA: "-"}})
	all, err := Collect(context.Background(), f, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{1, 0, 5, 2, 1, 6, 3, 0, 7, 2, 1, 8}
	if !slices.Equal(all.X.Dense.Data, want) {
		t.Errorf("rows %v, want %v", all.X.Dense.Data, want)
	}
	// The model remembers: new rows need no option, in any order of columns.
	s := f.Schema()
	g := openMessy(t, "b,a\n-,4\n2,NA\n", Options{Schema: s})
	if all, err = Collect(context.Background(), g, 3); err != nil || !slices.Equal(all.X.Dense.Data, []float32{4, 0, 6.5, 2, 1, 2}) {
		t.Errorf("rows %v, error %v", all.X.Dense.Data, err)
	}
	if _, err := OpenBytes(context.Background(), "new.csv", []byte("a,b\n1,2\n"), Options{Schema: s, Missing: "zero"}); err == nil ||
		!strings.Contains(err.Error(), "contradicts the model") {
		t.Errorf("error %v", err)
	}
}

func TestColumnsAreNamedByNameIndexRangeAndPattern(t *testing.T) {
	text := "a,b1,b2,c,y\n1,2,3,4,0\n2,3,4,6,1\n5,1,2,9,1\n"
	for _, c := range []struct {
		opt  ColumnOptions
		want string
		err  string
	}{
		{ColumnOptions{Ignore: "a"}, "b1 b2 c", ""}, {ColumnOptions{Ignore: "b*"}, "a c", ""}, {ColumnOptions{Ignore: "1-2"}, "a c", ""},
		{ColumnOptions{Ignore: "b1..c"}, "a", ""}, {ColumnOptions{Only: "c,0"}, "a c", ""}, {ColumnOptions{ID: "a", Only: "b?"}, "b1 b2", ""},
		{ColumnOptions{Ignore: "-2"}, "a b1 b2", ""}, {ColumnOptions{Ignore: "d"}, "", `there is no column "d" for ignore`},
		{ColumnOptions{Numeric: "a", Categorical: "a"}, "", `named by numeric and by categorical`},
		{ColumnOptions{ID: "y"}, "", "is the label, so it cannot be named by id"}, {ColumnOptions{Ignore: "*"}, "", "no column is left"},
		{ColumnOptions{Decimal: ";"}, "", "known are . and ,"}, {ColumnOptions{Date: "a"}, "", "is to be a date"},
	} {
		f, err := OpenBytes(context.Background(), "t.csv", []byte(text), Options{Columns: c.opt})
		if err != nil {
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: error %v", c.opt, err)
			}
			continue
		}
		if got := strings.Join(NewEncoder(f.Schema()).Columns(), " "); c.err != "" || got != c.want {
			t.Errorf("%+v: columns %s, want %s %s", c.opt, got, c.want, c.err)
		}
		f.Close()
	}
}

func TestAFileOfKindsIsReadAndWritten(t *testing.T) {
	p := openMessy(t, messy(300), Options{}).Profile()
	var b bytes.Buffer
	if err := p.Kinds().Write(&b); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(b.String(), `"customer_id","kind":"id"`, `"customer_id","kind":"category"`, 1)
	k, err := ReadKinds(strings.NewReader(edited), "kinds.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	f := openMessy(t, messy(300), Options{Columns: ColumnOptions{Kinds: k}})
	if c := f.Profile().Columns; c[0].Kind != KindCategory || c[1].Kind != KindDate || c[11].Kind != KindLabel {
		t.Errorf("columns %+v", c)
	}
	for _, bad := range []string{"", "{", `{"columns":[{"name":"a","kind":"x"}]}`, `{"columns":[{"kind":"id"}]}`, `{"column":[]}`,
		`{"columns":[{"name":"a","kind":"id"},{"name":"a","kind":"id"}]}`, `{"columns":[]} x`, `{"decimal":"x","columns":[]}`} {
		if _, err := ReadKinds(strings.NewReader(bad), "kinds.json"); err == nil || !strings.Contains(err.Error(), "kinds.json: ") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

func FuzzKinds(f *testing.F) {
	f.Add(`{"columns":[{"name":"a","kind":"ordinal","order":["x","y"]}]}`, "a,b\nx,1\ny,2\n")
	f.Add(`{"decimal":",","columns":[{"name":"0","kind":"date","layouts":["unix"]}]}`, "1,2\n3,4\n")
	f.Fuzz(func(t *testing.T, kinds, table string) {
		defer testenv.Bounded(t, len(kinds)+len(table))()
		k, err := ReadKinds(strings.NewReader(kinds), "k")
		if err != nil || len(table) > 1<<16 {
			return
		}
		for _, c := range k.Columns {
			if c.Buckets > 1<<12 {
				return
			}
		}
		src, err := OpenBytes(context.Background(), "t.csv", []byte(table), Options{Format: "csv", Columns: ColumnOptions{Kinds: k}})
		if err != nil {
			return
		}
		defer src.Close()
		if err := src.Schema().Check(); err != nil {
			t.Fatal(err)
		}
		Collect(context.Background(), src, src.Schema().Dim)
	})
}

// A marker of missing values that is a number is no number, however it is written, as in pandas.
func TestMarkersMayBeNumbers(t *testing.T) {
	_, rows, err := readTable(t, "a,b,y\n-999,1,0\n2,-999,1\n-999.0,3,1\n", "csv", Options{Missing: "zero", Columns: ColumnOptions{NA: "-999"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows[0].x) != 1 || len(rows[1].x) != 1 || len(rows[2].x) != 1 {
		t.Errorf("%v", rows)
	}
}

// Texts of Parquet, Arrow and JSON lines that are numbers as people write them are numbers, as in CSV. Texts of plain numbers stay
// texts, which may be codes, and are told of.
func TestWrittenNumbersInFilesThatDeclareText(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("income,rate,code,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "\"%d,%03d.50\",%d.5%%,%d,%d\n", 1+i*7%90, i*31%1000, i%7, 100+i%9, i%2)
	}
	path := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range []string{"t.csv", "t.parquet", "t.arrow", "t.jsonl"} {
		_, all := readAs(t, path, name)
		got := ""
		for i := range all.X.Len() {
			got += fmt.Sprintln(all.X.Dense.Row(i)[:2])
		}
		if want == "" {
			want = got
		}
		if got != want || !strings.HasPrefix(got, "[1000.5 0.005]\n") {
			t.Errorf("%s: %.60q, want %.60q", name, got, want)
		}
	}
	text := "{\"code\":\"7001\",\"x\":1,\"y\":0}\n{\"code\":\"7002\",\"x\":2,\"y\":1}\n"
	src, err := OpenBytes(t.Context(), "t.jsonl", []byte(text), Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if c := src.Schema().Columns[0]; c.Categories == nil || !strings.Contains(fmt.Sprint(src.Notices()), `column "code" is text in the file, such as "7001"`) {
		t.Errorf("%+v, %v", c, src.Notices())
	}
}

// A wrong name is answered by the near one, and values beside given levels are told of.
func TestNearNamesAndOtherLevels(t *testing.T) {
	text := "House Price,size,y\n" + strings.Repeat("1.5,S,0\n2.5,L,1\n3,XL,1\n", 20)
	for opt, want := range map[*Options]string{
		{Label: "Y"}: `there is no column "Y" for label (did you mean "y"?); the columns are`,
		{Label: "y", Columns: ColumnOptions{Ignore: "house price"}}: `there is no column "house price" for ignore (did you mean "House Price"?)`,
		{Label: "y", Columns: ColumnOptions{Ignore: "Hose Price"}}:  `(did you mean "House Price"?)`,
		{Label: "colour"}: `there is no column "colour" for label; the columns are`,
	} {
		if _, err := OpenBytes(t.Context(), "a.csv", []byte(text), *opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for levels, want := range map[string]string{
		"size=S<L":    `column "size" has values that are none of its levels (S < L) in 20 of 60 rows, such as "XL", and they count as the mean of the others`,
		"size=S<L<XL": "",
		"size":        "",
	} {
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text), Options{Label: "y", Columns: ColumnOptions{Ordinal: levels}})
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, n := range f.Notices() {
			if strings.Contains(n.Text, "none of its levels") {
				told = n.Text
			}
		}
		if told != want {
			t.Errorf("%s: %q", levels, told)
		}
	}
}

// The ends of a range may be quoted, also where their names have commas, and a hyphen may be between such.
func TestRangesOfQuotedNames(t *testing.T) {
	text := "\"a b\",\"c, d\",e f,g,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,%d,%d,%d\n", i%7, i%5, i%3, i%11, i%2)
	}
	for spec, want := range map[string]string{`"a b".."c, d"`: "a b|c, d", `"a b"-"c, d"`: "a b|c, d", `"a b" .. "c, d", g`: "a b|c, d|g", `a b.."c, d","e f"`: "a b|c, d|e f",
		`"c, d"..e f`: "c, d|e f", `"a b"..1`: "a b|c, d", `a b..1,"e f"`: "a b|c, d|e f"} {
		f, err := openMemory([]byte(text), Options{Columns: ColumnOptions{Ignore: spec}})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var names []string
		for _, p := range f.Schema().Ignored {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}
