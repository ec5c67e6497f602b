package train

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/metric"
	"mercer/pipeline"
)

// Config says how to train a model. The zero value is a good start: the data settle the rest,
// and the model's Report says what was chosen.
type Config struct {
	// Task is "auto" (or ""), "classify", "regress", "multilabel" or "outliers".
	Task string `json:"task,omitempty"`

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

	// Shrinkage s of the learner lda, and of the discriminants of Reduce, makes the covariance Σ within classes
	// (1-s)Σ + s·tr(Σ)/D·I. 0 means moments.OracleShrinkage unless ShrinkageGiven is set.
	Shrinkage      float64 `json:"shrinkage,omitempty"`
	ShrinkageGiven bool    `json:"shrinkage_given,omitempty"`

	// Priors of the learner lda are the probabilities of classes before a row is seen: "" means their shares of the rows,
	// "equal" the same for all, "LABEL=NUMBER,…" one for each, with a sum of 1.
	Priors string `json:"priors,omitempty"`

	// Learner is "auto" (or "") or one of Learners. Automatic is rfm for classes or numbers if nothing but
	// Task, Scale, ClassWeight, Calibrate, CalibrateFolds, Threshold and Seed is set and the data are a table of numbers:
	// 1,000 rows or more, not sparse, with 256 dimensions or as many more as there is time for, at most 100 outputs, and within
	// Options.Memory if that is set. Otherwise it is svm for classes if the features fit into 2 GiB (4·n·D
	// bytes) or take less than the statistics of ridge (24·D²), else ridge. The learner of a model is in
	// model.Training.
	Learner string `json:"learner,omitempty"`

	// Lambda is the ridge's λ in ‖y - Zw - b‖² + λ‖w‖²; 0 means that LambdaBy chooses it, one of
	// learn.LambdaBy ("" means "auto"). To get λ = 0 itself, set LambdaBy to "given".
	// The lasso and its kin minimise ‖y - Zw - b‖²/(2n) + λ(…), and choose λ on a held-out tenth
	// of the rows. For the online learner it is the λ of learn.Online; 0 means 10⁻⁵. For rfm it is λ for as
	// many rows as there are; 0 means that held-out rows of each leaf choose.
	Lambda   float64 `json:"lambda,omitempty"`
	LambdaBy string  `json:"lambda_by,omitempty"`

	// Path asks the ridge to report every λ of its path, with LambdaBy "auto" also the
	// leave-one-out errors.
	Path bool `json:"path,omitempty"`

	// Variance asks a ridge regression for the standard deviations of its predictions, which make the
	// model larger by 4·D² bytes (Model.Deviations).
	Variance bool `json:"variance,omitempty"`

	// Conformal asks a ridge regression for prediction intervals that contain the truth with this
	// probability (Model.Intervals); a tenth of the rows is held back for calibration.
	Conformal float64 `json:"conformal,omitempty"`

	// L1Ratio is α of the elastic net, whose penalty is λ(α‖w‖₁ + (1-α)/2·‖w‖²); 0 means 0.5.
	L1Ratio float64 `json:"l1_ratio,omitempty"`

	// C weighs the losses of svm, svr and logistic against the penalty, ½‖w‖² or ‖w‖₁; 0 means
	// that held-out rows choose it. For the online learner it gives λ = 1/(C·n) in place of Lambda,
	// with the n rows of the survey.
	C float64 `json:"c,omitempty"`

	// Loss is one of the learner's losses; "" means its default. The SVM's are "squared_hinge" and
	// "hinge", those of the online learner learn.OnlineLosses.
	Loss string `json:"loss,omitempty"`

	// Multiclass says how to handle more than two classes. svm: "ovr" (or ""), each class against
	// the rest, or "crammer-singer", all at once with the hinge loss. logistic: "multinomial" (or ""), all in
	// one problem, or "ovr", the default with l1. kernel-svm: "ovo" (or ""), a machine for each
	// pair of classes, which vote, or "ovr".
	Multiclass string `json:"multiclass,omitempty"`

	// Penalty is "l2" (or "") or "l1", which leaves most weights at 0.
	Penalty string `json:"penalty,omitempty"`

	// Solver is "auto" (or ""), "dual" or "primal".
	Solver string `json:"solver,omitempty"`

	// Outliers is ν of the learner one-class, the largest share of rows that it may leave outside; 0
	// means 0.1.
	Outliers float64 `json:"outliers,omitempty"`

	// SVMNu is ν in (0, 1] of kernel-svm. It replaces C for classification and Epsilon for
	// regression. At least this share of the rows are support vectors, and at most this share lie within
	// the margin or outside the tube. 0 means C and Epsilon.
	SVMNu float64 `json:"svm_nu,omitempty"`

	// ClassWeight multiplies the weights of rows by class: "balanced" means n/(K·n_k) for the
	// n_k rows of class k of K; "LABEL=WEIGHT,…" sets some and leaves the others at 1; "" means 1.
	ClassWeight string `json:"class_weight,omitempty"`

	// Optimizer of the online learner is "sgd" (or "") or "adagrad". Rate is its η₀; 0 means that the
	// first thousand rows choose it. Epochs is the number of passes over the rows; 0
	// means one.
	Optimizer string  `json:"optimizer,omitempty"`
	Rate      float64 `json:"rate,omitempty"`
	Epochs    int     `json:"epochs,omitempty"`

	// AverageFrom is the row from which the online learner averages its weights, all steps
	// equally; 0 means averages that forget, a negative number none.
	AverageFrom int `json:"average_from,omitempty"`

	// Quantile in (0, 1) and Huber are the parameters of the losses of these names; 0 means
	// learn.Online's.
	Quantile float64 `json:"quantile,omitempty"`
	Huber    float64 `json:"huber,omitempty"`

	// Epsilon is half the width of the tube within which svr, kernel-svm and the loss epsilon of
	// online count no error. 0 means 0, except for kernel-svm, where it means 0.1 unless
	// EpsilonGiven is set.
	Epsilon      float64 `json:"epsilon,omitempty"`
	EpsilonGiven bool    `json:"epsilon_given,omitempty"`

	// SurveyRows is the number of rows that are surveyed before the online learner begins, to choose
	// the task, the classes, the scaling and the map; 0 means all.
	SurveyRows int `json:"survey_rows,omitempty"`

	// Calibrate says how scores of classes become probabilities.
	Calibrate Calibration

	// Threshold divides two classes: a probability such as "0.3", "score=NUMBER", or "max-f1", "precision=SHARE", "recall=SHARE" or
	// "cost=fn:NUMBER,fp:NUMBER", which rows that the learner has not seen choose (learn.ThresholdRule): those that it held out itself
	// (rfm), or those of folds, as for Calibrate. A probability asks for Calibrate "platt" if neither it nor the learner gives
	// probabilities. "" is the larger probability, or the sign of the score.
	Threshold string `json:"threshold,omitempty"`

	// Tolerance is the stopping tolerance of svm, svr and one-class, the largest violation of
	// the optimality conditions; 0 means to stop at a duality gap of a thousandth.
	Tolerance float64 `json:"tolerance,omitempty"`

	// MaxIter bounds the passes of svm, svr and one-class over the rows; 0 means the learner's
	// default.
	MaxIter int `json:"max_iter,omitempty"`

	// Product says how kernel-ridge multiplies by the Gram matrix: "exact" (or "") factorises
	// it; "threshold", "tree" and "gauss" iterate with approximate products.
	Product string `json:"product,omitempty"`

	// Accuracy bounds the error of an element of the Gram matrix in these; 0 means 10⁻⁴.
	Accuracy float64 `json:"accuracy,omitempty"`

	// Lookup is the number of bins of the tables from which a machine of the intersection kernel
	// predicts; 0 means exact predictions by bisection.
	Lookup int `json:"lookup,omitempty"`

	// LookupForm is what a table holds: "linear" (or ""), the ends of a line in each cell, or "constant", the value at its middle.
	LookupForm string `json:"lookup_form,omitempty"`

	// Subsample keeps so many terms of the expansion of a machine of the kernel itself, drawn at random, with weights that make its scores
	// unbiased; 0 means all.
	Subsample int `json:"subsample,omitempty"`

	// Quick leaves out the learner rfm where the data choose the learner, which takes less time.
	Quick bool `json:"quick,omitempty"`

	// Leaf bounds the rows of a leaf of the learner rfm, and Members the machines that are averaged in it; 0
	// means rfm.Options's. Either makes "auto" mean rfm, as TargetMeans does.
	Leaf    int `json:"leaf,omitempty"`
	Members int `json:"members,omitempty"`

	// TargetMeans says which columns the learner rfm gives the mean targets of their values: "none", "categories", "all"
	// for whole numbers that repeat as well, or "auto" (or "") for what held-out rows ask for. Means of the
	// training's own rows come from other rows.
	TargetMeans string `json:"target_means,omitempty"`

	// Seed chooses the random streams; 0 means 1.
	Seed uint64 `json:"seed,omitempty"`
}

