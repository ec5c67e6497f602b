package learn

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"mercer/matrix"
)

// TestSVMAgreesWithIndependentSolvers compares with testdata/svm.json, which svm.py wrote.
func TestSVMAgreesWithIndependentSolvers(t *testing.T) {
	text, err := os.ReadFile("testdata/svm.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		X       []float32            `json:"x"`
		Y       []int                `json:"y"`
		Squared map[string][]float64 `json:"squared_hinge"`
		Hinge   map[string]struct {
			W         []float64 `json:"w"`
			B         float64   `json:"b"`
			Objective float64   `json:"objective"`
		} `json:"hinge"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	z := &matrix.Dense{Rows: len(r.Y), Cols: 4, Stride: 4, Data: r.X}
	class := make([]int, len(r.Y))
	for i, y := range r.Y {
		class[i] = (y + 1) / 2
	}
	fit := func(c, loss string) *Linear {
		v, err := strconv.ParseFloat(c, 64)
		if err != nil {
			t.Fatal(err)
		}
		l, report, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil,
			SVM{C: v, Loss: loss, Tolerance: 1e-6, MaxIter: 200_000})
		if err != nil || !report.Converged {
			t.Fatalf("C = %s, %s: %+v, %v", c, loss, report, err)
		}
		return l
	}
	for c, want := range r.Squared {
		l := fit(c, "squared_hinge")
		for j, w := range append(append([]float32(nil), l.W.Data...), float32(l.B[0])) {
			if math.Abs(float64(w)-want[j]) > 1e-3*math.Max(1, math.Abs(want[j])) {
				t.Errorf("squared hinge, C = %s: weight %d is %g, want %g", c, j, w, want[j])
			}
		}
	}
	for c, want := range r.Hinge {
		v, _ := strconv.ParseFloat(c, 64)
		got, _ := primal(fit(c, "hinge"), z, class, nil, 0, 1, v, false)
		// LIBLINEAR penalises its intercept a little, so it may be above the optimum.
		if got > want.Objective*1.0001 || got < want.Objective*0.98 {
			t.Errorf("hinge, C = %s: objective %g, LIBLINEAR's %g", c, got, want.Objective)
		}
	}
}

func TestChooseCTakesTheBetterC(t *testing.T) {
	z, class := blobs(7, 900, 6, 3)
	for i := range z.Data {
		z.Data[i] *= 0.01 // small rows need a large C
	}
	c, path, err := ChooseC(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, SVM{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c < 10 {
		t.Errorf("chose C = %g for rows of norm 0.02: %+v", c, path)
	}
	chosen := CPoint{}
	for _, p := range path {
		if p.Chosen {
			chosen = p
		}
	}
	if chosen.C != c {
		t.Errorf("C = %g is not marked in %+v", c, path)
	}
	for _, p := range path {
		if p.Error < minGain*chosen.Error {
			t.Errorf("C = %g errs much less than the chosen: %+v", p.C, path)
		}
	}
	again, _, _ := ChooseC(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 3, nil, SVM{Seed: 1})
	if again != c {
		t.Errorf("once %g, once %g", c, again)
	}
	few, path, err := ChooseC(context.Background(), InMemory(matrix.Rows{Dense: z.Slice(0, 50)}), class[:50], 3, nil, SVM{})
	if few != 10 || path != nil || err != nil {
		t.Errorf("of 50 rows: %g, %+v, %v", few, path, err)
	}
}

func BenchmarkSVM(b *testing.B) {
	z, class := blobs(1, 5000, 512, 10)
	for b.Loop() {
		if _, _, err := FitSVM(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 10, nil, SVM{C: 0.01}); err != nil {
			b.Fatal(err)
		}
	}
}
