package feature

import (
	"slices"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// A row has one word, that of the nearest centre, computed naively; each centre is its own word, and of two equal centres the first is.
func TestWordsAreTheNearestCentres(t *testing.T) {
	x := blobs(200, 5, 9, 4)
	cfg := Config{Map: Words, Kernel: kernel.RBF.Usual(), Features: 9, Seed: 2}
	cfg.Kernel.Gamma = 1
	m, err := Fit(t.Context(), cfg, matrix.Rows{Dense: x})
	if err != nil {
		t.Fatal(err)
	}
	h := m.(Fitted).State()["rows"]
	z := matrix.NewDense(x.Rows, h.Rows)
	m.Transform(z, matrix.Rows{Dense: x})
	used := map[int]bool{}
	for i := range x.Rows {
		nearest := 0
		for j := range h.Rows {
			if distance2(x.Row(i), h.Row(j)) < distance2(x.Row(i), h.Row(nearest)) {
				nearest = j
			}
		}
		want := make([]float32, h.Rows)
		want[nearest] = 1
		used[nearest] = true
		if !slices.Equal(z.Row(i), want) {
			t.Fatalf("row %d is %v, want word %d", i, z.Row(i), nearest)
		}
	}
	if len(used) < h.Rows {
		t.Errorf("%d of %d words are used", len(used), h.Rows)
	}
	twice := matrix.NewDense(2, 5)
	copy(twice.Row(0), h.Row(3))
	copy(twice.Row(1), h.Row(3))
	cfg.Features = 2
	back, err := Restore(cfg, 5, map[string]*matrix.Dense{"rows": twice})
	if err != nil {
		t.Fatal(err)
	}
	one := matrix.NewDense(1, 2)
	back.Transform(one, matrix.Rows{Dense: &matrix.Dense{Rows: 1, Cols: 5, Stride: 5, Data: h.Row(3)}})
	if one.Data[0] != 1 || one.Data[1] != 0 {
		t.Errorf("of two equal centres the words are %v", one.Data)
	}
}
