package pool

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// everyMethod lists the bilinear methods with their options, for one stream and for two, and in small.
func everyMethod() []Config {
	var all []Config
	for _, c := range []Config{
		{Method: "full"},
		{Method: "tensorsketch", Features: 32},
		{Method: "tensorsketch", Features: 37},
		{Method: "maclaurin", Features: 29},
		{Method: "cbp-krp", Features: 40},
		{Method: "cbp-krp", Features: 40, Pool: 11, T: 3, Sparsity: 1},
		{Method: "cbp-krp", Features: 40, Pool: 90, T: 1, Sparsity: 8, Reuse: "random"},
	} {
		c.Seed = 3
		all = append(all, c)
		c.Streams = 2
		all = append(all, c)
	}
	return all
}

// shaped gives cfg its streams for so many channels.
func shaped(cfg Config, channels int) Config {
	if cfg.Streams == 2 {
		cfg.First = channels / 3
	}
	return cfg
}

func build1(t testing.TB, cfg Config, channels int) *Pooling {
	t.Helper()
	p, err := New(shaped(cfg, channels), channels)
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	return p
}

// normals fills a matrix with normal numbers.
func normals(r *random.Stream, rows, cols int) *matrix.Dense {
	m := matrix.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(r.Normal())
	}
	return m
}

// twin pools one bag by the definition, location by location, in float64.
func twin(p *Pooling, x [][]float64) []float64 {
	y := make([]float64, p.features)
	for _, row := range x {
		first, second := row[:p.split], row[p.split:]
		if !p.two {
			second = first
		}
		switch f := p.bilinear.(type) {
		case nil:
			for j, v := range row {
				y[j] += v / float64(len(x))
			}
		case full:
			for i, u := range first {
				for j, v := range second {
					y[i*len(second)+j] += u * v
				}
			}
		case *tensorSketch:
			for i, u := range first {
				for j, v := range second {
					c := (int(f.x[i]&^negative) + int(f.y[j]&^negative)) % f.buckets
					if (f.x[i]^f.y[j])&negative != 0 {
						v = -v
					}
					y[c] += u * v
				}
			}
		case *maclaurin:
			for c := range y {
				a, b := &vectors{d: f.d, dense: make([]float32, f.d)}, &vectors{d: f.e, dense: make([]float32, f.e)}
				f.a.Row(a.dense, c, 1)
				f.b.Row(b.dense, c, 1)
				y[c] += float64(f.scale) * exactDot(a, 0, first) * exactDot(b, 0, second)
			}
		case *krp:
			for c := range y {
				for i := range f.t {
					a, b := f.pair(c, i)
					y[c] += float64(f.scale) * exactDot(f.a, a, first) * exactDot(f.b, b, second)
				}
			}
		}
	}
	sum := 0.0
	for c, v := range y {
		if p.norm == rootL2 {
			y[c] = math.Copysign(math.Sqrt(math.Abs(v)), v)
		}
		sum += y[c] * y[c]
	}
	if p.norm != noNorm && sum > 0 {
		for c := range y {
			y[c] /= math.Sqrt(sum)
		}
	}
	return y
}

// exactDot is the product of vector j of v with x.
func exactDot(v *vectors, j int, x []float64) (sum float64) {
	if v.dense != nil {
		for i, a := range v.row(j) {
			sum += float64(a) * x[i]
		}
		return sum
	}
	for _, e := range v.entries(j) {
		if e&negative != 0 {
			sum -= x[e&^negative]
		} else {
			sum += x[e]
		}
	}
	return sum
}

func wide(x *matrix.Dense, lo, hi int) [][]float64 {
	rows := make([][]float64, hi-lo)
	for i := range rows {
		rows[i] = make([]float64, x.Cols)
		for j, v := range x.Row(lo + i) {
			rows[i][j] = float64(v)
		}
	}
	return rows
}

