package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
)

// Rows describes the rows for which Settle chooses scaling, γ and map.
type Rows struct {
	// Name is the name of the data in messages, Schema how they are read, and Summary the result of a
	// survey.
	Name    string
	Schema  *dataset.Schema
	Summary *dataset.Summary

	// Metric is the metric of the scaled rows, nil for plain distances.
	Metric *metric.Metric

	// Find, if not nil, passes over all rows for the first number outside the kernel's domain,
	// because the place of the rows in the summary's sample is not known.
	Find func(*Pipeline) error

	// Origin is dataset.Origin of a row where these are some of others, nil where they are all.
	Origin func(row int) int

	// Memory is the number of bytes that the map may hold; 0 means feature.MaxBytes.
	Memory int64
}

// Settle chooses scaling, kernel, γ and map for rows. why gives the reasons in words, by name:
// "scale", "gamma", "map".
func Settle(ctx context.Context, cfg Config, rows Rows) (p *Pipeline, why map[string]string, err error) {
	s, err := beginSettling(cfg, rows)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case cfg.Mapped():
		err = s.featureMap(ctx)
		if cfg.Exact {
			s.p.exact = &s.Kernel
		}
	case cfg.Exact:
		err = s.exactKernel()
	}
	return s.p, s.why, err
}

// SettleScaling is Settle without γ and map: the pipeline scales rows and knows the kernel's domain, and it is
// an error if the sample has a number outside. Several maps can then be made for the same rows.
func SettleScaling(cfg Config, rows Rows) (p *Pipeline, why map[string]string, err error) {
	s, err := beginSettling(cfg, rows)
	if err != nil {
		return nil, nil, err
	}
	return s.p, s.why, s.inDomain(s.p.Pass().Scale(rows.Summary.Sample))
}

// beginSettling chooses the scaling and the domain.
func beginSettling(cfg Config, rows Rows) (*settling, error) {
	s := &settling{Config: cfg, rows: rows, p: &Pipeline{in: rows.Summary.Dim}, why: map[string]string{}}
	grouped := cfg.grouped()
	if grouped {
		if err := s.group(); err != nil {
			return nil, s.located(err)
		}
	}
	if err := s.scale(); err != nil {
		return nil, err
	}
	s.p.domain = s.Domain()
	if grouped {
		groups := s.Feature(1)
		s.p.groups = &groups
	}
	if s.p.metric = rows.Metric; rows.Metric != nil {
		if err := rows.Metric.Check(s.p.in); err != nil {
			return nil, s.located(err)
		}
	}
	return s, nil
}

// settling is the state of Settle.
type settling struct {
	Config
	rows Rows
	p    *Pipeline
	why  map[string]string
}

// Scaling chooses the scaling of rows for a kernel. why gives the reason, "" if the scaling was given.
func Scaling(kind string, k kernel.Kernel, sum *dataset.Summary) (s *dataset.Scaler, why string, err error) {
	if kind == "auto" {
		kind, why = ChooseScale(k, sum)
	}
	s, err = dataset.NewScaler(kind, sum)
	return s, why, err
}

// ChooseScale chooses the scaling for a kernel according to the data, and says why.
func ChooseScale(k kernel.Kernel, sum *dataset.Summary) (kind, why string) {
	switch {
	case !math.IsInf(float64(k.Lowest()), -1):
		return dataset.ChooseHistogramScale(sum)
	case k.Powers():
		return dataset.ChoosePolynomialScale(sum)
	}
	return dataset.ChooseScale(sum)
}

func (s *settling) scale() (err error) {
	if s.grouped() {
		if !slices.Contains(ofWhole, s.Scale) {
			if err := s.scaleGroups(); err != nil {
				return s.located(err)
			}
			return nil
		}
		for i, step := range s.Steps {
			if step.Scale != "" && step.Scale != s.Scale {
				return s.located(option.Errorf("step %d: %s is of all columns; leave out the scale of the step, %s, or give each step its own",
					i+1, option.Set("scale", s.Scale), step.Scale))
			}
		}
	}
	why := ""
	if s.p.scaler, why, err = Scaling(s.Scale, s.Domain(), s.rows.Summary); err != nil {
		return s.located(err)
	}
	if why != "" {
		s.why["scale"] = why
	}
	return nil
}

