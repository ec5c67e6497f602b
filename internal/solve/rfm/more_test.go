package rfm

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// waves are rows of two columns in [0, 1) and a product of waves of them, with some noise.
func waves(n int, frequency float64) (*matrix.Dense, []float64) {
	draw := random.New(1, "waves")
	x, y := matrix.NewDense(n, 2), make([]float64, n)
	for i := range n {
		a, b := draw.Uniform(), draw.Uniform()
		x.Row(i)[0], x.Row(i)[1] = float32(a), float32(b)
		y[i] = math.Sin(2*math.Pi*frequency*a)*math.Cos(2*math.Pi*frequency*b) + draw.Normal()/50
	}
	return x, y
}

// A smooth function has few landmarks, in leaves and in machines for all rows, and one that more landmarks describe better has more;
// so has one for which they were asked.
func TestLandmarksThatHeldOutRowsAskFor(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range []struct {
		name      string
		rows      int
		frequency float64
		centres   int
		want      func(*Report) bool
	}{
		{"smooth", 1900, 0.2, 0, func(r *Report) bool { return r.Centres == fewLeaf }},
		{"rough", 1900, 6, 0, func(r *Report) bool { return r.Centres == usualCentres }},
		{"asked for", 1900, 0.2, 900, func(r *Report) bool { return r.Centres == 900 }},
		{"smooth, leaves", 3000, 0.2, 0, func(r *Report) bool {
			return r.Centres == r.Leaves*fewLeaf+fewWhole || r.Whole == 0 && r.Centres == r.Leaves*fewLeaf || r.Leaves == 1 && r.Centres == fewWhole
		}},
	} {
		x, y := waves(c.rows, c.frequency)
		_, report, err := Fit(context.Background(), x, y, 1, nil, Options{Kinds: Kinds(2)[1:2], Centres: c.centres, Seed: 1, Smooth: true})
		if err != nil {
			t.Fatal(err)
		}
		if !c.want(report) {
			t.Errorf("%s: %d landmarks in %d leaves, %.2f by machines for all rows", c.name, report.Centres, report.Leaves, report.Whole)
		}
	}
}

// A second member that makes the error less than a percent smaller is not worth its time; one that makes it a tenth smaller is.
func TestSecondMemberHasToGain(t *testing.T) {
	draw := random.New(1, "second")
	const n = 4000
	weights := slices.Repeat([]float64{1}, n)
	targets, common := make([]float64, n), make([]float64, n)
	for i := range n {
		targets[i], common[i] = draw.Normal(), draw.Normal()
	}
	for _, c := range []struct {
		own   float64 // noise of each member, beside the noise that they share
		taken bool
	}{{0.1, false}, {1, true}} {
		scores := make([][]float64, 2)
		for i, y := range targets {
			for m := range scores {
				scores[m] = append(scores[m], y+common[i]+c.own*draw.Normal())
			}
		}
		// Half of own² is what a mean of both saves, of 1 + own².
		shares := blend(scores, every(2), targets, weights, 1, 2)
		if (shares[0] > 0 && shares[1] > 0) != c.taken {
			t.Errorf("own noise %g: shares %v", c.own, shares)
		}
	}
}
