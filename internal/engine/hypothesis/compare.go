package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Table has the scores of methods on data sets.
type Table struct {
	Methods []string
	Scores  [][]float64 // a row a data set, a column a method
}

// CompareOptions say how methods are compared.
type CompareOptions struct {
	Lower   bool    // smaller scores are better, as of errors and times
	Alpha   float64 // the level of significance; 0 means 0.05
	Control string  // the method that all others are compared with; "" compares all pairs
}

// Comparison is what the tests say of all methods, and of each pair. Its JSON is what the command ranks
// of research prints.
type Comparison struct {
	DataSets int          `json:"data_sets"`
	Better   string       `json:"better"` // "higher" or "lower"
	Alpha    float64      `json:"alpha"`
	Methods  []MethodRank `json:"methods"` // the best first

	Friedman struct {
		ChiSquare float64 `json:"chi_square"`
		DF        int     `json:"df"`
		P         float64 `json:"p"`
	} `json:"friedman"`
	ImanDavenport struct {
		F   *float64 `json:"f"` // null where all data sets rank alike
		DF1 int      `json:"df1"`
		DF2 int      `json:"df2"`
		P   float64  `json:"p"`
	} `json:"iman_davenport"`

	// CriticalDifference is Nemenyi's, or with a control that of Bonferroni and Dunn.
	CriticalDifference float64     `json:"critical_difference"`
	Groups             [][]string  `json:"groups,omitempty"` // methods that do not differ, see [Groups]
	Control            string      `json:"control,omitempty"`
	Comparisons        []Pair      `json:"comparisons"`
	Two                *TwoMethods `json:"two_methods,omitempty"` // nil of three or more
}

// MethodRank is a method with its mean rank and mean score.
type MethodRank struct {
	Method    string  `json:"method"`
	MeanRank  float64 `json:"mean_rank"`
	MeanScore float64 `json:"mean_score"`
}

// Pair compares two methods; what does not apply is nil.
type Pair struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Z        float64  `json:"z"`
	P        float64  `json:"p"`
	Nemenyi  *float64 `json:"nemenyi,omitempty"`
	Shaffer  *float64 `json:"shaffer,omitempty"`
	Dunn     *float64 `json:"bonferroni_dunn,omitempty"`
	Holm     float64  `json:"holm"`
	Hochberg *float64 `json:"hochberg,omitempty"`

	// Wilcoxon is the p of the signed-rank test, 1 where all scores are equal, and WilcoxonHolm the adjusted one.
	Wilcoxon     float64 `json:"wilcoxon"`
	WilcoxonHolm float64 `json:"wilcoxon_holm"`
}

// TwoMethods are the tests of two methods alone.
type TwoMethods struct {
	Wins   int     `json:"wins"`   // of the first
	Losses int     `json:"losses"` // of the first
	Ties   int     `json:"ties"`
	Sign   float64 `json:"sign_p"`
}

// Compare runs Friedman's test on a table and the comparisons that follow it: of all pairs, adjusted by
// Nemenyi, Holm and Shaffer, or of a control with each other method, adjusted by Bonferroni and Dunn,
// Holm and Hochberg. It fails as [Friedman] does, and for a control that is no method.
func Compare(t Table, opt CompareOptions) (*Comparison, error) {
	if opt.Alpha == 0 {
		opt.Alpha = 0.05
	}
	if !(opt.Alpha > 0 && opt.Alpha < 1) {
		return nil, fmt.Errorf("rank: alpha is %g; it must be a number between 0 and 1", opt.Alpha)
	}
	control := -1
	if opt.Control != "" {
		if control = slices.Index(t.Methods, opt.Control); control < 0 {
			return nil, fmt.Errorf("rank: the control %q is no method of the table", opt.Control)
		}
	}
	test, err := Friedman(t.Scores, !opt.Lower)
	if err != nil {
		return nil, err
	}
	if test.Methods != len(t.Methods) {
		return nil, errors.New("rank: the table has not as many names of methods as columns")
	}
	out := summary(t, test, opt)
	order := Order(test.Ranks)
	var pairs [][2]int // the methods of each comparison
	if control >= 0 {
		out.CriticalDifference = test.DunnDifference(opt.Alpha)
		for _, j := range order {
			if j != control {
				pairs = append(pairs, [2]int{control, j})
			}
		}
	} else {
		for i, a := range order {
			for _, b := range order[i+1:] {
				pairs = append(pairs, [2]int{a, b})
			}
		}
		for _, g := range Groups(test.Ranks, out.CriticalDifference) {
			var names []string
			for _, j := range g {
				names = append(names, t.Methods[j])
			}
			out.Groups = append(out.Groups, names)
		}
	}
	out.Comparisons = compared(t, test, pairs, control >= 0)
	if test.Methods == 2 {
		out.Two = ofTwo(t, order, opt.Lower)
	}
	return out, nil
}

