package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/moments"
	"mercer/model"
)

// LDA are the options of linear discriminant analysis, beside Config.Shrinkage.
type LDA struct {
	// Priors are the probabilities of classes before a row is seen: "" means their shares of the rows,
	// "equal" the same for all, "LABEL=NUMBER,…" one for each, with a sum of 1.
	Priors string `json:"priors,omitempty"`
}

func (LDA) learner() string { return "lda" }

// Shrinkage s makes the covariance Σ within classes (1-s)Σ + s·tr(Σ)/D·I.
type Shrinkage struct {
	// Value is s; 0 means moments.OracleShrinkage unless Given is set.
	Value float64 `json:"shrinkage,omitempty"`
	Given bool    `json:"shrinkage_given,omitempty" search:"no"`
}

// Help says what the shrinkage is, by its name in JSON.
func (Shrinkage) Help(setting string) string {
	return map[string]string{
		shrinkage: "shrinkage of the covariance within classes, of lda, from 0 to 1 (default: the oracle approximating one)",
	}[setting]
}

// shrinkage is its name.
const shrinkage = "shrinkage"

// ldaLearner is linear discriminant analysis: classes that are normal with one covariance; one pass, no memory for rows. Its statistics
// are those of a ridge regression.
var ldaLearner = Traits{
	name:    LDA{}.learner(),
	tasks:   []string{"classify"},
	options: LDA{},
	help: map[string]*option.Phrase{
		"priors": option.Phrasef("probabilities of classes of lda before a row is seen: equal, or LABEL=NUMBER,… with a sum of 1 " +
			"(default: their shares of the rows)"),
	},
	uses:   []string{shrinkage},
	check:  checked((*LDA).check),
	likely: func(*Config) (joint bool) { return true },

	parts:  func(*job) int { return 1 },
	solver: func(f *job) (solver, error) { return f.solveLDA, nil },
	kept:   true,

	memory: func(f *job) (bytes float64, formula string) {
		all, d, k := float64(f.mapDim()), float64(f.learnDim()), float64(f.outputs)
		return 8*all*all + 16*d*d + 12288*all + 40*all*k, "24·D² bytes"
	},
	fix: func(c *Config, r model.Report) {
		c.Shrinkage = Shrinkage{r.(*learn.LDAReport).Shrinkage, true}
	},
}

// discriminants is the way to reduce features (Reduction.Method) to linear discriminants.
const discriminants = "lda"

// discriminates says that linear discriminants are asked for in place of principal components.
func (c *Config) discriminates() bool { return c.Reduce.Discriminates() }

// checkDiscriminants checks the shrinkage.
func (c *Config) checkDiscriminants() error {
	if s := c.Shrinkage.Value; !(s >= 0 && s <= 1) {
		return fmt.Errorf("shrinkage %g is not a number from 0 to 1", s)
	}
	return nil
}

func (o *LDA) check(*Config) error {
	if o.Priors == "" || o.Priors == "equal" {
		return nil
	}
	_, err := o.priors()
	return err
}

// priors are the priors by label, where they are given as LABEL=NUMBER,….
func (o LDA) priors() (map[string]float64, error) {
	priors := map[string]float64{}
	sum := 0.0
	for _, part := range option.List(o.Priors) {
		at := strings.LastIndexByte(part, '=')
		if at < 0 {
			return nil, fmt.Errorf("priors %q: %q is neither equal nor LABEL=NUMBER", o.Priors, part)
		}
		label := strings.TrimSpace(part[:at])
		p, err := strconv.ParseFloat(strings.TrimSpace(part[at+1:]), 64)
		if err != nil || !(p > 0) || math.IsInf(p, 0) {
			return nil, fmt.Errorf("priors %q: %q is not a number above 0", o.Priors, part[at+1:])
		}
		if _, twice := priors[label]; twice {
			return nil, fmt.Errorf("priors %q: the class %q has a prior already", o.Priors, label)
		}
		priors[label] = p
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("priors %q add up to %g; give one to each class, with a sum of 1", o.Priors, sum)
	}
	return priors, nil
}

// priors are those of the classes in their order, nil for their shares.
func (f *problem) priors() ([]float64, error) {
	labels := f.classes.Labels()
	o := f.cfg.Learner.(LDA)
	switch o.Priors {
	case "":
		return nil, nil
	case "equal":
		return slices.Repeat([]float64{1 / float64(len(labels))}, len(labels)), nil
	}
	given, err := o.priors()
	if err != nil {
		return nil, err
	}
	priors := make([]float64, len(labels))
	for label, p := range given {
		k := f.classes.Named(label)
		if k < 0 {
			return nil, fmt.Errorf("priors %q: there is no class %q; there are %s", o.Priors, label, strings.Join(labels, ", "))
		}
		priors[k] = p
	}
	if k := slices.Index(priors, 0); k >= 0 {
		return nil, fmt.Errorf("priors %q: the class %q has none; give one to each class", o.Priors, labels[k])
	}
	return priors, nil
}

// solveLDA makes the predictor from the statistics.
func (f *job) solveLDA(parts []*moments.Stats) (*solution, error) {
	if f.classes == nil {
		return nil, option.Errorf("%s: discriminants are for classes, and the labels are not (%s); use %s", f.src.Name(), f.why["task"],
			option.Set("task", "classify"))
	}
	priors, err := f.priors()
	if err != nil {
		return nil, f.located(err)
	}
	f.progress("solve", 0, -1)
	defer timed(&f.report.Solve)()
	for _, p := range parts[1:] {
		parts[0].Merge(p)
	}
	l, r, err := learn.FitLDA(f.ctx, parts[0], learn.LDA{Shrinkage: f.cfg.Shrinkage.Value, Given: f.cfg.Shrinkage.Given, Priors: priors})
	if err != nil {
		return nil, f.located(err)
	}
	return f.likely(l, r), nil
}

// errDiscriminants is the error where discriminants are asked for and rows have no classes.
var errDiscriminants = errors.New("linear discriminants tell classes apart, but the rows have none; take principal components (reduce pca)")

// classesFor finds the classes of rows whose features are to be reduced to discriminants, where labels play no other part.
func (f *surveyed) classesFor() (a answers, err error) {
	if !f.cfg.discriminates() {
		return a, nil
	}
	if a, err = f.findTask(); err == nil {
		err = f.needClasses(&a)
	}
	return a, err
}

func (f *surveyed) needClasses(a *answers) error {
	if f.cfg.discriminates() && a.classes == nil {
		return f.located(errDiscriminants)
	}
	return nil
}

// statisticsOfClasses are the statistics of all rows with their classes, in a pass of its own.
func (f *job) statisticsOfClasses() (*moments.Stats, error) {
	if err := f.needClasses(&f.answers); err != nil {
		return nil, err
	}
	parts := f.newParts(1)
	if err := f.collect(parts, 0); err != nil {
		return nil, err
	}
	f.progress("reduce", 0, -1)
	return parts[0], nil
}
