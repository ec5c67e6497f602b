package pool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// What is wrong with a configuration is said with its value and what it should be.
func TestConfigurationsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		cfg      Config
		channels int
		want     string
	}{
		{Config{Method: "sum"}, 4, `"sum" is not a method; known are mean, full, cbp-krp, tensorsketch, maclaurin`},
		{Config{Method: "full", Features: 5}, 4, "full has no option features; it belongs to cbp-krp, tensorsketch, maclaurin"},
		{Config{Method: "tensorsketch", Features: 5, T: 2}, 4, "has no option t; it belongs to cbp-krp"},
		{Config{Streams: 2, First: 1}, 4, "mean has no option first"},
		{Config{Method: "full", Map: &feature.Config{}}, 4, "has no option map"},
		{Config{Method: "full"}, 0, "0 channels"},
		{Config{Method: "full", Streams: 3}, 4, "3 streams"},
		{Config{Method: "full", Streams: 2}, 4, "first of two streams has 0 of 4 channels; give first from 1 to 3"},
		{Config{Method: "full", Streams: 2, First: 4}, 4, "has 4 of 4 channels"},
		{Config{Method: "full", First: 2}, 4, "first is 2, but there is one stream only"},
		{Config{Method: "tensorsketch"}, 4, "features is 0; it must be 1 or more"},
		{Config{Method: "full", Norm: "l1"}, 4, `"l1" is not a norm; known are none, l2, root-l2`},
		{Config{Method: "cbp-krp", Features: 5, T: -1}, 4, "t is -1"},
		{Config{Method: "cbp-krp", Features: 5, Pool: 3}, 4, "the pool of 3 is too small for outputs of 4 different vectors"},
		{Config{Method: "cbp-krp", Features: 5, Sparsity: 0.5}, 4, "sparsity is 0.5; it must be from 1"},
		{Config{Method: "cbp-krp", Features: 5, Reuse: "odd"}, 4, `"odd" is not a reuse; known are even, random`},
		{Config{Method: "full"}, 1 << 20, "use fewer features"},
		{Config{Method: "maclaurin", Features: 1 << 24}, 1 << 14, "use fewer features"},
		{Config{Method: "cbp-krp", Features: 10, Pool: 1 << 30, Sparsity: 1}, 1 << 14, "use fewer features"},
		{Config{Method: "cbp-krp", Features: 10, Pool: 1 << 30, Sparsity: 8}, 1 << 14, "there may be 2³⁰"},
		{Config{Method: "tensorsketch", Features: 1 << 29}, 5, "must be 268435456 at most"},
		{Config{Method: "maclaurin", Features: 1000, MaxBytes: 1000}, 5, "use fewer features"},
		{Config{Map: &feature.Config{Map: "nothing", Features: 5}}, 4, `mean: feature: "nothing" is not a map`},
		{Config{Map: &feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 5000}, MaxBytes: 1000}, 4, "takes"},
		{Config{Map: &feature.Config{Map: "kg-rp", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 5}}, 4, "fitted to vectors"},
	} {
		if _, err := New(c.cfg, c.channels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %d channels: error %v, want one with %q", c.cfg, c.channels, err, c.want)
		}
	}
}

// Options of cbp-krp that are 0 mean what the documentation says.
func TestDefaultsAreAsDocumented(t *testing.T) {
	r := random.New(30, "test")
	for _, c := range []struct {
		channels int
		given    Config
		full     Config
	}{
		{40, Config{Features: 60}, Config{Features: 60, Pool: 240, T: 2, Sparsity: 8, Reuse: "even", Streams: 1, Norm: "root-l2"}},
		{700, Config{Features: 3000, T: 1}, Config{Features: 3000, Pool: 5000, T: 1, Sparsity: 100}},
		{4, Config{Features: 1, T: 3}, Config{Features: 1, Pool: 6, T: 3, Sparsity: 1}},
	} {
		c.given.Method, c.full.Method = "cbp-krp", "cbp-krp"
		x := matrix.Rows{Dense: normals(r, 5, c.channels)}
		y, z := matrix.NewDense(1, c.full.Features), matrix.NewDense(1, c.full.Features)
		build1(t, c.given, c.channels).Pool(y, x, []int{0, 5})
		build1(t, c.full, c.channels).Pool(z, x, []int{0, 5})
		if !slices.Equal(y.Data, z.Data) {
			t.Errorf("%+v is not %+v", c.given, c.full)
		}
	}
}

