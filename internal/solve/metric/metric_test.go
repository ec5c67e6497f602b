package metric

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// normal are rows of independent normal numbers.
func normal(name string, n, d int) *matrix.Dense {
	r := random.New(1, name)
	x := matrix.NewDense(n, d)
	r.FillNormal(x.Data)
	return x
}

// scores are those of a machine by the kernel's definition.
func (f *function) scores(u []float32) []float64 {
	s := make([]float64, f.outputs)
	for l := range s {
		for j := range f.landmarks.Rows {
			s[l] += f.alpha[l*f.landmarks.Rows+j] * f.kernel.Eval(f.landmarks.Row(j), u)
		}
	}
	return s
}

func randomFunction(k kernel.Kernel, landmarks, d, outputs int) *function {
	f := &function{kernel: k, landmarks: normal("landmarks", landmarks, d), outputs: outputs}
	r := random.New(2, "alpha")
	for range landmarks * outputs {
		f.alpha = append(f.alpha, r.Normal())
	}
	return f
}

var kernels = []kernel.Kernel{
	{Name: "rbf", Gamma: 0.2}, {Name: "matern", Nu: 0.5, Gamma: 0.3}, {Name: "matern", Nu: 1.5, Gamma: 0.3},
	{Name: "matern", Nu: 2.2, Gamma: 0.3}, {Name: "laplacian", Gamma: 0.4}, {Name: "cauchy", Gamma: 0.5},
}

// The average outer product is that of central differences of the function itself. Where row and landmark
// share a coordinate the laplacian has a kink; random rows do not.
func TestOuterProductIsThatOfFiniteDifferences(t *testing.T) {
	const n, d, outputs, h = 300, 4, 3, 1e-3
	x := normal("rows", n, d)
	weights := make([]float64, n)
	r := random.New(3, "weights")
	for i := range weights {
		weights[i] = r.Uniform()
	}
	for _, k := range kernels {
		f := randomFunction(k, 20, d, outputs)
		want := make([]float64, d*d)
		for i := range n {
			jacobian := make([]float64, outputs*d)
			for j := range d {
				u := slices.Clone(x.Row(i))
				u[j] += h
				above, up := f.scores(u), float64(u[j])
				u[j] -= 2 * h
				below := f.scores(u)
				for l := range outputs {
					jacobian[l*d+j] = (above[l] - below[l]) / (up - float64(u[j]))
				}
			}
			for l := range outputs {
				for a := range d {
					for b := range d {
						want[a*d+b] += weights[i] * jacobian[l*d+a] * jacobian[l*d+b]
					}
				}
			}
		}
		for _, diagonal := range []bool{false, true} {
			got := make([]float64, d*d)
			if err := f.outer(context.Background(), x, weights, got, diagonal); err != nil {
				t.Fatal(err)
			}
			for a := range d {
				for b := a; b < d; b++ {
					g := got[a*d+b]
					if diagonal {
						if a != b {
							continue
						}
						g = got[a]
					}
					// Central differences are off by h², and by h at kinks within h of a row.
					if tolerance := 4e-3 * math.Sqrt(want[a*d+a]*want[b*d+b]); math.Abs(g-want[a*d+b]) > tolerance {
						t.Errorf("%s ν=%g, diagonal %t: G[%d,%d] = %g, by differences %g", k.Name, k.Nu, diagonal, a, b, g, want[a*d+b])
					}
				}
			}
		}
	}
}

// A weight of 3 is a row that comes three times.
func TestWeightsAreRepetitions(t *testing.T) {
	x := normal("rows", 40, 3)
	weights := make([]float64, 40)
	many := &matrix.Dense{Cols: 3, Stride: 3}
	for i := range weights {
		weights[i] = float64(i % 4)
		for range i % 4 {
			many.Data = append(many.Data, x.Row(i)...)
			many.Rows++
		}
	}
	for _, k := range kernels {
		f := randomFunction(k, 10, 3, 2)
		one, other := make([]float64, 9), make([]float64, 9)
		if err := f.outer(context.Background(), x, weights, one, false); err != nil {
			t.Fatal(err)
		}
		if err := f.outer(context.Background(), many, nil, other, false); err != nil {
			t.Fatal(err)
		}
		for j, v := range one {
			if math.Abs(v-other[j]) > 1e-5*math.Abs(one[0]) {
				t.Errorf("%s: %g with weights, %g with repetitions", k.Name, v, other[j])
			}
		}
	}
}

