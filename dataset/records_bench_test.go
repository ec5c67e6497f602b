package dataset

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// BenchmarkRecords opens records of 8 numbers and a text, and reads their rows once more, in bytes of float64.
func BenchmarkRecords(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	records := make([]any, 20_000)
	for i := range records {
		records[i] = []any{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(),
			rng.NormFloat64(), rng.NormFloat64(), []string{"red", "green", "blue"}[i%3], i % 2}
	}
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "colour", "y"}
	open := func() *File {
		f, err := FromRecords(context.Background(), "records", names, recordsOf(records...), Options{})
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(records) * 8 * 8))
		for b.Loop() {
			open().Close()
		}
	})
	b.Run("pass", func(b *testing.B) {
		f := open()
		defer f.Close()
		b.SetBytes(int64(len(records) * 8 * 8))
		for b.Loop() {
			r, err := f.Open(context.Background())
			for err == nil {
				_, err = r.Next()
			}
			if !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}
