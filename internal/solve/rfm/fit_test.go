package rfm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

// quick are kinds that are fast to train.
var quick = []Kind{{kernel.RBF.Usual(), "diagonal"}}

func fitted(t testing.TB, x *matrix.Dense, y []float64, outputs int, weights []float64, opt Options) (*Machine, *Report) {
	t.Helper()
	m, report, err := Fit(context.Background(), x, y, outputs, weights, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}

func scored(t testing.TB, m *Machine, x *matrix.Dense) []float32 {
	t.Helper()
	_, k := m.Dims()
	dst := matrix.NewDense(x.Rows, k)
	if err := m.Scores(dst, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range dst.Data {
		if v-v != 0 {
			t.Fatalf("score %d is %g", i, v)
		}
	}
	return dst.Data
}

// failed is the share of the variance of y that scores leave.
func failed(scores []float32, y []float64) float64 {
	mean, squares, wrong := 0.0, 0.0, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for i, v := range y {
		squares += (v - mean) * (v - mean)
		wrong += (float64(scores[i]) - v) * (float64(scores[i]) - v)
	}
	return wrong / squares
}

// Four of twelve columns matter: their share of the metric is far above their third, and other rows are predicted.
func TestPlantedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := table(900, 12, 1)
	xt, yt := table(500, 12, 2)
	m, report := fitted(t, x, y, 1, nil, Options{Seed: 1, Smooth: true})
	if len(m.Leaves()) != 1 || report.Leaves != 1 || m.Centres() != report.Centres {
		t.Errorf("%d leaves, %+v", len(m.Leaves()), report)
	}
	weights := 0.0
	for i, k := range report.Chosen() {
		one := m.Leaves()[0][i]
		weights += one.Weight
		if one.Metric == nil {
			t.Fatalf("%s has plain distances", k.Kernel.Name)
		}
		if axes := one.Metric.Axes != nil; axes != (k.Form == "full") || one.Machine.Kernel().Name != k.Kernel.Name {
			t.Errorf("member %d is %+v, want the kind %+v", i, one, k)
		}
		matter, all := 0.0, 0.0
		for j, v := range one.Metric.Relevance() {
			if j < 4 {
				matter += v
			}
			all += v
		}
		if matter/all < 0.8 {
			t.Errorf("%s with a %s metric gives the columns that matter %.2f", k.Kernel.Name, k.Form, matter/all)
		}
	}
	if math.Abs(weights-1) > 1e-12 {
		t.Errorf("weights add up to %g", weights)
	}
	learned := failed(scored(t, m, xt), yt)
	if learned > 0.1 {
		t.Errorf("%.3f of the variance is left", learned)
	}
	if lines := report.Lines(); len(lines) != 2 || !strings.HasPrefix(lines[1], "one leaf, ") {
		t.Errorf("%q", lines)
	}
}

// sides makes rows of ten columns, with an answer that depends on other columns on both sides of 0 along the first.
func sides(n int, seed uint64) (*matrix.Dense, []float64) {
	r := random.New(seed, "rfm.sides")
	x, y := matrix.NewDense(n, 10), make([]float64, n)
	r.FillNormal(x.Data)
	for i := range y {
		row := x.Row(i)
		side := row[1:4]
		if row[0] > 0 {
			side = row[4:7]
		}
		y[i] = 2*float64(row[0]) + math.Sin(2*float64(side[0])) + float64(side[1]*side[2]) + 0.1*r.Normal()
	}
	return x, y
}

// Where the columns that matter are others on both sides of 0, leaves do better than one machine.
func TestLeavesLearnWhatMattersThere(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := sides(2400, 1)
	xt, yt := sides(1000, 2)
	one, _ := fitted(t, x, y, 1, nil, Options{Seed: 1, Kinds: quick, Leaf: 2400, Smooth: true})
	two, report := fitted(t, x, y, 1, nil, Options{Seed: 1, Kinds: quick, Leaf: 1500, Smooth: true})
	if len(one.Leaves()) != 1 || len(two.Leaves()) != 2 || report.Lines()[1][:8] != "2 leaves" {
		t.Fatalf("%d and %d leaves, %q", len(one.Leaves()), len(two.Leaves()), report.Lines())
	}
	a, b := failed(scored(t, one, xt), yt), failed(scored(t, two, xt), yt)
	if !(b < 0.8*a) {
		t.Errorf("one leaf leaves %.3f of the variance, two leave %.3f", a, b)
	}
	for l, leaf := range two.Leaves() {
		r := leaf[0].Metric.Relevance()
		lower, upper := r[1]+r[2]+r[3], r[4]+r[5]+r[6]
		if d := two.Tree()[0].Direction[0]; (d > 0) == (l == 0) && lower < 1.5*upper || (d > 0) != (l == 0) && upper < 1.5*lower { // 1 without leaves
			t.Errorf("leaf %d gives the columns of both sides %.2f and %.2f", l, lower, upper)
		}
	}
}

// Machines for all rows have a large share where what matters is the same everywhere, and a small one or none where it
// changes; the mean is better than the leaves alone where it is smooth.
func TestShareOfTheWholeIsDecidedByHeldOutRows(t *testing.T) {
	testenv.Long(t, "the share of the machines of all rows is that of the best held-out error")
	smooth := func(n int, seed uint64) (*matrix.Dense, []float64) {
		x, y := matrix.NewDense(n, 4), make([]float64, n)
		r := random.New(seed, "rfm.smooth")
		r.FillNormal(x.Data)
		for i := range y {
			row := x.Row(i)
			y[i] = math.Sin(2*float64(row[0])) + math.Sin(2*float64(row[1])) + float64(row[2]*row[3]) + 0.1*r.Normal()
		}
		return x, y
	}
	for name, c := range map[string]struct {
		rows        func(n int, seed uint64) (*matrix.Dense, []float64)
		least, most float64
	}{"smooth": {smooth, 0.5, 1}, "parts": {sides, 0, 0.4}} {
		x, y := c.rows(1500, 1)
		xt, yt := c.rows(1000, 2)
		m, report := fitted(t, x, y, 1, nil, Options{Kinds: quick, Leaf: 400})
		share := report.Whole
		if len(m.Tree()) == 0 { // no leaves at all
			share = 1
		}
		if share < c.least || share > c.most || m.Whole().Share != report.Whole {
			t.Errorf("%s: machines for all rows have the share %g", name, share)
		}
		leaves, err := NewMachine(x.Cols, m.Tree(), m.Leaves(), Whole{}, Steps{})
		if err != nil {
			t.Fatal(err)
		}
		with, without := failed(scored(t, m, xt), yt), failed(scored(t, leaves, xt), yt)
		t.Logf("%s: share %.2f, %.4f of the variance is left, %.4f by the leaves alone", name, share, with, without)
		if with > without*1.02 {
			t.Errorf("%s: %.3f of the variance is left, %.3f by the leaves alone", name, with, without)
		}
	}
}

// The rows of a leaf are at most Leaf, those of ramps included, and a single leaf is divided as soon as one row is too
// many.
func TestSizeOfLeaves(t *testing.T) {
	x, y := table(401, 4, 1)
	for n, want := range map[int]int{399: 1, 400: 1, 401: 2} {
		trained := want
		if want > 1 {
			trained++ // machines for all rows
		}
		var shares []float64
		m, report := fitted(t, x.Slice(0, n), y[:n], 1, nil, Options{Kinds: quick, Leaf: 400, Centres: 50, Smooth: true, Progress: func(s float64) { shares = append(shares, s) }})
		if want > 1 && report.Whole == 0 {
			trained-- // they were of no use
		}
		if len(m.Leaves()) != want || report.Leaves != want || report.Centres != 50*trained || len(m.Tree()) != want-1 {
			t.Errorf("%d rows: %d leaves, %+v", n, len(m.Leaves()), report)
		}
		farthest := 0.0 // from one share to the next
		for i, s := range shares[1:] {
			farthest = max(farthest, s-shares[i])
		}
		if len(shares) <= trained || shares[0] != 0 || farthest > 0.5 || shares[len(shares)-1] != 1 || !slices.IsSorted(shares) {
			t.Errorf("%d rows: progress %v", n, shares)
		}
	}
	m, _ := fitted(t, x, y, 1, nil, Options{Kinds: quick, Leaf: 100, Smooth: true})
	for _, leaf := range m.Leaves() {
		if n := leaf[0].Machine.Rows().Len(); n > 100 || n < 25 {
			t.Errorf("a leaf has %d landmarks", n)
		}
	}
}

// Weights of 1 are no weights, and what rows of weight 0 say does not matter, to the bit.
func TestWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := table(500, 4, 1)
	ones := slices.Repeat([]float64{1}, 500)
	opt := Options{Leaf: 300, Centres: 100, Kinds: append(Kinds(4)[3:], quick...)}
	a, _ := fitted(t, x, y, 1, nil, opt)
	b, _ := fitted(t, x, y, 1, ones, opt)
	if !slices.Equal(scored(t, a, x), scored(t, b, x)) {
		t.Error("weights of 1 give other scores than none")
	}
	r := random.New(1, "rfm.weights")
	other := slices.Clone(y)
	for i := range ones {
		if r.Intn(3) == 0 {
			ones[i], other[i] = 0, 100*r.Normal()
		}
	}
	a, _ = fitted(t, x, y, 1, ones, opt)
	b, _ = fitted(t, x, other, 1, ones, opt)
	if !slices.Equal(scored(t, a, x), scored(t, b, x)) {
		t.Error("the targets of rows without weight change the scores")
	}
	// Rows that count for little and tell the opposite do little harm.
	for i := range ones {
		ones[i], other[i] = 1, y[i]
		if i%3 == 0 {
			ones[i], other[i] = 0.01, -y[i]
		}
	}
	for weighted, w := range map[bool][]float64{true: ones, false: nil} {
		m, _ := fitted(t, x, other, 1, w, Options{Kinds: quick})
		if e := failed(scored(t, m, x), y); (e < 0.15) != weighted {
			t.Errorf("weights %v: %.3f of the variance is left", weighted, e)
		}
	}
	for name, weights := range map[string][]float64{"negative": slices.Repeat([]float64{-1}, 500), "of 0": make([]float64, 500),
		"infinite": slices.Repeat([]float64{math.Inf(1)}, 500)} {
		if _, _, err := Fit(context.Background(), x, y, 1, weights, opt); err == nil {
			t.Errorf("weights that are %s are taken", name)
		}
	}
}

