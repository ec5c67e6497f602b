package train

import (
	"fmt"
	"slices"

	"mercer/feature"
)

// affordable refuses a training that would hold more than it may.
func (f *fit) affordable() error {
	sum := f.sum
	if f.opt.Memory <= 0 {
		return nil
	}
	need, formula := f.learner.memory(f, sum)
	need += f.pipelineMemory()
	if need <= float64(f.opt.Memory) {
		return nil
	}
	advice := f.fewer()
	switch {
	case f.bag != nil && f.info.Feature == nil:
		advice = "fewer --bag-features, compact pooling (--pooling tensorsketch) in place of full,"
	case f.learner.fewer != "":
		advice = f.learner.fewer
	case f.learner.exact:
		advice = "--learner falkon, or a map (--learner ridge)"
	case f.info.Feature == nil && f.classes != nil && f.learner.statistics:
		advice = "--learner svm, or a map to fewer dimensions (--kernel rbf),"
	case f.info.Feature == nil:
		advice = "a map to fewer dimensions (--kernel rbf)"
	case !f.learner.statistics && f.cfg.Learner != onlineLearner.name && f.info.Task != "outliers":
		advice += ", or --learner ridge, whose memory does not grow with the rows,"
	}
	return fmt.Errorf("%s: %s with n = %d rows and D = %d features needs %s (%s), but --memory allows %s; use %s or more memory",
		f.src.Name(), f.cfg.Learner, sum.Rows, f.learnDim(), bytesText(need), formula, bytesText(float64(f.opt.Memory)), advice)
}

// bytesText is a number of bytes for a message.
func bytesText(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", n/1e9)
}

// fewer says how the map can be told to have fewer features.
func (f *fit) fewer() string {
	switch m := f.info.Feature; {
	case f.cfg.Steps != nil:
		return "fewer features in the steps of the map"
	case m == nil || m.Steps != nil || !m.Decides():
		return "fewer --features"
	case m.Features > f.info.Schema.Dim && slices.Contains(feature.OptionsOf(m.Map), "terms"):
		return "fewer --terms"
	}
	return "another --map, which can be told --features,"
}

// mapDim is the number of features that each gives.
func (f *fit) mapDim() int {
	if f.pipe.Projection() == nil && f.info.Feature != nil {
		return f.info.Feature.Features
	}
	_, d := f.pipe.Dims()
	return d
}

// pipelineMemory is how many bytes what is before the learner holds.
func (f *fit) pipelineMemory() float64 {
	bytes := f.reductionMemory()
	if f.info.Feature != nil {
		bytes += float64(f.pipe.Map().Bytes())
	}
	if f.bag != nil {
		bytes += float64(f.bag.mapping.Pooling().Bytes() + f.kept)
	}
	return bytes
}

// learnDim is the number of dimensions that the learner sees, or at most sees as long as
// principal components have yet to be found.
func (f *fit) learnDim() int {
	if f.pipe.Projection() == nil && f.cfg.Components > 0 {
		return min(f.cfg.Components, f.mapDim())
	}
	return f.mapDim()
}
