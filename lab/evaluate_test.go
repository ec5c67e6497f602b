package lab

import (
	"context"
	"math"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// line has one input, 0 … n-1, over n.
func line(n int) matrix.Rows {
	x := matrix.NewDense(n, 1)
	for i := range x.Data {
		x.Data[i] = float32(i) / float32(n)
	}
	return matrix.Rows{Dense: x}
}

func source(t *testing.T, x matrix.Rows, y []float64, outputs int, names []string) dataset.Source {
	t.Helper()
	src, err := dataset.FromRows(x, y, outputs, names)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// sides says for each row of a line whether it is in the first half.
func sides(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "left"
		if i >= n/2 {
			names[i] = "right"
		}
	}
	return names
}

func fit(t *testing.T, src dataset.Source) *model.Model {
	t.Helper()
	m, _, err := model.Fit(context.Background(), src, model.Config{Kernel: "linear", Learner: "ridge", Lambda: 1e-6}, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEvaluateCountsWrongRows(t *testing.T) {
	const n = 10_000 // more than a batch
	x, names := line(n), sides(n)
	m := fit(t, source(t, x, nil, 0, names))

	// The model puts the border in the middle. Turned labels and an unknown one are wrong.
	for _, i := range []int{0, 1, n - 1} {
		names[i] = map[string]string{"left": "right", "right": "left"}[names[i]]
	}
	names[n-2] = "above"
	rows, last := 0, 0.0
	got, err := Evaluate(context.Background(), m, source(t, x, nil, 0, names), Options{Progress: func(r int, share float64) { rows, last = r, share }})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != n || math.Abs(*got.Error-4.0/n) > 1e-12 || got.RMSE != nil {
		t.Errorf("n = %d, error %g; want %d, %g", got.N, *got.Error, n, 4.0/n)
	}
	if rows != n || last != 1 {
		t.Errorf("progress ended at %d rows, share %g", rows, last)
	}
}

func TestEvaluateOfSeveralOutputs(t *testing.T) {
	const n = 50
	x := line(n)
	y := make([]float64, 2*n)
	for i := range n {
		y[2*i], y[2*i+1] = 3*float64(i)/n, 5-float64(i)/n
	}
	m := fit(t, source(t, x, y, 2, nil))
	for i := range n {
		y[2*i+1] += 2 // one of the two is off by 2 now
	}
	got, err := Evaluate(context.Background(), m, source(t, x, y, 2, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != n || math.Abs(*got.RMSE-1) > 1e-4 || math.Abs(*got.MAE-1) > 1e-4 || got.Accuracy != nil {
		t.Errorf("n = %d, RMSE %g, MAE %g; want %d, 1, 1", got.N, *got.RMSE, *got.MAE, n)
	}
}

func TestEvaluateErrors(t *testing.T) {
	const n = 50
	x, y := line(n), make([]float64, n)
	for i := range y {
		y[i] = float64(i) / 3
	}
	classifier := fit(t, source(t, x, nil, 0, sides(n)))
	regression := fit(t, source(t, x, y, 1, nil))
	wide := matrix.Rows{Dense: matrix.NewDense(n, 3)}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		m    *model.Model
		src  dataset.Source
		want string
	}{
		{"unlabelled", context.Background(), classifier, source(t, x, nil, 0, nil),
			"rows in memory: the rows have no labels to compare predictions with; name them with --label or --labels"},
		{"text", context.Background(), regression, source(t, x, nil, 0, sides(n)),
			`rows in memory: row 1: the label "left" is not a number, but the model predicts numbers`},
		{"two labels", context.Background(), regression, source(t, line(25), y, 2, nil),
			"rows in memory: rows have 2 labels, but the model predicts 1 numbers"},
		{"two labels of classes", context.Background(), classifier, source(t, line(25), y, 2, nil),
			"rows in memory: rows have 2 labels, but the model predicts one class"},
		{"too wide", context.Background(), classifier, source(t, wide, nil, 0, sides(n)),
			"rows in memory: the rows have 3 dimensions, but the model was trained on 1"},
		{"no rows", context.Background(), classifier, source(t, line(0), nil, 0, []string{}),
			"rows in memory: has no rows"},
		{"cancelled", cancelled, classifier, source(t, x, nil, 0, sides(n)), "context canceled"},
	} {
		got, err := Evaluate(c.ctx, c.m, c.src, Options{})
		if err == nil || err.Error() != c.want || got != nil {
			t.Errorf("%s: %v, %v; want %q", c.name, got, err, c.want)
		}
	}
}
