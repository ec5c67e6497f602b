package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// randomCell is a cell of a column whose values have mostly one kind.
func randomCell(rng *rand.Rand, kind cellKind) (c cell) {
	var text []byte
	if rng.IntN(6) == 0 {
		return c
	}
	switch kind {
	case cellNumber:
		c.setNumber([]float64{rng.NormFloat64(), 0.1, math.Copysign(0, -1), 1e6, rng.Float64() * 1e-40, 3e38 * rng.Float64(), 1 + 1.0/(1<<24)}[rng.IntN(7)])
	case cellWhole:
		c = cell{kind: cellWhole, whole: int64(rng.Uint64()) >> rng.IntN(64)}
	case cellBool:
		c.setBool(rng.IntN(2) == 0)
	case cellDay:
		c = cell{kind: cellDay, whole: 86400 * int64(rng.IntN(40000)-20000)}
	case cellTime:
		c.setTime(time.Unix(int64(rng.IntN(2e9)), int64(rng.IntN(3))*5e8).In(time.FixedZone("", 60*rng.IntN(700)-18000)))
	case cellWritten:
		c.setUint([]uint64{7, math.MaxUint64, 1 << 63}[rng.IntN(3)], &text)
	default:
		setText(&c, []string{"a", "b \"c\",\r\nd", "", "ü", " e", "7", "007", "NA", "none"}[rng.IntN(9)], &text)
	}
	return c
}

