package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// example writes a table of all kinds that are written: a value is missing where the row and the column say so.
func example(t testing.TB, rows int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, []Field{{Name: "i", Kind: Int}, {Name: "x", Kind: Double}, {Name: "s", Kind: Bytes}, {Name: "f", Kind: Float}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j, write := range []func() error{
			func() error { return w.Int(int64(i) * 1e12) }, func() error { return w.Double(float64(i) / 3) },
			func() error { return w.Text(strings.Repeat("ü", i%9) + fmt.Sprint(i)) }, func() error { return w.Float(float32(i) / 3) },
		} {
			if j < 3 && missingIn(i, j) {
				write = w.Missing
			}
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func missingIn(row, column int) bool { return row/1000%3 != 1 && row%(5+column) == 2 }

// What is written is read, in several pages and groups.
func TestWrittenIsRead(t *testing.T) {
	const rows = groupRows + 70_000
	data := example(t, rows)
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows != rows || len(f.Groups()) != 2 || f.Only(1, 2).Rows != rows-groupRows || len(f.Fields) != 4 {
		t.Fatalf("%d rows in groups of %v", f.Rows, f.Groups())
	}
	for from, part := range map[int]*File{0: f, groupRows: f.Only(1, 2)} {
		r := part.Read()
		var b Batch
		row := from
		for err = r.Next(&b); err == nil; err = r.Next(&b) {
			for k := range b.Rows {
				for j := range 4 {
					if c := &b.Columns[j]; c.Missing(k) != (j < 3 && missingIn(row, j)) {
						t.Fatalf("row %d, column %d: missing is %v", row, j, c.Missing(k))
					}
				}
				if c := b.Columns; !c[0].Missing(k) && c[0].Ints[k] != int64(row)*1e12 || !c[1].Missing(k) && c[1].Doubles[k] != float64(row)/3 ||
					!c[2].Missing(k) && string(c[2].Texts[k]) != strings.Repeat("ü", row%9)+fmt.Sprint(row) || c[3].Floats[k] != float32(row)/3 {
					t.Fatalf("row %d is %v %v %q %v", row, c[0].Ints[k], c[1].Doubles[k], c[2].Texts[k], c[3].Floats[k])
				}
				row++
			}
		}
		if err != io.EOF || row != rows {
			t.Errorf("%d rows, %v", row, err)
		}
		r.Close()
	}
}

// read reads all of a file.
func read(data []byte) error {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	r := f.Read()
	defer r.Close()
	var b Batch
	for err == nil {
		err = r.Next(&b)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// What is wrong with a file is told.
func TestRefuses(t *testing.T) {
	whole := example(t, 100)
	change := func(at int, to ...byte) []byte {
		b := bytes.Clone(whole)
		if at < 0 {
			at += len(b)
		}
		copy(b[at:], to)
		return b
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"it is cut short":                    whole[:8],
		"it is cut short, or damaged at its": whole[:len(whole)-1],
		"it is encrypted":                    change(-1, 'E'),
		"it is damaged: its footer has":      change(-8, 0xff, 0xff, 0xff, 0x7f),
		"its footer is damaged: ":            change(-8, 7, 0, 0, 0),
		`column "i": a page has another checksum than the one in its header`: change(40, whole[40]^1),
	} {
		if err := read(data); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Runs and packed groups of small numbers, by an encoder of a few lines.
func TestHybrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		var want []uint32
		var data []byte
		for range 20 {
			mask := uint32(uint64(1)<<width - 1)
			if rng.IntN(2) == 0 {
				n, v := 1+rng.IntN(300), rng.Uint32()&mask
				data = append(data, byte(n<<1)|0x80, byte(n>>6))
				for k := range (width + 7) / 8 {
					data = append(data, byte(v>>(8*k)))
				}
				for range n {
					want = append(want, v)
				}
				continue
			}
			groups := 1 + rng.IntN(9)
			data = append(data, byte(groups<<1|1))
			bits := make([]byte, groups*width)
			for i := range 8 * groups {
				v := rng.Uint32() & mask
				want = append(want, v)
				for k := range width {
					bits[(i*width+k)/8] |= byte(v>>k&1) << ((i*width + k) % 8)
				}
			}
			data = append(data, bits...)
		}
		h := hybrid{data: data, width: width}
		got := make([]uint32, len(want))
		for at := 0; at < len(got); {
			n := min(len(got)-at, 1+rng.IntN(40))
			if err := h.read(got[at : at+n]); err != nil {
				t.Fatal(err)
			}
			at += n
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("width %d: number %d is %d, want %d", width, i, got[i], want[i])
			}
		}
		if err := h.read(make([]uint32, 1)); err == nil {
			t.Errorf("width %d: there is no end", width)
		}
	}
}

// Differences of all widths, by an encoder of a few lines.
func TestDelta(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for shift := range 64 {
		n := 1 + rng.IntN(700)
		want := make([]int64, n)
		for i := range want {
			want[i] = int64(rng.Uint64() >> shift)
			if rng.IntN(2) == 0 {
				want[i] = -want[i]
			}
		}
		want[0] = math.MinInt64 >> shift
		got := make([]int64, n)
		d, err := newDelta(deltas(want), 64)
		for at := 0; at < n && err == nil; {
			k := min(n-at, 1+rng.IntN(50))
			err = d.read(got[at : at+k])
			at += k
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("shift %d: number %d is %d, want %d", shift, i, got[i], want[i])
			}
		}
		if len(d.rest()) != 3 {
			t.Errorf("%d bytes are left of 3", len(d.rest()))
		}
	}
}

// deltas encodes numbers in blocks of 128 with 4 parts, and puts 3 bytes behind.
func deltas(v []int64) []byte {
	unsigned := func(b []byte, x uint64) []byte {
		for ; x >= 0x80; x >>= 7 {
			b = append(b, byte(x)|0x80)
		}
		return append(b, byte(x))
	}
	signed := func(b []byte, x int64) []byte { return unsigned(b, uint64(x<<1)^uint64(x>>63)) }
	b := signed(unsigned(unsigned(unsigned(nil, 128), 4), uint64(len(v))), v[0])
	for from := 1; from < len(v); from += 128 {
		var diffs [128]uint64
		n := min(128, len(v)-from)
		least := v[from] - v[from-1]
		for i := range n {
			least = min(least, v[from+i]-v[from+i-1])
		}
		for i := range n {
			diffs[i] = uint64(v[from+i] - v[from+i-1] - least)
		}
		b = signed(b, least)
		var widths [4]int
		for m := range 4 {
			for _, d := range diffs[32*m : 32*m+32] {
				for widths[m] < 64 && d>>widths[m] != 0 {
					widths[m]++
				}
			}
			b = append(b, byte(widths[m]))
		}
		for m := range 4 {
			if 32*m >= n {
				break
			}
			bits := make([]byte, 4*widths[m])
			for i, d := range diffs[32*m : 32*m+32] {
				for k := range widths[m] {
					bits[(i*widths[m]+k)/8] |= byte(d>>k&1) << ((i*widths[m] + k) % 8)
				}
			}
			b = append(b, bits...)
		}
	}
	return append(b, 1, 2, 3)
}

// Damaged files are errors, never panics.
func FuzzRead(f *testing.F) {
	f.Add(example(f, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		_ = read(data)
		_ = read(append(append([]byte(Magic), data...), Magic...))
	})
}