// A row that is a landmark has no gradient from itself, not even where the kernel is infinitely steep.
func TestRowsThatAreLandmarks(t *testing.T) {
	f := randomFunction(kernel.Kernel{Name: "matern", Nu: 0.5, Gamma: 0.3}, 12, 5, 1)
	for j := range f.landmarks.Data {
		f.landmarks.Data[j] += 100 // where products of rows have few digits left
	}
	g := make([]float64, 5)
	if err := f.outer(context.Background(), f.landmarks, nil, g, true); err != nil {
		t.Fatal(err)
	}
	for _, v := range g {
		// Slopes are at most √(2γ)·Σ|α|.
		if sum := 12.0 * math.Sqrt(0.6) * 4; !(v < 12*sum*sum) {
			t.Fatalf("gradients of %v", g)
		}
	}
}

// planted are rows of which three columns tell the answer.
func planted(n, d int) (x *matrix.Dense, y []float64, which []int) {
	x = normal("planted", n, d)
	r := random.New(5, "noise")
	which = []int{3, 17, 41}
	for i := range n {
		row := x.Row(i)
		a, b, c := float64(row[3]), float64(row[17]), float64(row[41])
		y = append(y, math.Sin(2*a)+a*b+math.Abs(c)+0.3*r.Normal())
	}
	return x, y, which
}

// Of 50 columns the three that matter are found, by every kernel of distances.
func TestPlantedColumnsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y, which := planted(1200, 50)
	for _, k := range kernels {
		for _, form := range Forms {
			if form != "diagonal" && !k.Smooth() || k.Nu == 2.2 { // which takes integrals
				continue
			}
			learned, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1,
				nil, Options{Kernel: k, Form: form, Landmarks: 600, Rounds: 2, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			m, report := learned.Metric, learned.Report
			if m == nil {
				t.Errorf("%s, %s: plain distances were kept: %+v", k.Name, form, report)
				continue
			}
			relevance := m.Relevance()
			order := make([]int, 50)
			for j := range order {
				order[j] = j
			}
			sort.Slice(order, func(a, b int) bool { return relevance[order[a]] > relevance[order[b]] })
			found := slices.Clone(order[:3])
			slices.Sort(found)
			if !slices.Equal(found, which) {
				t.Errorf("%s, %s: the most relevant columns are %v, want %v", k.Name, form, found, which)
			}
			if plain, best := report.Rounds[0].Error, report.Rounds[report.Best].Error; best > 0.8*plain {
				t.Errorf("%s, %s: a squared error of %.3f, plain distances have %.3f", k.Name, form, best, plain)
			}
		}
	}
}

