package auto

import (
	"math"
	"slices"
	"strconv"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/search/trial"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/train"
)

// unset says that a setting leaves the choice to the data.
func unset(word string) bool { return word == "" || word == "auto" }

// candidate is a configuration with the reference value of its γ.
type candidate struct {
	train.Config
	median float64 // γ at the median distance of its kernel and scaling; 0: it has no γ
	factor float64
	d      int // the number of features in the race; 0: that of the heat
}

// withGamma is the candidate with γ at a multiple of that at the median distance.
func (c candidate) withGamma(factor float64) candidate {
	c.factor = factor
	// Four digits are enough, and keep the command line that repeats it short.
	c.Kernel.Gamma = strconv.FormatFloat(c.median*factor, 'g', 4, 64)
	return c
}

// candidateOf makes a candidate of a kernel and a scaling; ok is false if its γ is not known.
func (a *auto) candidateOf(c train.Config) (candidate, bool) {
	if c.Kernel.Gamma == "" {
		c.Kernel.Gamma = "median" // as the command line calls it
	}
	out := candidate{Config: c}
	if !widthOpen(c) || c.Kernel.Gamma != "median" || c.Kernel.Sigma != 0 {
		return out, true
	}
	kind := c.Scale
	if unset(kind) {
		kind, _ = pipeline.ChooseScale(kernel.Kernel{Name: c.Kernel.Name}, a.sample.Summary)
	}
	scaler, err := dataset.NewScaler(kind, a.sample.Summary)
	if err != nil {
		return out, false
	}
	gamma, err := kernel.MedianGamma(scaler.Apply(a.sample.Summary.Sample, &dataset.Workspace{}), max(c.Seed, 1), c.Kernel.Name)
	if err != nil {
		return out, false
	}
	out.median = gamma
	return out.withGamma(1), true
}

// widthOpen says whether the kernel of a configuration has a width worth choosing: γ, and no constant
// added to γ x·y, which weighs the degrees of a polynomial just as γ does.
func widthOpen(c train.Config) bool {
	return kernel.Has(c.Kernel.Name, "gamma") && !kernel.Has(c.Kernel.Name, "coef0")
}

// kernels returns the candidates of the first heat, the simplest first, and the most different ones
// before similar ones in case time runs out.
func (a *auto) kernels() (all []candidate) {
	f, given := a.report.Facts, a.Config
	given.Task = f.Task
	if unset(given.LearnerName()) {
		given.SetLearner(f.learners().First().Name())
		if given.Check() != nil { // the options that are given belong to others
			given.SetLearner(a.Config.LearnerName())
		}
	}
	add := func(set func(c *train.Config), factors ...float64) {
		c := given
		set(&c)
		if given.Kernel.Name != "" && c.Kernel.Name != given.Kernel.Name || given.Map.Name != "" && c.Map.Name != given.Map.Name ||
			!unset(given.Scale) && c.Scale != given.Scale || c.Check() != nil {
			return
		}
		x, ok := a.candidateOf(c)
		switch {
		case !ok:
		case x.median == 0 || len(factors) == 0:
			all = append(all, x)
		default:
			for _, factor := range factors {
				all = append(all, x.withGamma(factor))
			}
		}
	}
	kernelOf := func(kind *kernel.Kind) func(c *train.Config) {
		return func(c *train.Config) { c.Kernel.Name = kind.Name() }
	}
	poly := func(degree int) func(c *train.Config) {
		return func(c *train.Config) {
			c.Kernel.Name, c.Kernel.Degree, c.Kernel.Coef0 = kernel.Poly.Name(), degree, 1
			if monomials(f.Dim, degree) <= 2048 && c.Map.Features == 0 && c.Map.Name == "" {
				c.Map.Name = feature.ExplicitPoly
			}
		}
	}
	if given.Map.Name == "" {
		add(kernelOf(kernel.Linear))
	}
	add(kernelOf(kernel.RBF), 1)
	add(kernelOf(kernel.Laplacian), 1)
	if f.Dim <= 2000 {
		add(poly(2))
	}
	if f.Positive && f.Dim >= 4 {
		// Sums of functions of one dimension each.
		add(kernelOf(kernel.Chi2))
		add(kernelOf(kernel.Intersection))
	}
	if f.Histograms {
		add(kernelOf(kernel.ExpChi2), 1)
	}
	add(kernelOf(kernel.RBF), 0.25, 4)
	add(kernelOf(kernel.Laplacian), 0.25)
	if f.Dim <= 2000 {
		add(poly(3))
	}
	if len(all) == 0 { // a kernel that is none of these
		add(func(c *train.Config) {}, 1, 0.25, 4)
	}
	if len(all) == 0 {
		all = append(all, candidate{Config: given})
	}
	return all
}