// summary is what a comparison says of all methods together.
func summary(t Table, test *FriedmanTest, opt CompareOptions) *Comparison {
	out := &Comparison{DataSets: test.DataSets, Better: "higher", Alpha: opt.Alpha, Control: opt.Control}
	if opt.Lower {
		out.Better = "lower"
	}
	for _, j := range Order(test.Ranks) {
		mean := 0.0
		for _, row := range t.Scores {
			mean += row[j] / float64(len(t.Scores))
		}
		out.Methods = append(out.Methods, MethodRank{Method: t.Methods[j], MeanRank: test.Ranks[j], MeanScore: mean})
	}
	out.Friedman.ChiSquare, out.Friedman.DF, out.Friedman.P = test.ChiSquare, test.DF, test.P
	if !math.IsInf(test.F, 0) {
		out.ImanDavenport.F = &test.F
	}
	out.ImanDavenport.DF1, out.ImanDavenport.DF2, out.ImanDavenport.P = test.DF, test.FDF, test.FP
	out.CriticalDifference = test.NemenyiDifference(opt.Alpha)
	return out
}

// compared are the tests of pairs of methods, adjusted for all of these pairs; with a control the first of
// each is the control.
func compared(t Table, test *FriedmanTest, pairs [][2]int, control bool) []Pair {
	list := make([]Pair, len(pairs))
	p, w := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, pair := range pairs {
		a, b := pair[0], pair[1]
		z, tail := test.Compare(a, b)
		list[i] = Pair{A: t.Methods[a], B: t.Methods[b], Z: z, P: tail, Wilcoxon: 1}
		d := make([]float64, len(t.Scores))
		for r, row := range t.Scores {
			d[r] = row[a] - row[b]
		}
		// Its one error here is that all scores are equal.
		if signed, err := Wilcoxon(d, DropZeros); err == nil {
			list[i].Wilcoxon = signed.P
		}
		p[i], w[i] = list[i].P, list[i].Wilcoxon
	}
	holm, wilcoxon := Holm(p), Holm(w)
	dunn, hochberg, shaffer := []float64(nil), []float64(nil), []float64(nil)
	if control {
		dunn, hochberg = Bonferroni(p), Hochberg(p)
	} else {
		shaffer = Shaffer(p, test.Methods)
	}
	for i := range list {
		c := &list[i]
		c.Holm, c.WilcoxonHolm = holm[i], wilcoxon[i]
		if control {
			c.Dunn, c.Hochberg = &dunn[i], &hochberg[i]
		} else {
			nemenyi := test.Nemenyi(pairs[i][0], pairs[i][1])
			c.Nemenyi, c.Shaffer = &nemenyi, &shaffer[i]
		}
	}
	return list
}

// ofTwo counts on how many data sets the first of two methods, by the order of their ranks, is the better.
func ofTwo(t Table, order []int, lower bool) *TwoMethods {
	two := &TwoMethods{}
	for _, row := range t.Scores {
		a, b := row[order[0]], row[order[1]]
		if lower {
			a, b = b, a
		}
		switch {
		case a > b:
			two.Wins++
		case a < b:
			two.Losses++
		default:
			two.Ties++
		}
	}
	two.Sign = Sign(two.Wins, two.Losses)
	return two
}
