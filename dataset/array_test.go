package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/sbinet/npyio/npy"

	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// npyFile is an NPY file with a header of the given fields and data.
func npyFile(descr string, fortran bool, shape string, data []byte) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	text := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	for (len(text)+11)%64 != 0 {
		text += " "
	}
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(text)+1))
	return append(append(b, text+"\n"...), data...)
}

func float32Bytes(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// openMemory opens a file in memory as Open would.
func openMemory(data []byte, opt Options) (*File, error) {
	return OpenBytes(context.Background(), "f", data, opt)
}

// everything reads a source to its end.
func everything(src Source) (*matrix.Batch, error) {
	return Collect(context.Background(), src, src.Schema().Dim)
}

func readBytes(data []byte, opt Options) (*matrix.Batch, error) {
	f, err := openMemory(data, opt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return everything(f)
}

func TestNPYAsNumPyWritesIt(t *testing.T) {
	text, err := os.ReadFile("testdata/arrays.json")
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]string
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	for name, encoded := range files {
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(data)
		z.Close()
		for _, file := range [][]byte{data, zipped.Bytes()} {
			for _, size := range []int{1, 2, 100} {
				b, err := readBytes(file, Options{Label: "none", BatchRows: size})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if want := []float32{0, 1, 2, 3, 100, 5}; !slices.Equal(b.X.Dense.Data, want) {
					t.Errorf("%s in batches of %d: %v", name, size, b.X.Dense.Data)
				}
			}
			b, err := readBytes(file, Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !slices.Equal(b.X.Dense.Data, []float32{0, 2, 100}) || !slices.Equal(b.Y, []float64{1, 3, 5}) {
				t.Errorf("%s: inputs %v, labels %v", name, b.X.Dense.Data, b.Y)
			}
		}
	}
}

func TestNPYColumns(t *testing.T) {
	file := npyFile("'<f4'", false, "(2, 4)", float32Bytes(1, 2, 3, 4, 5, 6, 7, 8))
	for _, c := range []struct {
		opt     Options
		x       []float32
		y       []float64
		weights []float64
		err     string
	}{
		{Options{}, []float32{1, 2, 3, 5, 6, 7}, []float64{4, 8}, nil, ""},
		{Options{Label: "none"}, []float32{1, 2, 3, 4, 5, 6, 7, 8}, nil, nil, ""},
		{Options{Label: "1"}, []float32{1, 3, 4, 5, 7, 8}, []float64{2, 6}, nil, ""},
		{Options{Label: "-4"}, []float32{2, 3, 4, 6, 7, 8}, []float64{1, 5}, nil, ""},
		{Options{Label: "3,0"}, []float32{2, 3, 6, 7}, []float64{4, 1, 8, 5}, nil, ""},
		{Options{Label: "0", Weight: "3"}, []float32{2, 3, 6, 7}, []float64{1, 5}, []float64{4, 8}, ""},
		{Options{Schema: &Schema{Format: "npy", Dim: 4}}, []float32{1, 2, 3, 4, 5, 6, 7, 8}, nil, nil, ""},
		{Options{Schema: &Schema{Format: "npy", Dim: 3, Width: 4, Labels: []Place{{"0", 0}}}},
			[]float32{2, 3, 4, 6, 7, 8}, []float64{1, 5}, nil, ""},
		{Options{Label: "4"}, nil, nil, nil, "there is no column 4"},
		{Options{Label: "x"}, nil, nil, nil, `there is no column "x"`},
		{Options{Label: "1,1"}, nil, nil, nil, "named twice"},
		{Options{Label: "1", Weight: "1"}, nil, nil, nil, "is the label and the weight"},
		{Options{Weight: "1,2"}, nil, nil, nil, "one is possible"},
		{Options{Label: "0,1,2,3"}, nil, nil, nil, "no inputs are left"},
		{Options{Schema: &Schema{Format: "npy", Dim: 7}}, nil, nil, nil, "the model was trained on 7"},
		{Options{Schema: &Schema{Format: "csv", Dim: 4, Columns: []Column{{Place: Place{"c", 0}, Categories: []string{"a"}}}}}, nil, nil, nil, "needs a table"},
	} {
		b, err := readBytes(file, c.opt)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v, want %q", c.opt, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.opt, err)
			continue
		}
		if !slices.Equal(b.X.Dense.Data, c.x) || !slices.Equal(b.Y, c.y) || !slices.Equal(b.Weights, c.weights) {
			t.Errorf("%+v: %v, %v, %v", c.opt, b.X.Dense.Data, b.Y, b.Weights)
		}
	}
}

func TestNPYShapes(t *testing.T) {
	b, err := readBytes(npyFile("'<f4'", false, "(3,)", float32Bytes(1, 2, 3)), Options{Label: "none"})
	if err != nil || b.X.Dense.Rows != 3 || b.X.Dense.Cols != 1 {
		t.Errorf("one dimension: %+v, %v", b, err)
	}
	b, err = readBytes(npyFile("'<f4'", false, "(2, 1, 2)", float32Bytes(1, 2, 3, 4)), Options{Label: "none"})
	if err != nil || b.X.Dense.Rows != 2 || b.X.Dense.Cols != 2 {
		t.Errorf("three dimensions: %+v, %v", b, err)
	}
	four := float32Bytes(1, 2, 3, 4)
	for want, file := range map[string][]byte{
		"single number":                  npyFile("'<f4'", false, "()", four[:4]),
		"is empty":                       npyFile("'<f4'", false, "(0, 4)", nil),
		"too many":                       npyFile("'<f4'", false, fmt.Sprintf("(1, %d, 4)", math.MaxInt/2+1), four),
		"more than any memory":           npyFile("'<f4'", false, fmt.Sprintf("(%d, 2)", math.MaxInt/2+1), four),
		"Fortran":                        npyFile("'<f4'", true, "(1, 2, 2)", four),
		"complex":                        npyFile("'<c8'", false, "(1, 2)", append(four, four...)),
		"'|O'":                           npyFile("'|O'", false, "(1, 2)", four),
		"'<U3'":                          npyFile("'<U3'", false, "(1, 2)", four),
		"are not read":                   npyFile("[('a', '<f4')]", false, "(2,)", four),
		"cut short in row":               npyFile("'<f4'", false, "(3, 2)", four),
		"is cut short: it ends in row":   npyFile("'<f4'", false, "(3, 2)", four),
		"goes on after":                  npyFile("'<f4'", false, "(1, 2)", four),
		"row 1, column 0 (from 0): -Inf": npyFile("'<f4'", false, "(2, 2)", float32Bytes(1, 2, float32(math.Inf(-1)), 4)),
		"+Inf":                           npyFile("'<f4'", true, "(2, 2)", float32Bytes(1, float32(math.Inf(1)), 2, 4)),
		"header":                         []byte(npyMagic + "\x02\x00\xff\xff\xff\x7f{'descr'"),
	} {
		_, err := readBytes(file, Options{Label: "none"})
		switch {
		case err == nil:
			t.Errorf("want %q, got no error", want)
		case want == "complex", want == "cut short in row", strings.HasPrefix(want, "'"):
		case !strings.Contains(err.Error(), want):
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestNPYCutAnywhereIsAnError(t *testing.T) {
	for _, fortran := range []bool{false, true} {
		file := npyFile("'<f4'", fortran, "(3, 2)", float32Bytes(1, 2, 3, 4, 5, 6))
		for n := range file {
			if b, err := readBytes(file[:n], Options{}); err == nil {
				t.Fatalf("cut to %d of %d bytes it gives %+v", n, len(file), b)
			}
		}
		if _, err := readBytes(append(file, 0), Options{}); err == nil {
			t.Error("a byte too many is accepted")
		}
	}
}

func TestNPYWriterIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "z.npy")
	w, err := CreateNPY(path, 3, Float32)
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix.Dense{Rows: 2, Cols: 3, Stride: 4, Data: []float32{1, 2, 3, -1, 4, 5, 6, -1}}
	if err := errors.Join(w.Write(&matrix.Batch{X: matrix.Rows{Dense: m}}),
		w.Write(&matrix.Batch{X: matrix.Rows{Dense: m.Slice(0, 1)}})); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before Commit")
	}
	if err := errors.Join(w.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := Open(context.Background(), path, Options{Label: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := everything(f)
	if err != nil || !slices.Equal(b.X.Dense.Data, []float32{1, 2, 3, 4, 5, 6, 1, 2, 3}) {
		t.Errorf("%+v, %v", b, err)
	}
	if header, _ := os.ReadFile(path); (len(header)-9*4)%64 != 0 || header[npyHeadRoom-1] != '\n' {
		t.Error("the header is not as NumPy wants it")
	}
	var other []float32
	if file, err := os.Open(path); err != nil {
		t.Error(err)
	} else if err := errors.Join(npy.Read(file, &other), file.Close()); err != nil || !slices.Equal(other, b.X.Dense.Data) {
		t.Errorf("npyio reads %v, %v", other, err)
	}

	w, err = CreateNPY(path, 1, Float64)
	if err != nil {
		t.Fatal(err)
	}
	w.WriteRows64([]float64{1})
	w.Close()
	if f, err := Open(context.Background(), path, Options{Label: "none"}); err != nil || f.Schema().Dim != 3 {
		t.Errorf("a file that was given up has replaced the old one: %v", err)
	}
}

// idxFile is an IDX file; a size of -1 becomes 2^32-1, the largest it can claim.
func idxFile(kind byte, sizes []int, data []byte) []byte {
	b := []byte{0, 0, kind, byte(len(sizes))}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
	}
	return append(b, data...)
}

func TestIDX(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want []float32
		cols int
	}{
		"bytes":        {idxFile(8, []int{2, 2}, []byte{0, 255, 7, 1}), []float32{0, 255, 7, 1}, 2},
		"signed bytes": {idxFile(9, []int{2, 1}, []byte{0xff, 1}), []float32{-1, 1}, 1},
		"images":       {idxFile(8, []int{2, 2, 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8}), []float32{1, 2, 3, 4, 5, 6, 7, 8}, 4},
		"shorts":       {idxFile(11, []int{2}, []byte{0xff, 0xfe, 1, 0}), []float32{-2, 256}, 1},
		"ints":         {idxFile(12, []int{1, 1}, []byte{0, 1, 0, 0}), []float32{65536}, 1},
		"floats":       {idxFile(13, []int{1, 1}, []byte{0x3f, 0x80, 0, 0}), []float32{1}, 1},
		"doubles":      {idxFile(14, []int{1, 1}, []byte{0x40, 0, 0, 0, 0, 0, 0, 0}), []float32{2}, 1},
	} {
		b, err := readBytes(c.file, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(b.X.Dense.Data, c.want) || b.X.Dense.Cols != c.cols || b.Outputs != 0 {
			t.Errorf("%s: %+v", name, b.X.Dense)
		}
		for n := range c.file {
			if _, err := readBytes(c.file[:n], Options{}); err == nil {
				t.Errorf("%s cut to %d bytes is accepted", name, n)
			}
		}
		if _, err := readBytes(append(c.file, 0), Options{}); err == nil || !strings.Contains(err.Error(), "goes on after") {
			t.Errorf("%s with a byte too many: %v", name, err)
		}
	}
	for _, file := range [][]byte{
		idxFile(8, []int{0, 4}, nil), idxFile(8, []int{4, 0}, nil),
		idxFile(8, []int{2, -1, -1}, []byte{1, 2, 3}),
		idxFile(14, []int{-1, math.MaxInt32}, []byte{1, 2, 3}),
	} {
		if _, err := readBytes(file, Options{}); err == nil {
			t.Errorf("% x is accepted", file)
		}
	}
}

func TestLabelsFile(t *testing.T) {
	dir := t.TempDir()
	images := idxFile(8, []int{3, 2}, []byte{1, 2, 3, 4, 5, 6})
	for name, c := range map[string]struct {
		labels []byte
		y      []float64
		names  []string
		err    string
	}{
		"IDX":              {idxFile(8, []int{3}, []byte{7, 8, 9}), []float64{7, 8, 9}, nil, ""},
		"NPY":              {npyFile("'<f4'", false, "(3,)", float32Bytes(1, 2, 3)), []float64{1, 2, 3}, nil, ""},
		"NPY of 2 targets": {npyFile("'<f4'", false, "(3, 2)", float32Bytes(1, 2, 3, 4, 5, 6)), []float64{1, 2, 3, 4, 5, 6}, nil, ""},
		"numbers":          {[]byte("5\n6\n-7.5\n"), []float64{5, 6, -7.5}, nil, ""},
		"words":            {[]byte("cat\ndog\ncat\n"), nil, []string{"cat", "dog", "cat"}, ""},
		"too few":          {idxFile(8, []int{2}, []byte{7, 8}), nil, nil, "2 labels for the 3 rows of f"},
		"too many":         {[]byte("1\n2\n3\n4\n5\n"), nil, nil, "5 labels for the 3 rows of f"},
		"empty":            {nil, nil, nil, "is empty"},
		"two columns":      {[]byte("1,2\n3,4\n5,6\n"), nil, nil, "one label a line"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, c.labels, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 2, 100} {
			b, err := readBytes(images, Options{LabelsFile: path, BatchRows: size})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: %v, want %q", name, err, c.err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if c.y != nil && !slices.Equal(b.Y, c.y) || c.names != nil && !slices.Equal(b.Names, c.names) || b.X.Len() != 3 {
				t.Errorf("%s: labels %v, %v", name, b.Y, b.Names)
			}
		}
	}
	if _, err := readBytes(images, Options{LabelsFile: filepath.Join(dir, "none")}); err == nil {
		t.Error("a file of labels that is not there")
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(npyFile("'<f4'", false, "(2, 2)", float32Bytes(1, 2, 3, 4)))
	f.Add(npyFile("'>f8'", true, "(1, 2)", make([]byte, 16)))
	f.Add(npyFile("'|u1'", false, "(2, 1, 2)", []byte{1, 2, 3, 4}))
	f.Add([]byte(npyMagic + "\x01\x00\x10\x00{'descr': '|u1'}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		checkFile(t, data, Options{Format: "npy"})
	})
}

func FuzzIDX(f *testing.F) {
	f.Add(idxFile(8, []int{2, 2}, []byte{1, 2, 3, 4}))
	f.Add(idxFile(14, []int{1}, make([]byte, 8)))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		checkFile(t, data, Options{Format: "idx"})
	})
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("1,2,3\n4,5,6\n"))
	f.Add([]byte("1 1:2\n-1 2:3\n"))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	f.Add([]byte("BZh91AY&SY"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		checkFile(t, data, Options{})
	})
}

