package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// decimal says whether s is what parseNumber takes, told without it.
func decimal(s string) bool {
	s = strings.TrimLeft(s, "+-")
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	if has {
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if exponent == "" || strings.Trim(exponent, "0123456789") != "" {
			return false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return strings.Trim(whole+fraction, "0123456789") == "" && whole+fraction != ""
}

// sameAsStrconv compares parseNumber with the standard library, bit for bit.
func sameAsStrconv(t *testing.T, s string) {
	t.Helper()
	got, ok := parseNumber([]byte(s))
	want, err := strconv.ParseFloat(s, 64)
	accepted := decimal(s) && (err == nil || math.IsInf(want, 0))
	if ok != accepted {
		t.Fatalf("%q: accepted %v, want %v", s, ok, accepted)
	}
	if ok && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: %v (%x), strconv says %v (%x)", s, got, math.Float64bits(got), want, math.Float64bits(want))
	}
}

var numberEdges = []string{
	"0", "-0", "+0", "1", "-1", "+1", "1.", ".5", "-.5", "+.5e1", "00012", "0.10", "1e5", "1E5", "1e+5", "1e-5",
	"", "+", "-", ".", "-.", "e5", ".e5", "1e", "1e+", "1e-", "--1", "+-1", "1-", "1.2.3", "1 ", " 1", "1,5", "1e5.0",
	"nan", "NaN", "inf", "-Inf", "infinity", "0x10", "0x1p4", "1_000", "1f", "１",
	"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740995", "-9007199254740993e-5",
	"9999999999999999999", "18446744073709551615", "18446744073709551616", "99999999999999999999",
	"9007199254740993e22", "9007199254740992e22", "9007199254740992e-22", "1e22", "1e23", "1e-22", "1e-23",
	"0.04925220087170601", "0.2852664887905121", "0.003251299960538745", "2.2250738585072011e-308", "4.9e-324", "2e-324",
	"1.7976931348623157e308", "1.7976931348623159e308", "1e309", "-1e999999999999", "1e-999999999999", "0e999999999",
	"3.4028234663852886e38", "3.4028235677973366e38", "0.000000000000000000000000000000000000000000001",
	"123456789012345678901234567890.5", "5e-1", "0.30000000000000004", "1152921504606846977e-19", "9223372036854775809e-19",
}

func TestNumberIsStrconvsBitForBit(t *testing.T) {
	for _, s := range numberEdges {
		sameAsStrconv(t, s)
	}
	r := rand.New(rand.NewPCG(3, 4))
	formats, draws := []byte("feg"), 200_000
	if testing.Short() {
		draws = 20_000
	}
	for range draws {
		v := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			v = r.NormFloat64() * math.Pow(10, float64(r.IntN(12)-6))
		}
		if v-v != 0 {
			continue
		}
		sameAsStrconv(t, strconv.FormatFloat(v, formats[r.IntN(2)+1], r.IntN(20)-1, 64))
		sameAsStrconv(t, strconv.FormatFloat(r.NormFloat64(), formats[r.IntN(3)], r.IntN(22)-1, 64))
	}
	// Digits and exponents next to the borders of the fast paths, and halfway cases.
	for range draws {
		b := strconv.AppendUint(nil, r.Uint64()>>r.IntN(64), 10)
		if r.IntN(3) == 0 {
			b = strconv.AppendUint(nil, (r.Uint64()>>10|1)<<r.IntN(11), 10)
		}
		at := r.IntN(len(b) + 1)
		s := string(b[:at]) + "." + string(b[at:])
		if r.IntN(2) == 0 {
			s += "e" + strconv.Itoa(r.IntN(50)-25)
		}
		sameAsStrconv(t, s)
	}
}

func TestQuotientRoundsHalfToEven(t *testing.T) {
	// (2⁵³+1)·10/10 lies exactly between two float64.
	for _, c := range []struct {
		m, d uint64
		want float64
	}{
		{(1<<53 + 1) * 10, 10, 1 << 53},
		{(1<<53 + 3) * 10, 10, 1<<53 + 4},
		{(1<<53+1)*10 + 1, 10, 1<<53 + 2},
		{(1<<53+1)*10 - 1, 10, 1 << 53},
		{math.MaxUint64, 1, 1 << 64},
		{1, 1e19, 1e-19},
	} {
		if got := quotient(c.m, c.d); got != c.want {
			t.Errorf("quotient(%d, %d) = %v, want %v", c.m, c.d, got, c.want)
		}
	}
}

