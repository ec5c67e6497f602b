package papers

import (
	"context"
	"strings"

	"mercer/internal/engine/hypothesis"
)

// lopezSTL are the distortions on STL-10 that LS18's table 3 prints, of all methods of its tables 1 and 2 but
// the first, φ + RP, which could not be computed there.
var lopezSTL = []string{
	"0.360±0.086 0.254±0.041 0.215±0.028 0.179±0.038",
	"0.279±0.022 0.192±0.017 0.155±0.008 0.139±0.019",
	"0.196±0.010 0.139±0.009 0.114±0.007 0.100±0.007",
	"0.181±0.008 0.132±0.009 0.107±0.004 0.092±0.003",
	"0.559±0.025 0.546±0.018 0.544±0.018 0.541±0.004",
	"0.495±0.024 0.485±0.010 0.479±0.013 0.482±0.008",
	"0.469±0.020 0.452±0.017 0.445±0.011 0.434±0.012",
}

// lopezDistortions are the distortions that LS18 prints: a row for every D of CIFAR-10, ISOLET and STL-10, a
// column for every method. On STL-10 φ + RP has 0: that it was counted as the best there follows from
// the paper's p-values, by which its mean rank is 1.
func lopezDistortions() [][]float64 {
	var all [][]float64
	add := func(methods [][]Figure) {
		for j := range methods[len(methods)-1] {
			var scores []float64
			for _, m := range methods {
				v := 0.0
				if m != nil {
					v = m[j].Mean
				}
				scores = append(scores, v)
			}
			all = append(all, scores)
		}
	}
	for _, t := range lopez2018() {
		var methods [][]Figure
		for _, row := range t.Rows {
			methods = append(methods, row.Theirs)
		}
		add(methods)
	}
	stl := [][]Figure{nil}
	for _, text := range lopezSTL {
		stl = append(stl, figures(text))
	}
	add(stl)
	return all
}

// lopezTests is LS18's and LS19's table of tests over their tables of distortions. It takes no data but the
// figures printed in these.
func lopezTests() *Table {
	t := &Table{
		Name:   "LS19-3.4",
		Title:  "Tests of the other methods against φ + RP, over the printed distortions",
		Source: "López-Sánchez 2019 (thesis), table 3.4 (LS18's table 4), and Friedman's test, which is in its text",
		Protocol: "Both are computed from the distortions that LS18 prints of CIFAR-10, ISOLET and STL-10, four D " +
			"each, φ + RP being the best on STL-10, where it could not be computed. " +
			"Friedman's χ² of the eight methods is 80.805 there, 80.806 here. The p-values of the comparisons with φ " +
			"+ RP are those of the normal distribution; the paper cuts digits off in place of rounding.",
		Corner: "p-values", Columns: []string{"unadjusted", "Bonferroni-Dunn", "Holm", "Hochberg"},
		Certain: true, Digits: true, Cost: 0.1,
	}
	printed := []struct {
		name, theirs string
		method       int // column of lopezDistortions
	}{
		{"all methods alike (Friedman)", "4.3258e-11 - - -", 0},
		{"KG-RP, m = 3√n", "4.62394e-12 3.23676e-11 3.23676e-11 3.23676e-11", 5},
		{"KG-RP, m = 6√n", "5.43308e-9 3.80316e-8 3.25985e-8 3.25985e-5", 6},
		{"KG-RP, m = 9√n", "3.06125e-6 2.142877e-5 1.53062e-5 1.53062e-5", 7},
		{"D2PK-RP, t = 1", "6.79534e-6 4.75674e-5 2.71813e-5 2.71813e-5", 1},
		{"D2PK-RP, t = 2", "0.00204 0.014328 0.00614 0.00614", 2},
		{"D2PK-RP, t = 10", "0.04550 0.31850 0.09100 0.09100", 3},
		{"D2PK-RP, t = 30", "0.31731 2.22117 0.31731 0.31731", 4},
	}
	for _, p := range printed {
		t.Rows = append(t.Rows, Row{p.name, figures(p.theirs)})
	}
	t.open = drawn(func(_ context.Context, i int, _ uint64, _ bool) ([]float64, error) {
		f, err := hypothesis.Friedman(lopezDistortions(), false)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(printed[i].name, "(Friedman)") {
			return []float64{f.P, f.P, f.P, f.P}, nil // one test: nothing to adjust
		}
		var p []float64
		for method := 1; method < f.Methods; method++ {
			_, v := f.Compare(0, method)
			p = append(p, v)
		}
		m := printed[i].method - 1
		return []float64{p[m], hypothesis.Bonferroni(p)[m], hypothesis.Holm(p)[m], hypothesis.Hochberg(p)[m]}, nil
	})
	return t
}
