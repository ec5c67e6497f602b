package main

import "testing"

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"},
		{0.00123456, "0.00123"}, {0.1, "0.100"}, {0.99951, "1.00"}, {1.005, "1.00"}, {9.996, "10.0"},
		{12.345, "12.3"}, {99.96, "100"}, {123.4, "123"}, {999.6, "1,000"},
		{1234, "1,230"}, {9996, "10,000"}, {1234567, "1,230,000"}, {-12.345, "-12.3"},
	} {
		if got := threeDigits(c.x); got != c.want {
			t.Errorf("%g is written %s, want %s", c.x, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.x); got != c.want {
			t.Errorf("median of %g: %g", c.x, got)
		}
	}
}

func TestCells(t *testing.T) {
	m := measurements{
		"ours": {
			Numbers: map[string][]float64{"s": {2, 1, 4}, "ns": {2e9, 1e9, 4e9}, "rate": {50, 100, 200}},
			Words:   map[string]string{"learner": "svm"},
		},
		"theirs": {Numbers: map[string][]float64{"s": {4, 8, 6}, "rate": {25, 200, 50}}},
		"absent": {Missing: "`pip install x`"},
	}
	for _, c := range []struct {
		cell cell
		want string
	}{
		{label("text"), "text"},
		{seconds("ours", "s"), "2.00 s"},
		{value{metric: metric{"ours", "rate"}, scale: 10, format: integer}, "1,000"},
		{value{metric: metric{"ours", "s"}, format: tenths}, "2.0"},
		{percent("ours", "s"), "200.00 %"},
		{perSecond{metric{"ours", "s"}, 10}, "5.00"},
		// 4/2, 8/1, 6/4: of each round, not of the medians.
		{faster("ours", "s", "theirs", "s"), "2.00 (1.50 to 8.00)"},
		{ratio{ours: metric{"ours", "ns"}, theirs: metric{"theirs", "s"}, scale: 1e-9}, "2.00 (1.50 to 8.00)"},
		{ratio{ours: metric{"ours", "rate"}, theirs: metric{"theirs", "rate"}, rate: true}, "2.00 (0.500 to 4.00)"},
		{ratio{ours: metric{"ours", "s"}, theirs: metric{"ours", "s"}}, "1.00"},
		{word{metric{"ours", "learner"}}, "svm"},
		{phrase{seconds("ours", "s"), label(", as a phrase")}, "2.00 s, as a phrase"},
		{seconds("absent", "s"), "not run: `pip install x`"},
		{word{metric{"absent", "learner"}}, "not run: `pip install x`"},
		{phrase{label("before "), seconds("absent", "s")}, "not run: `pip install x`"},
		{perSecond{metric{"absent", "s"}, 1}, "not run: `pip install x`"},
		{faster("ours", "s", "absent", "s"), ""},
	} {
		if got := c.cell.text(m); got != c.want {
			t.Errorf("%+v: %q, want %q", c.cell, got, c.want)
		}
	}
}
