package pipeline

import (
	"fmt"
	"math"
	"strings"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/safetensors"
	"mercer/internal/solve/metric"
	"mercer/kernel"
	"mercer/matrix"
)

// A file stores the description of a pipeline, as JSON, and its fitted values, as tensors: the shifts
// and factors of the scaling, and the state of a map that was fitted to rows. All other maps are recreated
// from configuration and seed. docs/model-file.md has the names.

// Description has the settings of a pipeline. With its tensors, Restore recreates the pipeline.
type Description struct {
	In      int // dimensions of a row
	Scale   string
	Densify bool
	Kernel  *kernel.Kernel  // of a learner that takes the kernel itself, else nil
	Feature *feature.Config // of the map, nil if there is none

	MaxMemory int64 `json:"-"` // bytes that the map may hold; 0 is the default of the function MaxMemory
}

// mapPrefix begins the names of a map's tensors.
const mapPrefix = "map."

// AddTensors adds the fitted values to the tensors of a file, under names that begin with prefix.
func (p *Pipeline) AddTensors(to map[string]*safetensors.Tensor, prefix string) {
	addScaler(to, prefix, p.scaler)
	if p.metric != nil {
		addMetric(to, p.metric)
	}
	if fitted, ok := p.fmap.(feature.Fitted); ok {
		addState(to, prefix+mapPrefix, fitted.State())
	}
}

func addScaler(to map[string]*safetensors.Tensor, prefix string, s *dataset.Scaler) {
	for name, v := range map[string][]float64{"scale.shift": s.Shift, "scale.factor": s.Factor} {
		if v != nil {
			to[prefix+name] = safetensors.Vector(v)
		}
	}
	if r := s.Ranks; r != nil {
		ends := make([]float64, len(r.Ends))
		for j, end := range r.Ends {
			ends[j] = float64(end)
		}
		to[prefix+"scale.ends"] = safetensors.Vector(ends)
		to[prefix+"scale.knots"] = safetensors.Vector(r.Knots)
		to[prefix+"scale.scores"] = safetensors.Vector(r.Scores)
	}
}

// Tensors of a metric. Members of bags have none.
const metricWeights, metricAxes = "metric.weights", "metric.axes"

func addMetric(to map[string]*safetensors.Tensor, m *metric.Metric) {
	if m.Axes != nil {
		to[metricAxes] = &safetensors.Tensor{Shape: []int{m.Axes.Rows, m.Axes.Cols}, F32: m.Axes.Contiguous()}
		return
	}
	to[metricWeights] = &safetensors.Tensor{Shape: []int{len(m.Weights)}, F32: m.Weights}
}

// MetricDims is the number of dimensions after the metric of a file for rows of dim dimensions.
func MetricDims(t safetensors.Tensors, dim int) int {
	if axes := t[metricAxes]; axes != nil && len(axes.Shape) == 2 {
		return axes.Shape[1]
	}
	return dim
}

// restoreMetric builds the metric of rows of dim dimensions, nil if there is none.
func restoreMetric(t safetensors.Tensors, dim int) (*metric.Metric, error) {
	m := &metric.Metric{}
	weights, axes := t[metricWeights], t[metricAxes]
	switch {
	case weights == nil && axes == nil:
		return nil, nil
	case weights != nil && len(weights.Shape) == 1:
		m.Weights = weights.F32
	case axes != nil && len(axes.Shape) == 2 && axes.F32 != nil:
		m.Axes = &matrix.Dense{Rows: axes.Shape[0], Cols: axes.Shape[1], Stride: axes.Shape[1], Data: axes.F32}
	}
	return m, m.Check(dim)
}

func addState(to map[string]*safetensors.Tensor, prefix string, state map[string]*matrix.Dense) {
	for name, t := range state {
		to[prefix+name] = &safetensors.Tensor{Shape: []int{t.Rows, t.Cols}, F32: t.Contiguous()}
	}
}

