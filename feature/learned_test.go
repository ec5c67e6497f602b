package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mercer/kernel"
	"mercer/matrix"
)

// positive returns rows of numbers from about 0.1 on, which every kernel takes.
func positive(x matrix.Rows) matrix.Rows {
	y := matrix.NewDense(x.Len(), x.Dim())
	for i, v := range x.Dense.Data {
		y.Data[i] = float32(0.1 + math.Abs(float64(v)))
	}
	return matrix.Rows{Dense: y}
}

// everyKernel has one kernel of each name.
var everyKernel = []kernel.Kernel{
	linear, poly(0.2, 3, 1), {Name: "exp", Gamma: 0.2}, arccos(0), arccos(1), rbf, laplacian, cauchy, matern(0.5), matern(1.5),
	{Name: "hellinger"}, {Name: "chi2"}, {Name: "intersection"}, {Name: "jensen-shannon"},
	{Name: "exp-chi2", Gamma: 0.4}, {Name: "skewed-chi2", Coef0: 0.5}, {Name: "skewed-intersection", Coef0: 0.5},
}

// The gradient of Σ k_h(x)ᵀ K_hh⁻¹ k_h(x) by the landmarks is that of finite differences.
func TestGradientOfLandmarks(t *testing.T) {
	some, _ := someRows(30, 4)
	x := positive(some)
	for _, k := range everyKernel {
		h := gather(x, []int{3, 8, 20})
		for i := range h.Data {
			h.Data[i] += 0.07 * float32(1+i%3) // off the rows
		}
		c := newDescent(t.Context(), k, x, h, 1)
		got, err := c.gradient(x)
		if err != nil {
			t.Fatal(err)
		}
		value := func() float64 {
			lost, err := c.lost() // of all 30 rows
			if err != nil {
				t.Fatal(err)
			}
			return (1 - lost) * c.whole
		}
		size := math.Sqrt(mat.Norm(mat.NewVecDense(len(got), got), 2)) + 1
		for i := range h.Data {
			at := h.Data[i]
			const step = 1.0 / 1024
			h.Data[i] = at + step
			up, width := value(), float64(h.Data[i])
			h.Data[i] = at - step
			down := value()
			width -= float64(h.Data[i])
			h.Data[i] = at
			if want := (up - down) / width; math.Abs(got[i]-want) > 3e-3*(size+math.Abs(want)) {
				t.Errorf("%v: derivative %d is %g, want %g", k, i, got[i], want)
			}
		}
	}
}

// Learned landmarks lose less of the sample than those that learning starts from, with any
// kernel, and the loss falls with every set that is kept.
func TestLearnedLandmarksLoseLess(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x := positive(clustered(400, 4, 2))
	for _, k := range everyKernel {
		for _, start := range []string{"uniform", "kmeans"} {
			cfg := Config{Map: "cksvd", Kernel: k, Features: 3, Seed: 1, Options: Options{Landmarks: start}}
			h, err := chooseLandmarks(t.Context(), cfg, x, start)
			if err != nil {
				t.Fatal(err)
			}
			c := newDescent(t.Context(), k, x, c2(h), 1)
			lost, err := c.run()
			if err != nil {
				t.Fatal(err)
			}
			if len(lost) < 2 || lost[len(lost)-1] > 0.999*lost[0] {
				t.Errorf("%v from %s: the loss only falls from %.5f to %.5f", k, start, lost[0], lost[len(lost)-1])
			}
			if !slices.IsSortedFunc(lost, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
				t.Errorf("%v from %s: the loss rises: %v", k, start, lost)
			}
			// It is what the map loses.
			m, err := newNystrom(t.Context(), cfg, c.best)
			if err != nil {
				t.Fatal(err)
			}
			z, kept := transform(m, c.measure), 0.0
			for i := range z.Rows {
				kept += norm2(z.Row(i))
			}
			if got := 1 - kept/c.whole; math.Abs(got-lost[len(lost)-1]) > 1e-5 {
				t.Errorf("%v from %s: the map loses %.6f, not %.6f", k, start, got, lost[len(lost)-1])
			}
		}
	}
}

