package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A column whose numbers differ by less than float32 can tell is no secret.
func TestColumnsThatLoseDigitsAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(i int) float64
		told  bool
	}{
		{"milliseconds", func(i int) float64 { return 1.7e12 + 997*float64(i) }, true},
		{"offset", func(i int) float64 { return 1e9 + float64(i%7)/8 }, true},
		{"negative", func(i int) float64 { return -1e10 - float64(i%7) }, true},
		{"milliseconds over years", func(i int) float64 { return 1.7e12 + 1e9*float64(i) }, false},
		{"small", func(i int) float64 { return float64(i%7) / 10 }, false},
		{"smaller than float32 has them", func(i int) float64 { return 1e-300 * float64(i) }, true},
		{"denormal", func(i int) float64 { return 1e-40 * float64(i%7) }, true},
		{"next to 0", func(i int) float64 { return 1e-30 * float64(i%7) }, false},
		{"whole", func(i int) float64 { return 16_000_000 + float64(i%7) }, false},
		{"two", func(i int) float64 { return 1<<30 + 128*float64(i%2) }, false},
	} {
		var text strings.Builder
		text.WriteString("v,z,y\n")
		for i := range 60 {
			fmt.Fprintf(&text, "%g,%d,%d\n", c.value(i), i%9, i%2)
		}
		f, err := openMemory([]byte(strings.ReplaceAll(text.String(), "e+", "e")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, n := range f.Notices() {
			if n.Kind == "digits" {
				told += n.Text
			}
		}
		if (told != "") != c.told || c.told && !strings.Contains(told, `column "v" has numbers from `) {
			t.Errorf("%s: told %q", c.name, told)
		}
	}
}

// What float32 would not keep of such a column is kept in every format and by the encoder of records: the smallest number is
// subtracted first.
func TestOffsetsOfColumns(t *testing.T) {
	const first = 1_700_006_400_029
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("when,paid,x,y\n")
	for i := range 80 {
		paid := fmt.Sprintf("\"1,000,000,000,%03d\"", i*7%80)
		if i == 5 {
			paid = ""
		}
		fmt.Fprintf(&b, "%d,%s,%d,%d\n", first+int64(i*37%80), paid, i%9, i%2)
	}
	path := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.csv", "t.parquet", "t.arrow", "t.jsonl", "t.tsv"} {
		src, all := readAs(t, path, name)
		schema := src.Schema()
		e, dst := NewEncoder(schema), make([]float32, schema.Dim)
		for i := range all.X.Len() {
			row := all.X.Dense.Row(i)
			want, paid, missing := float32(i*37%80), float32(i*7%80), i == 5
			if row[0] != want || !missing && row[1] != paid || missing && (row[1] < 0 || row[1] > 79 || row[2] != 1) {
				t.Fatalf("%s: row %d is %v", name, i, row)
			}
			record := map[string]any{"when": first + int64(i*37%80), "paid": 1e12 + float64(i*7%80), "x": i % 9}
			if missing {
				delete(record, "paid")
			}
			if err := e.Map(dst, record); err != nil || fmt.Sprint(dst) != fmt.Sprint(row) {
				t.Fatalf("%s: the record of row %d is %v, not %v (%v)", name, i, dst, row, err)
			}
		}
		again, err := Open(t.Context(), path, Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if all, err = everything(again); err != nil || all.X.Dense.Row(3)[0] != 3*37%80 {
			t.Errorf("%s: by the schema: %v, %v", name, all.X.Dense.Row(3), err)
		}
	}
	src, err := Open(t.Context(), path, Options{Label: "y", AsWritten: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if c := src.Schema().Columns[0]; c.Coding != nil {
		t.Errorf("as written: %+v", c.Coding)
	}
}