// Every method is its definition, by whichever way a bag of its size goes, for each norm.
func TestPoolingIsItsDefinition(t *testing.T) {
	r := random.New(1, "test")
	for _, channels := range []int{6, 21, 60} {
		x := normals(r, 400, channels)
		bags := []int{3, 3, 4, 6, 23, 23, 390}
		for _, cfg := range everyMethod() {
			for _, n := range []string{"none", "l2", "root-l2"} {
				cfg.Norm = n
				p := build1(t, cfg, channels)
				_, features := p.Dims()
				dst := matrix.NewDense(len(bags)-1, features)
				for i := range dst.Data {
					dst.Data[i] = float32(math.NaN())
				}
				p.Pool(dst, matrix.Rows{Dense: x}, bags)
				for i := range dst.Rows {
					want := twin(p, wide(x, bags[i], bags[i+1]))
					most := 0.0
					for _, v := range want {
						most = max(most, math.Abs(v))
					}
					for c, v := range dst.Row(i) {
						// The root of rounding is a thousand times rounding.
						tolerance := 3e-6 * most
						if n == "root-l2" {
							tolerance = 2e-3 * most
							if math.Abs(want[c]) > 0.03*most {
								tolerance = 1e-4 * most
							}
						}
						if !(math.Abs(float64(v)-want[c]) <= tolerance) {
							t.Fatalf("%+v, %d channels, bag %d: feature %d is %g, want %g (of %g)", cfg, channels, i, c, v, want[c], most)
						}
					}
				}
			}
		}
	}
}

// The two ways of a method, if it has two, give the same rows and the same gradients, and each is the
// cheaper one for some bag.
func TestBothWaysAreTheSame(t *testing.T) {
	r := random.New(7, "test")
	near := func(cfg Config, what string, got, want []float32) {
		t.Helper()
		most := 0.0
		for _, v := range want {
			most = max(most, math.Abs(float64(v)))
		}
		for i, v := range got {
			if math.Abs(float64(v-want[i])) > 1e-5*most {
				t.Fatalf("%+v, %s: number %d is %g one way and %g the other (of %g)", cfg, what, i, v, want[i], most)
			}
		}
	}
	for _, cfg := range everyMethod() {
		taken := map[string]bool{}
		for _, channels := range []int{6, 40, 300} {
			p := build1(t, cfg, channels)
			f, ok := p.bilinear.(indirect)
			if !ok {
				continue
			}
			for _, n := range []int{1, 2, 17, 130, 1300} {
				for _, back := range []bool{false, true} {
					taken[fmt.Sprint(back, f.throughMoments(n, p.two, back))] = true
				}
				if n > 200 {
					continue
				}
				x := normals(r, n, channels)
				w := &work{}
				bag := func() *bag { return w.bag(matrix.Rows{Dense: x}, 0, n, p.split, p.two) }
				got, want := make([]float32, p.features), make([]float32, p.features)
				sumThroughMoments(f, got, bag(), w)
				f.direct(want, bag(), w)
				near(cfg, "forward", got, want)
				g := normals(r, 1, p.features).Data
				dx, dx2 := matrix.NewDense(n, channels), matrix.NewDense(n, channels)
				w.gradient(dx, 0, n, p.split)
				backThroughMoments(f, &w.dx, &w.dy, bag(), g, w)
				w.gradient(dx2, 0, n, p.split)
				f.directBack(&w.dx, &w.dy, bag(), g, w)
				near(cfg, "back", dx.Data, dx2.Data)
			}
		}
		if len(taken) != 4 && len(taken) != 0 {
			t.Errorf("%+v: of the ways only %v is taken", cfg, taken)
		}
	}
}

// The gradient is the slope of the definition, by central differences in float64, at every
// method, number of streams and norm.
func TestGradientIsTheSlope(t *testing.T) {
	r := random.New(2, "test")
	for _, channels := range []int{6, 24} {
		x := normals(r, 60, channels)
		bags := []int{2, 3, 3, 8, 60}
		for _, cfg := range append(everyMethod(), Config{}) {
			for _, n := range []string{"none", "l2", "root-l2"} {
				cfg.Norm = n
				p := build1(t, cfg, channels)
				_, features := p.Dims()
				dout := normals(r, len(bags)-1, features)
				if n == "root-l2" {
					steady(p, x, bags, dout)
				}
				dx := matrix.NewDense(x.Rows, x.Cols)
				for i := range dx.Data {
					dx.Data[i] = 7
				}
				p.Backward(dx, x, bags, dout)
				for i := range dout.Rows {
					rows := wide(x, bags[i], bags[i+1])
					loss := func() (sum float64) {
						for c, v := range twin(p, rows) {
							sum += v * float64(dout.Row(i)[c])
						}
						return sum
					}
					size := 0.0
					for l := range rows {
						for _, v := range dx.Row(bags[i] + l) {
							size = max(size, math.Abs(float64(v)))
						}
					}
					for range 40 {
						if len(rows) == 0 {
							break
						}
						l, j := r.Intn(len(rows)), r.Intn(channels)
						const h = 1e-6
						was := rows[l][j]
						rows[l][j] = was + h
						up := loss()
						rows[l][j] = was - h
						down := loss()
						rows[l][j] = was
						want, got := (up-down)/(2*h), float64(dx.Row(bags[i] + l)[j])
						if math.Abs(got-want) > 2e-3*size {
							t.Fatalf("%+v, %d channels, bag %d of %d: gradient by number %d of vector %d is %g, "+
								"the slope is %g (of %g)", cfg, channels, i, len(rows), j, l, got, want, size)
						}
					}
				}
				for _, l := range []int{0, 1} {
					if dx.Row(l)[0] != 7 {
						t.Fatalf("%+v: the gradient of a vector in no bag was written", cfg)
					}
				}
			}
		}
	}
}

