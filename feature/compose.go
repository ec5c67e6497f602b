package feature

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// compositions are maps made of maps.
func compositions() []kind {
	return []kind{
		{name: Chain, about: "maps one after the other (steps)",
			cost:     "that of the steps",
			composed: true, dim: true, make: newChain, fit: fitChain, restore: restoreChain},
		{name: Sum, about: "maps side by side, for weighted sums of kernels (steps, weights)",
			cost:     "that of the steps",
			composed: true, dim: true, make: newSum, fit: fitSum, restore: restoreSum},
	}
}

// composed is what chain and sum have in common: their maps, and how they are made.
type composed struct {
	steps []Map
	names []string // of the steps
	free  freelist.List[scratch]
}

// scratch is the working memory of one call.
type scratch struct {
	z    [2]matrix.Dense // the output of a step, and input of the next
	csr  [2]matrix.CSR   // the same, if sparse is better
	part []matrix.CSR    // the outputs of the steps of a sum
	view matrix.Dense
}

// Bytes counts the bytes of the steps.
func (c *composed) Bytes() (n int64) {
	for _, m := range c.steps {
		n += m.Bytes()
	}
	return n
}

// State holds the states of the steps, with the step's number before each name.
func (c *composed) State() map[string]*matrix.Dense {
	state := map[string]*matrix.Dense{}
	for i, m := range c.steps {
		if f, ok := m.(Fitted); ok {
			for name, t := range f.State() {
				state[strconv.Itoa(i)+"."+name] = t
			}
		}
	}
	return state
}

// Chosen is what the steps chose.
func (c *composed) Chosen() string {
	var all []string
	for i, m := range c.steps {
		if f, ok := m.(Chooser); ok {
			if text := f.Chosen(); text != "" {
				all = append(all, c.names[i]+": "+text)
			}
		}
	}
	return strings.Join(all, ", ")
}

// Step is the configuration of a step. One without a seed gets one derived from the seed of the whole, so that equal steps draw
// different numbers.
func (cfg *Config) Step(i int) Config {
	s := cfg.Steps[i]
	if s.Seed == 0 {
		s.Seed = random.Hash(cfg.Seed, "feature.step", uint64(i))
	}
	return s
}

// step is Step, for which a number of bytes is left.
func (cfg *Config) step(i int, left int64) Config {
	s := cfg.Step(i)
	if s.MaxBytes == 0 || s.MaxBytes > left {
		s.MaxBytes = left
	}
	return s
}

// parts are the states of the steps, by number.
func parts(state map[string]*matrix.Dense) map[string]map[string]*matrix.Dense {
	all := map[string]map[string]*matrix.Dense{}
	for name, t := range state {
		if step, rest, ok := strings.Cut(name, "."); ok {
			if all[step] == nil {
				all[step] = map[string]*matrix.Dense{}
			}
			all[step][rest] = t
		}
	}
	return all
}

// Chain applies maps one after the other: z(x) = z_k(… z_1(x)). It approximates the kernel of
// its last map on the features of the previous one. The usual purpose is to shorten wide
// sparse rows by a countsketch before a map whose cost grows with the dimension: that changes
// x·y, and so ‖x-y‖², by a relative error of only about 1/√D_1.
//
// It costs as much as its steps, and holds 4·256·max D_i bytes more per goroutine.
const Chain = "chain"

// chain is the map [Chain].
type chain struct {
	composed
	in, out int
}

// chainRows is how many rows go through a chain at a time.
const chainRows = 256

// newChainOf makes the steps of a chain from each step's configuration, number and
// previous map (nil for the first).
func newChainOf(cfg Config, step func(s Config, i int, before Map) (Map, error)) (*chain, error) {
	c, memory := &chain{}, budget{cfg: &cfg}
	var before Map
	for i := range cfg.Steps {
		left, err := memory.left()
		if err != nil {
			return nil, err
		}
		m, err := step(cfg.step(i, left), i, before)
		if err != nil {
			return nil, fmt.Errorf("feature: chain: step %d: %w", i+1, err)
		}
		in, out := m.Dims()
		if i == 0 {
			c.in = in
		}
		c.out = out
		memory.add(m)
		c.steps, c.names, before = append(c.steps, m), append(c.names, cfg.Steps[i].Map), m
	}
	if err := cfg.unused(); err != nil {
		return nil, err
	}
	return c, cfg.decided(c.out)
}

// unused returns an error if a composition has settings of single maps.
func (cfg *Config) unused() error {
	if cfg.Kernel.Name != "" {
		return fmt.Errorf("feature: %s: the kernel belongs to the steps, not to the whole", cfg.Map)
	}
	if cfg.Map == Chain && cfg.Weights != nil {
		return fmt.Errorf("feature: chain: weights belong to a sum")
	}
	return nil
}

// decided returns an error if Features is neither 0 nor the number that the map decides on.
func (cfg *Config) decided(out int) error {
	if cfg.Features != 0 && cfg.Features != out {
		return fmt.Errorf("feature: %s: features is %d, but the map gives %d; leave it out", cfg.Map, cfg.Features, out)
	}
	return nil
}

func outOf(m Map, dim int) int {
	if m == nil {
		return dim
	}
	_, out := m.Dims()
	return out
}

func newChain(cfg Config, dim int) (Map, error) {
	return newChainOf(cfg, func(s Config, _ int, before Map) (Map, error) { return New(s, outOf(before, dim)) })
}

func fitChain(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	return newChainOf(cfg, func(s Config, _ int, before Map) (Map, error) {
		if before != nil {
			sample = Apply(before, sample, &matrix.Dense{}, &matrix.CSR{})
		}
		return Fit(ctx, s, sample)
	})
}

