package exact

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// apart is the distance by which neighbours are found, from its definition.
func apart(k kernel.Kernel, x, y []float32) float64 {
	sum := 0.0
	for j := range x {
		d := math.Abs(float64(x[j]) - float64(y[j]))
		if k.Name != "laplacian" {
			d *= d
		}
		sum += d
	}
	switch k.Name {
	case "linear", "rbf", "matern", "laplacian":
		return sum
	case "exp-chi2":
		return -math.Log(k.Eval(x, y))
	}
	return k.Distance2(x, y)
}

// bruteMean is the mean of the targets of the nearest of rows by sorting, own not among them.
func bruteMean(k kernel.Kernel, q []float32, own int, x matrix.Rows, y, weights []float64, opt NearestOptions) (mean float64, clear bool) {
	type row struct {
		distance, y, w float64
	}
	var rows []row
	for i := range x.Len() {
		if w := weight(weights, i); i != own && w > 0 {
			rows = append(rows, row{apart(k, q, x.Dense.Row(i)), y[i], w})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return 0
	})
	n := min(opt.Neighbours, len(rows))
	clear = n == len(rows) || rows[n].distance-rows[n-1].distance > 1e-9*rows[n].distance
	sum, total := 0.0, 0.0
	for _, r := range rows[:n] {
		w := r.w
		if opt.Weighting == "distance" {
			if rows[0].distance < 1e-14 {
				if r.distance > 1e-14 {
					break
				}
			} else {
				w /= math.Sqrt(r.distance)
			}
		}
		sum, total = sum+w*r.y, total+w
	}
	return sum / total, clear
}

// Scores are the means of the targets of the nearest rows, found by sorting; those of a batch are those of its rows, on any number of threads.
func TestNearestIsBruteForce(t *testing.T) {
	const n, d = 90, 12
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(i % 4)
	}
	for _, k := range manyKernels {
		x, q := randomRows(n, d, 0.6, 1), randomRows(50, d, 0.6, 2)
		y := randomNumbers(n, 3)
		for i := range 5 {
			copy(q.Dense.Row(i), x.Dense.Row(3*i))
		}
		copy(x.Dense.Row(10), x.Dense.Row(9)) // two at one place
		for _, w := range [][]float64{nil, weights} {
			for _, opt := range []NearestOptions{{1, "uniform"}, {7, "uniform"}, {7, "distance"}, {60, "distance"}} {
				p, _, err := FitNearest(context.Background(), k, x, y, 1, w, opt, 1)
				if err != nil {
					t.Fatal(err)
				}
				got, one := matrix.NewDense(50, 1), matrix.NewDense(1, 1)
				if err := p.Scores(got, q); err != nil {
					t.Fatal(err)
				}
				compared := 0
				for i := range 50 {
					want, clear := bruteMean(k, q.Dense.Row(i), -1, x, y, w, opt)
					if !clear {
						continue
					}
					compared++
					if math.Abs(float64(got.Row(i)[0])-want) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s, %v: row %d: %g, by sorting %g", k.Name, opt, i, got.Row(i)[0], want)
					}
					if err := p.Scores(one, q.Slice(i, i+1)); err != nil || one.Data[0] != got.Row(i)[0] {
						t.Fatalf("%s: row %d alone: %g, %g in a batch, %v", k.Name, i, one.Data[0], got.Row(i)[0], err)
					}
				}
				if compared < 40 {
					t.Errorf("%s: only %d rows have neighbours beyond doubt", k.Name, compared)
				}
			}
		}
	}
}

// Rows where the kernel is 0 everywhere still have nearest ones.
func TestNearestFarAway(t *testing.T) {
	x := matrix.Rows{Dense: matrix.NewDense(4, 1)}
	copy(x.Dense.Data, []float32{0, 1, 2, 3})
	for _, name := range []string{"rbf", "matern", "laplacian", "linear"} {
		p, _, err := FitNearest(context.Background(), kernel.Kernel{Name: name, Gamma: 1, Nu: 1.5}, x, []float64{10, 20, 30, 40}, 1, nil,
			NearestOptions{1, "distance"}, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := matrix.NewDense(1, 1)
		if err := p.Scores(got, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1e6}}}); err != nil || got.Data[0] != 40 {
			t.Errorf("%s: %g, %v; the nearest is the last", name, got.Data[0], err)
		}
	}
}

