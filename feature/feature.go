// Package feature maps rows to random features z(x) with z(x)·z(y) ≈ k(x, y), so that a
// linear model on z does the work of a kernel machine on x, at linear cost.
//
// New draws a map that does not look at data; Fit fits any map, on a sample of rows.
package feature

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/units"
	"mercer/kernel"
	"mercer/matrix"
)

// Config says which map is wanted. The same configuration (and sample) gives the same map on
// every machine and for ever.
type Config struct {
	// Map is the name of the map, one of Names; "" means rff.
	Map string `json:"map,omitempty"`

	// Kernel is what the map approximates.
	Kernel kernel.Kernel `json:"kernel"`

	// Features is D, the number of outputs.
	Features int `json:"features"`

	// Seed selects the random numbers.
	Seed uint64 `json:"seed"`

	Options

	// Steps are the maps of a chain, one after the other, or of a sum, side by side.
	Steps []Config `json:"steps,omitempty"`

	// Weights are those of the kernels of a sum, each > 0; nil means 1 each.
	Weights []float64 `json:"weights,omitempty"`

	// Given are the landmarks of a map whose option Landmarks is given.
	Given *matrix.Dense `json:"-"`

	// MaxBytes bounds the memory that the map may hold; 0 means 16 GiB.
	MaxBytes int64 `json:"-"`
}

// Options are settings of single maps. The zero value of each is a good choice. To set one
// that the map does not have is an error.
type Options struct {
	// Form of the Fourier features; "" means pair.
	//	pair   √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2
	//	phase  √(2/D)·cos(ω_j·x + b_j), j = 1 … D; a little less accurate
	Form string `json:"form,omitempty"`

	// Radius of sorf's frequencies; "" means chi, which is unbiased. fixed gives all of them
	// the same length, as in the paper, and a bias in few dimensions.
	Radius string `json:"radius,omitempty"`

	// Hash of the sketches; "" means pairwise, the hash functions of the papers. balanced
	// fills all buckets alike, so that there are no collisions where D ≥ d.
	Hash string `json:"hash,omitempty"`

	// Entries of random projections: normal, or sparse for Achlioptas's 0 and ±√s; "" means
	// the map's own choice.
	Entries string `json:"entries,omitempty"`

	// Sparsity is s ≥ 1: one in s of the sparse entries is not 0. 0 means the map's choice.
	Sparsity float64 `json:"sparsity,omitempty"`

	// Pool is m, how many vectors a map draws from, or how many rows of the sample it keeps;
	// 0 means the map's choice.
	Pool int `json:"pool,omitempty"`

	// T is t, how many terms (or samples) an output adds up; 0 means the map's choice.
	T int `json:"t,omitempty"`

	// Reuse says how the vectors of a pool come together in outputs; "" means even, which
	// uses all of them as often (repetition minimisation), random draws them.
	Reuse string `json:"reuse,omitempty"`

	// Complex makes a sketch complex inside and its output real: [Re, Im]. It has D/2 complex
	// features and less variance at degrees of 3 and more.
	Complex bool `json:"complex,omitempty"`

	// Series are the coefficients a_0, a_1, … ≥ 0 of f(t) = Σ a_n tⁿ for maclaurin, whose
	// kernel is then f(γ x·y), in place of those of the kernel.
	Series []float64 `json:"series,omitempty"`

	// Rank bounds how many principal components a map keeps; 0 means all.
	Rank int `json:"rank,omitempty"`

	// Terms is how many features an input dimension has in the additive maps, or the number of
	// cells of unary; 0 means the map's choice.
	Terms int `json:"terms,omitempty"`

	// Window of homogeneous: uniform, rectangular, or fitted to a sample of rows; "" means fitted,
	// or rectangular if Period is given.
	Window string `json:"window,omitempty"`

	// Period is L, the step between the frequencies of homogeneous; 0 means that a sample of
	// rows decides.
	Period float64 `json:"period,omitempty"`

	// Stretch is what additive maps multiply inputs by, and divide the kernel by; 0 means that a
	// sample of rows decides.
	Stretch float64 `json:"stretch,omitempty"`

	// Landmarks says how the rows of a sample are chosen that a map compares with, or its
	// centres; "" means the map's choice. With given they are Config.Given.
	Landmarks string `json:"landmarks,omitempty"`

	// Width is s of sigmoid; 0 means that a sample of rows decides.
	Width float64 `json:"width,omitempty"`
}

