package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"mercer/internal/engine/testenv"
)

// sample has tensors of both types and of all sorts of shapes, with the numbers that are easily lost.
func sample() (meta map[string]string, tensors map[string]*Tensor) {
	return map[string]string{"format": "test", "empty": "", "text": "\"sha256\":\" ü \x00 \u2028"}, map[string]*Tensor{
		"matrix":    {Shape: []int{2, 3}, F32: []float32{1, -2.5, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(-1)), 0}},
		"Doubles":   {Shape: []int{4}, F64: []float64{math.Pi, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1)}},
		"none":      {Shape: []int{0, 7}, F32: []float32{}},
		"nothing":   {Shape: []int{3, 0, 2}, F64: []float64{}},
		"scalar":    {Shape: []int{}, F64: []float64{42}},
		"a \" name": {Shape: []int{1, 1, 1}, F32: []float32{7}},
	}
}

func write(t testing.TB, meta map[string]string, tensors map[string]*Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(file []byte) (map[string]string, map[string]*Tensor, error) {
	return Read(bytes.NewReader(file), int64(len(file)))
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	meta, tensors := sample()
	gotMeta, got, err := read(write(t, meta, tensors))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(gotMeta, meta) {
		t.Errorf("read %q, wrote %q", gotMeta, meta)
	}
	if !reflect.DeepEqual(got, tensors) {
		t.Errorf("read %+v, wrote %+v", got, tensors)
	}
	if gotMeta, got, err = read(write(t, nil, nil)); err != nil || len(gotMeta) != 0 || len(got) != 0 {
		t.Errorf("an empty file is read as %v, %v, %v", gotMeta, got, err)
	}
}

// Bits of NaN and the sign of 0 are kept too.
func TestBitsAreKept(t *testing.T) {
	for _, b := range []uint64{0x7ff8000000000001, 0xfff0000000000001, 1 << 63} {
		_, got, err := read(write(t, nil, map[string]*Tensor{"x": {Shape: []int{1}, F64: []float64{math.Float64frombits(b)}}}))
		if err != nil || math.Float64bits(got["x"].F64[0]) != b {
			t.Errorf("%#x became %#x, %v", b, math.Float64bits(got["x"].F64[0]), err)
		}
	}
	for _, b := range []uint32{0x7fc00001, 0xffc00000, 1 << 31} {
		_, got, err := read(write(t, nil, map[string]*Tensor{"x": {Shape: []int{1}, F32: []float32{math.Float32frombits(b)}}}))
		if err != nil || math.Float32bits(got["x"].F32[0]) != b {
			t.Errorf("%#x became %#x, %v", b, math.Float32bits(got["x"].F32[0]), err)
		}
	}
}

func TestBytesAreAlwaysTheSame(t *testing.T) {
	meta, tensors := sample()
	first := write(t, meta, tensors)
	for range 20 { // maps go in another order each time
		meta, tensors := sample()
		if !bytes.Equal(write(t, meta, tensors), first) {
			t.Fatal("the same tensors gave other bytes")
		}
	}
	// Recorded, so that a file of today is the file of tomorrow.
	const want = "613db622a9ae990f"
	if sum := sha256.Sum256(first); hex.EncodeToString(sum[:8]) != want {
		t.Errorf("the file has the sum %x…, recorded is %s…", sum[:8], want)
	}
}

// The layout is that of the format, as any reader of it sees it.
func TestLayout(t *testing.T) {
	file := write(t, map[string]string{"k": "v"}, map[string]*Tensor{
		"b": {Shape: []int{1}, F64: []float64{1}},
		"a": {Shape: []int{2, 1}, F32: []float32{1, 2}},
		"s": {F32: []float32{3}},
	})
	n := binary.LittleEndian.Uint64(file)
	header := string(file[8 : 8+n])
	sum := Sum(file)
	want := `{"__metadata__":{"k":"v","sha256":"` + sum + `"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},` +
		`"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"s":{"dtype":"F32","shape":[],"data_offsets":[16,20]}}`
	if strings.TrimRight(header, " ") != want || n%8 != 0 {
		t.Errorf("the header is %s\nwant %s, filled up with blanks to a multiple of 8", header, want)
	}
	if data := file[8+n:]; hex.EncodeToString(data) != "0000803f00000040"+"000000000000f03f"+"00004040" {
		t.Errorf("the data are %x", data)
	}
}

// Sum is the checksum that a file of the format of docs/model-file.md has, found without Write and Read.
func Sum(file []byte) string {
	file = bytes.Clone(file)
	at := bytes.Index(file, []byte(`"sha256":"`)) + len(`"sha256":"`)
	copy(file[at:at+64], strings.Repeat("0", 64))
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	one := []float32{1}
	for _, c := range []struct {
		meta map[string]string
		name string
		t    Tensor
	}{
		{nil, "x", Tensor{Shape: []int{2}, F32: one}},
		{nil, "x", Tensor{Shape: []int{-1, -1}, F32: one}},
		{nil, "x", Tensor{Shape: []int{1 << 30, 1 << 30, 1 << 30}, F32: one}},
		{nil, "x", Tensor{Shape: []int{2}, F32: one, F64: []float64{1}}},
		{nil, "x", Tensor{Shape: []int{0}, F32: []float32{}, F64: []float64{}}},
		{nil, "__metadata__", Tensor{Shape: []int{1}, F32: one}},
		{nil, "\xff", Tensor{Shape: []int{1}, F32: one}},
		{map[string]string{"k": "\xff"}, "x", Tensor{Shape: []int{1}, F32: one}},
		{map[string]string{"\xff": ""}, "x", Tensor{Shape: []int{1}, F32: one}},
		{map[string]string{"sha256": "0"}, "x", Tensor{Shape: []int{1}, F32: one}},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.meta, map[string]*Tensor{c.name: &c.t}); err == nil || b.Len() > 0 {
			t.Errorf("%q, %q, %+v: %v, %d bytes are written", c.meta, c.name, c.t, err, b.Len())
		}
	}
}

