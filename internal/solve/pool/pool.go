// Package pool turns a bag of vectors, such as the local descriptors of an image, into one
// row: the mean of a feature map over the bag, or bilinear pooling, full or compact.
//
// Bilinear pooling sums the outer products x_l⊗x_l of all locations l of a bag (Lin, RoyChowdhury
// and Maji, "Bilinear CNN models for fine-grained visual recognition", 2015). Its d² numbers
// are reduced to D by a sketch that keeps dot products in expectation: by tensorsketch or maclaurin
// (Gao, Beijbom, Zhang and Darrell, "Compact bilinear pooling", 2016), or by the products of
// sparse random projections (López-Sánchez, "Low computational cost machine learning", 2019,
// chapter 5). All of them are linear in the second moments G = Σ_l x_l x_lᵀ, and some are computed from G.
package pool

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"mercer/feature"
	"mercer/internal/engine/freelist"
	"mercer/internal/engine/units"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Config says which pooling to use. The same configuration (and sample) always gives the same
// pooling, on every machine.
type Config struct {
	// Method is one of Methods; "" means mean.
	Method string `json:"method"`

	// Map is what mean averages over a bag; nil averages the vectors themselves.
	Map *feature.Config `json:"map,omitempty"`

	// Features is D, the number of outputs of tensorsketch, cbp-krp and maclaurin. The other
	// methods determine it themselves.
	Features int `json:"features,omitempty"`

	// Pool is m, the number of vectors that cbp-krp draws from; 0 means 5,000, or the 2tD that all
	// outputs use together, if these are fewer.
	Pool int `json:"pool,omitempty"`

	// T is t, the number of products that an output of cbp-krp sums; 0 means 2.
	T int `json:"t,omitempty"`

	// Sparsity is s ≥ 1: one in s of the entries of cbp-krp's vectors is nonzero. 0 means 100, or a
	// fifth of the channels if that is less, so that a vector has five nonzero entries.
	Sparsity float64 `json:"sparsity,omitempty"`

	// Reuse says how outputs choose among cbp-krp's vectors: even ("") uses all of them
	// equally often (repetition minimisation), random draws them.
	Reuse string `json:"reuse,omitempty"`

	// Seed selects the random numbers.
	Seed uint64 `json:"seed"`

	// Streams is 2 for bilinear pooling of two descriptors x_l⊗y_l: rows are [x_l, y_l]. 0 means 1.
	Streams int `json:"streams,omitempty"`

	// First is the number of channels of the first of two streams.
	First int `json:"first,omitempty"`

	// Norm is the final normalisation of a pooled row v; "" means root-l2 for bilinear methods and
	// none for mean. A row of zeros stays as it is.
	//	none     nothing
	//	l2       v/‖v‖
	//	root-l2  r/‖r‖, r = sign(v)√|v|
	Norm string `json:"norm,omitempty"`

	// MaxBytes bounds the memory that the pooling may hold; 0 means 16 GiB.
	MaxBytes int64 `json:"-"`
}

// Pooling turns bags into rows. It never changes and is safe for concurrent use.
type Pooling struct {
	channels, features int
	mean               *mean  // one of the two
	bilinear           method //
	split              int    // channels of the first stream; all of them if there is one
	two                bool   // streams
	norm               norm
	free               freelist.List[work]
}

// Chosen says what the pooling chose where its configuration leaves it open, "" if nothing.
func (p *Pooling) Chosen() string {
	if c, ok := p.bilinear.(interface{ choice() string }); ok {
		return c.choice()
	}
	return ""
}

// kind is a method of pooling.
type kind struct {
	name, about string
	options     []string // of Config, by the names of their JSON
	make        func(cfg Config, first, second int) (method, error)
}

