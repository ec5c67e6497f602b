package papers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/kernel"
	"mercer/matrix"
)

// ErrorFigure compares the maps of a kernel of histograms on one data set.
type ErrorFigure struct {
	Set    string
	Kernel string // with its h, if that is not 1
	Total  bool   // features are counted in all, not by input dimension
	Curves []ErrorCurve
}

// ErrorCurve is the error of a map by its number of features,
//
//	‖ZZᵀ - K‖/‖K‖ (Frobenius),
//
// of on errorTest rows that the map has not seen: it is fitted to errorTrain others. For
// random maps it is the mean over errorSeeds seeds. The features per input dimension are those
// of an additive map; for the exp-chi2 kernel they are those of the first map of its chain, and
// ZZᵀ is replaced by exp(-γ‖c(x)-c(y)‖²), its limit for many features of the second.
type ErrorCurve struct {
	Name     string
	Features []int
	Errors   []float64
}

const errorTrain, errorTest, errorSeeds = 500, 200, 5

// errorComparison is a comparison with one figure per data set. γ and c of the kernel are chosen
// by the data.
type errorComparison struct {
	kernel   kernel.Kernel
	total    bool
	variants []errorVariant
}

// errorVariant is a map with its options but for the number of features.
type errorVariant struct {
	name     string
	cfg      feature.Config
	features []int
}

// samplerPeriods are those of scikit-learn's AdditiveChi2Sampler for 1, 3 and 5 features, which are
// the features of the uniform window with these periods.
var samplerPeriods = map[int]float64{1: 0.8, 3: 0.5, 5: 0.4}

const sampler = "scikit-learn"

// errorComparisons are the additive kernels, these with other h, and the others by D.
func errorComparisons() []errorComparison {
	var all []errorComparison
	for _, h := range []float64{0, 0.5, 2} {
		for _, name := range []string{"chi2", "intersection", "jensen-shannon"} {
			k := kernel.Kernel{Name: name, Homogeneity: h}
			all = append(all, errorComparison{k, false, additiveVariants(k)})
		}
	}
	const exponential, skewed = "exp-chi2", "skewed"
	d := []int{256, 1024, 4096, 16384}
	all = append(all, errorComparison{kernel.Kernel{Name: exponential}, false, additiveVariants(kernel.Kernel{Name: exponential})})
	all = append(all, errorComparison{kernel.Kernel{Name: exponential}, true, []errorVariant{
		{"homogeneous", feature.Config{Map: "homogeneous"}, d},
		{"chebyshev", feature.Config{Map: "chebyshev"}, d},
		{"elementary", feature.Config{Map: "elementary"}, d},
		{"homogeneous, rff", feature.Config{Map: "rff"}, d[:3]},
	}})
	for _, name := range []string{"skewed-chi2", "skewed-intersection"} {
		all = append(all, errorComparison{kernel.Kernel{Name: name}, true, []errorVariant{
			{skewed, feature.Config{Map: skewed}, d},
			{skewed + ", phase", feature.Config{Map: skewed, Options: feature.Options{Form: "phase"}}, d},
		}})
	}
	return all
}

// additiveVariants are the maps of an additive kernel, or the first maps of exp-chi2.
func additiveVariants(k kernel.Kernel) []errorVariant {
	odd, all := []int{1, 3, 5, 7, 9, 13, 21}, []int{1, 2, 3, 4, 5, 6, 7, 9, 13, 21}
	homogeneous := func(o feature.Options) feature.Config { return feature.Config{Map: "homogeneous", Options: o} }
	v := []errorVariant{
		{"homogeneous", homogeneous(feature.Options{}), odd},
		{"homogeneous, rectangular", homogeneous(feature.Options{Window: "rectangular"}), odd},
		{"homogeneous, uniform", homogeneous(feature.Options{Window: "uniform"}), odd},
	}
	of := k
	if inner, _, ok := k.Parts(); ok {
		of = inner
	}
	switch of.Kind() {
	case kernel.Chi2:
		if k.Homogeneity == 0 { // the sampler has no h
			v = append(v, errorVariant{sampler, homogeneous(feature.Options{Window: "uniform"}), []int{1, 3, 5}})
		}
		for _, name := range []string{"chebyshev", "elementary"} {
			v = append(v,
				errorVariant{name, feature.Config{Map: name}, all},
				errorVariant{name + ", not stretched", feature.Config{Map: name, Options: feature.Options{Stretch: 1}}, all})
		}
	case kernel.Intersection:
		cells := []int{1, 3, 5, 7, 9, 13, 21, 40}
		v = append(v,
			errorVariant{"unary", feature.Config{Map: "unary"}, cells},
			errorVariant{"unary, step", feature.Config{Map: "unary", Options: feature.Options{Form: "step"}}, cells})
	}
	return v
}

