package rfm

import (
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// Where the metric of all rows is as good on one side of a node, leaves keep it; where other columns matter there, they learn
// their own.
func TestLeavesKeepMetricsThatAreSettled(t *testing.T) {
	const n = 1200
	s := random.New(1, "rfm.settled")
	x := matrix.NewDense(n, 12)
	for i := range x.Data {
		x.Data[i] = float32(s.Normal())
	}
	for _, c := range []struct {
		name    string
		y       func(r []float32) float64
		settled bool
	}{
		{"one function everywhere", func(r []float32) float64 { return float64(r[1]) + float64(r[2]) + 0.5*s.Normal() }, true},
		{"a function on each side", func(r []float32) float64 {
			if r[0] > 0 {
				return 3 * math.Sin(2*float64(r[1]))
			}
			return 3 * math.Sin(2*float64(r[2]))
		}, false},
	} {
		f := &fitting{ctx: t.Context(), x: x, outputs: 1, opt: Options{Leaf: 400}, report: &Report{}, rows: n}
		var all, side []int
		for i := range n {
			f.y = append(f.y, c.y(x.Row(i)))
			all = append(all, i)
			if x.Row(i)[0] > 0 {
				side = append(side, i)
			}
		}
		if err := f.defaults(); err != nil {
			t.Fatal(err)
		}
		f.hold()
		kind := f.opt.Kinds[0]
		learned, err := f.learn(all, kind, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		root := []member{{Kind: kind, metric: learned.Metric, learned: learned}}
		branch, err := f.known(side, root, len(side) <= f.opt.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		if branch[0].settled != c.settled || root[0].settled {
			t.Errorf("%s: settled %v; errors %v", c.name, branch[0].settled, branch[0].learned.Report.Rounds)
		}
		leaf, err := f.known(side[:300], branch, true)
		if err != nil {
			t.Fatal(err)
		}
		if kept := leaf[0].learned == branch[0].learned; kept != c.settled {
			t.Errorf("%s: the leaf keeps the metric: %v", c.name, kept)
		}
	}
}
