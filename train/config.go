package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/solve/metric"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

// Config says how to train a model. The zero value is a good start: the data settle the rest,
// and the model's Report says what was chosen.
type Config struct {
	// Task is "auto" (or ""), "classify", "regress", "multilabel" or "outliers".
	Task string `json:"task,omitempty" search:"no"`

	// Bag says how bags become rows, for FitBags; nil for a model of rows. All other fields concern
	// these rows, whose kernel is linear by default.
	Bag *pipeline.BagConfig `json:"bag,omitempty"`

	// Scale is "auto" (or "") or one of dataset.Scalings.
	Scale string `json:"scale,omitempty"`

	// Metric is the distance of the scaled rows.
	Metric Metric

	// Kernel is the kernel of the features, or of the learner itself.
	Kernel Kernel

	// Map is the map that approximates the kernel.
	Map Map

	// Reduce is what the learner sees in place of the features.
	Reduce Reduction

	// Shrinkage is that of the learner LDA, and of discriminants in place of principal components.
	Shrinkage Shrinkage

	// Learner is the learner with its options; nil is automatic. That is rfm for classes or numbers if nothing but
	// Task, Scale, ClassWeight, Calibrate, Threshold and Seed is set and the data are a table of numbers:
	// 50 rows or more, not sparse, with 256 dimensions or as many more as there is time for, at most 100 outputs, and within
	// Options.Memory if that is set. Otherwise it is svm for classes if the features fit into 2 GiB (4·n·D
	// bytes) or take less than the statistics of ridge (24·D²), else ridge. The learner of a model is in
	// model.Training.
	Learner Learner

	// ClassWeight multiplies the weights of rows by class: "balanced" means n/(K·n_k) for the
	// n_k rows of class k of K; "LABEL=WEIGHT,…" sets some and leaves the others at 1; "" means 1.
	ClassWeight string `json:"class_weight,omitempty"`

	// Calibrate says how scores of classes become probabilities.
	Calibrate Calibration

	// Threshold divides two classes: a probability such as "0.3", "score=NUMBER", or "max-f1", "precision=SHARE", "recall=SHARE" or
	// "cost=fn:NUMBER,fp:NUMBER", which rows that the learner has not seen choose (learn.ThresholdRule): those that it held out itself
	// (rfm), or those of folds, as for Calibrate. A probability asks for Calibrate "platt" if neither it nor the learner gives
	// probabilities. "" is the larger probability, or the sign of the score.
	Threshold string `json:"threshold,omitempty" search:"no"`

	// Quick leaves out the learner rfm where the data choose the learner, which takes less time.
	Quick bool `json:"quick,omitempty"`

	// Seed chooses the random streams; 0 means 1.
	Seed uint64 `json:"seed,omitempty"`
}

// Kernel is a kernel with its parameters.
type Kernel struct {
	// Name is one of kernel.Names, or "precomputed" for rows that are kernel values; "" means "rbf", or "linear" for the rows of bags. Linear takes no map
	// unless one is named. For the learner rfm, "" means those of rfm.Kinds, of which held-out rows choose.
	Name string `json:"kernel,omitempty"`

	// Gamma is a number, "median" (or "") or "scale", or one of these times a number, such as
	// "median*4". Median is kernel.MedianGamma, by which rbf has γ = 1/median‖x-y‖² over random
	// pairs of rows; scale is kernel.ScaleGamma, γ = 1/(d·Var X) as in scikit-learn. The learner rfm
	// always chooses γ itself.
	Gamma string `json:"gamma,omitempty"`

	// Degree is that of the poly kernel, 0 meaning 3, or the order of arccos, 0 or 1.
	Degree int `json:"degree,omitempty"`

	// Coef0 is c ≥ 0 of the poly kernel and c > 0 of the skewed ones.
	Coef0 float64 `json:"coef0,omitempty"`

	// Nu is ν of the matern kernel; 0 means 1.5.
	Nu float64 `json:"nu,omitempty"`

	// Homogeneity is the degree of homogeneity h of the additive kernels of histograms; 0 means 1.
	Homogeneity float64 `json:"homogeneity,omitempty"`

	// Sigma gives γ = 1/(2σ²) in place of Gamma; 0 means not given.
	Sigma float64 `json:"sigma,omitempty"`
}

