package dataset

import (
	"bytes"
	"slices"
	"testing"

	writer "github.com/parquet-go/parquet-go"
)

// In a column of numbers true is 1 and false is 0, in whatever data they come, and in a record that is to be predicted.
func TestBooleansAreTheSameNumbersFromEveryReader(t *testing.T) {
	type row struct {
		Flag bool    `parquet:"flag" json:"flag"`
		N    float64 `parquet:"n" json:"n"`
		Y    string  `parquet:"y" json:"y"`
	}
	rows := []row{{true, 0.5, "a"}, {false, 2, "b"}, {true, 7, "a"}}
	want := []float32{1, 0.5, 0, 2, 1, 7}
	var columns bytes.Buffer
	w := writer.NewGenericWriter[row](&columns)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	opt := Options{Label: "y", Columns: ColumnOptions{Numeric: "flag"}}
	open := map[string]func() (*File, error){
		"records": func() (*File, error) {
			return FromRecords(t.Context(), "records", nil, recordsOf(rows[0], rows[1], rows[2]), opt)
		},
		"text in records": func() (*File, error) {
			return FromRecords(t.Context(), "records", nil, recordsOf(map[string]any{"flag": "true", "n": 0.5, "y": "a"},
				map[string]any{"flag": " false", "n": 2, "y": "b"}, map[string]any{"flag": "true", "n": 7, "y": "a"}), opt)
		},
	}
	for name, data := range map[string]string{
		"csv":  "flag,n,y\ntrue,0.5,a\nfalse,2,b\n true ,7,a\n",
		"tsv":  "flag\tn\ty\ntrue\t0.5\ta\nfalse\t2\tb\ntrue\t7\ta\n",
		"arff": "@relation r\n@attribute flag numeric\n@attribute n numeric\n@attribute y {a,b}\n@data\ntrue,0.5,a\nfalse,2,b\ntrue,7,a\n",
		"jsonl": `{"flag": true, "n": 0.5, "y": "a"}
{"flag": false, "n": 2, "y": "b"}
{"flag": "true", "n": 7, "y": "a"}
`,
		"parquet": columns.String(),
	} {
		open[name] = func() (*File, error) { return OpenBytes(t.Context(), "f", []byte(data), opt) }
	}
	for name, open := range open {
		f, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer f.Close()
		all, err := Collect(t.Context(), f, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(all.X.Dense.Data, want) {
			t.Errorf("%s: rows %v, want %v", name, all.X.Dense.Data, want)
		}
		encoder := NewEncoder(f.Schema())
		for i, r := range rows {
			own := want[2*i : 2*i+2]
			for _, flag := range []any{r.Flag, map[bool]string{true: "true", false: " false"}[r.Flag], own[0]} {
				got := make([]float32, 2)
				if err := encoder.Map(got, map[string]any{"flag": flag, "n": r.N}); err != nil || !slices.Equal(got, own) {
					t.Errorf("%s: the record with %#v has the row %v, %v; want %v", name, flag, got, err, own)
				}
			}
		}
	}
}

// What is no number in a table of text is none in a record.
func TestRecordsHaveTheNumbersOfText(t *testing.T) {
	for _, text := range []string{"True", "yes", "0x10", "0x1p4", "1e999", "Inf"} {
		src, err := OpenBytes(t.Context(), "f", []byte("n,y\n"+text+",a\n1,b\n"), Options{Label: "y", Columns: ColumnOptions{Numeric: "n"}})
		if err == nil {
			defer src.Close()
			_, err = Collect(t.Context(), src, 0)
		}
		if err == nil {
			t.Errorf("%q is a number in a table", text)
		}
		if err := NewEncoder(&Schema{Dim: 1, Columns: []Column{{Place: Place{Name: "n"}}}}).Values(make([]float32, 1), text); err == nil {
			t.Errorf("%q is a number in a record", text)
		}
	}
}
