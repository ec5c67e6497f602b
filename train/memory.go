package train

import (
	"slices"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/kernel"
)

// affordable rejects a training that would exceed the memory limit.
func (f *job) affordable() error {
	if f.opt.Memory <= 0 {
		return nil
	}
	need, formula := f.learner.memory(f)
	need += f.pipelineMemory()
	if need <= float64(f.opt.Memory) {
		return nil
	}
	needed, allowed := units.BytesApart(need, float64(f.opt.Memory))
	return option.Errorf("%s: %s with n = %d rows and D = %d features needs %s (%s), but %s allows %s; use %s or more memory",
		f.src.Name(), f.learner.name, f.sum.Rows, f.learnDim(), needed, formula, option.Ref("memory"), allowed, f.less())
}

// less says how to make a training use less memory.
func (f *job) less() *option.Phrase {
	switch ridge, rbf := option.Set("learner", ridgeLearner.name), option.Set("kernel", kernel.RBF.Name()); {
	case f.bag != nil && f.pipe.Feature() == nil:
		return option.Phrasef("fewer %s, compact pooling (%s) in place of full,", option.Ref("bag_features"),
			option.Set("pooling", "tensorsketch"))
	case f.learner.fewer != nil:
		return f.learner.fewer
	case f.learner.exact:
		return option.Phrasef("%s, or a map (%s)", option.Set("learner", falkonLearner.name), ridge)
	case f.pipe.Feature() == nil && f.classes != nil && f.learner.parts != nil:
		return option.Phrasef("%s, or a map to fewer dimensions (%s),", option.Set("learner", svmLearner.name), rbf)
	case f.pipe.Feature() == nil:
		return option.Phrasef("a map to fewer dimensions (%s)", rbf)
	case f.learner.parts == nil && !f.learner.online && f.task != "outliers":
		return option.Phrasef("%s, or %s, whose memory does not grow with the rows,", f.fewerFeatures(), ridge)
	}
	return f.fewerFeatures()
}

// fewerFeatures says how to ask the map for fewer features.
func (f *job) fewerFeatures() *option.Phrase {
	switch m := f.pipe.Feature(); {
	case f.cfg.Map.Steps != nil:
		return option.Phrasef("fewer features in the steps of the map")
	case m == nil || m.Steps != nil || !m.Decides():
		return option.Phrasef("fewer %s", option.Ref("features"))
	case m.Features > f.schema.Dim && slices.Contains(feature.OptionsOf(m.Map), "terms"):
		return option.Phrasef("fewer %s", option.Ref("terms"))
	}
	return option.Phrasef("another %s, which can be told %s,", option.Ref("map"), option.Ref("features"))
}

// mapDim returns the number of features of a row.
func (f *job) mapDim() int {
	_, d := f.pipe.Dims()
	return d
}

// pipelineMemory is the number of bytes held by the steps before the learner.
func (f *job) pipelineMemory() float64 {
	bytes := f.reductionMemory()
	if m := f.pipe.Map(); m != nil {
		bytes += float64(m.Bytes())
	}
	if f.bag != nil {
		bytes += float64(f.bag.mapping.Pooling().Bytes() + f.bag.kept)
	}
	return bytes
}

// learnDim is the number of dimensions that the learner sees, or an upper bound until the
// principal components have been found.
func (f *job) learnDim() int {
	if f.pipe.Projection() == nil && f.cfg.Reduce.Components > 0 {
		return min(f.cfg.Reduce.Components, f.mapDim())
	}
	if f.pipe.Projection() == nil && f.cfg.discriminates() && f.classes != nil {
		return min(max(1, len(f.classes.Labels())-1), f.mapDim())
	}
	return f.mapDim()
}