// A configuration goes through JSON, and with the State of a fitted map makes the same pooling.
func TestPoolingComesBackFromItsState(t *testing.T) {
	r := random.New(31, "test")
	x := matrix.Rows{Dense: normals(r, 50, 6)}
	fitted := &feature.Config{Map: "kg-rp", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.2},
		Features: 12, Options: feature.Options{Pool: 20}, Seed: 2}
	for _, cfg := range append(everyMethod(), Config{}, averaged(), Config{Map: fitted, Norm: "l2"}) {
		cfg = shaped(cfg, 6)
		p, err := build(cfg, x.Dim(), func(m feature.Config) (feature.Map, error) { return feature.Fit(t.Context(), m, x) })
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		again, err := Restore(back, 6, p.State())
		if err != nil {
			t.Fatal(err)
		}
		_, features := p.Dims()
		y, z := matrix.NewDense(2, features), matrix.NewDense(2, features)
		p.Pool(y, x, []int{0, 20, 50})
		again.Pool(z, x, []int{0, 20, 50})
		if !slices.Equal(y.Data, z.Data) {
			t.Errorf("%s gives another pooling", text)
		}
		if NeedsSample(cfg) != (p.State() != nil) {
			t.Errorf("%s: needs a sample: %t, has a state: %t", text, NeedsSample(cfg), p.State() != nil)
		}
	}
	if _, err := Restore(Config{Map: fitted}, 6, nil); err == nil {
		t.Error("a fitted map was restored from nothing")
	}
}

// Once memory has grown, a bag allocates nothing.
func TestBagsDoNotAllocate(t *testing.T) {
	r := random.New(32, "test")
	x := normals(r, 600, 24)
	var bags []int
	for i := 0; i <= 600; i += 6 {
		bags = append(bags, i)
	}
	for _, cfg := range append(everyMethod(), Config{}, averaged()) {
		p := build1(t, cfg, 24)
		_, features := p.Dims()
		y, dx := matrix.NewDense(len(bags)-1, features), matrix.NewDense(600, 24)
		few := testing.AllocsPerRun(5, func() { p.Pool(y.Slice(0, 50), matrix.Rows{Dense: x}, bags[:51]) })
		many := testing.AllocsPerRun(5, func() { p.Pool(y, matrix.Rows{Dense: x}, bags) })
		if many > few {
			t.Errorf("%+v: %g allocations for 50 bags, %g for 100", cfg, few, many)
		}
		if cfg.Map != nil {
			continue
		}
		few = testing.AllocsPerRun(5, func() { p.Backward(dx, x, bags[:51], y.Slice(0, 50)) })
		many = testing.AllocsPerRun(5, func() { p.Backward(dx, x, bags, y) })
		if many > few {
			t.Errorf("%+v, backward: %g allocations for 50 bags, %g for 100", cfg, few, many)
		}
	}
}

// What a caller does wrong is told with a panic that names it.
func TestWrongSizesPanic(t *testing.T) {
	p := build1(t, Config{Method: "full"}, 3)
	x := matrix.NewDense(10, 3)
	mapped := build1(t, averaged(), 3)
	for want, call := range map[string]func(){
		"vectors of 4 channels": func() { p.Pool(matrix.NewDense(1, 9), matrix.Rows{Dense: matrix.NewDense(10, 4)}, []int{0, 1}) },
		"2 bags with 9":         func() { p.Pool(matrix.NewDense(1, 9), matrix.Rows{Dense: x}, []int{0, 1, 2}) },
		"a matrix of 1×8":       func() { p.Pool(matrix.NewDense(1, 8), matrix.Rows{Dense: x}, []int{0, 1}) },
		"in order":              func() { p.Pool(matrix.NewDense(2, 9), matrix.Rows{Dense: x}, []int{0, 5, 4}) },
		"within the 10 rows":    func() { p.Pool(matrix.NewDense(1, 9), matrix.Rows{Dense: x}, []int{0, 11}) },
		"into 9×3":              func() { p.Backward(matrix.NewDense(9, 3), x, []int{0, 10}, matrix.NewDense(1, 9)) },
		"mean of a feature map": func() { mapped.Backward(x, x, []int{0, 10}, matrix.NewDense(1, 64)) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(r.(string), want) {
					t.Errorf("panic %v, want one with %q", r, want)
				}
			}()
			call()
		}()
	}
}
