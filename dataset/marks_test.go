package dataset

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Marks such as - are missing numbers and dates, told of in a line, in CSV and its kin, in files with types and in records; among words
// they are words.
func TestMarksOfMissingNumbers(t *testing.T) {
	for _, mark := range []string{"-", "--", "—", ".", "#N/A", "#DIV/0!", "NaT", `\N`, "<NA>", "1.#IND", "N.A.", "unknown", "Not available", "(null)"} {
		var b strings.Builder
		b.WriteString("plain,written,day,word,y\n")
		for i := range 80 {
			cells := []string{fmt.Sprintf("%d.5", i), fmt.Sprintf(`"1,%03d"`, i), dayText(float64(i)), "ab"[i%2 : i%2+1]}
			if cells[3] = cells[3] + "x"; i%10 == 3 {
				cells = slices.Repeat([]string{mark}, 4)
			}
			fmt.Fprintf(&b, "%s,%d\n", strings.Join(cells, ","), i%2)
		}
		f := openMessy(t, b.String(), Options{Label: "y"})
		p := f.Profile()
		for i, kind := range []string{KindNumber, KindNumber, KindDate, KindCategory} {
			c := p.Columns[i]
			if want := 8; c.Kind != kind || c.Missing != want && (i < 3 || c.Missing != 0) {
				t.Errorf("%s: column %q is %s with %d missing", mark, c.Name, c.Kind, c.Missing)
			}
		}
		if !missing([]byte(mark)) && !slices.ContainsFunc(f.Notices(), func(n Notice) bool {
			return n.Column == "day" && n.Text == fmt.Sprintf("column %q takes %q for a missing value; categorical=day takes the column as text", "day", mark)
		}) {
			t.Errorf("%s: notices %v", mark, f.Notices())
		}
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, f.Schema().Dim)
		if err := NewEncoder(f.Schema()).Map(row, map[string]any{"plain": mark, "written": mark, "day": mark, "word": mark}); err != nil {
			t.Fatalf("%s: %v", mark, err)
		}
		if at := all.X.Dense.Row(3); !slices.Equal(row, at) {
			t.Errorf("%s: a record is %v, the row of the file %v", mark, row, at)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		_, typed := readAs(t, path, "t.parquet")
		if !slices.Equal(typed.X.Dense.Data, all.X.Dense.Data) {
			t.Errorf("%s: Parquet has other rows", mark)
		}
	}
}

// A column of marks alone is text, also when it is converted; among labels that are numbers a mark is a missing one, among others a class.
func TestMarksAlone(t *testing.T) {
	f := openMessy(t, "a,b,y\n1,-,+\n2,,-\n3,-,+\n", Options{})
	if c := f.Schema().Columns[1]; !slices.Equal(c.Categories, []string{"", "-"}) {
		t.Errorf("%+v", c)
	}
	if all, err := Collect(context.Background(), f, 0); err != nil || !math.IsNaN(all.Y[0]) {
		t.Errorf("%v %v", all, err)
	}
	_, err := Collect(context.Background(), openMessy(t, "a,y\n1,1\n2,0\n3,-\n", Options{}), 0)
	if err == nil || !strings.Contains(err.Error(), `the label is missing ("-")`) {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(from, []byte("a,b\n1,-\n-,-\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(context.Background(), from, to, "jsonl", Options{}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(to); string(text) != "{\"a\":1,\"b\":\"-\"}\n{\"a\":null,\"b\":\"-\"}\n" {
		t.Errorf("%s", text)
	}
}