func (s *settling) located(err error) error { return fmt.Errorf("%s: %w", s.rows.Name, err) }

// sample returns the scaled sample, whose numbers are in the kernel's domain, with γ.
func (s *settling) sample() (x matrix.Rows, gamma float64, err error) {
	x = s.p.Pass().Scale(s.rows.Summary.Sample)
	if err := s.inDomain(x); err != nil {
		return x, 0, err
	}
	gamma, why, err := s.gamma(s.Kernel.Name, x)
	if err != nil && s.Feature(1).Kernelless() {
		return x, 1, nil // a map that has no use for it takes rows that have none
	}
	if err != nil {
		return x, 0, s.located(err)
	}
	if why != "" {
		s.why["gamma"] = why
	}
	return x, gamma, nil
}

// inDomain rejects a sample with a number outside the kernel's domain.
func (s *settling) inDomain(x matrix.Rows) error {
	bad := s.p.outside(x)
	if bad == nil {
		return nil
	}
	if s.rows.Find != nil {
		if err := s.rows.Find(s.p); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %s: %w", s.rows.Name, s.rows.Schema.DimName(bad.Dim), s.p.reason(bad))
}

// kernel settles the kernel of a learner that uses it itself.
func (s *settling) exactKernel() error {
	_, gamma, err := s.sample()
	if err != nil {
		return err
	}
	k := s.Config.kernel(gamma)
	s.p.exact = &k
	return nil
}

// featureMap settles the map and makes it.
func (s *settling) featureMap(ctx context.Context) error {
	x, gamma, err := s.sample()
	if err != nil {
		return err
	}
	cfg := s.Feature(gamma)
	if s.Map == "" {
		cfg.Map = feature.Default(s.Kernel, s.p.Width())
		s.why["map"] = "for the kernel and the numbers of dimensions and features"
	}
	cfg.MaxBytes = s.rows.Memory
	if cfg.Steps != nil {
		cfg.Steps = s.Steps
		if cfg, err = s.SettleSteps(ctx, cfg, x); err != nil {
			return s.located(err)
		}
		if s.grouped() {
			cfg = s.share(cfg)
		}
	}
	if cfg.Features == 0 && !cfg.Decides() {
		cfg.Features = DefaultFeatures(s.rows.Summary.Rows)
		if most := feature.Usual(cfg.Map); most > 0 {
			cfg.Features = min(cfg.Features, most)
		}
		if s.Given != nil {
			cfg.Features = s.Given.Rows
		}
	}
	if s.Map == "" {
		cfg.Map = "" // now that the number of features is known
	}
	cfg = feature.Choose(cfg, s.p.Width())
	signed := math.IsInf(float64(cfg.Kernel.Lowest()), -1) // like the output of a sketch
	if s.Map == "" && cfg.Map == "sorf" && Wide(s.p.Width()) && signed {
		cfg = Shortened(cfg)
		s.why["map"] = fmt.Sprintf("rows of more than %d dimensions are shortened first", wideRows)
	}
	cfg.MaxBytes = s.rows.Memory
	if cfg.Given, err = s.p.Landmarks(s.Given, s.GivenFile, s.rows.Name, s.rows.Schema); err != nil {
		return err
	}
	if s.rows.Origin != nil && cfg.Map == feature.Precomputed {
		for i := range x.Len() {
			cfg.Own = append(cfg.Own, s.rows.Origin(i))
		}
	}
	if s.p.fmap, err = feature.Fit(ctx, cfg, x); err != nil {
		return s.located(err)
	}
	if chosen := s.p.Chosen(); chosen != "" {
		s.why["map"] = chosen
	}
	_, cfg.Features = s.p.fmap.Dims()
	s.p.made = &cfg
	return nil
}

// Landmarks returns given landmarks, scaled like all rows; nil if there are none. Its errors name the source
// of the problem: the file of the landmarks, or the data called name.
func (p *Pipeline) Landmarks(given *matrix.Dense, file, name string, schema *dataset.Schema) (*matrix.Dense, error) {
	if given == nil {
		return nil, nil
	}
	if file == "" {
		file = name + ": the given landmarks"
	}
	if given.Cols != p.in {
		return nil, fmt.Errorf("%s: %w", file, landmarkWidth(given.Cols, p.in))
	}
	scaled := p.Pass().Scale(matrix.Rows{Dense: given}).Dense
	if bad := p.outside(matrix.Rows{Dense: scaled}); bad != nil {
		return nil, fmt.Errorf("%s: row %d, %s: %w", file, bad.Row+1, schema.DimName(bad.Dim), p.reason(bad))
	}
	return scaled, nil
}

// landmarkWidth is the error for given landmarks with another number of dimensions than the rows.
func landmarkWidth(have, rows int) error {
	advice := ""
	if have > rows {
		advice = "; landmarks have no labels, so leave out the columns of the data that are no inputs"
	}
	return fmt.Errorf("the landmarks have %d dimensions, but the rows of the data have %d%s", have, rows, advice)
}

// By default, rows of more than wideRows dimensions are shortened to shortRows before a map
// whose time grows with the dimensions. That changes ‖x-y‖² by a fraction of √(2/shortRows), 1.6 %,
// no more than a few thousand features do.
const wideRows, shortRows = 1 << 14, 1 << 13

// Wide says whether rows of dim dimensions are shortened before a map whose time grows with them.
func Wide(dim int) bool { return dim > wideRows }

// Shortened is the map of cfg after a count sketch.
func Shortened(cfg feature.Config) feature.Config {
	sketch := feature.Config{Map: "countsketch", Kernel: kernel.Linear.Usual(),
		Features: shortRows, Options: feature.Options{Hash: "balanced"}}
	seed := cfg.Seed
	cfg.Seed = 0
	return feature.Config{Map: "chain", Seed: seed, Steps: []feature.Config{sketch, cfg}}
}

// gamma returns a kernel's γ for a sample x of the rows that reach it, and its origin in words.
func (c *Config) gamma(name string, x matrix.Rows) (gamma float64, why string, err error) {
	if !kernel.Has(name, "gamma") {
		return 0, "", nil
	}
	if c.Sigma > 0 {
		return 1 / (2 * c.Sigma * c.Sigma), fmt.Sprintf("σ = %g", c.Sigma), nil
	}
	of, factor, err := SplitGamma(c.Gamma)
	if err != nil {
		return 0, "", err
	}
	switch of {
	case "scale":
		why = "1/(d·variance of the scaled inputs)"
		gamma, err = kernel.ScaleGamma(x.Dim(), variance(x), name)
	case "median":
		why = "from the median distance of random pairs of rows"
		if kind, err := kernel.Find(name); err == nil && kind.MedianOf() == "length" {
			why = "from the median length of rows"
		}
		gamma, err = kernel.MedianGamma(x, c.Seed, name)
	default:
		return factor, "given", nil
	}
	if factor != 1 {
		why = fmt.Sprintf("%g times that %s", factor, strings.Replace(why, "1/(d", "of 1/(d", 1))
	}
	return factor * gamma, why, err
}

// GammaOf is the kernel's γ for a sample of scaled rows, and its origin in words.
func (c *Config) GammaOf(x matrix.Rows) (gamma float64, why string, err error) {
	return c.gamma(c.Kernel.Name, x)
}

// variance is the variance of all values of x, including the zeros of sparse rows.
func variance(x matrix.Rows) float64 {
	total := float64(x.Len()) * float64(x.Dim())
	sum, square := 0.0, 0.0
	for i := range x.Len() {
		var row []float32
		if x.CSR != nil {
			_, row = x.CSR.Row(i)
		} else {
			row = x.Dense.Row(i)
		}
		for _, v := range row {
			sum += float64(v)
			square += float64(v) * float64(v)
		}
	}
	return square/total - sum/total*(sum/total)
}
