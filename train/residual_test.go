package train

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Rows on a plane have no residual, and others the square of their distance from it; the share that was asked for lies outside, the farthest rows.
func TestResidualIsTheDistanceFromThePlane(t *testing.T) {
	const n, d = 400, 5
	r := random.New(1, "residual")
	x := matrix.NewDense(n, d)
	for i := 0; i < n; i += 4 { // four rows by symmetry: their mean is 0, and the components are the first two axes
		a, b := float32(3*r.Normal()), float32(2*r.Normal())
		h := float32(0)
		if i < 80 {
			h = 0.1 + float32(i)/400
		}
		for j, sign := range [][3]float32{{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}} {
			copy(x.Row(i+j), []float32{sign[0] * a, sign[1] * b, 0, 0, sign[2] * h})
		}
	}
	src := source(t, matrix.Rows{Dense: x}, nil, 0, nil)
	m := fitted(t, src, Config{Learner: Residual{Kept: 2, Outliers: 0.1}, Kernel: Kernel{Name: "linear"}, Scale: "none"})
	scores := matrix.NewDense(n, 1)
	if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	var outside []int
	for i := range n {
		h := float64(x.Row(i)[4])
		if got, want := float64(scores.Row(n - 1)[0]-scores.Row(i)[0]), h*h; math.Abs(got-want) > 1e-5 {
			t.Fatalf("row %d: %g from the plane, squared %g", i, got, want)
		}
		if scores.Row(i)[0] < 0 {
			outside = append(outside, i)
		}
	}
	if len(outside) != 40 || slices.Min(outside) != 40 {
		t.Errorf("outside are %v; want the 40 farthest, 40 to 79", outside)
	}
	if lines := m.Info().Training.Lines(); !strings.Contains(lines[0], "2 principal components of 5 features") || !strings.Contains(lines[1], "10 % of the rows") {
		t.Errorf("%q", lines)
	}
	loaded, err := read(fileOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	one := matrix.NewDense(1, 1)
	for i := range n {
		if err := loaded.Scores(one, matrix.Rows{Dense: x.Slice(i, i+1)}); err != nil || one.Data[0] != scores.Row(i)[0] {
			t.Fatalf("row %d alone and loaded: %g, %g at first, %v", i, one.Data[0], scores.Row(i)[0], err)
		}
	}
}

func TestResidualRefuses(t *testing.T) {
	x := matrix.NewDense(30, 4)
	random.New(2, "residual").FillNormal(x.Data)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, nil)
	for want, cfg := range map[string]Config{
		"leave nothing out":       {Learner: Residual{Kept: 4}, Kernel: Kernel{Name: "linear"}},
		"finds components itself": {Learner: Residual{}, Reduce: Reduction{Components: 2}},
		"is not a share":          {Learner: Residual{Outliers: 2}},
		"no probabilities":        {Learner: Residual{}, Calibrate: Calibration{Method: "platt"}},
	} {
		if _, _, err := Fit(t.Context(), src, cfg, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg.Learner, err, want)
		}
	}
}
