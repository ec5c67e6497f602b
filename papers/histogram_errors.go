package papers

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"mercer/approx"
	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/matrix"
)

// ErrorFigure compares the maps of an additive kernel of histograms on one data set.
type ErrorFigure struct {
	Set, Kernel string
	Curves      []ErrorCurve
}

// ErrorCurve is the error of a map by the number of features of an input dimension,
//
//	‖ZZᵀ - K‖/‖K‖ (Frobenius),
//
// of errorTest rows that the map has not seen: it is fitted to errorTrain others.
type ErrorCurve struct {
	Name   string
	Terms  []int
	Errors []float64
}

const errorTrain, errorTest = 500, 200

// errorVariant is a map with its options but for Terms.
type errorVariant struct {
	name  string
	cfg   feature.Config
	terms []int
}

// samplerPeriods are those of scikit-learn's AdditiveChi2Sampler for 1, 3 and 5 features, which are
// the features of the uniform window with these periods.
var samplerPeriods = map[int]float64{1: 0.8, 3: 0.5, 5: 0.4}

const sampler = "scikit-learn"

func errorVariants(k string) []errorVariant {
	odd, all := []int{1, 3, 5, 7, 9, 13, 21}, []int{1, 2, 3, 4, 5, 6, 7, 9, 13, 21}
	homogeneous := func(o feature.Options) feature.Config { return feature.Config{Map: "homogeneous", Options: o} }
	v := []errorVariant{
		{"homogeneous", homogeneous(feature.Options{}), odd},
		{"homogeneous, rectangular", homogeneous(feature.Options{Window: "rectangular"}), odd},
		{"homogeneous, uniform", homogeneous(feature.Options{Window: "uniform"}), odd},
	}
	switch k {
	case "chi2":
		v = append(v, errorVariant{sampler, homogeneous(feature.Options{Window: "uniform"}), []int{1, 3, 5}})
		for _, name := range []string{"chebyshev", "elementary"} {
			v = append(v,
				errorVariant{name, feature.Config{Map: name}, all},
				errorVariant{name + ", not stretched", feature.Config{Map: name, Options: feature.Options{Stretch: 1}}, all})
		}
	case "intersection":
		cells := []int{1, 3, 5, 7, 9, 13, 21, 40}
		v = append(v,
			errorVariant{"unary", feature.Config{Map: "unary"}, cells},
			errorVariant{"unary, step", feature.Config{Map: "unary", Options: feature.Options{Form: "step"}}, cells})
	}
	return v
}

// errorSets are the data sets of the comparison: those of histogramSets and three more. They have rows
// of numbers ≥ 0 in any order.
func errorSets() (names []string, open []func(ctx context.Context, dir string) (matrix.Rows, error)) {
	for _, s := range histogramSets {
		names = append(names, s.name)
		open = append(open, func(ctx context.Context, dir string) (matrix.Rows, error) {
			of, err := s.open(ctx, dir)
			if err != nil {
				return matrix.Rows{}, err
			}
			return of(1).train.x, nil
		})
	}
	return append(names, "ALOI colour", "KOS words", "log-uniform"),
		append(open, aloi, kos, func(context.Context, string) (matrix.Rows, error) { return logUniform(), nil })
}

// logUniform are rows of 50 numbers from 10⁻⁶ to 1 whose logarithms are uniform.
func logUniform() matrix.Rows {
	x := matrix.NewDense(errorTrain+errorTest, 50)
	r := random.New(1, "papers.loguniform")
	for i := range x.Data {
		x.Data[i] = float32(math.Pow(10, -6*r.Uniform()))
	}
	return matrix.Rows{Dense: x}
}

// aloi reads the colour histograms of ALOI, an array in an archive.
func aloi(ctx context.Context, dir string) (matrix.Rows, error) {
	path, err := find(dir, "aloi_colorhist", "1_ALOI.npz")
	if err != nil {
		return matrix.Rows{}, err
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	defer archive.Close()
	f, err := archive.Open("X.npy")
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return matrix.Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	src, err := dataset.OpenBytes(ctx, "X.npy", data, dataset.Options{})
	if err != nil {
		return matrix.Rows{}, err
	}
	defer src.Close()
	all, err := dataset.Collect(ctx, src, 0)
	return all.X, err
}

// kos reads the counts of words of the KOS documents: three lines of sizes, then document, word and
// count in each line.
func kos(ctx context.Context, dir string) (matrix.Rows, error) {
	path, err := find(dir, "uci_kos", "docword.kos.txt")
	if err != nil {
		return matrix.Rows{}, err
	}
	lines, err := readLines(path)
	if err != nil {
		return matrix.Rows{}, err
	}
	x := &matrix.CSR{Ptr: []int{0}}
	for i, line := range lines {
		var n [3]int
		fields := strings.Fields(line)
		for j, f := range fields[:min(3, len(fields))] {
			if n[j], err = strconv.Atoi(f); err != nil {
				return matrix.Rows{}, fmt.Errorf("%s:%d: %q is no number", path, i+1, f)
			}
		}
		switch {
		case i == 1:
			x.Cols = n[0]
		case i < 3:
		case len(fields) != 3 || n[0] < x.Rows || n[1] < 1 || n[1] > x.Cols:
			return matrix.Rows{}, fmt.Errorf("%s:%d: %q is not a document, one of %d words, and a count, in order", path, i+1, line, x.Cols)
		default:
			for x.Rows < n[0] {
				x.Ptr, x.Rows = append(x.Ptr, len(x.Idx)), x.Rows+1
			}
			x.Idx, x.Val = append(x.Idx, int32(n[1]-1)), append(x.Val, float32(n[2]))
			x.Ptr[x.Rows] = len(x.Idx)
		}
	}
	return matrix.Rows{CSR: x}, nil
}

// HistogramErrors makes the comparison of an additive kernel's maps for every data set that is in
// dir, and names those that are not.
func HistogramErrors(ctx context.Context, dir, name string) (figures []ErrorFigure, missing []string, err error) {
	return histogramErrors(ctx, dir, name, errorVariants(name))
}

func histogramErrors(ctx context.Context, dir, name string, variants []errorVariant) (figures []ErrorFigure, missing []string, err error) {
	names, open := errorSets()
	k := kernel.Kernel{Name: name}
	if err := k.Validate(); err != nil {
		return nil, nil, err
	}
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
		exact, err := approx.Gram(k, test)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", set, err)
		}
		figure := ErrorFigure{Set: set, Kernel: name}
		for _, v := range variants {
			curve := ErrorCurve{Name: v.name, Terms: v.terms}
			for _, terms := range v.terms {
				if err := ctx.Err(); err != nil {
					return nil, nil, err
				}
				cfg := v.cfg
				cfg.Kernel, cfg.Terms = k, terms
				if v.name == sampler {
					cfg.Period = samplerPeriods[terms]
				}
				m, err := feature.Fit(cfg, train)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %s: %w", set, v.name, err)
				}
				z := feature.Apply(m, test, &matrix.Dense{}, &matrix.CSR{})
				ours, err := approx.Gram(kernel.Kernel{Name: "linear"}, z)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %s: %w", set, v.name, err)
				}
				curve.Errors = append(curve.Errors, relative(ours, exact))
			}
			figure.Curves = append(figure.Curves, curve)
		}
		figures = append(figures, figure)
	}
	return figures, missing, nil
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
