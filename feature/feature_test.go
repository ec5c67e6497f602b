package feature

import (
	"encoding/json"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

var rbf = kernel.Kernel{Name: "rbf", Gamma: 0.5}
var laplacian = kernel.Kernel{Name: "laplacian", Gamma: 0.5}
var cauchy = kernel.Kernel{Name: "cauchy", Gamma: 0.8}

func matern(nu float64) kernel.Kernel { return kernel.Kernel{Name: "matern", Gamma: 0.5, Nu: nu} }

func arccos(order int) kernel.Kernel { return kernel.Kernel{Name: "arccos", Degree: order} }

// mapCase is a configuration for the tests that all maps have to pass.
type mapCase struct {
	Config
	dim int // of the rows; 0: 12

	// proof is the number of features with which unbiasedness and variance are tested; 0: 16.
	// -1: the map decides on it itself, in all tests.
	proof int

	// want is what z(x)·z(y) estimates; nil: the kernel.
	want func(x, y []float32) float64

	// variance is that of the estimate; nil: there is no closed form. atMost says that it is
	// a bound.
	variance func(x, y []float32) float64
	atMost   bool

	// drawsNothing says that the map does not depend on the seed.
	drawsNothing bool

	// biased maps are left out of the test of means.
	biased bool

	// agree is how far features of dense and sparse rows may differ, relative to their
	// norm; 0: 1e-5. Frequencies with heavy tails need more.
	agree float64

	// histograms says that rows are of absolute values.
	histograms bool

	// scale of the rows of the proof, for kernels that grow; 0: 1.
	scale float64
}

func (c mapCase) String() string {
	text, _ := json.Marshal(c.Config)
	return string(text)
}

// everyMap has the maps in all their forms.
func everyMap() []mapCase {
	return slices.Concat(fourierCases(), sketchCases(), taylorCases(), projectionCases(), additiveCases(), landmarkCases(), composedCases())
}

// fit makes the map of a case for rows of the given dimensions.
func (c mapCase) fit(t testing.TB, features, dim int) Map {
	t.Helper()
	c.wish(features)
	sample, _ := someRows(60, dim)
	m, err := Fit(t.Context(), c.Config, c.rows(sample))
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return m
}

// rows returns x, or the rows of its absolute values.
func (c mapCase) rows(x matrix.Rows) matrix.Rows {
	if !c.histograms {
		return x
	}
	absolute := func(v []float32) []float32 {
		v = slices.Clone(v)
		for i := range v {
			v[i] = float32(math.Abs(float64(v[i])))
		}
		return v
	}
	if x.CSR != nil {
		m := *x.CSR
		m.Val = absolute(m.Val)
		return matrix.Rows{CSR: &m}
	}
	m := *x.Dense
	m.Data = absolute(m.Data)
	return matrix.Rows{Dense: &m}
}

// wish sets the number of features, unless the map itself decides on it.
func (c *mapCase) wish(features int) {
	if k, _ := find(c.Map); !k.dim {
		c.Features = features
	}
}

// someRows returns n rows of d dimensions, half of whose elements are 0, dense and sparse.
func someRows(n, d int) (dense, sparse matrix.Rows) {
	r := random.New(1, "rows")
	m := matrix.NewDense(n, d)
	s := &matrix.CSR{Rows: n, Cols: d, Ptr: []int{0}}
	for i := range n {
		for j := range d {
			if r.Sign() > 0 {
				m.Row(i)[j] = float32(r.Normal())
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, m.Row(i)[j])
			}
		}
		s.Ptr = append(s.Ptr, len(s.Val))
	}
	return matrix.Rows{Dense: m}, matrix.Rows{CSR: s}
}

func transform(m Map, x matrix.Rows) *matrix.Dense {
	_, out := m.Dims()
	z := matrix.NewDense(x.Len(), out)
	for i := range z.Data {
		z.Data[i] = float32(math.NaN())
	}
	m.Transform(z, x)
	return z
}

func TestRowDoesNotDependOnItsBatch(t *testing.T) {
	n, steps := 150, []int{1, 7, 9, 64, 65, 150}
	if testing.Short() {
		n, steps = 70, []int{1, 9, 65}
	}
	dense, sparse := someRows(n, 70)
	for _, cfg := range everyMap() {
		m := cfg.fit(t, 1000, 70)
		_, out := m.Dims()
		for _, x := range []matrix.Rows{cfg.rows(dense), cfg.rows(sparse)} {
			want := transform(m, x)
			threads := runtime.GOMAXPROCS(3)
			for _, step := range steps {
				for i := 0; i < n; i += step {
					j := min(i+step, n)
					got := transform(m, x.Slice(i, j))
					if !slices.Equal(got.Data, want.Data[i*out:j*out]) {
						t.Fatalf("%s, sparse %t: rows [%d, %d) alone give other features", cfg, x.CSR != nil, i, j)
					}
				}
			}
			runtime.GOMAXPROCS(threads)
		}
	}
}

