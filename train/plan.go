package train

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/solve/pipeline"
)

// Plan is everything that a training will do, decided from a survey of the rows alone. What needs the rows themselves is
// a step with the candidates that held-out rows choose from. It turns into JSON and back.
type Plan struct {
	// Config is the configuration with everything filled in that the survey decides: task, scaling, learner, kernel, map, the
	// number of features and the way to choose λ. It trains the same model as the one that was asked for.
	Config Config `json:"config"`

	// Steps are those of the training, in order.
	Steps []Step `json:"steps"`

	// Rows is n, that of the rows; Features D, the number of dimensions that the learner sees, and Outputs K, the number of
	// its scores per row.
	Rows     int `json:"rows"`
	Features int `json:"features"`
	Outputs  int `json:"outputs"`

	// Exact says that the learner uses the kernel itself; Fixed that the number of features cannot
	// be set, because the map decides it or there is no map; Statistics that it trains on
	// the moments of the features, in a time that does not depend on the targets.
	Exact      bool `json:"exact"`
	Fixed      bool `json:"fixed"`
	Statistics bool `json:"statistics"`

	// LinearFrom is the number of rows from which the time of a learner that uses the kernel itself grows no faster than
	// they, because it takes no more centres; 0 means that there is none.
	LinearFrom int `json:"linear_from,omitempty"`

	// MetricRows and MetricCentres bound the rows that a metric is learned from, or a scaling chosen by, and the landmarks of
	// the machines for that; 0 if nothing is.
	MetricRows    int `json:"metric_rows,omitempty"`
	MetricCentres int `json:"metric_centres,omitempty"`

	// Bytes is the memory of the training besides the data that are read, by Formula. MapBytes of
	// these are for the steps before the learner. FeatureBytes is the size of the features of all
	// rows, which not every learner holds.
	Bytes        int64  `json:"bytes"`
	MapBytes     int64  `json:"map_bytes"`
	FeatureBytes int64  `json:"feature_bytes"`
	Formula      string `json:"formula"`
}

// Step is one step of a Plan.
type Step struct {
	// Name is what is done or decided: "survey", "task", "means", "scaling", "metric", "kernel", "map", "components", "learner",
	// "calibrate" or "threshold".
	Name string `json:"step"`

	// What it does, or what was decided, in words.
	What string `json:"what"`

	// Candidates are what rows choose from that the machines of the candidates have not seen.
	Candidates []string `json:"candidates,omitempty"`

	// Why it was decided so; "" if it was asked for.
	Why string `json:"why,omitempty"`
}

// Survey is what a training knows of its rows before it decides.
type Survey struct {
	// Name is that of the data, for errors.
	Name string

	// Schema says how the rows are read, and Summary what the first pass found.
	Schema  dataset.Schema
	Summary *dataset.Summary
}

// Resolve decides what the training of c on rows with such a survey does. It looks at no data: Fit on the rows, with the plan's
// configuration, does as the plan says. Of opt it uses Memory.
func Resolve(s Survey, c Config, opt Options) (*Plan, error) {
	return resolve(unread{s.Name, s.Schema}, s, s.Summary.Rows, c, opt)
}

// NewPlan plans the training of cfg on the given number of rows like those of src, which is surveyed for it; 0 means as many as src has.
// opt.Memory is the memory limit, or 0; a learner that can adapt to it does.
func NewPlan(ctx context.Context, src dataset.Source, rows int, cfg Config, opt Options) (*Plan, error) {
	if rows < 0 {
		return nil, fmt.Errorf("%s: a plan for %d rows", src.Name(), rows)
	}
	o, err := cfg.SurveyOptions()
	if err != nil {
		return nil, err
	}
	sum, err := dataset.Survey(ctx, src, o)
	if err != nil {
		return nil, err
	}
	return resolve(src, Survey{src.Name(), *src.Schema(), sum}, cmp.Or(rows, sum.Rows), cfg, opt)
}

// resolve is Resolve for another number of rows than were surveyed. Of src, if it can be read, it tells which row is wrong.
func resolve(src dataset.Source, s Survey, rows int, cfg Config, opt Options) (*Plan, error) {
	t, err := beginRows(context.Background(), src, cfg, Options{Memory: opt.Memory})
	if err != nil {
		return nil, err
	}
	sum := *s.Summary
	t.surveyed, t.planned = t.run.surveyed(src, nil, &sum), rows
	if err := t.take(ofPlan); err != nil {
		return nil, err
	}
	return t.job.plan(), nil
}

// extrapolate scales the summary to the number of rows that is planned for. The task and the classes
// stay those of the rows that were surveyed.
func (f *surveyed) extrapolate(rows int) {
	f.sum.NonZero = int64(float64(f.sum.NonZero) * float64(rows) / float64(f.sum.Rows))
	f.sum.Rows = rows
}

