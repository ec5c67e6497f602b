package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	npyio "github.com/sbinet/npyio/npz"

	"mercer/matrix"
)

func TestNPZAsSciPyWritesIt(t *testing.T) {
	text, err := os.ReadFile("testdata/sparse.json")
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]string
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	matrices := 0
	for name, code := range files {
		file, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		b, err := readBytes(file, Options{})
		if want := map[string]string{
			"by columns": `is a sparse matrix of the format "csc"; save it by rows: scipy.sparse.save_npz(PATH, x.tocsr())`,
			"not sorted": "row 0 (from 0): column 1 comes after 3; call x.sort_indices() before saving",
			"twice":      "row 0 (from 0): column 3 comes twice; call x.sum_duplicates() before saving",
			"complex":    `array data: elements of type "<c8" are not read`,
		}[name]; want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			continue
		}
		if name == "a dense array" {
			if err != nil || b.X.Dense == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		matrices++
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if x := b.X.CSR; x.Rows != 3 || x.Cols != 4 || !slices.Equal(x.Ptr, []int{0, 2, 2, 4}) ||
			!slices.Equal(x.Idx, []int32{1, 3, 0, 3}) || !slices.Equal(x.Val, []float32{1, 2, 3, 4}) {
			t.Errorf("%s: %+v", name, b.X.CSR)
		}
		// Compressed once more, it is the same.
		if z, err := readBytes(gzipped(t, file), Options{}); err != nil || !slices.Equal(z.X.CSR.Val, b.X.CSR.Val) {
			t.Errorf("%s, by gzip: %v", name, err)
		}
	}
	if matrices != 9 {
		t.Errorf("%d matrices", matrices)
	}
}

// parts are the arrays of a matrix in an archive; nil ones are left out.
type parts map[string][]byte

// threeRows is [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]].
func threeRows() parts {
	return parts{
		"indices": npyFile("'<i4'", false, "(4,)", integers[int32](1, 3, 0, 3)),
		"indptr":  npyFile("'<i8'", false, "(4,)", integers[int64](0, 2, 2, 4)),
		"format":  npyFile("'|S3'", false, "()", []byte("csr")),
		"shape":   npyFile("'<i8'", false, "(2,)", integers[int64](3, 4)),
		"data":    npyFile("'<f4'", false, "(4,)", float32Bytes(1, 2, 3, 4)),
	}
}

func integers[T int32 | int64](v ...T) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}

