package feature

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/units"
	"mercer/kernel"
	"mercer/matrix"
)

// Config defines a map. The same configuration (and sample) gives the same map on every
// machine and in every version.
type Config struct {
	// Map is the name of the map, such as [SORF], one of [Names]; "" means [RFF].
	Map string `json:"map,omitempty"`

	// Kernel is what the map approximates.
	Kernel kernel.Kernel `json:"kernel"`

	// Features is D, the number of outputs.
	Features int `json:"features"`

	// Seed selects the random numbers.
	Seed uint64 `json:"seed"`

	Options

	// Group is the part of the input that a step of a sum takes.
	Group

	// Steps are the maps of a chain, one after the other, or of a sum, side by side.
	Steps []Config `json:"steps,omitempty"`

	// Weights are the weights of the kernels of a sum, each > 0; nil means 1 each.
	Weights []float64 `json:"weights,omitempty"`

	// Given are the landmarks of a map whose option Landmarks is given.
	Given *matrix.Dense `json:"-"`

	// Own are the columns of the rows of the sample themselves, for the map [Precomputed]: row i has k(x_i, x_j) in column Own[j]. nil: as many
	// columns as rows, in their order.
	Own []int `json:"-"`

	// MaxBytes bounds the memory that the map may hold; 0 means 16 GiB.
	MaxBytes int64 `json:"-"`
}

// Map is a feature map. It never changes, and any number of goroutines may use it.
type Map interface {
	// Dims returns the numbers of input dimensions d and of features D.
	Dims() (in, out int)

	// Transform writes z(x) for every row of x into the same row of dst, which is
	// x.Len()×D. The features of a row depend neither on the rows around it nor on
	// the number of threads. It panics if a size is wrong.
	Transform(dst *matrix.Dense, x matrix.Rows)

	// Bytes is roughly how much memory the map holds.
	Bytes() int64
}

// Fitted is a map that was fitted to data: restoring it takes its State.
type Fitted interface {
	Map

	// State is the input of Restore: matrices by name. They must not be changed.
	State() map[string]*matrix.Dense
}

// Chooser is a map that chose something that its configuration leaves open, for example from
// a sample of rows.
type Chooser interface {
	Map

	// Chosen describes it in a few words.
	Chosen() string
}

// Sparse is a map that can write features without their zeros.
type Sparse interface {
	Map

	// Sparsely reports whether that is better, depending only on whether x is sparse or dense: if it
	// depended on the numbers in x, the rows around a row would change how a chain rounds its features.
	Sparsely(x matrix.Rows) bool

	// TransformSparse is Transform into dst, whose memory it reuses.
	TransformSparse(dst *matrix.CSR, x matrix.Rows)
}

// Apply maps rows into the memory of dense, or of sparse if the map prefers that.
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

// Decides reports whether the map decides on its number of features itself. For exp-chi2 none
// does: there a map of chi2 is followed by one of rbf, as for all kernels that have
// [kernel.Kernel.Parts].
func (cfg Config) Decides() bool {
	k, _ := find(cfg.Map)
	_, _, composite := cfg.Kernel.Parts()
	return k.dim && !composite
}

// Kernelless reports whether the map ignores the kernel of the configuration, and so its γ, as wavelets do, words and sigmoid
// unless the kernel is to choose their centres, and chains and sums of these.
func (cfg Config) Kernelless() bool {
	if cfg.Steps != nil {
		return !slices.ContainsFunc(cfg.Steps, func(s Config) bool { return !s.Kernelless() })
	}
	k, _ := find(cfg.Map)
	return k.aloof && slices.Contains([]string{"", "uniform", "kmeans", "projected", "given"}, cfg.Landmarks)
}

