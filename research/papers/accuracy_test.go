package papers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// clouds are rows around centres, one per class, that are apart by so much in their dimensions.
func clouds(n, d, classes int, apart float64, seed uint64) labelled {
	r := random.New(seed, "clouds")
	l := labelled{x: matrix.Rows{Dense: matrix.NewDense(n, d)}}
	for i := range n {
		c := i % classes
		l.class = append(l.class, c)
		for j := range d {
			centre := 0.0
			if j%classes == c {
				centre = apart
			}
			l.x.Dense.Row(i)[j] = float32(centre + r.Normal())
		}
	}
	return l
}

// On the linear kernel, the machine of the kernel itself is the linear machine.
func TestExactMachineOfLinearKernelIsLinearMachine(t *testing.T) {
	for _, classes := range []int{2, 3} {
		s := split{clouds(150, 200, classes, 0.2, 1), clouds(300, 200, classes, 0.2, 2), classes}
		want, c, err := accuracy(context.Background(), s.train, s.test, classes, 0.01, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, used, err := exactMachine(context.Background(), kernel.Kernel{Name: "linear"}, s, 0.01, 1)
		if err != nil {
			t.Fatal(err)
		}
		// Rows at the border of two classes may fall to either side.
		if c != 0.01 || used != 0.01 || math.Abs(got-want) > 1.5 || want < 60 || want > 99.9 {
			t.Errorf("%d classes: %g %% by the kernel, %g %% directly", classes, got, want)
		}
	}
}

func TestExactMachineTakesEqualRows(t *testing.T) {
	train := clouds(90, 6, 3, 2, 1)
	copy(train.x.Dense.Row(3), train.x.Dense.Row(0))
	s := split{train, clouds(90, 6, 3, 2, 2), 3}
	if percent, _, err := exactMachine(context.Background(), kernel.Kernel{Name: "rbf", Gamma: 0.1}, s, 1, 1); err != nil || percent < 80 {
		t.Errorf("%g %%, %v", percent, err)
	}
}

func TestStandardise(t *testing.T) {
	s := split{clouds(50, 4, 2, 1, 1), clouds(20, 4, 2, 1, 2), 2}
	for _, part := range []labelled{s.train, s.test} {
		for i := range part.x.Len() {
			part.x.Dense.Row(i)[2] = 5 // constant
		}
	}
	before := s.test.x.Dense.Row(0)[1]
	mean, square := 0.0, 0.0
	for i := range 50 {
		v := float64(s.train.x.Dense.Row(i)[1])
		mean, square = mean+v/50, square+v*v/50
	}
	standardise(s)
	if got, want := float64(s.test.x.Dense.Row(0)[1]), (float64(before)-mean)/math.Sqrt(square-mean*mean); math.Abs(got-want) > 1e-5 {
		t.Errorf("%g, want %g by the training part's mean and deviation", got, want)
	}
	if got := s.test.x.Dense.Row(0)[2]; got != 0 {
		t.Errorf("a constant feature becomes %g", got)
	}
}

func TestCutIsAPartition(t *testing.T) {
	all := clouds(31, 2, 3, 1, 1)
	for i := range 31 {
		all.x.Dense.Row(i)[0] = float32(i)
		all.class[i] = i % 3
	}
	a, b := cut(all, 3, 1), cut(all, 3, 2)
	var seen []int
	for _, part := range []labelled{a.train, a.test} {
		for i, c := range part.class {
			row := int(part.x.Dense.Row(i)[0])
			if c != row%3 {
				t.Errorf("row %d has class %d", row, c)
			}
			seen = append(seen, row)
		}
	}
	slices.Sort(seen)
	if len(seen) != 31 || seen[0] != 0 || seen[30] != 30 || len(slices.Compact(seen)) != 31 || len(a.train.class) != 20 {
		t.Errorf("rows %v, %d of them to train on", seen, len(a.train.class))
	}
	if slices.Equal(a.train.x.Dense.Data, b.train.x.Dense.Data) {
		t.Error("another seed gives the same split")
	}
}

func TestDocumentsAreCountsOfWords(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, "reuters_r8"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "reuters_r8", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("R8.txt", "0\ttrain\tearn\n1\ttest\tacq\n2\ttrain\tacq\n")
	write("R8.clean.txt", "net loss net \nshares\nloss shares\n")
	s, err := documents(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.classes != 2 || !slices.Equal(s.train.class, []int{1, 0}) || !slices.Equal(s.test.class, []int{0}) {
		t.Errorf("%d classes, %v and %v", s.classes, s.train.class, s.test.class)
	}
	train := s.train.x.CSR // of the words loss, net, shares
	if !slices.Equal(train.Idx, []int32{0, 1, 0, 2}) || !slices.Equal(train.Val, []float32{1. / 3, 2. / 3, 0.5, 0.5}) ||
		!slices.Equal(train.Ptr, []int{0, 2, 4}) || train.Cols != 3 {
		t.Errorf("%+v", *train)
	}
	write("R8.txt", "0\ttrain\tearn\n1\tdev\tacq\n2\ttrain\tacq\n")
	if _, err := documents(context.Background(), dir); err == nil ||
		err.Error() != `reuters_r8/R8.txt:2: "1\tdev\tacq" is not a number, train or test, and a class` {
		t.Errorf("%v", err)
	}
	write("R8.txt", "0\ttrain\tearn\n")
	if _, err := documents(context.Background(), dir); err == nil {
		t.Error("fewer labels than texts go through")
	}
}

// C is chosen with seed 1, whichever seed comes first, and kept.
func TestFirstSeedChooses(t *testing.T) {
	var f first
	var calls []uint64
	method := func(seed uint64, c float64) (percent, used float64, err error) {
		calls = append(calls, seed)
		if c == 0 {
			c = 10 * float64(seed)
		}
		return float64(seed) + c, c, nil
	}
	for _, seed := range []uint64{3, 1, 2} {
		got, err := f.run(seed, method)
		if want := float64(seed) + 10; err != nil || got != want {
			t.Errorf("seed %d: %g, %v, want %g", seed, got, err, want)
		}
	}
	if !slices.Equal(calls, []uint64{1, 3, 2}) {
		t.Errorf("runs of seeds %v", calls)
	}
}

func TestProductsAreInnerProducts(t *testing.T) {
	z := clouds(7, 1030, 2, 1, 3).x.Dense // more columns than a block, not a multiple
	k := products(z)
	for i := range 7 {
		for j := range 7 {
			if want := inner(z.Row(i), z.Row(j)); math.Abs(k[i*7+j]-want) > 1e-9*math.Abs(want)+1e-9 {
				t.Errorf("%d, %d: %g, want %g", i, j, k[i*7+j], want)
			}
		}
	}
}

// The combination of rows has the scores that the kernel's machine has.
func TestCombinedScoresAreThoseOfTheKernel(t *testing.T) {
	z := clouds(5, 600, 2, 1, 4).x
	alpha, b := make([]float64, 10), []float64{0.5, -2}
	for i := range alpha {
		alpha[i] = float64(i%4) - 1
	}
	scores := matrix.NewDense(5, 2)
	combined(z.Dense, alpha, b).Scores(scores, z)
	for i := range 5 {
		for o := range 2 {
			want := b[o]
			for r := range 5 {
				want += alpha[r*2+o] * inner(z.Dense.Row(i), z.Dense.Row(r))
			}
			if got := float64(scores.Row(i)[o]); math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
				t.Errorf("row %d, output %d: %g, want %g", i, o, got, want)
			}
		}
	}
}

// Two rings around each other: no line parts them, the rbf kernel does.
func TestRBFMachinePartsRings(t *testing.T) {
	r := random.New(1, "rings")
	ring := func(n int) labelled {
		l := labelled{x: matrix.Rows{Dense: matrix.NewDense(n, 2)}}
		for i := range n {
			a, radius := 2*math.Pi*r.Uniform(), 1+2*float64(i%2)+0.2*r.Normal()
			l.x.Dense.Row(i)[0], l.x.Dense.Row(i)[1] = float32(radius*math.Cos(a)), float32(radius*math.Sin(a))
			l.class = append(l.class, i%2)
		}
		return l
	}
	s := split{ring(200), ring(200), 2}
	percent, trial, err := rbfMachine(context.Background(), twoClasses{}, s, 0, 1)
	if err != nil || percent < 98 || trial < 1 || trial > 9 {
		t.Errorf("%g %% by trial %g, %v", percent, trial, err)
	}
	again, _, err := rbfMachine(context.Background(), twoClasses{}, s, trial, 1)
	if err != nil || again != percent {
		t.Errorf("%g %% by what was chosen, then %g %%, %v", percent, again, err)
	}
}
