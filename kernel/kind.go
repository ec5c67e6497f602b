package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// Kind describes a kernel: its name, formula and parameters for people, its properties for programs. There
// is one value of each kind, in [Kinds], so kinds can be compared by ==. Code that depends on the kernel
// should ask for the property it needs ([Kernel.Law], [Kernel.Series], [Kernel.Additive], …), which
// future kinds may have too, and only otherwise for [Kernel.Kind].
//
// A new kernel is a file with a Kind, and a row in kinds.
type Kind struct {
	name       string
	formula    string // k(x, y), in one line
	about      string // what it is and when to take it, in a few words
	source     string // who introduced it; "" if nobody did
	parameters []Parameter

	// family computes the kernel.
	family family

	// Properties that not every kind has; nil if it does not.
	gamma  *gammaRule                           // how γ follows from data
	law    func(k Kernel) Law                   // the law of its frequencies
	series func(k Kernel, most int) Series      // of powers of x·y
	parts  func(k Kernel) (inner, outer Kernel) // a kernel on the feature space of another
	falls  func(k Kernel) Falling               // it falls with |x_j - y_j| in every dimension
	sum    func(k Kernel) Additive              // it is a sum of functions of one dimension
	powers func(k Kernel) bool                  // whether it grows as powers of the rows' length
	length bool                                 // σ of γ = 1/(2σ²) is the length scale of its formula
}

// kinds are all kinds, in the order of lists.
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

// Find returns the kind with a name. If there is none, the error says what the kernel is called here that
// other programs call so, or which name may have been meant.
func Find(name string) (*Kind, error) {
	if k := byName[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("kernel: %s", unknown(name))
}

// Name is the kernel's name in configurations, files and on the command line.
func (k *Kind) Name() string { return k.name }

// Formula is k(x, y) in one line.
func (k *Kind) Formula() string { return k.formula }

// About says in a few words what the kernel is, and when to take it.
func (k *Kind) About() string { return k.about }

// Source says who introduced the kernel; "" if nobody in particular did.
func (k *Kind) Source() string { return k.source }

// Parameters are the kernel's parameters.
func (k *Kind) Parameters() []Parameter { return slices.Clone(k.parameters) }

// Parameter returns the parameter with a name; ok is false if the kernel does not have it.
func (k *Kind) Parameter(name string) (p Parameter, ok bool) {
	for _, p := range k.parameters {
		if p.Name == name {
			return p, true
		}
	}
	return Parameter{}, false
}

// Usual returns the kernel with the usual value of every parameter except γ, which follows from data.
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

// Help describes the kernels in two lines each: name and formula, then what it is for, its parameters and
// its source. Lines begin with indent.
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