func kinds() []kind {
	return []kind{
		{name: "mean", about: "mean of a feature map over the bag, or of the vectors themselves", options: []string{"map"}},
		{name: "full", about: "bilinear pooling: all d² products of channels", options: []string{"streams", "first"}, make: newFull},
		{name: "cbp-krp", about: "compact bilinear pooling by products of a pool of sparse random projections",
			options: []string{"features", "pool", "t", "sparsity", "reuse", "streams", "first"}, make: newKRP},
		{name: "tensorsketch", about: "compact bilinear pooling by a count sketch of the outer product",
			options: []string{"features", "streams", "first"}, make: newTensorSketch},
		{name: "maclaurin", about: "compact bilinear pooling by products of two projections on signs",
			options: []string{"features", "streams", "first"}, make: newMaclaurin},
	}
}

// Methods lists the methods, each with a short description.
func Methods() (names, about []string) {
	for _, k := range kinds() {
		names, about = append(names, k.name), append(about, k.about)
	}
	return names, about
}

// OptionsOf lists the options that a method has besides seed and norm, by their JSON
// names.
func OptionsOf(name string) []string {
	if name == "" {
		name = "mean"
	}
	for _, k := range kinds() {
		if k.name == name {
			return slices.Clone(k.options)
		}
	}
	return nil
}

// NeedsSample says whether the pooling of a configuration is fitted to vectors, so that New
// refuses it.
func NeedsSample(cfg Config) bool { return cfg.Map != nil && feature.NeedsSample(*cfg.Map) }

// Check reports what is wrong with a configuration, whatever the vectors.
func Check(cfg Config) error {
	_, err := prepare(&cfg, max(2, cfg.First+1))
	return err
}

// New makes the pooling of a configuration for vectors of the given number of channels.
func New(cfg Config, channels int) (*Pooling, error) {
	if NeedsSample(cfg) {
		return nil, fmt.Errorf("pool: map %s is fitted to vectors, so it needs a sample", cfg.Map.Map)
	}
	return Restore(cfg, channels, nil)
}

// Restore recreates a pooling from its configuration and State, which is nil unless it was
// fitted.
func Restore(cfg Config, channels int, state map[string]*matrix.Dense) (*Pooling, error) {
	return build(cfg, channels, func(m feature.Config) (feature.Map, error) { return feature.Restore(m, channels, state) })
}

// build checks a configuration and makes its pooling; mapped makes the map of mean.
func build(cfg Config, channels int, mapped func(feature.Config) (feature.Map, error)) (*Pooling, error) {
	k, err := prepare(&cfg, channels)
	if err != nil {
		return nil, err
	}
	p := &Pooling{channels: channels, split: channels, norm: norm(cfg.Norm)}
	if k.make == nil {
		p.mean = &mean{channels: channels}
		if cfg.Map != nil {
			m := *cfg.Map
			if m.MaxBytes == 0 {
				m.MaxBytes = cfg.MaxBytes
			}
			if p.mean.z, err = mapped(m); err != nil {
				return nil, fmt.Errorf("pool: mean: %w", err)
			}
		}
		p.features = p.mean.features()
		return p, nil
	}
	second := channels
	if p.two = cfg.Streams == 2; p.two {
		p.split, second = cfg.First, channels-cfg.First
	}
	if p.bilinear, err = k.make(cfg, p.split, second); err != nil {
		return nil, err
	}
	p.features = p.bilinear.features()
	return p, nil
}