// steady makes a loss not depend on outputs near 0, where the root has a slope without bound and
// rounding decides it.
func steady(p *Pooling, x *matrix.Dense, bags []int, dout *matrix.Dense) {
	norm := p.norm
	p.norm = noNorm
	defer func() { p.norm = norm }()
	for i := range dout.Rows {
		v, most := twin(p, wide(x, bags[i], bags[i+1])), 0.0
		for _, u := range v {
			most = max(most, math.Abs(u))
		}
		for c, u := range v {
			if math.Abs(u) < 0.01*most {
				dout.Row(i)[c] = 0
			}
		}
	}
}

// An output that is 0, or would be but for rounding, has no slope: the gradient stays finite and as if
// it were not there.
func TestRootHasNoSlopeAtZero(t *testing.T) {
	p := build1(t, Config{Method: "full"}, 3)
	// G_01 is -10⁻⁷ of 2, G_02 and all else of the last channel 0.
	x := &matrix.Dense{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 1, 0, 1, -1.0000001, 0}}
	dx, dout := matrix.NewDense(2, 3), matrix.NewDense(1, 9)
	dout.Data[1], dout.Data[2], dout.Data[8] = 1, 1, 1
	p.Backward(dx, x, []int{0, 2}, dout)
	for i, v := range dx.Data {
		if !(math.Abs(float64(v)) < 1e-3) {
			t.Errorf("number %d of the gradient is %g, want about 0", i, v)
		}
	}
	clear(x.Data)
	dx.Data[0] = 7
	p.Backward(dx, x, []int{0, 2}, dout)
	if i := slices.IndexFunc(dx.Data, func(v float32) bool { return v != 0 }); i >= 0 {
		t.Errorf("vectors of zeros: number %d of the gradient is %g", i, dx.Data[i])
	}
}

// A row is the same bits on any number of threads, with other bags around it and without.
func TestRowsDoNotDependOnOtherBags(t *testing.T) {
	r := random.New(3, "test")
	const channels = 24
	x := normals(r, 3000, channels)
	bags := []int{0}
	for bags[len(bags)-1] < 2000 {
		bags = append(bags, bags[len(bags)-1]+r.Intn(40))
	}
	bags = append(bags, 3000)
	for _, cfg := range append(everyMethod(), Config{}, averaged()) {
		p := build1(t, cfg, channels)
		_, features := p.Dims()
		all := matrix.NewDense(len(bags)-1, features)
		p.Pool(all, matrix.Rows{Dense: x}, bags)
		one := matrix.NewDense(1, features)
		for i := range all.Rows {
			if i%7 == 0 || i == all.Rows-1 {
				p.Pool(one, matrix.Rows{Dense: x.Slice(bags[i], bags[i+1])}, []int{0, bags[i+1] - bags[i]})
				if !slices.Equal(one.Data, all.Row(i)) {
					t.Fatalf("%+v: bag %d of %d vectors is not the same alone", cfg, i, bags[i+1]-bags[i])
				}
			}
		}
	}
}

// averaged is the mean of a map.
func averaged() Config {
	return Config{Map: &feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.1}, Features: 64, Seed: 1}}
}

