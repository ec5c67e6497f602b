package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/matrix"
)

// A sum whose steps take groups of columns: columns are found by their names, each group is scaled by itself, and the
// steps share the features.

// group makes steps of Groups, and finds the columns of the steps.
func (s *settling) group() (err error) {
	schema, dim := s.rows.Schema, s.p.in
	defer func() {
		if err != nil && schema.Format == dataset.PooledFormat {
			err = option.Errorf("%w. Rows of bags have no other columns than those that are pooled; groups of the members' columns are steps of a sum as %s",
				err, option.Ref("bag_map"))
		}
	}()
	if s.Groups != "" {
		if err := s.stepsOfGroups(schema, dim); err != nil {
			return err
		}
	}
	if s.Map != feature.Sum {
		return nil
	}
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Columns == "" || step.Dims != nil {
			continue
		}
		dims, err := schema.GroupDims(step.Columns, dim)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		step.Dims = dims
	}
	return nil
}

// stepsOfGroups makes a sum of the groups, each with the kernel and the map of the whole.
func (s *settling) stepsOfGroups(schema *dataset.Schema, dim int) error {
	of := feature.Config{Map: s.Map, Options: s.Options}
	s.Map, s.Options, s.Steps = feature.Sum, feature.Options{}, nil
	if s.Groups == "auto" {
		names, dims, err := schema.PrefixGroups(dim)
		if err != nil {
			return err
		}
		for i, name := range names {
			if of.Columns = name + "*"; name == "" {
				of.Columns = "others"
			}
			of.Dims = dims[i]
			s.Steps = append(s.Steps, of)
		}
		return nil
	}
	for columns := range strings.SplitSeq(s.Groups, ";") {
		of.Columns = strings.TrimSpace(columns)
		s.Steps = append(s.Steps, of)
	}
	return nil
}

// grouped says that steps take groups of columns.
func (c *Config) grouped() bool {
	return c.Groups != "" || slices.ContainsFunc(c.Steps, func(s feature.Config) bool { return s.Dims != nil || s.Columns != "" || s.Scale != "" })
}

// ofWhole are scalings that are not those of a group.
var ofWhole = []string{"quantile", "robust"}

// scaleGroups scales each group of columns by itself.
func (s *settling) scaleGroups() error {
	sum := s.rows.Summary
	whole, err := dataset.NewScaler("none", sum)
	if err != nil {
		return err
	}
	whole.Kind, whole.Factor = dataset.Grouped, make([]float64, sum.Dim)
	for j := range whole.Factor {
		whole.Factor[j] = 1
	}
	shift, given := make([]float64, sum.Dim), make([]bool, sum.Dim)
	shifted := false
	var kinds []string
	for i := range s.Steps {
		step := &s.Steps[i]
		scaler, err := s.scaleGroup(step, whole.Densify)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		kinds = append(kinds, step.Scale)
		ranges := step.Dims
		if ranges == nil {
			ranges = [][2]int{{0, sum.Dim}}
		}
		at := 0
		for _, r := range ranges {
			for j := r[0]; j < r[1]; j++ {
				by, f := 0.0, 1.0
				if scaler.Shift != nil {
					by = scaler.Shift[at]
				}
				if scaler.Factor != nil {
					f = scaler.Factor[at]
				}
				if at++; given[j] && (shift[j] != by || whole.Factor[j] != f) {
					return fmt.Errorf("%s is in two groups that scale it differently; give both the same scale", s.rows.Schema.DimName(j))
				}
				given[j], shift[j], whole.Factor[j] = true, by, f
				shifted = shifted || by != 0
			}
		}
	}
	if shifted {
		whole.Shift = shift
	}
	s.p.scaler = whole
	s.why["scale"] = strings.Join(kinds, ", ")
	return nil
}

// scaleGroup is the scaling of the columns of a step, which gets its kind; norms are left to its map.
func (s *settling) scaleGroup(step *feature.Config, dense bool) (*dataset.Scaler, error) {
	sum := s.rows.Summary
	part := sum
	if step.Dims != nil {
		part = sum.Part(step.Dims)
		part.Sample = step.Pick(sum.Sample, &matrix.Dense{}, &matrix.CSR{})
	}
	kind := step.Scale
	if kind == "" {
		kind = s.Scale
	}
	if kind == "auto" {
		kind, _ = ChooseScale(feature.Domain(s.Step(*step, func(string) float64 { return 1 })), part)
	}
	if slices.Contains(ofWhole, kind) {
		return nil, option.Errorf("a group of columns has no scaling %s; groups have none, standard, minmax, maxabs, global, l1, l2. "+
			"All columns have it by %s", kind, option.Set("scale", kind))
	}
	step.Scale = kind
	if kind == "l1" || kind == "l2" {
		step.Norm, kind = kind, "none"
	}
	apart := *part
	apart.Sparse = part.Sparse && !dense
	if apart.Sparse {
		apart.NonZero = 0 // they stay sparse, so that nothing is shifted
	}
	return dataset.NewScaler(kind, &apart)
}

// share gives the steps of a sum of groups that have no number of features, nor decide on it, equal parts of what is left of
// all, and a map to those that name none.
func (s *settling) share(cfg feature.Config) feature.Config {
	all := s.Features
	if all == 0 {
		all = DefaultFeatures(s.rows.Summary.Rows)
	}
	var open []*feature.Config
	widths := make([]int, len(cfg.Steps))
	for i := range cfg.Steps {
		step := &cfg.Steps[i]
		width := s.p.Width()
		if step.Dims != nil {
			width = 0
			for _, r := range step.Dims {
				width += r[1] - r[0]
			}
		}
		if step.Map == "" && step.Kernel.Linear() { // a signed permutation
			step.Map, step.Hash, step.Features = "countsketch", "balanced", width
		}
		usual := *step
		if usual.Map == "" {
			usual.Map = feature.Default(step.Kernel, width)
		}
		switch {
		case step.Features > 0:
			all -= step.Features
		case !usual.Decides():
			open = append(open, step)
		}
		widths[i] = width
	}
	for i, step := range open {
		step.Features = max(2, all/(len(open)-i)/2*2)
		all -= step.Features
	}
	for i, step := range cfg.Steps {
		cfg.Steps[i] = feature.Choose(step, widths[i])
	}
	cfg.Features = 0 // of which the steps now have theirs
	return cfg
}