// Map is a feature map. It never changes, and any number of goroutines may use it.
type Map interface {
	// Dims returns the numbers of input dimensions d and of features D.
	Dims() (in, out int)

	// Transform writes z(x) for every row of x into the same row of dst, which is
	// x.Len()×D. What a row gives does not depend on the rows around it, nor on the
	// number of threads. It panics if a size is wrong.
	Transform(dst *matrix.Dense, x matrix.Rows)

	// Bytes is about how much memory the map holds.
	Bytes() int64
}

// Fitted is a map that was fitted to data: to have it again, one needs its State.
type Fitted interface {
	Map

	// State is what Restore takes: matrices by name. They must not be changed.
	State() map[string]*matrix.Dense
}

// Chooser is a map that decided on something that its configuration leaves open, such as by a
// sample of rows.
type Chooser interface {
	Map

	// Chosen says in a few words what.
	Chosen() string
}

// Sparse is a map that can write features without their zeros.
type Sparse interface {
	Map

	// Sparsely says whether it is better to, by whether x is sparse or dense: if it depended on
	// the numbers in x, the rows around a row would change how a chain rounds its features.
	Sparsely(x matrix.Rows) bool

	// TransformSparse does what Transform does with dst, whose memory it uses again.
	TransformSparse(dst *matrix.CSR, x matrix.Rows)
}

// Apply maps rows into the memory of dense, or of sparse where the map prefers that.
func Apply(m Map, x matrix.Rows, dense *matrix.Dense, sparse *matrix.CSR) matrix.Rows {
	if s, ok := m.(Sparse); ok && s.Sparsely(x) {
		s.TransformSparse(sparse, x)
		return matrix.Rows{CSR: sparse}
	}
	_, out := m.Dims()
	dense.Reshape(x.Len(), out)
	m.Transform(dense, x)
	return matrix.Rows{Dense: dense}
}

// kind is a sort of map: how it is called and made.
type kind struct {
	name     string
	about    string               // in a few words, for help
	options  []string             // of Options, by the names of their JSON
	dim      bool                 // whether the map itself decides on D: Features may then be 0
	composed bool                 // of Steps, which have the kernels
	sample   func(cfg Config) int // how many rows fit should see; nil: a few hundred
	usual    int                  // most features that make sense unless asked for; 0: any number
	kernels  []string             // that it approximates; nil: any
	basis    bool                 // takes a kernel for functions of its own: z(x)·z(y) is not k(x, y)

	check func(cfg Config) error // of what all rows have in common; nil: nothing

	// make draws a map for rows of dim dimensions. fit fits one to the rows of a sample, and
	// restore makes it again from its State. A map that has both is drawn if given says that
	// the configuration leaves nothing to the sample.
	given   func(cfg Config) bool
	make    func(cfg Config, dim int) (Map, error)
	fit     func(cfg Config, sample matrix.Rows) (Fitted, error)
	restore func(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error)
}

// kinds lists the maps. It is a function because chains make maps themselves.
func kinds() []kind {
	return slices.Concat(shiftInvariant(), sketches(), projections(), additive(), landmarks(), compositions())
}

// Names lists the maps, each with a few words about it.
func Names() (names, about []string) {
	for _, k := range kinds() {
		names, about = append(names, k.name), append(about, k.about)
	}
	return names, about
}

func find(name string) (kind, error) {
	if name == "" {
		name = "rff"
	}
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i], nil
	}
	names, _ := Names()
	return kind{}, fmt.Errorf("feature: %q is not a map; known are %s", name, strings.Join(names, ", "))
}

// Kernels are the names of the kernels that a map approximates, nil if any or if there is no
// such map.
func Kernels(name string) []string {
	k, _ := find(name)
	return slices.Clone(k.kernels)
}

// OptionsOf lists the options that a map has, by the names of their JSON.
func OptionsOf(name string) []string {
	k, _ := find(name)
	return slices.Clone(k.options)
}

// Decides says whether the map decides on its number of features itself. Of exp-chi2 none does:
// there a map of chi2 is followed by one of rbf.
func (cfg Config) Decides() bool {
	k, _ := find(cfg.Map)
	return k.dim && cfg.Kernel.Name != "exp-chi2"
}

// Usual is how many features a map should have at most unless someone asks for more, 0 if any
// number is as good.
func Usual(name string) int {
	k, _ := find(name)
	return k.usual
}

