package train

import (
	"bytes"
	"context"
	"math"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/matrix"
	"mercer/model"
)

// wavy returns rows of three columns and a function of them, times scale and plus an offset.
func wavy(n int, scale, offset float64) (*matrix.Dense, []float64) {
	x, y := matrix.NewDense(n, 3), make([]float64, n)
	r := random.New(7, "offset test")
	for i := range n {
		row := x.Row(i)
		for j := range row {
			row[j] = float32(2*r.Uniform() - 1)
		}
		y[i] = offset + scale*(math.Sin(3*float64(row[0]))+float64(row[1])*float64(row[2]))
	}
	return x, y
}

// predictedValues trains on rows and predicts them.
func predictedValues(t *testing.T, cfg Config, n int, scale, offset float64) []float64 {
	t.Helper()
	x, y := wavy(n, scale, offset)
	src, err := dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Fit(context.Background(), src, cfg, Options{})
	if err != nil {
		t.Fatalf("scale %g, offset %g: %v", scale, offset, err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if m, err = model.Read(&file, int64(file.Len())); err != nil {
		t.Fatal(err)
	}
	var scores matrix.Dense
	scores.Reshape(n, 1)
	if err := m.Learned(&scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = m.Value(0, scores.Row(i)[0])
	}
	return values
}

// For every learner of regressions, y + c predicts f(x) + c, and s·y predicts s·f(x).
func TestOffsetAndScaleOfTargets(t *testing.T) {
	for _, name := range Learners() {
		cfg := Config{Task: "regress", Learner: Named{Name: name}, Seed: 1}
		n := 300
		switch name {
		case "svm", "logistic", "lda", "one-class", "residual", "kmeans":
			continue
		case "rfm":
			n = 1200 // the default
			cfg.SetLearner("")
		case "kernel-ridge", "kernel-svm", "knn", "falkon":
		case "group-lasso":
			cfg.Kernel.Name = "linear"
		default:
			cfg.Map.Features = 200
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offsets := []float64{40, 100, -1e4, 1e6, -1e9, 1e12}
			if name == "rfm" {
				testenv.Long(t, "the default learner at offsets and scales of its targets")
				offsets = []float64{100, -1e9}
			}
			want := predictedValues(t, cfg, n, 1, 0)
			for _, c := range offsets {
				got := predictedValues(t, cfg, n, 1, c)
				// Rounding y + c to float64 is the only loss beyond 64 deviations.
				if far := worstOf(got, want, 1, c); far > 0.02+2*math.Abs(c)*0x1p-52 {
					t.Errorf("y %+g: predictions differ by up to %.3g", c, far)
				}
			}
			if name == "kernel-svm" || name == "elastic-net" {
				// C, epsilon and the balance of the two penalties are in the unit of targets that are not far from 1, so the scales
				// are compared with a far one.
				want = scaledBack(predictedValues(t, cfg, n, 1e5, 0), 1e5)
			}
			for _, s := range []float64{1e-12, 1e12} {
				got := predictedValues(t, cfg, n, s, 0)
				if far := worstOf(got, want, s, 0); far > 0.02 {
					t.Errorf("y times %g: predictions differ by up to %.3g of it", s, far)
				}
			}
			got := predictedValues(t, cfg, n, 1e-5, 1e6)
			if far := worstOf(got, want, 1e-5, 1e6); far > 0.03 {
				t.Errorf("y·1e-5 + 1e6: predictions differ by up to %.3g of the scale", far)
			}
		})
	}
}

// worstOf is the largest difference between got and s·want + c, in units of s.
func worstOf(got, want []float64, s, c float64) (far float64) {
	for i, v := range got {
		far = max(far, math.Abs((v-c)/s-want[i]))
	}
	return far
}

// scaledBack are values by a scale.
func scaledBack(values []float64, scale float64) []float64 {
	for i := range values {
		values[i] /= scale
	}
	return values
}
