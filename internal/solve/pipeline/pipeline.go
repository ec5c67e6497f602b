// Package pipeline prepares rows for a learner: they are scaled, transformed so that their
// distances are those of a learned metric, mapped into a kernel's feature space, and reduced to
// principal components. Bags of rows are pooled first.
//
// Settle decides all of it in one place, from a configuration and a survey of the rows:
// the scaling, γ, the domain, the landmarks, the map and its number of features.
package pipeline

import (
	"fmt"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/freelist"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/reduce"
	"mercer/kernel"
	"mercer/matrix"
)

// Pipeline turns rows into features: scaling, then the feature map, then principal components. It
// does not change and is safe for concurrent use.
type Pipeline struct {
	in     int
	scaler *dataset.Scaler
	metric *metric.Metric // nil: plain distances
	fmap   feature.Map    // nil: the linear kernel, or exact; otherwise made is its configuration
	made   *feature.Config
	exact  *kernel.Kernel  // of a learner that takes the kernel itself
	domain kernel.Kernel   // which numbers scaled rows may hold
	groups *feature.Config // the map, if its steps take groups of columns, with domains of their own

	// The principal components of the features, nil if all features are kept.
	projection *reduce.Projection
	reduction  *reduce.Report

	passes freelist.List[Pass]
}

// Chunk is the number of rows that are mapped at a time: enough for fast products, few
// enough for their features (4·Chunk·D bytes) to stay in the processor's caches.
const Chunk = 256

// Identity is the pipeline that leaves rows of dim numbers as they are.
func Identity(dim int) *Pipeline {
	return &Pipeline{in: dim, scaler: &dataset.Scaler{Kind: "none"}, domain: kernel.Linear.Usual()}
}

// Dims is the number of input dimensions and of features, or of their principal components.
func (p *Pipeline) Dims() (in, out int) {
	if p.projection != nil {
		_, out = p.projection.Dims()
		return p.in, out
	}
	return p.in, p.Features()
}

// Features is the number of features of the map, before principal components.
func (p *Pipeline) Features() int {
	if p.fmap == nil {
		return p.Width()
	}
	_, d := p.fmap.Dims()
	return d
}

// Width is the number of dimensions of scaled rows, the input of the map.
func (p *Pipeline) Width() int {
	if p.metric == nil {
		return p.in
	}
	_, out := p.metric.Dims()
	return out
}

// Map is the feature map, nil if there is none.
func (p *Pipeline) Map() feature.Map { return p.fmap }

// Feature is the configuration of the map, nil if there is none.
func (p *Pipeline) Feature() *feature.Config { return p.made }

// Kernel is the kernel that the learner uses instead of a map, nil if there is a map or the
// learner is linear in the rows.
func (p *Pipeline) Kernel() *kernel.Kernel { return p.exact }

// Scaler is the scaling.
func (p *Pipeline) Scaler() *dataset.Scaler { return p.scaler }

// KeepsSparse says whether sparse rows stay sparse until they reach the map.
func (p *Pipeline) KeepsSparse() bool {
	return !p.scaler.Densify && (p.metric == nil || p.metric.Axes == nil)
}

// Metric is the learned metric, nil if there is none.
func (p *Pipeline) Metric() *metric.Metric { return p.metric }

// Chosen says what the map chose where its configuration leaves it open, "" if nothing.
func (p *Pipeline) Chosen() string {
	if m, ok := p.fmap.(feature.Chooser); ok {
		return m.Chosen()
	}
	return ""
}

// Reduction describes the principal components of the features, nil if there are none.
func (p *Pipeline) Reduction() *reduce.Report { return p.reduction }

// Projection is the projection onto the principal components, nil if there is none.
func (p *Pipeline) Projection() *reduce.Projection { return p.projection }

// Reduced is the pipeline with principal components after the map, replacing any that it has;
// nil means none.
func (p *Pipeline) Reduced(to *reduce.Projection, report *reduce.Report) *Pipeline {
	return &Pipeline{in: p.in, scaler: p.scaler, metric: p.metric, fmap: p.fmap,
		made: p.made, exact: p.exact, domain: p.domain, groups: p.groups, projection: to, reduction: report}
}

// Reweighted is the pipeline with other weights of the maps of its sum.
func (p *Pipeline) Reweighted(weights []float64) (*Pipeline, error) {
	made := *p.made
	made.Weights = weights
	var state map[string]*matrix.Dense
	if fitted, ok := p.fmap.(feature.Fitted); ok {
		state = fitted.State()
	}
	fmap, err := feature.Restore(made, p.Width(), state)
	if err != nil {
		return nil, err
	}
	other := p.Reduced(p.projection, p.reduction)
	other.fmap, other.made = fmap, &made
	return other, nil
}

