package papers

import (
	"context"
	"testing"

	"mercer/matrix"
	"mercer/train"
)

// A file may have one class after the other, as KDD Cup's has.
func TestFewRowsAreDrawnFromAll(t *testing.T) {
	const n = 1000
	p := &problem{train: matrix.Rows{Dense: matrix.NewDense(n, 2)}, names: make([]string, n)}
	for i := range n {
		p.names[i] = "first"
		if i >= n/2 {
			p.names[i] = "second"
		}
		p.train.Dense.Row(i)[i%2] = float32(i) / n
	}
	m, _, err := p.fit(context.Background(), train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 1}, Seed: 3}, 50)
	if err != nil || len(m.Classes()) != 2 {
		t.Errorf("50 rows of two classes: %v", err)
	}
}
