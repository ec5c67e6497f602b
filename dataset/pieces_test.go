package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// mixed is a table with columns of all kinds, gaps, quotes and line breaks within cells.
func mixed(n int, sep string) string {
	var b strings.Builder
	b.WriteString("size" + sep + "colour" + sep + "day" + sep + "note" + sep + "gap" + sep + "kind\n")
	for i := range n {
		gap := fmt.Sprint(i * i % 17)
		if i%11 == 3 {
			gap = ""
		}
		note := fmt.Sprintf("\"line %d\nnext of %d words\"", i%7, i)
		fmt.Fprintf(&b, "%g%s%s%s2024-%02d-%02d%s%s%s%s%s%s\n", float64(i%97)/8, sep, []string{"red", "green", "blue"}[i*7%3], sep, i%12+1, i%28+1, sep,
			note, sep, gap, sep, []string{"yes", "no"}[i*5%2])
	}
	return b.String()
}

// parquetRow is a row of a file for tests.
type parquetRow struct {
	A float64 `parquet:"a"`
	B string  `parquet:"b"`
	Y float64 `parquet:"y"`
}

// save writes a file in a folder of dir, which it makes, and returns its path.
func save(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// writePieces writes files of many formats, and returns the paths or patterns.
func writePieces(t *testing.T, dir string) map[string]string {
	t.Helper()
	save := func(name, text string) string { return save(t, dir, name, text) }
	paths := map[string]string{"csv": save("mixed.csv", mixed(900, ","))}
	var plain, sparse strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&plain, "%d,%g,%g,%d\n", i%5, math.Sin(float64(i)), float64(i)/3, i%2)
		fmt.Fprintf(&sparse, "%d %d:%g %d:1 # row %d\n", i%2*2-1, i%9+1, math.Cos(float64(i)), 20+i*i%300, i)
	}
	paths["no header"], paths["libsvm"] = save("plain.csv", plain.String()), save("rows.svm", sparse.String())

	w, err := CreateNPY(filepath.Join(dir, "a.npy"), 6, Float32)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x := matrix.NewDense(500, 6)
	for i := range x.Data {
		x.Data[i] = float32(i * 31 % 103)
	}
	if err := w.Write(&matrix.Batch{X: matrix.Rows{Dense: x}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	paths["npy"] = filepath.Join(dir, "a.npy")

	var file bytes.Buffer
	p := parquet.NewGenericWriter[parquetRow](&file)
	for i := range 600 {
		row := parquetRow{A: float64(i % 13), B: []string{"x", "y", "z"}[i%3], Y: float64(i % 4)}
		if _, err := p.Write([]parquetRow{row}); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			if err := p.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	paths["parquet"] = save("a.parquet", file.String())

	save("parts/year=2023/a.csv", mixed(300, ","))
	save("parts/year=2024/b.csv", mixed(200, ";"))
	save("parts/year=2025/c.csv", mixed(250, ","))
	paths["folder"] = filepath.Join(dir, "parts")
	return paths
}

// The rows of all pieces, read with the schema that looks at the pieces give, are the rows of the whole, and so are their surveys.
func TestRowsOfPiecesAreThoseOfTheWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	for name, path := range writePieces(t, t.TempDir()) {
		for _, size := range []int64{3000, 9000, 1 << 30} {
			whole, err := Open(ctx, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := Collect(ctx, whole, 400)
			if err != nil {
				t.Fatal(err)
			}
			wantSum, err := Survey(ctx, whole, SurveyOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			d, err := Divide(ctx, path, Options{}, size)
			if err != nil {
				t.Fatal(err)
			}
			if name != "folder" && size == 1<<30 != (len(d.All) == 1) && name != "npy" {
				t.Errorf("%s in pieces of %d bytes: %d pieces", name, size, len(d.All))
			}
			schema := settled(t, d, Options{})
			wantSchema, _ := json.Marshal(whole.Schema())
			if got, _ := json.Marshal(schema); !bytes.Equal(got, wantSchema) {
				t.Errorf("%s: schema\n%s, not\n%s", name, got, wantSchema)
			}
			opt := Options{}
			if d.Table {
				opt.Schema = schema
			}
			got := &matrix.Batch{}
			var all *SurveyPart
			for i := range d.All {
				f, err := d.Open(ctx, i, opt)
				if err != nil {
					t.Fatal(err)
				}
				part, err := Collect(ctx, f, 400)
				if err != nil {
					t.Fatalf("%s: %v: %v", name, d.All[i], err)
				}
				got.Append(part, 400)
				s, err := SurveySome(ctx, f, SurveyOptions{Seed: 1, First: RowKey(i, 0)})
				if err != nil {
					t.Fatal(err)
				}
				s = copiedSurvey(t, s)
				if all == nil {
					all = s
				} else if err := all.Merge(s); err != nil {
					t.Fatal(err)
				}
				f.Close()
			}
			if a, b := fmt.Sprint(rowsOf(got)), fmt.Sprint(rowsOf(want)); a != b {
				t.Errorf("%s in %d pieces: other rows, %d for %d", name, len(d.All), got.X.Len(), want.X.Len())
			}
			sum, err := all.Summary(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.All) == 1 && fmt.Sprintf("%+v", sum.Columns) != fmt.Sprintf("%+v", wantSum.Columns) {
				t.Errorf("%s in one piece: another survey", name)
			}
			if sum.Rows != wantSum.Rows || sum.Dim != wantSum.Dim || sum.NonZero != wantSum.NonZero || sum.Sample.Len() != wantSum.Sample.Len() {
				t.Errorf("%s: survey of %d rows, %d dimensions, %d nonzeros", name, sum.Rows, sum.Dim, sum.NonZero)
			}
			for j, c := range sum.Columns {
				w := wantSum.Columns[j]
				if c.Min != w.Min || c.Max != w.Max || c.Integer != w.Integer || math.Abs(c.Mean-w.Mean) > 1e-9*(1+math.Abs(w.Mean)) ||
					math.Abs(c.Variance-w.Variance) > 1e-9*(1+w.Variance) {
					t.Errorf("%s: column %d is %+v, not %+v", name, j, c, w)
				}
			}
			whole.Close()
		}
	}
}

// rowsOf are rows with their labels, for comparisons.
func rowsOf(b *matrix.Batch) (x any, y []float64, names []string) {
	if b.X.CSR != nil {
		c := *b.X.CSR
		return []any{c.Ptr, c.Idx, c.Val}, b.Y, b.Names
	}
	return b.X.Dense.Data, b.Y, b.Names
}

// settled makes the schema by looks that are merged two by two.
func settled(t *testing.T, d *Pieces, opt Options) *Schema {
	t.Helper()
	ctx := context.Background()
	var look *Look
	for i := range d.All {
		if !d.Table {
			break
		}
		l, err := d.Look(ctx, i, opt)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := l.Write(&file, nil); err != nil {
			t.Fatal(err)
		}
		if l, _, err = ReadLook(&file, int64(file.Len())); err != nil {
			t.Fatal(err)
		}
		if look == nil {
			look = l
		} else if err := look.Merge(l); err != nil {
			t.Fatal(err)
		}
	}
	s, _, _, err := d.Settle(ctx, look, opt)
	if err != nil {
		t.Fatalf("%s: %v", d.Path, err)
	}
	return s
}

// copiedSurvey is a survey that was written and read.
func copiedSurvey(t *testing.T, s *SurveyPart) *SurveyPart {
	t.Helper()
	var file bytes.Buffer
	if err := s.Write(&file, map[string]string{"what": "test"}); err != nil {
		t.Fatal(err)
	}
	again, meta, err := ReadSurveyPart(&file, int64(file.Len()))
	if err != nil || meta["what"] != "test" {
		t.Fatal(meta, err)
	}
	return again
}

// The sample of a survey of pieces does not depend on how its parts are put together.
func TestSampleOfPiecesIsOne(t *testing.T) {
	ctx := context.Background()
	path := writePieces(t, t.TempDir())["no header"]
	d, err := Divide(ctx, path, Options{}, 1500)
	if err != nil {
		t.Fatal(err)
	}
	schema := settled(t, d, Options{})
	part := func(i int) *SurveyPart {
		f, err := d.Open(ctx, i, Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := SurveySome(ctx, f, SurveyOptions{Seed: 3, Sample: 50, First: RowKey(i, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var samples [][]float32
	for _, step := range []int{1, 2, 5} {
		var all *SurveyPart
		for i := 0; i < len(d.All); i += step {
			group := part(i)
			for k := i + 1; k < min(i+step, len(d.All)); k++ {
				if err := group.Merge(part(k)); err != nil {
					t.Fatal(err)
				}
			}
			if all == nil {
				all = group
			} else if err := all.Merge(copiedSurvey(t, group)); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := all.Summary(path)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, sum.Sample.Dense.Data)
	}
	if len(samples[0]) != 50*3 || !slices.Equal(samples[0], samples[1]) || !slices.Equal(samples[0], samples[2]) {
		t.Errorf("samples of %d, %d and %d numbers differ", len(samples[0]), len(samples[1]), len(samples[2]))
	}
}

// What is wrong with a piece is told with the line of the file.
func TestErrorsOfPieces(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 500 {
		x := fmt.Sprint(i)
		if i == 400 {
			x = "oops"
		}
		fmt.Fprintf(&b, "%d,%s,%d\n", i%9, x, i%2)
	}
	path := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := Options{Missing: "error", Columns: ColumnOptions{Numeric: "a,b"}}
	d, err := Divide(ctx, path, opt, 500)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for i := range d.All {
		f, err := d.Open(ctx, i, opt)
		if err == nil {
			_, err = Collect(ctx, f, 0)
			f.Close()
		}
		if err != nil {
			found += err.Error()
		}
	}
	if !strings.Contains(found, "bad.csv:402") || !strings.Contains(found, "oops") {
		t.Error(found)
	}
	if err := os.WriteFile(path, []byte(b.String()+"1,2,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(ctx, 0, opt); err == nil || !strings.Contains(err.Error(), "when it was divided") {
		t.Error(err)
	}
	for _, path := range []string{"-", "postgres://x/y", filepath.Join(dir, "none.csv")} {
		if _, err := Divide(ctx, path, Options{}, 100); err == nil {
			t.Error(path)
		}
	}
}

func FuzzSurveyPartAndLook(f *testing.F) {
	f.Fuzz(func(t *testing.T, file []byte) {
		defer testenv.Bounded(t, len(file))()
		if s, _, err := ReadSurveyPart(bytes.NewReader(file), int64(len(file))); err == nil {
			copiedSurvey(t, s)
		}
		if l, _, err := ReadLook(bytes.NewReader(file), int64(len(file))); err == nil {
			other, _, _ := ReadLook(bytes.NewReader(file), int64(len(file)))
			_ = l.Merge(other)
		}
	})
}

// The head of a text is that of all its pieces: a process that opens several looks at its rows once for each schema.
func TestPiecesShareTheLookAtTheirHead(t *testing.T) {
	ctx := context.Background()
	paths := writePieces(t, t.TempDir())
	for _, name := range []string{"csv", "folder"} {
		d, err := Divide(ctx, paths[name], Options{}, 3000)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Open(ctx, paths[name], Options{})
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Schema: whole.Schema()}
		whole.Close()
		open := func() {
			f, err := d.Open(ctx, 1, opt)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		open()
		if n := testing.AllocsPerRun(3, open); n > 400 {
			t.Errorf("%s: a piece whose head is known opens with %g allocations", name, n)
		}
	}
}
