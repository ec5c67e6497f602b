package feature

import (
	"fmt"
	"slices"
	"strings"
)

// Options are settings of single maps. The zero value of each is a good choice, except that what Radius and Order
// mean by it is as old as the maps, since a configuration means the same for ever: [Choose] sets them better. Setting
// an option that the map does not have is an error.
type Options struct {
	// Form of the Fourier features; "" means pair.
	//	pair   √(2/D)·[cos ω_j·x, sin ω_j·x], j = 1 … D/2
	//	phase  √(2/D)·cos(ω_j·x + b_j), j = 1 … D; a little less accurate
	// Form of unary, of N cells for numbers up to 1; "" means fraction.
	//	fraction  φ₂(x): ⌊xN⌋ ones and the fraction that is left
	//	step      φ₁(x): round(xN) ones
	Form string `json:"form,omitempty"`

	// Radius is how the lengths of the frequencies of orf and sorf are drawn; "" means chi.
	//	chi      independently, by the kernel's own law
	//	coupled  by that law too, but evenly spread: less variance, and the choice of [Choose]
	//	fixed    all alike, as in the paper on sorf: a bias in few dimensions (sorf)
	Radius string `json:"radius,omitempty"`

	// Order is the least order of sorf's blocks, a power of two; 0 means the least that takes a row. Below
	// 32 there is a bias, so that [Choose] sets 32 or more.
	Order int `json:"order,omitempty"`

	// Hash of the sketches; "" means pairwise, the hash functions of the papers, but of
	// taylorsketch balanced, which fills all buckets evenly, so that there are no collisions if D ≥ d.
	Hash string `json:"hash,omitempty"`

	// Entries of random projections: normal, or sparse for Achlioptas's 0 and ±√s, or of rp orthonormal
	// for those of orthonormal columns; "" means the map's own choice.
	Entries string `json:"entries,omitempty"`

	// Sparsity is s ≥ 1: one in s of the sparse entries is not 0. 0 means the map's choice.
	Sparsity float64 `json:"sparsity,omitempty"`

	// Pool is m, how many vectors a map draws from, or how many rows of the sample it keeps;
	// 0 means the map's choice.
	Pool int `json:"pool,omitempty"`

	// T is t, how many terms (or samples) an output adds up; 0 means the map's choice.
	T int `json:"t,omitempty"`

	// Reuse is how outputs pick vectors from the pool; "" means even, which uses
	// all of them equally often (repetition minimisation); random draws them.
	Reuse string `json:"reuse,omitempty"`

	// Complex makes a sketch complex inside and its output real: [Re, Im]. It has D/2 complex
	// features and less variance at degrees of 3 and more.
	Complex bool `json:"complex,omitempty"`

	// Series are the coefficients a_0, a_1, … ≥ 0 of f(t) = Σ a_n tⁿ for maclaurin, whose
	// kernel is then f(γ x·y), instead of those of the kernel.
	Series []float64 `json:"series,omitempty"`

	// Rank bounds how many principal components a map keeps; 0 means all.
	Rank int `json:"rank,omitempty"`

	// Terms is how many features an input dimension has in the additive maps, at most how many in wavelets, or the number of
	// cells of unary; 0 means the map's choice.
	Terms int `json:"terms,omitempty"`

	// Window of homogeneous: uniform, rectangular, or fitted to a sample of rows; "" means fitted,
	// or rectangular if Period is given.
	Window string `json:"window,omitempty"`

	// Period is L, the step between the frequencies of homogeneous; 0 means that a sample of
	// rows decides.
	Period float64 `json:"period,omitempty"`

	// Stretch is the factor that additive maps multiply inputs by, and divide the kernel by; 0 means
	// that a sample of rows decides.
	Stretch float64 `json:"stretch,omitempty"`

	// Landmarks is the way to choose the rows of a sample that a map compares with, or its centres:
	// one of [LandmarkChoices]; "" means the map's choice. With given they are Config.Given.
	Landmarks string `json:"landmarks,omitempty"`

	// Width is s of sigmoid; 0 means that a sample of rows decides.
	Width float64 `json:"width,omitempty"`

	// Widths of the basis functions of rbf-network; "" means common, s² = 1/γ for all. own gives each centre one of its own, by the
	// distance to the nearest other centres; 1/γ is then their geometric mean.
	Widths string `json:"widths,omitempty"`
}

