package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// A table with rows that have no label gives what one without these rows gives, in each format: the columns, what is known of them, and the rows.
func TestRowsWithoutALabelAreAsIfTheyWereNotThere(t *testing.T) {
	for name, label := range map[string]func(i int) string{
		"classes": func(i int) string { return []string{"no", "yes"}[i%2] },
		"numbers": func(i int) string { return fmt.Sprint(float64(i%17) / 4) },
	} {
		var all, some strings.Builder
		for _, b := range []*strings.Builder{&all, &some} {
			b.WriteString("a,town,y\n")
		}
		for i := range 400 {
			row := fmt.Sprintf("%d,%s", i*37%101, []string{"Bonn", "Köln", "", "Ulm"}[i%4])
			if i%5 == 3 { // no other row has these values
				fmt.Fprintf(&all, "%d,nowhere %d,%s\n", 5000+i, i%2, []string{"", "?"}[i%2])
				continue
			}
			fmt.Fprintf(&all, "%s,%s\n", row, label(i))
			fmt.Fprintf(&some, "%s,%s\n", row, label(i))
		}
		dir := t.TempDir()
		whole := filepath.Join(dir, "all.csv")
		if err := os.WriteFile(whole, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		opt := Options{Label: "y", BatchRows: 32}
		want, wantRows := columnsAndRows(t, opt, func(opt Options) (*File, error) { return OpenBytes(t.Context(), "some", []byte(some.String()), opt) })
		opt.DropUnlabelled = true
		var records []any
		for _, line := range strings.Split(strings.TrimSpace(all.String()), "\n")[1:] {
			cells := strings.Split(line, ",")
			a, err := strconv.Atoi(cells[0])
			if err != nil {
				t.Fatal(err)
			}
			record := map[string]any{"a": a, "town": cells[1]}
			if cells[2] != "" {
				record["y"] = cells[2]
			}
			records = append(records, record)
		}
		ways := map[string]func(opt Options) (*File, error){
			"records": func(opt Options) (*File, error) {
				return FromRecords(t.Context(), "records", nil, recordsOf(records...), opt)
			},
			"list": func(opt Options) (*File, error) {
				return FromList(t.Context(), "list", nil, len(records), func(i int) any { return records[i] }, opt)
			},
		}
		for _, format := range []string{"csv", "tsv", "parquet", "arrow", "jsonl"} {
			path := filepath.Join(dir, "all."+format)
			if path != whole {
				converted(t, whole, path)
			}
			ways[format] = func(opt Options) (*File, error) { return Open(t.Context(), path, opt) }
		}
		for way, open := range ways {
			if name == "numbers" && (way == "records" || way == "list") {
				continue // whose labels are text
			}
			got, rows := columnsAndRows(t, opt, open)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %+v, want %+v", name, way, got, want)
			}
			if rows != wantRows {
				t.Errorf("%s, %s: other rows: %.200s, want %.200s", name, way, rows, wantRows)
			}
			f, err := open(Options{Label: "y"})
			if err == nil {
				_, err = Survey(t.Context(), f, SurveyOptions{})
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "label is missing") ||
				!strings.Contains(err.Error(), "as in 80 of 400 rows") || !strings.Contains(err.Error(), "drop_unlabelled") {
				t.Errorf("%s, %s, without the option: %v", name, way, err)
			}
		}
	}
}

// A file of labels has one for each row of another file, so none is left out.
func TestFileOfLabelsDropsNone(t *testing.T) {
	_, err := OpenBytes(t.Context(), "x.csv", []byte("a,b\n1,2\n3,4\n"), Options{LabelsFile: "y.txt", DropUnlabelled: true})
	if err == nil || !strings.Contains(err.Error(), "drop_unlabelled is for labels in a column") || !strings.Contains(err.Error(), "y.txt") {
		t.Error(err)
	}
}

