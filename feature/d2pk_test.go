package feature

import (
	"math"
	"testing"

	"mercer/matrix"
)

// A row with one element has nothing but a square in the feature space. With sparsity 1, that
// of the papers' experiments, squares are lost, to the bit; with sparsity 3 the row has its
// length in the mean. For t = 2, D·z_c² = (ρ_1²-ρ_2²)²/4 is s²/4 with probability 2(s-1)/s²,
// else 0.
func TestDegreeTwoProjectionKeepsSquaresAtSparsityThree(t *testing.T) {
	x := matrix.NewDense(1, 40)
	x.Row(0)[7] = 1
	for s, want := range map[float64]float64{1: 0, 3: 1, 5: 2} {
		m, err := New(Config{Map: "d2pk-rp", Kernel: poly(1, 2, 0), Features: 4000, Options: Options{Sparsity: s}}, 40)
		if err != nil {
			t.Fatal(err)
		}
		got := norm2(transform(m, matrix.Rows{Dense: x}).Row(0))
		se := math.Sqrt((s*s/4*want - want*want) / 4000)
		if math.Abs(got-want) > 4*se {
			t.Errorf("s=%g: z·z = %g, want %g ± %g", s, got, want, se)
		}
	}
}

func TestProjectionsOfNoRows(t *testing.T) {
	for _, c := range projectionCases() {
		m := c.fit(t, 8, 6)
		_, out := m.Dims()
		m.Transform(matrix.NewDense(0, out), matrix.Rows{Dense: matrix.NewDense(0, 6)})
		m.Transform(matrix.NewDense(0, out), matrix.Rows{CSR: &matrix.CSR{Cols: 6, Ptr: []int{0}}})
	}
}
