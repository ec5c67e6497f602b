package trees

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// uniforms are numbers in [0, 1) of a generator that other languages have in two lines.
func uniforms(seed uint64) func() float64 {
	return func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>40) / (1 << 24)
	}
}

// steep has a threshold in two columns and is smooth in a third; three more tell nothing.
func steep(n int) (x *matrix.Dense, y []float64) {
	next := uniforms(7)
	x, y = matrix.NewDense(n, 6), make([]float64, n)
	for i := range y {
		row := x.Row(i)
		for j := range row {
			row[j] = float32(next())
		}
		noise := -6.0
		for range 12 {
			noise += next()
		}
		if row[0] > .3 && row[1] > .6 {
			y[i] = 3
		}
		y[i] += math.Sin(6*float64(row[2])) + .3*noise
	}
	return x, y
}

// codes are those of the classes between thresholds: ±1 for two, one output for each of more.
func codes(y []float64, thresholds ...float64) (all []float64, outputs int) {
	k := len(thresholds) + 1
	for _, v := range y {
		class := 0
		for class < len(thresholds) && v >= thresholds[class] {
			class++
		}
		if k == 2 {
			all = append(all, float64(2*class-1))
			continue
		}
		row := slices.Repeat([]float64{-1}, k)
		row[class] = 1
		all = append(all, row...)
	}
	if k == 2 {
		return all, 1
	}
	return all, k
}

