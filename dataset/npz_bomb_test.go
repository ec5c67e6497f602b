package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// zeros are as many bytes of 0.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(len(p), z.left)
	clear(p[:n])
	if z.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// bomb is the archive of some arrays, each behind its first bytes followed by zeros, and of more entries.
func bomb(t *testing.T, p parts, behind map[string]int, entries int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range p {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = io.Copy(w, io.MultiReader(bytes.NewReader(text), &zeros{behind[name]}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range entries {
		if _, err := z.Create(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Small archives that inflate to a thousand times their size, or whose headers claim more numbers than there are atoms, take memory in proportion to what
// is in the file, and are errors that say what is wrong; a matrix of rows without numbers is one.
func TestNPZBombsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const large = 64 << 20
	claims := func(dtype, shape string, first ...int64) []byte {
		return npyFile(dtype, false, shape, integers(first...))
	}
	tried := 0
	for _, c := range []struct {
		name    string
		arrays  parts // instead of those of three rows
		behind  map[string]int
		entries int
		rows    int
		want    string // "": no error
	}{
		{"rows without numbers", parts{"indptr": claims("'<i8'", fmt.Sprintf("(%d,)", large/8)),
			"shape": npyFile("'<i8'", false, "(2,)", integers[int64](large/8-1, 4)), "indices": claims("'<i4'", "(0,)"), "data": claims("'<f4'", "(0,)")},
			map[string]int{"indptr": large}, 0, large/8 - 1, ""},
		{"a row of zeros", parts{"indptr": claims("'<i8'", "(2,)", 0, large/4), "shape": claims("'<i8'", "(2,)", 1, large/4),
			"indices": claims("'<i4'", fmt.Sprintf("(%d,)", large/4)), "data": claims("'<f4'", fmt.Sprintf("(%d,)", large/4))},
			map[string]int{"indices": large, "data": large}, 0, 0, "row 0 (from 0): column 0 comes twice"},
		{"numbers behind the end", nil, map[string]int{"data": large}, 0, 3, "array data: goes on after the 4 numbers"},
		{"a claim of rows", parts{"indptr": claims("'<i8'", "(1000000000001,)", 0), "shape": claims("'<i8'", "(2,)", 1e12, 4)}, nil, 0, 0,
			"array indptr: is cut short: it ends at 1 of the 1000000000001 numbers"},
		{"a claim of values", parts{"indptr": claims("'<i8'", "(2,)", 0, 2e9), "shape": claims("'<i8'", "(2,)", 1, 2e9),
			"indices": claims("'<i4'", "(2000000000,)", 1), "data": claims("'<f4'", "(2000000000,)", 1)}, nil, 0, 0, "array indices: is cut short"},
		{"a claim beyond 64 bits", parts{"data": claims("'<f4'", "(99999999999999999999,)")}, nil, 0, 0, "array data: "},
		{"a header without end", parts{"data": []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{")}, map[string]int{"data": large}, 0, 0, "array data: "},
		{"a name without end", parts{"format": npyFile("'|S999999999'", false, "()", []byte("csr"))}, map[string]int{"format": large}, 0, 0,
			"not the name of a format"},
		{"many entries", nil, nil, 50_000, 3, ""},
		{"many entries and no array", parts{"data": nil}, nil, 50_000, 0, "is a zip archive (of 50004 files) without data.npy"},
	} {
		tried++
		p := threeRows()
		for name, text := range c.arrays {
			if p[name] = text; text == nil {
				delete(p, name)
			}
		}
		file := bomb(t, p, c.behind, c.entries)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		rows, err := 0, error(nil)
		src, err := OpenBytes(context.Background(), "f", file, Options{})
		if err == nil {
			for step, failed := range Each(context.Background(), src) {
				if err = failed; err == nil {
					rows += step.Batch.X.Len()
				}
			}
		}
		runtime.ReadMemStats(&after)
		took := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d bytes took %d bytes of memory: %v", c.name, len(file), took, err)
		if took > 4<<20+20*len(file) {
			t.Errorf("%s: %d bytes took %d bytes of memory", c.name, len(file), took)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || rows != c.rows {
			t.Errorf("%s: %d rows, %v, want %q", c.name, rows, err, c.want)
		}
	}
	testenv.Tried(t, "archives that inflate or claim to", tried, 0)
}
