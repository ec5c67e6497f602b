package papers

import (
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// Rows of three classes, each around one of its own directions, are told apart but for those that are
// mislabelled.
func TestKernelDigits(t *testing.T) {
	const n = 90
	noise := normal(n, 6, 5)
	part := func(wrong int) labelled {
		l := labelled{x: matrix.Rows{Dense: matrix.NewDense(n, 6)}}
		for i := range n {
			for j, v := range noise.Dense.Row(i) {
				l.x.Dense.Row(i)[j] = 0.1 * v
			}
			l.x.Dense.Row(i)[i%3]++
			class := i % 3
			if i < wrong {
				class = (class + 1) % 3
			}
			l.class = append(l.class, class)
		}
		l.x = unitRows(l.x)
		return l
	}
	for _, k := range []kernel.Kernel{{Name: "poly", Gamma: 1, Degree: 4}, {Name: "rbf", Gamma: 0.5}} {
		got, err := kernelDigits(t.Context(), k, split{part(0), part(9), 3}, 100)
		if err != nil || len(got) != 3 || got[0] < 9.99 || got[0] > 10.01 || got[2] != 0 {
			t.Errorf("%s: %v, want 10 %% of errors and no time to map; %v", k.Name, got, err)
		}
	}
}

// The table has all rows of the paper's, which gives no times of a transformation where there is none.
func TestDigitsTableIsWhole(t *testing.T) {
	for _, row := range sivertsenDigits().Rows {
		if itself := row.Theirs[2].Text == ""; itself != (row.Name == "SVM, (x·y)⁴ itself" || row.Name == "SVM, Gaussian kernel itself") {
			t.Errorf("%s: %v", row.Name, row.Theirs)
		}
	}
	if n := len(sivertsenDigits().Rows); n != 5 {
		t.Errorf("%d rows; the paper has 4, one of which is here with two degrees", n)
	}
}