func restoreChain(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	of := parts(state)
	return newChainOf(cfg, func(s Config, i int, before Map) (Map, error) {
		return Restore(s, outOf(before, dim), of[strconv.Itoa(i)])
	})
}

func (c *chain) Dims() (in, out int) { return c.in, c.out }

func (c *chain) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := c.Dims()
	check(in, out, dst, x)
	s := c.free.Get()
	defer c.free.Put(s)
	for i := 0; i < x.Len(); i += chainRows {
		j := min(i+chainRows, x.Len())
		rows := x
		if i > 0 || j < x.Len() {
			rows = x.Slice(i, j)
		}
		for k, m := range c.steps {
			if k == len(c.steps)-1 {
				s.view = matrix.Dense{Rows: j - i, Cols: out, Stride: dst.Stride, Data: dst.Data[i*dst.Stride:]}
				m.Transform(&s.view, rows)
				break
			}
			rows = Apply(m, rows, &s.z[k%2], &s.csr[k%2])
		}
	}
	s.view = matrix.Dense{}
}

// Sum puts maps side by side: z(x) = [√w_1·z_1(x), √w_2·z_2(x), …], so that z(x)·z(y)
// approximates Σ w_i k_i(x, y). If the maps are independent, which they are unless two have
// the same seed, the variance is Σ w_i² Var_i.
//
// It costs as much as its steps.
const Sum = "sum"

// sum is the map [Sum].
type sum struct {
	composed
	in, out int
	factors []float32 // √w_i
}

// Parted is a map whose features are those of several maps, side by side.
type Parted interface {
	Map

	// Parts are the numbers of features of each.
	Parts() []int
}

// Parts are the numbers of features of the steps.
func (m *sum) Parts() []int {
	var widths []int
	for _, step := range m.steps {
		_, out := step.Dims()
		widths = append(widths, out)
	}
	return widths
}

func newSumOf(cfg Config, step func(s Config, i int) (Map, error)) (*sum, error) {
	if cfg.Weights != nil && len(cfg.Weights) != len(cfg.Steps) {
		return nil, fmt.Errorf("feature: sum: %d weights for %d steps", len(cfg.Weights), len(cfg.Steps))
	}
	m, memory := &sum{}, budget{cfg: &cfg}
	for i := range cfg.Steps {
		w := 1.0
		if cfg.Weights != nil {
			w = cfg.Weights[i]
		}
		if !(w > 0 && w <= math.MaxFloat32) {
			return nil, fmt.Errorf("feature: sum: weight %d is %g; it must be a positive number", i+1, w)
		}
		left, err := memory.left()
		if err != nil {
			return nil, err
		}
		z, err := step(cfg.step(i, left), i)
		if err != nil {
			return nil, fmt.Errorf("feature: sum: step %d: %w", i+1, err)
		}
		in, out := z.Dims()
		memory.add(z)
		m.steps, m.names, m.factors = append(m.steps, z), append(m.names, cfg.Steps[i].Map), append(m.factors, float32(math.Sqrt(w)))
		m.in, m.out = in, m.out+out
	}
	if err := cfg.unused(); err != nil {
		return nil, err
	}
	return m, cfg.decided(m.out)
}

func newSum(cfg Config, dim int) (Map, error) {
	return newSumOf(cfg, func(s Config, _ int) (Map, error) { return New(s, dim) })
}

func fitSum(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	return newSumOf(cfg, func(s Config, _ int) (Map, error) { return Fit(ctx, s, sample) })
}

func restoreSum(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	of := parts(state)
	return newSumOf(cfg, func(s Config, i int) (Map, error) { return Restore(s, dim, of[strconv.Itoa(i)]) })
}

func (m *sum) Dims() (in, out int) { return m.in, m.out }

func (m *sum) Transform(dst *matrix.Dense, x matrix.Rows) {
	check(m.in, m.out, dst, x)
	if x.Len() == 0 {
		return
	}
	s := m.free.Get()
	defer m.free.Put(s)
	at := 0
	for k, step := range m.steps {
		_, out := step.Dims()
		s.view = matrix.Dense{Rows: dst.Rows, Cols: out, Stride: dst.Stride, Data: dst.Data[at:]}
		step.Transform(&s.view, x)
		if f := m.factors[k]; f != 1 {
			for i := range dst.Rows {
				for j := range s.view.Row(i) {
					dst.Data[i*dst.Stride+at+j] *= f
				}
			}
		}
		at += out
	}
	s.view = matrix.Dense{}
}

// Sparsely reports whether sparse features are better: if they are for all steps.
func (m *sum) Sparsely(x matrix.Rows) bool {
	for _, step := range m.steps {
		if s, ok := step.(Sparse); !ok || !s.Sparsely(x) {
			return false
		}
	}
	return true
}

// TransformSparse is for sums whose steps are all Sparse.
func (m *sum) TransformSparse(dst *matrix.CSR, x matrix.Rows) {
	checkSparse(m.in, x)
	s := m.free.Get()
	defer m.free.Put(s)
	if s.part == nil {
		s.part = make([]matrix.CSR, len(m.steps))
	}
	for k, step := range m.steps {
		step.(Sparse).TransformSparse(&s.part[k], x)
	}
	reserve(dst, x.Len(), m.out, func(i int) (n int) {
		for k := range s.part {
			n += s.part[k].Ptr[i+1] - s.part[k].Ptr[i]
		}
		return n
	})
	for i := range x.Len() {
		to, z := dst.Row(i)
		first := int32(0)
		for k := range s.part {
			idx, val := s.part[k].Row(i)
			for e, j := range idx {
				to[e], z[e] = first+j, m.factors[k]*val[e]
			}
			to, z, first = to[len(idx):], z[len(idx):], first+int32(s.part[k].Cols)
		}
	}
}