// Where all rows have weight 0 there is no leaf.
func TestSidesWithoutWeight(t *testing.T) {
	x, y := table(700, 4, 1)
	weights, count := make([]float64, 700), 0
	for i := range y {
		y[i] = 10 * float64(x.Row(i)[0])
		if x.Row(i)[0] > -0.1 {
			weights[i] = 1
			count++
		}
	}
	m, _ := fitted(t, x, y, 1, weights, Options{Kinds: quick, Leaf: 250, Centres: 50})
	if n := len(m.Leaves()); n != (count+249)/250 {
		t.Errorf("%d leaves for %d rows that count", n, count)
	}
	if _, _, err := Fit(context.Background(), x, y, 1, append(make([]float64, 691), weights[:9]...), Options{}); err == nil ||
		!strings.Contains(err.Error(), "too few") {
		t.Errorf("few rows that count: %v", err)
	}
}

func TestOutputs(t *testing.T) {
	x, y := table(600, 5, 1)
	xt, yt := table(300, 5, 2)
	three := func(x *matrix.Dense, y []float64) (all []float64) {
		for i, v := range y {
			all = append(all, v, 1000*math.Sin(float64(x.Row(i)[4])), 7)
		}
		return all
	}
	for _, leaf := range []int{1000, 350} {
		m, _ := fitted(t, x, three(x, y), 3, nil, Options{Kinds: quick, Leaf: leaf, Smooth: true})
		if in, out := m.Dims(); in != 5 || out != 3 {
			t.Fatalf("%d and %d dimensions", in, out)
		}
		scores, want := scored(t, m, xt), three(xt, yt)
		for o, most := range []float64{0.25, 0.05} { // the second is a thousand times as large
			var some []float32
			var of []float64
			for i := o; i < len(scores); i += 3 {
				some, of = append(some, scores[i]), append(of, want[i])
			}
			if e := failed(some, of); e > most {
				t.Errorf("output %d: %.3f of the variance is left", o, e)
			}
		}
		for i := 2; i < len(scores); i += 3 {
			if math.Abs(float64(scores[i]-7)) > 1e-3 {
				t.Fatalf("an output that is always 7 is scored %g", scores[i])
			}
		}
	}
}

