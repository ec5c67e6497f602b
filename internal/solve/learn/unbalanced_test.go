package learn

import (
	"context"
	"math"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

func TestUnbalanced(t *testing.T) {
	of := func(counts ...int) (class []int) {
		for c, n := range counts {
			for range n {
				class = append(class, c)
			}
		}
		return class
	}
	for _, c := range []struct {
		counts []int
		want   bool
	}{
		{[]int{90, 10}, false}, {[]int{91, 9}, true}, {[]int{97, 3}, true}, {[]int{50, 50}, false}, {[]int{100, 0}, false},
		{[]int{100, 100, 14}, true}, {[]int{100, 100, 15}, false}, {[]int{10, 0, 9}, false},
	} {
		if got := Unbalanced(of(c.counts...), len(c.counts)); got != c.want {
			t.Errorf("%v: %v", c.counts, got)
		}
	}
}

// rareRows are rows of which few are of the second class, at a distance of the others.
func rareRows(n int, share float64, seed uint64) (*matrix.Dense, []int) {
	draw := random.New(seed, "rare")
	z, class := matrix.NewDense(n, 3), make([]int, n)
	for i := range n {
		at := 0.0
		if draw.Uniform() < share {
			class[i], at = 1, 2
		}
		for j := range 3 {
			z.Row(i)[j] = float32(at + draw.Normal())
		}
	}
	return z, class
}

// Where a class is rare the log loss chooses C, and a machine that never finds it does not win against one that does.
func TestChooseCOfARareClass(t *testing.T) {
	z, class := rareRows(3000, 0.03, 1)
	c, path, err := ChooseC(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range path {
		if !(p.LogLoss > 0) {
			t.Errorf("no log loss: %+v", p)
		}
		if p.C == c && (!p.Chosen || p.OneClass) {
			t.Errorf("C = %g: %+v", c, p)
		}
	}
	z, class = rareRows(3000, 0.3, 1)
	if _, path, err = ChooseC(context.Background(), InMemory(matrix.Rows{Dense: z}), class, 2, nil, SVM{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	for _, p := range path {
		if p.LogLoss != 0 {
			t.Errorf("a log loss where no class is rare: %+v", p)
		}
	}
}

// Log losses are those of Platt's method on the same rows: with scores that tell nothing, that of the frequencies; and a score that
// tells the class has less.
func TestLogLosses(t *testing.T) {
	class, none, some := []int{}, []float32{}, []float32{}
	draw := random.New(2, "losses")
	for i := range 2000 {
		class = append(class, min(1, i%20/19))
		none = append(none, float32(draw.Normal()))
		some = append(some, float32(draw.Normal()+3*float64(class[i])))
	}
	p := 0.05
	entropy := -p*math.Log(p) - (1-p)*math.Log(1-p)
	chance, err := LogLosses(none, class, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	telling, err := LogLosses(some, class, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Fitting two numbers gains about one part in n.
	if got := mean(chance); math.Abs(got-entropy) > 0.004 {
		t.Errorf("scores by chance lose %g, the frequencies %g", got, entropy)
	}
	if got := mean(telling); got > 0.6*entropy {
		t.Errorf("telling scores lose %g of %g", got, entropy)
	}
}
