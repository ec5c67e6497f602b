package train

// tried says whether and how a learner is tried where no learner is named, by a choice that trains
// several and compares them.
type tried struct {
	// first says that kernels are compared with it.
	first func(d Data) bool

	// variants are the configurations of it that are tried beside the first one with the best kernel,
	// made of c, which names the learner already; nil or none if it is not for such data.
	variants func(c Config, d Data) []Config

	// onePass says that it takes one pass over the rows, in a time that is known best.
	onePass bool
}

// Data are what a choice of learners looks at.
type Data struct {
	Task          string // "classify", "regress" or "multilabel"
	Rows, Classes int
}

// Of more than manyClasses classes no learner is tried that has a problem to solve for each.
const manyClasses = 50

// First is the learner to compare kernels with on such data, nil if there is none.
func (d Data) First() *Learner {
	for _, l := range learners() {
		if l.tried.first != nil && l.tried.first(d) {
			return &l
		}
	}
	return nil
}

// Variants are configurations like c with other learners that are worth a try on such data: those that
// take a map, and those that take the kernel itself.
func (d Data) Variants(c Config) (mapped, exact []Config) {
	for _, l := range learners() {
		if l.tried.variants == nil {
			continue
		}
		own := c
		own.Learner = l.name
		if all := l.tried.variants(own, d); l.exact {
			exact = append(exact, all...)
		} else {
			mapped = append(mapped, all...)
		}
	}
	return mapped, exact
}

// OnePass is the learner of one pass over the rows, whose time is known best: what is left where there
// is no time for another.
func OnePass() *Learner {
	for _, l := range learners() {
		if l.tried.onePass {
			return &l
		}
	}
	return nil
}