// Sparse vectors give the rows that the same dense ones give.
func TestSparseBagsAreDenseBags(t *testing.T) {
	r := random.New(4, "test")
	const channels = 30
	for _, n := range []int{1, 4, 200} {
		csr := &matrix.CSR{Rows: n, Cols: channels, Ptr: []int{0}}
		for range n {
			for j := range channels {
				if r.Intn(4) == 0 {
					csr.Idx, csr.Val = append(csr.Idx, int32(j)), append(csr.Val, float32(r.Normal()))
				}
			}
			csr.Ptr = append(csr.Ptr, len(csr.Idx))
		}
		var x matrix.Dense
		csr.Densify(&x)
		bags := []int{0, n / 2, n}
		for _, cfg := range append(everyMethod(), Config{}, averaged()) {
			p := build1(t, cfg, channels)
			_, features := p.Dims()
			dense, sparse := matrix.NewDense(2, features), matrix.NewDense(2, features)
			p.Pool(dense, matrix.Rows{Dense: &x}, bags)
			p.Pool(sparse, matrix.Rows{CSR: csr}, bags)
			for i, v := range dense.Data {
				if math.Abs(float64(v-sparse.Data[i])) > 1e-3 {
					t.Fatalf("%+v, %d vectors: number %d is %g dense and %g sparse", cfg, n, i, v, sparse.Data[i])
				}
			}
		}
	}
}

// Of one stream, a row without a norm is the sum of the features that the map of the same name and
// seed gives: what is proved of their mean and variance holds here.
func TestPoolingIsTheSumOfTheMapOfItsVectors(t *testing.T) {
	r := random.New(5, "test")
	const channels = 40
	x := normals(r, 5, channels)
	square := kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2}
	for _, c := range []struct {
		cfg Config
		as  feature.Config
	}{
		{Config{Method: "tensorsketch", Features: 64}, feature.Config{Map: "tensorsketch"}},
		{Config{Method: "maclaurin", Features: 50}, feature.Config{Map: "maclaurin"}},
		{Config{Method: "cbp-krp", Features: 64, Pool: 50, T: 3, Sparsity: 9},
			feature.Config{Map: "pk-rp", Options: feature.Options{Pool: 50, T: 3, Sparsity: 9}}},
		{Config{Method: "cbp-krp", Features: 64, Pool: 50, Sparsity: 2, Reuse: "random"},
			feature.Config{Map: "pk-rp", Options: feature.Options{Pool: 50, T: 2, Sparsity: 2, Reuse: "random"}}},
	} {
		c.cfg.Norm, c.cfg.Seed, c.as.Seed, c.as.Kernel, c.as.Features = "none", 9, 9, square, c.cfg.Features
		p := build1(t, c.cfg, channels)
		m, err := feature.New(c.as, channels)
		if err != nil {
			t.Fatal(err)
		}
		z, got := matrix.NewDense(x.Rows, c.as.Features), matrix.NewDense(1, c.as.Features)
		m.Transform(z, matrix.Rows{Dense: x})
		p.Pool(got, matrix.Rows{Dense: x}, []int{0, x.Rows})
		for j, v := range got.Data {
			want := 0.0
			for l := range x.Rows {
				want += float64(z.Row(l)[j])
			}
			if math.Abs(float64(v)-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("%s: feature %d is %g, the sum of the map's is %g", c.cfg.Method, j, v, want)
			}
		}
	}
}

// The product of two rows of means is the mean kernel over all pairs of vectors, as near as the
// map's kernel is: an efficient match kernel.
func TestMeanIsAnEfficientMatchKernel(t *testing.T) {
	cfg := averaged()
	cfg.Map.Features = 1 << 14
	r := random.New(6, "test")
	x := normals(r, 30, 5)
	p := build1(t, cfg, 5)
	z := matrix.NewDense(2, cfg.Map.Features)
	p.Pool(z, matrix.Rows{Dense: x}, []int{0, 10, 30})
	got, want := 0.0, 0.0
	for j, v := range z.Row(0) {
		got += float64(v) * float64(z.Row(1)[j])
	}
	for i := range 10 {
		for j := 10; j < 30; j++ {
			want += cfg.Map.Kernel.Eval(x.Row(i), x.Row(j)) / 200
		}
	}
	if math.Abs(got-want) > 4/math.Sqrt(1<<14) {
		t.Errorf("product %g, mean kernel %g", got, want)
	}
}