func c2(h *matrix.Dense) *matrix.Dense { return gather(matrix.Rows{Dense: h}, []int{0, 1, 2}) }

// On rows of two kinds along a line, the best landmark of a linear kernel is the direction in
// which they vary most: gradient steps find it from elsewhere.
func TestOneLearnedLandmarkIsThePrincipalDirection(t *testing.T) {
	x := matrix.NewDense(200, 3)
	some, _ := someRows(200, 3)
	for i := range 200 {
		for j, s := range []float32{0.3, 2, 0.5} {
			x.Row(i)[j] = s * some.Dense.Row(i)[j]
		}
	}
	h := denseOf([][]float32{{1, 0.4, 1}})
	c := newDescent(t.Context(), linear, matrix.Rows{Dense: x}, h, 1)
	if _, err := c.run(); err != nil {
		t.Fatal(err)
	}
	var moment mat.SymDense
	raw := mat.NewDense(200, 3, nil)
	for i := range 200 {
		for j, v := range x.Row(i) {
			raw.Set(i, j, float64(v))
		}
	}
	moment.SymOuterK(1, raw.T())
	var eigen mat.EigenSym
	eigen.Factorize(&moment, true)
	var v mat.Dense
	eigen.VectorsTo(&v)
	cos := 0.0
	for j, w := range c.best.Row(0) {
		cos += v.At(j, 2) * float64(w)
	}
	if cos /= math.Sqrt(norm2(c.best.Row(0))); math.Abs(cos) < 0.999 {
		t.Errorf("the landmark's cosine with the principal direction is %.4f", cos)
	}
}

// Features are the lines of the factor: triangular on the pivots, and with the inner products of
// nystrom on the same landmarks.
func TestIncompleteCholeskyIsNystromOnItsPivots(t *testing.T) {
	sample, sparse := someRows(80, 6)
	x, _ := someRows(100, 6)
	for _, k := range []kernel.Kernel{rbf, laplacian, linear, poly(0.2, 3, 1), arccos(1), {Name: "rbf", Gamma: 5}} {
		for _, rows := range []matrix.Rows{sample, sparse} {
			m, err := Fit(t.Context(), Config{Map: "icholesky", Kernel: k, Features: 30}, rows)
			if err != nil {
				t.Fatal(err)
			}
			h := m.(*icholesky).at
			if want := map[bool]int{true: 6, false: 30}[k.Name == "linear"]; h.Rows != want {
				t.Errorf("%v: %d pivots, want %d", k, h.Rows, want)
			}
			want, z := projected(k, h, x.Dense, h.Rows), transform(m, x)
			for i := range x.Len() {
				for j := range i + 1 {
					a, b := x.Dense.Row(i), x.Dense.Row(j)
					size := math.Sqrt(k.Eval(a, a) * k.Eval(b, b))
					if got := dot(z.Row(i), z.Row(j)); math.Abs(got-want.At(i, j)) > 1e-5*size {
						t.Fatalf("%v: (%d, %d) is %g, want %g", k, i, j, got, want.At(i, j))
					}
				}
			}
			z = transform(m, matrix.Rows{Dense: h})
			for i := range h.Rows {
				for j, v := range z.Row(i) {
					size := math.Sqrt(k.Eval(h.Row(i), h.Row(i)))
					if j > i && math.Abs(float64(v)) > 1e-5*size || j == i && v <= 0 {
						t.Errorf("%v: feature %d of pivot %d is %g", k, j, i, v)
					}
				}
			}
		}
	}
}

