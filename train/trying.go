package train

// tried says whether and how a learner is tried when no learner is named, by code that trains
// several and compares them.
type tried struct {
	// first says that kernels are compared with this learner.
	first func(d Data) bool

	// variants are the configurations of it that are tried in addition to the first one, with the best kernel.
	// They are made from c, which names the learner already; nil or none if it does not suit the data.
	variants func(c Config, d Data) []Config

	// onePass says that it takes one pass over the rows, in a time that can be predicted best.
	onePass bool
}

// Data is what a choice of learners depends on.
type Data struct {
	Task          string // "classify", "regress" or "multilabel"
	Rows, Classes int
	Dim           int
	Sparse        bool    // rows are read as sparse ones
	Density       float64 // the share of numbers that are not 0

	// Numbers is the number of dimensions that are no categories, and Filled the share of their values that are not 0.
	Numbers int
	Filled  float64
}

// With more than manyClasses classes no learner is tried that solves a problem for each.
const manyClasses = 50

// First is the learner to compare kernels with on such data, nil if there is none.
func (d Data) First() *Traits {
	for _, l := range learners() {
		if l.tried.first != nil && l.tried.first(d) {
			return &l
		}
	}
	return nil
}

// Variants returns configurations like c with other learners that are worth trying on such data: those that
// use a map, and those that use the kernel itself.
func (d Data) Variants(c Config) (mapped, exact []Config) {
	for _, l := range learners() {
		if l.tried.variants == nil {
			continue
		}
		own := c
		own.SetLearner(l.name)
		if all := l.tried.variants(own, d); l.exact {
			exact = append(exact, all...)
		} else {
			mapped = append(mapped, all...)
		}
	}
	return mapped, exact
}

// OnePass is the learner that takes one pass over the rows, whose time can be predicted best: the fallback when there
// is no time for another.
func OnePass() *Traits {
	for _, l := range learners() {
		if l.tried.onePass {
			return &l
		}
	}
	return nil
}

// Chooser is the learner that chooses kernels and their widths itself.
func Chooser() *Traits {
	for _, l := range learners() {
		if l.own {
			return &l
		}
	}
	return nil
}
