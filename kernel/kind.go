package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a kernel is: for people a name, a formula and parameters, for programs what can be
// done with it. There is one of each, in [Kinds], so that kinds are compared by ==: what needs to
// know whether a kernel is of a kind asks for [Kernel.Kind], and better for the property that it
// needs ([Kernel.Law], [Kernel.Series], [Kernel.Additive], …), which kinds to come may have too.
//
// A new kind is a file with one of these, and a row in kinds.
type Kind struct {
	name       string
	formula    string // k(x, y), in one line
	about      string // what it is and when to take it, in a few words
	source     string // who it is from; "" if that is nobody
	parameters []Parameter

	// family computes it.
	family family

	// What kinds may have. nil: it has none.
	gamma  *gammaRule                           // how γ follows from data
	law    func(k Kernel) Law                   // that of its frequencies
	series func(k Kernel, most int) Series      // of powers of x·y
	parts  func(k Kernel) (inner, outer Kernel) // a kernel on the feature space of another
	falls  func(k Kernel) Falling               // with |x_j - y_j| in every dimension
	sum    func(k Kernel) Additive              // of functions of one dimension
	powers func(k Kernel) bool                  // whether it grows as powers of the rows' length
	length bool                                 // σ of γ = 1/(2σ²) is the length scale of its formula
}

// kinds are all of them, in the order in which they are listed.
var kinds = []*Kind{
	Linear, Poly, Exp, ArcCos,
	RBF, Laplacian, Cauchy, Matern,
	Hellinger, Chi2, Intersection, JensenShannon,
	ExpChi2, SkewedChi2, SkewedIntersection,
}

var byName = map[string]*Kind{}

func init() {
	for _, k := range kinds {
		byName[k.name] = k
	}
}

// Kinds lists the kinds of kernels.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Names lists the kernels.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Find returns the kind of a name. The error for a name that is none says what a kernel that others
// call so is called here, or which name may have been meant.
func Find(name string) (*Kind, error) {
	if k := byName[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("kernel: %s", unknown(name))
}

// Name is what the kernel is called, in configurations and everywhere.
func (k *Kind) Name() string { return k.name }

// Formula is k(x, y) in one line.
func (k *Kind) Formula() string { return k.formula }

// About says in a few words what the kernel is, and when to take it.
func (k *Kind) About() string { return k.about }

// Source says who the kernel is from; "" if that is nobody.
func (k *Kind) Source() string { return k.source }

// Parameters are those that the kernel has.
func (k *Kind) Parameters() []Parameter { return slices.Clone(k.parameters) }

// Parameter returns the one of a name, if the kernel has it.
func (k *Kind) Parameter(name string) (p Parameter, ok bool) {
	for _, p := range k.parameters {
		if p.Name == name {
			return p, true
		}
	}
	return Parameter{}, false
}

// Usual is the kernel with the usual value of every parameter. It has no γ, which follows from data.
func (k *Kind) Usual() Kernel {
	usual := Kernel{Name: k.name}
	for _, p := range k.parameters {
		if p.Usual == p.Usual {
			usual.set(p.Name, p.Usual)
		}
	}
	return usual
}

// String is the name.
func (k *Kind) String() string { return k.name }

// Help describes the kernels: name and formula on a line, and what each is for, its parameters and its
// source on the next. Lines begin with indent.
func Help(indent string) string {
	var text strings.Builder
	for _, k := range kinds {
		about := []string{k.about}
		if len(k.parameters) > 0 {
			var names []string
			for _, p := range k.parameters {
				names = append(names, p.Name)
			}
			about = append(about, strings.Join(names, ", "))
		}
		if k.source != "" {
			about = append(about, k.source)
		}
		fmt.Fprintf(&text, "%s%-21s%s\n%s%-21s%s\n", indent, k.name, k.formula, indent, "", strings.Join(about, " | "))
	}
	return text.String()
}
