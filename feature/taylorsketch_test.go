package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// taylorCases has taylorsketch of both kernels, one with each hash.
func taylorCases() []mapCase {
	return []mapCase{taylorCase(kernel.Kernel{Name: "exp", Gamma: 0.7}, "", 100), taylorCase(rbf, "pairwise", 100)}
}

// otherTaylorCases has the others, and those with so few features that most of the variance is that of the drawn degree. They
// differ in mean and variance alone.
func otherTaylorCases() []mapCase {
	exp := kernel.Kernel{Name: "exp", Gamma: 0.7}
	cases := []mapCase{taylorCase(exp, "pairwise", 100), taylorCase(rbf, "", 100), taylorCase(exp, "", 5), taylorCase(rbf, "", 5)}
	for i := range cases {
		if cases[i].proof < 10 {
			cases[i].scale = 0.5 // of long rows the high degrees that few seeds draw have most of the variance
		}
	}
	return cases
}

func taylorCase(k kernel.Kernel, hash string, features int) mapCase {
	c := mapCase{Config: Config{Map: TaylorSketch, Kernel: k, Options: Options{Hash: hash}}, proof: features}
	c.variance = taylorVariance(c, 12, features)
	return c
}

// taylorVariance sums up the formula of the documentation term by term, for the shares that a sample of the proof's gives. Shares do not
// depend on the seed, but for the drawn degree.
func taylorVariance(c mapCase, d, features int) func(x, y []float32) float64 {
	sample, _ := someRows(60, d)
	c.Features = features
	centre := make([]float64, d)
	gamma := c.Kernel.Gamma
	if c.Kernel.Name == "rbf" {
		gamma *= 2
		for i := range 60 {
			for j, v := range sample.Dense.Row(i) {
				centre[j] += float64(v) / 60
			}
		}
	}
	pairs := taylorPairs(c.Config, sample, centre)
	shares := shareTaylor(c.Config, d, pairs)
	last := shares[len(shares)-1]
	p := len(shares) - 2
	w, sum := newTaylorCosts(pairs).weights(p, last.m)
	return func(x, y []float32) float64 {
		u, v := make([]float32, d), make([]float32, d)
		for j, m := range centre {
			u[j], v[j] = float32(float64(x[j])-m), float32(float64(y[j])-m)
		}
		sketch := func(n, features int) float64 {
			m := mapCase{proof: features}
			if m.Hash = c.Hash; m.Hash == "" {
				m.Hash = "balanced"
			}
			m.Kernel = kernel.Kernel{Name: "poly", Gamma: gamma, Degree: n}
			return sketchVariance(m, u, v)
		}
		t, total, rest, factorial := gamma*dot(u, v), 0.0, 0.0, 1.0
		for n := 1; n <= 50; n++ {
			factorial *= float64(n)
			if n <= p {
				total += sketch(n, shares[n].m) / (factorial * factorial)
				continue
			}
			falling := math.Ldexp(1, p-n)
			if n == 50 {
				falling *= 2
			}
			q := 0.9*w[n-p-1]/sum + 0.1*falling
			total += (sketch(n, last.m) + pow(t, 2*n)) / (q * factorial * factorial)
			rest += pow(t, n) / factorial
		}
		total -= rest * rest
		if c.Kernel.Name == "rbf" {
			total *= math.Exp(-gamma * (norm2(u) + norm2(v)))
		}
		return total
	}
}

// All features are given away, each term has a power of two of them but the first, and longer rows have more terms.
func TestTaylorSharesFollowTheRows(t *testing.T) {
	last := 0
	for _, length := range []float64{0.1, 1, 3} {
		pairs := []taylorPair{{s: length * length, t: length / 2, f: 1}, {s: length * length, t: -length / 4, f: 1}}
		for _, features := range []int{2, 3, 4, 7, 64, 1000, 4096} {
			shares := shareTaylor(Config{Kernel: kernel.Kernel{Name: "exp", Gamma: 1}, Features: features, Seed: 3}, 20, pairs)
			sum := 0
			for i, s := range shares {
				sum += s.m
				if i < len(shares)-1 && s.degree != i || s.degree < i || s.m < 1 || i > 1 && s.m&(s.m-1) != 0 {
					t.Errorf("length %g, D = %d: share %d is %+v", length, features, i, s)
				}
			}
			if sum != features {
				t.Errorf("length %g: %d features are shared out, not %d", length, sum, features)
			}
			if features == 4096 {
				if len(shares) <= last {
					t.Errorf("length %g: %d sketches, after %d for shorter rows", length, len(shares), last)
				}
				last = len(shares)
			}
		}
	}
}

// Shares are near the best: no move of features from one term to another gains more than a little.
func TestTaylorSharesAreNearTheBest(t *testing.T) {
	c := newTaylorCosts([]taylorPair{{s: 4, t: 1, f: 1}, {s: 1, t: -0.5, f: 1}})
	const p, features = 5, 4000
	m := c.shared(p, features, 0)
	variance := func(m []int) float64 {
		v := c.tail(p, m[p])
		for n := 1; n <= p; n++ {
			v += c.v[n] / float64(m[n-1])
		}
		return v
	}
	have := variance(m)
	// The best real numbers for the terms alone: proportional to the roots.
	roots := 0.0
	for n := 1; n <= p; n++ {
		roots += math.Sqrt(c.v[n])
	}
	if bound := roots * roots / features; have < bound || have > 1.5*bound {
		t.Errorf("the variance is %g; without the rest and with any real shares it is %g", have, bound)
	}
	for from := range m {
		for to := range m {
			if m[from] > 1 && from != to && m[to] <= m[from]/2 {
				moved := slices.Clone(m)
				moved[from], moved[to] = m[from]/2, m[to]+m[from]/2
				if v := variance(moved); v < 0.8*have {
					t.Errorf("half of share %d for %d: %g, after %g", from, to, v, have)
				}
			}
		}
	}
}

