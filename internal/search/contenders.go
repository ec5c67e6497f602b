package search

import (
	"math"
	"slices"
	"strconv"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/train"
)

// unset says that a setting leaves the choice to the data.
func unset(word string) bool { return word == "" || word == "auto" }

// contender is a configuration that races for Auto, with the reference value of its γ.
type contender struct {
	train.Config
	median float64 // γ at the median distance of its kernel and scaling; 0: it has no γ
	factor float64
	d      int // the number of features in the race; 0: that of the heat
}

// withGamma is the contender with γ at a multiple of that at the median distance.
func (c contender) withGamma(factor float64) contender {
	c.factor = factor
	// Four digits are enough, and keep the command line that repeats it short.
	c.Kernel.Gamma = strconv.FormatFloat(c.median*factor, 'g', 4, 64)
	return c
}

// contenderOf makes a contender of a kernel and a scaling; ok is false if its γ is not known.
func (a *auto) contenderOf(c train.Config) (contender, bool) {
	if c.Kernel.Gamma == "" {
		c.Kernel.Gamma = "median" // as the command line calls it
	}
	out := contender{Config: c}
	if !widthOpen(c) || c.Kernel.Gamma != "median" || c.Kernel.Sigma != 0 {
		return out, true
	}
	kind := c.Scale
	if unset(kind) {
		kind, _ = pipeline.ChooseScale(kernel.Kernel{Name: c.Kernel.Name}, a.sample.summary)
	}
	scaler, err := dataset.NewScaler(kind, a.sample.summary)
	if err != nil {
		return out, false
	}
	gamma, err := kernel.MedianGamma(scaler.Apply(a.sample.summary.Sample, &dataset.Workspace{}), max(c.Seed, 1), c.Kernel.Name)
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

// kernels returns the contenders of the first heat, the simplest first, and the most different ones
// before similar ones in case time runs out.
func (a *auto) kernels() (all []contender) {
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
		x, ok := a.contenderOf(c)
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
		all = append(all, contender{Config: given})
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

// variations returns the contenders of the second heat: the rivals as they are, and the first of them
// with other γ, scalings and learners.
func (a *auto) variations(rivals []contender) []contender {
	best, given, f := rivals[0], a.Config, a.report.Facts
	all := slices.Clone(rivals)
	add := func(c contender) { all = addContender(all, c) }
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
			chosen, _ := pipeline.ChooseScale(kernel.Kernel{Name: best.Kernel.Name, Degree: best.Kernel.Degree}, a.sample.summary)
			if kind == chosen || kind == "none" && (chosen == "global" || !a.alike()) { // global differs from none only in the unit
				continue
			}
			c := best.Config
			c.Scale = kind
			if best.median > 0 {
				c.Kernel.Gamma = ""
			}
			if x, ok := a.contenderOf(c); ok {
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

// addContender adds one that can be trained, unless another would train the same.
func addContender(all []contender, c contender) []contender {
	if c.Check() != nil || slices.ContainsFunc(all, c.same) {
		return all
	}
	return append(all, c)
}

// same says that two contenders would train the same.
func (c contender) same(o contender) bool { return Describe(o.Config) == Describe(c.Config) }

// learners describes the data for the choice of learners.
func (f *Facts) learners() train.Data {
	return train.Data{Task: f.Task, Rows: f.Rows, Classes: f.Classes, Dim: f.Dim, Sparse: f.sparse, Density: f.Density,
		Numbers: f.numbers, Filled: f.filled}
}

// alike says whether dimensions have standard deviations of about the same size, so that scaling may be left
// out.
func (a *auto) alike() bool {
	least, most := math.Inf(1), 0.0
	for _, c := range a.sample.summary.Columns {
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

// Facts are what Auto looks at before it chooses contenders.
type Facts struct {
	Rows    int     `json:"rows"`
	Dim     int     `json:"dim"`
	Density float64 `json:"density"`
	Task    string  `json:"task"`

	// Classes is the number of classes; Least and Most are the shares of the smallest and
	// the largest.
	Classes int     `json:"classes,omitempty"`
	Least   float64 `json:"least_share,omitempty"`
	Most    float64 `json:"most_share,omitempty"`

	// Deviation is the standard deviation of the numbers to predict: the error of always guessing their mean.
	Deviation float64 `json:"deviation,omitempty"`

	// Positive says that no number is negative, and Histograms that rows look like histograms:
	// they have about the same sum, or they are sparse counts.
	Positive   bool `json:"positive"`
	Histograms bool `json:"histograms"`

	sparse bool // rows are read as sparse ones

	numbers int // dimensions that are no categories
	filled  float64
}

// factsOf collects the facts about a sample's source.
func factsOf(s *Sample) Facts {
	sum := s.summary
	f := Facts{Rows: s.all, Dim: sum.Dim, Density: sum.Density(), Task: s.Task, Positive: true, sparse: sum.Sparse}
	f.numbers, f.filled = s.source.Schema().Numbers(sum)
	rows, integer := s.rows, true
	for _, c := range sum.Columns {
		f.Positive = f.Positive && c.Min >= 0
		integer = integer && c.Integer
	}
	if f.Positive {
		least, most := math.Inf(1), 0.0
		for i := range rows.X.Len() {
			total := 0.0
			for _, v := range rowValues(rows.X, i) {
				total += float64(v)
			}
			least, most = min(least, total), max(most, total)
		}
		f.Histograms = sum.Dim >= 8 && (least > 0.9*most || integer && sum.Sparse && f.Density < 0.25)
	}
	switch s.Task {
	case "classify":
		counts := map[int]int{}
		classes, _ := sum.Classes() // they existed when the sample was drawn
		for i := range rows.X.Len() {
			counts[classes.Of(rows, i)]++
		}
		f.Classes, f.Least = len(classes.Labels()), 1
		for _, n := range counts {
			share := float64(n) / float64(rows.X.Len())
			f.Least, f.Most = min(f.Least, share), max(f.Most, share)
		}
	case "regress":
		k := rows.Outputs
		for t := range k {
			y := make([]float64, rows.X.Len())
			for i := range y {
				y[i] = rows.Y[i*k+t]
			}
			_, se := meanError(y)
			f.Deviation += se * se * float64(len(y))
		}
		f.Deviation = math.Sqrt(f.Deviation)
	}
	return f
}

// rowValues returns the values of a row, for a sparse row only those that are stored.
func rowValues(x matrix.Rows, i int) []float32 {
	if x.CSR != nil {
		_, val := x.CSR.Row(i)
		return val
	}
	return x.Dense.Row(i)
}