// What is left open is the best of all choices by leaving rows out one by one.
func TestNearestChooses(t *testing.T) {
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	x := randomRows(60, 2, 1, 5)
	y, noise := make([]float64, 60), randomNumbers(60, 6)
	for i := range y {
		y[i] = math.Sin(4*float64(x.Dense.Row(i)[0])) + noise[i]
	}
	_, report, err := FitNearest(context.Background(), k, x, y, 1, nil, NearestOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	best, found := math.Inf(1), NearestOptions{}
	for _, m := range neighboursTried {
		if m >= 60 {
			continue
		}
		for _, w := range Weightings {
			loss := 0.0
			for i := range 60 {
				v, _ := bruteMean(k, x.Dense.Row(i), i, x, y, nil, NearestOptions{m, w})
				loss += (v - y[i]) * (v - y[i]) / 60
			}
			if loss < best {
				best, found = loss, NearestOptions{m, w}
			}
		}
	}
	if report.NearestOptions != found || math.Abs(report.LeaveOneOut-best) > 1e-9*best {
		t.Errorf("chose %v with %g; one by one %v with %g", report.NearestOptions, report.LeaveOneOut, found, best)
	}
	if found.Neighbours < 3 {
		t.Errorf("%d neighbours of noisy rows: the test tells nothing", found.Neighbours)
	}
}

func TestNearestRefuses(t *testing.T) {
	x := randomRows(4, 2, 1, 5)
	k := kernel.Kernel{Name: "rbf", Gamma: 1}
	for _, c := range []struct {
		opt     NearestOptions
		weights []float64
	}{
		{NearestOptions{5, "uniform"}, nil}, {NearestOptions{2, "far"}, nil}, {NearestOptions{2, "uniform"}, []float64{1, 0, 0, 0}},
		{NearestOptions{1, "uniform"}, []float64{1, math.NaN(), 1, 1}}, {NearestOptions{}, make([]float64, 4)},
	} {
		if _, _, err := FitNearest(context.Background(), k, x, make([]float64, 4), 1, c.weights, c.opt, 1); err == nil {
			t.Errorf("%v with weights %v: no error", c.opt, c.weights)
		}
	}
}

// A row by itself is scored without garbage, and a row more in a batch costs no more of it.
func TestNearestAllocates(t *testing.T) {
	x := randomRows(300, 5, 1, 7)
	p, _, err := FitNearest(context.Background(), kernel.Kernel{Name: "rbf", Gamma: 1}, x, randomNumbers(300, 8), 1, nil, NearestOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	dst := matrix.NewDense(1, 1)
	one := x.Slice(0, 1)
	if got := testing.AllocsPerRun(100, func() { p.Scores(dst, one) }); got > 0 {
		t.Errorf("%g allocations a row", got)
	}
}

// looks is a context that counts how often it is asked whether it has ended.
type looks struct {
	context.Context
	n atomic.Int64
}

func (c *looks) Err() error { c.n.Add(1); return nil }

// The search for the number of neighbours looks whether it is to end at least once for 16 MiB of distances.
func TestNearestLooksWhetherItIsToEnd(t *testing.T) {
	const n = 6000
	x, y := matrix.NewDense(n, 1), make([]float64, n)
	for i := range n {
		x.Row(i)[0], y[i] = float32(i*7%n), float64(i%3)
	}
	ctx := &looks{Context: t.Context()}
	if _, _, err := FitNearest(ctx, kernel.Kernel{Name: "rbf", Gamma: 1}, matrix.Rows{Dense: x}, y, 1, nil, NearestOptions{}, 1); err != nil {
		t.Fatal(err)
	}
	if got, least := ctx.n.Load(), int64(8*n*mostLeftOut/nearestBytes); got < least {
		t.Errorf("it looked %d times, at least %d are wanted", got, least)
	}
}