// Help says what a setting of kernels is, by its name in JSON.
func (Kernel) Help(setting string) string {
	switch setting {
	case "kernel":
		return "kernel: " + strings.Join(kernel.Names(), ", ") + "; or precomputed, of rows of kernel values with training rows"
	case "gamma":
		return kernel.ParameterHelp(setting) + ": a number, median or scale, or one of these times a number, such as median*4"
	case "sigma":
		var of []string
		for _, kind := range kernel.Kinds() {
			if _, ok := kind.Usual().LengthScale(); ok {
				of = append(of, kind.Name())
			}
		}
		return "σ in place of γ = 1/(2σ²); the length scale of " + strings.Join(of, ", ")
	}
	return kernel.ParameterHelp(setting)
}

// Map is a feature map with its options.
type Map struct {
	// Name is one of feature.Names; "" means one that suits the kernel and the number of
	// dimensions.
	Name string `json:"map,omitempty"`

	// Options are the settings of the map.
	feature.Options

	// Steps are the maps of a chain or a sum, and Weights those of the sum. A step without a
	// kernel takes the one above, or the linear kernel if its map supports no other. The γ of a step
	// that has none is found by Gamma from the rows that reach it.
	Steps   []feature.Config `json:"steps,omitempty"`
	Weights []float64        `json:"weights,omitempty"`

	// Groups makes a sum of such maps, one for each group of columns, which share the features, each with a scaling and a γ of
	// its own: "auto" by the prefixes of names, or lists of columns, separated by semicolons.
	Groups string `json:"group_kernels,omitempty"`

	// GroupWeights chooses the weights of a sum by the labels: "alignment" of the kernels' weighted sum with them, or "search",
	// by the error of ridge regression on held-out rows. "" leaves them as they are.
	GroupWeights string `json:"group_weights,omitempty"`

	// Given are the landmarks of a map whose option Landmarks is given: rows of the data,
	// not yet scaled.
	Given *matrix.Dense `json:"-"`

	// GivenFile is the file that Given was read from, for messages; "" if there is none.
	GivenFile string `json:"-"`

	// Features is D, the number of features or landmarks; 0 means 4096 (1024 landmarks), or
	// fewer if there are few rows. For the learner rfm it bounds the landmarks of each machine; 0 means rfm.Options's.
	Features int `json:"features,omitempty"`
}