// checkFile reads any bytes: an error or rows without NaN and Inf, never a panic.
func checkFile(t *testing.T, data []byte, opt Options) {
	f, err := openMemory(data, opt)
	if err != nil {
		return
	}
	defer f.Close()
	r, err := f.Open(context.Background())
	if err != nil {
		return
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !strings.HasPrefix(err.Error(), "f") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		var values []float32
		if b.X.CSR != nil {
			values = b.X.CSR.Val[b.X.CSR.Ptr[0]:b.X.CSR.Ptr[b.X.Len()]]
		} else {
			for i := range b.X.Len() {
				values = append(values, b.X.Dense.Row(i)...)
			}
		}
		for _, v := range values {
			if v-v != 0 {
				t.Fatalf("a batch holds %g", v)
			}
		}
		for i, y := range b.Y {
			if y-y != 0 && (b.Names == nil || b.Names[i] == "") {
				t.Fatalf("a label is %g", y)
			}
		}
	}
}

func BenchmarkArray(b *testing.B) {
	const rows, cols = 2000, 784
	for name, file := range map[string][]byte{
		"bytes":   idxFile(8, []int{rows, cols}, make([]byte, rows*cols)),
		"float32": npyFile("'<f4'", false, fmt.Sprintf("(%d, %d)", rows, cols), make([]byte, 4*rows*cols)),
		"float64": npyFile("'<f8'", false, fmt.Sprintf("(%d, %d)", rows, cols), make([]byte, 8*rows*cols)),
	} {
		b.Run(name, func(b *testing.B) {
			f, err := openMemory(file, Options{Label: "none"})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				r, err := f.Open(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				r.Close()
			}
		})
	}
}
