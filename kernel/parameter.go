package kernel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parameter is a parameter of a kind of kernel.
type Parameter struct {
	// Name is the JSON name of the field of Kernel: gamma, degree, coef0, nu or homogeneity.
	Name string

	// About says what it is in the kernel's formula.
	About string

	// Usual is the default value; NaN for γ, which follows from data.
	Usual float64

	// Least and Most are its smallest and its largest value.
	Least, Most float64

	must string                 // what it must be, for errors
	text func(v float64) string // for String; "" for a value that is not worth showing
}

// Takes says whether v is in the parameter's range.
func (p Parameter) Takes(v float64) bool { return v >= p.Least && v <= p.Most }

// Must says what a value of the parameter must be, such as "a positive number".
func (p Parameter) Must() string { return p.must }

// gammaParameter is γ > 0, of all kernels that have one.
func gammaParameter() Parameter {
	return Parameter{
		Name: "gamma", About: "γ", Usual: math.NaN(), Least: math.SmallestNonzeroFloat64, Most: math.MaxFloat64, must: "a positive number",
		text: func(v float64) string { return fmt.Sprintf("γ = %.4g", v) },
	}
}

// ParameterNames lists the parameters of all kernels by their JSON names.
func ParameterNames() []string { return []string{"gamma", "degree", "coef0", "nu", "homogeneity"} }

// get returns a parameter by its JSON name.
func (k *Kernel) get(parameter string) float64 {
	switch parameter {
	case "gamma":
		return k.Gamma
	case "degree":
		return float64(k.Degree)
	case "coef0":
		return k.Coef0
	case "nu":
		return k.Nu
	case "homogeneity":
		return k.Homogeneity
	}
	panic("kernel: no parameter " + parameter)
}

func (k *Kernel) set(parameter string, v float64) {
	switch parameter {
	case "gamma":
		k.Gamma = v
	case "degree":
		k.Degree = int(v)
	case "coef0":
		k.Coef0 = v
	case "nu":
		k.Nu = v
	case "homogeneity":
		k.Homogeneity = v
	default:
		panic("kernel: no parameter " + parameter)
	}
}

// Has says whether the kernel with a name has a parameter, by the parameter's JSON name.
func Has(name, parameter string) bool {
	kind := byName[name]
	if kind == nil {
		return false
	}
	_, ok := kind.Parameter(parameter)
	return ok
}

// Ungiven returns the value that a configuration should have for a parameter that was not given: 0, which
// stands for the usual value, or the usual value itself if the parameter takes 0 like any other number.
func Ungiven(name, parameter string) float64 {
	if kind := byName[name]; kind != nil {
		if p, ok := kind.Parameter(parameter); ok && p.Takes(0) {
			return p.Usual
		}
	}
	return 0
}

// Own returns the kernel with only the parameters that its kind has; all others are 0.
func (k Kernel) Own() Kernel {
	own := Kernel{Name: k.Name}
	if kind := k.Kind(); kind != nil {
		for _, p := range kind.parameters {
			own.set(p.Name, k.get(p.Name))
		}
	}
	return own
}

// WithDefaults returns the kernel with the usual value in place of every 0 that its parameter does not take.
// γ stays as it is, since it follows from data.
func (k Kernel) WithDefaults() Kernel {
	if kind := k.Kind(); kind != nil {
		for _, p := range kind.parameters {
			if k.get(p.Name) == 0 && !p.Takes(0) && p.Usual == p.Usual {
				k.set(p.Name, p.Usual)
			}
		}
	}
	return k
}

// Validate reports the first parameter that is missing or out of range.
func (k Kernel) Validate() error {
	kind, err := Find(k.Name)
	if err != nil {
		return err
	}
	for _, p := range kind.parameters {
		if v := k.get(p.Name); !p.Takes(v) {
			return fmt.Errorf("kernel: %s: %s is %s; it must be %s", k.Name, p.Name, k.number(p.Name), p.must)
		}
	}
	return nil
}

// number writes a parameter, the degree without an exponent.
func (k *Kernel) number(parameter string) string {
	if parameter == "degree" {
		return strconv.Itoa(k.Degree)
	}
	return strconv.FormatFloat(k.get(parameter), 'g', -1, 64)
}

// String writes the kernel with the parameters that it has.
func (k Kernel) String() string {
	kind := k.Kind()
	if kind == nil {
		return fmt.Sprintf("%s, γ = %.4g", k.Name, k.Gamma)
	}
	text := k.Name
	for _, p := range kind.parameters {
		if s := p.text(k.get(p.Name)); s != "" {
			text += ", " + s
		}
	}
	return text
}

// Usual is the default of a parameter where all kernels that have it agree on one; ok is false otherwise.
func Usual(parameter string) (v float64, ok bool) {
	for _, kind := range kinds {
		p, has := kind.Parameter(parameter)
		switch {
		case !has:
		case p.Usual != p.Usual, ok && p.Usual != v:
			return 0, false
		default:
			v, ok = p.Usual, true
		}
	}
	return v, ok
}

// ParameterHelp says in a line what a parameter is, of which kernels, and its usual value.
func ParameterHelp(name string) string {
	type use struct {
		about string
		usual float64
		of    []string
	}
	var uses []use
	for _, kind := range kinds {
		p, ok := kind.Parameter(name)
		if !ok {
			continue
		}
		at := slices.IndexFunc(uses, func(u use) bool {
			return u.about == p.About && (u.usual == p.Usual || u.usual != u.usual && p.Usual != p.Usual)
		})
		if at < 0 {
			at, uses = len(uses), append(uses, use{about: p.About, usual: p.Usual})
		}
		uses[at].of = append(uses[at].of, kind.name)
	}
	var parts []string
	for _, u := range uses {
		part := u.about + " of " + listed(u.of, "and")
		if u.usual == u.usual {
			part += fmt.Sprintf(" (default %g)", u.usual)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// listed is "a, b and c".
func listed(names []string, and string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + and + " " + names[last]
}