// What is constant, repeated or short gives a machine all the same.
func TestDegenerateRows(t *testing.T) {
	x, y := table(300, 4, 1)
	constant := slices.Repeat([]float64{3}, 300)
	two := matrix.NewDense(300, 4) // two rows, repeated
	flat := matrix.NewDense(300, 4)
	equal := matrix.NewDense(300, 4)
	for i := range 300 {
		copy(two.Row(i), x.Row(i%2))
		copy(flat.Row(i), x.Row(i))
		flat.Row(i)[1], flat.Row(i)[3] = 5, 0
		copy(equal.Row(i), x.Row(0))
	}
	for name, c := range map[string]struct {
		x    *matrix.Dense
		y    []float64
		most float64 // error against the targets' mean square
	}{
		"constant targets": {x, constant, 1e-6},
		"constant columns": {flat, y, 1},
		"two rows":         {two, slices.Repeat([]float64{1, -1}, 150), 1e-3},
		"equal rows":       {equal, y, 2},
		"ten rows":         {x.Slice(0, 10), y[:10], 2},
		"eleven rows":      {x.Slice(0, 11), y[:11], 2},
	} {
		for _, opt := range []Options{{}, {Leaf: 100, Centres: 40}} {
			m, _, err := Fit(context.Background(), c.x, c.y, 1, nil, opt)
			if err != nil {
				t.Errorf("%s, leaves of %d: %v", name, opt.Leaf, err)
				continue
			}
			squares, wrong := 0.0, 0.0
			for i, v := range scored(t, m, c.x) {
				squares += c.y[i] * c.y[i]
				wrong += (float64(v) - c.y[i]) * (float64(v) - c.y[i])
			}
			if !(wrong <= c.most*squares) {
				t.Errorf("%s, leaves of %d: %.3g of the squares is left", name, opt.Leaf, wrong/squares)
			}
		}
	}
}