// prepare checks what all methods have in common, and fills in names.
func prepare(cfg *Config, channels int) (kind, error) {
	if cfg.Method == "" {
		cfg.Method = "mean"
	}
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == cfg.Method })
	if i < 0 {
		names, _ := Methods()
		return kind{}, fmt.Errorf("pool: %q is not a method; known are %s", cfg.Method, strings.Join(names, ", "))
	}
	k := all[i]
	for _, o := range cfg.set() {
		if slices.Contains(k.options, o) {
			continue
		}
		var have []string
		for _, other := range all {
			if slices.Contains(other.options, o) {
				have = append(have, other.name)
			}
		}
		return k, fmt.Errorf("pool: method %s has no option %s; it belongs to %s", k.name, o, strings.Join(have, ", "))
	}
	if channels < 1 {
		return k, fmt.Errorf("pool: vectors of %d channels; 1 or more are needed", channels)
	}
	switch {
	case cfg.Streams < 0 || cfg.Streams > 2:
		return k, fmt.Errorf("pool: %d streams; there may be 1 or 2", cfg.Streams)
	case cfg.Streams == 2 && (cfg.First < 1 || cfg.First >= channels):
		return k, fmt.Errorf("pool: the first of two streams has %d of %d channels; give first from 1 to %d", cfg.First, channels, channels-1)
	case cfg.Streams != 2 && cfg.First != 0:
		return k, fmt.Errorf("pool: first is %d, but there is one stream only; say streams 2", cfg.First)
	}
	if slices.Contains(k.options, "features") && cfg.Features < 1 {
		return k, fmt.Errorf("pool: %s: features is %d; it must be 1 or more", k.name, cfg.Features)
	}
	switch cfg.Norm {
	case "":
		cfg.Norm = string(rootL2)
		if k.make == nil {
			cfg.Norm = string(noNorm)
		}
	case string(noNorm), string(onlyL2), string(rootL2):
	default:
		return k, fmt.Errorf("pool: %q is not a norm; known are none, l2, root-l2", cfg.Norm)
	}
	return k, nil
}

// set lists the options that are set.
func (cfg *Config) set() []string {
	var names []string
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"features", cfg.Features != 0}, {"first", cfg.First != 0}, {"map", cfg.Map != nil}, {"pool", cfg.Pool != 0},
		{"reuse", cfg.Reuse != ""}, {"sparsity", cfg.Sparsity != 0}, {"streams", cfg.Streams > 1}, {"t", cfg.T != 0},
	} {
		if o.set {
			names = append(names, o.name)
		}
	}
	return names
}

// maxBytes is the default memory limit of a pooling.
const maxBytes = 16 << 30

// affordable fails if the given number of bytes is more than a pooling may hold, or a row of the given number of
// features is too long for a slice.
func affordable(cfg Config, bytes, features float64) error {
	most := float64(maxBytes)
	if cfg.MaxBytes > 0 {
		most = float64(cfg.MaxBytes)
	}
	most = min(most, math.MaxInt)
	if bytes += 4 * features; bytes > most {
		take, allowed := units.BytesApart(bytes, most)
		return fmt.Errorf("pool: %s and one row of %.0f features take %s, of %s at most; use fewer features", cfg.Method, features, take, allowed)
	}
	return nil
}

// Dims returns the numbers of channels of a vector and of features of a pooled row.
func (p *Pooling) Dims() (channels, features int) { return p.channels, p.features }

// Bytes is the approximate memory of the pooling.
func (p *Pooling) Bytes() int64 {
	if p.mean != nil {
		return p.mean.bytes()
	}
	return p.bilinear.bytes()
}

// State is what Restore takes: matrices by name, which must not be changed, or nil.
func (p *Pooling) State() map[string]*matrix.Dense {
	if p.mean == nil {
		return nil
	}
	if f, ok := p.mean.z.(feature.Fitted); ok {
		return f.State()
	}
	return nil
}

// Pool writes the row of each bag to dst, which is (len(bags)-1)×features: bag i is rows
// [bags[i], bags[i+1]) of x. The bits of a row do not depend on the other bags or on the
// number of threads. An empty bag gives zeros. If sums of squares of a bag overflow
// float32 (vectors of 10¹⁸) a row has Inf or NaN. It panics if a size is wrong.
//
// Bilinear rows are sums over the locations of a bag, not means. This makes no difference after l2 and
// root-l2; without them the product of two rows is about the sum of (x·y)² over all
// pairs of locations.
func (p *Pooling) Pool(dst *matrix.Dense, x matrix.Rows, bags []int) {
	p.check("Pool", x.Dim(), x.Len(), bags, dst)
	p.each(bags, func(lo, hi int, w *work) {
		if p.mean != nil {
			p.mean.pool(dst, x, bags, lo, hi, w)
		}
		for i := lo; i < hi; i++ {
			if p.mean == nil {
				w.reset()
				b := w.bag(x, bags[i], bags[i+1], p.split, p.two)
				if f, ok := p.bilinear.(full); ok && !p.two && b.n > 0 {
					f.normalised(dst.Row(i), b, p.norm, w)
					continue
				}
				sum(p.bilinear, dst.Row(i), b, w)
			}
			p.norm.apply(dst.Row(i))
		}
	})
}