// Restore rebuilds a pipeline from its description and the tensors of a file, and checks that they
// match. If the pipeline has a map, Feature.Features confirms the size.
func Restore(d Description, t safetensors.Tensors) (p *Pipeline, err error) {
	p = &Pipeline{in: d.In, exact: d.Kernel, domain: kernel.Linear.Usual()}
	if d.Kernel != nil {
		p.domain = *d.Kernel
	}
	if p.scaler, err = restoreScaler(t, "", d.Scale, d.Densify, d.In); err != nil {
		return nil, err
	}
	if p.metric, err = restoreMetric(t, d.In); err != nil || d.Feature == nil {
		return p, err
	}
	state, err := restoreState(t, mapPrefix)
	if err != nil {
		return nil, err
	}
	bounded := *d.Feature
	if bounded.MaxBytes, err = MaxMemory(d.MaxMemory); err != nil {
		return nil, err
	}
	if p.fmap, err = feature.Restore(bounded, p.Width(), state); err != nil {
		return nil, tooLarge(err)
	}
	p.made, p.groups, p.domain = d.Feature, d.Feature, feature.Domain(*d.Feature)
	return p, nil
}

// restoreScaler rebuilds a scaler of rows of dim dimensions.
func restoreScaler(t safetensors.Tensors, prefix, kind string, densify bool, dim int) (*dataset.Scaler, error) {
	sc := &dataset.Scaler{Kind: kind, Densify: densify}
	for name, v := range map[string]*[]float64{"scale.shift": &sc.Shift, "scale.factor": &sc.Factor} {
		if t[prefix+name] == nil {
			continue
		}
		x, err := t.Want(prefix+name, true, dim)
		if err != nil {
			return nil, err
		}
		*v = x.F64
	}
	if sc.Shift != nil && sc.Factor == nil {
		return nil, fmt.Errorf("tensor %q is missing beside %q", prefix+"scale.factor", prefix+"scale.shift")
	}
	if t[prefix+"scale.ends"] != nil {
		var err error
		if sc.Ranks, err = restoreRanks(t, prefix, dim); err != nil {
			return nil, err
		}
	}
	return sc, sc.Check(dim)
}

// restoreRanks rebuilds the tables of the scaling quantile, which Scaler.Check checks.
func restoreRanks(t safetensors.Tensors, prefix string, dim int) (*dataset.Ranks, error) {
	ends, err := t.Want(prefix+"scale.ends", true, dim)
	if err != nil {
		return nil, err
	}
	r := &dataset.Ranks{Ends: make([]int, dim)}
	for j, end := range ends.F64 {
		if end != math.Trunc(end) || !(end >= 0 && end < 1<<40) {
			return nil, fmt.Errorf("tensor %q: element %d is %g, which is no number of knots", prefix+"scale.ends", j, end)
		}
		r.Ends[j] = int(end)
	}
	for name, v := range map[string]*[]float64{"scale.knots": &r.Knots, "scale.scores": &r.Scores} {
		x, err := t.Want(prefix+name, true, r.Ends[dim-1])
		if err != nil {
			return nil, err
		}
		*v = x.F64
	}
	return r, nil
}

// restoreState reads the state of a fitted map: the matrices whose names begin with prefix.
func restoreState(t safetensors.Tensors, prefix string) (map[string]*matrix.Dense, error) {
	state := map[string]*matrix.Dense{}
	for name, t := range t {
		short, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if len(t.Shape) != 2 || t.F32 == nil {
			return nil, fmt.Errorf("tensor %q has shape %v; expected a matrix of float32", name, t.Shape)
		}
		for i, v := range t.F32 {
			if v-v != 0 {
				return nil, fmt.Errorf("tensor %q: element %d is %g", name, i, v)
			}
		}
		state[short] = &matrix.Dense{Rows: t.Shape[0], Cols: t.Shape[1], Stride: t.Shape[1], Data: t.F32}
	}
	return state, nil
}