// Check says what is wrong with a configuration whatever the rows are. That it finds nothing
// does not mean that there is such a map for all rows.
func Check(cfg Config) (err error) {
	asked := cfg
	defer func() { err = explained(asked, err) }()
	cfg = expanded(cfg, 1)
	k, err := prepare(&cfg, 1)
	if err != nil || !k.composed {
		return err
	}
	for i := range cfg.Steps {
		if err := Check(cfg.Steps[i]); err != nil {
			return fmt.Errorf("feature: %s: step %d: %w", cfg.Map, i+1, err)
		}
	}
	return nil
}

// NeedsSample says whether the map of a configuration is fitted to rows, so that New does not
// make it.
func NeedsSample(cfg Config) bool {
	cfg = expanded(cfg, 1)
	k, err := find(cfg.Map)
	if err != nil || k.fit == nil {
		return false
	}
	if k.composed {
		return slices.ContainsFunc(cfg.Steps, NeedsSample)
	}
	return k.make == nil || !k.given(cfg)
}

// SampleRows is how many rows a sample should have for the map of a configuration, 0 if a few
// hundred do.
func SampleRows(cfg Config) (n int) {
	if k, err := find(cfg.Map); err == nil && k.sample != nil {
		n = k.sample(cfg)
	}
	for _, s := range cfg.Steps {
		n = max(n, SampleRows(s))
	}
	return n
}

// Domain is the kernel that says which numbers rows of the map of a configuration may hold: its
// own, or that of its first step; of a sum the one that takes least.
func Domain(cfg Config) (k kernel.Kernel) {
	switch m, _ := find(cfg.Map); {
	case !m.composed:
		return cfg.Kernel
	case m.name == "chain" && len(cfg.Steps) > 0:
		return Domain(cfg.Steps[0])
	}
	for _, s := range cfg.Steps {
		if of := Domain(s); of.Lowest() > k.Lowest() {
			k = of
		}
	}
	return k
}

// New draws the map of a configuration for rows of dim dimensions.
func New(cfg Config, dim int) (m Map, err error) {
	asked := cfg
	defer func() { err = explained(asked, err) }()
	cfg = expanded(cfg, dim)
	k, err := prepare(&cfg, dim)
	if err != nil {
		return nil, err
	}
	if NeedsSample(cfg) {
		return nil, fmt.Errorf("feature: map %s is fitted to rows; it cannot be drawn without", cfg.Map)
	}
	return k.make(cfg, dim)
}

// Fit makes the map of a configuration for rows like those of sample, which only maps that
// NeedsSample look at.
func Fit(cfg Config, sample matrix.Rows) (m Map, err error) {
	asked := cfg
	defer func() { err = explained(asked, err) }()
	cfg = expanded(cfg, sample.Dim())
	k, err := prepare(&cfg, sample.Dim())
	if err != nil {
		return nil, err
	}
	if !NeedsSample(cfg) {
		return k.make(cfg, sample.Dim())
	}
	if sample.Len() == 0 {
		return nil, fmt.Errorf("feature: map %s is fitted to rows, and there are none", cfg.Map)
	}
	if !k.composed {
		if err := cfg.Kernel.CheckRows(sample); err != nil {
			return nil, fmt.Errorf("feature: map %s: %w", cfg.Map, err)
		}
	}
	return k.fit(cfg, sample)
}

// Restore makes a map that was fitted again, from its configuration and State. Maps that are
// drawn take no state.
func Restore(cfg Config, dim int, state map[string]*matrix.Dense) (m Map, err error) {
	asked := cfg
	defer func() { err = explained(asked, err) }()
	cfg = expanded(cfg, dim)
	k, err := prepare(&cfg, dim)
	if err != nil {
		return nil, err
	}
	if !NeedsSample(cfg) {
		return k.make(cfg, dim)
	}
	return k.restore(cfg, dim, state)
}

