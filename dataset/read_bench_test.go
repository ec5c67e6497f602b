package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// benchmarkText is rows made by write until they are about 4 MB.
func benchmarkText(write func(b []byte, r *rand.Rand) []byte) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for len(text) < 4<<20 {
		text = append(write(text, r), '\n')
	}
	return text
}

// benchmarkParse times one parser on one goroutine: what a core does, without reading.
func benchmarkParse(b *testing.B, text []byte, newSource func(in input) (Source, error)) {
	src, err := newSource(&memInput{"bench", text})
	if err != nil {
		b.Fatal(err)
	}
	var p parser
	skip := 0
	switch s := src.(type) {
	case *libsvm:
		p = s.newParser()
	case *table:
		p, skip = s.newParser(nil), s.skip
	}
	for range skip {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	var rows rowBuffer
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := text; len(rest) > 0; {
			cut := len(rest)
			if cut > blockSize {
				cut = lastRecord(rest[:blockSize], false)
			}
			if err := p.parse(rest[:cut], 1, &rows); err != nil {
				b.Fatal(err)
			}
			rest = rest[cut:]
		}
	}
}

// BenchmarkLIBSVM parses rows like those of a9a (14 indices of 123, all values 1), of ijcnn1
// (13 values with 6 digits) and of reuters (values with 15 digits).
func BenchmarkLIBSVM(b *testing.B) {
	open := func(in input) (Source, error) { return newLIBSVM(in, Options{}) }
	b.Run("binary", func(b *testing.B) {
		benchmarkParse(b, benchmarkText(func(t []byte, r *rand.Rand) []byte {
			t = append(t, "-1"...)
			for i, j := 0, 1; i < 14; i++ {
				t = append(strconv.AppendInt(append(t, ' '), int64(j), 10), ":1"...)
				j += 1 + r.IntN(14)
			}
			return t
		}), open)
	})
	for _, digits := range []int{6, 15} {
		b.Run(fmt.Sprintf("digits=%d", digits), func(b *testing.B) {
			benchmarkParse(b, benchmarkText(func(t []byte, r *rand.Rand) []byte {
				t = append(t, "+1"...)
				for j := 10; j < 23; j++ {
					t = append(strconv.AppendInt(append(t, ' '), int64(j), 10), ':')
					t = strconv.AppendFloat(t, r.Float64()*2-1, 'f', digits, 64)
				}
				return t
			}), open)
		})
	}
}

// BenchmarkCSV parses 20 columns of integers, of numbers with 3 to 17 digits, and rows
// like those of adult (6 numbers and 8 texts).
func BenchmarkCSV(b *testing.B) {
	open := func(in input) (Source, error) { return newTable(context.Background(), in, Options{}, "csv") }
	b.Run("integers", func(b *testing.B) {
		benchmarkParse(b, benchmarkText(func(t []byte, r *rand.Rand) []byte {
			for range 20 {
				t = append(strconv.AppendInt(t, int64(r.IntN(256)), 10), ',')
			}
			return append(t, '1')
		}), open)
	})
	for _, digits := range []int{3, 6, 9, 17} {
		b.Run(fmt.Sprintf("digits=%d", digits), func(b *testing.B) {
			benchmarkParse(b, benchmarkText(func(t []byte, r *rand.Rand) []byte {
				for range 20 {
					t = append(strconv.AppendFloat(t, r.NormFloat64(), 'f', digits, 64), ',')
				}
				return append(t, '1')
			}), open)
		})
	}
	b.Run("text", func(b *testing.B) {
		work := []string{"Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Without-pay"}
		benchmarkParse(b, benchmarkText(func(t []byte, r *rand.Rand) []byte {
			for i := range 14 {
				if i < 6 {
					t = strconv.AppendInt(t, int64(r.IntN(100)), 10)
				} else {
					t = append(t, work[r.IntN(len(work))]...)
				}
				t = append(t, ", "...)
			}
			return append(t, "<=50K"...)
		}), open)
	})
}

// BenchmarkReadText is a whole pass, with a goroutine that cuts and vec.Threads() that parse.
func BenchmarkReadText(b *testing.B) {
	text := benchmarkText(func(t []byte, r *rand.Rand) []byte {
		for range 20 {
			t = append(strconv.AppendFloat(t, r.NormFloat64(), 'f', 6, 64), ',')
		}
		return append(t, '1')
	})
	text = bytes.Repeat(text, 8)
	src, err := newTable(context.Background(), &memInput{"bench", text}, Options{}, "csv")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := src.Open(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		r.Close()
	}
}

// A folder of small files: what it takes to open and read one.
func BenchmarkFolder(b *testing.B) {
	for _, kind := range []string{"csv", "npy"} {
		dir := b.TempDir()
		const files = 200
		for i := range files {
			data := npyOf(count(240), 30, 8)
			if kind == "csv" {
				data = nil
				for r := range 30 {
					data = fmt.Appendf(data, "%d.5,1.25,0.125,3,-4,5e-1,6,%d\n", r, i)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.%s", i, kind)), data, 0o666); err != nil {
				b.Fatal(err)
			}
		}
		bags, err := OpenBags(context.Background(), dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := SurveyBags(context.Background(), bags, SurveyOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*files), "µs/file")
		})
	}
}
