package learn

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"mercer/matrix"
)

// TestLogisticIsScikitLearns compares with testdata/multinomial.json, which multinomial.py wrote.
func TestLogisticIsScikitLearns(t *testing.T) {
	text, err := os.ReadFile("testdata/multinomial.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		X       []float32 `json:"x"`
		Y       []int     `json:"y"`
		Weights []float64 `json:"weights"`
		Fits    []struct {
			C         float64   `json:"c"`
			Intercept bool      `json:"intercept"`
			Weighted  bool      `json:"weighted"`
			Classes   int       `json:"classes"`
			W         []float64 `json:"w"`
			B         []float64 `json:"b"`
			P         []float64 `json:"p"`
		} `json:"fits"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	z := &matrix.Dense{Rows: len(r.Y), Cols: 4, Stride: 4, Data: r.X}
	for _, f := range r.Fits {
		class := make([]int, len(r.Y))
		for i, y := range r.Y {
			class[i] = min(y, f.Classes-1)
		}
		var weights []float64
		if f.Weighted {
			weights = r.Weights
		}
		l, report, err := FitPrimal(context.Background(), InMemory(matrix.Rows{Dense: z}), class, f.Classes, weights,
			Primal{Loss: "multinomial", C: f.C, NoIntercept: !f.Intercept, Tolerance: 3e-6})
		if err != nil {
			t.Fatal(err)
		}
		// Softmax does not see what all intercepts have in common.
		mean := 0.0
		for _, b := range l.B {
			mean += b / float64(len(l.B))
		}
		if f.Classes == 2 {
			mean = 0
		}
		for k, b := range l.B {
			if f.Intercept && math.Abs(b-mean-f.B[k]) > 1e-3*max(1, math.Abs(f.B[k])) {
				t.Errorf("%d classes, C = %g: intercept %d is %g, want %g", f.Classes, f.C, k, b-mean, f.B[k])
			}
		}
		for i, w := range l.W.Data {
			if math.Abs(float64(w)-f.W[i]) > 1e-3*max(0.1, math.Abs(f.W[i])) {
				t.Errorf("%d classes, C = %g, weighted %t: weight %d is %g, want %g (%+v)", f.Classes, f.C, f.Weighted, i, w, f.W[i], report)
			}
		}
		scores := matrix.NewDense(10, l.W.Cols)
		l.Scores(scores, matrix.Rows{Dense: z.Slice(0, 10)})
		p := make([]float64, f.Classes)
		for i := range 10 {
			Probabilities(p, scores.Row(i), true)
			for k, v := range p {
				if math.Abs(v-f.P[i*f.Classes+k]) > 1e-3 {
					t.Errorf("%d classes, C = %g: row %d is of class %d with probability %g, want %g", f.Classes, f.C, i, k, v, f.P[i*f.Classes+k])
				}
			}
		}
	}
}

func TestProbabilitiesAddUpToOne(t *testing.T) {
	for _, c := range []struct {
		scores []float32
		joint  bool
		want   []float64
	}{
		{[]float32{0}, false, []float64{0.5, 0.5}},
		{[]float32{float32(math.Log(3))}, false, []float64{0.25, 0.75}},
		{[]float32{-2000}, true, []float64{1, 0}},
		{[]float32{0, float32(math.Log(2)), 0}, true, []float64{0.25, 0.5, 0.25}},
		{[]float32{0, float32(math.Log(3)), 0}, false, []float64{2. / 7, 3. / 7, 2. / 7}},
		{[]float32{-3e38, -3e38, -3e38}, true, []float64{1. / 3, 1. / 3, 1. / 3}},
		{[]float32{-2000, -2000, -3000}, false, []float64{0.5, 0.5, 0}},
		{[]float32{3e38, -3e38}, false, []float64{1, 0}},
	} {
		got := make([]float64, len(c.want))
		Probabilities(got, c.scores, c.joint)
		for k, p := range got {
			if math.Abs(p-c.want[k]) > 1e-7 {
				t.Errorf("%v, joint %t: %v, want %v", c.scores, c.joint, got, c.want)
				break
			}
		}
	}
}

func TestChosenCIsTheBestOfItsPath(t *testing.T) {
	z, class := blobs(11, 900, 60, 3)
	for i := 0; i < len(class); i += 4 { // wrong classes, to which a large C fits the weights
		class[i] = (class[i] + 1) % 3
	}
	rows := matrix.Rows{Dense: z}
	ctx := context.Background()
	for _, loss := range []string{"logistic", "multinomial", "squared_hinge"} {
		c, path, err := ChoosePrimalC(ctx, InMemory(rows), class, 3, nil, Primal{Loss: loss}, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, same, err := ChoosePrimalC(ctx, &fileLike{rows: rows}, class, 3, nil, Primal{Loss: loss}, 1)
		if err != nil || again != c || !slices.Equal(path, same) {
			t.Errorf("%s: %g from memory, %g from a file, %v", loss, c, again, err)
		}
		checkPath(t, loss, c, path, loss != "squared_hinge")
		if loss != "squared_hinge" && (c < 0.001 || c > 0.1) {
			t.Errorf("%s: C = %g of classes that overlap: %+v", loss, c, path)
		}
	}
	for _, loss := range []string{"logistic", "squared_hinge"} {
		c, path, err := ChooseL1C(ctx, InMemory(matrix.Rows{CSR: toCSR(z)}), class, 3, nil, L1{Loss: loss})
		if err != nil {
			t.Fatal(err)
		}
		checkPath(t, loss, c, path, loss == "logistic")
		if first := path[0].NonZero; first == 0 || first > 40 {
			t.Errorf("%s: %d weights at the smallest C", loss, first)
		}
		for i := 1; i < len(path); i++ {
			if path[i].NonZero < path[i-1].NonZero {
				t.Errorf("%s: a larger C has fewer weights: %+v", loss, path)
			}
		}
	}
	if c, path, err := ChoosePrimalC(ctx, InMemory(rows.Slice(0, 99)), class[:99], 3, nil, Primal{}, 1); c != 1 || path != nil || err != nil {
		t.Errorf("of 99 rows: %g, %v, %v", c, path, err)
	}
}

func checkPath(t *testing.T, loss string, c float64, path []Trial, probable bool) {
	t.Helper()
	chosen := 0
	for _, p := range path {
		if p.Chosen {
			chosen++
			for _, q := range path {
				// A larger C has to bring one hundredth, a smaller one may cost nothing.
				gain := q.Error / p.Error
				if probable {
					gain = q.LogLoss / p.LogLoss
				}
				if gain < 0.99 || q.C < c && gain < 1.0001 || p.C != c {
					t.Errorf("%s: chose %g of %+v", loss, c, path)
				}
			}
		}
	}
	if chosen != 1 {
		t.Errorf("%s: %d were chosen of %+v", loss, chosen, path)
	}
}

// A third of the rows judge, others are fitted on, and those of weight 0 are neither.
func TestTrialsJudgeOnRowsThatWereNotFittedOn(t *testing.T) {
	const n = 3000
	z := matrix.NewDense(n, 1)
	class := make([]int, n)
	weights := make([]float64, n)
	for i := range n {
		z.Row(i)[0] = float32(i)
		class[i] = i % 7
		weights[i] = float64(i % 5)
	}
	s, err := sampled(context.Background(), InMemory(matrix.Rows{Dense: z}), class, weights, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.rows.Len() != 1400 || s.held.Len() != 1000 { // of 2,400 rows whose weight is not 0
		t.Errorf("%d fitted on, %d held out", s.rows.Len(), s.held.Len())
	}
	seen := map[int]bool{}
	check := func(rows matrix.Rows, classes []int, of []float64) {
		for r := range rows.Len() {
			i := int(rows.Dense.Row(r)[0])
			if seen[i] || weights[i] == 0 || classes[r] != class[i] || of[r] != weights[i] {
				t.Fatalf("row %d: seen %t, class %d, weight %g", i, seen[i], classes[r], of[r])
			}
			seen[i] = true
		}
	}
	check(s.rows, s.class, s.weights)
	check(s.held, s.heldClass, s.heldWeights)
}