// HistogramErrors makes the comparisons of the histogram kernels for every data set in
// dir, one kernel after the other, and names the missing sets.
func HistogramErrors(ctx context.Context, dir string) (figures []ErrorFigure, missing []string, err error) {
	return histogramErrors(ctx, dir, errorComparisons())
}

func histogramErrors(ctx context.Context, dir string, comparisons []errorComparison) (figures []ErrorFigure, missing []string, err error) {
	names, open := errorSets()
	of := make([][]ErrorFigure, len(comparisons))
	for i, set := range names {
		x, err := open[i](ctx, dir)
		var absent *fs.PathError
		if errors.As(err, &absent) && errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, set)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", set, err)
		}
		rows := random.New(1, "papers.errors").Perm(x.Len())
		train, test := matrix.Pick(x, rows[errorTest:min(errorTest+errorTrain, len(rows))]), matrix.Pick(x, rows[:errorTest])
		for j, c := range comparisons {
			figure, err := c.figure(ctx, train, test)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", set, err)
			}
			figure.Set = set
			of[j] = append(of[j], figure)
		}
	}
	return slices.Concat(of...), missing, nil
}

// figure makes the curves of a data set.
func (c errorComparison) figure(ctx context.Context, train, test matrix.Rows) (ErrorFigure, error) {
	f := ErrorFigure{Kernel: c.kernel.Name, Total: c.total}
	if c.kernel.Homogeneity != 0 {
		f.Kernel = fmt.Sprintf("%s, h = %g", c.kernel.Name, c.kernel.Homogeneity)
	}
	k, err := c.chosen(train)
	if err != nil {
		return f, err
	}
	exact, err := approx.Gram(k, test)
	if err != nil {
		return f, err
	}
	for _, v := range c.variants {
		curve := ErrorCurve{Name: v.name, Features: v.features}
		for _, n := range v.features {
			if err := ctx.Err(); err != nil {
				return f, err
			}
			e, err := c.error(k, v, n, train, test, exact)
			if err != nil {
				return f, fmt.Errorf("%s: %s: %w", f.Kernel, v.name, err)
			}
			curve.Errors = append(curve.Errors, e)
		}
		f.Curves = append(f.Curves, curve)
	}
	return f, nil
}

// error is that of a map with n features against the Gram matrix of the kernel k.
func (c errorComparison) error(k kernel.Kernel, v errorVariant, n int, train, test matrix.Rows, exact []float64) (float64, error) {
	cfg, after, seeds := v.cfg, kernel.Linear.Usual(), 1
	cfg.Kernel = k
	if c.total {
		cfg.Features, seeds = n, errorSeeds
	} else {
		cfg.Terms = n
		if v.name == sampler {
			cfg.Period = samplerPeriods[n]
		}
		if inner, outer, ok := k.Parts(); ok {
			cfg.Kernel, after = inner, outer
		}
	}
	mean := 0.0
	for s := range seeds {
		cfg.Seed = uint64(s)
		m, err := feature.Fit(context.Background(), cfg, train)
		if err != nil {
			return 0, err
		}
		z := feature.Apply(m, test, &matrix.Dense{}, &matrix.CSR{})
		ours, err := approx.Gram(after, z)
		if err != nil {
			return 0, err
		}
		mean += relative(ours, exact) / float64(seeds)
	}
	return mean, nil
}

// chosen is the kernel with the γ or the c at which the median of k over pairs of rows is 1/e.
func (c errorComparison) chosen(x matrix.Rows) (k kernel.Kernel, err error) {
	k = c.kernel
	switch {
	case kernel.Has(k.Name, "gamma"):
		k.Gamma, err = kernel.MedianGamma(x, 1, k.Name)
	case kernel.Has(k.Name, "coef0"):
		k.Coef0, err = medianShift(k.Name, x.Slice(0, min(100, x.Len())))
	}
	return k, err
}

// medianShift is c of a skewed kernel, which grows with it, by bisection of its logarithm.
func medianShift(name string, x matrix.Rows) (float64, error) {
	low, high := 1e-9, 1e9
	for range 30 {
		c := math.Sqrt(low * high)
		all, err := approx.Gram(kernel.Kernel{Name: name, Coef0: c}, x)
		if err != nil {
			return 0, err
		}
		var pairs []float64
		for i := range x.Len() {
			pairs = append(pairs, all[i*x.Len():][:i]...)
		}
		slices.Sort(pairs)
		if pairs[len(pairs)/2] < math.Exp(-1) {
			low = c
		} else {
			high = c
		}
	}
	return high, nil
}

// relative is ‖a - b‖/‖b‖.
func relative(a, b []float64) float64 {
	difference, size := 0.0, 0.0
	for i, v := range b {
		difference += (a[i] - v) * (a[i] - v)
		size += v * v
	}
	return math.Sqrt(difference / size)
}