// monomials is the number of monomials of at most a degree in d variables.
func monomials(d, degree int) float64 {
	n := 1.0
	for i := range degree {
		n = n * float64(d+i+1) / float64(i+1)
	}
	return n
}

// variations returns the candidates of the second heat: the rivals as they are, and the first of them
// with other γ, scalings and learners.
func (a *auto) variations(rivals []candidate) []candidate {
	best, given, f := rivals[0], a.Config, a.report.Facts
	all := slices.Clone(rivals)
	add := func(c candidate) {
		same := func(o candidate) bool { return trial.Describe(o.Config) == trial.Describe(c.Config) }
		if c.Check() == nil && !slices.ContainsFunc(all, same) {
			all = append(all, c)
		}
	}
	if best.median > 0 {
		factors := []float64{0.5, 2}
		if best.factor > 1 {
			factors = append(factors, 4)
		} else if best.factor < 1 {
			factors = append(factors, 0.25)
		}
		for _, factor := range factors {
			add(best.withGamma(best.factor * factor))
		}
	}
	var mapped, exact []train.Config
	if unset(given.LearnerName()) {
		mapped, exact = f.learners().Variants(best.Config)
	}
	like := func(configs []train.Config) {
		for _, c := range configs {
			other := best
			other.Config = c
			add(other)
		}
	}
	like(mapped)
	if unset(given.Scale) && unset(best.Scale) && !f.Histograms && !additive(best.Config) {
		for _, kind := range []string{"standard", "minmax", "none"} {
			chosen, _ := pipeline.ChooseScale(kernel.Kernel{Name: best.Kernel.Name, Degree: best.Kernel.Degree}, a.sample.Summary)
			if kind == chosen || kind == "none" && (chosen == "global" || !a.alike()) { // global differs from none only in the unit
				continue
			}
			c := best.Config
			c.Scale = kind
			if best.median > 0 {
				c.Kernel.Gamma = ""
			}
			if x, ok := a.candidateOf(c); ok {
				if best.median > 0 {
					x = x.withGamma(best.factor)
				}
				add(x)
			}
		}
	}
	if given.Map.Features == 0 && given.Map.Name == "" {
		like(exact)
	}
	return all
}

// learners describes the data for the choice of learners.
func (f *Facts) learners() train.Data {
	return train.Data{Task: f.Task, Rows: f.Rows, Classes: f.Classes, Dim: f.Dim, Sparse: f.sparse, Density: f.Density,
		Numbers: f.numbers, Filled: f.filled}
}

// alike says whether dimensions have standard deviations of about the same size, so that scaling may be left
// out.
func (a *auto) alike() bool {
	least, most := math.Inf(1), 0.0
	for _, c := range a.sample.Summary.Columns {
		if c.Variance > 0 {
			least, most = min(least, c.Variance), max(most, c.Variance)
		}
	}
	return most <= 1e4*least
}

// additive says whether the kernel is a sum over the dimensions, whose maps have few features per dimension.
// It takes no negative numbers, which a shifting scaling makes of values outside the training's range.
func additive(c train.Config) bool {
	_, ok := kernel.Kernel{Name: c.KernelName()}.Additive()
	return ok
}

// featured says whether a number of features is to be chosen for a configuration.
func featured(c train.Config) bool {
	linear := kernel.Kernel{Name: c.KernelName()}.Linear()
	if c.Traits().ChoosesKernels() { // it has as many landmarks as its leaves need
		return false
	}
	return c.Map.Features == 0 && !linear && !additive(c) && !feature.Config{Map: c.Map.Name}.Decides() &&
		c.Traits().HasMapOption("features")
}