// Of numbers beyond the largest float32, those that are rounded to it are read: its shortest decimal is one.
func TestTheLargestFloat32IsRead(t *testing.T) {
	for _, format := range []string{"1 1:%s\n", "1 1:-%s\n", "%s,red\n", "-%s,red\n"} {
		for number, fits := range map[string]bool{"3.4028234e38": true, "3.4028235e38": true,
			"3.4028235677973362e38": true, "3.4028235677973366e38": false, "3.4028236e38": false} {
			_, err := readBytes([]byte(fmt.Sprintf(format, number)), Options{})
			if fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "is out of float32's range") {
				t.Errorf(format+": %v", number, err)
			}
		}
	}
}

func TestNumberParsingAllocatesNothing(t *testing.T) {
	for _, s := range []string{"12", "0.04925220087170601", "1e-200", "123456789012345678901234"} {
		b := []byte(s)
		if n := testing.AllocsPerRun(100, func() { parseNumber(b) }); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}

func TestNotFiniteKnowsTheSpellings(t *testing.T) {
	for _, s := range []string{"nan", "NaN", "-nan", "inf", "-Inf", "+INF", "Infinity", "-infinity"} {
		if !notFinite([]byte(s)) {
			t.Errorf("%q is not recognised", s)
		}
	}
	for _, s := range []string{"", "-", "1", "in", "nano", "infinite", "information", "n/a"} {
		if notFinite([]byte(s)) {
			t.Errorf("%q is taken for NaN or infinity", s)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range numberEdges {
		f.Add(s)
	}
	f.Fuzz(sameAsStrconv)
}

// A plain number may have separators of thousands in later rows: by a comma, or by a point where other columns have decimal commas.
func TestSeparatorsOfThousandsInLaterRows(t *testing.T) {
	for _, c := range []struct {
		head, later, last string
		want              float32
	}{
		{"12.5,1", `"1,234.5",1`, "-7,1", 1234.5}, {"12.5,1", `"-1,234,567",1`, "8,1", -1234567}, {"12;1,5", "1.234;2,5", "9;1,5", 1234}, {"12;1,5", "1,25;2,5", "9;1,5", 1.25},
	} {
		sep := ","
		if strings.Contains(c.head, ";") {
			sep = ";"
		}
		text := "a" + sep + "b\n" + strings.Repeat(c.head+"\n", lookRows+10) + c.later + "\n" + c.last + "\n"
		f := openMessy(t, text, Options{Label: "none"})
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Errorf("%s: %v", c.later, err)
			continue
		}
		if got := all.X.Dense.Row(lookRows + 10)[0]; got != c.want {
			t.Errorf("%s: %v", c.later, got)
		}
		row := make([]float32, f.Schema().Dim)
		cell, _, _ := strings.Cut(strings.Trim(c.later, `"`), map[string]string{",": `"`, ";": ";"}[sep])
		if err := NewEncoder(f.Schema()).Map(row, map[string]any{"a": cell, "b": "1"}); err != nil || row[0] != c.want {
			t.Errorf("%s: %v, %v", cell, row, err)
		}
	}
	labels, err := Collect(context.Background(), openMessy(t, "a;y\n1,5;007\n2,5;010\n3,5;7\n", Options{}), 0)
	if err != nil || labels.Y[0] != 7 || labels.Names[0] != "007" {
		t.Errorf("labels beside decimal commas: %+v, %v", labels, err)
	}
	_, err = Collect(context.Background(), openMessy(t, "a,b,y\n"+strings.Repeat("1,2,0\n3,4,1\n", 20)+"x,5\n", Options{}), 0)
	if err == nil || !strings.Contains(err.Error(), ":42: 2 columns where the first row has 3") {
		t.Errorf("a short row: %v", err)
	}
}