func numbers(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// fit trains trees on the first 2,000 rows, and returns the loss of a row of the others.
func fit(t *testing.T, x *matrix.Dense, y []float64, outputs int, opt Options) (*Trees, float64) {
	t.Helper()
	others := numbers(2000, x.Rows)
	made, scores, err := Fit(context.Background(), x, numbers(0, 2000), nil, others, y, outputs, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	b := newBoosting(x, numbers(0, 1), others, y, outputs, nil, opt)
	copy(b.scores[outputs:], scores)
	return made, b.loss() / float64(len(others))
}

// CatBoost 1.2.10 with the same settings (depth 6, learning_rate .05, l2_leaf_reg 3, subsample .8 of Bernoulli draws, random_strength 0, score
// L2, one step for a leaf, plain boosting, 63 borders) has these losses of the same rows. Both draw rows, and four classes have other
// curvatures, so that a few percent are chance. Its 100 and 300 trees of squared error have steps as long in all as 83 and 200 whose steps grow.
func TestLossesAreNoMoreThanCatBoosts(t *testing.T) {
	x, y := steep(3000)
	two, one := codes(y, .628573989868164)
	four, k := codes(y, -.47074744, .62857399, 2.13215864)
	for _, c := range []struct {
		name    string
		y       []float64
		outputs int
		trees   int
		want    float64
	}{
		{"numbers", y, 1, 83, .13148}, {"numbers", y, 1, 200, .13256},
		{"two classes", two, one, 100, .19250}, {"two classes", two, one, 300, .18972},
		{"four classes", four, k, 100, .43882}, {"four classes", four, k, 300, .43082},
	} {
		_, loss := fit(t, x, c.y, c.outputs, Options{Trees: c.trees, Logistic: c.name != "numbers", Seed: 1})
		t.Logf("%s, %d trees: %.4f, CatBoost %.4f", c.name, c.trees, loss, c.want)
		if loss > 1.05*c.want {
			t.Errorf("%s, %d trees: a loss of %.4f, CatBoost's is %.4f", c.name, c.trees, loss, c.want)
		}
	}
}

// A question is the one with the largest score among all, by sums over all rows that were drawn; so for any number of outputs, and for columns
// in which most rows have one number.
func TestQuestionsAreTheBest(t *testing.T) {
	narrow, y := steep(400)
	x := matrix.NewDense(400, narrow.Cols+7)
	for i := range x.Rows {
		copy(x.Row(i), narrow.Row(i))
		x.Row(i)[narrow.Cols+i%6] = float32(1 + i%5*(i%2)) // a sixth of the rows are not 0
		if x.Row(i)[narrow.Cols+6] = 3; y[i] > 1.5 {
			x.Row(i)[narrow.Cols+6] = float32(i % 2)
		}
	}
	many := make([]float64, 0, 6*len(y))
	for _, v := range y {
		many = append(many, v, v*v, -v, math.Sin(v), 1, v/2)
	}
	for _, c := range []struct {
		y       []float64
		outputs int
	}{{y, 1}, {many[:3*len(y)], 3}, {many, 6}} {
		b := newBoosting(x, numbers(0, 400), nil, c.y, c.outputs, nil, Options{Seed: 3})
		b.differentiate()
		b.draw(0)
		if few := slices.IndexFunc(b.bins.others, func(rows []int32) bool { return rows != nil }); few != narrow.Cols {
			t.Fatalf("column %d is the first with one number in most rows, want %d", few, narrow.Cols)
		}
		for level := range Levels {
			column, question := b.ask(level)
			best := b.score(column, question, level)
			for c := range x.Cols {
				most := math.Inf(-1)
				for q := range b.bins.tops[c] {
					most = max(most, b.score(c, uint8(q), level))
				}
				if math.Abs(b.gains[c]-most) > 1e-9*most || most > best*(1+1e-9) {
					t.Fatalf("%d outputs, level %d: column %d has the score %g, said to be %g, and the chosen %d with %d %g", b.Outputs, level, c, most, b.gains[c], column, question, best)
				}
			}
			b.split(level, column, question)
		}
		if slices.Max(b.leaf) < 32 {
			t.Fatal("no leaf of the last level has a row")
		}
	}
}

// score is that of a question by its definition.
func (b *boosting) score(column int, question uint8, level int) (score float64) {
	stride := b.sketches + 1
	sums := make([]float64, 2<<level*stride)
	for _, i := range b.rows {
		l := int(b.leaf[i])
		if b.bins.of[column][i] > question {
			l |= 1 << level
		}
		for s, v := range b.sums[int(i)*stride:][:stride] {
			sums[l*stride+s] += v
		}
	}
	for ; len(sums) > 0; sums = sums[stride:] {
		for _, g := range sums[:b.sketches] {
			score += g * g / (sums[b.sketches] + ridge)
		}
	}
	return score
}

// Slopes and curves are derivatives of the loss; those of classes by finite differences, the curves but for K/(K-1).
func TestDerivatives(t *testing.T) {
	x, y := steep(40)
	two, _ := codes(y, .6)
	three, _ := codes(y, 0, 1)
	for _, c := range []struct {
		y        []float64
		outputs  int
		logistic bool
		factor   float64
	}{{y, 1, false, 2}, {two, 1, true, 1}, {three, 3, true, 1}} {
		w := slices.Repeat([]float64{1.5}, x.Rows)
		b := newBoosting(x, numbers(0, 40), numbers(0, 40), c.y, c.outputs, w, Options{Logistic: c.logistic})
		next := uniforms(3)
		for i := range 40 * c.outputs {
			v := 2*next() - 1
			b.scores[i], b.scores[40*c.outputs+i] = v, v
		}
		b.differentiate()
		for i := range 40 * c.outputs {
			const h = 1e-4
			at := &b.scores[40*c.outputs+i]
			v, middle := *at, b.loss()
			*at = v + h
			up := b.loss()
			*at = v - h
			down := b.loss()
			*at = v
			slope, curve := (up-down)/(2*h)/c.factor, (up-2*middle+down)/(h*h)/c.factor
			if c.outputs > 1 {
				curve *= float64(c.outputs) / float64(c.outputs-1)
			}
			if math.Abs(slope-b.slopes[i]) > 1e-6 || math.Abs(curve-b.curves[i]) > 1e-3 {
				t.Fatalf("%d outputs: slope %g and curve %g, by differences %g and %g", c.outputs, b.slopes[i], b.curves[i], slope, curve)
			}
		}
	}
}

// Trees end where held-out rows see no gain, and as many trees as these ask for are the same trees.
func TestHeldRowsEndTheTrees(t *testing.T) {
	x, y := steep(3000)
	made, scores, err := Fit(context.Background(), x, numbers(0, 2000), numbers(2000, 2500), numbers(2500, 3000), y, 1, nil, Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if n := made.Len(); n < 30 || n > 400 {
		t.Errorf("%d trees, of a function that 100 learn", n)
	}
	again, _, err := Fit(context.Background(), x, numbers(0, 2000), nil, nil, y, 1, nil, Options{Seed: 5, Trees: made.Len()})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(made.Values, again.Values) || !slices.Equal(made.Columns, again.Columns) {
		t.Error("as many trees without held-out rows are others")
	}
	// By definition, row by row.
	for i, v := range scores {
		want := made.Start[0]
		for n := range made.Len() {
			leaf := 0
			for l := range Levels {
				if x.Row(2500 + i)[made.Columns[n*Levels+l]] > made.Thresholds[n*Levels+l] {
					leaf += 1 << l
				}
			}
			want += float64(made.Values[n*Leaves+leaf])
		}
		if math.Abs(v-want) > 1e-12*math.Abs(want) {
			t.Fatalf("row %d has the score %g; expected %g", i, v, want)
		}
	}
	if by := made.Times([]float64{3}); by.Values[5] != 3*made.Values[5] || by.Start[0] != 3*made.Start[0] {
		t.Error("trees by a factor have other values")
	}
}

// Rows of weight 0 change nothing, and neither do threads; twice all weights are the same trees.
func TestWeightsAndThreads(t *testing.T) {
	x, y := steep(2200)
	opt := Options{Trees: 20, Seed: 2}
	half := make([]float64, len(y))
	for i := range half {
		half[i] = float64(i % 2)
	}
	other := slices.Clone(y)
	for i := 0; i < len(y); i += 2 {
		other[i] = 100
	}
	one := func(y, weights []float64) *Trees {
		made, _, err := Fit(context.Background(), x, numbers(0, 2200), nil, nil, y, 1, weights, opt)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	a := one(y, half)
	if b := one(other, half); !slices.Equal(a.Values, b.Values) {
		t.Error("rows of weight 0 change the trees")
	}
	double := slices.Clone(half)
	for i := range double {
		double[i] *= 2
	}
	if b := one(y, double); !slices.Equal(a.Values, b.Values) || !slices.Equal(a.Thresholds, b.Thresholds) {
		t.Error("twice the weights give other trees")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := one(y, half)
	runtime.GOMAXPROCS(5)
	if c := one(y, half); !slices.Equal(b.Values, c.Values) || !slices.Equal(a.Values, c.Values) {
		t.Error("threads change the trees")
	}
}

// Wide tables draw columns, and find the ones that matter.
func TestWide(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	narrow, y := steep(2500)
	x := matrix.NewDense(2500, mostColumns+100)
	r := random.New(1, "trees.test")
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			row[j] = float32(r.Uniform())
		}
		copy(row, narrow.Row(i))
	}
	_, loss := fit(t, x, y, 1, Options{Trees: 150})
	if variance := 2.9; loss > .2*variance {
		t.Errorf("a loss of %g, of numbers with a variance of %g", loss, variance)
	}
}

// Columns that are constant are not drawn: five of 2,000 vary, and 128 are drawn for a tree.
func TestConstantColumnsAreNotAsked(t *testing.T) {
	narrow, y := steep(2500)
	x := matrix.NewDense(2500, 2000)
	for i := range x.Rows {
		copy(x.Row(i)[1900:], narrow.Row(i))
	}
	made, loss := fit(t, x, y, 1, Options{Trees: 100})
	if loss > .14 || made.Len() != 100 {
		t.Errorf("%d trees with a loss of %g, where the columns by themselves have .11", made.Len(), loss)
	}
}

func TestBins(t *testing.T) {
	next := float32(math.Nextafter32(1, 2))
	for _, c := range []struct {
		numbers []float32
		bins    int
	}{
		{[]float32{5, 5, 5}, 1},
		{[]float32{1, 2, 1, 2, 7}, 3},
		{[]float32{1, next}, 2},
		{[]float32{-math.MaxFloat32, math.MaxFloat32}, 2},
	} {
		x := &matrix.Dense{Rows: len(c.numbers), Cols: 1, Stride: 1, Data: c.numbers}
		b := bin(x, numbers(0, x.Rows), x.Rows)
		if len(b.tops[0]) != c.bins-1 {
			t.Errorf("%v: %d bins, expected %d", c.numbers, len(b.tops[0])+1, c.bins)
		}
		for i, v := range c.numbers {
			for q, top := range b.tops[0] {
				if (v > top) != (b.of[0][i] > uint8(q)) {
					t.Errorf("%v: %g is in bin %d, and the top of bin %d is %g", c.numbers, v, b.of[0][i], q, top)
				}
			}
		}
	}
	many, _ := steep(10_000)
	b := bin(many, numbers(0, 10_000), 10_000)
	sizes := make([]int, mostBins)
	for _, q := range b.of[0] {
		sizes[q]++
	}
	if least, most := slices.Min(sizes), slices.Max(sizes); least < 10_000/mostBins/2 || most > 2*10_000/mostBins {
		t.Errorf("bins of %d to %d rows, expected about %d", least, most, 10_000/mostBins)
	}
}

func TestWrongTreesAreRefused(t *testing.T) {
	good := func() *Trees {
		return &Trees{Dim: 2, Outputs: 1, Start: []float64{0}, Columns: make([]int32, Levels), Thresholds: make([]float32, Levels), Values: make([]float32, Leaves)}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Trees){
		"column":    func(t *Trees) { t.Columns[3] = 2 },
		"below":     func(t *Trees) { t.Columns[3] = -1 },
		"threshold": func(t *Trees) { t.Thresholds[1] = float32(math.NaN()) },
		"value":     func(t *Trees) { t.Values[9] = float32(math.Inf(1)) },
		"start":     func(t *Trees) { t.Start[0] = math.NaN() },
		"values":    func(t *Trees) { t.Values = t.Values[1:] },
		"starts":    func(t *Trees) { t.Start = nil },
		"questions": func(t *Trees) { t.Columns = append(t.Columns, 0) },
	} {
		bad := good()
		spoil(bad)
		if bad.Check() == nil {
			t.Errorf("%s: a wrong tree was taken", name)
		}
	}
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	x, y := steep(300)
	opt := Options{Trees: 1000, Progress: func(share float64) {
		if share == 0.032 {
			cancel()
		}
	}}
	if _, _, err := Fit(ctx, x, numbers(0, 300), nil, nil, y, 1, nil, opt); err != context.Canceled {
		t.Errorf("cancelled trees end with %v", err)
	}
	same := matrix.NewDense(300, 2)
	made, scores, err := Fit(context.Background(), same, numbers(0, 200), numbers(200, 300), numbers(0, 1), y, 1, nil, Options{})
	if err != nil || made.Len() != 0 || math.Abs(scores[0]-made.Start[0]) > 0 {
		t.Errorf("rows that are equal: %d trees, %v, %v", made.Len(), scores, err)
	}
	for _, wrong := range []func() (*Trees, []float64, error){
		func() (*Trees, []float64, error) { return Fit(ctx, x, nil, nil, nil, y, 1, nil, Options{Trees: 1}) },
		func() (*Trees, []float64, error) {
			return Fit(ctx, x, numbers(0, 3), nil, nil, y, 2, nil, Options{Trees: 1})
		},
		func() (*Trees, []float64, error) {
			return Fit(ctx, x, numbers(0, 3), nil, nil, y, 1, y[:5], Options{Trees: 1})
		},
		func() (*Trees, []float64, error) { return Fit(ctx, x, numbers(0, 3), nil, nil, y, 1, nil, Options{}) },
	} {
		if _, _, err := wrong(); err == nil || err == context.Canceled {
			t.Errorf("what does not fit together was taken: %v", err)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	x, y := steep(5000)
	for b.Loop() {
		if _, _, err := Fit(context.Background(), x, numbers(0, 5000), nil, nil, y, 1, nil, Options{Trees: 100}); err != nil {
			b.Fatal(err)
		}
	}
}
