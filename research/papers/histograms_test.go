package papers

import (
	"math"
	"math/rand/v2"
	"testing"

	"mercer/matrix"
)

// c goes with the size of the numbers: where a class is a matter of their logarithms, numbers of some
// thousandths need a small one, and the same of a hundred times the size a larger one.
func TestSkewnessFollowsTheSizeOfTheNumbers(t *testing.T) {
	const n, d = 600, 4
	var chosen []float64
	for _, size := range []float64{0.001, 0.1} {
		rng := rand.New(rand.NewPCG(1, 2))
		train := labelled{x: matrix.Rows{Dense: matrix.NewDense(n, d)}}
		for i := range n {
			sum, row := 0.0, train.x.Dense.Row(i)
			for j := range row {
				v := rng.NormFloat64()
				sum += v
				row[j] = float32(size * math.Exp(v))
			}
			class := 0
			if sum > 0 {
				class = 1
			}
			train.class = append(train.class, class)
		}
		c, err := skewness(t.Context(), train, 2)
		if err != nil {
			t.Fatal(err)
		}
		chosen = append(chosen, c)
	}
	if !(chosen[0] <= 0.01 && chosen[1] >= 10*chosen[0]) {
		t.Errorf("c is %v", chosen)
	}
}
