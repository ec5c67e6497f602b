package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// A column whose numbers differ by less than float32 can tell is no secret.
func TestColumnsThatLoseDigitsAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(i int) float64
		told  bool
	}{
		{"milliseconds", func(i int) float64 { return 1.7e12 + 997*float64(i) }, true},
		{"offset", func(i int) float64 { return 1e9 + float64(i%7)/8 }, true},
		{"negative", func(i int) float64 { return -1e10 - float64(i%7) }, true},
		{"milliseconds over years", func(i int) float64 { return 1.7e12 + 1e9*float64(i) }, false},
		{"small", func(i int) float64 { return float64(i%7) / 10 }, false},
		{"whole", func(i int) float64 { return 16_000_000 + float64(i%7) }, false},
		{"two", func(i int) float64 { return 1<<30 + 128*float64(i%2) }, false},
	} {
		var text strings.Builder
		text.WriteString("v,z,y\n")
		for i := range 60 {
			fmt.Fprintf(&text, "%g,%d,%d\n", c.value(i), i%9, i%2)
		}
		f, err := openMemory([]byte(strings.ReplaceAll(text.String(), "e+", "e")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, n := range f.Notices() {
			if n.Kind == "digits" {
				told += n.Text
			}
		}
		if (told != "") != c.told || c.told && !strings.Contains(told, `column "v" has numbers from `) {
			t.Errorf("%s: told %q", c.name, told)
		}
	}
}