func TestFitRefuses(t *testing.T) {
	x, y := table(50, 4, 1)
	for want, c := range map[string]struct {
		x       *matrix.Dense
		y, w    []float64
		outputs int
		opt     Options
	}{
		"9 rows are too few":      {x.Slice(0, 9), y[:9], nil, 1, Options{}},
		"50 rows with 49 targets": {x, y[:49], nil, 1, Options{}},
		"of 0 outputs":            {x, nil, nil, 0, Options{}},
		"and 3 weights":           {x, y, y[:3], 1, Options{}},
		"leaves of 99 rows":       {x, y, nil, 1, Options{Leaf: 99}},
		"-1 members":              {x, y, nil, 1, Options{Members: -1}},
		"-1 centres":              {x, y, nil, 1, Options{Centres: -1}},
		"λ = -1":                  {x, y, nil, 1, Options{Lambda: -1}},
		"λ = NaN":                 {x, y, nil, 1, Options{Lambda: math.NaN()}},
		"no kinds":                {x, y, nil, 1, Options{Kinds: []Kind{}}},
		`metric "magic"`:          {x, y, nil, 1, Options{Kinds: []Kind{{kernel.RBF.Usual(), "magic"}}}},
		"poly is none":            {x, y, nil, 1, Options{Kinds: []Kind{{kernel.Kernel{Name: "poly", Degree: 2}, "diagonal"}}}},
	} {
		if _, _, err := Fit(context.Background(), c.x, c.y, c.outputs, c.w, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// λ that is given is for as many rows as there are, and a larger one gives smaller functions.
func TestGivenLambda(t *testing.T) {
	x, y := table(400, 4, 1)
	last := math.Inf(1)
	for _, lambda := range []float64{1e-3, 10, 1e6} {
		m, _ := fitted(t, x, y, 1, nil, Options{Kinds: quick, Lambda: lambda, Leaf: 250, Smooth: true})
		b, sum := 0.0, 0.0
		scores := scored(t, m, x)
		for _, v := range scores {
			b += float64(v) / 400
		}
		for _, v := range scores {
			sum += (float64(v) - b) * (float64(v) - b)
		}
		if !(sum < last) {
			t.Errorf("λ = %g: the scores vary by %g, by %g with a smaller λ", lambda, sum, last)
		}
		last = sum
	}
}

// trainSmall makes a few leaves with machines of both forms of metrics and several outputs, and rows.
func trainSmall() (*Machine, *matrix.Dense, error) {
	x, y := table(700, 6, 3)
	both := make([]float64, 0, 1400)
	for _, v := range y {
		both = append(both, v, -v*v)
	}
	m, _, err := Fit(context.Background(), x, both, 2, nil, Options{Seed: 1, Leaf: 250, Centres: 60, Members: 4,
		Kinds: []Kind{{kernel.RBF.Usual(), "diagonal"}, {kernel.Matern.Usual(), "full"}}})
	return m, x, err
}

// smallThreads is how many threads train smallMachine.
const smallThreads = 4

var smallOnce = sync.OnceValues(func() (m *Machine, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(smallThreads))
	m, _, err = trainSmall()
	return m, err
})

// smallMachine is the machine of trainSmall, and its rows.
func smallMachine(t testing.TB) (*Machine, *matrix.Dense) {
	t.Helper()
	m, err := smallOnce()
	if err != nil {
		t.Fatal(err)
	}
	x, _ := table(700, 6, 3)
	return m, x
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	bits := func(m *Machine, x *matrix.Dense) []float32 {
		got := scored(t, m, x)
		for _, leaf := range m.Leaves() {
			for _, one := range leaf {
				got = append(got, one.Machine.Rows().Dense.Contiguous()...)
				for _, v := range one.Machine.Alpha() {
					got = append(got, float32(v))
				}
			}
		}
		return got
	}
	want := bits(smallMachine(t))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m, x, err := trainSmall()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(bits(m, x), want) {
		t.Errorf("other bits with one thread than with %d", smallThreads)
	}
}

// lasting is a context that is done after a number of questions.
type lasting struct {
	context.Context
	left atomic.Int64
}

func (l *lasting) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Whenever a context ends the training does, and says why; it asks often.
func TestCancelledContext(t *testing.T) {
	x, y := table(600, 4, 1)
	fit := func(asks int) (*lasting, error) {
		ctx := &lasting{Context: context.Background()}
		ctx.left.Store(int64(asks))
		_, _, err := Fit(ctx, x, y, 1, nil, Options{Kinds: quick, Leaf: 250, Centres: 50})
		return ctx, err
	}
	ctx, err := fit(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	asks := 1<<30 - int(ctx.left.Load())
	if asks < 30 { // four leaves, of several machines each
		t.Errorf("a training asks %d times", asks)
	}
	times := 5
	if testing.Short() {
		times = 2
	}
	for after := 0; after < asks; after += 1 + asks/times {
		ctx, err := fit(after)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", after, err)
		}
		if left := ctx.left.Load(); left < -20 {
			t.Errorf("the training went on for %d questions after the end", -left)
		}
	}
}

func TestReport(t *testing.T) {
	r := &Report{Leaves: 3, LeafRows: 8000, Centres: 12_345, Whole: 0.246, Logistic: true, Candidates: []Candidate{
		{Kind: Kind{kernel.Laplacian.Usual(), "diagonal"}, Weight: 0.3}, {Kind: Kind{kernel.RBF.Usual(), "diagonal"}},
		{Kind: Kind{kernel.Matern.Usual(), "full"}, Weight: 0.4}, {Kind: Kind{kernel.Matern.Usual(), "full"}, Weight: 0.3}}}
	if got := fmt.Sprint(r.Chosen()); len(r.Chosen()) != 3 || r.Chosen()[0].Form != "full" {
		t.Error(got)
	}
	want := []string{"70 % matern with a full metric, 30 % laplacian with a diagonal metric",
		"3 leaves of at most 8,000 rows and, with 25 % of the scores, machines for all rows, by log loss, 12,345 landmarks in all"}
	if !slices.Equal(r.Lines(), want) {
		t.Errorf("%q", r.Lines())
	}
}

// A kind that does far worse than another on few rows is out; the other learns from all.
func TestKindsRaceOnFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r := random.New(1, "rfm.race")
	const n = 1500
	x, y := matrix.NewDense(n, 4), make([]float64, n)
	r.FillNormal(x.Data)
	for i := range y {
		row := x.Row(i)
		y[i] = math.Sin(float64(row[0]+row[1])) + float64(row[2]*row[3])/2
	}
	_, report := fitted(t, x, y, 1, nil, Options{Seed: 1, Smooth: true, Kinds: []Kind{{kernel.Laplacian.Usual(), "diagonal"}, {kernel.RBF.Usual(), "diagonal"}}})
	for _, c := range report.Candidates {
		laplacian := c.Kernel.Name == kernel.Laplacian.Name()
		if out := c.Learned.Landmarks == raceLandmarks; out != laplacian || out != (c.Weight == 0) {
			t.Errorf("%s: %d landmarks, weight %g", c.Kernel.Name, c.Learned.Landmarks, c.Weight)
		}
	}
}
