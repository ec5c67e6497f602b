package learn

import (
	"context"
	"math"
	"testing"

	"mercer/matrix"
)

func TestChooseSVRCTakesTheBetterC(t *testing.T) {
	z, y := sample(21, 600, 6, 2, 0)
	for _, c := range []struct {
		scale float32 // of the features
		units float64 // of the targets
		loss  string
		most  float64 // C that is chosen at most and at least, in units of the targets' spread
		least float64
	}{
		{0.001, 1, "squared_epsilon", 1e5, 100}, // small features need a large C
		{1, 1e6, "squared_epsilon", 10, 0.001},
		{0.01, 1e4, "epsilon", 1e5 * 1e4, 10 * 1e4}, // C is in units of the targets
	} {
		scaled := matrix.NewDense(z.Rows, z.Cols)
		for i, v := range z.Data {
			scaled.Data[i] = c.scale * v
		}
		targets := make([]float64, len(y))
		for i, v := range y {
			targets[i] = c.units * v
		}
		opt := SVR{Loss: c.loss, Seed: 1}
		chosen, path, err := ChooseSVRC(context.Background(), InMemory(matrix.Rows{Dense: scaled}), targets, 2, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if chosen < c.least || chosen > c.most*10 {
			t.Errorf("features times %g, targets times %g, %s: C = %g by %+v", c.scale, c.units, c.loss, chosen, path)
		}
		best := math.Inf(1)
		for _, p := range path {
			if p.Chosen {
				best = p.Error
			}
		}
		for _, p := range path {
			if p.Error < minGain*best {
				t.Errorf("%+v is much better than what was chosen: %+v", p, path)
			}
		}
	}
	few, path, err := ChooseSVRC(context.Background(), InMemory(matrix.Rows{Dense: z.Slice(0, 50)}), y[:100], 2, nil, SVR{})
	if few != 1 || path != nil || err != nil {
		t.Errorf("of 50 rows: %g, %+v, %v", few, path, err)
	}
}
