package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/search/approx"
	"mercer/internal/solve/pipeline"
)

// candidates are the maps that are asked for, with kernels of which γ is not known yet.
func (a *approximation) candidates() ([]approx.Candidate, error) {
	a.kernel = a.pipe.Kernel
	a.kernel.Gamma = 1
	a.kernel = a.kernel.Own()
	names := approx.Maps(a.kernel)
	if len(a.asked) > 0 {
		names = nil
	}
	var configs []feature.Config
	for _, text := range a.asked {
		if strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(text, "@") {
			var cfg feature.Config
			if err := (&mapValue{name: &cfg.Map, steps: &cfg.Steps, weights: &cfg.Weights}).Set(text); err != nil {
				return nil, usagef("--map %s: %w", text, err)
			}
			configs = append(configs, cfg)
			continue
		}
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				names = append(names, name)
			}
		}
	}
	if len(names)+len(configs) == 0 {
		return nil, usagef("no map approximates the %s kernel itself; mercer maps lists the maps and their kernels", a.kernel)
	}
	given, err := a.givenOptions(names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		options, err := a.optionsOf(name, given)
		if err != nil {
			return nil, err
		}
		configs = append(configs, feature.Config{Map: name, Kernel: a.kernel, Options: options, Given: a.cfg.Map.Given})
	}
	var list []approx.Candidate
	for _, cfg := range configs {
		if slices.ContainsFunc(list, func(c approx.Candidate) bool { return cfg.Steps == nil && c.Config.Map == cfg.Map }) {
			continue
		}
		c := approx.Candidate{Config: cfg, Features: a.featuresOf(cfg)}
		if err := a.probe(c); err != nil {
			if len(a.asked) == 0 {
				a.left = append(a.left, approx.Skipped{Map: c.Name(), Reason: err.Error()})
				continue
			}
			return nil, UsageError{err}
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, usagef("%s", a.left[0].Reason)
	}
	return list, nil
}

// probe finds what is wrong with a candidate whatever the rows are.
func (a *approximation) probe(c approx.Candidate) error {
	cfg := a.pipe.Step(c.Config, func(string) float64 { return 1 })
	dims := c.Features
	if approx.Sizes(c.Config) != "features" {
		dims = []int{0}
	}
	for _, d := range dims {
		if d > 0 && cfg.Steps == nil {
			cfg.Features = d
		} else if d > 0 {
			cfg.Steps[len(cfg.Steps)-1].Features = d
		}
		if err := feature.Check(cfg); err != nil {
			return err
		}
	}
	return nil
}

// givenOptions are the options of maps that are set, by the names of their JSON. Each has to
// belong to one of the maps named.
func (a *approximation) givenOptions(names []string) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(a.cfg.Map.Options)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, err
	}
	for option := range given {
		if !slices.ContainsFunc(names, func(name string) bool { return a.hasOption(name, option) }) {
			return nil, usagef("--%s: no map that is named has this option; mercer maps lists them (a map in JSON has its own)", option)
		}
	}
	return given, nil
}

// hasOption says whether a map has an option. A map of a kernel that has parts stands for a chain of two
// maps, which share the options.
func (a *approximation) hasOption(name, option string) bool {
	_, _, composite := a.kernel.Parts()
	return composite || slices.Contains(feature.OptionsOf(name), option)
}

// optionsOf are those of the given options that a map has.
func (a *approximation) optionsOf(name string, given map[string]json.RawMessage) (own feature.Options, err error) {
	has := maps.Clone(given)
	maps.DeleteFunc(has, func(option string, _ json.RawMessage) bool { return !a.hasOption(name, option) })
	text, err := json.Marshal(has)
	if err == nil {
		err = json.Unmarshal(text, &own)
	}
	return own, err
}

// featuresOf are the numbers of features to measure; those of maps of histograms, which have so
// many for each dimension, are known when the dimensions are.
func (a *approximation) featuresOf(cfg feature.Config) []int {
	sizes := approx.Sizes(cfg)
	switch {
	case sizes == "":
		return nil
	case len(a.features) > 0:
		return slices.Clone(a.features)
	case sizes == "terms":
		return a.termsTimesDim()
	case cfg.Given != nil:
		return []int{cfg.Given.Rows}
	}
	usual := feature.Usual(cfg.Map)
	return slices.DeleteFunc([]int{256, 1024, 4096}, func(d int) bool { return usual > 0 && d > usual })
}

// termsTimesDim are 3, 5 and 9 features a dimension.
func (a *approximation) termsTimesDim() []int {
	d := max(1, a.dim)
	return []int{3 * d, 5 * d, 9 * d}
}

// fill gives candidates what the rows told: γ, given landmarks, and how many features there are in
// so many dimensions.
func (a *approximation) fill(ctx context.Context, candidates []approx.Candidate, rows approx.Rows) ([]approx.Candidate, error) {
	var failed error
	var list []approx.Candidate
	for i := range candidates {
		c := &candidates[i]
		if c.Config.Steps == nil {
			c.Config.Kernel = a.kernel
			if c.Config.Given != nil {
				c.Config.Given = a.cfg.Map.Given
			}
		}
		var err error
		if c.Config, err = a.pipe.SettleSteps(ctx, c.Config, rows.Fit); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if c.Config.Map != "" {
			c.Config = feature.Choose(c.Config, a.dim)
		}
		if len(a.asked) == 0 && pipeline.Wide(a.dim) && a.kernel.Smooth() && !feature.Frugal(c.Config.Map) {
			// Rows are shortened first, as train does it, for kernels of x·y and ‖x-y‖, which a countsketch keeps.
			c.Config = pipeline.Shortened(c.Config)
		}
		c.Features = a.featuresOf(c.Config)
		if len(a.asked) == 0 && feature.Usual(c.Config.Map) > 0 {
			c.Features = slices.DeleteFunc(c.Features, func(d int) bool { return 8*int64(d)*int64(a.dim) > landmarkBytes })
			if len(c.Features) == 0 {
				a.left = append(a.left, approx.Skipped{Map: c.Name(), Reason: fmt.Sprintf("%s: landmarks of %s dimensions take more than %s; "+
					"name it by --map to measure it nevertheless", c.Name(), units.Count(a.dim), units.Bytes(landmarkBytes))})
				continue
			}
		}
		list = append(list, *c)
	}
	return list, failed
}

// landmarkBytes is what landmarks may take that nobody asked for.
const landmarkBytes = 1 << 28
