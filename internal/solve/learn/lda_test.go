package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// statisticsOf are statistics of rows of classes, with weights if w is not nil.
func statisticsOf(x *matrix.Dense, class []int, classes int, w []float64) *moments.Stats {
	k := TargetColumns(classes)
	y := make([]float64, x.Rows*k)
	for i, c := range class {
		Target(y[i*k:(i+1)*k], c)
	}
	s := moments.New(x.Cols, k)
	s.Add(x, y, w)
	return s
}

// TestLDAMatchesScikitLearn: weights, intercepts, probabilities and the chosen shrinkage are those of scikit-learn (testdata/lda.py),
// also from statistics that were merged from two parts.
func TestLDAMatchesScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/lda.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		X    []float32
		Y    []int
		Fits []struct {
			Classes   int
			Shrinkage float64
			Chosen    bool
			Priors    []float64
			W, B, P   []float64
		}
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	n := len(want.Y)
	d := len(want.X) / n
	for _, f := range want.Fits {
		class := make([]int, n)
		for i, c := range want.Y {
			class[i] = min(c, f.Classes-1)
		}
		opt := LDA{Shrinkage: f.Shrinkage, Given: true, Priors: f.Priors}
		if f.Chosen {
			opt.Shrinkage, opt.Given = 0, false
		}
		x := &matrix.Dense{Rows: n, Cols: d, Stride: d, Data: want.X}
		const first = 31
		a := &matrix.Dense{Rows: first, Cols: d, Stride: d, Data: want.X[:first*d]}
		b := &matrix.Dense{Rows: n - first, Cols: d, Stride: d, Data: want.X[first*d:]}
		merged := statisticsOf(a, class[:first], f.Classes, nil)
		merged.Merge(statisticsOf(b, class[first:], f.Classes, nil))
		for name, s := range map[string]*moments.Stats{"whole": statisticsOf(x, class, f.Classes, nil), "merged": merged} {
			t.Run(fmt.Sprintf("%d-%.3g-%v-%s", f.Classes, f.Shrinkage, f.Priors, name), func(t *testing.T) {
				l, r, err := FitLDA(t.Context(), s, opt)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(r.Shrinkage-f.Shrinkage) > 1e-9 {
					t.Errorf("shrinkage %.12g, scikit-learn's %.12g", r.Shrinkage, f.Shrinkage)
				}
				outputs := TargetColumns(f.Classes)
				// Ours are relative to the mean row, which all classes share.
				for i := range d {
					for c := range outputs {
						got, ref := float64(l.W.Row(i)[c]), f.W[i*outputs+c]
						if outputs > 1 {
							got, ref = got-float64(l.W.Row(i)[0]), ref-f.W[i*outputs]
						}
						if math.Abs(got-ref) > 1e-4*(1+math.Abs(ref)) {
							t.Fatalf("weight %d of class %d: %g, scikit-learn's %g", i, c, got, ref)
						}
					}
				}
				const rows = 10
				scores := matrix.NewDense(rows, outputs)
				l.Scores(scores, matrix.Rows{Dense: &matrix.Dense{Rows: rows, Cols: d, Stride: d, Data: want.X[:rows*d]}})
				p := make([]float64, f.Classes)
				for i := range rows {
					Probabilities(p, scores.Row(i), true)
					for c, v := range p {
						if ref := f.P[i*f.Classes+c]; math.Abs(v-ref) > 2e-4 {
							t.Fatalf("row %d, class %d: probability %g, scikit-learn's %g", i, c, v, ref)
						}
					}
				}
			})
		}
	}
}

// TestLDAOfNormalClassesIsBayes: of normal classes at distance Δ with one covariance it errs on Φ(-Δ/2) of fresh rows, as the best
// rule does, and its mean probability of a class is the share of the class.
func TestLDAOfNormalClassesIsBayes(t *testing.T) {
	const d, n, delta = 4, 20_000, 2.0
	s := random.New(3, "lda-normal")
	draw := func() (*matrix.Dense, []int) {
		x, class := matrix.NewDense(n, d), make([]int, n)
		for i := range n {
			class[i] = int(3 * s.Uniform() / 2) // two thirds are of class 0
			row := x.Row(i)
			shared := s.Normal()
			for j := range row {
				row[j] = float32(3 + shared + s.Normal())
			}
			// (1, -1, 0, …) has variance 2 within classes, so that the means are delta apart.
			row[0] += float32(float64(class[i]) * delta / math.Sqrt2)
			row[1] -= float32(float64(class[i]) * delta / math.Sqrt2)
		}
		return x, class
	}
	x, class := draw()
	weight := []float64{0.5, 1} // so that both classes weigh the same
	weights := make([]float64, n)
	for i, c := range class {
		weights[i] = weight[c]
	}
	l, r, err := FitLDA(t.Context(), statisticsOf(x, class, 2, weights), LDA{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Priors[0]-0.5) > 5*0.5/math.Sqrt(n) {
		t.Errorf("priors %v of classes that weigh the same", r.Priors)
	}
	x, class = draw()
	scores := matrix.NewDense(n, 1)
	l.Scores(scores, matrix.Rows{Dense: x})
	wrong, mass, p := 0.0, 0.0, make([]float64, 2)
	for i, c := range class {
		if (scores.Row(i)[0] > 0) != (c == 1) {
			wrong += weight[c]
		}
		Probabilities(p, scores.Row(i), true)
		mass += weight[c] * (p[1] - float64(c))
	}
	const total = n * 2.0 / 3 // of the weights
	want := 0.5 * math.Erfc(delta/2/math.Sqrt2)
	if se := math.Sqrt(want * (1 - want) / total); math.Abs(wrong/total-want) > 5*se {
		t.Errorf("error %.4f, of the best rule %.4f ± %.4f", wrong/total, want, se)
	}
	if se := 0.5 / math.Sqrt(total); math.Abs(mass/total) > 5*se {
		t.Errorf("the mean probability differs by %.4f from the share of the class, ± %.4f", mass/total, se)
	}
}

// TestLDARefuses: errors say what is wrong.
func TestLDARefuses(t *testing.T) {
	x := matrix.NewDense(6, 2)
	for i := range 6 {
		x.Row(i)[0] = float32(i % 3)
	}
	class := []int{0, 1, 0, 1, 1, 0}
	for want, f := range map[string]func() (*Linear, *LDAReport, error){
		"has no inverse": func() (*Linear, *LDAReport, error) {
			return FitLDA(t.Context(), statisticsOf(x, class, 2, nil), LDA{Given: true})
		},
		"from 0 to 1": func() (*Linear, *LDAReport, error) {
			return FitLDA(t.Context(), statisticsOf(x, class, 2, nil), LDA{Shrinkage: 2})
		},
		"add up to 0.9": func() (*Linear, *LDAReport, error) {
			return FitLDA(t.Context(), statisticsOf(x, class, 2, nil), LDA{Priors: []float64{.5, .4}})
		},
		"3 priors": func() (*Linear, *LDAReport, error) {
			return FitLDA(t.Context(), statisticsOf(x, class, 2, nil), LDA{Priors: []float64{.5, .3, .2}})
		},
		"class 3 of 3":    func() (*Linear, *LDAReport, error) { return FitLDA(t.Context(), statisticsOf(x, class, 3, nil), LDA{}) },
		"no rows to find": func() (*Linear, *LDAReport, error) { return FitLDA(t.Context(), moments.New(2, 1), LDA{}) },
	} {
		if _, _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}
