package reduce

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"mercer/internal/solve/moments"
	"mercer/matrix"
)

// classStatistics are statistics of rows of classes.
func classStatistics(x *matrix.Dense, class []int, classes int) *moments.Stats {
	k := classes
	if classes == 2 {
		k = 1
	}
	y := make([]float64, x.Rows*k)
	for i, c := range class {
		for t := range k {
			y[i*k+t] = -1
			if c == t && k > 1 || c == 1 && k == 1 {
				y[i*k+t] = 1
			}
		}
	}
	s := moments.New(x.Cols, k)
	s.Add(x, y, nil)
	return s
}

// TestDiscriminantsMatchScipy: directions and ratios are those of scipy.linalg.eigh, without shrinkage also of scikit-learn
// (../internal/solve/learn/testdata/lda.py).
func TestDiscriminantsMatchScipy(t *testing.T) {
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
			Ratios, U []float64
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
		x := &matrix.Dense{Rows: n, Cols: d, Stride: d, Data: want.X}
		opt := LDA{Shrinkage: f.Shrinkage, Given: true}
		if f.Chosen {
			opt = LDA{}
		}
		p, r, err := opt.Fit(t.Context(), classStatistics(x, class, f.Classes).Moments())
		if err != nil {
			t.Fatal(err)
		}
		if r.Components != f.Classes-1 || math.Abs(r.Shrinkage-f.Shrinkage) > 1e-9 || !r.Discriminants() || r.Share < 1-1e-9 {
			t.Fatalf("%+v, want %d discriminants by a shrinkage of %g", r, f.Classes-1, f.Shrinkage)
		}
		for c, ratio := range f.Ratios {
			if math.Abs(r.Variances[c]-ratio) > 1e-6*ratio {
				t.Errorf("%d classes, shrinkage %g: ratio %d is %g, scipy's %g", f.Classes, f.Shrinkage, c, r.Variances[c], ratio)
			}
			u, ref := p.Component(c), f.U[c*d:(c+1)*d]
			sign := 1.0
			if u[0]*ref[0] < 0 {
				sign = -1
			}
			for i := range u {
				if math.Abs(u[i]-sign*ref[i]) > 1e-5 {
					t.Fatalf("%d classes, shrinkage %g: discriminant %d is %v, scipy's %v", f.Classes, f.Shrinkage, c, u, ref)
				}
			}
		}
		if f.Classes == 3 {
			one, r, err := LDA{Components: 1, Shrinkage: opt.Shrinkage, Given: opt.Given}.Fit(t.Context(), classStatistics(x, class, 3).Moments())
			if err != nil || r.Components != 1 || one.Component(0)[1] != p.Component(0)[1] ||
				math.Abs(r.Share-f.Ratios[0]/(f.Ratios[0]+f.Ratios[1])) > 1e-6 {
				t.Errorf("the first discriminant alone: %+v, %v", r, err)
			}
		}
	}
}

// TestDiscriminantsRefuse: errors say what is wrong; more discriminants than there are are reported.
func TestDiscriminantsRefuse(t *testing.T) {
	x := matrix.NewDense(8, 3)
	class := make([]int, 8)
	for i := range 8 {
		x.Row(i)[0], x.Row(i)[1] = float32(i%3), float32(i*i%5)
		class[i] = i % 2
	}
	m := classStatistics(x, class, 2).Moments
	if _, _, err := (LDA{Given: true}).Fit(t.Context(), m()); err == nil || !strings.Contains(err.Error(), "has no inverse") {
		t.Errorf("a constant feature without shrinkage: %v", err)
	}
	if _, _, err := (LDA{Shrinkage: -1}).Fit(t.Context(), m()); err == nil || !strings.Contains(err.Error(), "from 0 to 1") {
		t.Errorf("shrinkage -1: %v", err)
	}
	if _, r, err := (LDA{Components: 4}).Fit(t.Context(), m()); err != nil || r.Components != 1 || r.Asked != 4 || !strings.Contains(r.Lines()[0], "no more than classes") {
		t.Errorf("four discriminants of two classes: %+v, %v", r, err)
	}
	same := matrix.NewDense(4, 2)
	for i := range 4 {
		same.Row(i)[0] = float32(i / 2)
	}
	if _, _, err := (LDA{}).Fit(t.Context(), classStatistics(same, []int{0, 1, 0, 1}, 2).Moments()); err == nil || !strings.Contains(err.Error(), "same means") {
		t.Errorf("equal means: %v", err)
	}
}
