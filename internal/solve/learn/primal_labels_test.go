package learn

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// labelled are rows with three labels that depend on them, one that all rows of weight above 0 have
// and one that none has.
func labelled(n, d int) (z *matrix.Dense, y, weights []float64) {
	s := random.New(3, "labelled")
	z = matrix.NewDense(n, d)
	for i := range n {
		row := z.Row(i)
		for j := range row {
			row[j] = float32(s.Normal())
		}
		w := float64(i % 4) // 0 too
		weights = append(weights, w)
		for t := range 3 {
			if float64(row[t]+row[3]/2)+0.7*s.Normal() > 0.5*float64(t) {
				y = append(y, 1)
			} else {
				y = append(y, -1)
			}
		}
		if w == 0 {
			y = append(y, -1, 1)
		} else {
			y = append(y, 1, -1)
		}
	}
	return z, y, weights
}

func TestLabelsAreLogisticRegressionsOfTwoClasses(t *testing.T) {
	const n, d, labels = 700, 6, 5
	dense, y, weights := labelled(n, d)
	for name, rows := range map[string]matrix.Rows{"dense": {Dense: dense}, "sparse": {CSR: toCSR(dense)}} {
		z, opt := InMemory(rows), Primal{C: 0.8, Tolerance: 1e-4}
		got, report, err := FitPrimalLabels(context.Background(), z, y, labels, weights, opt)
		if err != nil {
			t.Fatal(err)
		}
		if report.Loss != "logistic" || !report.Converged || len(report.Objective) != labels {
			t.Errorf("%s: %+v", name, report)
		}
		for l := range 3 {
			class := make([]int, n)
			for i := range class {
				class[i] = int(1+y[i*labels+l]) / 2
			}
			want, one, err := FitPrimal(context.Background(), z, class, 2, weights, opt)
			if err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(got.B[l] - want.B[0]); d > 1e-4 {
				t.Errorf("%s: label %d: b = %g, alone %g", name, l, got.B[l], want.B[0])
			}
			for j := range d {
				if v := got.W.Row(j)[l] - want.W.Row(j)[0]; math.Abs(float64(v)) > 1e-4 {
					t.Errorf("%s: label %d: weight %d is %g, alone %g", name, l, j, got.W.Row(j)[l], want.W.Row(j)[0])
				}
			}
			if a, b := report.Objective[l], one.Objective[0]; math.Abs(a-b) > 1e-6*b {
				t.Errorf("%s: label %d: objective %g, alone %g", name, l, a, b)
			}
		}
	}
}

// Labels that all rows have, or none, have the score of Laplace's rule of succession, rows of weight
// 0 aside, and an objective to go with it; without an intercept they are problems like others.
func TestUnanimousLabelsHaveTheScoreOfSuccession(t *testing.T) {
	const n, d, labels = 200, 6, 5
	dense, y, weights := labelled(n, d)
	z, sum := InMemory(matrix.Rows{Dense: dense}), 0.0
	for _, w := range weights {
		sum += w
	}
	l, report, err := FitPrimalLabels(context.Background(), z, y, labels, weights, Primal{C: 3})
	if err != nil {
		t.Fatal(err)
	}
	for label, sign := range map[int]float64{3: 1, 4: -1} {
		if p := 1 / (1 + math.Exp(-sign*l.B[label])); math.Abs(p-(sum+1)/(sum+2)) > 1e-12 {
			t.Errorf("label %d: probability %g, want %g", label, p, (sum+1)/(sum+2))
		}
		for j := range d {
			if l.W.Row(j)[label] != 0 {
				t.Errorf("label %d: weight %d is %g", label, j, l.W.Row(j)[label])
			}
		}
		if want := 3 * sum * math.Log((sum+2)/(sum+1)); math.Abs(report.Objective[label]-want) > 1e-9 {
			t.Errorf("label %d: objective %g, want %g", label, report.Objective[label], want)
		}
	}
	l, report, err = FitPrimalLabels(context.Background(), z, y, labels, weights, Primal{C: 3, NoIntercept: true, Tolerance: 1e-4})
	if err != nil || !report.Converged || l.B[3] != 0 || l.W.Row(0)[3] == 0 {
		t.Errorf("without an intercept: %+v, b = %g, w₀ = %g: %v", report, l.B[3], l.W.Row(0)[3], err)
	}
	if _, _, err := FitPrimalLabels(context.Background(), z, y, labels, weights,
		Primal{Loss: "squared_hinge"}); err == nil || !strings.Contains(err.Error(), "the loss of labels is logistic") {
		t.Errorf("squared_hinge: %v", err)
	}
}
