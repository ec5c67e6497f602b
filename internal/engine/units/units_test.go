package units

import (
	"math"
	"testing"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		n    float64
		want string
	}{
		{0, "0 B"}, {1, "1 B"}, {999, "999 B"}, {1023, "1023 B"}, {1023.4, "1023 B"}, {1023.5, "1.0 KiB"}, {1024, "1.0 KiB"},
		{1536, "1.5 KiB"}, {9.94 * 1024, "9.9 KiB"}, {9.96 * 1024, "10 KiB"}, {10.4 * 1024, "10 KiB"}, {1023 * 1024, "1,023 KiB"},
		{1023.6 * 1024, "1.0 MiB"}, {1 << 20, "1.0 MiB"}, {512 << 20, "512 MiB"}, {1e9, "954 MiB"}, {8 << 30, "8.0 GiB"},
		{16 << 30, "16 GiB"}, {3 << 40, "3.0 TiB"}, {5 << 50, "5.0 PiB"}, {2 << 60, "2.0 EiB"}, {4e24, "3,469,447 EiB"},
		{-1536, "-1.5 KiB"}, {math.Inf(1), "infinitely many bytes"},
	} {
		if got := Bytes(c.n); got != c.want {
			t.Errorf("Bytes(%g) = %q, want %q", c.n, got, c.want)
		}
	}
	got := []string{Bytes(2048), Bytes(int64(1) << 40), Bytes(uint64(math.MaxUint64))}
	if got[0] != "2.0 KiB" || got[1] != "1.0 TiB" || got[2] != "16 EiB" {
		t.Error(got)
	}
}

func TestBytesApart(t *testing.T) {
	for _, c := range []struct {
		a, b         int64
		first, other string
	}{
		{3 << 30, 2 << 30, "3.0 GiB", "2.0 GiB"},
		{1 << 30, 1000 << 20, "1.0 GiB", "1,000 MiB"},
		{1<<30 + 1<<24, 1 << 30, "1.02 GiB", "1.00 GiB"},
		{20<<30 + 1<<29, 20 << 30, "20.5 GiB", "20.0 GiB"},
		{1<<30 + 1, 1 << 30, "1.000000001 GiB", "1.000000000 GiB"},
		{1<<59 + 128, 1 << 59, "512.0000000000001 PiB", "512.0000000000000 PiB"},
		{5, 4, "5 B", "4 B"},
		{7 << 20, 7 << 20, "7.0 MiB", "7.0 MiB"},
	} {
		if a, b := BytesApart(c.a, c.b); a != c.first || b != c.other {
			t.Errorf("BytesApart(%d, %d) = %q, %q, want %q, %q", c.a, c.b, a, b, c.first, c.other)
		}
	}
	if a, b := BytesApart(math.Inf(1), 1<<30); a != "infinitely many bytes" || b != "1.0 GiB" {
		t.Error(a, b)
	}
}

func TestParseBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"1", 1}, {"4096", 4096}, {"512B", 512}, {"512 b", 512}, {" 7 ", 7},
		{"1kB", 1000}, {"2MB", 2_000_000}, {"8GB", 8_000_000_000}, {"8gb", 8_000_000_000}, {"3TB", 3_000_000_000_000},
		{"1KiB", 1024}, {"2MiB", 2 << 20}, {"8 GiB", 8 << 30}, {"8gib", 8 << 30}, {"3TiB", 3 << 40},
		{"1K", 1024}, {"2m", 2 << 20}, {"8G", 8 << 30}, {"3 T", 3 << 40},
		{"1.5GiB", 3 << 29}, {"1.5GB", 1_500_000_000}, {".5K", 512}, {"1.7", 1},
	} {
		if got, err := ParseBytes(c.text); err != nil || got != c.want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", " ", "B", "K", "GiB", "iB", "5i", "5iB", "5Mi",
		"5 PB", "0", "0GB", "0.4", "-1", "-1GB", "+1", "1e9", "0x10", "NaN", "Inf",
		"1_000", "1,000", "many", "5GBB", "5KMB", "4611686018427387904", "4398046511104M"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}

// What Bytes writes, ParseBytes reads: a size in a message can be given back.
func TestParseBytesReadsWhatBytesWrites(t *testing.T) {
	for _, n := range []int64{1, 1023, 1024, 1536, 5 << 20, 512 << 20, 8 << 30, 3 << 40} {
		if got, err := ParseBytes(Bytes(n)); err != nil || got != n {
			t.Errorf("%d is written as %q and read as %d, %v", n, Bytes(n), got, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{
		{0, "0 ms"}, {0.0123, "12 ms"}, {0.0994, "99 ms"}, {0.0995, "0.1 s"}, {0.25, "0.25 s"}, {1.25, "1.2 s"}, {9.94, "9.9 s"},
		{9.95, "10 s"}, {83.4, "83 s"}, {599.4, "599 s"}, {600, "10m0s"}, {3723.4, "1h2m3s"}, {1e12, "11,574,074 days"},
	} {
		if got := Seconds(c.s); got != c.want {
			t.Errorf("Seconds(%g) = %q, want %q", c.s, got, c.want)
		}
	}
}

func TestRoughly(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{
		{0, "0.01 s"}, {0.004, "0.01 s"}, {0.034, "0.03 s"}, {0.25, "0.25 s"}, {9.4, "9.4 s"}, {9.5, "10 s"}, {99.4, "99 s"}, {99.5, "2 min"},
		{720, "12 min"}, {5399, "90 min"}, {5400, "1.5 h"}, {86400, "24 h"}, {36 * 3600, "2 days"}, {86400 * 1234, "1,234 days"},
	} {
		if got := Roughly(c.s); got != c.want {
			t.Errorf("Roughly(%g) = %q, want %q", c.s, got, c.want)
		}
	}
}

func TestCountAndPlural(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"}, {-1, "-1"}, {-999, "-999"}, {-1000, "-1,000"}} {
		if got := Count(c.n); got != c.want {
			t.Errorf("Count(%d) = %q, want %q", c.n, got, c.want)
		}
	}
	if got := Count(int64(math.MinInt64)); got != "-9,223,372,036,854,775,808" {
		t.Error(got)
	}
	if got := Count(uint64(math.MaxUint64)); got != "18,446,744,073,709,551,615" {
		t.Error(got)
	}
	for _, c := range []struct{ text, want string }{
		{"1234.5678", "1,234.5678"}, {"-1234567.5", "-1,234,567.5"}, {"0.1234567", "0.1234567"},
		{"1e+09", "1e+09"}, {"+Inf", "+Inf"}, {"NaN", "NaN"}, {"", ""},
	} {
		if got := Commas(c.text); got != c.want {
			t.Errorf("Commas(%q) = %q, want %q", c.text, got, c.want)
		}
	}
	got := []string{Plural(0, "row"), Plural(1, "row"), Plural(2, "row"), Plural(1000, "label column")}
	if got[0] != "0 rows" || got[1] != "1 row" || got[2] != "2 rows" || got[3] != "1,000 label columns" {
		t.Error(got)
	}
}
