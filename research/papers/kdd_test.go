package papers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A symbol is a one in the column of its value, unknown ones are zeros; numbers follow.
func TestKDDCupSymbolsAreOnes(t *testing.T) {
	dir := t.TempDir()
	line := func(protocol, service, first, label string) string {
		fields := slices.Repeat([]string{"0"}, 42)
		fields[0], fields[1], fields[2], fields[3], fields[41] = first, protocol, service, "SF", label
		return strings.Join(fields, ",") + "\n"
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, "kddcup99"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kddcup99", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("kddcup.data_10_percent", line("tcp", "http", "7", "normal.")+line("udp", "http", "0", "smurf."))
	write("corrected", line("icmp", "http", "2.5", "normal."))
	p, err := kddCup(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Places: protocol tcp, udp; service http; flag SF.
	if got := p.train.Dense.Row(0); len(got) != 38+4 || !slices.Equal(got[:6], []float32{1, 0, 1, 1, 7, 0}) {
		t.Errorf("first row %v", got)
	}
	if got := p.train.Dense.Row(1); !slices.Equal(got[:6], []float32{0, 1, 1, 1, 0, 0}) {
		t.Errorf("second row %v", got)
	}
	if got := p.test.Dense.Row(0); !slices.Equal(got[:6], []float32{0, 0, 1, 1, 2.5, 0}) {
		t.Errorf("test row %v", got)
	}
	if !slices.Equal(p.names, []string{"normal", "attack"}) || !slices.Equal(p.namesTest, []string{"normal"}) {
		t.Errorf("classes %v and %v", p.names, p.namesTest)
	}
	write("corrected", "1,2\n")
	if _, err := kddCup(dir); err == nil || !strings.HasSuffix(err.Error(), "corrected:1: 2 columns; expected 41 and a label") {
		t.Errorf("%v", err)
	}
	write("corrected", line("tcp", "http", "seven", "normal."))
	if _, err := kddCup(dir); err == nil || !strings.HasSuffix(err.Error(), `corrected:1: "seven" is not a number`) {
		t.Errorf("%v", err)
	}
}
