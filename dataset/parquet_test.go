package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	writer "github.com/parquet-go/parquet-go"

	"mercer/internal/engine/testenv"
)

// cases are rows of all kinds of columns, with values at the edges of what rows of numbers can be.
func parquetCases(rng *rand.Rand, rows int) []byte {
	optional := func(n writer.Node) writer.Node { return writer.Optional(n) }
	nodes := []struct {
		name  string
		node  writer.Node
		value func() writer.Value
	}{
		{"bool", writer.Leaf(writer.BooleanType), func() writer.Value { return writer.BooleanValue(rng.IntN(2) == 0) }},
		{"double", optional(writer.Leaf(writer.DoubleType)), func() writer.Value {
			switch v := math.Float64frombits(rng.Uint64()); rng.IntN(8) {
			case 0:
				return writer.DoubleValue(math.Float64frombits(uint64(math.Float64bits(1+rng.Float64())&^(1<<29-1) | 1<<28))) // half way
			case 1:
				return writer.DoubleValue(float64(rng.IntN(1000)) / 100)
			case 2:
				if math.Abs(v) < math.MaxFloat32 {
					return writer.DoubleValue(v)
				}
			case 3:
				return writer.DoubleValue(rng.Float64() * 1e-40)
			}
			return writer.DoubleValue(rng.NormFloat64())
		}},
		{"float", writer.Encoded(optional(writer.Leaf(writer.FloatType)), &writer.Plain), func() writer.Value {
			if v := math.Float32frombits(rng.Uint32()); v-v == 0 && rng.IntN(2) == 0 {
				return writer.FloatValue(v)
			}
			return writer.FloatValue(float32(rng.IntN(20)))
		}},
		{"long", writer.Encoded(writer.Int(64), &writer.DeltaBinaryPacked), func() writer.Value { return writer.Int64Value(int64(rng.Uint64() >> rng.IntN(60))) }},
		{"short", writer.Encoded(writer.Optional(writer.Int(32)), &writer.DeltaBinaryPacked), func() writer.Value { return writer.Int32Value(int32(rng.Uint32())) }},
		{"unsigned", writer.Uint(64), func() writer.Value { return writer.Int64Value(int64(rng.Uint64())) }},
		{"text", writer.Encoded(writer.Optional(writer.String()), &writer.RLEDictionary), func() writer.Value {
			return writer.ByteArrayValue([]byte([]string{"a", "b \"c\", d", "", "ü", " e"}[rng.IntN(5)]))
		}},
		{"delta", writer.Encoded(writer.String(), &writer.DeltaByteArray), func() writer.Value {
			return writer.ByteArrayValue(fmt.Appendf(nil, "text %d", rng.IntN(5)))
		}},
		{"class", writer.Encoded(writer.String(), &writer.DeltaLengthByteArray), func() writer.Value {
			return writer.ByteArrayValue([]byte([]string{"yes", "no"}[rng.IntN(2)]))
		}},
	}
	group := orderedNodes{Group: writer.Group{}}
	for i, n := range nodes {
		packed := []writer.Node{n.node, writer.Compressed(n.node, &writer.Snappy), writer.Compressed(n.node, &writer.Gzip), writer.Compressed(n.node, &writer.Zstd),
			writer.Compressed(n.node, &writer.Brotli), writer.Compressed(n.node, &writer.Lz4Raw)}[i%6]
		group.Group[n.name], group.names = packed, append(group.names, n.name)
	}
	var file bytes.Buffer
	w := writer.NewWriter(&file, writer.NewSchema("rows", group), writer.PageBufferSize(300), writer.MaxRowsPerRowGroup(97), writer.DataPageVersion(1+rng.IntN(2)))
	for range rows {
		var row writer.Row
		for j, n := range nodes {
			defined := 0
			if n.node.Optional() {
				defined = 1
			}
			v := n.value()
			if n.node.Optional() && rng.IntN(5) == 0 {
				v, defined = writer.NullValue(), 0
			}
			row = append(row, v.Level(0, defined, j))
		}
		if _, err := w.WriteRows([]writer.Row{row}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// orderedNodes are columns in their order, where a Group has them in that of the alphabet.
type orderedNodes struct {
	writer.Group
	names []string
}

func (g orderedNodes) Fields() []writer.Field {
	all := g.Group.Fields()
	slices.SortFunc(all, func(a, b writer.Field) int { return slices.Index(g.names, a.Name()) - slices.Index(g.names, b.Name()) })
	return all
}

// textOfTyped is a typed table as CSV, with those of its columns that are text.
func textOfTyped(t typedTable) (text []byte, texts map[string]bool, err error) {
	texts = map[string]bool{}
	var names []string
	for _, f := range t.fields() {
		names, texts[f.name] = append(names, f.name), f.text
	}
	line := func(cells []string) error {
		for i, c := range cells {
			if i > 0 {
				text = append(text, ',')
			}
			if !texts[names[i]] && c != "" {
				text = append(text, c...)
			} else {
				text = appendQuoted(text, c)
			}
		}
		text = append(text, '\n')
		return nil
	}
	_ = line(names)
	err = eachRow(context.Background(), t, line)
	return text, texts, err
}

// parquetOf opens a Parquet file; nil if it is none.
func parquetOf(data []byte) typedTable {
	in, err := newPacked("f", bytesFile{data}, int64(len(data)))
	if err != nil {
		return nil
	}
	file, err := newParquetTable(in)
	if err != nil {
		return nil
	}
	return file
}

// sameAsText compares the rows of a typed table with those of its text.
func sameAsText(t *testing.T, file typedTable, opt Options) {
	t.Helper()
	text, texts, err := textOfTyped(file)
	if err != nil {
		return // a cell that cannot be written
	}
	byColumns, err := newTypedTable(context.Background(), file, opt)
	byText, errText := asTable(context.Background(), &memInput{"f", text}, texts, opt)
	if !sameFault(err, errText) {
		t.Fatalf("%+v: by columns %v, by text %v", opt, err, errText)
	}
	if err != nil {
		return
	}
	if !reflect.DeepEqual(byColumns.Schema(), byText.Schema()) {
		t.Fatalf("%+v: by columns %+v, by text %+v", opt, byColumns.Schema(), byText.Schema())
	}
	rows, err := readRows(t, byColumns, 4096)
	want, errText := readRows(t, byText, 4096)
	if !sameFault(err, errText) {
		t.Fatalf("%+v: by columns %v, by text %v", opt, err, errText)
	}
	if len(rows) != len(want) && err == nil {
		t.Fatalf("%+v: %d rows, %d by text", opt, len(rows), len(want))
	}
	for i := range min(len(rows), len(want)) {
		if !reflect.DeepEqual(rows[i], want[i]) {
			t.Fatalf("%+v: row %d is %v, by text %v", opt, i, rows[i], want[i])
		}
	}
}

// sameFault compares errors but for the words for the place, which is a line of text and a row of a typed table.
func sameFault(err, errText error) bool {
	var a, b *RowError
	if errors.As(err, &a) && errors.As(errText, &b) {
		return a.Column == b.Column && a.Dim == b.Dim && a.Value == b.Value && a.Err.Error() == b.Err.Error() && a.Row == b.Row
	}
	return (err == nil) == (errText == nil) && (err == nil || err.Error() == errText.Error())
}

// Rows read by columns are those that their text gives, to the bit, with the same errors.
func TestParquetRowsAreThoseOfTheirText(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		file := parquetOf(parquetCases(rng, 1+rng.IntN(450)))
		for _, opt := range []Options{
			{}, {Missing: "zero"}, {Missing: "mean"}, {Missing: "error"}, {Label: "none"}, {Columns: ColumnOptions{Carry: "*"}}, {Label: "long"}, {Label: "double", Missing: "zero"},
			{Label: "float"}, {Label: "unsigned,long"}, {Label: "text"}, {Weight: "short"}, {BatchRows: 1}, {Columns: ColumnOptions{Ignore: "d*"}},
			{Columns: ColumnOptions{NA: "3,0.5"}, Missing: "zero"}, {Columns: ColumnOptions{Categorical: "float,short"}},
			{Columns: ColumnOptions{Categorical: "long,unsigned,double,float"}, Label: "none"}, {Columns: ColumnOptions{ID: "delta"}},
		} {
			sameAsText(t, file, opt)
		}
	}
}

// costOf reads a file, and returns the bytes that were allocated for it.
func costOf(data []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	src, err := OpenBytes(context.Background(), "x.parquet", data, Options{Missing: "zero"})
	if err == nil {
		for _, err := range Each(context.Background(), src) {
			if err != nil {
				break
			}
		}
		src.Close()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A small file with any byte of it changed is an error or a table, and costs little.
func TestDamagedParquetCostsLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	var file bytes.Buffer
	w := writer.NewGenericWriter[struct {
		A float64 `parquet:"a,zstd"`
		B *string `parquet:"b,dict,snappy"`
	}](&file)
	text := "text"
	for range 3 {
		if _, err := w.Write([]struct {
			A float64 `parquet:"a,zstd"`
			B *string `parquet:"b,dict,snappy"`
		}{{1, nil}, {2, &text}, {3, &text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	const most = 64 << 20
	for at := range whole {
		for _, v := range []byte{0, 0x7f, 0xff, whole[at] ^ 0x10} {
			bad := bytes.Clone(whole)
			bad[at] = v
			if cost := costOf(bad); cost > most {
				t.Errorf("byte %d as %#x costs %d MiB", at, v, cost>>20)
			}
		}
	}
}

// Damaged files are errors that cost little, and what is read by columns is what their text gives.
func FuzzParquet(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(parquetCases(rand.New(rand.NewPCG(seed, 2)), 7), byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, options byte) {
		defer testenv.Bounded(t, len(data))()
		if !bytes.HasPrefix(data, []byte(parquetMagic)) {
			data = append([]byte(parquetMagic), data...)
		}
		if cost := costOf(data); len(data) < 4000 && cost > 200<<20 {
			t.Fatalf("%d bytes cost %d MiB", len(data), cost>>20)
		}
		file := parquetOf(data)
		if file == nil {
			return
		}
		sameAsText(t, file, Options{Missing: []string{"", "mean", "zero", "error"}[options&3], Label: []string{"", "none", "0", "1,2"}[options>>2&3]})
	})
}

// A label is one of given values if pandas or Arrow noted so (testdata/categories.py), also if the values are numbers.
func TestParquetLabelsThatAreCategories(t *testing.T) {
	for _, name := range []string{"categories", "arrow"} {
		src, err := Open(t.Context(), "testdata/"+name+".parquet", Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		sum, err := Survey(t.Context(), src, SurveyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if task, why, err := sum.Task("auto"); err != nil || task != "classify" || why != "the file declares the labels as classes" {
			t.Errorf("%s: %s (%s), %v", name, task, why, err)
		}
	}
}
