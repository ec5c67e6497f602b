// Package model puts the pieces together: a model reads rows of numbers, scales them, maps
// them into a kernel's feature space and applies a linear learner there.
//
// A Config says how; Fit turns it and a data set into a Model, which never changes
// afterwards and may be used by any number of goroutines at the same time. A Model is a
// function of data, Config and seed alone: the same bytes for any number of threads and
// any size of batch.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Config says how a model is to be trained. The zero value is a good start: it chooses by
// the data, and the model's Report says what was chosen.
type Config struct {
	// Task is "auto" (or ""), "classify" or "regress".
	Task string `json:"task,omitempty"`

	// Scale is "auto" (or ""), "none", "standard", "minmax", "maxabs", "global", "l1" or "l2".
	Scale string `json:"scale,omitempty"`

	// Kernel is "rbf" (or ""), "laplacian" or "linear"; linear takes no map.
	Kernel string `json:"kernel,omitempty"`

	// Gamma is a number, "median" (or "") or "scale". Median gives rbf γ = 1/median‖x-y‖²
	// and laplacian γ = 1/median‖x-y‖₁ over random pairs of rows; scale gives
	// γ = 1/(d·Var X) as in scikit-learn.
	Gamma string `json:"gamma,omitempty"`

	// Sigma gives γ = 1/(2σ²) in place of Gamma; 0 means not given.
	Sigma float64 `json:"sigma,omitempty"`

	// Map is "orf" (or "") or "rff".
	Map string `json:"map,omitempty"`

	// Form is "pair" (or "") or "phase".
	Form string `json:"form,omitempty"`

	// Features is D, the number of features; 0 means 4096, or fewer where there are few rows.
	Features int `json:"features,omitempty"`

	// Learner is "auto" (or ""), "ridge" or "svm". Automatic is svm for classes whose
	// features fit into 2 GiB (4·n·D bytes), and ridge otherwise.
	Learner string `json:"learner,omitempty"`

	// Lambda is the ridge's λ in ‖y - Zw - b‖² + λ‖w‖²; 0 means that a held-out tenth of
	// the rows chooses it.
	Lambda float64 `json:"lambda,omitempty"`

	// C weighs the SVM's losses against ½‖w‖²; 0 means that held-out rows choose it.
	C float64 `json:"c,omitempty"`

	// Loss is the SVM's: "squared_hinge" (or "") or "hinge".
	Loss string `json:"loss,omitempty"`

	// Tolerance is the SVM's stopping tolerance; 0 means the learner's default.
	Tolerance float64 `json:"tolerance,omitempty"`

	// MaxIter bounds the SVM's passes over the rows; 0 means the learner's default.
	MaxIter int `json:"max_iter,omitempty"`

	// Seed chooses the random streams; 0 means 1.
	Seed uint64 `json:"seed,omitempty"`
}

// withDefaults fills in what the zero values stand for and checks the rest. What only the
// data can tell stays as it is.
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
	for _, err := range []error{
		set("task", &c.Task, "auto", "auto", "classify", "regress"),
		set("scale", &c.Scale, "auto", "auto", "none", "standard", "minmax", "maxabs", "global", "l1", "l2"),
		set("kernel", &c.Kernel, "rbf", Kernels()...),
		set("learner", &c.Learner, "auto", "auto", "ridge", "svm"),
		set("form", &c.Form, "pair", "pair", "phase"),
		set("loss", &c.Loss, "squared_hinge", "squared_hinge", "hinge"),
	} {
		if err != nil {
			return c, err
		}
	}
	if c.Gamma == "" {
		c.Gamma = "median"
	}
	if c.Gamma != "median" && c.Gamma != "scale" {
		g, err := strconv.ParseFloat(c.Gamma, 64)
		if err != nil || !(g > 0) || math.IsInf(g, 0) {
			return c, fmt.Errorf("gamma %q is neither a positive number nor median nor scale", c.Gamma)
		}
	}
	if c.Sigma < 0 || math.IsNaN(c.Sigma) || math.IsInf(c.Sigma, 0) {
		return c, fmt.Errorf("sigma %g is not a positive number", c.Sigma)
	}
	if c.Sigma > 0 && c.Gamma != "median" {
		return c, fmt.Errorf("gamma and sigma are two names for one thing; give one of them")
	}
	if c.Kernel == "linear" {
		if c.Map != "" || c.Features != 0 {
			return c, fmt.Errorf("the linear kernel needs no map; leave out map and features, or choose another kernel")
		}
	} else if c.Map == "" {
		// A laplacian kernel's frequencies cannot be orthogonal: their law is not a
		// direction times a length.
		c.Map = "orf"
		if c.Kernel == "laplacian" {
			c.Map = "rff"
		}
	}
	if c.Map != "" && c.Map != "orf" && c.Map != "rff" {
		return c, fmt.Errorf("map %q is not known; known are orf, rff", c.Map)
	}
	if c.Map == "orf" && c.Kernel == "laplacian" {
		return c, errors.New("map orf is for the rbf kernel; use map rff for laplacian")
	}
	if c.Features < 0 {
		return c, fmt.Errorf("features %d is not a positive number", c.Features)
	}
	if c.Form != "phase" && c.Features%2 != 0 {
		return c, fmt.Errorf("features %d is odd, but a cos and a sin make two; use %d, or form phase", c.Features, c.Features+1)
	}
	if c.Lambda < 0 || math.IsNaN(c.Lambda) || math.IsInf(c.Lambda, 0) {
		return c, fmt.Errorf("lambda %g is not a positive number", c.Lambda)
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
	if c.Seed == 0 {
		c.Seed = 1
	}
	return c, nil
}

// svmBytes is how large features may be that the automatic choice trains an SVM on. It is a
// fixed number so that a model does not depend on the machine.
const svmBytes = 2 << 30

// defaultFeatures is D for n rows when the user names none: 4096 suffices to come near the
// exact kernel on most data; a quarter as many features as rows keeps small problems quick
// and costs them nothing.
func defaultFeatures(n int) int {
	d := 256
	for d < 4096 && d < n/4 {
		d *= 2
	}
	return d
}

// Check says what is wrong with the configuration itself, whatever the data are.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// Kernels are the names of the kernels that a model can be trained with.
func Kernels() []string { return []string{"rbf", "laplacian", "linear"} }