// optionTexts describe the options, by their JSON names.
var optionTexts = []struct{ name, about string }{
	{"form", "form of the features"},
	{"radius", "lengths of the frequencies"},
	{"order", "least order of the blocks of frequencies, a power of two (default: 32, or what the kernel needs for no bias)"},
	{"hash", "hash functions of the sketch"},
	{"complex", "sketch by complex numbers: less variance at degrees of 3 and more"},
	{"series", "coefficients a0,a1,… ≥ 0 of f in the kernel f(γ x·y)"},
	{"entries", "entries of random projections"},
	{"sparsity", "s of sparse entries, of which one in s is not 0"},
	{"pool", "m, the vectors that pk-rp draws from, or the rows of a sample that kg-rp and its kin keep"},
	{"t", "t, how many terms an output adds up"},
	{"reuse", "how the pool is used"},
	{"rank", "most principal components to keep (default: all)"},
	{"terms", "features for each input dimension; cells of unary"},
	{"window", "window of the frequencies"},
	{"period", "step between the frequencies (default: by a sample of the rows)"},
	{"stretch", "what inputs are multiplied by (default: by a sample of the rows)"},
	{"landmarks", "rows to compare with, chosen from a sample, or given"},
	{"width", "s of the steps (default: by a sample of the rows)"},
	{"widths", "widths of the functions around centres"},
}

// OptionNames lists the options that maps have, by their JSON names.
func OptionNames() []string {
	var names []string
	for _, o := range optionTexts {
		names = append(names, o.name)
	}
	return names
}

// OptionHelp describes an option in one line: what it is, which words it takes and which maps have it; "" for
// a name that is not an option's.
func OptionHelp(name string) string {
	at := slices.IndexFunc(optionTexts, func(o struct{ name, about string }) bool { return o.name == name })
	if at < 0 {
		return ""
	}
	var words []string // with the maps that have them, in the order of the maps
	maps := map[string][]string{}
	for _, k := range kinds() {
		if !slices.Contains(k.options, name) {
			continue
		}
		text := ""
		if w := k.words[name]; w != nil {
			usual := w[0]
			if c := k.chosen[name]; c != "" {
				usual = c
			}
			text = fmt.Sprintf("%s (default %s)", strings.Join(w, ", "), usual)
		}
		if maps[text] == nil {
			words = append(words, text)
		}
		maps[text] = append(maps[text], k.name)
	}
	var parts []string
	for _, w := range words {
		of := strings.Join(maps[w], ", ")
		if w == "" {
			return fmt.Sprintf("%s (%s)", optionTexts[at].about, of)
		}
		parts = append(parts, w+" of "+of)
	}
	return optionTexts[at].about + ": " + strings.Join(parts, "; ")
}

// OptionsOf lists the options that a map has, by their JSON names.
func OptionsOf(name string) []string {
	k, _ := find(name)
	return slices.Clone(k.options)
}

// set lists the options that are set.
func (o Options) set() []string {
	var names []string
	for name, set := range map[string]bool{
		"form": o.Form != "", "radius": o.Radius != "", "order": o.Order != 0, "hash": o.Hash != "", "entries": o.Entries != "",
		"sparsity": o.Sparsity != 0, "pool": o.Pool != 0, "t": o.T != 0, "reuse": o.Reuse != "",
		"complex": o.Complex, "series": o.Series != nil, "rank": o.Rank != 0,
		"terms": o.Terms != 0, "window": o.Window != "", "period": o.Period != 0, "stretch": o.Stretch != 0,
		"landmarks": o.Landmarks != "", "width": o.Width != 0, "widths": o.Widths != "",
	} {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// divided separates the options of additive maps from all others.
func (o Options) divided() (additive, others Options) {
	additive = Options{Terms: o.Terms, Window: o.Window, Period: o.Period, Stretch: o.Stretch}
	o.Terms, o.Window, o.Period, o.Stretch = 0, "", 0, 0
	return additive, o
}
