package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mercer/matrix"
)

const abc = "1,2,a\n3,4,b\n5,6,a\n"

// abcBzip2 is abc packed by the program bzip2: Go has no compressor for it.
const abcBzip2 = "QlpoOTFBWSZTWSbvaNYAAATZAAAQAAQ/ADAAIAAhpoDIQAwQd6mmmSSB4u5IpwoSBN3tGsA="

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

func bzipped(t testing.TB) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(abcBzip2)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCompression(t *testing.T) {
	half := len(abc) / 2
	for name, data := range map[string][]byte{
		"plain":               []byte(abc),
		"gzip":                gzipped(t, []byte(abc)),
		"gzip of two members": append(gzipped(t, []byte(abc[:half])), gzipped(t, []byte(abc[half:]))...),
		"bzip2":               bzipped(t),
		"zstd":                zstandard(t, []byte(abc)),
		"zstd of two frames":  append(zstandard(t, []byte(abc[:half])), zstandard(t, []byte(abc[half:]))...),
	} {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(context.Background(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for pass := range 2 {
			b, err := everything(f)
			if err != nil || b.X.Len() != 3 || b.Names[1] != "b" || b.X.Dense.Row(2)[1] != 6 {
				t.Errorf("%s, pass %d: %+v, %v", name, pass, b, err)
			}
		}
		f.Close()
	}
}

// Compressed data that end early never pass for fewer rows.
func TestCutCompressedFilesAreErrors(t *testing.T) {
	text := []byte(strings.Repeat("1.5,2.25,3\n2,4,6\n", 300))
	for name, data := range map[string][]byte{"gzip": gzipped(t, text), "zstd": zstandard(t, text), "bzip2": bzipped(t)} {
		cuts := 60
		if testing.Short() {
			cuts = 15
		}
		step := max(1, len(data)/cuts)
		for n := 4; n < len(data); n += step {
			if b, err := readBytes(data[:n], Options{}); err == nil {
				t.Fatalf("%s cut to %d of %d bytes gives %d rows", name, n, len(data), b.X.Len())
			} else if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error does not name the file: %v", err)
			}
		}
	}
	damaged := gzipped(t, text)
	damaged[len(damaged)/2] ^= 0x55
	if _, err := readBytes(damaged, Options{}); err == nil {
		t.Error("damaged gzip data are read")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		data []byte
		opt  Options
		want string
	}{
		{"empty", nil, Options{}, "is empty"},
		{"empty.gz", gzipped(t, nil), Options{}, "is empty"},
		{"blank", []byte("\n \n\n"), Options{}, "is empty"},
		{"parquet", []byte("PAR1xxxxPAR1"), Options{}, "the Parquet file cannot be read: it is "},
		{"zip", []byte("PK\x03\x04xxxx"), Options{}, "is a zip or npz archive that is cut short or damaged"},
		{"pdf", []byte("%PDF-1.4"), Options{}, "is a PDF document"},
		{"png", []byte("\x89PNG\r\n\x1a\n"), Options{}, "is a PNG image"},
		{"hdf", []byte("\x89HDF\r\n\x1a\n"), Options{}, "is an HDF5 file"},
		{"avro", []byte("Obj\x01\x00\x00"), Options{}, "is an Avro file"},
		{"pickle", []byte("\x80\x04\x95\x00\x00"), Options{}, "is a Python pickle"},
		{"sas", append(make([]byte, 12), 0xc2, 0xea, 0x81, 0x60, 0), Options{}, "is a SAS table"},
		{"json", []byte(" [\n  {\"a\": 1}]"), Options{}, "is a JSON array; write an object a line"},
		{"html", []byte("<!DOCTYPE html>\n<p>x"), Options{}, "is an HTML page"},
		{"xml", []byte("<?xml version=\"1.0\"?>\n<r/>"), Options{}, "is an XML document"},
		{"vw", []byte("1 |f a:0.5 b:-2\n-1 |f a:1\n"), Options{}, "is text of Vowpal Wabbit"},
		{"vw2", []byte("-1 2.5 'tag|words:2 a:1e-3 b:2\n"), Options{}, "is text of Vowpal Wabbit"},
		{"xz", []byte("\xfd7zXZ\x00xx"), Options{}, "is an xz archive"},
		{"tar", append(make([]byte, 257), "ustar\x0000xxxxxxx"...), Options{}, "is a tar archive; unpack it first"},
		{"binary", []byte("abc\x00def"), Options{}, "is not text (a byte 0 at position 3)"},
		{"csv", []byte(abc), Options{Format: "npy"}, "is not an NPY file"},
		{"csv", []byte(abc), Options{Format: "idx"}, "is not an IDX file"},
		{"csv", []byte(abc), Options{Format: "libsvm"}, "csv:1:"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(context.Background(), path, c.opt)
		if err == nil {
			_, err = everything(f)
			f.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), path[:len(path)-len(c.name)]) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Open(context.Background(), filepath.Join(dir, "none"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Open(context.Background(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "only these are joined") {
		t.Errorf("a directory: %v", err)
	}
}

func TestPipesAreReadTwice(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(w, abc)
		w.Close()
	}()
	in, err := spool("standard input", r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(context.Background(), in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for pass := range 2 {
		if b, err := everything(f); err != nil || b.X.Len() != 3 {
			t.Errorf("pass %d: %+v, %v", pass, b, err)
		}
	}
	if f.Name() != "standard input" {
		t.Errorf("it is called %q", f.Name())
	}
}

// Readers that are closed early leave no goroutine behind.
func TestCloseStopsGoroutines(t *testing.T) {
	text := []byte(strings.Repeat(strings.Repeat(" ", 47)+"1.5,2.25,3\n2,4,6\n", 4*blockSize/64)) // few numbers in many bytes
	before := runtime.NumGoroutine()
	for _, data := range [][]byte{text, gzipped(t, text), zstandard(t, text)} {
		f, err := openMemory(data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if _, err := r.Next(); err == nil {
			t.Error("a closed reader goes on")
		}
		f.Close()
	}
	for range 6000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestContextEndsAPass(t *testing.T) {
	f, err := openMemory([]byte(abc), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, src := range map[string]Source{"table": f, "generated": Generate(Synthetic{Rows: 10, Dim: 5}), "memory": rowsSource(t)} {
		r, err := src.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
}

// rowsSource is a small source in memory.
func rowsSource(t testing.TB) Source {
	t.Helper()
	src, err := FromRows(matrix.Rows{Dense: &matrix.Dense{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}}, []float64{1, 2}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
