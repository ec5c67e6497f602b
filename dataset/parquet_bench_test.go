package dataset

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"mercer/matrix"
)

// BenchmarkParquetFloats is a whole pass over 20 columns of floats on one thread, in bytes of float32: as this program writes them, by zstd.
// Files of other programs come from .ci/formats.py.
func BenchmarkParquetFloats(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.parquet")
	const rows, cols = 200_000, 20
	w, err := CreateRows(path, "parquet", cols)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := matrix.NewDense(1000, cols)
	for range rows / 1000 {
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		if err := w.Write(&matrix.Batch{X: matrix.Rows{Dense: x}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Commit(), w.Close()); err != nil {
		b.Fatal(err)
	}
	benchmarkFile(b, path, 4*rows*cols)
}

// benchmarkFile times whole passes on one thread.
func benchmarkFile(b *testing.B, path string, bytes int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	src, err := Open(context.Background(), path, Options{Label: "none"})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		r, err := src.Open(context.Background())
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		r.Close()
	}
}