func TestWriteLeavesItsArgumentsAlone(t *testing.T) {
	meta, tensors := sample()
	write(t, meta, tensors)
	wantMeta, want := sample()
	if !maps.Equal(meta, wantMeta) || !reflect.DeepEqual(tensors, want) {
		t.Errorf("%v, %v", meta, tensors)
	}
}

// full is a disk that takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no room")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

func TestFullDisksAreErrors(t *testing.T) {
	meta, tensors := sample()
	size := len(write(t, meta, tensors))
	for room := range size {
		if err := Write(&full{room}, meta, tensors); !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d bytes: %v", room, size, err)
		}
	}
}

func TestFilesCutAtEveryByteAreErrors(t *testing.T) {
	meta, tensors := sample()
	file := write(t, meta, tensors)
	for n := range file {
		if _, _, err := read(file[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(file))
		}
		// A reader that ends before the size that was told.
		if _, _, err := Read(bytes.NewReader(file[:n]), int64(len(file))); !errors.Is(err, errCut) {
			t.Errorf("%d of %d bytes: %v", n, len(file), err)
		}
	}
	if _, _, err := read(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte too many is read")
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	meta, tensors := sample()
	file := write(t, meta, tensors)
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			if _, _, err := read(file); err == nil {
				t.Errorf("bit %d of byte %d is flipped, and the file is read", bit, i)
			}
			file[i] ^= 1 << bit
		}
	}
	if _, _, err := read(file); err != nil {
		t.Errorf("the file itself: %v", err)
	}
}

func TestErrorsOfReadingArePassedOn(t *testing.T) {
	meta, tensors := sample()
	file := write(t, meta, tensors)
	for _, n := range []int{0, 5, 8, 100, len(file) - 1} {
		r := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errFull))
		if _, _, err := Read(r, int64(len(file))); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, _, err := Read(iotest.OneByteReader(bytes.NewReader(file)), int64(len(file))); err != nil {
		t.Errorf("byte by byte: %v", err)
	}
}

// sealed makes a file of a header, in which SUM stands for the checksum, and data.
func sealed(header string, data []byte) []byte {
	header = strings.ReplaceAll(header, "SUM", `"sha256":"`+blankSum+`"`)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(append(file, header...), data...)
	Seal(file)
	return file
}