// spoolOf is rows of random cells of all kinds, and of one column that has several.
func spoolOf(t *testing.T, rng *rand.Rand, rows int) *cellSpool {
	t.Helper()
	s := &cellSpool{name: "f"}
	kinds := []cellKind{cellNumber, cellWhole, cellBool, cellDay, cellTime, cellWritten, cellText}
	for _, k := range kinds {
		s.columns = append(s.columns, field{fmt.Sprint("column ", k), (&cell{kind: k}).textual()})
	}
	s.columns = append(s.columns, field{"mixed", true}, field{"numbers", false})
	for range rows {
		var row []cell
		for _, k := range kinds {
			row = append(row, randomCell(rng, k))
		}
		row = append(row, randomCell(rng, kinds[rng.IntN(len(kinds))]), randomCell(rng, kinds[rng.IntN(2)]))
		if err := s.add(row[:len(row)-rng.IntN(2)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Rows of typed cells are those that their text gives, to the bit, with the same errors.
func TestTypedRowsAreThoseOfTheirText(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := spoolOf(t, rng, 1+rng.IntN(400))
		for _, opt := range []Options{
			{}, {Missing: "zero"}, {Missing: "mean"}, {Missing: "error"}, {Label: "none"}, {Columns: ColumnOptions{Carry: "*"}}, {Label: "column 1", Missing: "zero"},
			{Label: "column 2"}, {Label: "column 6"}, {Label: "column 1,column 2"}, {Label: "mixed"}, {Weight: "column 1"}, {BatchRows: 1},
			{Columns: ColumnOptions{NA: "7,0.1"}, Missing: "zero"}, {Columns: ColumnOptions{Categorical: "column 1,column 2,column 4,numbers"}},
			{Columns: ColumnOptions{Date: "column 4,column 5"}, Label: "none"}, {Label: "column 7", LabelSeparator: ";"},
		} {
			sameAsText(t, s, opt)
		}
	}
}

// Cells come back as they were from memory and from a file, and a copy with any byte of it changed is an error.
func TestSpoolGivesBackItsCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var rows [][]cell
	s := &cellSpool{name: "f", columns: make([]field, 2)}
	long := []byte(strings.Repeat("x", 1<<20))
	for i := range 40 {
		row := []cell{randomCell(rng, cellKind(1+i%7)), {kind: cellText, text: long[:rng.IntN(len(long))]}}
		rows = append(rows, row)
		if err := s.add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.file == nil {
		t.Errorf("%d bytes are in memory", s.size)
	}
	p, _ := s.pass()
	var b columnBatch
	for err := p.next(&b); err != io.EOF; err = p.next(&b) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.rows {
			for j, want := range rows[0] {
				var got cell
				_ = b.columns[j].cell(i, &got, nil)
				same := bytes.Equal(got.text, want.text) && math.Float64bits(got.number) == math.Float64bits(want.number)
				if got.text, want.text, got.number, want.number = nil, nil, 0, 0; !same || !reflect.DeepEqual(got, want) {
					t.Fatalf("column %d: %v instead of %v, or another text or number", j, got, want)
				}
			}
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Errorf("%d rows are lost", len(rows))
	}

	small := spoolOf(t, rng, 3)
	for at := range small.memory {
		bad := *small
		bad.memory = bytes.Clone(small.memory)
		bad.memory[at] ^= 0x41
		p, _ := bad.pass()
		if err := p.next(&b); err == nil || !strings.HasPrefix(err.Error(), "f: the copy of the rows is damaged at byte 0: ") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	for _, body := range []string{"\x09", "\x01\x09", "\x01\x01\x00", "\x01\x02", "\x01\x07\x05a", "\x01\x00\x00"} { // of the right checksum
		bad := cellSpool{name: "f", columns: make([]field, 1), frame: append(make([]byte, frameHead), body...), framed: 1}
		if err := bad.flush(); err != nil {
			t.Fatal(err)
		}
		if p, _ := bad.pass(); p.next(&b) == nil {
			t.Errorf("%q is a row", body)
		}
		binary.LittleEndian.PutUint32(bad.memory, 1<<31)
		if p, _ := bad.pass(); p.next(&b) == nil {
			t.Error("a frame beyond the end is read")
		}
	}
}

// Class labels are what they were: all digits of a whole number, zeros in front of a text, and a long number without an exponent.
func TestLabelsOfRecordsAreAsTheyWere(t *testing.T) {
	for _, c := range []struct {
		labels []any
		want   []string
	}{
		{[]any{int64(9007199254740993), int64(9007199254740992), int64(math.MinInt64)},
			[]string{"-9223372036854775808", "9007199254740992", "9007199254740993"}},
		{[]any{uint64(math.MaxUint64), uint64(math.MaxUint64 - 1), 7}, []string{"7", "18446744073709551614", "18446744073709551615"}},
		{[]any{"007", "7", "07"}, []string{"7", "007", "07"}},
		{[]any{1000000, 2000000, 1e6}, []string{"1000000", "2000000"}},
		{[]any{math.Copysign(0, -1), 0, 1}, []string{"0", "1"}},
	} {
		var records []any
		for i, y := range c.labels {
			records = append(records, map[string]any{"x": i, "y": y})
		}
		spooled, err := FromRecords(t.Context(), "records", nil, recordsOf(records...), Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		listed, err := FromList(t.Context(), "records", nil, len(records), func(i int) any { return records[i] }, Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*File{spooled, listed} {
			sum, err := Survey(t.Context(), f, SurveyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			classes, err := sum.Classes()
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(c.want)
			if got := slices.Sorted(slices.Values(classes.Labels())); !slices.Equal(got, c.want) {
				t.Errorf("%v: classes %q, want %q", c.labels, got, c.want)
			}
			f.Close()
		}
	}
}

// Milliseconds since 1970 in records lose nothing, and a time has the values of its text.
func TestTimesOfRecords(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	var typed, texts []any
	for i := range 60 {
		at := time.Date(2024, 2, 28, 23, 59, 59, 0, zone).Add(time.Duration(i) * 7 * time.Hour)
		ms := int64(1_700_000_000_000) + int64(i%5)
		typed = append(typed, map[string]any{"at": at, "ms": ms, "y": i % 2})
		texts = append(texts, map[string]any{"at": at.Format(time.RFC3339Nano), "ms": float64(ms), "y": i % 2})
	}
	var all []*File
	for _, records := range [][]any{typed, texts} {
		f, err := FromRecords(t.Context(), "records", nil, recordsOf(records...), Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all = append(all, f)
	}
	if a, b := all[0].Schema(), all[1].Schema(); !reflect.DeepEqual(a, b) {
		t.Errorf("schema %+v, of texts %+v", a, b)
	}
	a, err := Collect(context.Background(), all[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Collect(context.Background(), all[1], 0)
	if err != nil || !slices.Equal(a.X.Dense.Data, b.X.Dense.Data) {
		t.Errorf("rows differ from those of texts (%v)", err)
	}
	at := all[0].Schema().Columns[0].Width()
	for i := range 60 {
		if got := a.X.Dense.Row(i)[at]; got != float32(i%5) {
			t.Fatalf("row %d: %g milliseconds beyond the first", i, got)
		}
	}
	e := NewEncoder(all[0].Schema())
	row := make([]float32, e.Dim())
	for i, r := range typed {
		if err := e.Map(row, r.(map[string]any)); err != nil || !slices.Equal(row, a.X.Dense.Row(i)) {
			t.Fatalf("record %d is %v by the encoder, %v in the table (%v)", i, row, a.X.Dense.Row(i), err)
		}
	}
}

// A category is known by either spelling of a number, as a model may have it from numbers of another kind.
func TestCategoriesThatAreNumbers(t *testing.T) {
	s := &Schema{Format: "csv", Dim: 2, Width: 1, Header: true, Missing: "zero",
		Columns: []Column{{Place: Place{Name: "c"}, Categories: []string{"1e+06", "2000000"}}}}
	e := NewEncoder(s)
	for v, want := range map[any][]float32{1000000: {1, 0}, 1e6: {1, 0}, 2000000: {0, 1}, 2e6: {0, 1}, 3: {0, 0}, 1e300: {0, 0}, "1e+06": {1, 0}} {
		record := map[string]any{"c": v}
		f, err := FromList(t.Context(), "records", nil, 1, func(int) any { return record }, Options{Schema: s})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Collect(t.Context(), f, 0)
		if err != nil || !slices.Equal(all.X.Dense.Data, want) {
			t.Errorf("%v: %v in the table, want %v (%v)", v, all, want, err)
		}
		dst := make([]float32, 2)
		if err := e.Map(dst, record); err != nil || !slices.Equal(dst, want) {
			t.Errorf("%v: %v by the encoder, want %v (%v)", v, dst, want, err)
		}
	}
}