// plan is what was decided.
func (f *job) plan() *Plan {
	p := &Plan{Config: f.asked, Rows: f.sum.Rows, Features: f.learnDim(), Outputs: f.outputs, Exact: f.learner.exact, Statistics: f.learner.parts != nil}
	bytes, formula := f.learner.memory(f)
	pipeline := f.pipelineMemory()
	p.Bytes, p.MapBytes, p.Formula = int64(math.Ceil(bytes+pipeline)), int64(math.Ceil(pipeline)), formula
	features, _ := f.rowsMemory()
	p.FeatureBytes = int64(math.Ceil(features))
	c := &p.Config
	c.Task, c.Kernel.Name = f.task, f.cfg.Kernel.Name
	c.SetLearner(f.learner.name)
	if !f.cfg.scaleByRows() {
		c.Scale = f.pipe.Scaler().Kind
	}
	switch {
	case f.cfg.scaleByRows():
		p.MetricRows, p.MetricCentres = scaleRows, scaleCentres
	case f.cfg.learned():
		p.MetricRows, p.MetricCentres = cmp.Or(f.cfg.Metric.Rows, metricRows), cmp.Or(f.cfg.Metric.Landmarks, metricCentres)
	}
	if f.learner.linearFrom != nil {
		p.LinearFrom = f.learner.linearFrom(f)
	}
	if f.learner.resolve != nil {
		f.learner.resolve(f, c)
	}
	p.Fixed = f.pipe.Feature() == nil
	if m := f.pipe.Feature(); m != nil {
		if c.Map.Features == 0 {
			c.Map.Features = m.Features
		}
		if c.Map.Name == "" && m.Map != feature.Chain {
			c.Map.Name = m.Map
		}
		p.Fixed = m.Decides()
		if p.Fixed {
			c.Map.Features = 0
		}
	}
	for _, s := range steps {
		if s.in&ofRows != 0 && s.tell != nil {
			s.tell(f, p)
		}
	}
	return p
}

// add adds a step of which the reason is that of the choice with the same name.
func (p *Plan) add(f *job, name, format string, args ...any) {
	p.Steps = append(p.Steps, Step{Name: name, What: fmt.Sprintf(format, args...), Why: f.why[name]})
}

// choose adds a step that held-out rows decide.
func (p *Plan) choose(name, what string, candidates ...string) {
	p.Steps = append(p.Steps, Step{Name: name, What: what, Candidates: candidates})
}

func tellSurvey(f *job, p *Plan) {
	p.add(f, "survey", "read %s rows of %d dimensions", units.Count(f.sum.Rows), f.sum.Dim)
}

func tellTask(f *job, p *Plan) {
	what := f.task
	if k := len(f.names); k > 0 {
		what += fmt.Sprintf(", %d classes", k)
	}
	p.add(f, "task", "%s", what)
}

func tellMeans(f *job, p *Plan) {
	switch asked := f.cfg.targetMeans(); {
	case !f.cfg.own() || asked == "none" || f.outputs > mostMeanOutputs || f.meanSums(&f.schema) == nil:
	case asked != "auto":
		p.add(f, "means", "mean targets of %s", asked)
	case f.meansNeeded():
		p.choose("means", "mean targets of the values of columns, in place of a dimension for each value", "categories", "numbers as well")
	default:
		p.choose("means", "mean targets of the values of columns", "none", "categories", "numbers as well")
	}
}

func tellScale(f *job, p *Plan) {
	if f.cfg.scaleByRows() {
		p.choose("scaling", "", f.scalings()...)
	} else if f.pipe.Scaler().Kind != "none" {
		p.Steps = append(p.Steps, Step{Name: "scaling", What: f.pipe.Scaler().Kind, Why: f.why["scale"]})
	}
}

func tellMetric(f *job, p *Plan) {
	if f.cfg.learned() {
		p.add(f, "metric", "%s, learned from %s rows", f.cfg.Metric.Form, units.Count(min(p.MetricRows, f.sum.Rows)))
	}
}

func tellMap(f *job, p *Plan) {
	if f.cfg.own() {
		return
	}
	k, m := f.pipe.Kernel(), f.pipe.Feature()
	if k == nil && m != nil && m.Steps == nil {
		k = &m.Kernel
	}
	if k != nil {
		name := k.Name
		switch {
		case f.cfg.learned() && f.cfg.freeGamma():
			name += ", γ as the metric has it"
		case k.Gamma > 0:
			name += fmt.Sprintf(", γ = %.3g", k.Gamma)
		}
		p.Steps = append(p.Steps, Step{Name: "kernel", What: name, Why: f.why["gamma"]})
	}
	if m != nil {
		p.add(f, "map", "%s, %s features", m.Map, units.Count(f.pipe.Features()))
	}
}

func tellComponents(f *job, p *Plan) {
	if !f.cfg.reduces() {
		return
	}
	what := "principal components"
	if f.cfg.discriminates() {
		what = "linear discriminants"
	}
	p.add(f, "components", "%s, %s of them", what, units.Count(f.learnDim()))
}

func tellLearner(f *job, p *Plan) {
	if !f.cfg.own() {
		p.add(f, "learner", "%s", f.learner.name)
		return
	}
	var kinds []string
	for _, k := range f.cfg.kinds(f.sum.Dim) {
		kinds = append(kinds, fmt.Sprintf("%s with a %s metric", k.Kernel.Name, k.Form))
	}
	p.choose("learner", f.learner.name, kinds...)
	p.Steps[len(p.Steps)-1].Why = f.why["learner"]
}

func tellCalibration(f *job, p *Plan) {
	switch {
	case f.cfg.calibrates():
		p.add(f, "calibrate", "%s, fitted on rows that were held out", f.cfg.Calibrate.Method)
	case f.cfg.Calibrate.Method != "none" && f.cfg.own() && f.classes != nil && f.classWeights == nil:
		p.add(f, "calibrate", "temperature or logit, fitted on rows that were held out")
	}
}

func tellThreshold(f *job, p *Plan) {
	if f.cfg.Threshold != "" {
		p.add(f, "threshold", "%s", f.cfg.Threshold)
	}
}

// scaleByRows says that held-out rows choose the scaling.
func (c *Config) scaleByRows() bool { return c.own() && c.Scale == "auto" }

// scalings are those that they choose from, that of the data first.
func (f *surveyed) scalings() []string {
	usual, _ := pipeline.ChooseScale(scaleKernel, f.sum)
	return []string{usual, "quantile"}
}
