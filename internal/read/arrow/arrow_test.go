package arrow

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// open begins to read a file or a stream.
func open(data []byte) (*Reader, error) {
	if bytes.HasPrefix(data, []byte(Magic)) {
		return NewFile(bytes.NewReader(data), int64(len(data)))
	}
	return NewStream(bytes.NewReader(data), -1)
}

// text is a table with a line for each row.
func text(data []byte) (string, error) {
	r, err := open(data)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var out strings.Builder
	for _, f := range r.Fields {
		fmt.Fprintf(&out, "%s ", f.Name)
	}
	for {
		b, err := r.Next()
		if err == io.EOF {
			return out.String(), nil
		} else if err != nil {
			return out.String(), err
		}
		for i := range b.Rows {
			out.WriteString("| ")
			for j := range b.Columns {
				c := &b.Columns[j]
				switch {
				case c.Missing(i):
					out.WriteString("- ")
				case c.Kind == Float || c.Kind == Double:
					fmt.Fprint(&out, c.Float(i), " ")
				case c.Kind == Bytes:
					fmt.Fprintf(&out, "%s ", c.Bytes(i))
				case c.Kind == Decimal:
					fmt.Fprintf(&out, "%x/%d ", c.Bytes(i)[:2], c.Scale)
				default:
					fmt.Fprint(&out, c.Int(i), " ")
				}
			}
		}
	}
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Files of pyarrow hold what testdata/make.py puts into them.
func TestFilesOfPyarrow(t *testing.T) {
	plain := "i x t d b | 1 0.5 a 7d00/2 1 | - -1 - - 0 | -3 - üüüüüüüüü ceff/2 - "
	coded := "t v w n s " + strings.Repeat("| a short 1 - 1 | - a text that is long  - - | b - 22 - 3 ", 3)
	for name, want := range map[string]string{"plain.arrow": plain, "plain.arrows": plain, "coded.arrow": coded, "coded.arrows": coded} {
		if got, err := text(file(t, name)); got != want || err != nil {
			t.Errorf("%s: %q (%v), want %q", name, got, err, want)
		}
	}
}

// What is written is read again, in several batches.
func TestWrittenTablesAreReadAgain(t *testing.T) {
	const rows = batchRows + 777
	fields := []Field{{Name: "n", Kind: Int}, {Name: "x", Kind: Double}, {Name: "ü", Kind: Bytes}}
	for _, asFile := range []bool{true, false} {
		var out bytes.Buffer
		w, err := NewWriter(&out, asFile, fields)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			switch {
			case i%5 == 3:
				err = w.Missing()
			default:
				err = w.Int(int64(i) - 99)
			}
			if err == nil {
				if err = w.Double(float64(i) / 8); err == nil && i%3 == 0 {
					err = w.Missing()
				} else if err == nil {
					err = w.Text(fmt.Sprint("t", i%7))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := open(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			a, x, s := &b.Columns[0], &b.Columns[1], &b.Columns[2]
			for i := range b.Rows {
				if a.Missing(i) != (n%5 == 3) || !a.Missing(i) && a.Int(i) != int64(n)-99 || x.Missing(i) || x.Float(i) != float64(n)/8 ||
					s.Missing(i) != (n%3 == 0) || !s.Missing(i) && string(s.Bytes(i)) != fmt.Sprint("t", n%7) {
					t.Fatalf("row %d is wrong", n)
				}
				n++
			}
		}
		if n != rows || len(r.Fields) != 3 || r.Fields[2].Name != "ü" {
			t.Errorf("%d rows of %v", n, r.Fields)
		}
	}
}

// cost is how many bytes reading allocates.
func cost(data []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r, err := open(data); err == nil {
		for err == nil {
			_, err = r.Next()
		}
		r.Close()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Any damaged byte, or an early end, is found or harmless, and costs little.
func TestDamagedFilesCostLittle(t *testing.T) {
	testenv.Long(t, "a file with any one byte changed costs little memory and time")
	for _, name := range []string{"plain.arrow", "plain.arrows", "coded.arrow", "coded.arrows"} {
		data := file(t, name)
		for i := range data {
			for _, v := range []byte{0, 0x7f, 0x80, 0xff, data[i] ^ 1} {
				bad := bytes.Clone(data)
				bad[i] = v
				if n := cost(bad); n > 100<<20 {
					t.Fatalf("%s, byte %d made %#x: %d MiB", name, i, v, n>>20)
				}
			}
			if _, err := text(data[:i]); err == nil && strings.HasSuffix(name, ".arrow") {
				t.Fatalf("%s: %d of %d bytes are a file", name, i, len(data))
			}
		}
	}
}

// A size that a buffer claims is not believed, and one that many rows would share is refused.
func TestClaimsAreNotBelieved(t *testing.T) {
	s := &Reader{}
	budget := int64(math.MaxInt64)
	for _, codec := range []int8{codecLZ4, codecZstd} {
		packed := append([]byte{0, 0, 0, 0, 0, 1, 0, 0}, 1, 2, 3, 4, 5, 6, 7, 8) // 2^40 bytes
		if _, err := s.unpack(codec, packed, &budget); err == nil {
			t.Error("damaged bytes unpack")
		}
	}
	few := int64(100)
	if _, err := s.unpack(codecZstd, []byte{101, 0, 0, 0, 0, 0, 0, 0, 1}, &few); err == nil || !strings.Contains(err.Error(), "unpack to 101") {
		t.Errorf("more than the budget: %v", err)
	}
}

func FuzzArrow(f *testing.F) {
	for _, name := range []string{"plain.arrow", "plain.arrows", "coded.arrow", "coded.arrows"} {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if r, err := open(data); err == nil {
			for b, err := r.Next(); err == nil; b, err = r.Next() {
				for j := range b.Columns {
					c := &b.Columns[j]
					for i := range min(b.Rows, 100) {
						switch {
						case c.Missing(i):
						case c.Kind == Float || c.Kind == Double:
							c.Float(i)
						case c.Kind == Bytes || c.Kind == Decimal:
							c.Bytes(i)
						default:
							c.Int(i)
						}
					}
				}
			}
			r.Close()
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; len(data) < 4000 && used > 100<<20 {
			t.Fatalf("%d bytes cost %d MiB", len(data), used>>20)
		}
	})
}