// archive is the zip file of some arrays.
func (p parts) archive(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"indices", "indptr", "format", "shape", "data"} {
		if p[name] == nil {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err == nil {
			_, err = w.Write(p[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestNPZErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		array []byte // instead of the right one; nil: none
		want  string
	}{
		{"indices", nil, "f: is a zip archive (of data.npy, format.npy, indptr.npy, shape.npy) without indices.npy"},
		{"indptr", nil, "has the arrays data, format, indices, shape, and their names do not say which has the rows"},
		{"format", nil, "has the arrays data, indices, indptr, shape, and"},
		{"shape", nil, "without shape.npy"},
		{"data", nil, "without data.npy"},
		{"data", []byte("x"), "f: array data: is not in the NPY format"},
		{"data", []byte(npyMagic + "\x01\x00\xff\xff"), "f: array data: the NPY header is cut short"},
		{"data", npyFile("'<f4'", false, "(4, 1)", float32Bytes(1, 2, 3, 4)), "f: array data: has 2 dimensions, not one"},
		{"data", npyFile("'<f4'", false, "(3,)", float32Bytes(1, 2, 3)), "f: array indices: has 4 numbers, but data has 3"},
		{"data", npyFile("'<f4'", false, "(4,)", float32Bytes(1, 2, 3)),
			"f: array data: is cut short: it ends at 3 of the 4 numbers that its header promises"},
		{"data", npyFile("'<f4'", false, "(4,)", float32Bytes(1, 2, 3, 4, 5)),
			"f: array data: goes on after the 4 numbers that its header promises"},
		{"data", npyFile("'<f4'", false, "(4,)", float32Bytes(1, 2, float32(math.NaN()), 4)),
			"f: row 2 (from 0), column 0: NaN is not a number that float32 holds"},
		{"data", npyFile("'<f8'", false, "(4,)",
			binary.LittleEndian.AppendUint64(make([]byte, 24), math.Float64bits(1e39))),
			"row 2 (from 0), column 3: 1e+39 is not a number"},
		{"indices", npyFile("'<f4'", false, "(4,)", float32Bytes(1, 3, 0, 3)), `f: array indices: is of type "<f4", where integers are expected`},
		{"indices", npyFile("'<i4'", false, "(4,)", integers[int32](1, 4, 0, 3)),
			"f: row 0 (from 0): has a value in column 4; the columns are 0 to 3"},
		{"indices", npyFile("'<i4'", false, "(4,)", integers[int32](1, 3, -1, 3)), "row 2 (from 0): has a value in column -1"},
		{"indices", npyFile("'<i4'", false, "(4,)", integers[int32](3, 1, 0, 3)), "row 0 (from 0): column 1 comes after 3"},
		{"indptr", npyFile("'<i8'", false, "(3,)", integers[int64](0, 2, 4)), "f: array indptr: has 3 numbers, but 3 rows take 4"},
		{"indptr", npyFile("'<i8'", false, "(4,)", integers[int64](1, 2, 2, 4)), "f: array indptr: begins with 1, not with 0"},
		{"indptr", npyFile("'<i8'", false, "(4,)", integers[int64](0, 2, 1, 4)),
			"f: row 1 (from 0): indptr has 1 as its end, which is not from 2, where it begins, to 4, the number of values"},
		{"indptr", npyFile("'<i8'", false, "(4,)", integers[int64](0, 2, 2, 5)), "row 2 (from 0): indptr has 5 as its end"},
		{"indptr", npyFile("'<i8'", false, "(4,)", integers[int64](0, 2, 2, 3)), "f: array indptr: ends with 3, but there are 4 values"},
		{"format", npyFile("'|S3'", false, "()", []byte("bsr")), `the format "bsr"`},
		{"format", npyFile("'|S-3'", false, "()", []byte("csr")), `f: array format: is of type "|S-3" and shape [], not the name of a format`},
		{"format", npyFile("'|S99'", false, "()", []byte("csr")), "not the name of a format"},
		{"format", npyFile("'|S3'", false, "()", []byte("cs")), "f: array format: is cut short"},
		{"shape", npyFile("'<i8'", false, "(3,)", integers[int64](3, 4, 1)), "f: array shape: has 3 numbers, not those of rows and columns"},
		{"shape", npyFile("'<i8'", false, "(2,)", integers[int64](3, 0)), "f: is empty: its shape is [3 0]"},
		{"shape", npyFile("'<i8'", false, "(2,)", integers[int64](3, 1<<31)), "has the shape 3×2.147483648e+09, which no matrix"},
		{"shape", npyFile("'<i8'", false, "(2,)", integers[int64](-3, 4)), "has the shape -3×4"},
		{"shape", npyFile("'<i8'", false, "(2,)", integers[int64](3, 1)), "f: row 0 (from 0): has 2 values in 1 columns"},
	} {
		p := threeRows()
		p[c.name] = c.array
		if _, err := readBytes(p.archive(t), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	old := threeRows()
	old["format"] = npyFile("'<U3'", false, "()", []byte("c\x00\x00\x00s\x00\x00\x00r\x00\x00\x00"))
	if b, err := readBytes(old.archive(t), Options{BatchRows: 2}); err != nil || b.X.CSR.NNZ() != 4 {
		t.Errorf("by an older SciPy: %v", err)
	}
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Label: "3"}, "there is none for label; labels come from labels_file=FILE"},
		{Options{Weight: "3"}, "there is none for weight"},
		{Options{Group: "3"}, "there is none for group"},
		{Options{LabelSeparator: "|"}, "label_separator is for text"},
		{Options{Format: "npy"}, "is not an NPY file"},
		{Options{Memory: 767}, "f: its shape has 4 columns: training on 4 columns takes 768 B, 192 bytes of each, but " +
			"there are 767 B of memory; correct the number"},
		{Options{Schema: &Schema{Format: "npz", Dim: 5}}, "f: rows have 4 inputs, but the model was trained on 5"},
		{Options{Schema: &Schema{Format: "csv", Dim: 4, Columns: []Column{{Place: Place{"c", 0}, Categories: []string{"a"}}}}}, "needs a table"},
	} {
		if _, err := readBytes(threeRows().archive(t), c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	if _, err := readBytes([]byte("1,2\n"), Options{Format: "npz"}); err == nil || !strings.Contains(err.Error(), "is not an npz archive") {
		t.Errorf("a text as npz: %v", err)
	}
	if _, err := readBytes(threeRows().archive(t), Options{Memory: 768}); err != nil {
		t.Errorf("with just enough memory: %v", err)
	}
	labels := filepath.Join(t.TempDir(), "labels")
	if err := os.WriteFile(labels, []byte("a\nb\na\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := readBytes(threeRows().archive(t), Options{LabelsFile: labels}); err != nil ||
		!slices.Equal(b.Names, []string{"a", "b", "a"}) {
		t.Errorf("with labels: %v", err)
	}
}

// A file that ends early is an error, and so is one in which a byte of an array has changed.
func TestNPZCutOrChangedAnywhereIsAnError(t *testing.T) {
	file := threeRows().archive(t)
	for n := range file {
		if b, err := readBytes(file[:n], Options{}); err == nil {
			t.Fatalf("cut to %d of %d bytes it gives %+v", n, len(file), b)
		}
	}
	for _, array := range threeRows() {
		at := bytes.Index(file, array)
		for i := at; i < at+len(array); i++ {
			other := slices.Clone(file)
			other[i] ^= 0x10
			b, err := readBytes(other, Options{})
			if err == nil {
				t.Fatalf("with another byte at %d it gives %+v", i, b.X.CSR)
			}
		}
	}
}

// randomBatch has rows with a few values, some of which are 0 or such that text must have all
// their digits, as a sparse or a dense batch.
func randomBatch(rng *rand.Rand, rows, cols int, sparse bool) *matrix.Batch {
	x := &matrix.CSR{Rows: rows, Cols: cols, Ptr: []int{0}}
	b := &matrix.Batch{Outputs: 1}
	for i := range rows {
		for j := range cols {
			if rng.IntN(4) == 0 && i%7 != 3 {
				v := float32(0)
				for rng.IntN(8) > 0 {
					if v = math.Float32frombits(rng.Uint32()); v-v == 0 {
						break
					}
					v = 0
				}
				x.Idx, x.Val = append(x.Idx, int32(j)), append(x.Val, v)
			}
		}
		x.Ptr = append(x.Ptr, len(x.Idx))
		b.Y = append(b.Y, rng.NormFloat64())
	}
	b.X.CSR = x
	if !sparse {
		b.X = matrix.Rows{Dense: &matrix.Dense{}}
		x.Densify(b.X.Dense)
	}
	return b
}

// What CreateRows writes, of dense rows and of sparse ones, is read again bit for bit, in any
// format.
func TestRowsAreReadBack(t *testing.T) {
	const cols = 37
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	for _, format := range RowFormats() {
		rng := rand.New(rand.NewPCG(1, 2))
		path := filepath.Join(dir, "z."+format)
		w, err := CreateRows(path, format, cols)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := RowFormat(path); got != format {
			t.Errorf("%s asks for %s: %v", path, got, err)
		}
		var want, y []float64
		nonZeros := 0
		for k := range 20 {
			b := randomBatch(rng, 1+k*5, cols, k%2 == 0)
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			var z matrix.Dense
			if b.X.CSR != nil {
				b.X.CSR.Densify(&z)
			} else {
				z = *b.X.Dense
			}
			for _, v := range z.Data {
				if want = append(want, float64(v)); v != 0 {
					nonZeros++
				}
			}
			y = append(y, b.Y...)
		}
		if w.NonZeros() != int64(nonZeros) {
			t.Errorf("%s: %d values that are not 0, want %d", format, w.NonZeros(), nonZeros)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: the file is there before Commit", format)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Dim: cols}
		if format != "csv" && format != "libsvm" {
			opt.Label = "none"
		}
		b, err := readBytes(file, opt)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		var got matrix.Dense
		if b.X.CSR != nil {
			if b.X.CSR.NNZ() != nonZeros {
				t.Errorf("%s: %d values are stored, want %d", format, b.X.CSR.NNZ(), nonZeros)
			}
			b.X.CSR.Densify(&got)
		} else {
			got = *b.X.Dense
		}
		for i, v := range want {
			if float64(got.Data[i]) != v {
				t.Fatalf("%s: number %d is %g, want %g", format, i, got.Data[i], v)
			}
		}
		if format == "libsvm" && !slices.Equal(b.Y, y) {
			t.Errorf("the labels are not what was written")
		}
		if format == "npz" {
			readByNPYIO(t, path, b.X.CSR)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// readByNPYIO compares the arrays of an archive, as another library reads them, with a matrix.
func readByNPYIO(t *testing.T, path string, x *matrix.CSR) {
	t.Helper()
	z, err := npyio.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var indices []int32
	var indptr, shape []int64
	var data []float32
	for name, to := range map[string]any{"indices.npy": &indices, "indptr.npy": &indptr, "shape.npy": &shape, "data.npy": &data} {
		if err := z.Read(name, to); err != nil {
			t.Fatalf("npyio: %s: %v", name, err)
		}
	}
	ptr := make([]int, len(indptr))
	for i, v := range indptr {
		ptr[i] = int(v)
	}
	if !slices.Equal(indices, x.Idx) || !slices.Equal(ptr, x.Ptr) || !slices.Equal(data, x.Val) ||
		!slices.Equal(shape, []int64{int64(x.Rows), int64(x.Cols)}) {
		t.Errorf("npyio reads %v %v %v %v", indices, indptr, data, shape)
	}
	if h := z.Header("format.npy"); h == nil || h.Descr.Type != "|S3" || len(h.Descr.Shape) != 0 {
		t.Errorf("format.npy: %+v", h)
	}
}

// A writer holds a row, not the rows: after the first batch it allocates nothing that grows.
func TestRowWritersStream(t *testing.T) {
	b := randomBatch(rand.New(rand.NewPCG(3, 4)), 64, 500, true)
	for _, format := range RowFormats() {
		if format == "parquet" || strings.HasPrefix(format, "arrow") {
			continue // they hold a group of rows
		}
		w, err := CreateRows(filepath.Join(t.TempDir(), "z"), format, 500)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		const batches = 100
		for k := range batches + 1 {
			if k == 1 {
				runtime.ReadMemStats(&before)
			}
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		// 8,000 values of 8 bytes would be 64 kB.
		if bytes := (after.TotalAlloc - before.TotalAlloc) / batches; bytes > 16<<10 {
			t.Errorf("%s: %d bytes a batch", format, bytes)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLIBSVMTextOfLabels(t *testing.T) {
	one := matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 3, Ptr: []int{0, 2}, Idx: []int32{0, 2}, Val: []float32{0.1, -0}}}
	none := matrix.Rows{CSR: &matrix.CSR{Rows: 1, Cols: 3, Ptr: []int{0, 0}}}
	inf := matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, float32(math.Inf(1))}}}
	nan := math.NaN()
	for _, c := range []struct {
		rows matrix.Batch
		want string
	}{
		{matrix.Batch{X: one}, "0 1:0.1\n"},
		{matrix.Batch{X: none}, "0\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{-1}}, "-1 1:0.1\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{0.1}, Names: []string{""}}, "0.1 1:0.1\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"cat"}}, "cat 1:0.1\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"3" + listMark + "7"}}, "3,7 1:0.1\n"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{listMark}}, " 1:0.1\n"},
		{matrix.Batch{X: none, Outputs: 1, Y: []float64{nan}, Names: []string{listMark}},
			"z: row 1: neither labels nor values, which LIBSVM text cannot tell from an empty line; write NPY or npz"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"light blue"}},
			`z: row 1: the label "light blue" has a blank, a colon, a comma or a #, which cannot stand in LIBSVM ` +
				`text; write NPY or npz`},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"a:b"}}, "cannot stand in LIBSVM text"},
		{matrix.Batch{X: one, Outputs: 1, Y: []float64{nan}, Names: []string{"light\u00a0blue"}}, "cannot stand in LIBSVM text"},
		{matrix.Batch{X: one, Outputs: 2, Y: []float64{1, 2}}, "z: LIBSVM text holds one label a row, and these rows have 2"},
		{matrix.Batch{X: inf}, "z: row 1: value 2 (from 1) is +Inf, which LIBSVM text cannot hold"},
	} {
		t.Chdir(t.TempDir())
		w, err := CreateRows("z", "libsvm", 3)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(&c.rows)
		if err == nil {
			err = w.Commit()
		}
		w.Close()
		if !strings.HasSuffix(c.want, "\n") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Errorf("after %v a file is left: %v", err, left)
			}
			continue
		}
		if got, _ := os.ReadFile("z"); err != nil || string(got) != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