// Columns of a wider matrix are transformed into columns of a wider one, and nothing else of
// it is touched.
func TestTransformOfViews(t *testing.T) {
	dense, _ := someRows(20, 12)
	for _, cfg := range everyMap() {
		m := cfg.fit(t, 30, 5)
		_, out := m.Dims()
		x := matrix.Rows{Dense: cfg.rows(dense).Dense.Columns(4, 9)}
		z := matrix.NewDense(20, out+10)
		m.Transform(z.Columns(6, out+6), x)
		packed := matrix.NewDense(20, 5)
		for i := range 20 {
			copy(packed.Row(i), x.Dense.Row(i))
		}
		want := transform(m, matrix.Rows{Dense: packed})
		for i := range 20 {
			row := z.Row(i)
			if !slices.Equal(row[6:out+6], want.Row(i)) {
				t.Errorf("%s: row %d of a view has other features", cfg, i)
			}
			for _, v := range append(row[:6:6], row[out+6:]...) {
				if v != 0 {
					t.Fatalf("%s: row %d is written outside of the view", cfg, i)
				}
			}
		}
	}
}

func TestMapServesManyGoroutines(t *testing.T) {
	dense, sparse := someRows(40, 10)
	for _, cfg := range everyMap() {
		m := cfg.fit(t, 64, 10)
		dense, sparse := cfg.rows(dense), cfg.rows(sparse)
		want := [2]*matrix.Dense{transform(m, dense), transform(m, sparse)}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					for k, x := range []matrix.Rows{dense, sparse} {
						if !slices.Equal(transform(m, x).Data, want[k].Data) {
							t.Errorf("%s: goroutines disturb each other", cfg)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestTransformAllocatesNothingPerRow(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dense, sparse := someRows(300, 20)
	for _, cfg := range everyMap() {
		m := cfg.fit(t, 1000, 20)
		_, out := m.Dims()
		for _, x := range []matrix.Rows{cfg.rows(dense), cfg.rows(sparse)} {
			for rows, most := range map[int]float64{1: 0, 300: 20} {
				z, part := matrix.NewDense(rows, out), x.Slice(0, rows)
				if n := testing.AllocsPerRun(3, func() { m.Transform(z, part) }); n > most {
					t.Errorf("%s, sparse %t: %d rows take %g allocations", cfg, x.CSR != nil, rows, n)
				}
			}
		}
	}
}

func TestSameConfigurationGivesSameMap(t *testing.T) {
	dense, _ := someRows(60, 10)
	for _, c := range everyMap() {
		dense := c.rows(dense)
		c.wish(40)
		c.Seed = 5
		text, err := json.Marshal(c.Config)
		if err != nil {
			t.Fatal(err)
		}
		var again Config
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c.Config) {
			t.Fatalf("%s became %+v, %v", text, again, err)
		}
		m, err := Fit(t.Context(), c.Config, dense)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		want := transform(m, dense)
		var state map[string]*matrix.Dense
		if f, ok := m.(Fitted); ok {
			state = f.State()
		}
		if len(state) > 0 != NeedsSample(c.Config) {
			t.Errorf("%s: needs a sample %t, but its state has %d parts", c, NeedsSample(c.Config), len(state))
		}
		restored, err := Restore(again, 10, state)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if !slices.Equal(transform(restored, dense).Data, want.Data) {
			t.Errorf("%s: the same configuration gives another map", c)
		}
		c.Seed = 6
		if m, err = Fit(t.Context(), c.Config, dense); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if slices.Equal(transform(m, dense).Data, want.Data) != c.drawsNothing {
			t.Errorf("%s: another seed gives the same map", c)
		}
	}
}

func TestZeroConfigIsPairedRandomFourierFeatures(t *testing.T) {
	dense, _ := someRows(3, 10)
	want := transform(draw(t, Config{Map: "rff", Options: Options{Form: "pair"}, Kernel: rbf, Features: 8}, 10), dense)
	got := transform(draw(t, Config{Kernel: rbf, Features: 8}, 10), dense)
	if !slices.Equal(got.Data, want.Data) {
		t.Error("the defaults are not rff, pair")
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	good := Config{Kernel: rbf, Features: 8}
	change := func(f func(*Config)) Config { c := good; f(&c); return c }
	for _, c := range []struct {
		cfg  Config
		dim  int
		want string
	}{
		{change(func(c *Config) { c.Map = "fourier" }), 3,
			`"fourier" is not a map; it is called rff here; orf and sorf have less error; known are rff, orf`},
		{change(func(c *Config) { c.Kernel.Name = "gauss" }), 3, `"gauss" is not a kernel`},
		{change(func(c *Config) { c.Kernel.Name = "linear" }), 3, "rff approximates arccos, rbf"},
		{change(func(c *Config) { c.Kernel = kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2} }), 3, "rff approximates arccos, rbf"},
		{change(func(c *Config) { c.Map, c.Kernel.Name = "qmc", "exp" }), 3, "qmc does not approximate the exp kernel"},
		{change(func(c *Config) { c.Map, c.Kernel = "orf", laplacian }), 3, "laplacian is approximated by rff"},
		{change(func(c *Config) { c.Map, c.Kernel.Name = "sorf", "cauchy" }), 3, "cauchy is approximated by rff, qmc"},
		{change(func(c *Config) { c.Map, c.Kernel = "fastfood", laplacian }), 3, "laplacian is approximated by rff, qmc"},
		{change(func(c *Config) { c.Map, c.Radius = "sorf", "unit" }), 3, "known are chi, coupled, fixed"},
		{change(func(c *Config) { c.Map, c.Radius = "orf", "fixed" }), 3, "known are chi, coupled"},
		{change(func(c *Config) { c.Map, c.Order = "sorf", 48 }), 3, "it must be a power of two"},
		{change(func(c *Config) { c.Map, c.Order = "orf", 32 }), 3, "it belongs to sorf"},
		{change(func(c *Config) { c.Radius = "fixed" }), 3, "it belongs to orf, sorf"},
		{change(func(c *Config) { c.Kernel = arccos(0); c.Form = "pair" }), 3, "leave form out"},
		{change(func(c *Config) { c.Map, c.Kernel, c.Form = "fastfood", arccos(1), "phase" }), 3, "leave form out"},
		{change(func(c *Config) { c.Map = "qmc" }), 4097, "at most 4096"},
		{change(func(c *Config) { c.Map = "sorf" }), 1<<20 + 1, "at most 1048576"},
		{change(func(c *Config) { c.Map, c.Features = "sorf", math.MaxInt/2*2 }), 3, "it must be 67108864 at most"},
		{change(func(c *Config) { c.Map, c.Features, c.Form = "fastfood", 7, "pair" }), 3, "use 8, or form phase"},
		{change(func(c *Config) { c.Map, c.Kernel.Gamma = "sorf", 1e300 }), 3, "too large for float32"},
		{change(func(c *Config) { c.Map, c.Kernel.Gamma = "fastfood", 1e300 }), 3, "too large for float32"},
		{change(func(c *Config) { c.Map, c.Kernel.Gamma = "qmc", 1e300 }), 3, "too large for float32"},
		{change(func(c *Config) { c.Kernel.Gamma = 0 }), 3, "gamma is 0"},
		{change(func(c *Config) { c.Kernel.Gamma = -1 }), 3, "gamma is -1"},
		{change(func(c *Config) { c.Kernel.Gamma = math.NaN() }), 3, "gamma is NaN"},
		{change(func(c *Config) { c.Kernel.Gamma = math.Inf(1) }), 3, "gamma is +Inf"},
		{change(func(c *Config) { c.Kernel.Gamma = 1e300 }), 3, "too large for float32"},
		{change(func(c *Config) { c.Map, c.Kernel.Gamma = "orf", 1e300 }), 3, "too large for float32"},
		{change(func(c *Config) { c.Features = 0 }), 3, "features is 0"},
		{change(func(c *Config) { c.Features = -2 }), 3, "features is -2"},
		{change(func(c *Config) { c.Features = 511 }), 3, "use 512, or form phase"},
		{change(func(c *Config) { c.Features = mostFeatures }), 1 << 20, "GiB at most; use fewer features"},
		{change(func(c *Config) { c.Features = mostFeatures + 1 }), 1, "features is 67108865; it must be 67108864 at most"},
		{change(func(c *Config) { c.Form = "complex" }), 3, "known are pair, phase"},
		{good, 0, "0 dimensions"},
	} {
		if _, err := New(c.cfg, c.dim); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %d dimensions: %v, want %q", c.cfg, c.dim, err, c.want)
		}
	}
}

func TestTransformPanicsOnWrongSizes(t *testing.T) {
	m := draw(t, Config{Kernel: rbf, Features: 8}, 3)
	for name, f := range map[string]func(){
		"dimensions": func() { m.Transform(matrix.NewDense(2, 8), matrix.Rows{Dense: matrix.NewDense(2, 4)}) },
		"rows":       func() { m.Transform(matrix.NewDense(3, 8), matrix.Rows{Dense: matrix.NewDense(2, 3)}) },
		"features":   func() { m.Transform(matrix.NewDense(2, 7), matrix.Rows{Dense: matrix.NewDense(2, 3)}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("wrong %s went through", name)
				}
			}()
			f()
		}()
	}
	m.Transform(matrix.NewDense(0, 8), matrix.Rows{Dense: matrix.NewDense(0, 3)})
}
