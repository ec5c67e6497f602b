package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mercer/dataset"
	"mercer/exact"
	"mercer/feature"
	"mercer/internal/option"
	"mercer/model"
)

// Learner is one way to train, named by Config.Learner. Each has its own file and a row in the table
// of learners. Code that compares trainings or predicts their cost asks its methods and does not test its name. A nil
// Learner, which stands for the name "auto", is valid: its methods return zero values.
type Learner struct {
	name string

	// tasks are those that it supports: "classify", "regress", "multilabel", "outliers".
	tasks []string

	// options are those of its Config options that not all learners have.
	options []string

	// losses are its losses, the default first; nil if there is no choice.
	losses []string

	// check, if not nil, checks the learner's options and fills in those that are not given.
	check func(c *Config) error

	// byTask says that the default loss depends on the task, so that train chooses it.
	byTask bool

	// exact says that it uses the kernel itself instead of a map, so that its time grows like n² or faster.
	exact bool

	// own says that it chooses kernels and metrics itself, so that the pipeline only scales.
	own bool

	// keeps, if not nil, returns the number of rows that a model keeps, from its report; if it is nil, a learner of the
	// kernel itself may keep all.
	keeps func(r model.Report) int

	// likely, if not nil, says whether its scores are those of a logistic regression, and if so whether of all
	// classes in one problem.
	likely func(c *Config) (joint bool)

	// sharing is what its trainings on the same features have in common.
	sharing sharing

	// tried says whether and how it is tried when no learner is named.
	tried tried

	// features says that it must see the features, not their principal components.
	features bool

	// parts, if not nil, says of how many parts of the rows it takes statistics: it trains on the moments of features, from
	// which those of the principal components follow. All others see rows of components.
	parts func(f *fit) int

	// shared, if not nil, says by which loss a configuration is trained by passes whose sums over parts of the rows are added
	// (learn.SharedPrimal), "" if by none.
	shared func(c *Config) (loss string)

	// memory returns the number of bytes that the training holds besides the map, and the formula in words.
	memory func(f *fit, sum *dataset.Summary) (bytes float64, formula string)

	// newton, if not nil, says whether Newton steps may follow its passes (learn.SVM.MaxIter).
	newton func(c *Config) bool

	// fewer, if not nil, says how to make it use less memory, in place of the general advice.
	fewer *option.Phrase

	// fix, if not nil, fixes in a configuration what a training chose, such as λ, so that trainings
	// on parts of its rows choose nothing.
	fix func(c *Config, r model.Report)

	// train sets the model's predictor and its report.
	train func(f *fit, sum *dataset.Summary) error
}

// learners are all learners.
func learners() []Learner {
	return []Learner{
		ridgeLearner, lassoLearner, elasticNetLearner, groupLassoLearner,
		ldaLearner, svmLearner, svrLearner, logisticLearner, oneClassLearner, onlineLearner,
		kernelRidgeLearner, falkonLearner, kernelSVMLearner, rfmLearner,
	}
}

// Learners returns the names of all learners.
func Learners() (names []string) {
	for _, l := range learners() {
		names = append(names, l.name)
	}
	return names
}

// LearnerOf finds a learner by its name, nil if there is none.
func LearnerOf(name string) *Learner {
	for _, l := range learners() {
		if l.name == name {
			return &l
		}
	}
	return nil
}

// Name is the name of the learner in Config.Learner.
func (l *Learner) Name() string {
	if l == nil {
		return ""
	}
	return l.name
}

// Exact says that it uses the kernel itself instead of a map: its time grows like n² or faster, and
// it has no number of features unless HasMapOption says so.
func (l *Learner) Exact() bool { return l != nil && l.exact }

// ChoosesKernels says that it chooses kernels, their widths and a scaling by held-out rows itself, so that a search has none to try.
func (l *Learner) ChoosesKernels() bool { return l != nil && l.own }

