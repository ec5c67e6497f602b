package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
)

// weighings are the ways to choose the weights of a sum.
var weighings = []string{"alignment", "search"}

// checkGroups rejects groups of columns, and weights, that there is no sum of maps for.
func (c *Config) checkGroups() error {
	c.Map.GroupWeights = strings.ToLower(c.Map.GroupWeights)
	switch by := c.Map.GroupWeights; {
	case c.Map.Groups != "" && (c.machine() || c.own()):
		return fmt.Errorf("the learner %s takes one kernel of all columns; a kernel for each group takes a map, such as for the learner %s",
			c.LearnerName(), ridgeLearner.name)
	case by == "":
		return nil
	case !slices.Contains(weighings, by):
		return fmt.Errorf("group_weights %q is not known; known are %s", by, strings.Join(weighings, ", "))
	case c.Map.Name != feature.Sum && c.Map.Groups == "":
		return errors.New("group_weights are those of the kernels of a sum; give group_kernels, or a sum as the map")
	case c.Traits().Online():
		return fmt.Errorf("the learner %s goes over rows once, and group_weights take a pass before; give weights to the sum", c.LearnerName())
	}
	return nil
}

// noWeights rejects weights that are chosen, where there is no training to choose them.
func (c *Config) noWeights() error {
	if c.Map.GroupWeights != "" {
		return errors.New("group_weights are chosen by a training in one place, and are in its model as weights; give these to the sum")
	}
	return nil
}

// weigh chooses the weights of the maps of a sum from statistics of the features, which learners that train on such
// need no other pass for.
func (f *job) weigh() error {
	by := f.cfg.Map.GroupWeights
	if by == "" {
		return nil
	}
	sum, ok := f.pipe.Map().(feature.Parted)
	if !ok {
		return fmt.Errorf("the map %s is not a sum of maps, so there are no weights", f.pipe.Feature().Map)
	}
	if f.task == "outliers" || f.cfg.clusters() {
		return errors.New("group_weights go by labels, which the learner does without")
	}
	n := 1
	if by == "search" {
		n = learn.Parts(learn.AutoLambda(f.sum.Rows, f.mapDim()))
	}
	shared := f.learner.parts != nil && (by == "alignment" || f.learner.parts(f) == n)
	if shared {
		n = f.learner.parts(f)
	}
	parts := f.newParts(n)
	if err := f.collect(parts, 0); err != nil {
		return err
	}
	defer timed(&f.report.Solve)()
	f.progress("weigh", 0, -1)
	weights, err := f.weightsBy(by, parts, sum.Parts())
	if err != nil {
		return f.located(err)
	}
	given := f.pipe.Feature().Weights
	var factors []float64 // of features
	for g, width := range sum.Parts() {
		before := 1.0
		if given != nil {
			before = given[g]
		}
		weights[g] *= before
		factor := float64(float32(math.Sqrt(weights[g]))) / float64(float32(math.Sqrt(before)))
		factors = append(factors, slices.Repeat([]float64{factor}, width)...)
	}
	if f.pipe, err = f.pipe.Reweighted(weights); err != nil {
		return f.located(err)
	}
	f.why["weights"] = map[string]string{"alignment": "by alignment with the labels", "search": "by the ridge's error on held-out rows"}[by]
	if shared {
		for _, p := range parts {
			p.Scale(factors)
		}
		f.collected = parts
	}
	return nil
}

// weightsBy are the weights that the statistics of parts of the rows say.
func (f *job) weightsBy(by string, parts []*moments.Stats, widths []int) ([]float64, error) {
	if by == "search" {
		return learn.Weigh(f.ctx, parts, widths)
	}
	all := moments.New(f.mapDim(), f.outputs)
	for _, p := range parts {
		all.Merge(p)
	}
	return learn.Align(all.Moments(), widths), nil
}
