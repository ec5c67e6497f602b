package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Numbers with a unit, or with thousands and millions behind them, are numbers, which is said; a unit that the training did not have is an
// error, and labels stay what they are.
func TestNumbersWithUnits(t *testing.T) {
	for _, c := range []struct {
		cells, new string
		want       []float32
		wanted     float32
	}{
		{"12.5 kg|3 kg|1,200 kg", "7kg", []float32{12.5, 3, 1200}, 7}, {"1 year|12 years|3 yr.", "", nil, 0}, {"1 year|12 years|3 years", "5", []float32{1, 12, 3}, 5},
		{"3.4K|1.2M|500", "2k", []float32{3400, 1.2e6, 500}, 2000}, {"$1.5M|$200K|$3B", "$5", []float32{1.5e6, 2e5, 3e9}, 5},
		{"1.5 MB|2 GB|3 kB", "1 TB", []float32{1.5e6, 2e9, 3000}, 1e12}, {"-3.5°C|12°C|7°C", "1 °C", []float32{-3.5, 12, 7}, 1}, {"45 m2|30 m2|20 m2", "5 m2", []float32{45, 30, 20}, 5},
		{"1,5 kg|2,5 kg|3 kg", "0,5 kg", []float32{1.5, 2.5, 3}, 0.5}, {"12A|13A|14A", "", nil, 0}, {"1 kg|2 g|3 kg", "", nil, 0}, {"1st|2nd|3rd", "", nil, 0},
		{"5'11\"|6'1\"|5'2\"", "", nil, 0}, {"10-19|20-29|30-39", "", nil, 0}, {"1.2.3|1.2.4|2.0.1", "", nil, 0},
	} {
		cells := strings.Split(c.cells, "|")
		text := "w;y\n"
		for i, cell := range cells {
			text += fmt.Sprintf("\"%s\";%d\n", strings.ReplaceAll(cell, `"`, `""`), i)
		}
		f := openMessy(t, text, Options{})
		s := f.Schema()
		if c.want == nil {
			if s.Columns[0].kind() != KindCategory {
				t.Errorf("%s: %+v", c.cells, s.Columns[0])
			}
			continue
		}
		all, err := Collect(context.Background(), f, 0)
		if err != nil || !slices.Equal(all.X.Dense.Contiguous(), c.want) {
			t.Errorf("%s: %v %v", c.cells, all, err)
			continue
		}
		if !slices.ContainsFunc(f.Notices(), func(n Notice) bool { return strings.Contains(n.Text, "has numbers with units, such as") }) {
			t.Errorf("%s: not told: %v", c.cells, f.Notices())
		}
		row := []float32{0}
		if err := NewEncoder(s).Map(row, map[string]any{"w": c.new}); err != nil || row[0] != c.wanted {
			t.Errorf("%s, then %s: %v %v", c.cells, c.new, row, err)
		}
		if err := NewEncoder(s).Map(row, map[string]any{"w": "5 lb"}); err == nil || !strings.Contains(err.Error(), `"5 lb" is not a number`) {
			t.Errorf("%s, then 5 lb: %v", c.cells, err)
		}
	}
	all, err := Collect(context.Background(), openMessy(t, "a,race\n1,5K\n2,10K\n3,5K\n", Options{}), 0)
	if err != nil || all.Names[1] != "10K" {
		t.Errorf("%+v %v", all, err)
	}
}

// Points that may separate thousands are told of, and do so where other columns have decimal commas.
func TestPointsThatMaySeparateThousands(t *testing.T) {
	for text, want := range map[string]string{
		"a;y\n1.234;0\n567;1\n12.345;0\n": "1.234|told", "a;y\n1.234;0\n0.567;1\n12.345;0\n": "1.234|", "a;y\n1.234;0\n2.345;1\n": "1.234|",
		"a;y\n1.234;0,5\n567;1,5\n12.345;0\n": "1234|", "a;y\n1.5;0,5\n567;1,5\n": "1.5|", "a;y\n1.234;0\n5678;1\n": "1.234|",
	} {
		f := openMessy(t, text, Options{Label: "y"})
		all, err := Collect(context.Background(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(all.X.Dense.Row(0)[0]) + "|"
		if slices.ContainsFunc(f.Notices(), func(n Notice) bool { return strings.Contains(n.Text, "may separate thousands; decimal=,") }) {
			got += "told"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
