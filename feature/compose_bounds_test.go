package feature

import (
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// nested are compositions in each other around one map.
func nested(name string, depth int) Config {
	cfg := Config{Map: "rff", Kernel: rbf, Features: 4}
	for range depth {
		cfg = Config{Map: name, Steps: []Config{cfg}}
	}
	return cfg
}

// counted is a map that counts how often it is asked for its dimensions.
type counted struct {
	Map
	asked *int
}

func (c counted) Dims() (in, out int) { *c.asked++; return c.Map.Dims() }

// The time to make maps in maps is not exponential in their depth: a chain asks each step for its
// dimensions a fixed number of times, and remembers its own.
func TestChainsRememberTheirDimensions(t *testing.T) {
	asked := 0
	inner := Map(counted{draw(t, Config{Map: "rff", Kernel: rbf, Features: 4}, 3), &asked})
	for range 20 {
		c, err := newChainOf(Config{Map: "chain", Steps: make([]Config, 1)}, func(Config, int, Map) (Map, error) { return inner, nil })
		if err != nil {
			t.Fatal(err)
		}
		inner = c
	}
	if asked > 8 {
		t.Errorf("20 chains in each other ask the innermost map %d times", asked)
	}
}

func TestCompositionsAreBounded(t *testing.T) {
	few := Config{Map: "rff", Kernel: rbf, Features: 2}
	for _, name := range []string{"chain", "sum"} {
		if _, err := New(nested(name, maxDepth), 3); err != nil {
			t.Errorf("%s, %d deep: %v", name, maxDepth, err)
		}
		many := Config{Map: name, Steps: make([]Config, 100_000)}
		for i := range many.Steps {
			many.Steps[i] = few
		}
		for _, c := range []struct {
			cfg  Config
			want string
		}{
			{nested(name, maxDepth+1), "more than 32 deep"},
			{nested(name, 5000), "more than 32 deep"},
			{many, "more than 4,096 maps"},
		} {
			_, atNew := New(c.cfg, 3)
			_, atRestore := Restore(c.cfg, 3, nil)
			_, atFit := Fit(t.Context(), c.cfg, matrix.Rows{Dense: matrix.NewDense(4, 3)})
			for _, err := range []error{Check(c.cfg), atNew, atRestore, atFit} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s of %d steps: %.300v, want %q", name, len(c.cfg.Steps), err, c.want)
				}
			}
		}
	}
}

// The maps of a composition share its memory, and so do the rows between them.
func TestCompositionsShareTheirMemory(t *testing.T) {
	wide := Config{Map: "rff", Kernel: rbf, Features: 4096}
	small := Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 2}, Features: 2}
	one := draw(t, wide, 10).Bytes()
	// An rff takes twice what it holds while it is drawn.
	sum := Config{Map: "sum", Steps: []Config{wide, wide, wide}, MaxBytes: 4*one + one/2}
	if _, err := New(sum, 10); err != nil {
		t.Error(err)
	}
	sum.MaxBytes = 3*one + one/2
	if _, err := New(sum, 10); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("three maps in too little memory: %v", err)
	}
	// A chain has 4·256·4096 bytes of rows between its two maps.
	chain := Config{Map: "chain", Steps: []Config{wide, small}, MaxBytes: one + 4<<20}
	if _, err := New(chain, 10); err == nil || !strings.Contains(err.Error(), "what comes before step 2 takes") {
		t.Errorf("a chain without room for its rows: %v", err)
	}
	chain.MaxBytes += 1 << 20
	if _, err := New(chain, 10); err != nil {
		t.Error(err)
	}
}
