package metric

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// With eigenvectors that are known, G is Σ λ v vᵀ and M is Σ (λᵖ + floor·mean) v vᵀ, divided by its mean diagonal.
func TestShapeIsThatOfTheEigenvalues(t *testing.T) {
	const d = 5
	lambda := []float64{3, 1, 0.5, 0.1, 0}
	// A reflection is its own inverse and has orthonormal columns.
	u, length := make([]float64, d), 0.0
	for j := range u {
		u[j] = float64(j + 1)
		length += u[j] * u[j]
	}
	vectors := make([]float64, d*d)
	for i := range d {
		for j := range d {
			vectors[i*d+j] = -2 * u[i] * u[j] / length
		}
		vectors[i*d+i]++
	}
	product := func(values []float64) []float64 {
		g := make([]float64, d*d)
		for i := range d {
			for j := range d {
				for k, v := range values {
					g[i*d+j] += v * vectors[i*d+k] * vectors[j*d+k]
				}
			}
		}
		return g
	}
	for _, s := range []Shape{{}, {Power: 1}, {Power: 2}, {Power: 0.5}, {Floor: 0.3}, {Power: 1.4, Floor: 1}} {
		power, mean := s.Power, 0.0
		if power == 0 {
			power = 1
		}
		want := make([]float64, d)
		for k, v := range lambda {
			want[k] = math.Pow(v, power)
			mean += want[k] / d
		}
		for k := range want {
			want[k] += s.Floor * mean
		}
		full := product(want)
		trace := 0.0
		for j := range d {
			trace += full[j*d+j]
		}
		plain := axesOf(t.Context(), product(lambda), d, 0, Shape{})
		for name, m := range map[string]*Metric{"of G": axesOf(t.Context(), product(lambda), d, 0, s), "of the plain metric": plain.shaped(t.Context(), s)} {
			for i := range d {
				for j := range d {
					got := 0.0
					for k, v := range m.Axes.Row(i) {
						got += float64(v) * float64(m.Axes.Row(j)[k])
					}
					if w := full[i*d+j] * d / trace; math.Abs(got-w) > 1e-5 {
						t.Errorf("%+v %s: M[%d, %d] is %g, want %g", s, name, i, j, got, w)
					}
				}
			}
		}
		total := 0.0
		for _, v := range want {
			total += v
		}
		first := diagonalOf([]float64{3, 1, 0.5, 0.1, 0}, Shape{})
		for name, m := range map[string]*Metric{"of G": diagonalOf([]float64{3, 1, 0.5, 0.1, 0}, s), "of the plain metric": first.shaped(t.Context(), s)} {
			for j, w := range m.Weights {
				if want := want[j] * d / total; math.Abs(float64(w)*float64(w)-want) > 1e-5 {
					t.Errorf("%+v %s: weight %d squared is %g, want %g", s, name, j, w*w, want)
				}
			}
		}
	}
}

// Where two columns matter most and all others a little, a floor lowers the error; of two columns alone, it does not.
func TestFloorWhereManyColumnsMatterALittle(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n, d = 3000, 16
	x := normal("shape", n, d)
	for name, small := range map[string]float64{"many": 0.25, "two": 0} {
		y := make([]float64, n)
		r := random.New(5, "noise")
		for i := range y {
			row := x.Row(i)
			y[i] = 0.1 * r.Normal()
			for j, v := range row {
				if j < 2 {
					y[i] += math.Sin(2 * float64(v))
				} else {
					y[i] += small * float64(v) * float64(row[j%2])
				}
			}
		}
		// The metric that knows of two columns only is what few rounds find.
		start := &Metric{Weights: make([]float32, d)}
		start.Weights[0], start.Weights[1] = 2, 2
		l, err := newLearner(matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: kernel.Matern.Usual(), Landmarks: 800, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, told, err := l.fit(context.Background(), start, both)
		if err != nil {
			t.Fatal(err)
		}
		_, _, found, err := l.shape(context.Background(), start, f, told)
		if err != nil {
			t.Fatal(err)
		}
		if floor := found.Shape != nil && found.Shape.Floor > 0; floor != (small > 0) || floor && found.Error > 0.8*told.Error {
			t.Errorf("%s: shape %+v, error %.4f, %.4f without", name, found.Shape, found.Error, told.Error)
		}
		if found.Error > told.Error {
			t.Errorf("%s: the search made the error %g of %g", name, found.Error, told.Error)
		}
	}
}

// A search never ends with a larger error, and what it reports is what the machine does.
func TestLearnLooksForShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y, _ := planted(1500, 50)
	for _, c := range []struct {
		k    kernel.Kernel
		form string
	}{{kernel.Laplacian.Usual(), "diagonal"}, {kernel.Matern.Usual(), "full"}} {
		plain, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: c.k, Form: c.form, Landmarks: 300, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		shaped, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil,
			Options{Kernel: c.k, Form: c.form, Landmarks: 300, Shapes: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		a, b := plain.Report.Rounds[plain.Report.Best], shaped.Report.Rounds[shaped.Report.Best]
		if b.Error > a.Error || (b.Shape != nil) != (b.Error < a.Error) {
			t.Errorf("%s: error %g with shape %v, %g without", c.form, b.Error, b.Shape, a.Error)
		}
		sum, all, mean := 0.0, 0.0, 0.0
		for _, v := range y {
			mean += v / float64(len(y))
		}
		for r, i := range shaped.Held {
			sum += (shaped.Scores[r] - y[i]) * (shaped.Scores[r] - y[i])
			all += (y[i] - mean) * (y[i] - mean)
		}
		if got := sum / all; math.Abs(got-b.Error) > 0.02*got { // the mean is not quite that of the training rows
			t.Errorf("%s: the scores have an error of %g, the report says %g", c.form, got, b.Error)
		}
	}
}

// Rows and landmarks of a smaller learner are some of those of the larger one, each landmark in its row.
func TestSmallerLearner(t *testing.T) {
	r := random.New(1, "metric.smaller")
	x := matrix.NewDense(9000, 2)
	r.FillNormal(x.Data)
	y, weights := make([]float64, 2*x.Rows), make([]float64, x.Rows)
	for i := range y {
		y[i] = r.Normal()
	}
	for i := range weights {
		weights[i] = 1 + r.Uniform()
	}
	l, err := newLearner(matrix.Rows{Dense: x}, y, 2, weights, Options{Kernel: kernel.RBF.Usual(), Rows: 5000, Landmarks: 900})
	if err != nil {
		t.Fatal(err)
	}
	s := l.smaller()
	if rows := s.train.x.Rows; rows != 2500 || len(s.train.weights) != rows || len(s.train.y) != 2*rows || len(s.landmarks) < 300 || len(s.landmarks) > smallLandmarks {
		t.Fatalf("%d rows, %d weights, %d targets, %d landmarks", rows, len(s.train.weights), len(s.train.y), len(s.landmarks))
	}
	for i := range s.train.x.Rows {
		if !slices.Equal(s.train.x.Row(i), l.train.x.Row(2*i)) || s.train.weights[i] != l.train.weights[2*i] || !slices.Equal(s.train.y[2*i:2*i+2], l.train.y[4*i:4*i+2]) {
			t.Fatalf("row %d is not row %d of the larger one", i, 2*i)
		}
	}
	for _, i := range s.landmarks {
		if !slices.Contains(l.landmarks, 2*i) {
			t.Errorf("row %d is no landmark of the larger one", 2*i)
		}
	}
}
