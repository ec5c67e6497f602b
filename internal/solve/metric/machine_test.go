package metric

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/solve/landmarks"
	"mercer/kernel"
	"mercer/matrix"
)

// Distances that are kept for all widths of wide rows make the machines that distances computed anew do.
func TestKeptDistances(t *testing.T) {
	x, y, _ := planted(300, rawFrom+3)
	for _, k := range []kernel.Kernel{kernel.RBF.Usual(), kernel.Laplacian.Usual(), kernel.Matern.Usual(), kernel.Cauchy.Usual()} {
		l, err := newLearner(matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: k, Landmarks: 60, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		z := matrix.Pick(matrix.Rows{Dense: l.train.x}, l.landmarks).Dense
		for i, gamma := range []float64{0.02, 0.005, 0.03} {
			k.Gamma = gamma
			m, err := newMachine(context.Background(), k, z, l.train.x, l.held.x, l, i > 0)
			if err != nil {
				t.Fatal(err)
			}
			anew := new(landmarks.Ridge)
			if err = anew.Begin(k, z, 1, true); err == nil {
				err = anew.Add(context.Background(), anew.Values(nil, l.train.x), l.train.y, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, want := m.ridge.Solve(context.Background(), 0.1, 60), anew.Solve(context.Background(), 0.1, 60)
			if !slices.Equal(got, want) || !slices.Equal(m.held, anew.Values(nil, l.held.x)) {
				t.Errorf("%s, γ = %g: %v, %v anew", k.Name, gamma, got[:3], want[:3])
			}
		}
		if l.wide() != (k.Name != "cauchy") {
			t.Errorf("%s: distances are kept: %v", k.Name, l.wide())
		}
	}
}

// The gradients of a machine are the same by distances that were kept, up to rounding for smooth kernels.
func TestGradientsByKeptDistances(t *testing.T) {
	x, y, _ := planted(400, rawSlopesFrom+3)
	for _, k := range []kernel.Kernel{kernel.RBF.Usual(), kernel.Laplacian.Usual(), kernel.Matern.Usual()} {
		l, err := newLearner(matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: k, Landmarks: 60, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := l.fit(context.Background(), nil, both)
		if err != nil {
			t.Fatal(err)
		}
		outer := func() []float64 {
			g := make([]float64, l.d)
			if err := f.outer(context.Background(), l.train.x, nil, g, true); err != nil {
				t.Fatal(err)
			}
			return g
		}
		want := outer()
		f.raw = &placed{&l.room.trainRaw, l.landmarks}
		for j, v := range outer() {
			if exact := k.Name == "laplacian"; exact && v != want[j] || !(math.Abs(v-want[j]) <= 1e-5*want[j]) {
				t.Errorf("%s, column %d: %g, %g anew", k.Name, j, v, want[j])
			}
		}
	}
}

// The direction of wide rows is the leading eigenvector of the matrix that is not made.
func TestWideDirection(t *testing.T) {
	x, y, _ := planted(500, 60)
	y2 := make([]float64, 0, 2*len(y))
	for i, v := range y {
		y2 = append(y2, v, float64(x.Row(i)[5]))
	}
	weights := make([]float64, len(y))
	for i := range weights {
		weights[i] = 0.5 + float64(i%3)
	}
	for _, form := range []string{"", "diagonal", "full"} {
		l, err := newLearner(matrix.Rows{Dense: x}, y2, 2, weights, Options{Kernel: kernel.Matern.Usual(), Form: form, Landmarks: 60, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var by *Metric
		f, _, err := l.fit(context.Background(), nil, both)
		if err == nil && form != "" {
			if by, err = l.next(context.Background(), f, nil); err == nil {
				f, _, err = l.fit(context.Background(), by, both)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := l.direction(context.Background(), f, by)
		if err != nil {
			t.Fatal(err)
		}
		u := l.train.x
		if by != nil {
			u = by.Apply(matrix.Rows{Dense: u}, &Work{}).Dense
		}
		got, err := l.wideDirection(context.Background(), f, u, by)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d numbers, %v", len(got), err)
		}
		for j, v := range got {
			if math.Abs(v-want[j]) > 1e-4 {
				t.Errorf("metric %q, column %d: %g, %g by the eigenvectors of all", form, j, v, want[j])
			}
		}
	}
}