// Backward writes to dx the gradient of a loss with respect to the vectors of x, in the shape of x, given
// dout, the gradient with respect to the rows that Pool makes of x. Rows of dx that are in no bag stay unchanged. It
// includes the norm: the derivative of sign(v)√|v| is taken as 0 if |v| is at most 10⁻⁶ of the largest of its row,
// which is 0 except for rounding, and that of v/‖v‖ as 0 if v = 0. It panics if a size is wrong, and for a mean
// of a map, which has no gradient here.
func (p *Pooling) Backward(dx, x *matrix.Dense, bags []int, dout *matrix.Dense) {
	p.check("Backward", x.Cols, x.Rows, bags, dout)
	if dx.Rows != x.Rows || dx.Cols != x.Cols {
		panic(fmt.Sprintf("pool: Backward of %d×%d vectors into %d×%d", x.Rows, x.Cols, dx.Rows, dx.Cols))
	}
	if p.mean != nil && p.mean.z != nil {
		panic("pool: Backward through the mean of a feature map; only bilinear methods and the mean of the vectors have a gradient")
	}
	p.each(bags, func(lo, hi int, w *work) {
		for i := lo; i < hi; i++ {
			if bags[i] == bags[i+1] {
				continue
			}
			w.reset()
			b := w.bag(matrix.Rows{Dense: x}, bags[i], bags[i+1], p.split, p.two)
			g := dout.Row(i)
			if p.norm != noNorm {
				y := w.take(p.features)
				if p.mean != nil {
					p.mean.average(y, b)
				} else {
					sum(p.bilinear, y, b, w)
				}
				g = p.norm.backward(y, g, w.take(p.features))
			}
			w.gradient(dx, bags[i], bags[i+1], p.split)
			if p.mean != nil {
				p.mean.backward(&w.dx, b, g)
			} else {
				backward(p.bilinear, &w.dx, &w.dy, b, g, w)
			}
		}
	})
}

func (p *Pooling) check(what string, channels, rows int, bags []int, out *matrix.Dense) {
	if channels != p.channels {
		panic(fmt.Sprintf("pool: %s of vectors of %d channels by a pooling of %d", what, channels, p.channels))
	}
	if len(bags) != out.Rows+1 || out.Cols != p.features {
		panic(fmt.Sprintf("pool: %s of %d bags with %d features and a matrix of %d×%d", what, len(bags)-1, p.features, out.Rows, out.Cols))
	}
	if bags[0] < 0 || bags[len(bags)-1] > rows || !slices.IsSorted(bags) {
		panic(fmt.Sprintf("pool: %s of bags whose ends are not in order within the %d rows", what, rows))
	}
}

// groupRows is the number of vectors in the bags that one goroutine processes before it takes others.
const groupRows = 256

// each calls f for ranges of bags, on several goroutines.
func (p *Pooling) each(bags []int, f func(lo, hi int, w *work)) {
	n := len(bags) - 1
	if n == 0 {
		return
	}
	group := max(1, groupRows/max(1, (bags[n]-bags[0])/n))
	run := func(next func() int) {
		w := p.free.Get()
		for lo := next(); lo < n; lo = next() {
			f(lo, min(lo+group, n), w)
		}
		p.putBack(w)
	}
	if n <= group || vec.Threads() == 1 {
		lo := -group
		run(func() int { lo += group; return lo })
		return
	}
	var taken atomic.Int64
	vec.Parallel(vec.Threads(), 1, func(int, int) {
		run(func() int { return (int(taken.Add(1)) - 1) * group })
	})
}