// A direction that is no column's is the leading axis of a matrix.
func TestPlantedDirectionIsFound(t *testing.T) {
	const n, d = 2000, 10
	x := normal("direction", n, d)
	var y []float64
	for i := range n {
		sum := 0.0
		for _, v := range x.Row(i) {
			sum += float64(v) / math.Sqrt(d)
		}
		y = append(y, math.Sin(1.5*sum))
	}
	for _, form := range []string{"full", "low-rank"} {
		learned, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil,
			Options{Kernel: kernel.RBF.Usual(), Form: form, Rank: 1, Landmarks: 300, WithDirection: true, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, cosine := learned.Metric, 0.0
		for _, v := range learned.Direction {
			cosine += v / math.Sqrt(d)
		}
		if math.Abs(cosine) < 0.99 {
			t.Errorf("%s: the cosine between the direction of change and the planted one is %.3f", form, cosine)
		}
		dot, norm := 0.0, 0.0
		for j := range d {
			a := float64(m.Axes.Row(j)[0])
			dot += a / math.Sqrt(d)
			norm += a * a
		}
		if cosine := math.Abs(dot) / math.Sqrt(norm); cosine < 0.99 {
			t.Errorf("%s: the cosine between the leading axis and the direction is %.3f", form, cosine)
		}
		if _, out := m.Dims(); out != 1 {
			t.Errorf("%s: %d axes, asked was 1", form, out)
		}
	}
}

// The result depends on the arguments alone: neither on the number of threads nor on whether rows are sparse.
func TestLearnIsDeterministic(t *testing.T) {
	x, y, _ := planted(600, 50)
	sparse := &matrix.CSR{Rows: 600, Cols: 50, Ptr: []int{0}}
	for i := range 600 {
		for j := range 50 {
			if j%2 == 0 {
				x.Row(i)[j] = 0
			} else {
				sparse.Idx, sparse.Val = append(sparse.Idx, int32(j)), append(sparse.Val, x.Row(i)[j])
			}
		}
		sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
	}
	for _, form := range Forms {
		learn := func(rows matrix.Rows, threads int) *Metric {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			learned, err := Learn(context.Background(), rows, y, 1, nil,
				Options{Kernel: kernel.Matern.Usual(), Form: form, Landmarks: 200, Rounds: 2, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			return learned.Metric
		}
		one := learn(matrix.Rows{Dense: x}, 1)
		if one == nil {
			t.Fatalf("%s: plain distances were kept", form)
		}
		for name, other := range map[string]*Metric{"4 threads": learn(matrix.Rows{Dense: x}, 4),
			"sparse rows": learn(matrix.Rows{CSR: sparse}, 2)} {
			if !slices.Equal(one.Weights, other.Weights) || one.Axes != nil && !slices.Equal(one.Axes.Data, other.Axes.Data) {
				t.Errorf("%s, %s: another metric", form, name)
			}
		}
		// Sparse rows that the metric is applied to give what dense ones do.
		var a, b Work
		dense, thin := one.Apply(matrix.Rows{Dense: x}, &a), one.Apply(matrix.Rows{CSR: sparse}, &b)
		if thin.CSR != nil {
			var wide matrix.Dense
			thin.CSR.Densify(&wide)
			thin = matrix.Rows{Dense: &wide}
		}
		if !slices.Equal(dense.Dense.Contiguous(), thin.Dense.Contiguous()) {
			t.Errorf("%s: sparse rows become others", form)
		}
	}
}

// Where the answer is noise, or nothing varies with the rows, plain distances stay.
func TestNoiseKeepsPlainDistances(t *testing.T) {
	x := normal("noise", 500, 5)
	same := make([]float64, 500)
	learned, err := Learn(context.Background(), matrix.Rows{Dense: x}, same, 1, nil, Options{Kernel: kernel.RBF.Usual(), WithDirection: true})
	if err != nil || learned.Metric != nil || learned.Report.Best != 0 || learned.Direction != nil {
		t.Errorf("of a constant answer: %+v, %v", learned, err)
	}
}

// Rows that are held out judge, and nothing else is learned from any of them, not even those beyond the most that judge.
func TestHeldRows(t *testing.T) {
	x, y, _ := planted(400, 50)
	var held []int
	other := slices.Clone(y)
	for i := 3; i < 400; i += 4 {
		held = append(held, i)
		other[i] += 1e-6 * math.Sin(float64(i))
	}
	learn := func(y []float64) *Learned {
		l, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: kernel.RBF.Usual(), Held: held, WithDirection: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b := learn(y), learn(other)
	if !slices.Equal(a.Held, held) || a.Report.HeldOut != 100 || a.Report.Rows != 300 {
		t.Errorf("%d rows judged, %d taught", len(a.Held), a.Report.Rows)
	}
	if a.Metric == nil || !slices.Equal(a.Metric.Weights, b.Metric.Weights) || !slices.Equal(a.Direction, b.Direction) {
		t.Error("the metric knows the targets of rows that are held out")
	}
	if round := a.Report.Best; a.Report.Rounds[round].Error == b.Report.Rounds[round].Error {
		t.Error("they do not judge")
	}
}

func TestLearnErrors(t *testing.T) {
	x := matrix.Rows{Dense: normal("errors", 50, 3)}
	y := make([]float64, 50)
	for name, opt := range map[string]Options{
		"form":        {Kernel: kernel.RBF.Usual(), Form: "round"},
		"products":    {Kernel: kernel.Poly.Usual()},
		"histograms":  {Kernel: kernel.ExpChi2.Usual()},
		"no kernel":   {},
		"axes":        {Kernel: kernel.Laplacian.Usual(), Form: "full"},
		"few rows":    {Kernel: kernel.RBF.Usual(), Rows: 5},
		"length":      {Kernel: kernel.RBF.Usual(), Lengths: []float64{0}},
		"rounds":      {Kernel: kernel.RBF.Usual(), Rounds: -2},
		"power":       {Kernel: kernel.RBF.Usual(), Shape: Shape{Power: 11}},
		"floor":       {Kernel: kernel.RBF.Usual(), Shape: Shape{Floor: -1}},
		"shapes":      {Kernel: kernel.RBF.Usual(), Shape: Shape{Floor: 1}, Shapes: true},
		"low rank":    {Kernel: kernel.RBF.Usual(), Form: "low-rank", Shapes: true},
		"held twice":  {Kernel: kernel.RBF.Usual(), Held: []int{1, 2, 1}},
		"held beyond": {Kernel: kernel.RBF.Usual(), Held: []int{50}},
		"none held":   {Kernel: kernel.RBF.Usual(), Held: []int{}},
		"no landmark": {Kernel: kernel.RBF.Usual(), Landmarks: -1},
	} {
		if _, err := Learn(context.Background(), x, y, 1, nil, opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Learn(context.Background(), x, y[:20], 1, nil, Options{Kernel: kernel.RBF.Usual()}); err == nil {
		t.Error("too few targets: no error")
	}
	if _, err := Learn(context.Background(), x, y, 1, make([]float64, 50), Options{Kernel: kernel.RBF.Usual()}); err == nil {
		t.Error("weights of 0: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Learn(ctx, x, y, 1, nil, Options{Kernel: kernel.RBF.Usual()}); err == nil {
		t.Error("a cancelled context: no error")
	}
}

func TestCheck(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, m := range map[string]*Metric{
		"nothing":    {},
		"both":       {Weights: []float32{1, 1}, Axes: matrix.NewDense(2, 1)},
		"too narrow": {Weights: []float32{1}},
		"infinite":   {Weights: []float32{1, inf}},
		"wide axes":  {Axes: matrix.NewDense(3, 1)},
		"no axes":    {Axes: matrix.NewDense(2, 0)},
		"bad axes":   {Axes: &matrix.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, inf}}},
	} {
		if m.Check(2) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, m := range []*Metric{{Weights: []float32{1, 0}}, {Axes: matrix.NewDense(2, 1)}} {
		if err := m.Check(2); err != nil {
			t.Error(err)
		}
	}
}

// A metric of 8,000 rows of 30 columns.
func BenchmarkLearn(b *testing.B) {
	x := normal("bench", 10_000, 30)
	var y []float64
	for i := range x.Rows {
		y = append(y, math.Sin(2*float64(x.Row(i)[0]))+float64(x.Row(i)[1]*x.Row(i)[2]))
	}
	for _, c := range []struct{ name, form string }{{"matern", "diagonal"}, {"matern", "full"}, {"laplacian", "diagonal"}} {
		b.Run(c.name+"/"+c.form, func(b *testing.B) {
			k := kernel.Kernel{Name: c.name, Nu: map[string]float64{"matern": 1.5}[c.name]}
			for b.Loop() {
				if _, err := Learn(context.Background(), matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: k, Form: c.form, Rounds: 2}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The first round searches widths in both directions, later ones in turn, and a metric whose machine is far worse than that of the best
// one has no other width tried.
func TestWidthsThatAreTried(t *testing.T) {
	for round, want := range []string{"[1 -1]", "[]", "[-1]", "[]", "[1]", "[]", "[-1]"} {
		if got := fmt.Sprint(directionsOf(round)); got != want {
			t.Errorf("round %d: %s, want %s", round, got, want)
		}
	}
	x, y, _ := planted(500, 50)
	for _, c := range []struct {
		least float64
		moved bool
	}{{0, true}, {1e-3, false}} {
		l, err := newLearner(matrix.Rows{Dense: x}, y, 1, nil, Options{Kernel: kernel.RBF.Usual(), Width: 0.2})
		if err != nil {
			t.Fatal(err)
		}
		l.hopeless = worseMetric * c.least
		from := l.opt.Lengths[l.width]
		_, told, err := l.fit(context.Background(), nil, both)
		if err != nil {
			t.Fatal(err)
		}
		if moved := told.Length != from; moved != c.moved {
			t.Errorf("beside an error of %g the width goes from %g to %g", c.least, from, told.Length)
		}
	}
}

// With many outputs the sum of their outer products is estimated without bias, with the variance that signs give: of
// Σ_{l≠k} s_l s_k a_l b_k with fair signs it is ½Σ_{l≠k}(a_l b_k + a_k b_l)², over signDraws for each row.
func TestOuterProductsOfManyOutputs(t *testing.T) {
	const n, d, outputs, seeds = 30, 3, 6, 300
	x := normal("rows", n, d)
	for _, k := range kernels {
		f := randomFunction(k, 10, d, outputs)
		g := make([][]float64, outputs) // ∇f_l of every row
		want, spread := make([]float64, d*d), make([]float64, d*d)
		for i := range n {
			for l := range g {
				one := &function{kernel: f.kernel, landmarks: f.landmarks, alpha: f.alpha[l*10:][:10], outputs: 1}
				square := make([]float64, d*d)
				if err := one.outer(context.Background(), x.Slice(i, i+1), nil, square, false); err != nil {
					t.Fatal(err)
				}
				g[l] = rootOf(square, d)
				for a := range d {
					for b := a; b < d; b++ {
						want[a*d+b] += square[a*d+b]
					}
				}
			}
			for a := range d {
				for b := a; b < d; b++ {
					for l := range outputs {
						for m := range l {
							both := g[l][a]*g[m][b] + g[m][a]*g[l][b]
							spread[a*d+b] += both * both / signDraws
						}
					}
				}
			}
		}
		sum, squares := make([]float64, d*d), make([]float64, d*d)
		for f.seed = range uint64(seeds) {
			got := make([]float64, d*d)
			if err := f.outer(context.Background(), x, nil, got, false); err != nil {
				t.Fatal(err)
			}
			for j, v := range got {
				sum[j] += v
				squares[j] += (v - want[j]) * (v - want[j])
			}
		}
		for a := range d {
			for b := a; b < d; b++ {
				j := a*d + b
				if e := sum[j]/seeds - want[j]; math.Abs(e) > 4*math.Sqrt(spread[j]/seeds) {
					t.Errorf("%s: the mean of G[%d,%d] is off by %g, of standard error %g", k.Name, a, b, e, math.Sqrt(spread[j]/seeds))
				}
				// The variance of a variance of near-normal values is 2σ⁴/n; these have somewhat heavier tails.
				if r := squares[j] / seeds / spread[j]; math.Abs(r-1) > 5*math.Sqrt(3.0/seeds) {
					t.Errorf("%s: the variance of G[%d,%d] is %g times what signs give", k.Name, a, b, r)
				}
			}
		}
	}
}

// rootOf is g with the outer product ggᵀ, of which the upper triangle is given, but for its sign.
func rootOf(square []float64, d int) []float64 {
	g, most := make([]float64, d), 0
	for a := range d {
		if square[a*d+a] > square[most*d+most] {
			most = a
		}
	}
	for a := range d {
		g[a] = square[min(a, most)*d+max(a, most)] / math.Sqrt(square[most*d+most])
	}
	return g
}
