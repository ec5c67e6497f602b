package train

import (
	"errors"
	"fmt"
	"math"

	"mercer/feature"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/reduce"
	"mercer/matrix"
	"mercer/model"
)

// Reduction is what becomes of the features before the learner.
type Reduction struct {
	// Components is the number of principal components of the features that the learner sees, and
	// Share the smallest share of the variance that these must hold. If both are given the smaller
	// number is used; if both are 0 the learner sees the features themselves. MapComponents
	// is the number kept of each map of a sum before that. Whiten divides components by their
	// standard deviations.
	Components    int     `json:"components,omitempty"`
	Share         float64 `json:"variance_share,omitempty"`
	MapComponents int     `json:"map_components,omitempty"`
	Whiten        bool    `json:"whiten,omitempty"`

	// Method is what the components are: "pca" (or ""), principal ones, or "lda", linear discriminants, which tell classes
	// apart: as many as classes less one, or Components of them.
	Method string `json:"reduce,omitempty"`
}

// Help says what a setting of principal components is, by its name in JSON.
func (Reduction) Help(setting string) string {
	return map[string]string{
		"reduce": "what components are: pca, principal ones; lda, linear discriminants, which tell classes apart, " +
			"one fewer than classes or as many components as asked for (default pca)",
		"components":     "most principal components of the features to train on (default: the features themselves)",
		"variance_share": "as many principal components as hold this share of the variance, such as 0.95",
		"map_components": "principal components to keep of each map of a sum, before those of all features",
		"whiten":         "divide principal components by their deviations",
	}[setting]
}

// Discriminates says that components are linear discriminants, which are found by the labels of the rows.
func (r Reduction) Discriminates() bool { return r.Method == discriminants }

// reduces says whether principal components are asked for, joint whether those of all features are.
func (c *Config) reduces() bool { return c.joint() || c.Reduce.MapComponents > 0 }
func (c *Config) joint() bool {
	return c.Reduce.Components > 0 || c.Reduce.Share > 0 || c.discriminates()
}

// checkReduction checks the configuration of principal components.
func (c *Config) checkReduction() error {
	switch {
	case c.Reduce.Components < 0:
		return fmt.Errorf("components %d is not a positive number", c.Reduce.Components)
	case c.Reduce.MapComponents < 0:
		return fmt.Errorf("map_components %d is not a positive number", c.Reduce.MapComponents)
	case math.IsNaN(c.Reduce.Share) || c.Reduce.Share < 0 || c.Reduce.Share > 1:
		return fmt.Errorf("variance_share %g is not a number above 0 and up to 1", c.Reduce.Share)
	case c.discriminates() && (c.Reduce.Share > 0 || c.Reduce.MapComponents > 0 || c.Reduce.Whiten):
		return errors.New("variance_share, map_components and whiten are for principal components, but reduce is lda; leave them out")
	case c.Reduce.Whiten && !c.reduces():
		return errors.New("whiten is for principal components; give a number of components, or a share of the variance")
	case c.reduces() && c.machine():
		return fmt.Errorf("the learner %s takes the kernel itself and has no features to find principal components of; leave them out, "+
			"or choose another learner", c.LearnerName())
	case c.reduces() && c.Traits().Online():
		return fmt.Errorf("the learner %s goes on from features when it is continued and takes no principal components; leave them out, "+
			"or choose another learner", c.LearnerName())
	case c.Reduce.MapComponents > 0 && c.Map.Name != feature.Sum && c.Map.Groups == "":
		return errors.New("map_components are those of each map of a sum; give components for the features of one map")
	}
	return nil
}

// reduce finds the principal components before training, for learners that need
// rows of components: one pass over the data, and one more if the maps of a sum are reduced before the
// whole. Learners that train on statistics need no pass for the whole.
func (f *job) reduce() error {
	if f.cfg.joint() && f.learner.parts != nil {
		return f.reduceMaps()
	}
	return f.reduceApart()
}