// columnsAndRows is what a source says of its input columns, and its rows.
func columnsAndRows(t *testing.T, opt Options, open func(opt Options) (*File, error)) (columns []Column, rows string) {
	t.Helper()
	f, err := open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := Collect(t.Context(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, n := range f.Notices() {
		if strings.Contains(n.Text, "has no value in 80 of 400 rows") {
			told++
		}
	}
	if opt.DropUnlabelled != (told == 1) {
		t.Errorf("%s: %d notices: %v", f.Name(), told, f.Notices())
	}
	return f.Schema().Columns, fmt.Sprint(all.X.Dense.Data, all.Y, all.Names)
}

// A label that is missing is one error in all formats, which counts the rows without: an empty cell, a marker among numbers, a null.
func TestRowsWithoutALabelAreCounted(t *testing.T) {
	for name, label := range map[string]func(i int) string{
		"numbers": func(i int) string { return fmt.Sprint(float64(i%17) / 4) },
		"0 and 1": func(i int) string { return fmt.Sprint(i % 2) },
		"words":   func(i int) string { return []string{"no", "yes"}[i%2] },
	} {
		for _, mark := range []string{"", "NA", "-"} {
			if name == "words" && mark != "" {
				continue // a class
			}
			var text strings.Builder
			text.WriteString("a,y\n")
			for i := range 2700 {
				y := label(i)
				if i > 2050 && i%300 == 0 { // behind the rows that are looked at first
					y = mark
				}
				fmt.Fprintf(&text, "%d,%s\n", i%7, y)
			}
			whole := filepath.Join(t.TempDir(), "all.csv")
			if err := os.WriteFile(whole, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"csv", "parquet", "arrow", "jsonl"} {
				path := strings.TrimSuffix(whole, "csv") + format
				if path != whole {
					converted(t, whole, path)
				}
				f, err := Open(t.Context(), path, Options{Label: "y"})
				if err != nil {
					t.Fatal(err)
				}
				_, err = Survey(t.Context(), f, SurveyOptions{})
				var at *RowError
				if !errors.As(err, &at) || at.Row != 2100 || at.Column != "y" ||
					!strings.HasSuffix(err.Error(), "as in 2 of 2,700 rows; give these rows labels, or leave them out with drop_unlabelled") {
					t.Errorf("%s, %q, %s: %v", name, mark, format, err)
				}
				f.Close()
				// What needs no labels takes all rows, and says of which of them it has a label.
				if f, err = Open(t.Context(), path, Options{Label: "y", LabelsOptional: true, BatchRows: 1000}); err != nil {
					t.Fatal(err)
				}
				all, err := Collect(t.Context(), f, 0)
				if err != nil {
					t.Fatal(err)
				}
				without := 0
				for i, y := range all.Y {
					if math.IsNaN(y) && (all.Names == nil || all.Names[i] == "") {
						without++
					}
				}
				sum, err := Survey(t.Context(), f, SurveyOptions{})
				if err != nil {
					t.Fatal(err)
				}
				f.Close()
				if without != 2 || sum.Rows != 2700 || sum.labels.rows != 2698 || f.Profile().Columns[1].Missing != 2 {
					t.Errorf("%s, %q, %s: %d of %d rows without a label, %d with, %d missing", name, mark, format, without, sum.Rows, sum.labels.rows,
						f.Profile().Columns[1].Missing)
				}
			}
		}
	}
}

// Words in a few of many numbers to predict are an error that says what they may mean.
func TestWordsAmongNumbersToPredict(t *testing.T) {
	for _, c := range []struct{ number, word, want string }{
		{"%d.5", "unknown", `the labels are numbers, but in 3 of 3,000 rows "unknown"; if that means that the label is missing, give na=unknown and drop_unlabelled, and if all labels are classes, task=classify`},
		{"%d.5", "n%d", `the labels are numbers, but in 1 of 3,000 rows "n2200" (and 2 words more); if`},
		{"%d", "cm", `the labels are numbers, but in 3 of 3,000 rows "cm"; if`},
	} {
		var text strings.Builder
		text.WriteString("a,y\n")
		for i := range 3000 {
			y := fmt.Sprintf(c.number, i%41)
			if i > 2100 && i%300 == 100 {
				y = c.word
				if strings.Contains(y, "%") {
					y = fmt.Sprintf(y, i)
				}
			}
			fmt.Fprintf(&text, "%d,%s\n", i%7, y)
		}
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := Survey(t.Context(), f, SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := sum.Task("auto"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.word, err)
		}
		if task, _, err := sum.Task("classify"); err != nil || task != "classify" {
			t.Errorf("%s, classify: %s, %v", c.word, task, err)
		}
	}
}

// A column may begin with numbers and go on with words in one batch, of which some rows are left out.
func TestDroppedRowsBesideAColumnOfSeveralKinds(t *testing.T) {
	text := `{"a":1,"y":1}
{"a":2,"y":0}
{"a":"x","y":null}
{"a":null,"y":1}
{"a":3,"y":0}
`
	f, err := OpenBytes(t.Context(), "a.jsonl", []byte(text), Options{Label: "y", DropUnlabelled: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Collect(t.Context(), f, 0)
	if err != nil || fmt.Sprint(all.Y) != "[1 0 1 0]" {
		t.Error(all, err)
	}
}

// Labels that are written as people write numbers are described as what they are, and may be missing.
func TestWrittenLabelsAreDescribed(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,\"%s\"\n", i, []string{"$1,000.50", "-$20", "$0", "($7)"}[i%4])
	}
	for na, want := range map[string]ColumnProfile{
		"":   {Distinct: 4, Min: -20, Max: 1000.5},
		"$0": {Distinct: 3, Min: -20, Max: 1000.5, Missing: 15},
	} {
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text.String()), Options{Label: "y", LabelsOptional: true, Columns: ColumnOptions{NA: na}})
		if err != nil {
			t.Fatal(err)
		}
		if c := f.Profile().Columns[1]; c.Distinct != want.Distinct || c.Min != want.Min || c.Max != want.Max || c.Missing != want.Missing {
			t.Errorf("na=%q: %+v", na, c)
		}
	}
}

// To count rows without a label tells how far it is.
func TestCountingOfUnlabelledRowsShowsProgress(t *testing.T) {
	for name, data := range map[string]string{
		"csv":   "x,bought\n2.5,yes\n3,no\n" + strings.Repeat("1.5,\n", 10_000),
		"jsonl": `{"x":1,"bought":"yes"}` + "\n" + strings.Repeat(`{"x":1.5,"bought":null}`+"\n", 10_000),
	} {
		told := 0
		f, err := openMemory([]byte(data), Options{Columns: ColumnOptions{Progress: func(rows int, _ float64) { told = rows }}})
		if err != nil {
			t.Fatal(err)
		}
		told = 0
		if _, err = everything(f); err == nil || !strings.Contains(err.Error(), "as in 10,000 of 10,") || told <= 10_000 {
			t.Errorf("%s: %v, told of %d rows", name, err, told)
		}
	}
}
