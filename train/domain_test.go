package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/matrix"
)

// Rows that a kernel of histograms does not take are named, in training by their file, row from
// 1 and column, and in use by their row and dimension.
func TestKernelsOfHistogramsTakeNoNegativeNumbers(t *testing.T) {
	x, names := rings(7, 60, 2)
	for i := range x.Rows {
		for j := range x.Cols {
			x.Row(i)[j] = float32(math.Abs(float64(x.Row(i)[j])))
		}
	}
	for _, cfg := range []Config{{Kernel: Kernel{Name: "chi2"}}, {Kernel: Kernel{Name: "exp-chi2"}}, {Kernel: Kernel{Name: "intersection"}, Map: Map{Name: "unary"}},
		{Kernel: Kernel{Name: "skewed-chi2"}}, {Kernel: Kernel{Name: "chi2"}, Map: Map{Name: "nystrom"}}} {
		cfg.Scale = "none"
		m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), cfg)
		bad := matrix.NewDense(3, x.Cols)
		bad.Row(2)[1] = -1.5
		err := m.Scores(matrix.NewDense(3, m.Outputs()), matrix.Rows{Dense: bad})
		if err == nil || !strings.Contains(err.Error(), "row 2, dimension 1 (from 0): -1.5 is too small; "+cfg.Kernel.Name+" takes numbers") {
			t.Errorf("%+v: %v", cfg, err)
		}
		wrong := &matrix.Dense{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: append([]float32(nil), x.Data...)}
		wrong.Row(40)[0] = -2
		_, _, err = Fit(context.Background(), source(t, matrix.Rows{Dense: wrong}, nil, 0, names), cfg, Options{})
		if err == nil || !strings.Contains(err.Error(), ": row 41, dimension 0 (from 0): -2 is too small; "+cfg.Kernel.Name+" takes numbers") {
			t.Errorf("%+v, training: %v", cfg, err)
		}
	}
}

// --scale auto leaves no kernel of histograms with negative numbers.
func TestAutomaticScalingForHistogramsIsNeverNegative(t *testing.T) {
	for name, c := range map[string]struct {
		low, high float32
		want      string
	}{"tenths": {0, 0.1, "none"}, "hundreds": {0, 300, "maxabs"}} {
		x, names := rings(7, 60, 2)
		for i := range x.Data {
			x.Data[i] = c.low + (c.high-c.low)*float32(math.Abs(math.Sin(float64(i*i))))
		}
		m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), Config{Kernel: Kernel{Name: "chi2"}})
		if m.Info().Scale != c.want {
			t.Errorf("%s: scaling %s, want %s", name, m.Info().Scale, c.want)
		}
	}
}