// Check returns what is wrong with a configuration for any rows. If it returns nil,
// the map may still not exist for particular rows.
func Check(cfg Config) (err error) {
	asked := cfg
	defer func() { err = explained(asked, err) }()
	if cfg.Dims == nil && cfg.Columns != "" {
		cfg.Dims = [][2]int{} // they are not known yet
	}
	if err := (&Group{Norm: cfg.Norm, Columns: cfg.Columns, Dims: cfg.Dims}).check(math.MaxInt); err != nil {
		return err
	}
	cfg.Group = Group{}
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

// NeedsSample reports whether the map of a configuration is fitted to rows, so that New cannot
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
// hundred are enough.
func SampleRows(cfg Config) (n int) {
	if k, err := find(cfg.Map); err == nil && k.sample != nil {
		n = k.sample(cfg)
	}
	for _, s := range cfg.Steps {
		n = max(n, SampleRows(s))
	}
	return n
}

// Domain is the kernel that determines which numbers the input rows of a configuration's map may hold:
// its own, or that of its first step; for a sum the most restrictive one of the steps that take all columns.
func Domain(cfg Config) (k kernel.Kernel) {
	switch m, _ := find(cfg.Map); {
	case !m.composed:
		return cfg.Kernel
	case m.name == Chain && len(cfg.Steps) > 0:
		return Domain(cfg.Steps[0])
	}
	for _, s := range cfg.Steps {
		if of := Domain(s); !s.part() && of.Lowest() > k.Lowest() {
			k = of
		}
	}
	return k
}

// CheckGroups returns the first number of rows outside the domain of a step that takes a group of columns.
func (cfg Config) CheckGroups(x matrix.Rows) *kernel.DomainError {
	for _, s := range cfg.Steps {
		k := Domain(s)
		if !s.part() || math.IsInf(float64(k.Lowest()), -1) {
			continue
		}
		if e, _ := k.CheckRows(s.Pick(x, &matrix.Dense{}, &matrix.CSR{})).(*kernel.DomainError); e != nil {
			for _, r := range s.Dims {
				if n := r[1] - r[0]; e.Dim >= n {
					e.Dim -= n
					continue
				}
				e.Dim += r[0]
				break
			}
			return e
		}
	}
	return nil
}

// New draws the map of a configuration for rows of dim dimensions.
func New(cfg Config, dim int) (m Map, err error) {
	if cfg.part() {
		return ofGroup(cfg, dim, New)
	}
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

// Fit makes the map of a configuration for rows like those of sample, which only maps
// with NeedsSample use. It returns the error of the context if that ends first.
func Fit(ctx context.Context, cfg Config, sample matrix.Rows) (m Map, err error) {
	if cfg.part() {
		return ofGroup(cfg, sample.Dim(), func(inner Config, _ int) (Map, error) {
			return Fit(ctx, inner, cfg.Pick(sample, &matrix.Dense{}, &matrix.CSR{}))
		})
	}
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
	return k.fit(ctx, cfg, sample)
}

// Restore rebuilds a fitted map from its configuration and State. Maps that are
// drawn take no state.
func Restore(cfg Config, dim int, state map[string]*matrix.Dense) (m Map, err error) {
	if cfg.part() {
		return ofGroup(cfg, dim, func(inner Config, dim int) (Map, error) { return Restore(inner, dim, state) })
	}
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
	if k.composed {
		if err := cfg.bounded(); err != nil {
			return k, err
		}
	}
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
		if !k.of(cfg.Kernel) {
			return k, fmt.Errorf("feature: %s does not approximate the %s kernel; %s approximates %s, and %s is approximated by %s",
				cfg.Map, cfg.Kernel.Name, cfg.Map, strings.Join(Kernels(cfg.Map), ", "), cfg.Kernel.Name, strings.Join(MapsOf(cfg.Kernel.Name), ", "))
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
	if cfg.Features > mostFeatures {
		return k, fmt.Errorf("feature: map %s: features is %d; it must be %d at most", cfg.Map, cfg.Features, mostFeatures)
	}
	if k.check != nil {
		return k, k.check(*cfg)
	}
	return k, nil
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

// mostFeatures is how many features a map may have: a batch of 64 rows of them takes 16 GiB.
const mostFeatures = 1 << 26

// maxBytes is how much a map may hold unless MaxBytes is set: a configuration or
// model file that asks for more is a mistake.
const maxBytes = 16 << 30

// most is how many bytes the map may hold.
func (cfg *Config) most() int64 {
	if cfg.MaxBytes > 0 {
		return cfg.MaxBytes
	}
	return maxBytes
}

// MemoryError is the error for a map that would hold more than Config.MaxBytes.
type MemoryError struct{ text string }

func (e *MemoryError) Error() string { return e.text }

func memoryErrorf(format string, args ...any) error {
	return &MemoryError{fmt.Sprintf(format, args...)}
}

// affordable returns an error if a map of cfg would hold more bytes than allowed.
func affordable(cfg Config, dim int, bytes float64) error {
	if most := min(float64(cfg.most()), math.MaxInt); bytes > most {
		takes, allowed := units.BytesApart(bytes, most)
		return memoryErrorf("feature: %s: a map of %d dimensions to %d features takes %s, of %s at most; use fewer "+
			"features, or a map that holds less",
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