func TestHostileHeadersAreErrors(t *testing.T) {
	const meta = `"__metadata__":{SUM}`
	entry := func(name, dtype, shape, offsets string) string {
		return fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":%s}`, name, dtype, shape, offsets)
	}
	a := entry("a", "F32", "[2]", "[0,8]")
	for _, c := range []struct{ header, want string }{
		{`{` + meta + `,` + a + `}`, ""},
		{`{` + a + `,` + meta + `}   `, ""},
		{`{` + meta + `,` + entry("a", "F32", "[1]", "[0,4]") + `,` + entry("b", "F32", "[1]", "[4,8]") + `,` +
			entry("c", "F64", "[0]", "[4,4]") + `}`, ""},

		// Lengths.
		{entry("a", "F32", "[3]", "[0,8]"), "needs 12 bytes, offsets give 8"},
		{entry("a", "F64", "[2]", "[0,8]"), "needs 16 bytes, offsets give 8"},
		{entry("a", "F32", "[2,-1]", "[0,8]"), "shape [2 -1]"},
		{entry("a", "F32", "[-2,-1]", "[0,8]"), "shape [-2 -1]"},
		{entry("a", "F32", "[4611686018427387904,4]", "[0,8]"), "shape"},
		{entry("a", "F32", "[4611686018427387904]", "[0,8]"), "shape"},
		{entry("a", "F32", "[9223372036854775808]", "[0,8]"), "cannot unmarshal"},
		{entry("a", "F32", "[1.5]", "[0,8]"), "cannot unmarshal"},
		{entry("a", "F32", `"2"`, "[0,8]"), "cannot unmarshal"},
		{entry("a", "F32", "[3037000500,3037000500]", "[0,8]"), "shape"},
		// Offsets.
		{entry("a", "F32", "[2]", "[0,9223372036854775807]"), "of 8 bytes"},
		{entry("a", "F32", "[2]", "[-8,0]"), "of 8 bytes"},
		{entry("a", "F32", "[2]", "[8,0]"), "of 8 bytes"},
		{entry("a", "F32", "[2]", "[1,9]"), "of 8 bytes"},
		{entry("a", "F32", "[2]", "[0]"), "1 offsets"},
		{entry("a", "F32", "[2]", "[0,8,8]"), "3 offsets"},
		{entry("a", "F32", "[0]", "[]"), "0 offsets"},
		{entry("a", "F32", "[2]", "[0,99999999999999999999]"), "cannot unmarshal"},
		{`"a":{"dtype":"F32","shape":[0]}`, "no data_offsets"},
		// Holes and overlaps.
		{entry("a", "F32", "[1]", "[4,8]"), "begins at byte 4 of the data, where the one before ends at 0"},
		{entry("a", "F32", "[1]", "[0,4]"), "end at byte 4 of the data, which has 8"},
		{entry("a", "F32", "[2]", "[0,8]") + `,` + entry("b", "F32", "[1]", "[4,8]"),
			"begins at byte 4 of the data, where the one before ends at 8"},
		{entry("a", "F32", "[2]", "[0,8]") + `,` + entry("b", "F32", "[2]", "[0,8]"),
			"begins at byte 0 of the data, where the one before ends at 8"},
		{entry("a", "F32", "[1]", "[0,4]") + `,` + entry("b", "F32", "[0]", "[2,2]") + `,` +
			entry("c", "F32", "[1]", "[4,8]"), "begins at byte 2"},
		{"", "end at byte 0 of the data, which has 8"},
		// Names and types.
		{entry("a", "F16", "[4]", "[0,8]"), `dtype "F16"; known are F32 and F64`},
		{`"a":{"shape":[2],"data_offsets":[0,8]}`, `dtype ""`},
		{`"a":{"DTYPE":"F32","shape":[2],"data_offsets":[0,8]}`, `"DTYPE" does not describe a tensor`},
		{`"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}`, `"more" does not describe a tensor`},
		{`"a":{"dtype":"F64","dtype":"F32","shape":[2],"data_offsets":[0,8]}`, `the name "dtype" twice`},
		{`"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}`, `the name "shape" twice`},
		{a + `,` + a, `the name "a" twice`},
		{a + `,` + strings.Replace(a, `"a"`, `"\u0061"`, 1), `the name "a" twice`},
		{`"a":[]`, "cannot unmarshal"},
		{`"a":null`, "no data_offsets"},
		{`"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]`, "not JSON"},
		{a + `}{`, "not JSON"},
		{a + `,`, "not JSON"},
	} {
		header := c.header
		if !strings.HasPrefix(header, "{") {
			header = strings.TrimSuffix(`{`+meta+`,`+header, ",") + `}`
			if strings.HasSuffix(c.header, ",") {
				header = `{` + meta + `,` + c.header + `}`
			}
		}
		check(t, header, sealed(header, make([]byte, 8)), c.want)
	}
	for _, c := range []struct{ header, want string }{
		{`{}`, "no checksum"},
		{`{"__metadata__":{}}`, "no checksum"},
		{`{"__metadata__":null}`, "no checksum"},
		{`{"__metadata__":{"sha256":"0"}}`, "no checksum"},
		{`{"__metadata__":{},"x":{SUM}}`, "no checksum"},
		{`{"x":{SUM}}`, "__metadata__"},
		{`{"__metadata__":{SUM,"sha256":"00"}}`, `the name "sha256" twice`},
		{`{"__metadata__":{SUM},"__metadata__":{SUM}}`, `the name "__metadata__" twice`},
		{`{"__metadata__":{SUM,"k":1}}`, "__metadata__"},
		{`{"__metadata__":[{SUM}]}`, "__metadata__"},
		{`[{SUM}]`, "it has no header"},
		{``, "it has no header"},
		{strings.Repeat(`{"a":`, 20000) + `{SUM}`, "not JSON"},
	} {
		check(t, c.header, sealed(c.header, nil), c.want)
	}
}

