package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/solve/moments"
	"mercer/kernel"
	"mercer/model"
)

// Traits are what a learner is like. Each learner has its own file with its options, and a row in the table
// of learners. Code that compares trainings or predicts their cost asks the methods and does not test the name. Nil
// stands for the name "auto": its methods return zero values.
type Traits struct {
	name string

	// tasks are those that it supports: "classify", "regress", "multilabel", "outliers", "cluster".
	tasks []string

	// options is the type of its options.
	options Learner

	// help is that of its options, by their names in JSON, except for those that another learner has as well and explains.
	help map[string]*option.Phrase

	// uses are settings of a configuration that it has and others of its kind lack: those of maps for a learner of the kernel itself.
	uses []string

	// implied are those of its options that ask for it, where no learner is named.
	implied []string

	// check, if not nil, checks the learner's options and fills in those that are not given.
	check func(c *Config) error

	// exact says that it uses the kernel itself instead of a map, so that its time grows like n² or faster.
	exact bool

	// own says that it chooses kernels and metrics itself, so that the pipeline only scales.
	own bool

	// orders says that distances in the kernel's feature space are all it takes of the kernel, and a factor of them changes nothing.
	orders bool

	// keeps, if not nil, returns the number of rows that a model keeps, from its report; if it is nil, a learner of the
	// kernel itself may keep all.
	keeps func(r model.Report) int

	// likely, if not nil, says whether its scores are those of a logistic regression, and if so whether of all
	// classes in one problem.
	likely func(c *Config) (joint bool)

	// squares says that its scores are fitted to targets ±1 by squared error, and so are estimates of 2P - 1.
	squares bool

	// sharing is what its trainings on the same features have in common.
	sharing sharing

	// tried says whether and how it is tried when no learner is named.
	tried tried

	// online says that it learns row by row and goes on from a model, so that it must see the features, not their principal components.
	online bool

	// sparse says that its penalty is a norm, which leaves few weights nonzero, and no square.
	sparse bool

	// parts, if not nil, says of how many parts of the rows it takes statistics: it trains on the moments of features, from
	// which those of the principal components follow, by a solver that is made before they are collected. All others see rows of components.
	parts  func(f *job) int
	solver func(f *job) (solver, error)

	// kept says that its statistics may be kept and added to (Statistics).
	kept bool

	// resolve, if not nil, fills in options that follow from the survey.
	resolve func(f *job, c *Config)

	// linearFrom, if not nil, is the number of rows from which the time grows with the rows alone.
	linearFrom func(f *job) int

	// passes, if not nil, trains by passes over rows in pieces, whose sums are added.
	passes func(f *job, ctx context.Context) (passes, error)

	// shared, if not nil, says by which loss these are the passes of learn.SharedPrimal, "" if by none.
	shared func(c *Config) (loss string)

	// apart says that it has leaves that a training in pieces grows apart (Sharded.Grow).
	apart bool

	// inPieces, if not nil, says what a configuration lacks for a training in pieces.
	inPieces func(c *Config) error

	// sample, if not nil, is the number of rows that it wants of the survey's sample for a training in pieces.
	sample func(c *Config) int

	// sharded, if not nil, sets what a training in pieces takes.
	sharded func(c *Config)

	// memory returns the number of bytes that the training holds besides the map, and the formula in words.
	memory func(f *job) (bytes float64, formula string)

	// primal, if not nil, says whether a solver of the primal goes over the rows.
	primal func(c *Config) bool

	// newton, if not nil, says whether Newton steps may follow its passes (learn.SVM.MaxIter).
	newton func(c *Config) bool

	// fewer, if not nil, says how to make it use less memory, in place of the general advice.
	fewer *option.Phrase

	// fix, if not nil, fixes in a configuration what a training chose, such as λ, so that trainings
	// on parts of its rows choose nothing.
	fix func(c *Config, r model.Report)

	// train trains on all rows; nil for a learner of statistics.
	train func(f *job) (*solution, error)
}

// solver trains on statistics of all rows, by parts.
type solver func(parts []*moments.Stats) (*solution, error)

var table []Traits

func init() { // not a value of table: learners look others up
	table = []Traits{
		ridgeLearner, lassoLearner, elasticNetLearner, groupLassoLearner,
		ldaLearner, svmLearner, svrLearner, logisticLearner, oneClassLearner, residualLearner, kmeansLearner, onlineLearner,
		kernelRidgeLearner, falkonLearner, kernelSVMLearner, knnLearner, rfmLearner,
	}
}

// statisticsLearners are the names of those whose statistics can be kept (Statistics).
func statisticsLearners() (names []string) {
	for _, l := range learners() {
		if l.kept {
			names = append(names, l.name)
		}
	}
	return names
}

// learners are all learners.
func learners() []Traits { return table }

// Learners returns the names of all learners.
func Learners() (names []string) {
	for _, l := range learners() {
		names = append(names, l.name)
	}
	return names
}

