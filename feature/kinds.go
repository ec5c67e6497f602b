package feature

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mercer/kernel"
	"mercer/matrix"
)

// kind describes a map: its name and how it is made. A new map is a file with its constant
// and its code, and a kind in the list of its family.
type kind struct {
	name   string
	about  string // in a few words, for help
	cost   string // operations per row, with D the number of features
	source string // its source; "" if it has none

	options  []string             // of Options, by the names of their JSON
	words    map[string][]string  // the values of options that are words; the first is the meaning of ""
	chosen   map[string]string    // of these, what Choose sets where it is not the first
	dim      bool                 // whether the map itself decides on D: Features may then be 0
	composed bool                 // of Steps, which have the kernels
	sample   func(cfg Config) int // how many rows fit should see; nil: a few hundred
	usual    int                  // most features that make sense unless asked for; 0: any number
	basis    bool                 // uses a kernel for basis functions: z(x)·z(y) is not k(x, y)
	aloof    bool                 // needs a kernel only where it is to choose landmarks, see Kernelless
	centred  bool                 // z(x)·z(y) is k(x, y) up to a shift of the feature space, see Centred
	frugal   bool                 // takes time by what is in a row, not by its dimensions
	columns  bool                 // feature i of dimension j is i·d + j, see ByColumn

	// takes reports whether the map approximates a kernel, of which only the name is needed; nil: any.
	takes func(k kernel.Kernel) bool

	check func(cfg Config) error // of properties that do not depend on rows; nil: none

	// make draws a map for rows of dim dimensions. fit fits one to the rows of a sample, and
	// restore makes it again from its State. A map that has both is drawn if given reports
	// that the configuration leaves nothing to the sample.
	given   func(cfg Config) bool
	make    func(cfg Config, dim int) (Map, error)
	fit     func(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error)
	restore func(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error)
}

// known is the result of kinds. It is built on first use, because chains make maps themselves.
var known struct {
	once  sync.Once
	kinds []kind
}

// kinds lists the maps.
func kinds() []kind {
	known.once.Do(func() {
		known.kinds = slices.Concat(shiftInvariant(), sketches(), projections(), additive(), landmarks(), compositions())
	})
	return known.kinds
}

func find(name string) (kind, error) {
	if name == "" {
		name = RFF
	}
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i], nil
	}
	return kind{}, fmt.Errorf("feature: %s", unknown(name))
}

// of reports whether the map approximates a kernel, by itself or as one of the two maps of the
// chain that stands for it.
func (k *kind) of(of kernel.Kernel) bool {
	if k.takes == nil || k.takes(of) {
		return true
	}
	inner, outer, ok := of.Parts()
	return ok && !k.basis && (k.takes(inner) || k.takes(outer))
}

// only is for maps of a single kind of kernel.
func only(of *kernel.Kind) func(k kernel.Kernel) bool {
	return func(k kernel.Kernel) bool { return k.Kind() == of }
}

// Names lists the maps, each with a few words about it.
func Names() (names, about []string) {
	for _, k := range kinds() {
		names, about = append(names, k.name), append(about, k.about)
	}
	return names, about
}

// Help describes the maps: name and a few words on one line, and on the next the kernels
// that it approximates, its options, the operations per row, and its source. Lines begin with
// indent.
func Help(indent string) string {
	var text strings.Builder
	for _, k := range kinds() {
		kernels, options := "any kernel", "no options"
		switch {
		case k.composed:
			kernels = "the kernels of its steps"
		case k.basis:
			kernels = "no kernel"
		case k.takes != nil:
			kernels = strings.Join(Kernels(k.name), ", ")
		}
		if len(k.options) > 0 {
			options = strings.Join(k.options, ", ")
		}
		about := []string{kernels, options, "O(" + k.cost + ")"}
		if k.composed {
			about[2] = k.cost
		}
		if k.source != "" {
			about = append(about, k.source)
		}
		fmt.Fprintf(&text, "%s%-15s%s\n%s%-15s%s\n", indent, k.name, k.about, indent, "", strings.Join(about, " | "))
	}
	return text.String()
}

// Kernels are the names of the kernels that a map approximates, nil if any or if there is no
// such map.
func Kernels(name string) (names []string) {
	k, _ := find(name)
	if k.takes == nil {
		return nil
	}
	for _, of := range kernel.Names() {
		if k.of(kernel.Kernel{Name: of}) {
			names = append(names, of)
		}
	}
	return names
}

// OfLinear reports whether a map approximates only the linear kernel: it changes the number of
// dimensions and preserves products.
func OfLinear(name string) bool {
	return slices.Equal(Kernels(name), []string{kernel.Linear.Name()})
}

// MapsOf lists the maps that approximate a kernel, by the name of the kernel.
func MapsOf(of string) (names []string) {
	for _, k := range kinds() {
		if !k.composed && !k.basis && k.of(kernel.Kernel{Name: of}) {
			names = append(names, k.name)
		}
	}
	return names
}

// ByColumn are the maps whose features each belong to one dimension of the input: feature i of dimension j of d has the number i·d + j.
func ByColumn() (names []string) {
	for _, k := range kinds() {
		if k.columns {
			names = append(names, k.name)
		}
	}
	return names
}

// Frugal says that a map takes time and memory by what is in a row, and not by the number of its dimensions.
func Frugal(name string) bool {
	k, _ := find(name)
	return k.frugal
}

// Usual is how many features a map should have at most unless more are requested, 0 if
// there is no such limit.
func Usual(name string) int {
	k, _ := find(name)
	return k.usual
}

// Centred reports whether the features of a configuration have the kernel's inner products only after
// both are centred at the mean of rows: distances are right, and so is everything that a model with an
// intercept learns, but z(x)·z(y) is k(x, y) minus a constant. This holds for maps of a sample's centred
// Gram matrix, and for chains and sums with one.
func Centred(cfg Config) bool {
	k, _ := find(cfg.Map)
	if !k.composed {
		return k.centred
	}
	if k.name == Sum {
		return slices.ContainsFunc(cfg.Steps, Centred)
	}
	// In a chain a map of the linear kernel passes this on; all others depend on the position of rows,
	// or on their differences.
	for i := len(cfg.Steps) - 1; i >= 0; i-- {
		if s := cfg.Steps[i]; Centred(s) || s.Steps != nil || !s.Kernel.Linear() {
			return Centred(s)
		}
	}
	return false
}
