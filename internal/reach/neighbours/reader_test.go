package neighbours

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// aligned copy of a file's bytes, as parse wants them.
func placed(b []byte) []byte {
	w := words(int64(len(b)))
	copy(w, b)
	return w
}

func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	path, index := build(t, normal(20, 4, 1), mapping(t, 4, rbf), Config{Codes: Signs, Bits: 64, Cells: 2})
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, err := parse(placed(file[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are an index", n, len(file))
		}
	}
	end := int64(len(file)) - 16
	begin := end - int64(binary.LittleEndian.Uint64(file[end:]))
	features := int64(align + 4*index.info.Rows*index.info.Features)
	copied := filepath.Join(t.TempDir(), "copied")
	for i := range file {
		b := placed(file)
		b[i] ^= 4
		x, err := parse(b)
		at := int64(i)
		switch {
		case at >= int64(len(magic)) && at < align || at >= features && at < begin && err == nil && gap(index, at):
			// between sections
		case at >= align && at < features:
			if err != nil || x.Verify() == nil {
				t.Fatalf("byte %d, in the features: %v", i, err)
			}
			if _, err := x.Delete(context.Background(), copied, []int64{1}); err == nil {
				t.Fatalf("byte %d: damaged features are copied", i)
			}
		case err == nil:
			t.Fatalf("byte %d of %d can be changed", i, len(file))
		}
	}
}

// gap says whether a byte lies between the sections of an index.
func gap(x *Index, at int64) bool {
	rows, words := int64(x.info.Rows), int64(x.words())
	norms := aligned(align + 4*rows*int64(x.info.Features))
	ids := aligned(norms + 4*rows)
	codes := aligned(ids + 8*rows)
	cells := aligned(codes + 8*rows*words)
	return !(at >= cells && at < cells+4*rows || at >= norms && at < norms+4*rows || at >= ids && at < ids+8*rows || at >= codes && at < codes+8*rows*words)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "rows.csv: not an index") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	small, _ := build(f, normal(3, 2, 1), mapping(f, 2, rbf), Config{Codes: Signs, Bits: 64, Cells: 2})
	b, err := os.ReadFile(small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	defer func(n int64) { mostBytes = n }(mostBytes)
	mostBytes = 1 << 22
	f.Fuzz(func(t *testing.T, b []byte) {
		defer testenv.Bounded(t, len(b))()
		b = placed(b)
		if end := len(b) - 16; end > align {
			if n := binary.LittleEndian.Uint64(b[end:]); n < uint64(end) {
				safetensors.Seal(b[end-int(n) : end])
			}
		}
		x, err := parse(b)
		if err != nil || x.info.Features > 1<<12 {
			return
		}
		queries := matrix.Rows{Dense: matrix.NewDense(2, x.info.Schema.Dim)}
		x.Search(queries, Options{K: 2})
		if x.coder != nil {
			x.Search(queries, Options{K: 2, Candidates: 2})
		}
		if x.cells != nil {
			x.Search(queries, Options{K: 2, Probes: 1})
		}
	})
}