// LearnerOf finds a learner by its name, nil if there is none.
func LearnerOf(name string) *Traits {
	all := learners()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// Name is the name of the learner in Config.Learner.
func (l *Traits) Name() string {
	if l == nil {
		return ""
	}
	return l.name
}

// Exact says that it uses the kernel itself instead of a map: its time grows like n² or faster, and
// it has no number of features unless HasMapOption says so.
func (l *Traits) Exact() bool { return l != nil && l.exact }

// Online says that it learns row by row, from a stream if need be, and goes on from a model.
func (l *Traits) Online() bool { return l != nil && l.online }

// Sparse says that its penalty is a norm of the weights, of which few are nonzero, so that there is no model without one.
func (l *Traits) Sparse() bool { return l != nil && l.sparse }

// ChoosesKernels says that it chooses kernels, their widths and a scaling by held-out rows itself, so that a search has none to try.
func (l *Traits) ChoosesKernels() bool { return l != nil && l.own }

// Uses says whether its models depend on a parameter of a kernel, so that a search has something to try.
func (l *Traits) Uses(name, parameter string) bool {
	switch {
	case l.ChoosesKernels() && parameter == "gamma":
		return false
	case l != nil && l.orders:
		return kernel.OrdersBy(name, parameter)
	}
	return kernel.Has(name, parameter)
}

// Has says whether the learner has an option, by its JSON name, among those that only some learners
// have; common says that all learners have it.
func (l *Traits) Has(option string) (has, common bool) {
	if s := settingOf(option); option != shrinkage && (s == nil || !s.option) {
		return true, true
	}
	return l != nil && l.has(option), false
}

func (l *Traits) has(option string) bool {
	return slices.Contains(l.uses, option) ||
		slices.ContainsFunc(optionsIn(reflect.TypeOf(l.options)), func(s Setting) bool { return s.Name == option })
}

// HasMapOption says whether its configuration may have an option of maps, such as features: a learner of the
// kernel itself has few of them, or none.
func (l *Traits) HasMapOption(option string) bool {
	return !l.Exact() || slices.Contains(l.uses, option)
}

// Likely says whether the scores of a training of c are those of a logistic regression, and if so
// whether of all classes in one problem.
func (l *Traits) Likely(c *Config) (likely, joint bool) {
	if l == nil || l.likely == nil {
		return false, false
	}
	return true, l.likely(c)
}

// SizeOn is the Size of a model that c trains on the given number of rows, 0 if it depends on the data.
func (l *Traits) SizeOn(c *Config, rows int) int {
	if l.Exact() && l.keeps == nil {
		return rows
	}
	return cmp.Or(c.Reduce.Components, c.Map.Features)
}

// Size is the number of values per row that a model's learner sees: features, or their principal components; for
// a learner of the kernel itself, the number of rows that it may keep.
func Size(m *model.Model) int {
	t := &m.Info().Training
	l := LearnerOf(t.Learner)
	switch {
	case l != nil && l.keeps != nil && t.Report != nil:
		return l.keeps(t.Report)
	case l.Exact():
		return t.Rows
	}
	_, d := m.Pipeline().Dims()
	return d
}

// given is the end of the names of options that say that another is given as 0.
const given = "_given"

// lacks returns the first given option that the learner does not have, "" if there is none.
func (l *Traits) lacks(c *Config) string {
	options := optionsOf(c.Learner)
	if options == nil {
		options = map[string]any{}
	}
	if c.Shrinkage != (Shrinkage{}) && !c.discriminates() { // of discriminants before any learner
		options[shrinkage] = c.Shrinkage
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		name = strings.TrimSuffix(name, given)
		if s := settingOf(name); !l.has(name) && (s == nil || s.usual == "" || options[name] != s.usual) {
			return name
		}
	}
	return ""
}

// haveOption returns the learners that have an option.
func haveOption(option string) (have []string) {
	for _, l := range learners() {
		if l.has(option) {
			have = append(have, l.name)
		}
	}
	return have
}

// checkLearner rejects an option that the learner does not have, or a value that it does not support.
func (c *Config) checkLearner() error {
	if c.automatic() {
		return c.checkAutomatic()
	}
	l := c.Traits()
	if l.exact {
		if err := c.checkExact(l); err != nil {
			return err
		}
	}
	if c.Task != "auto" && !slices.Contains(l.tasks, c.Task) {
		if c.Task == "outliers" {
			return fmt.Errorf("the learner %s does not detect outliers; use %s or %s", l.name, oneClassLearner.name, kernelSVMLearner.name)
		}
		return fmt.Errorf("the learner %s cannot %s; it can %s", l.name, c.Task, strings.Join(l.tasks, ", "))
	}
	if l.check != nil {
		return l.check(c)
	}
	return nil
}

// checked is the check of a learner by that of its options.
func checked[T Learner](check func(o *T, c *Config) error) func(c *Config) error {
	return func(c *Config) error {
		o := c.Learner.(T)
		err := check(&o, c)
		c.Learner = o
		return err
	}
}

// checkExact rejects options of maps for a learner of the kernel itself.
func (c *Config) checkExact(l *Traits) error {
	switch {
	case c.Map.Features != 0 && !slices.Contains(l.uses, "features"):
		return fmt.Errorf("the learner %s takes the kernel itself, not features of it; leave out features, or use falkon, "+
			"where it is the number of landmarks", l.name)
	case c.Map.Landmarks != "" && !slices.Contains(l.uses, "landmarks"):
		return fmt.Errorf("the learner %s has no landmarks; falkon has", l.name)
	case (c.Map.Landmarks == "given") != (c.Map.Given != nil):
		return fmt.Errorf("the landmarks of %s are to be given, but there are none", l.name)
	case c.Map.Given != nil && c.Map.Features > 0 && c.Map.Given.Rows > c.Map.Features:
		return fmt.Errorf("%d landmarks are given, but features is %d; give the same number, or leave out features", c.Map.Given.Rows,
			c.Map.Features)
	case c.Map.Landmarks != "" && !slices.Contains(feature.LandmarkChoices(), c.Map.Landmarks):
		return fmt.Errorf("landmarks %q is not known; known are %s", c.Map.Landmarks, strings.Join(feature.LandmarkChoices(), ", "))
	}
	return c.checkPrediction()
}
