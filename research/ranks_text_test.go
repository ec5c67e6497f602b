package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mercer/internal/engine/hypothesis"
)

func someRanks(names []string, control string) *hypothesis.Comparison {
	out := &hypothesis.Comparison{DataSets: 12, Better: "higher", Alpha: 0.05, CriticalDifference: 0.957, Control: control}
	out.Friedman.ChiSquare, out.Friedman.DF, out.Friedman.P = 12.5, len(names)-1, 0.002
	out.ImanDavenport.F, out.ImanDavenport.DF1, out.ImanDavenport.DF2, out.ImanDavenport.P = of(11.9), len(names)-1, 11*(len(names)-1), 0.0003
	for i, name := range names {
		out.Methods = append(out.Methods, hypothesis.MethodRank{Method: name, MeanRank: 1 + float64(i)*0.8, MeanScore: 90 - float64(i)})
		for _, other := range names[i+1:] {
			c := hypothesis.Pair{A: name, B: other, Z: -1.96, P: 0.05, Holm: 0.1, Wilcoxon: 0.04, WilcoxonHolm: 0.12}
			if control != "" {
				c.Dunn, c.Hochberg = of(0.1), of(0.09)
				if name != control {
					continue
				}
			} else {
				c.Nemenyi, c.Shaffer = of(0.11), of(0.08)
			}
			out.Comparisons = append(out.Comparisons, c)
		}
	}
	if control == "" {
		out.Groups = [][]string{names[:2]}
	}
	return out
}

func TestRanksText(t *testing.T) {
	two := someRanks([]string{"a", "b"}, "")
	two.Two = &hypothesis.TwoMethods{Wins: 8, Losses: 3, Ties: 1, Sign: 0.23}
	alike := someRanks([]string{"a", "b", "c"}, "")
	alike.ImanDavenport.F, alike.Friedman.P, alike.ImanDavenport.P, alike.DataSets = nil, 0.4, 0.5, 5
	for name, out := range map[string]*hypothesis.Comparison{"ranks": someRanks([]string{"exact", "rff", "linear"}, ""),
		"ranks-control": someRanks([]string{"exact", "rff", "linear"}, "exact"),
		"ranks-two":     two, "ranks-alike": alike, "ranks-hostile": someRanks(hostile(9), ""), "ranks-many": someRanks(hostile(30), "")} {
		goldenText(t, name, func(w *bytes.Buffer) { ranksText(w, out, "scores.csv") })
		goldenPage(t, name, ranksPage(out, "scores.csv"))
	}
	goldenJSON(t, "ranks", two)
}

// hostile are names that files have and tables must bear: very long, empty, with markup, controls, right-to-left and wide letters.
func hostile(n int) []string {
	list := []string{strings.Repeat("a very long name ", 60), "",
		"<script>alert('x')</script> & co", "tab\tand\nline", "שלום", "汉字汉字",
		strings.Repeat("x", 3000), "%s %d", "a,b;\"c\""}
	for len(list) < n {
		list = append(list, fmt.Sprintf("class %d", len(list)))
	}
	return list[:n]
}

func of[T any](v T) *T { return &v }