// reduceApart is reduce with a separate pass for the whole, whatever the learner.
func (f *job) reduceApart() error {
	if err := f.reduceMaps(); err != nil || !f.cfg.joint() {
		return err
	}
	if f.cfg.discriminates() {
		all, err := f.statisticsOfClasses()
		if err == nil {
			_, err = f.project(all, 0)
		}
		return err
	}
	d := f.mapDim()
	all := moments.New(d, 1)
	unlabelled, err := f.collectParts([]*moments.Stats{all}, []int{d})
	if err == nil {
		_, err = f.project(all, unlabelled)
	}
	return err
}

// collectParts adds all rows to statistics without targets: the first features of a row
// to the first statistics, and so on. Rows without labels are among them, if there are any.
func (f *job) collectParts(parts []*moments.Stats, widths []int) (unlabelled int, err error) {
	var dense matrix.Dense
	err = f.each("reduce", func(b *matrix.Batch, z matrix.Rows) error {
		defer timed(&f.report.Solve)()
		rows := densified(z, &dense)
		for i := range rows.Rows {
			addParts(parts, widths, rows.Row(i), f.weight(b, i))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return f.collectUnlabelled(parts, widths)
}

// addParts adds a row without targets: its first features to the first statistics, and so on.
func addParts(parts []*moments.Stats, widths []int, row []float32, w float64) {
	for p, s := range parts {
		s.AddRow(row[:widths[p]], nil, w)
		row = row[widths[p]:]
	}
}

var errUnlabelled = errors.New("unlabelled rows only serve to find principal components; " +
	"give a number of components, or a share of the variance, or leave the rows out")

// collectUnlabelled is collectParts for the rows of Options.Unlabelled, if there are any, and says how many they are.
func (f *job) collectUnlabelled(parts []*moments.Stats, widths []int) (n int, err error) {
	if f.opt.Unlabelled == nil {
		return 0, nil
	}
	src, err := f.opt.Unlabelled(f.schema)
	if err != nil {
		return 0, err
	}
	var dense matrix.Dense
	err = f.eachOf(src, "reduce", func(b *matrix.Batch, z matrix.Rows) error {
		defer timed(&f.report.Solve)()
		rows := densified(z, &dense)
		for i := range rows.Rows {
			w := 1.0
			if b.Weights != nil {
				w = b.Weights[i]
			}
			addParts(parts, widths, rows.Row(i), w)
		}
		n += rows.Rows
		return nil
	})
	return n, err
}

// project finds the principal components, or the discriminants, of all features, or of the components of the maps
// if these were reduced before: last is their projection, which from now on is part of mapping a row.
func (f *job) project(all *moments.Stats, unlabelled int) (last *reduce.Projection, err error) {
	defer timed(&f.report.Solve)()
	f.progress("reduce", 0, -1)
	var report *reduce.Report
	if c := &f.cfg; c.discriminates() {
		if err := f.needClasses(&f.answers); err != nil {
			return nil, err
		}
		last, report, err = reduce.LDA{Components: c.Reduce.Components, Shrinkage: c.Shrinkage.Value, Given: c.Shrinkage.Given}.Fit(f.ctx,
			all.Moments())
	} else {
		last, report, err = reduce.PCA{Components: c.Reduce.Components, Share: c.Reduce.Share, Whiten: c.Reduce.Whiten}.Fit(f.ctx, all.Moments())
	}
	if err != nil {
		return nil, f.located(err)
	}
	p := last
	if before := f.pipe.Projection(); before != nil {
		maps := f.pipe.Reduction()
		p = before.Then(last)
		report.Features, report.Maps = maps.Features, maps.Maps
		report.Variance, report.Share = maps.Variance, maps.Share*report.Share
		report.Seconds += maps.Seconds
	}
	report.Unlabelled = unlabelled
	f.pipe = f.pipe.Reduced(p, report)
	f.reduced = true
	return last, nil
}

// reduceStatistics turns statistics of features into those of their principal components, if
// asked for. The components are those of the rows of all parts together; targets play no part.
func (f *job) reduceStatistics(parts []*moments.Stats) error {
	if !f.cfg.joint() || f.reduced {
		return nil
	}
	all := parts[0]
	if len(parts) > 1 || f.opt.Unlabelled != nil {
		all = moments.New(f.mapDim(), f.outputs)
		for _, p := range parts {
			all.Merge(p)
		}
	}
	unlabelled, err := f.collectUnlabelled([]*moments.Stats{all}, []int{f.mapDim()})
	if err != nil {
		return err
	}
	last, err := f.project(all, unlabelled)
	if err != nil {
		return err
	}
	defer timed(&f.report.Solve)()
	for i, p := range parts {
		parts[i] = last.Statistics(p)
	}
	return nil
}

// reduceMaps finds the principal components of each map of a sum, if asked for.
func (f *job) reduceMaps() error {
	if f.cfg.Reduce.MapComponents == 0 {
		return nil
	}
	sum, ok := f.pipe.Map().(feature.Parted)
	if !ok {
		return fmt.Errorf("the map %s is not a sum of maps, so there are no maps to reduce one by one", f.pipe.Feature().Map)
	}
	widths := sum.Parts()
	var parts []*moments.Stats
	for _, d := range widths {
		parts = append(parts, moments.New(d, 1))
	}
	unlabelled, err := f.collectParts(parts, widths)
	if err != nil {
		return err
	}
	// Whitening the whole would undo that of each map, or repeat it.
	pca := reduce.PCA{Components: f.cfg.Reduce.MapComponents, Whiten: f.cfg.Reduce.Whiten && !f.cfg.joint()}
	whole := &reduce.Report{Method: "each map apart", Whitened: pca.Whiten}
	var projections []*reduce.Projection
	held := 0.0
	for i, s := range parts {
		p, report, err := pca.Fit(f.ctx, s.Moments())
		if err != nil {
			return fmt.Errorf("%s: map %d: %w", f.src.Name(), i+1, err)
		}
		projections = append(projections, p)
		whole.Features, whole.Components = whole.Features+report.Features, whole.Components+report.Components
		whole.Variance += report.Variance
		held += report.Share * report.Variance
		whole.Seconds += report.Seconds
		whole.Variances = append(whole.Variances, report.Variances...)
		whole.Maps = append(whole.Maps, report)
	}
	whole.Share = held / whole.Variance
	whole.Unlabelled = unlabelled
	f.pipe = f.pipe.Reduced(reduce.Joined(projections), whole)
	return nil
}

// folded are the parts of a model whose predictor has the projection in it, so that the pipeline does not need it.
func (f *job) folded(s *solution) (model.Parts, error) {
	parts, p := f.parts(s), f.pipe.Projection()
	if p == nil {
		return parts, nil
	}
	l, ok := s.predictor.(model.Folds)
	if !ok {
		return parts, fmt.Errorf("the learner %s is not linear and cannot be trained on principal components", f.learner.name)
	}
	parts.Predictor, parts.Pipeline, parts.Info.Training.Reduction = l.Folded(p), f.pipe.Reduced(nil, nil), f.pipe.Reduction()
	return parts, nil
}

// reductionMemory is the number of bytes of principal components: the statistics (twice if
// some rows are held out), the work of the decomposition, and the projection.
func (f *job) reductionMemory() float64 {
	if !f.cfg.reduces() {
		return 0
	}
	d, k := float64(f.mapDim()), float64(f.learnDim())
	return 48*d*d + 24*d*k
}

// densified returns the rows themselves if dense, otherwise their dense copy in work.
func densified(z matrix.Rows, work *matrix.Dense) *matrix.Dense {
	if z.CSR == nil {
		return z.Dense
	}
	z.CSR.Densify(work)
	return work
}