// Kernel is a kernel with its parameters.
type Kernel struct {
	// Name is one of kernel.Names; "" means "rbf", or "linear" for the rows of bags. Linear takes no map
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
	names := Learners()
	if err := set("task", &c.Task, "auto", "auto", "classify", "regress", "multilabel", "outliers"); err != nil {
		return c, err
	}
	if set("learner", &c.Learner, "auto", append([]string{"auto"}, names...)...) != nil {
		return c, unknownLearner(c.Learner)
	}
	if err := set("target_means", &c.TargetMeans, "auto", "auto", "none", "categories", "all"); err != nil {
		return c, err
	}
	if err := set("metric", &c.Metric.Form, "none", append([]string{"none"}, metric.Forms...)...); err != nil {
		return c, err
	}
	if c.Metric.Form == "none" {
		c.Metric.Form = ""
	}
	if err := set("reduce", &c.Reduce.Method, "pca", "pca", "lda"); err != nil {
		return c, err
	}
	if c.Reduce.Method == "pca" {
		c.Reduce.Method = ""
	}
	if err := c.checkDiscriminants(); err != nil {
		return c, err
	}
	for _, word := range []*string{&c.Loss, &c.Multiclass, &c.Penalty, &c.Solver, &c.LambdaBy, &c.Optimizer, &c.Calibrate.Method, &c.Product} {
		*word = strings.ToLower(*word)
	}
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
	if c.machine() {
		if c.Map.Name != "" {
			return c, c.errMap()
		}
		options := c.Map.Options
		options.Landmarks = "" // falkon has them
		if !reflect.DeepEqual(options, feature.Options{}) {
			return c, fmt.Errorf("the learner %s takes the kernel itself; leave out the options of maps", c.Learner)
		}
	}
	if c.Lambda < 0 || math.IsNaN(c.Lambda) || math.IsInf(c.Lambda, 0) {
		return c, fmt.Errorf("lambda %g is not a positive number", c.Lambda)
	}
	if c.L1Ratio < 0 || c.L1Ratio > 1 || math.IsNaN(c.L1Ratio) {
		return c, fmt.Errorf("l1_ratio %g is not a number above 0 and up to 1", c.L1Ratio)
	}
	if err := c.checkLambda(); err != nil {
		return c, err
	}
	if c.C < 0 || math.IsNaN(c.C) || math.IsInf(c.C, 0) {
		return c, fmt.Errorf("c %g is not a positive number", c.C)
	}
	if c.Tolerance < 0 || math.IsNaN(c.Tolerance) || math.IsInf(c.Tolerance, 0) {
		return c, fmt.Errorf("tolerance %g is not a positive number", c.Tolerance)
	}
	if c.MaxIter < 0 {
		return c, fmt.Errorf("max_iter %d is not a positive number", c.MaxIter)
	}
	if err := c.checkOnline(); err != nil {
		return c, err
	}
	if err := c.checkCalibrate(); err != nil {
		return c, err
	}
	if err := c.checkThreshold(); err != nil {
		return c, err
	}
	if c.Task == "outliers" && c.Learner == "auto" {
		c.Learner = oneClassLearner.name
	}
	if err := c.checkLearner(); err != nil {
		return c, err
	}
	if err := c.checkReduction(); err != nil {
		return c, err
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Bag != nil {
		return c, c.Bag.Check()
	}
	return c, nil
}

func (c *Config) errMap() error {
	return fmt.Errorf("the learner %s takes the kernel itself; leave out the map %s, or choose another learner", c.Learner, c.Map.Name)
}

// Check reports what is wrong with the configuration itself, whatever the data.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// machine says that the learner takes the kernel itself, without a map.
func (c *Config) machine() bool {
	l := LearnerOf(c.Learner)
	return l != nil && l.exact
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
		return &pipeline.Config{Scale: c.Scale, Kernel: kernel.Linear.Usual(), Map: c.Map.Name, Options: c.Map.Options, Steps: c.Map.Steps, Given: c.Map.Given, Seed: c.Seed}
	}
	return &pipeline.Config{
		Scale: c.Scale, Gamma: c.Kernel.Gamma, Sigma: c.Kernel.Sigma, Exact: c.machine(),
		Kernel: kernel.Kernel{Name: strings.ToLower(c.Kernel.Name), Degree: c.Kernel.Degree, Coef0: c.Kernel.Coef0, Nu: c.Kernel.Nu, Homogeneity: c.Kernel.Homogeneity},
		Map:    c.Map.Name, Options: c.Map.Options, Features: c.Map.Features, Steps: c.Map.Steps, Weights: c.Map.Weights,
		Given: c.Map.Given, GivenFile: c.Map.GivenFile, Seed: c.Seed,
	}
}

// Pipeline returns the part of the configuration that concerns the steps before the learner, with
// defaults filled in.
func (c Config) Pipeline() (pipeline.Config, error) {
	return c.pipeline().WithDefaults(kernel.RBF.Name())
}

// text is the configuration as stored in a model.
func (c *Config) text() (json.RawMessage, error) { return json.Marshal(c) }
