package pipeline

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
)

// Config says how rows become features. Its words are in lower case. WithDefaults replaces
// zero values by the defaults.
type Config struct {
	// Scale is "auto" or one of dataset.Scalings.
	Scale string

	// Kernel is the kernel except for γ, which Gamma or Sigma gives. Gamma is a number, "median" or "scale",
	// or one of these times a number, such as "median*4"; Sigma means γ = 1/(2σ²).
	Kernel kernel.Kernel
	Gamma  string
	Sigma  float64

	// Exact says that there is no map, because the learner uses the kernel itself. A precomputed one is that of features all the same, which
	// are exact.
	Exact bool

	// Map is one of feature.Names; "" means the default of the kernel, and the linear kernel needs
	// none. Options are its settings. Features is its D; 0 means that the number of rows decides.
	Map      string
	Options  feature.Options
	Features int

	// Steps are the maps of a chain or a sum, and Weights those of the sum. A step without a
	// kernel takes the one above, or the linear kernel if its map supports no other. The γ of a step
	// that has none is found by Gamma from the rows that reach it.
	Steps   []feature.Config
	Weights []float64

	// Groups makes a sum of maps of groups of columns, each with the kernel, the rule for γ and the map above and an equal
	// part of the features: "auto" by prefixes of names, or lists of columns, separated by semicolons. "" means none.
	Groups string

	// Given are the landmarks of a map whose option Landmarks is given: rows of the data,
	// not yet scaled. GivenFile is the file that they were read from, for messages.
	Given     *matrix.Dense
	GivenFile string

	// Seed chooses the random streams.
	Seed uint64
}

// ScaleNames are the kinds of scaling, "auto" first.
var ScaleNames = append([]string{"auto"}, dataset.Scalings...)

// SampleRows is the number of rows of a survey's sample that a pipeline needs; 0 means no more than the survey's
// own.
func (c *Config) SampleRows() int {
	return max(feature.SampleRows(c.Feature(1)), dataset.ScaleSample(c.Scale))
}

// WithDefaults fills in defaults for zero values and checks the rest. usual is the default kernel.
// Settings that depend on the data stay as they are.
func (c Config) WithDefaults(usual string) (Config, error) {
	for _, word := range []*string{&c.Scale, &c.Kernel.Name, &c.Map, &c.Options.Form, &c.Options.Radius,
		&c.Options.Hash, &c.Options.Entries, &c.Options.Reuse, &c.Options.Window, &c.Options.Landmarks} {
		*word = strings.ToLower(*word)
	}
	if c.Scale == "" {
		c.Scale = "auto"
	}
	if c.Kernel.Name == "" {
		c.Kernel.Name = usual
	}
	if c.Gamma == "" {
		c.Gamma = "median"
	}
	c.Kernel = c.Kernel.WithDefaults()
	return c, c.check()
}

func (c *Config) check() error {
	if !slices.Contains(ScaleNames, c.Scale) {
		return fmt.Errorf("scale %q is not known; known are %s", c.Scale, strings.Join(ScaleNames, ", "))
	}
	if _, err := kernel.Find(c.Kernel.Name); err != nil {
		return err
	}
	if _, _, err := SplitGamma(c.Gamma); err != nil {
		return err
	}
	if c.Sigma < 0 || math.IsNaN(c.Sigma) || math.IsInf(c.Sigma, 0) {
		return fmt.Errorf("sigma %g is not a positive number", c.Sigma)
	}
	if c.Sigma > 0 && c.Gamma != "median" {
		return fmt.Errorf("gamma and sigma are two names for one thing; give one of them")
	}
	if c.Features < 0 {
		return fmt.Errorf("features %d is not a positive number", c.Features)
	}
	if err := c.kernel(1).Validate(); err != nil {
		return err
	}
	switch {
	case c.Exact: // the learner decides which options it has
	case c.linear() && c.Features != 0:
		return errors.New("the linear kernel needs no map; leave out features, or name a map such as rp, or choose another kernel")
	case c.linear() && !reflect.DeepEqual(c.Options, feature.Options{}):
		return errors.New("the linear kernel needs no map; leave out the options of maps, or name a map such as rp, or choose another kernel")
	case c.linear():
	case c.Groups != "" && c.Steps != nil:
		return errors.New("group_kernels makes steps of one map, but the map has steps; give the steps columns, or name one map")
	case c.Groups != "" && c.Kernel.Linear() && c.Map == "":
	default:
		f := c.Feature(1)
		if f.Features == 0 {
			f.Features = 2 // any even number will be chosen
		}
		return feature.Check(f)
	}
	return nil
}

// linear says whether there is no map because the kernel needs none.
func (c *Config) linear() bool { return c.Kernel.Linear() && c.Map == "" && c.Groups == "" }

// Mapped says whether rows are mapped. For a learner of the kernel itself they are if the kernel is precomputed.
func (c *Config) Mapped() bool { return (!c.Exact || c.Map == feature.Precomputed) && !c.linear() }

// SplitGamma splits γ into the rule, "median", "scale" or "", and the factor that multiplies it.
func SplitGamma(gamma string) (of string, factor float64, err error) {
	number := gamma
	if name, times, found := strings.Cut(gamma, "*"); name == "median" || name == "scale" {
		if of = name; !found {
			return of, 1, nil
		}
		number = times
	}
	if factor, err = strconv.ParseFloat(number, 64); err != nil || !(factor > 0) || math.IsInf(factor, 0) {
		return "", 0, fmt.Errorf("gamma %q is neither a positive number nor median nor scale, "+
			"nor one of these times a number, such as median*4", gamma)
	}
	return of, factor, nil
}

// kernel is the kernel with γ.
func (c *Config) kernel(gamma float64) kernel.Kernel {
	k := c.Kernel
	k.Gamma = gamma
	return k.Own()
}

// Domain is the kernel that decides which numbers scaled rows may hold.
func (c *Config) Domain() kernel.Kernel {
	if !c.Mapped() {
		return c.kernel(0)
	}
	return feature.Domain(c.Feature(1))
}

// Feature is the configuration of the map as far as it is known without the data.
func (c *Config) Feature(gamma float64) feature.Config {
	f := feature.Config{Map: c.Map, Features: c.Features, Seed: c.Seed, Options: c.Options, Steps: slices.Clone(c.Steps), Weights: c.Weights}
	if f.Map == "" {
		f.Map = feature.Default(c.Kernel, math.MaxInt)
	}
	if f.Steps == nil {
		f.Kernel = c.kernel(gamma)
		return f
	}
	grouped := c.grouped()
	for i := range f.Steps {
		step := c.Step(f.Steps[i], func(string) float64 { return gamma })
		if grouped && step.Steps == nil {
			step = withMap(step)
		}
		f.Steps[i] = step
	}
	if grouped {
		f.Features = 0
	}
	return f
}

// withMap is a step of groups with the map that its kernel has by default, and any even number of features, where it names none.
func withMap(s feature.Config) feature.Config {
	if s.Map == "" {
		if s.Map = feature.Default(s.Kernel, math.MaxInt); s.Map == "" {
			s.Map, s.Hash = "countsketch", "balanced" // as wide as the group: a signed permutation
		}
	}
	if s.Features == 0 && !s.Decides() {
		s.Features = 2
	}
	return s
}

// DefaultFeatures is the default D for n rows: 4096 is enough to come close to the
// exact kernel on most data; a quarter as many features as rows keeps small problems fast
// without loss.
func DefaultFeatures(n int) int {
	d := 256
	for d < 4096 && d < n/4 {
		d *= 2
	}
	return d
}
