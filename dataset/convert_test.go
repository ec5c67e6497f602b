package dataset

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// everyKind is a table with all that tables have.
const everyKind = "id,size,zip,name,when,empty,whole\n" +
	"1,1.5,01234,\"a \"\"b\"\", c\",2024-02-29,,7\n" +
	"2,,00001,\"two\nlines\",2024-03-01,,-12\n" +
	"3,1e-300,99999,ünï \u2028,,,\n" +
	"4,NA,10000,none,1900-01-01,,9007199254740993\n"

func converted(t testing.TB, from, to string) []byte {
	t.Helper()
	format, err := ConvertFormat(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(context.Background(), from, to, format, Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A table that goes through every format comes back as it was, but for what stood for a missing number.
func TestConvertKeepsTables(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "messy.csv")
	if err := os.WriteFile(path, []byte(everyKind), 0o644); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(everyKind, ",NA,", ",,", 1)
	for _, way := range [][]string{{"a.parquet"}, {"a.jsonl"}, {"a.tsv", "b.parquet", "c.jsonl"}, {"a.ndjson", "b.parquet", "c.tsv", "d.parquet"},
		{"a.arrow"}, {"a.arrows", "b.arrow", "c.parquet", "d.feather"}} {
		from := path
		for _, name := range way {
			to := filepath.Join(dir, name)
			converted(t, from, to)
			from = to
		}
		got := string(converted(t, from, filepath.Join(dir, "back.csv")))
		if got = strings.ReplaceAll(got, `"ünï`+" \u2028\"", "ünï \u2028"); got != want {
			t.Errorf("%v: %s, want %s", way, got, want)
		}
	}
	if got := string(converted(t, path, filepath.Join(dir, "x.jsonl"))); !strings.HasPrefix(got,
		`{"id":1,"size":1.5,"zip":"01234","name":"a \"b\", c","when":"2024-02-29","empty":null,"whole":7}`+"\n") {
		t.Error(got)
	}
	f, err := os.Open(filepath.Join(dir, "a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	p, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range p.Schema().Fields() {
		columns = append(columns, c.Name()+" "+c.Type().Kind().String())
	}
	if got := strings.Join(columns, ", "); got != "id INT64, size DOUBLE, zip BYTE_ARRAY, name BYTE_ARRAY, when BYTE_ARRAY, empty INT64, whole INT64" {
		t.Error(got)
	}
}

// Digits that a float64 would lose, and classes that are named like missing values, stay what they were written: in typed files they are
// text, but whole numbers of 19 digits that 64 bits hold.
func TestConvertLosesNothing(t *testing.T) {
	const rows = "tweet,order,kind,all,big,gap\n" +
		"1234567890123456789,12345678901234567891,none,NA,100000000000000000000,7\n" +
		"-9223372036854775808,12345678901234567892,NA,NA,-100000000000000000000,NA\n" +
		"9223372036854775807,3,null,,1,-\n"
	want := strings.NewReplacer(",NA\n", ",\n", ",-\n", ",\n", "100000000000000000000", "1e+20").Replace(rows)
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(path, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.parquet", "t.arrow", "t.arrows"} {
		to := filepath.Join(dir, name)
		converted(t, path, to)
		if got := string(converted(t, to, filepath.Join(dir, "back.csv"))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}

	if got := string(converted(t, path, filepath.Join(dir, "t.jsonl"))); !strings.Contains(got, `"order":12345678901234567891,"kind":"none","all":"NA"`) {
		t.Errorf("JSON lines: %s", got)
	}

	f, err := CreateTable(filepath.Join(dir, "ids.parquet"), "parquet", []TableColumn{{Name: "order"}, {Name: "kind"}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, cells := range [][]string{{"12345678901234567891", "none"}, {"12345678901234567892", "NA"}} {
		if err := f.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, want := string(converted(t, filepath.Join(dir, "ids.parquet"), filepath.Join(dir, "ids.csv"))),
		"order,kind\n12345678901234567891,none\n12345678901234567892,NA\n"; got != want {
		t.Errorf("a table of predictions: %s, want %s", got, want)
	}
}

// Columns that are ignored, or are not among the only ones, are left out of tables of every format; those of IDs stay.
func TestConvertLeavesColumnsOut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(path, []byte("key,note1,a,note2,y\nk1,x,1.5,z,u\nk2,w,2,z,v\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.parquet", "t.jsonl", "t.tsv", "t.arrow"} {
		converted(t, path, filepath.Join(dir, name))
	}
	if err := os.WriteFile(filepath.Join(dir, "t.arff"), []byte("@relation r\n@attribute key string\n@attribute note1 string\n"+
		"@attribute a numeric\n@attribute note2 string\n@attribute y {u,v}\n@data\nk1,x,1.5,z,u\nk2,w,2,z,v\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		columns ColumnOptions
		want    string
	}{
		{ColumnOptions{ID: "key", Ignore: "note*"}, "key,a,y\nk1,1.5,u\nk2,2,v\n"},
		{ColumnOptions{ID: "key", Only: "a..note2"}, "key,a,note2\nk1,1.5,z\nk2,2,z\n"},
	} {
		for _, name := range []string{"t.csv", "t.parquet", "t.jsonl", "t.tsv", "t.arrow", "t.arff", "[t].csv"} {
			to := filepath.Join(dir, "out.csv")
			rows, err := Convert(t.Context(), filepath.Join(dir, name), to, "csv", Options{Columns: c.columns})
			got, _ := os.ReadFile(to)
			if err != nil || rows != 2 || string(got) != c.want {
				t.Errorf("%s, %+v: %q, want %q, %v", name, c.columns, got, c.want, err)
			}
		}
	}
}

// Rows of numbers, blanks and ARFF become tables, and tables rows of numbers.
func TestConvertNumbers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ from, text, to, want string }{
		{"a.libsvm", "1 1:0.5 3:2\n-1 2:1.25\n", "a.csv", "1,2,3,label\n0.5,0,2,1\n0,1.25,0,-1\n"},
		{"b.csv", "x,y\n0.5,1\n2,0\n", "b.libsvm", "1 1:0.5\n0 1:2\n"},
		{"c.txt", "  1 2.5  3\n 4 ? 6\n", "c.csv", "0,1,2\n1,2.5,3\n4,,6\n"},
		{"d.arff", "@relation r\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n@data\n1,'y z'\n?,x\n% no\n", "d.csv", "a,b c\n1,y z\n,x\n"},
		{"e.csv", "a;b\n1;x\n", "e.tsv", "a\tb\n1\tx\n"},
		{"f.csv", "1,2\n3,4\n", "f.jsonl", "{\"0\":1,\"1\":2}\n{\"0\":3,\"1\":4}\n"},
		{"g.jsonl", "{\"a\":1}\n\n{\"b\":true,\"a\":null}\n", "g.csv", "b,a\n,1\ntrue,\n"},
		{"h.csv", "a\n1\n+.5\n", "h.jsonl", "{\"a\":1}\n{\"a\":0.5}\n"},
	} {
		if got := string(converted(t, write(c.from, c.text), filepath.Join(dir, "out-"+c.to))); got != c.want {
			t.Errorf("%s: %q, want %q", c.from, got, c.want)
		}
	}
	npy := converted(t, write("i.csv", "x,y,label\n1,2,a\n3,4,b\n"), filepath.Join(dir, "i.npy"))
	if !bytes.HasPrefix(npy, []byte(npyMagic)) || len(npy) != 128+16 {
		t.Errorf("%d bytes of NPY", len(npy))
	}
}

// What cannot be converted is told with its place, and nothing is left.
func TestConvertRefuses(t *testing.T) {
	dir := t.TempDir()
	for text, c := range map[string]struct{ to, want string }{
		"{\"a\":1}\n{\"a\":{}}\n":                        {"x.csv", `in:2: "a" is nested`},
		"{\"a\":1}\n{\"a\":[1]}\n":                       {"x.csv", `in:2: "a" is nested`},
		"{\"a\":1}\n{\"a\":1} {}\n":                      {"x.csv", `in:2: more than one value`},
		"{\"a\":1}\n{\"a\":\n":                           {"x.csv", "in:2: not a JSON object"},
		"{\"a\":1}\n[1]\n":                               {"x.csv", "in:2: expected a JSON object"},
		"a,b\n1,2\n1,2,3\n":                              {"x.parquet", "in:3: 3 columns where there are 2 names"},
		"PAR1 and nothing":                               {"x.csv", "the Parquet file cannot be read: it is cut short"},
		"ARROW1\x00\x00":                                 {"x.csv", "the Arrow data are cut short"},
		"ARROW1\x00\x00 and no footer":                   {"x.csv", "the Arrow data are cut short"},
		"FEA1\x00\x00\x00\x00":                           {"x.csv", "is a Feather file of version 1; write it as Arrow"},
		"\xff\xff\xff\xff\x10\x00\x00\x00 and no schema": {"x.csv", "the Arrow data "},
		"PAR1\x00\x00\x00\x00\xffPAR1":                   {"x.csv", "the Parquet file cannot be read: it is cut short"},
	} {
		path, out := filepath.Join(dir, "in"), filepath.Join(dir, c.to)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		format, _ := ConvertFormat(out)
		if _, err := Convert(context.Background(), path, out, format, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", text, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%q: %d files are left", text, len(left))
		}
	}
	if _, err := ConvertFormat("x.docx"); err == nil {
		t.Error("a format that is not there")
	}
	type nested struct {
		A int
		B []int
	}
	path := filepath.Join(dir, "nested.parquet")
	if err := parquet.WriteFile(path, []nested{{1, []int{2}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path, Options{}); err == nil || !strings.Contains(err.Error(), `column "B" is nested`) {
		t.Errorf("a nested column: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := os.WriteFile(path, []byte(everyKind), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(ctx, path, filepath.Join(dir, "y.parquet"), "parquet", Options{}); err == nil {
		t.Error("a cancelled context is ignored")
	}
}

// The same rows are the same to a training, in whatever format they are.
func TestTablesOfAllFormatsAreTheSame(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "x,zip,town,label\n"
	for i := range 40 {
		text += []string{"0.1", "2.5e-7", "-3", "12345678.9"}[i%4] + "," + []string{"01", "007"}[i%2] + "," + []string{"Bonn", "a \"\"b\"\"", "Kiel"}[i%3] + "," + []string{"yes", "no"}[i%2] + "\n"
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, `a ""b""`, `"a ""b"""`)), 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(path string) (rows []float32, names []string, schema Schema) {
		src, err := Open(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		for b, err := range Each(context.Background(), src) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.X.Len() {
				row := make([]float32, src.Schema().Dim)
				eachValue(b.X, i, func(col int32, v float32) { row[col] = v })
				rows = append(rows, row...)
			}
			names = append(names, b.Names...)
		}
		return rows, names, *src.Schema()
	}
	converted(t, path, filepath.Join(dir, "a.parquet"))
	wantRows, wantNames, want := read(filepath.Join(dir, "a.parquet"))
	for _, name := range []string{"a.jsonl", "a.arrow", "a.arrows"} {
		converted(t, path, filepath.Join(dir, name))
		rows, names, schema := read(filepath.Join(dir, name))
		if !slices.Equal(rows, wantRows) || !slices.Equal(names, wantNames) || schema.Dim != want.Dim || len(schema.Columns) != 3 || want.Dim != 1+2+3 {
			t.Errorf("%s: %v and %v", name, schema, want)
		}
	}
}

// Lines of JSON never panic, and what is read is a table.
func FuzzJSONLines(f *testing.F) {
	f.Add([]byte("{\"a\":1,\"b\":\"x\"}\n{\"b\":null,\"c\":true}\n"))
	f.Add([]byte("\ufeff {\"a\":1e5}\r\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		src, err := OpenBytes(context.Background(), "x.jsonl", append([]byte("{\"\":0}\n"), data...), Options{Missing: "zero"})
		if err != nil {
			return
		}
		defer src.Close()
		for _, err := range Each(context.Background(), src) {
			if err != nil {
				return
			}
		}
	})
}

// readAs reads a table of which the label is y from a CSV, or from a file of another name beside it that it is converted to.
func readAs(t testing.TB, csv, name string) (*File, *matrix.Batch) {
	t.Helper()
	path := filepath.Join(filepath.Dir(csv), name)
	if path != csv {
		converted(t, csv, path)
	}
	src, err := Open(t.Context(), path, Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	all, err := everything(src)
	if err != nil {
		t.Fatal(err)
	}
	return src, all
}

// Lines above a table, names of rows and separators at the end are what they are to a training.
func TestConvertTakesTablesAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"# made\n# by\na,b\n" + strings.Repeat("1.5,x\n", 6): "{\"a\":1.5,\"b\":\"x\"}\n",
		"a;b;;\n" + strings.Repeat("1;x;;\n", 6):             "{\"a\":1,\"b\":\"x\",\"\":null}\n",
		"a,b\nr1,1,x\nr2,1,x\nr3,1,x\nr4,1,x\nr5,1,x\n":      "{\"\":\"r1\",\"a\":1,\"b\":\"x\"}\n",
		"\"a\nb\",c\n" + strings.Repeat("1,\"x\ny\"\n", 6):   "{\"a\\nb\":1,\"c\":\"x\\ny\"}\n",
	} {
		from, to := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.jsonl")
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var told []Notice
		opt := Options{Columns: ColumnOptions{Notice: func(n Notice) { told = append(told, n) }}}
		if _, err := Convert(context.Background(), from, to, "jsonl", opt); err != nil {
			t.Errorf("%.20q: %v", text, err)
			continue
		}
		if out, _ := os.ReadFile(to); !strings.HasPrefix(string(out), want) {
			t.Errorf("%.20q: %.60q, want %q", text, out, want)
		}
		if len(told) > 0 && (len(told) > 1 || told[0].Kind != "header") {
			t.Errorf("%.20q: %v", text, told)
		}
	}
}

// Gaps of an array stay gaps in a table.
func TestConvertKeepsGapsOfArrays(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "x.npy")
	if err := os.WriteFile(from, npyOf32([][]float64{{1.5, 2, 0}, {math.NaN(), 4, 1}}), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"x.csv": "0,1,2\n1.5,2,0\n,4,1\n", "x.jsonl": "{\"0\":1.5,\"1\":2,\"2\":0}\n{\"0\":null,\"1\":4,\"2\":1}\n"} {
		if got := string(converted(t, from, filepath.Join(dir, name))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
