package dataset

import (
	"fmt"
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
			if err == nil || !strings.Contains(err.Error(), "label is missing") || !strings.Contains(err.Error(), "drop_unlabelled") {
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
