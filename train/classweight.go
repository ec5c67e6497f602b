package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/option"
)

// classWeights returns the factors given by ClassWeight, nil if there are none.
func (c *Config) classWeights(classes *dataset.Classes, sum *dataset.Summary) ([]float64, error) {
	labels := classes.Labels()
	weights := make([]float64, len(labels))
	switch c.ClassWeight {
	case "":
		return nil, nil
	case "balanced":
		for k, n := range sum.ClassRows(classes) {
			weights[k] = float64(sum.Rows) / (float64(len(labels)) * float64(n))
		}
		return weights, nil
	}
	for k := range weights {
		weights[k] = 1
	}
	given := make([]bool, len(labels))
	for _, part := range option.List(c.ClassWeight) {
		at := strings.LastIndexByte(part, '=')
		if at < 0 {
			return nil, fmt.Errorf("class weight %q is neither balanced nor LABEL=WEIGHT", part)
		}
		k := classes.Named(strings.TrimSpace(part[:at]))
		if k < 0 {
			return nil, fmt.Errorf("class weight %q: there is no class %q", part, part[:at])
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(part[at+1:]), 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("class weight %q: %q is not a number of 0 or more", part, part[at+1:])
		}
		if err := dataset.CheckWeight(w); err != nil {
			return nil, fmt.Errorf("class weight %q: %w", part, err)
		}
		if given[k] {
			return nil, fmt.Errorf("class weight %q: the class %q has a weight already; give each one", part, labels[k])
		}
		weights[k], given[k] = w, true
	}
	return weights, nil
}
