package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/testenv"
)

func recordsOf(list ...any) func(func(any, error) bool) {
	return func(yield func(any, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Fields that come later are columns of all records, and texts are categories whatever they look like.
func TestRecordsBecomeATable(t *testing.T) {
	f, err := FromRecords(context.Background(), "records", nil, recordsOf(
		map[string]any{"zip": "02139", "price": 1.5, "y": "a"},
		map[string]any{"zip": "10001", "price": 2, "y": "b", "note": "says \"hi\",\nand more"},
		map[string]any{"zip": "02139", "price": float32(3), "y": "a", "rooms": int8(4)},
	), Options{Label: "y", Missing: "zero"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for _, c := range f.Schema().Columns {
		names = append(names, fmt.Sprint(c.Name, c.Categories))
	}
	want := []string{"price[]", "zip[02139 10001]", "note[ says \"hi\",\nand more]", "rooms[]"}
	if !slices.Equal(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
	for range 2 { // it can be read again
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.X.Dense.Data; !slices.Equal(got, []float32{1.5, 1, 0, 1, 0, 0, 2, 0, 1, 0, 1, 0, 3, 1, 0, 1, 0, 4}) {
			t.Errorf("rows %v", got)
		}
		if !slices.Equal(all.Names, []string{"a", "b", "a"}) {
			t.Errorf("labels %q", all.Names)
		}
	}
}

func TestWrongRecordsAreErrors(t *testing.T) {
	for _, c := range []struct {
		records []any
		names   []string
		want    string
	}{
		{nil, nil, "there are no records"},
		{[]any{map[string]any{"x": math.Inf(1), "y": 1}}, nil, `record 1: field "x": +Inf is not a finite number`},
		{[]any{map[string]any{"x": 1, "y": 1}, map[string]any{"x": []string{"a"}}}, nil, `record 2: field "x"`},
		{[]any{7}, nil, "record 1: a int is not a record"},
		{[]any{[]any{1, 2, 3}}, []string{"x", "y"}, "record 1: 3 values for 2 columns"},
		{[]any{map[string]any{"x": "a\x00b", "y": 1}}, nil, "zero byte"},
	} {
		f, err := FromRecords(context.Background(), "records", c.names, recordsOf(c.records...), Options{})
		if err == nil {
			f.Close()
			t.Errorf("%v: no error", c.records)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.records, err, c.want)
		}
	}
	_, err := FromRecords(context.Background(), "records", nil, recordsOf(map[string]any{"x": math.Inf(-1)}), Options{})
	if field := new(FieldError); !errors.As(err, &field) || field.Field != "x" {
		t.Errorf("no FieldError: %v", err)
	}
}

// A value is encoded as the cell of a file that holds it.
func TestEncoderTakesAllKindsOfValues(t *testing.T) {
	type number int16
	type text string
	s := &Schema{Dim: 5, Missing: "mean", Columns: []Column{
		{Place: Place{Name: "n"}, Mean: 7}, {Place: Place{Name: "c"}, Categories: []string{"", "1.5", "3", "true"}},
	}}
	e := NewEncoder(s)
	one := 1.25
	for _, c := range []struct {
		n, c any
		want []float32
	}{
		{1.5, "3", []float32{1.5, 0, 0, 1, 0}},
		{number(-3), 3, []float32{-3, 0, 0, 1, 0}},
		{"2.5", 1.5, []float32{2.5, 0, 1, 0, 0}},
		{uint8(4), true, []float32{4, 0, 0, 0, 1}},
		{&one, text("true"), []float32{1.25, 0, 0, 0, 1}},
		{nil, nil, []float32{7, 1, 0, 0, 0}},
		{math.NaN(), "unknown", []float32{7, 0, 0, 0, 0}},
		{"NA", (*string)(nil), []float32{7, 1, 0, 0, 0}},
		{true, []byte("3"), []float32{1, 0, 0, 1, 0}},
	} {
		dst := make([]float32, 5)
		if err := e.Values(dst, c.n, c.c); err != nil || !slices.Equal(dst, c.want) {
			t.Errorf("%v, %v: %v, %v; want %v", c.n, c.c, dst, err, c.want)
		}
	}
	dst := make([]float32, 5)
	for _, v := range []any{[]int{1}, map[string]int{}, time.Now(), "x", math.MaxFloat64, struct{}{}, func() {}} {
		if err := e.Values(dst, v, ""); err == nil {
			t.Errorf("%T is a number", v)
		}
	}
}

// Whatever texts a record holds, its row is that of the table it came from.
func FuzzRecords(f *testing.F) {
	f.Add("red", "a,b", 1.5)
	f.Add("\"", "\n\r", math.Copysign(0, -1))
	f.Add(" x ", "NA", 1e30)
	f.Fuzz(func(t *testing.T, a, b string, v float64) {
		defer testenv.Bounded(t, len(a)+len(b))()
		records := []any{map[string]any{"a": a, "v": 1.0, "y": 1.0}, map[string]any{"a": b, "v": v, "y": 2.0},
			map[string]any{"a": a, "v": 2.5, "y": 1.0}}
		file, err := FromRecords(context.Background(), "records", nil, recordsOf(records...), Options{Label: "y", Missing: "zero"})
		if err != nil {
			return
		}
		defer file.Close()
		all, err := Collect(context.Background(), file, 0)
		if err != nil {
			return
		}
		if all.X.Len() != 3 {
			t.Fatalf("%d rows of 3 records", all.X.Len())
		}
		e := NewEncoder(file.Schema())
		dst := make([]float32, e.Dim())
		for i, r := range records {
			if err := e.Map(dst, r.(map[string]any)); err != nil {
				t.Fatal(err)
			}
			if got := all.X.Dense.Row(i); !slices.Equal(got, dst) {
				t.Fatalf("record %v: %v in the table, %v by the encoder", r, got, dst)
			}
		}
	})
}