// Has says whether the learner has an option, by its JSON name, among those that only some learners
// have; common says that all learners have it.
func (l *Learner) Has(option string) (has, common bool) {
	option = strings.ReplaceAll(option, "_", "-")
	if _, some := new(Config).learnerOptions()[option]; !some {
		return true, true
	}
	return l != nil && (slices.Contains(l.options, option) || option == "class-weight"), false
}

// HasMapOption says whether its configuration may have an option of maps, such as features: a learner of the
// kernel itself has few of them, or none.
func (l *Learner) HasMapOption(option string) bool {
	return !l.Exact() || slices.Contains(l.options, option)
}

// Likely says whether the scores of a training of c are those of a logistic regression, and if so
// whether of all classes in one problem.
func (l *Learner) Likely(c *Config) (likely, joint bool) {
	if l == nil || l.likely == nil {
		return false, false
	}
	return true, l.likely(c)
}

// SizeOn is the Size of a model that c trains on the given number of rows, 0 if it depends on the data.
func (l *Learner) SizeOn(c *Config, rows int) int {
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

// learnerOptions lists the options that only some learners have, and says whether c gives them.
func (c *Config) learnerOptions() map[string]bool {
	return map[string]bool{
		"lambda":       c.Lambda != 0,
		"l1-ratio":     c.L1Ratio != 0,
		"shrinkage":    (c.Shrinkage != 0 || c.ShrinkageGiven) && !c.discriminates(), // of discriminants before any learner
		"priors":       c.Priors != "",
		"lambda-by":    c.LambdaBy != "",
		"path":         c.Path,
		"variance":     c.Variance,
		"conformal":    c.Conformal != 0,
		"c":            c.C != 0,
		"loss":         c.Loss != "",
		"tolerance":    c.Tolerance != 0,
		"max-iter":     c.MaxIter != 0,
		"multiclass":   c.Multiclass != "",
		"penalty":      c.Penalty != "",
		"solver":       c.Solver != "",
		"class-weight": c.ClassWeight != "",
		"optimizer":    c.Optimizer != "",
		"rate":         c.Rate != 0,
		"epochs":       c.Epochs != 0,
		"average-from": c.AverageFrom != 0,
		"quantile":     c.Quantile != 0,
		"epsilon":      c.Epsilon != 0 || c.EpsilonGiven,
		"huber":        c.Huber != 0,
		"survey-rows":  c.SurveyRows != 0,
		"product":      c.Product != "",
		"accuracy":     c.Accuracy != 0,
		"lookup":       c.Lookup != 0,
		"lookup-form":  c.LookupForm != "",
		"subsample":    c.Subsample != 0,
		"outliers":     c.Outliers != 0,
		"svm-nu":       c.SVMNu != 0,
		"leaf":         c.Leaf != 0,
		"members":      c.Members != 0,
		"target-means": c.TargetMeans != "" && c.TargetMeans != "auto",
	}
}

// lacks returns the first given option that the learner does not have, "" if there is none.
func (l *Learner) lacks(c *Config) string {
	missing := ""
	for name, given := range c.learnerOptions() {
		if given && name != "class-weight" && !slices.Contains(l.options, name) && (missing == "" || name < missing) {
			missing = name
		}
	}
	return missing
}

// haveOption returns the learners that have an option.
func haveOption(option string) (have []string) {
	for _, l := range learners() {
		if slices.Contains(l.options, option) {
			have = append(have, l.name)
		}
	}
	return have
}

// checkLearner rejects an option that the learner does not have, or a value that it does not support.
func (c *Config) checkLearner() error {
	if c.Learner == "auto" {
		if c.Loss != "" && !slices.Contains(svmLearner.losses, c.Loss) {
			return fmt.Errorf("loss %q is not known; known are %s, or name another learner", c.Loss, strings.Join(svmLearner.losses, ", "))
		}
		if option := svmLearner.lacks(c); option != "" && ridgeLearner.lacks(c) == option {
			return fmt.Errorf("the option %s belongs to the learner %s; name it", option, strings.Join(haveOption(option), " or "))
		}
		if ridgeLearner.lacks(c) != "" && svmLearner.lacks(c) == "" { // the svm will be chosen
			svm := *c
			svm.Learner = svmLearner.name
			return svm.checkLearner()
		}
		return nil
	}
	l := LearnerOf(c.Learner)
	if l.exact {
		if err := c.checkExact(l); err != nil {
			return err
		}
	}
	if option := l.lacks(c); option != "" {
		return fmt.Errorf("the learner %s has no option %s; it belongs to %s", l.name, option, strings.Join(haveOption(option), ", "))
	}
	if c.Loss != "" && !slices.Contains(l.losses, c.Loss) {
		return fmt.Errorf("the learner %s has no loss %q; it has %s", l.name, c.Loss, strings.Join(l.losses, ", "))
	}
	if c.Task != "auto" && !slices.Contains(l.tasks, c.Task) {
		if c.Task == "outliers" {
			return fmt.Errorf("the learner %s does not detect outliers; use %s or %s", l.name, oneClassLearner.name, kernelSVMLearner.name)
		}
		return fmt.Errorf("the learner %s cannot %s; it can %s", l.name, c.Task, strings.Join(l.tasks, ", "))
	}
	if l.check != nil {
		if err := l.check(c); err != nil {
			return err
		}
	}
	if c.Loss == "" && l.losses != nil && !l.byTask {
		c.Loss = l.losses[0]
	}
	return nil
}

// checkExact rejects options of maps for a learner of the kernel itself.
func (c *Config) checkExact(l *Learner) error {
	switch {
	case c.Map.Features != 0 && !slices.Contains(l.options, "features"):
		return fmt.Errorf("the learner %s takes the kernel itself, not features of it; leave out features, or use falkon, "+
			"where it is the number of landmarks", l.name)
	case c.Map.Landmarks != "" && !slices.Contains(l.options, "landmarks"):
		return fmt.Errorf("the learner %s has no landmarks; falkon has", l.name)
	case (c.Map.Landmarks == "given") != (c.Map.Given != nil):
		return fmt.Errorf("the landmarks of %s are to be given, but there are none", l.name)
	case c.Map.Given != nil && c.Map.Features > 0 && c.Map.Given.Rows > c.Map.Features:
		return fmt.Errorf("%d landmarks are given, but features is %d; give the same number, or leave out features", c.Map.Given.Rows, c.Map.Features)
	case c.Map.Landmarks != "" && !slices.Contains(feature.LandmarkChoices(), c.Map.Landmarks):
		return fmt.Errorf("landmarks %q is not known; known are %s", c.Map.Landmarks, strings.Join(feature.LandmarkChoices(), ", "))
	case c.Lookup != 0 && !exact.LooksUp(c.pipeline().Kernel):
		return fmt.Errorf("lookup is for the intersection kernel, whose machines can be looked up in tables; the kernel is %s", c.Kernel.Name)
	case c.Lookup < 0 || c.Lookup > 1<<20:
		return fmt.Errorf("lookup %d is not a number of bins from 1 to %d", c.Lookup, 1<<20)
	case c.LookupForm != "" && c.LookupForm != "linear" && c.LookupForm != "constant":
		return option.Errorf("%s is not known; known are linear, constant", option.Set("lookup_form", c.LookupForm))
	case c.LookupForm != "" && c.Lookup == 0:
		return option.Errorf("%s is what tables hold, and there are none; give %s as well", option.Ref("lookup_form"), option.Ref("lookup"))
	case c.Subsample < 0:
		return option.Errorf("%s: give 1 or more terms to keep, or none to keep all", option.Set("subsample", fmt.Sprint(c.Subsample)))
	}
	return nil
}