// Rows that differ from the sample's mean by far have features near 0 and no NaN: their kernel with others is 0.
func TestTaylorSketchOfFarRows(t *testing.T) {
	sample, _ := someRows(60, 6)
	for seed := range uint64(20) {
		m, err := Fit(t.Context(), Config{Map: TaylorSketch, Kernel: rbf, Features: 9, Seed: seed}, sample)
		if err != nil {
			t.Fatal(err)
		}
		far := matrix.NewDense(4, 6)
		for i := range 4 {
			for j := range 6 {
				far.Row(i)[j] = float32(pow(30, i+1))
			}
		}
		for _, v := range transform(m, matrix.Rows{Dense: far}).Data {
			if !(math.Abs(float64(v)) <= 1e-3) {
				t.Fatalf("seed %d: a feature of a far row is %g", seed, v)
			}
		}
	}
}

// A sample whose rows are all alike has a map, and rows unlike them are mapped without bias.
func TestTaylorSketchOfEqualRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	alike := matrix.NewDense(5, 3)
	for i := range alike.Data {
		alike.Data[i] = 2
	}
	x := &matrix.Dense{Rows: 2, Cols: 3, Stride: 3, Data: []float32{2.5, 2, 2, 2, 2.4, 2.2}}
	want, sum, squares := rbf.Eval(x.Row(0), x.Row(1)), 0.0, 0.0
	const seeds = 400
	for seed := range uint64(seeds) {
		m, err := Fit(t.Context(), Config{Map: TaylorSketch, Kernel: rbf, Features: 64, Seed: seed + 1}, matrix.Rows{Dense: alike})
		if err != nil {
			t.Fatal(err)
		}
		z := transform(m, matrix.Rows{Dense: x})
		v := dot(z.Row(0), z.Row(1)) - want
		sum, squares = sum+v, squares+v*v
	}
	if se := math.Sqrt(squares) / seeds; math.Abs(sum/seeds) > 4*se || se > 0.01 {
		t.Errorf("the mean error is %g ± %g", sum/seeds, se)
	}
}

func TestTaylorSketchSaysWhatIsWrong(t *testing.T) {
	sample, _ := someRows(20, 3)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Map: TaylorSketch, Kernel: rbf, Features: 1}, "2 or more: one is for the constant"},
		{Config{Map: TaylorSketch, Kernel: laplacian, Features: 8}, "taylorsketch does not approximate the laplacian kernel"},
		{Config{Map: TaylorSketch, Kernel: rbf, Features: 8, Options: Options{Hash: "md5"}}, "known are pairwise, balanced"},
		{Config{Map: TaylorSketch, Kernel: kernel.Kernel{Name: "rbf", Gamma: 1e300}, Features: 8}, "no float32"},
		{Config{Map: TaylorSketch, Kernel: rbf, Features: 8, MaxBytes: 10}, "10 B at most"},
	} {
		if _, err := Fit(t.Context(), c.cfg, sample); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	cfg := Config{Map: TaylorSketch, Kernel: rbf, Features: 8, Seed: 1}
	levels := func(v ...float32) *matrix.Dense { return &matrix.Dense{Rows: len(v) / 3, Cols: 3, Stride: 3, Data: v} }
	centre := matrix.NewDense(1, 3)
	good := levels(0, 1, 1, 1, 7, 0.5)
	if _, err := Restore(cfg, 3, map[string]*matrix.Dense{"levels": good, "centre": centre}); err != nil {
		t.Error(err)
	}
	nan := matrix.NewDense(1, 3)
	nan.Data[1] = float32(math.NaN())
	for name, c := range map[string]struct {
		levels, centre *matrix.Dense
		want           string
	}{
		"no levels":          {nil, centre, "levels are not those of sketches"},
		"one level":          {levels(0, 8, 1), centre, "levels are not those of sketches"},
		"a short centre":     {good, matrix.NewDense(1, 2), "centre is no row of 3 dimensions"},
		"a centre of NaN":    {good, nan, "centre: row 1, column 2 is NaN"},
		"no constant":        {levels(1, 1, 1, 2, 7, 0.5), centre, "level 1 is not one of a sketch"},
		"two constants":      {levels(0, 1, 1, 0, 7, 0.5), centre, "level 2 is not one of a sketch"},
		"a broken degree":    {levels(0, 1, 1, 1.5, 7, 0.5), centre, "level 2 is not one of a sketch"},
		"a large degree":     {levels(0, 1, 1, 51, 7, 0.5), centre, "level 2 is not one of a sketch"},
		"too many features":  {levels(0, 1, 1, 1, 8, 0.5), centre, "level 2 is not one of a sketch"},
		"too few features":   {levels(0, 1, 1, 1, 6, 0.5), centre, "levels have 7 features, not 8"},
		"a probability of 2": {levels(0, 1, 1, 1, 7, 2), centre, "level 2 is not one of a sketch"},
		"a probability of 0": {levels(0, 1, 1, 1, 7, 0), centre, "level 2 is not one of a sketch"},
	} {
		if _, err := Restore(cfg, 3, map[string]*matrix.Dense{"levels": c.levels, "centre": c.centre}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
