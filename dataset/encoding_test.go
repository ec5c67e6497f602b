package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"mercer/internal/engine/testenv"
)

// inUTF16 is a text in UTF-16 with a byte order mark.
func inUTF16(text string, big bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

const inFrench = "ville,prix,y\nOrléans,3,0.5\n\"Nîmes\",4,1.5\nOrlèans,5,2.5\nGênes,6,3.5\n"

// A table is the same in all encodings.
func TestEncodings(t *testing.T) {
	single := func(text string) []byte {
		var out []byte
		for _, r := range text {
			out = append(out, byte(r))
		}
		return out
	}
	for name, c := range map[string]struct {
		data     []byte
		encoding string
	}{
		"UTF-8":                {[]byte(inFrench), ""},
		"UTF-8 with a mark":    {[]byte("\ufeff" + inFrench), "utf-8"},
		"UTF-16 little":        {inUTF16(inFrench, false), ""},
		"UTF-16 big":           {inUTF16(inFrench, true), "auto"},
		"UTF-16 as asked":      {inUTF16(inFrench, true), "utf-16"},
		"UTF-16 without marks": {inUTF16(inFrench, false)[2:], "utf-16"},
		"big without marks":    {inUTF16(inFrench, true)[2:], "utf-16be"},
		"little, found out":    {inUTF16(inFrench, false)[2:], ""},
		"big, found out":       {inUTF16(inFrench, true)[2:], "auto"},
		"Latin-1":              {single(inFrench), "latin-1"},
		"Windows":              {single(inFrench), "windows-1252"},
		"Latin-1, compressed":  {gzipped(t, single(inFrench)), "latin-1"},
	} {
		f, err := OpenBytes(context.Background(), name, c.data, Options{Encoding: c.encoding, Columns: ColumnOptions{Categorical: "ville"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		col := f.Schema().Columns[0]
		if got := fmt.Sprint(col.Name, col.Categories); got != "ville[Gênes Nîmes Orlèans Orléans]" {
			t.Errorf("%s: %s", name, got)
		}
		b, err := Collect(context.Background(), f, 0)
		if err != nil || fmt.Sprint(b.Y) != "[0.5 1.5 2.5 3.5]" {
			t.Errorf("%s: %v, %v", name, b, err)
		}
		f.Close()
	}
}

// Text of another encoding is refused with its place, wherever it is, and however it is read.
func TestNotUTF8(t *testing.T) {
	rows := strings.Repeat("Paris,1,2\n", 300_000) // more than the head of a file, and than a block
	for name, c := range map[string]struct{ data, want string }{
		"first line":      {"caf\xe9,b\n1,2\n", `x:1: "caf\xe9" is not UTF-8 (character 4 of the line); name the encoding`},
		"a category":      {"a,b,y\nParis,1,2\nOrl\xe9ans,3,4\n", `x:3: "Orl\xe9ans" is not UTF-8 (character 4 of`},
		"far behind":      {"a,b,y\n" + rows + "N\xeemes,3,4\n" + rows, `x:300002: "N\xeemes" is not UTF-8 (character 2 of`},
		"the very end":    {"a,b,y\nParis,1,2\nOrl\xc3", `x:3: "`},
		"behind UTF-8":    {"a,b,y\nParis,1,2\né€,caf\xe9,4\n", `x:3: "caf\xe9" is not UTF-8 (character 7 of`},
		"LIBSVM":          {"1 1:2\n2 1:3 # \xe9\n", `x:2: "\xe9" is not UTF-8 (character 9 of`},
		"ARFF":            {"@relation r\n@attribute a {x,caf\xe9}\n@attribute y numeric\n@data\nx,1\n", `x:2: "caf\xe9}" is not UTF-8`},
		"tabs":            {"a\tb\n1\tcaf\xe9\n", `x:2: "caf\xe9" is not UTF-8`},
		"JSON":            {"{\"a\":\"x\",\"y\":1}\n{\"a\":\"caf\xe9\",\"y\":2}\n", `x:2: "caf\xe9" is not UTF-8`},
		"UTF-32":          {"\xff\xfe\x00\x00a\x00\x00\x00", "x: the text is UTF-32; convert the file: iconv -f UTF-32LE -t UTF-8"},
		"UTF-32, no mark": {"\x00\x00\x00a\x00\x00\x00,\x00\x00\x00b\x00\x00\x00\n", "x: the text is UTF-32; convert the file: iconv -f UTF-32BE"},
		"half a UTF-16":   {string(inUTF16("a,b\n1,2\n", false)) + "x", "x:3: the UTF-16 ends within a character"},
		"UTF-16, no pair": {"\xff\xfea\x00,\x00\n\x00\x00\xd8a\x00", "x:2: the unit 0xd800 is no character of UTF-16"},
	} {
		var f *File
		f, err := OpenBytes(context.Background(), "x", []byte(c.data), Options{})
		if err == nil {
			_, err = Survey(context.Background(), f, SurveyOptions{})
			f.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "UTF-") {
			t.Errorf("%s: %v, want %s…", name, err, c.want)
		}
	}
	if _, err := OpenBytes(context.Background(), "x", []byte("a,b\n1,2\n"), Options{Encoding: "ebcdic"}); err == nil {
		t.Error("an unknown encoding is taken")
	}
	if _, err := OpenBytes(context.Background(), "x", []byte("a\x81,b\n1,2\n"), Options{Encoding: "windows-1252"}); err == nil ||
		!strings.Contains(err.Error(), "x:1: the byte 0x81 is no character of windows-1252") {
		t.Errorf("0x81: %v", err)
	}
}

// The command that converts a file works as it is told, whatever the file's compression and name.
func TestConversionRuns(t *testing.T) {
	latin := []byte("a,b,y\nOrl\xe9ans,1,2\nN\xeemes,3,4\n")
	packed := map[string][]byte{"x.csv": latin, "x.csv.gz": gzipped(t, latin), "x.csv.zst": zstandard(t, latin), "x": gzipped(t, latin),
		"it's of $3.csv.gz": gzipped(t, latin), "-x.csv": latin, "no suffix": zstandard(t, latin), "wide.csv.gz": gzipped(t, inUTF32("a,b,y\nOrléans,1,2\nNîmes,3,4\n"))}
	bzip2 := exec.Command(testenv.Program(t, "bzip2"), "-c")
	bzip2.Stdin = bytes.NewReader(latin)
	var err error
	if packed["x.csv.bz2"], err = bzip2.Output(); err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{"sh", "gzip", "zstd", "iconv"} {
		testenv.Program(t, needed)
	}
	for name, data := range packed {
		dir := t.TempDir()
		t.Chdir(dir)
		save(t, dir, name, string(data))
		f, err := Open(context.Background(), name, Options{})
		if err == nil {
			_, err = Survey(context.Background(), f, SurveyOptions{})
			f.Close()
		}
		if err == nil {
			t.Errorf("%s: text that is not UTF-8 is read", name)
			continue
		}
		_, command, _ := strings.Cut(err.Error(), "convert the file: ")
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %s: %v: %s", name, command, err, out)
		}
		files, _ := os.ReadDir(dir)
		for _, file := range files {
			if file.Name() == name {
				continue
			}
			text, err := os.ReadFile(file.Name())
			if err != nil || !strings.Contains(string(text), "Orléans,1,2\nNîmes,3,4\n") {
				t.Errorf("%s: %s: %v: %q", name, command, err, text)
			}
		}
		if len(files) != 2 {
			t.Errorf("%s: %s: %d files", name, command, len(files))
		}
	}
}

// inUTF32 is text as UTF-32, the lowest byte first.
func inUTF32(text string) (b []byte) {
	for _, r := range text {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return b
}

// Readers of text return the same however few bytes they are given at a time.
func FuzzEncodings(f *testing.F) {
	for _, text := range []string{inFrench, "caf\xe9", "\U0001f600\n€", string(inUTF16(inFrench+"\U0001f600", true)), string(inUTF16("a\nb", false))} {
		for encoding := range 4 {
			f.Add([]byte(text), encoding)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, encoding int) {
		defer testenv.Bounded(t, len(data))()
		if encoding &= 3; encoding < 0 || len(data) > 1<<16 {
			return
		}
		name := []string{"utf-8", "windows-1252", "utf-16le", "utf-16be"}[encoding]
		read := func(r io.Reader) (string, string) {
			in := &recoded{input: givenReader{r}, encoding: name}
			text, _, err := in.Open()
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(text)
			if err != nil {
				return "", err.Error()[:3]
			}
			return string(out), ""
		}
		all, wrong := read(strings.NewReader(string(data)))
		if one, w := read(iotest.OneByteReader(strings.NewReader(string(data)))); one != all || w != wrong {
			t.Errorf("%s: %q, %q at once, %q, %q by bytes", name, all, wrong, one, w)
		}
		if name == "utf-8" && wrong == "" && all != string(data) {
			t.Errorf("%q became %q", data, all)
		}
		if strings.ToValidUTF8(all, "?") != all {
			t.Errorf("%s: %q is not UTF-8", name, all)
		}
	})
}

// givenReader is an input of a reader.
type givenReader struct{ r io.Reader }

func (g givenReader) Name() string { return "x" }
func (g givenReader) Head() []byte { return nil }
func (g givenReader) Open() (io.ReadCloser, func() float64, error) {
	return io.NopCloser(g.r), nil, nil
}

// Pieces of text in another encoding have the rows and the line numbers of the whole.
func TestPiecesOfEncodings(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	text := "ville,y\n" + strings.Repeat("Orl\xe9ans,1\nN\xeemes,2\n", 300)
	path := filepath.Join(dir, "latin.csv")
	for _, c := range []struct {
		data     []byte
		encoding string
		pieces   bool
	}{{[]byte(text), "latin-1", true}, {inUTF16(string([]rune(strings.ToValidUTF8(text, "é"))), false), "", false}} {
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		opt := Options{Encoding: c.encoding}
		d, err := Divide(ctx, path, opt, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.All) > 1 != c.pieces {
			t.Errorf("%q: %d pieces", c.encoding, len(d.All))
		}
		opt.Schema = settled(t, d, opt)
		rows := 0
		for i := range d.All {
			f, err := d.Open(ctx, i, opt)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Collect(ctx, f, 0)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			rows += len(b.Y)
		}
		if rows != 600 {
			t.Errorf("%q: %d rows", c.encoding, rows)
		}
	}
	// UTF-8 with a fault in one of the pieces
	text = "ville,y\n" + strings.Repeat("Paris,1\nNice,2\n", 300) + "N\xeemes,3\n" + strings.Repeat("Paris,1\n", 300)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Divide(ctx, path, Options{Columns: ColumnOptions{Categorical: "ville"}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for i := range d.All {
		if _, err := d.Look(ctx, i, Options{Columns: ColumnOptions{Categorical: "ville"}}); err != nil {
			found += err.Error()
		}
	}
	if !strings.Contains(found, "latin.csv:602: \"N\\xeemes\" is not UTF-8") {
		t.Error(found)
	}
}

// The schema of a model file does not join or alter categories.
func TestCheckOfCategories(t *testing.T) {
	for want, categories := range map[string][]string{
		"": {"a", "b"}, `column "c" has the category "a" twice`: {"a", "b", "a"}, "is not UTF-8": {"a\xff"},
	} {
		err := (&Schema{Columns: []Column{{Place: Place{Name: "c"}, Categories: categories}}}).Check()
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) && err != nil {
			t.Errorf("%q: %v", categories, err)
		}
	}
}

// So are labels in files of their own, of rows and of bags, tables to convert and files of kinds of columns; all say how to convert them.
func TestOtherFilesNotUTF8(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string { return save(t, dir, name, text) }
	ctx := context.Background()
	rows, folder := put("rows.csv", "1,2\n3,4\n"), filepath.Dir(put("bags/one/a.csv", "1,2\n"))
	put("bags/two/a.csv", "3,4\n")
	folder = filepath.Dir(folder)
	labels, named := put("labels", "tea\ncaf\xe9\n"), put("named", "one/a.csv,tea\ntwo/a.csv,caf\xe9\n")
	table, kinds := put("table.csv", "a,b\n1,tea\n2,caf\xe9\n"), "{\"columns\":[\n{\"name\":\"caf\xe9\",\"kind\":\"number\"}]}"
	all := func(src Source, err error) error {
		if err == nil {
			_, err = Survey(ctx, src, SurveyOptions{})
		}
		return err
	}
	for name, c := range map[string]struct {
		err   error
		place string
	}{
		"labels of rows": {func() error {
			f, err := Open(ctx, rows, Options{LabelsFile: labels, Label: "none"})
			if err != nil {
				return err
			}
			defer f.Close()
			return all(f, nil)
		}(), labels + ":2: "},
		"labels of bags": {func() error {
			f, err := OpenBags(ctx, folder, Options{LabelsFile: named})
			if err == nil {
				f.Close()
			}
			return err
		}(), named + ":2: "},
		"convert": {func() error {
			_, err := Convert(ctx, table, filepath.Join(dir, "out.csv"), "csv", Options{})
			return err
		}(), table + ":3: "},
		"kinds": {func() error {
			_, err := ReadKinds(strings.NewReader(kinds), "kinds.json")
			return err
		}(), "kinds.json:2: "},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.place) || !strings.Contains(c.err.Error(), "is not UTF-8 (character ") ||
			!strings.Contains(c.err.Error(), "iconv -f WINDOWS-1252 -t UTF-8 "+strings.Split(c.place, ":")[0]) {
			t.Errorf("%s: %v, want %s", name, c.err, c.place)
		}
	}
}

// So are values and names of columns in tables whose cells have types: two of them would be one in the JSON of a model.
func TestTypedTablesNotUTF8(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	check := func(what, place, odd string, err error) {
		t.Helper()
		if err == nil || !strings.HasPrefix(err.Error(), place) || !strings.Contains(err.Error(), odd) {
			t.Errorf("%s: %v, want %s … %s", what, err, place, odd)
		}
	}
	all := func(path string) error {
		f, err := Open(ctx, path, Options{})
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = Survey(ctx, f, SurveyOptions{})
		return err
	}
	convert := func(path string) error {
		_, err := Convert(ctx, path, filepath.Join(dir, "out.csv"), "csv", Options{})
		return err
	}
	values := [][]string{{"1", "tea"}, {"2", "caf\xe9"}, {"3", "caf\xe8"}}
	for _, format := range []string{"parquet", "arrow", "arrows"} {
		for what, names := range map[string][]string{"values": {"x", "y"}, "names": {"caf\xe8", "caf\xe9"}} {
			path := filepath.Join(dir, what+"."+format)
			w, err := createTable(path, format, names)
			if err == nil {
				err = w.begin([]valueKind{kindNumber, kindText})
			}
			for _, row := range values {
				if err == nil {
					err = w.row(row)
				}
			}
			if err == nil {
				err = w.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			place, odd := path+`: row 2, column "y": `, `"caf\xe9" is not UTF-8; write`
			if what == "names" {
				place, odd = path+": ", `the name of column 0 (from 0), "caf\xe8", is not UTF-8; rename`
			}
			check(format, place, odd, all(path))
			check("convert "+format, path+": ", odd, convert(path))
		}
	}
	for line, odd := range map[string]string{
		`{"y":"b\ud800"}`: `\ud800`, `{"y":"\udc00\ud800"}`: `\udc00`, `{"y":"\\\udbff\u0041"}`: `\udbff`, `{"\ud83d x":"b"}`: `\ud83d`,
	} {
		path := save(t, dir, "half.jsonl", `{"y":"\ud83d\ude00\\ud800"}`+"\n"+line+"\n")
		check(line, path+":2: ", odd+" in ", all(path))
	}
	for _, record := range []any{map[string]any{"y": "caf\xe9"}, struct{ y, Z string }{Z: "caf\xe9"}} {
		_, err := FromRecords(ctx, "records", nil, func(yield func(any, error) bool) { yield(record, nil) }, Options{})
		check("records", "records: record 1", `"caf\xe9" is not UTF-8; write`, err)
	}
}
