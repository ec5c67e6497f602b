package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/solve/pool"
	"mercer/kernel"
)

// BagConfig says how a bag of members becomes the one row that the rest of a Config concerns.
// The zero value is the mean of random features of the rbf kernel, so that a dot product of
// two rows is about the mean of the kernel over all pairs of members.
type BagConfig struct {
	// Pooling is one of pool.Methods, "" means mean.
	Pooling string `json:"pooling,omitempty"`

	// Scale is how members are scaled, as in Config; "" means auto for mean and none for
	// the other methods.
	Scale string `json:"scale,omitempty"`

	// Mean averages a map as in Config: Kernel is rbf by default, γ comes from the median
	// distance of members, and Features is D, where 0 means about the number of bags, from 512 to 4096.
	// The linear kernel without a map averages the members themselves.
	Kernel      string  `json:"kernel,omitempty"`
	Gamma       string  `json:"gamma,omitempty"`
	Sigma       float64 `json:"sigma,omitempty"`
	Degree      int     `json:"degree,omitempty"`
	Coef0       float64 `json:"coef0,omitempty"`
	Nu          float64 `json:"nu,omitempty"`
	Homogeneity float64 `json:"homogeneity,omitempty"`
	Map         string  `json:"map,omitempty"`

	// Options are those of the map, or of compact bilinear pooling (pool, t, sparsity, reuse).
	feature.Options

	Steps   []feature.Config `json:"steps,omitempty"`
	Weights []float64        `json:"weights,omitempty"`

	// Features is D of the map or of compact bilinear pooling; 0 means 4096 for the latter.
	Features int `json:"features,omitempty"`

	// Streams, First and Norm are as in pool.Config, except for the default of Norm: l2 for the
	// mean of a map, so that a bag's product with itself is about 1 however far its members
	// spread; none for the mean of the members themselves; root-l2 for everything else.
	Streams int    `json:"streams,omitempty"`
	First   int    `json:"first,omitempty"`
	Norm    string `json:"norm,omitempty"`
}

// method is the way of pooling.
func (b *BagConfig) method() string {
	if b.Pooling == "" {
		return "mean"
	}
	return strings.ToLower(b.Pooling)
}

// members is the Config of the members alone: their scaling, and the map that mean averages.
func (b *BagConfig) members(seed uint64) (Config, error) {
	c := Config{Scale: b.Scale, Kernel: kernel.Linear.Usual(), Seed: seed}
	if b.method() == "mean" {
		c = Config{
			Scale:  b.Scale,
			Kernel: kernel.Kernel{Name: strings.ToLower(b.Kernel), Degree: b.Degree, Coef0: b.Coef0, Nu: b.Nu, Homogeneity: b.Homogeneity},
			Gamma:  b.Gamma, Sigma: b.Sigma,
			Map: b.Map, Options: b.Options, Steps: b.Steps, Weights: b.Weights, Features: b.Features, Seed: seed,
		}
	} else if c.Scale == "" {
		c.Scale = "none"
	}
	return c.WithDefaults(kernel.RBF.Name())
}

// mapped says whether the members have a map before they are pooled.
func (b *BagConfig) mapped() bool {
	return b.method() == "mean" && (b.Map != "" || !strings.EqualFold(b.Kernel, kernel.Linear.Name()))
}

// defaultCompact is D of compact bilinear pooling.
const defaultCompact = 4096

// pooling is the pool.Config without the map.
func (b *BagConfig) pooling(seed uint64) pool.Config {
	p := pool.Config{Method: b.method(), Seed: seed, Streams: b.Streams, First: b.First, Norm: strings.ToLower(b.Norm)}
	switch {
	case p.Norm != "":
	case b.mapped():
		p.Norm = "l2"
	case p.Method == "mean":
		p.Norm = "none"
	default:
		p.Norm = "root-l2"
	}
	if p.Method == "mean" {
		return p
	}
	p.Features, p.Pool, p.T, p.Sparsity, p.Reuse = b.Features, b.Pool, b.T, b.Sparsity, strings.ToLower(b.Reuse)
	if p.Features == 0 && slices.Contains(pool.OptionsOf(p.Method), "features") {
		p.Features = defaultCompact
	}
	return p
}

// Check reports what is wrong with the configuration, whatever the data.
func (b *BagConfig) Check() error {
	if b.method() != "mean" {
		// Options that do not belong to bilinear pooling are not silently ignored.
		rest := *b
		rest.Pooling, rest.Scale, rest.Features, rest.Streams, rest.First, rest.Norm = "", "", 0, 0, 0, ""
		rest.Pool, rest.T, rest.Sparsity, rest.Reuse = 0, 0, 0, ""
		if !reflect.ValueOf(rest).IsZero() {
			return fmt.Errorf("bags: pooling %s has no kernel or map of the members; those belong to mean", b.method())
		}
	}
	if err := pool.Check(b.pooling(1)); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	if _, err := b.members(1); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	return nil
}