// Pivots are greedy: each is the row of which those before leave most.
func TestPivotsAreTheRowsWithMostLeft(t *testing.T) {
	x := clustered(300, 4, 5)
	k := poly(0.1, 2, 1)
	f, err := newPartial(t.Context(), k, x, 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.greedy(100); err != nil {
		t.Fatal(err)
	}
	if len(f.pivots) != 15 { // the dimension of quadratic polynomials in 4 variables
		t.Errorf("%d pivots, want 15", len(f.pivots))
	}
	gram := gramMat(k, x.Dense)
	rest := mat.DenseCopyOf(gram)
	for _, p := range f.pivots {
		most := 0.0
		for i := range 300 {
			most = max(most, rest.At(i, i))
		}
		if rest.At(p, p) < most*(1-1e-9)-1e-9 {
			t.Errorf("pivot %d has %g left, another %g", p, rest.At(p, p), most)
		}
		var outer mat.Dense
		outer.Outer(1/rest.At(p, p), rest.ColView(p), rest.ColView(p))
		rest.Sub(rest, &outer)
	}
	m, err := Fit(t.Context(), Config{Map: "icholesky", Kernel: rbf, Features: 10}, x)
	if err != nil {
		t.Fatal(err)
	}
	z, left := transform(m, x), 0.0
	for i := range 300 {
		left += (1 - norm2(z.Row(i))) / 300
	}
	if got := m.(*icholesky).left; math.Abs(got-left) > 1e-5 || !strings.HasPrefix(m.(Chooser).Chosen(), "10 pivots, which leave ") {
		t.Errorf("%g of the trace is left, want %g: %s", got, left, m.(Chooser).Chosen())
	}
}

// The features of basis functions are the functions' values.
func TestBasisFunctions(t *testing.T) {
	sample, sparse := someRows(50, 3)
	given := denseOf([][]float32{{0, 1, 2}, {1, 1, 0}, {3, -1, 0.5}, {0.1, 0.2, -0.7}})
	for _, name := range []string{"empirical", "rbf-network"} {
		for _, k := range everyKernel {
			if name == "rbf-network" && k.Name != "rbf" || !math.IsInf(float64(k.Lowest()), -1) {
				continue
			}
			m, err := Fit(t.Context(), Config{Map: name, Kernel: k, Features: 4, Given: given, Options: Options{Landmarks: "given"}}, sample)
			if err != nil {
				t.Fatal(err)
			}
			z := transform(m, sample)
			for i := range z.Rows {
				for j, v := range z.Row(i) {
					if want := k.Eval(sample.Dense.Row(i), given.Row(j)); math.Abs(float64(v)-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("%s, %v: feature %d of row %d is %g, want %g", name, k, j, i, v, want)
					}
				}
			}
		}
	}
	for _, width := range []float64{0, 0.3} {
		m, err := Fit(t.Context(), Config{Map: "sigmoid", Kernel: rbf, Features: 4, Given: given, Seed: 2,
			Options: Options{Landmarks: "given", Width: width}}, sample)
		if err != nil {
			t.Fatal(err)
		}
		f := m.(*sigmoid)
		z, square := transform(m, sample), 0.0
		dense := transform(m, sparse)
		if !slices.Equal(z.Data, dense.Data) {
			t.Error("sparse rows have other steps")
		}
		next := map[int]bool{}
		for j := range 4 {
			// Half way to one other centre, along the line.
			middle := make([]float64, 3)
			to := -1
			for l := range 4 {
				along, b, length := 0.0, 0.0, 0.0
				for c, w := range f.directions.Row(j) {
					d := float64(given.Row(l)[c]) - float64(given.Row(j)[c])
					along += float64(w) * d
					length += d * d
					b += float64(w) * (float64(given.Row(l)[c]) + float64(given.Row(j)[c])) / 2
					middle[c] = d
				}
				if l != j && math.Abs(along-math.Sqrt(length)) < 1e-5 && math.Abs(b-float64(f.offsets.Row(j)[0])) < 1e-5 {
					to = l
				}
			}
			if to < 0 || next[to] {
				t.Errorf("step %d lies between no centres, or to %d another does", j, to)
			}
			next[to] = true
			for i := range z.Rows {
				s := -float64(f.offsets.Row(j)[0])
				for c, w := range f.directions.Row(j) {
					s += float64(w) * float64(sample.Dense.Row(i)[c])
				}
				square += s * s / float64(z.Rows*4)
				if want := 1 / (1 + math.Exp(-s/f.width)); math.Abs(float64(z.Row(i)[j])-want) > 1e-5 {
					t.Errorf("step %d of row %d is %g, want %g", j, i, z.Row(i)[j], want)
				}
			}
		}
		if want := max(width, math.Sqrt(square)); width == 0 && math.Abs(f.width-want) > 1e-5 || width > 0 && math.Abs(f.width-width) > 1e-7 {
			t.Errorf("width %g, want %g", f.width, want)
		}
	}
}

func TestLandmarkMapsSayWhatIsWrong(t *testing.T) {
	sample, _ := someRows(10, 3)
	zero := matrix.Rows{Dense: matrix.NewDense(9, 3)}
	given := Options{Landmarks: "given"}
	bad := denseOf([][]float32{{1, 2, 3}, {4, float32(math.NaN()), 6}})
	for _, c := range []struct {
		cfg    Config
		sample matrix.Rows
		want   string
	}{
		{Config{Map: "nystrom", Kernel: rbf, Features: 4, Options: Options{Landmarks: "some"}}, sample,
			`"some" is not known; known are uniform, kmeans, projected, kmedoid, leverage, rpcholesky, given`},
		{Config{Map: "nystrom", Kernel: rbf, Features: 4, Options: Options{Rank: -1}}, sample, "rank is -1"},
		{Config{Map: "nystrom", Kernel: rbf, Features: 4, Options: given}, sample, "there are none"},
		{Config{Map: "empirical", Kernel: rbf, Features: 4, Options: given, Given: matrix.NewDense(2, 5)}, sample,
			"have 5 dimensions, but the rows have 3"},
		{Config{Map: "sigmoid", Kernel: rbf, Features: 4, Options: given, Given: matrix.NewDense(7, 3)}, sample,
			"7 landmarks are given, but features is 4"},
		{Config{Map: "cksvd", Kernel: rbf, Features: 4, Options: given, Given: bad}, sample, "row 2, column 2 is NaN"},
		{Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "chi2"}, Features: 4, Options: given,
			Given: denseOf([][]float32{{1, -2, 3}})}, positive(sample), "row 1, dimension 2"},
		{Config{Map: "nystrom", Kernel: linear, Features: 4}, zero, "the kernel of all landmarks is 0"},
		{Config{Map: "icholesky", Kernel: linear, Features: 4}, zero, "the kernel of every row of the sample with itself is 0"},
		{Config{Map: "nystrom", Kernel: poly(1e30, 60, 1), Features: 4}, sample, "not finite"},
		{Config{Map: "icholesky", Kernel: poly(1e30, 60, 1), Features: 4}, sample, "not finite"},
		{Config{Map: "cksvd", Kernel: poly(1e30, 60, 1), Features: 4}, sample, "not finite"},
		{Config{Map: "nystrom", Kernel: poly(1e30, 60, 1), Features: 4, Options: Options{Landmarks: "rpcholesky"}}, sample, "not finite"},
		{Config{Map: "nystrom", Kernel: poly(1e30, 60, 1), Features: 4, Options: Options{Landmarks: "leverage"}}, sample, "not finite"},
		{Config{Map: "nystrom", Kernel: poly(1e30, 60, 1), Features: 4, Options: Options{Landmarks: "kmedoid"}}, sample, "not finite"},
		{Config{Map: "rbf-network", Kernel: laplacian, Features: 4}, sample, "rbf-network"},
		{Config{Map: "sigmoid", Kernel: rbf, Features: 4, Options: Options{Width: -1}}, sample, "width is -1"},
		{Config{Map: "icholesky", Kernel: rbf, Features: 4, Options: Options{Landmarks: "kmeans"}}, sample, "no option landmarks"},
		{Config{Map: "nystrom", Kernel: rbf, Features: 4, MaxBytes: 100}, sample, "100 B at most"},
		{Config{Map: "icholesky", Kernel: rbf, Features: 4, MaxBytes: 100}, sample, "100 B at most"},
	} {
		if _, err := Fit(t.Context(), c.cfg, c.sample); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// A state that was tampered with is an error, not a crash, nor a map of NaN.
func TestStatesOfLandmarkMapsAreChecked(t *testing.T) {
	sample, _ := someRows(30, 3)
	for _, c := range landmarkCases() {
		c.Features = 8
		x := sample
		if !math.IsInf(float64(c.Kernel.Lowest()), -1) {
			x = positive(sample)
		}
		m, err := Fit(t.Context(), c.Config, x)
		if err != nil {
			t.Fatal(err)
		}
		for name, part := range m.(Fitted).State() {
			change := func(what string, to *matrix.Dense) {
				state := m.(Fitted).State()
				if state[name] = to; to == nil {
					delete(state, name)
				}
				if name == "weights.low" && to == nil {
					return // then they are float32
				}
				if name == "weights" && to != nil && state["weights.low"] == nil && to.Rows == part.Rows && to.Cols <= c.Features && what != "a NaN" {
					return // of a higher rank
				}
				if _, err := Restore(c.Config, 3, state); err == nil {
					t.Errorf("%s: a state with %s of %s was restored", c, what, name)
				}
			}
			nan := gather(matrix.Rows{Dense: part}, []int{0})
			for i := range part.Rows - 1 {
				nan.Data = append(nan.Data, part.Row(i+1)...)
				nan.Rows++
			}
			nan.Data[len(nan.Data)-1] = float32(math.NaN())
			change("nothing", nil)
			change("a NaN", nan)
			change("one row more", matrix.NewDense(part.Rows+1, part.Cols))
			change("one column more", matrix.NewDense(part.Rows, part.Cols+1))
			change("no rows", matrix.NewDense(0, part.Cols))
		}
		if _, err := Restore(c.Config, 4, m.(Fitted).State()); err == nil {
			t.Errorf("%s: a state for 3 dimensions was restored for 4", c)
		}
		c.Features = 2
		if _, err := Restore(c.Config, 3, m.(Fitted).State()); err == nil {
			t.Errorf("%s: a state of 8 features was restored for 2", c)
		}
	}
}

// Every kernel goes with landmarks: with all rows as landmarks nothing is lost.
func TestEveryKernelHasLandmarks(t *testing.T) {
	some, _ := someRows(40, 5)
	x := positive(some)
	for _, k := range everyKernel {
		for _, name := range []string{"nystrom", "icholesky"} {
			m, err := Fit(t.Context(), Config{Map: name, Kernel: k, Features: 40}, x)
			if err != nil {
				t.Fatal(err)
			}
			z := transform(m, x)
			for i := range 40 {
				for j := range i + 1 {
					a, b := x.Dense.Row(i), x.Dense.Row(j)
					if got, want := dot(z.Row(i), z.Row(j)), k.Eval(a, b); math.Abs(got-want) > 5e-6*math.Sqrt(k.Eval(a, a)*k.Eval(b, b)) {
						t.Fatalf("%s, %v: (%d, %d) is %g, want %g", name, k, i, j, got, want)
					}
				}
			}
		}
	}
	for _, k := range kernel.Names() {
		if !slices.ContainsFunc(everyKernel, func(c kernel.Kernel) bool { return c.Name == k }) {
			t.Errorf("%s is not tested", k)
		}
	}
}
