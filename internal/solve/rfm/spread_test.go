package rfm

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Intervals hold the truth of new rows as often as their level says, of each output, and are wide where answers vary more.
func TestIntervalsHoldTheTruth(t *testing.T) {
	levels := []float64{0.5, 0.9}
	const seeds, n, tested = 3, 1600, 3000
	var inside [2][2]float64 // by level and output
	judges, wide, narrow := 0.0, 0.0, 0.0
	for seed := uint64(1); seed <= seeds; seed++ {
		x, first := sides(n+tested, seed)
		r := random.New(seed, "rfm.spread")
		y := make([]float64, 2*len(first))
		for i, v := range first {
			noise := 0.1
			if x.Row(i)[0] > 0 {
				noise = 2
			}
			y[2*i], y[2*i+1] = v+noise*r.Normal(), 1e6*(v+noise*r.Normal())
		}
		m, _ := fitted(t, x.Slice(0, n), y[:2*n], 2, nil, Options{Kinds: quick, Leaf: 400, Centres: 100, Smooth: true, Seed: seed})
		if len(m.Leaves()) < 4 {
			t.Fatalf("%d leaves", len(m.Leaves()))
		}
		judges += float64(len(m.Spread().Ratios) / 2)
		radii, scores := matrix.NewDense(tested, 2), matrix.NewDense(tested, 2)
		rows := matrix.Rows{Dense: x.Slice(n, n+tested)}
		if err := m.Scores(scores, rows); err != nil {
			t.Fatal(err)
		}
		for l, level := range levels {
			if err := m.Radii(radii, rows, level); err != nil {
				t.Fatal(err)
			}
			for i := range tested {
				for o := range 2 {
					if math.Abs(y[2*(n+i)+o]-float64(scores.Row(i)[o])) <= float64(radii.Row(i)[o]) {
						inside[l][o] += 1.0 / (seeds * tested)
					}
				}
				if s := x.Row(n + i)[0]; s > 1 {
					wide = max(wide, float64(radii.Row(i)[0]))
				} else if s < -1 {
					narrow = max(narrow, float64(radii.Row(i)[0]))
				}
			}
		}
	}
	for l, level := range levels {
		for o, got := range inside[l] {
			// The machines are trained once more on all rows, so intervals hold a little more.
			if error := 4 * math.Sqrt(level*(1-level)*(1/judges+1.0/(seeds*tested))); got < level-error || got > level+error+0.03 {
				t.Errorf("output %d: intervals of level %g hold %.3f of new rows, want ± %.3f", o, level, got, error)
			}
		}
	}
	if wide < 2*narrow {
		t.Errorf("intervals are ±%.3g wide where answers vary much, ±%.3g where they do not", wide, narrow)
	}
}

// Usual residuals are means by the shares of the rows that do not judge, drawn to the mean of all.
func TestUsualResiduals(t *testing.T) {
	x := matrix.NewDense(5, 1)
	copy(x.Data, []float32{-2, -1, 0, 1, 2})
	f := &fitting{x: x, y: []float64{1, 2, 3, 4, 5}, outputs: 1, judges: []bool{false, false, false, false, true}}
	tree := Tree{{Direction: []float32{1}, Low: -0.5, High: 0.5, Below: -1, Above: -2}}
	s := f.spread(tree, 2, judged{held: []int{0, 1, 2, 3, 4}, scores: make([]float64, 5)}, judged{held: []int{4}, scores: make([]float64, 1)})
	left, right := (1+2+1.5+10*2.5)/(2.5+10), (1.5+4+10*2.5)/(1.5+10)
	if math.Abs(s.Sizes[0]-left) > 1e-12 || math.Abs(s.Sizes[1]-right) > 1e-12 || math.Abs(s.Ratios[0]-5/right) > 1e-12 {
		t.Errorf("%+v, want %g, %g and %g", s, left, right, 5/right)
	}
	for _, wrong := range []Spread{{s.Sizes, nil}, {s.Sizes[:1], s.Ratios}, {s.Sizes, []float64{-1}}, {s.Sizes, []float64{2, 1}},
		{[]float64{0, 1}, s.Ratios}, {[]float64{1, math.Inf(1)}, s.Ratios}, {s.Sizes, []float64{math.NaN()}}} {
		if wrong.check(2, 1) == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}