// withDefaults fills in the defaults of zero values and checks the rest. Settings that depend on the
// data stay as they are.
func (c Config) withDefaults() (Config, error) {
	set := func(name string, v *string, def string, known ...string) error {
		if *v == "" {
			*v = def
		}
		if *v = strings.ToLower(*v); !slices.Contains(known, *v) {
			return fmt.Errorf("%s %q is not known; known are %s", name, *v, strings.Join(known, ", "))
		}
		return nil
	}
	c = c.Implied()
	if err := c.settlePrecomputed(); err != nil {
		return c, err
	}
	if err := set("task", &c.Task, "auto", "auto", "classify", "regress", "multilabel", "outliers"); err != nil {
		return c, err
	}
	if err := set("metric", &c.Metric.Form, "none", append([]string{"none"}, metric.Forms...)...); err != nil {
		return c, err
	}
	if c.Metric.Form == "none" {
		c.Metric.Form = ""
	}
	if err := set("reduce", &c.Reduce.Method, "pca", "pca", discriminants); err != nil {
		return c, err
	}
	if c.Reduce.Method == "pca" {
		c.Reduce.Method = ""
	}
	if err := c.settleLearner(); err != nil {
		return c, err
	}
	if err := c.checkDiscriminants(); err != nil {
		return c, err
	}
	c.Calibrate.Method = strings.ToLower(c.Calibrate.Method)
	if c.own() && c.Map.Name != "" {
		return c, c.errMap()
	}
	p, err := c.pipeline().WithDefaults(c.usualKernel())
	if err != nil {
		return c, err
	}
	c.Scale, c.Map.Name, c.Map.Options = p.Scale, p.Map, p.Options
	if c.own() {
		if c.Kernel.Name = strings.ToLower(c.Kernel.Name); c.Kernel.Name == "" {
			c = c.withoutKernel()
		}
	} else {
		c.Kernel.Name, c.Kernel.Gamma = p.Kernel.Name, p.Gamma
		c.Kernel.Degree, c.Kernel.Coef0, c.Kernel.Nu, c.Kernel.Homogeneity = p.Kernel.Degree, p.Kernel.Coef0, p.Kernel.Nu, p.Kernel.Homogeneity
	}
	if c.machine() && !c.pipeline().Mapped() {
		if c.Map.Name != "" {
			return c, c.errMap()
		}
		options := c.Map.Options
		options.Landmarks = "" // falkon has them
		if !reflect.DeepEqual(options, feature.Options{}) {
			return c, fmt.Errorf("the learner %s takes the kernel itself; leave out the options of maps", c.LearnerName())
		}
	}
	for _, check := range []func() error{c.checkCalibrate, c.checkThreshold, c.checkLearner, c.checkReduction, c.checkGroups} {
		if err := check(); err != nil {
			return c, err
		}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Bag != nil {
		return c, c.Bag.Check()
	}
	return c, nil
}

// settlePrecomputed takes "precomputed", as a kernel or as a map, for the map of that name, whose rows are not scaled.
func (c *Config) settlePrecomputed() error {
	if !c.Precomputed() {
		return nil
	}
	if l := c.Traits(); c.own() || l.Exact() && len(l.uses) > 0 {
		return option.Errorf("the learner %s computes its kernel; a precomputed one takes others, such as %s, or %s on some of the columns", l.name,
			option.Set("learner", kernelSVMLearner.name), option.Set("learner", ridgeLearner.name))
	}
	switch {
	case c.Scale != "" && c.Scale != "auto" && c.Scale != "none":
		return option.Errorf("values of a precomputed kernel are not scaled; leave out %s", option.Ref("scale"))
	case c.Map.Features != 0:
		return option.Errorf("the features of a precomputed kernel are those of its matrix; leave out %s, or bound them by %s", option.Ref("features"),
			option.Ref("rank"))
	}
	c.Kernel, c.Map.Name, c.Scale = Kernel{Name: kernel.Linear.Name()}, feature.Precomputed, "none"
	return nil
}

func (c *Config) errMap() error {
	return fmt.Errorf("the learner %s takes the kernel itself; leave out the map %s, or choose another learner", c.LearnerName(), c.Map.Name)
}

// Check reports what is wrong with the configuration itself, whatever the data.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// machine says that the learner takes the kernel itself, without a map.
func (c *Config) machine() bool {
	return c.Traits().Exact()
}

// usualKernel is the default kernel.
func (c *Config) usualKernel() string {
	if c.Bag != nil && c.Map.Name == "" {
		return kernel.Linear.Name()
	}
	return kernel.RBF.Name()
}

// KernelName returns the name of the kernel in lower case, the default if the configuration names none.
func (c Config) KernelName() string {
	if c.Kernel.Name == "" {
		return c.usualKernel()
	}
	return strings.ToLower(c.Kernel.Name)
}

// pipeline returns the part of the configuration that concerns the steps before the learner.
func (c *Config) pipeline() *pipeline.Config {
	if c.own() {
		return &pipeline.Config{Scale: c.Scale, Kernel: kernel.Linear.Usual(), Map: c.Map.Name, Options: c.Map.Options,
			Steps: c.Map.Steps, Given: c.Map.Given, Seed: c.Seed}
	}
	return &pipeline.Config{
		Scale: c.Scale, Gamma: c.Kernel.Gamma, Sigma: c.Kernel.Sigma, Exact: c.machine(),
		Kernel: kernel.Kernel{Name: strings.ToLower(c.Kernel.Name), Degree: c.Kernel.Degree, Coef0: c.Kernel.Coef0, Nu: c.Kernel.Nu,
			Homogeneity: c.Kernel.Homogeneity},
		Map: c.Map.Name, Options: c.Map.Options, Features: c.Map.Features, Steps: c.Map.Steps, Weights: c.Map.Weights,
		Groups: c.Map.Groups, Given: c.Map.Given, GivenFile: c.Map.GivenFile, Seed: c.Seed,
	}
}

// Pipeline returns the part of the configuration that concerns the steps before the learner, with
// defaults filled in.
func (c Config) Pipeline() (pipeline.Config, error) {
	return c.pipeline().WithDefaults(kernel.RBF.Name())
}

// ExactPipeline is Pipeline of rows of which the kernel itself is taken, without a map, whatever the learner.
func (c Config) ExactPipeline() (pipeline.Config, error) {
	p := c.pipeline()
	p.Exact, p.Options = true, feature.Options{}
	return p.WithDefaults(kernel.RBF.Name())
}

// Precomputed says that rows are values of a kernel of one's own.
func (c Config) Precomputed() bool {
	return strings.EqualFold(c.Kernel.Name, feature.Precomputed) || strings.EqualFold(c.Map.Name, feature.Precomputed)
}

// Outliers says that it detects outliers, for which rows need no labels.
func (c Config) Outliers() bool {
	l := c.Traits()
	return c.Task == "outliers" || l != nil && slices.Equal(l.tasks, []string{"outliers"})
}