// prepare checks what all maps have in common.
func prepare(cfg *Config, dim int) (kind, error) {
	k, err := find(cfg.Map)
	if err != nil {
		return k, err
	}
	cfg.Map = k.name
	if err := cfg.foreign(k); err != nil {
		return k, err
	}
	if !k.composed {
		if cfg.Steps != nil || cfg.Weights != nil {
			return k, fmt.Errorf("feature: map %s has no steps; they belong to chain and sum", cfg.Map)
		}
		if err := cfg.Kernel.Validate(); err != nil {
			return k, fmt.Errorf("feature: map %s: %w", cfg.Map, err)
		}
		if k.kernels != nil && !slices.Contains(k.kernels, cfg.Kernel.Name) {
			return k, fmt.Errorf("feature: %s does not approximate the %s kernel; %s approximates %s, and %s is approximated by %s",
				cfg.Map, cfg.Kernel.Name, cfg.Map, strings.Join(k.kernels, ", "), cfg.Kernel.Name, strings.Join(MapsOf(cfg.Kernel.Name), ", "))
		}
	}
	if k.composed && len(cfg.Steps) == 0 {
		return k, fmt.Errorf("feature: %s: no steps are given", cfg.Map)
	}
	if dim < 1 {
		return k, fmt.Errorf("feature: map %s: rows of %d dimensions; 1 or more are needed", cfg.Map, dim)
	}
	if cfg.Features < 1 && !(k.dim && cfg.Features == 0) {
		return k, fmt.Errorf("feature: map %s: features is %d; it must be 1 or more", cfg.Map, cfg.Features)
	}
	if k.check != nil {
		return k, k.check(*cfg)
	}
	return k, nil
}

// MapsOf lists the maps that approximate a kernel, by the name of the kernel.
func MapsOf(kernel string) (names []string) {
	for _, k := range kinds() {
		if !k.composed && !k.basis && (k.kernels == nil || slices.Contains(k.kernels, kernel)) {
			names = append(names, k.name)
		}
	}
	return names
}

// foreign reports an option that is set but does not belong to the map.
func (cfg *Config) foreign(k kind) error {
	for _, o := range cfg.set() {
		if slices.Contains(k.options, o) {
			continue
		}
		var have []string
		for _, other := range kinds() {
			if slices.Contains(other.options, o) {
				have = append(have, other.name)
			}
		}
		return fmt.Errorf("feature: map %s has no option %s; it belongs to %s", k.name, o, strings.Join(have, ", "))
	}
	return nil
}

// set lists the options that are set.
func (o Options) set() []string {
	var names []string
	for name, set := range map[string]bool{
		"form": o.Form != "", "radius": o.Radius != "", "hash": o.Hash != "", "entries": o.Entries != "",
		"sparsity": o.Sparsity != 0, "pool": o.Pool != 0, "t": o.T != 0, "reuse": o.Reuse != "",
		"complex": o.Complex, "series": o.Series != nil, "rank": o.Rank != 0,
		"terms": o.Terms != 0, "window": o.Window != "", "period": o.Period != 0, "stretch": o.Stretch != 0,
		"landmarks": o.Landmarks != "", "width": o.Width != 0,
	} {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// divided parts the options of additive maps from all others.
func (o Options) divided() (additive, others Options) {
	additive = Options{Terms: o.Terms, Window: o.Window, Period: o.Period, Stretch: o.Stretch}
	o.Terms, o.Window, o.Period, o.Stretch = 0, "", 0, 0
	return additive, o
}

// maxBytes is how much a map may hold unless MaxBytes says otherwise: who asks for more, or
// whose model file does, has made a mistake.
const maxBytes = 16 << 30

// affordable fails if a map of cfg would hold more bytes than it may.
func affordable(cfg Config, dim int, bytes float64) error {
	most := float64(maxBytes)
	if cfg.MaxBytes > 0 {
		most = float64(cfg.MaxBytes)
	}
	if most = min(most, math.MaxInt); bytes > most {
		takes, allowed := units.BytesApart(bytes, most)
		return fmt.Errorf("feature: %s: a map of %d dimensions to %d features takes %s, of %s at most; use fewer features, or a map that holds less",
			cfg.Map, dim, cfg.Features, takes, allowed)
	}
	return nil
}

// check panics unless dst and x fit a map of in dimensions and out features.
func check(in, out int, dst *matrix.Dense, x matrix.Rows) {
	if x.Dim() != in {
		panic(fmt.Sprintf("feature: Transform of rows of %d dimensions by a map of %d", x.Dim(), in))
	}
	if dst.Rows != x.Len() || dst.Cols != out {
		panic(fmt.Sprintf("feature: Transform of %d rows to %d features into %d×%d", x.Len(), out, dst.Rows, dst.Cols))
	}
}
