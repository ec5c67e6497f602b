package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A text that comes again among many numbers, such as T for a trace of rain, is a missing value in its column alone, in training, in files that
// follow, and in records.
func TestMarksOfOneColumn(t *testing.T) {
	for name, write := range map[string]func(i int) string{
		"plain":   func(i int) string { return fmt.Sprint(float64(i) / 100) },
		"written": func(i int) string { return fmt.Sprintf(`"%d,%03d.50"`, 1+i%90, i) },
	} {
		weather := func(last string) []byte {
			var b strings.Builder
			b.WriteString("precip,tree,rain\n")
			for i := range 599 {
				cell := write(i)
				if i%20 == 7 {
					cell = "T"
				}
				fmt.Fprintf(&b, "%s,%c,%d\n", cell, "TU"[i%2], i%2)
			}
			return []byte(b.String() + last + ",T,1\n")
		}
		f, err := openMemory(weather("T"), Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := `column "precip" takes "T", in 31 of the first 600 values, for a missing value among numbers; categorical=precip takes the column as text`
		if told := fmt.Sprint(f.Notices()); !strings.Contains(told, want) {
			t.Errorf("%s: told %s, want %s", name, told, want)
		}
		rows, err := everything(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := f.Schema()
		if c := s.Columns[0]; !slices.Equal(c.Marks, []string{"T"}) || !c.Indicator || !slices.Equal(s.Columns[1].Categories, []string{"T", "U"}) {
			t.Errorf("%s: columns %+v", name, s.Columns)
		}
		missing := slices.Clone(rows.X.Dense.Row(7))
		if missing[0] != float32(s.Columns[0].Mean) || missing[1] != 1 || rows.X.Dense.Row(6)[1] != 0 {
			t.Errorf("%s: rows %v and %v, where the mean is %g", name, rows.X.Dense.Row(6), missing, s.Columns[0].Mean)
		}
		other, err := readBytes([]byte("precip,tree\nT,U\nT,U\n1.5,U\n"), Options{Schema: s})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(other.X.Dense.Row(1), missing) || other.X.Dense.Row(2)[0] != 1.5 {
			t.Errorf("%s: another file has %v and %v, want %v", name, other.X.Dense.Row(1), other.X.Dense.Row(2), missing)
		}
		if _, err = readBytes([]byte("precip,tree\nT,U\nS,U\n"), Options{Schema: s}); err == nil || !strings.Contains(err.Error(), `f:3: column "precip": "S" is not a number`) {
			t.Errorf("%s: a typing error in another file: %v", name, err)
		}
		record := make([]float32, s.Dim)
		if err := NewEncoder(s).Map(record, map[string]any{"precip": "T", "tree": "U"}); err != nil || !slices.Equal(record, missing) {
			t.Errorf("%s: a record gives %v, %v, want %v", name, record, err, missing)
		}
		if name == "plain" {
			if _, err := readBytes(weather("S"), Options{}); err == nil || !strings.Contains(err.Error(), `f:601: column "precip": "S" is not a number`) {
				t.Errorf("a typing error: %v", err)
			}
		}
		if f, err = openMemory(weather("T"), Options{Columns: ColumnOptions{Categorical: "precip"}}); err != nil || len(f.Schema().Columns[0].Marks) > 0 {
			t.Errorf("%s, as text: %v", name, err)
		}
		kinds := f.Profile().Kinds() // of the column as text
		if kinds.Columns[0].NA != nil {
			t.Errorf("%s: kinds %+v", name, kinds)
		}
		if f, err = openMemory(weather("T"), Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kinds = f.Profile().Kinds()
		if !slices.Equal(kinds.Columns[0].NA, []string{"T"}) {
			t.Errorf("%s: kinds %+v", name, kinds)
		}
		kinds.Columns[0].NA = []string{"T", "S"}
		if f, err = openMemory(weather("S"), Options{Columns: ColumnOptions{Kinds: kinds}}); err == nil {
			rows, err = everything(f)
		}
		if err != nil || rows.X.Dense.Row(599)[1] != 1 || strings.Contains(fmt.Sprint(f.Notices()), "precip") {
			t.Errorf("%s, by a file of kinds: %v, %s", name, err, f.Notices())
		}
	}
	for _, wrong := range []string{`"kind":"category","na":["T"]`, `"kind":"text","na":["-999"]`} {
		if _, err := ReadKinds(strings.NewReader(`{"columns":[{"name":"a",`+wrong+`}]}`), "kinds.json"); err == nil || !strings.Contains(err.Error(), "(na)") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// So is one among dates, such as never; a single cell that is none is an error that says what to do.
func TestMarksAmongDates(t *testing.T) {
	table := func(mark func(i int) string) []byte {
		var b strings.Builder
		b.WriteString("left,rain\n")
		for i := range 600 {
			cell := fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28)
			if m := mark(i); m != "" {
				cell = m
			}
			fmt.Fprintf(&b, "%s,%d\n", cell, i%2)
		}
		return []byte(b.String())
	}
	f, err := openMemory(table(func(i int) string { return map[int]string{7: "never", 9: "99-99-9999"}[i%20] }), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `column "left" takes "99-99-9999" and "never", in 60 of the first 600 values, for a missing value among dates; categorical=left takes the column as text`
	if told := fmt.Sprint(f.Notices()); !strings.Contains(told, want) {
		t.Errorf("told %s, want %s", told, want)
	}
	s := f.Schema()
	if c := s.Columns[0]; c.Coding == nil || c.Coding.Kind != CodedDate || !slices.Equal(c.Marks, []string{"99-99-9999", "never"}) || !c.Indicator {
		t.Errorf("columns %+v", s.Columns)
	}
	other, err := readBytes([]byte("left\nnever\n2024-05-01\n"), Options{Schema: s})
	if err != nil || other.X.Len() != 2 {
		t.Fatalf("another file: %v", err)
	}
	record := make([]float32, s.Dim)
	if err := NewEncoder(s).Map(record, map[string]any{"left": "never"}); err != nil || !slices.Equal(record, other.X.Dense.Row(0)) {
		t.Errorf("a record has %v, the file %v (%v)", record, other.X.Dense.Row(0), err)
	}
	if _, err = readBytes([]byte("left\nsoon\n"), Options{Schema: s}); err == nil || !strings.Contains(err.Error(), `"soon"`) {
		t.Errorf("a typing error in another file: %v", err)
	}
	typing := func(i int) string { return map[int]string{77: "2024-13-45"}[i] }
	if f, err = openMemory(table(typing), Options{}); err == nil {
		_, err = Survey(t.Context(), f, SurveyOptions{})
	}
	if want := `f:79: column "left": "2024-13-45" is not a date like the others of the column, 2006-01-02 (na=2024-13-45 counts such cells as missing, ` +
		`categorical=left takes the column as text)`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	f, err = openMemory(table(typing), Options{Columns: ColumnOptions{NA: "2024-13-45"}})
	if err != nil || f.Schema().Columns[0].Coding.Kind != CodedDate {
		t.Errorf("a typing error that counts as missing: %v", err)
	}
}

// A typing error among prices, or among dates of two layouts, leaves the kind of the column and is told with its line.
func TestTypingErrorLeavesTheKind(t *testing.T) {
	for want, cell := range map[string]func(i int) string{
		`f:51: column "left": "$1.2.3" is not a number with decimals after "." (na=$1.2.3 counts`: func(i int) string { return fmt.Sprintf("$%d,000.50", 1+i%99) },
		`f:51: column "left": "$1.2.3" is not a date like the others of the column, 2006-01-02 or 02.01.2006 (na`: func(i int) string {
			return []string{fmt.Sprintf("2024-05-%02d", 1+i%28), fmt.Sprintf("%02d.05.2024", 1+i%28)}[i%2]
		},
	} {
		var b strings.Builder
		b.WriteString("left,rain\n")
		for i := range 100 {
			text := cell(i)
			if i == 49 {
				text = "$1.2.3"
			}
			fmt.Fprintf(&b, "%q,%d\n", text, i%2)
		}
		f, err := openMemory([]byte(b.String()), Options{})
		if err == nil {
			_, err = Survey(t.Context(), f, SurveyOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