// Transform writes the features of the rows x into dst, which must be Len×D. It fails if x is
// wider or narrower than the rows that the pipeline was settled for (sparse rows may be narrower), or
// holds a number that is not finite or outside the kernel's domain.
func (p *Pipeline) Transform(dst *matrix.Dense, x matrix.Rows) error {
	if _, d := p.Dims(); dst.Rows != x.Len() || dst.Cols != d {
		panic(fmt.Sprintf("pipeline: Transform wants a %d×%d dst, got %d×%d", x.Len(), d, dst.Rows, dst.Cols))
	}
	return p.Each(x, func(i, j int, z matrix.Rows) error {
		for r := i; r < j; r++ {
			row := dst.Row(r)
			if z.Dense != nil {
				copy(row, z.Dense.Row(r-i))
				continue
			}
			clear(row)
			idx, val := z.CSR.Row(r - i)
			for k, c := range idx {
				row[c] = val[k]
			}
		}
		return nil
	})
}

// Each calls body with the features of the rows x, rows [i, j) at a time, sparse if the map
// prefers that. body must not retain them, and ends the pass by returning an error. Each fails like
// Transform.
func (p *Pipeline) Each(x matrix.Rows, body func(i, j int, z matrix.Rows) error) error {
	if err := p.Check(x); err != nil {
		return err
	}
	w := p.Borrow()
	defer p.Return(w)
	for i := 0; i < x.Len(); i += Chunk {
		j := min(i+Chunk, x.Len())
		z, e := w.features(x.Slice(i, j))
		if e != nil {
			return bad(i+e.Row, e.Dim, p.reason(e))
		}
		if err := body(i, j, z); err != nil {
			return err
		}
	}
	return nil
}

// Scale returns the rows x scaled and transformed by the metric, without the map; they may share memory with x.
func (p *Pipeline) Scale(x matrix.Rows) (matrix.Rows, error) {
	if err := p.Check(x); err != nil {
		return matrix.Rows{}, err
	}
	return p.Pass().Scale(x), nil
}

// Pass is the working memory of a pass over rows. It is for one goroutine at a time.
type Pass struct {
	p     *Pipeline
	scale dataset.Workspace
	by    metric.Work
	z     matrix.Dense
	csr   matrix.CSR

	centred, components matrix.Dense
}

// Pass returns new working memory.
func (p *Pipeline) Pass() *Pass { return &Pass{p: p} }

// Borrow returns working memory to give back with Return, so that mapping a few rows allocates nothing.
func (p *Pipeline) Borrow() *Pass {
	w := p.passes.Get()
	w.p = p
	return w
}

// Return takes back what Borrow gave.
func (p *Pipeline) Return(w *Pass) { p.passes.Put(w) }

// Map scales and maps at most Chunk rows of finite numbers; the result is valid until the next
// call. It fails with a [dataset.RowError] at a number outside the kernel's domain.
func (w *Pass) Map(x matrix.Rows) (matrix.Rows, error) {
	z, e := w.features(x)
	if e != nil {
		return z, bad(e.Row, e.Dim, w.p.reason(e))
	}
	return z, nil
}

// Scale widens sparse rows to the pipeline's dimensions, scales, and applies the metric; the result is
// valid until the next call, and may share memory with x.
func (w *Pass) Scale(x matrix.Rows) matrix.Rows {
	if x.CSR != nil && x.CSR.Cols < w.p.in {
		wide := *x.CSR
		wide.Cols = w.p.in
		x = matrix.Rows{CSR: &wide}
	}
	x = w.p.scaler.Apply(x, &w.scale)
	if w.p.metric != nil {
		x = w.p.metric.Apply(x, &w.by)
	}
	return x
}

func (w *Pass) features(x matrix.Rows) (matrix.Rows, *kernel.DomainError) {
	p := w.p
	x = w.Scale(x)
	if bad := p.outside(x); bad != nil {
		return x, bad
	}
	if p.fmap != nil {
		x = feature.Apply(p.fmap, x, &w.z, &w.csr)
	}
	if p.projection != nil {
		_, k := p.projection.Dims()
		w.components.Reshape(x.Len(), k)
		p.projection.Transform(&w.components, x, &w.centred)
		x = matrix.Rows{Dense: &w.components}
	}
	return x, nil
}

// Row is [Pass.Map] for one dense row of any numbers: it also fails with a [dataset.RowError] at a number that is not
// finite.
func (w *Pass) Row(row *matrix.Dense) (matrix.Rows, error) {
	x := matrix.Rows{Dense: row}
	if err := w.p.Check(x); err != nil {
		return x, err
	}
	return w.Map(x)
}