// The shortest decimal that is nearest to a float32 may round to the float64 in the middle between it and the
// next one, and that to the wrong one.
func TestLIBSVMTextIsRoundedOnce(t *testing.T) {
	const bits = 0x15ae43fd // 7.038531e-26
	want := []float32{math.Float32frombits(bits), -math.Float32frombits(bits), math.SmallestNonzeroFloat32, math.MaxFloat32}
	path := filepath.Join(t.TempDir(), "z")
	w, err := CreateRows(path, "libsvm", len(want))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(&matrix.Batch{X: matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: len(want), Stride: len(want),
		Data: want}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := readBytes(text, Options{}); err != nil || !slices.Equal(b.X.CSR.Val, want) {
		t.Errorf("%q is read as other numbers, or not: %v", text, err)
	}
}

func TestRowFormat(t *testing.T) {
	for name, want := range map[string]string{"z.npy": "npy", "z": "npy", "a.b/z.NPZ": "npz", "z.csv": "csv",
		"z.CSV": "csv", "z.libsvm": "libsvm", "z.svm": "libsvm", "z.txt": "libsvm",
		"z.npz.bin": "", "z.csv.gz": "", "z.parquet": "parquet", "z.xlsx": "", "z.": ""} {
		got, err := RowFormat(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), ".csv tables, .libsvm, .svm or .txt LIBSVM text") {
			t.Errorf("%s: %v does not say which endings there are", name, err)
		}
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, `"xlsx"`) {
			t.Errorf("CreateRows in an unknown format: %s", r)
		}
	}()
	CreateRows("z", "xlsx", 1)
}
