package rfm

import (
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// The share of machines for all rows is the best of a fine grid, for several outputs and weights, with rows of which one
// leaf or two know; rows that a leaf did not hold out do not count.
func TestShareIsTheBestOfAGrid(t *testing.T) {
	r := random.New(1, "rfm.share")
	const n, outputs = 80, 2
	for trial := range 30 {
		x := matrix.NewDense(n, 1)
		f := &fitting{x: x, outputs: outputs, y: make([]float64, n*outputs), weights: make([]float64, n),
			tree: Tree{{Direction: []float32{1}, Low: -0.5, High: 0.5, Below: -1, Above: -2}}, leaves: make([]trained, 2)}
		var one trained
		tree := make([]float64, n*outputs)
		var judged []int
		for i := range n {
			s := 4*r.Uniform() - 2
			x.Row(i)[0] = float32(s)
			f.weights[i] = r.Uniform()
			above := min(1, max(0, float64(float32(s))+0.5))
			known := i%7 != 3 // by its leaves
			var left, right [outputs]float64
			for o := range outputs {
				f.y[i*outputs+o] = r.Normal()
				left[o], right[o] = f.y[i*outputs+o]+r.Normal(), f.y[i*outputs+o]+r.Normal()
				one.scores = append(one.scores, f.y[i*outputs+o]+float64(trial%3)*r.Normal())
				tree[i*outputs+o] = (1-above)*left[o] + above*right[o]
			}
			one.held = append(one.held, i)
			if known && above < 1 {
				f.leaves[0].held, f.leaves[0].scores = append(f.leaves[0].held, i), append(f.leaves[0].scores, left[:]...)
			}
			if known && above > 0 {
				f.leaves[1].held, f.leaves[1].scores = append(f.leaves[1].held, i), append(f.leaves[1].scores, right[:]...)
			}
			if known {
				judged = append(judged, i)
			}
		}
		wrong := func(share float64) (sum float64) {
			for _, i := range judged {
				for j := i * outputs; j < (i+1)*outputs; j++ {
					e := (1-share)*tree[j] + share*one.scores[j] - f.y[j]
					sum += f.weights[i] * e * e
				}
			}
			return sum
		}
		got, best := f.share(f.heldBy(one, one.scores, (*trained).bySquares)), 0.0
		for share := 0.0; share <= 1; share += 0.001 {
			if wrong(share) < wrong(best) {
				best = share
			}
		}
		if math.Abs(got-best) > 0.002 {
			t.Errorf("share %g, the best of a grid is %g", got, best)
		}
	}
}

// Machines for all rows fit the leaves: their dimensions, outputs and share.
func TestMachinesForAllRowsAreChecked(t *testing.T) {
	m, _ := smallMachine(t)
	if m.Whole().Share == 0 {
		t.Fatal("no machines for all rows")
	}
	fine := m.Whole().Leaf
	other, _ := fitted(t, matrix.NewDense(20, 6), make([]float64, 20), 1, nil, Options{Kinds: quick})
	for want, whole := range map[string]Whole{
		"have the share 0.5 of the scores": {nil, 0.5},
		"have the share 0 of the scores":   {fine, 0},
		"have the share 1 of the scores":   {fine, 1},
		"have the share NaN of the scores": {fine, math.NaN()},
		"have the share -1 of the scores":  {fine, -1},
		"has 1 outputs, the first has 2":   {other.Leaves()[0], 0.5},
	} {
		if _, err := NewMachine(6, m.Tree(), m.Leaves(), whole, Steps{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	total := 0.0
	for _, v := range m.Relevance() {
		total += v
	}
	if math.Abs(total-1) > 1e-6 {
		t.Errorf("relevances add up to %g", total)
	}
}