func check(t *testing.T, header string, file []byte, want string) {
	t.Helper()
	if len(header) > 200 {
		header = header[:200] + "…"
	}
	switch _, _, err := read(file); {
	case want == "" && err != nil:
		t.Errorf("%s: %v", header, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v, want %q", header, err, want)
	}
}

// What a header claims is allocated only as far as the file has it.
func TestHugeLengthsAllocateNothing(t *testing.T) {
	length := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), `{"__metadata__":`...) }
	tensor := func(shape, offsets string) []byte {
		return sealed(`{"__metadata__":{SUM},"a":{"dtype":"F64","shape":`+shape+`,"data_offsets":`+offsets+`}}`, make([]byte, 8))
	}
	for name, file := range map[string][]byte{
		"header of 2⁶⁴ bytes":    length(math.MaxUint64),
		"header of 2⁶³ bytes":    length(1 << 63),
		"header of 100 MiB":      length(maxHeader),
		"header of 100 MiB + 1":  length(maxHeader + 1),
		"2⁵⁹ elements":           tensor("[576460752303423488]", "[0,8]"),
		"2⁶⁰ elements, 0 bytes":  tensor("[1152921504606846976,8]", "[0,0]"),
		"2⁶² bytes by offsets":   tensor("[1]", "[0,4611686018427387904]"),
		"a shape of many":        tensor("[1"+strings.Repeat(",1", 1000)+"]", "[0,9]"),
		"no elements, 2⁵⁰ long":  tensor("[0,1125899906842624]", "[0,8]"),
		"offsets beyond the end": tensor("[1]", "[9007199254740984,9007199254740992]"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := read(file)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: is read", name)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(64*len(file)+1<<16) {
			t.Errorf("%s: %d bytes are allocated for a file of %d", name, took, len(file))
		}
	}
}

func TestHeadersBeyondTheLimitAreNotWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("a header of 100 MiB")
	}
	var b bytes.Buffer
	long := map[string]string{"k": strings.Repeat("x", maxHeader)}
	if err := Write(&b, long, nil); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes are written", err, b.Len())
	}
}

func TestSeal(t *testing.T) {
	meta, tensors := sample()
	file := write(t, meta, tensors)
	again := bytes.Clone(file)
	if !Seal(again) || !bytes.Equal(again, file) {
		t.Error("a file that is right becomes another one")
	}
	again[len(again)-1] ^= 1
	if _, _, err := read(again); err == nil {
		t.Error("the altered file is read")
	}
	if !Seal(again) {
		t.Error("not sealed")
	}
	if _, _, err := read(again); err != nil {
		t.Errorf("sealed: %v", err)
	}
	for _, bad := range [][]byte{nil, file[:7], file[:20],
		append(binary.LittleEndian.AppendUint64(nil, math.MaxUint64), file...), sealed(`{"__metadata__":{}}`, nil)} {
		if Seal(bad) {
			t.Errorf("%q is said to have a checksum", bad)
		}
	}
}

// FuzzRead: whatever is read could have been written, and is written as it was.
func FuzzRead(f *testing.F) {
	meta, tensors := sample()
	f.Add(write(f, meta, tensors))
	f.Add(write(f, nil, nil))
	f.Add(sealed(`{"__metadata__":{SUM},"a":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, make([]byte, 4)))
	f.Add(sealed(`{"b":{"dtype":"F64","shape":[0],"data_offsets":[8,8]},`+
		`"a":{"data_offsets":[0,8],"dtype":"F32","shape":[1,2]},"__metadata__":{"k":"v",SUM}}`, make([]byte, 8)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		defer testenv.Bounded(t, len(file))()
		Seal(file) // else the checksum ends nearly every run
		meta, tensors, err := read(file)
		if err != nil {
			if meta != nil || tensors != nil {
				t.Errorf("something is returned with the error %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := Write(&b, meta, tensors); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		gotMeta, got, err := read(b.Bytes())
		if err != nil || !maps.Equal(gotMeta, meta) || len(got) != len(tensors) {
			t.Fatalf("read again: %v, %v, %v", gotMeta, got, err)
		}
		for name, want := range tensors {
			same := got[name] != nil && len(got[name].Shape) == len(want.Shape) &&
				fmt.Sprint(got[name]) == fmt.Sprint(&Tensor{Shape: append([]int{}, want.Shape...), F32: want.F32, F64: want.F64})
			if !same {
				t.Errorf("%s: %+v became %+v", name, want, got[name])
			}
		}
	})
}
