package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
)

// histogramSet is a data set of histograms: a function that splits it by a seed.
type histogramSet struct {
	name  string
	fixed bool // the split does not depend on the seed
	open  func(ctx context.Context, dir string) (func(seed uint64) split, error)
}

// histogramSets are those of the comparison of histogram kernels.
var histogramSets = []histogramSet{
	{"wikipedia SIFT", true, func(ctx context.Context, dir string) (func(uint64) split, error) {
		s, err := twoFiles(ctx, dir, "wikipedia_sift", "image_sift_bow128.train.csv", "image_sift_bow128.test.csv",
			dataset.Options{Label: "0", Header: "no"})
		return always(s), err
	}},
	{"outdoor colour", false, func(ctx context.Context, dir string) (func(uint64) split, error) {
		all, classes, err := outdoor(ctx, dir)
		return func(seed uint64) split { return cut(all, classes, seed) }, err
	}},
	{"optdigits", true, func(ctx context.Context, dir string) (func(uint64) split, error) {
		s, err := twoFiles(ctx, dir, "optdigits", "optdigits.tra", "optdigits.tes", dataset.Options{Header: "no"})
		for _, part := range []labelled{s.train, s.test} {
			if err == nil {
				scale(part.x, func(int) float32 { return 1. / 16 })
			}
		}
		return always(s), err
	}},
	{"spambase", false, func(ctx context.Context, dir string) (func(uint64) split, error) {
		path, err := find(dir, "spambase", "spambase.data")
		if err != nil {
			return nil, err
		}
		x, names, err := readLabelled(ctx, path, dataset.Options{Format: "csv", Header: "no"})
		if err != nil {
			return nil, err
		}
		most := make([]float32, x.Dim())
		for i := range x.Len() {
			for j, v := range x.Dense.Row(i) {
				most[j] = max(most[j], v)
			}
		}
		scale(x, func(j int) float32 { return 1 / max(most[j], math.SmallestNonzeroFloat32) })
		classes, numbers := labels(names)
		return func(seed uint64) split { return cut(labelled{x, numbers[0]}, classes, seed) }, nil
	}},
	{"Reuters R8 words", true, func(ctx context.Context, dir string) (func(uint64) split, error) {
		s, err := documents(ctx, dir)
		return always(s), err
	}},
}

func always(s split) func(uint64) split { return func(uint64) split { return s } }

// scale multiplies columns of dense rows by factors.
func scale(x matrix.Rows, factor func(j int) float32) {
	for i := range x.Len() {
		row := x.Dense.Row(i)
		for j := range row {
			row[j] *= factor(j)
		}
	}
}

// histogramMethod is a row of the comparison: its procedure for a split, given γ of exp-chi2 or c
// of skewed-chi2, and C or 0 to choose it.
type histogramMethod struct {
	name   string
	random bool // by a random map
	run    func(ctx context.Context, s split, shape float64, features int, c float64, seed uint64) (percent, used float64, err error)
}

// byMap is the method of a feature map, which finds its own C.
func byMap(name string, cfg feature.Config, times int) histogramMethod {
	byChance := cfg.Kernel.Kind() == kernel.ExpChi2 || cfg.Kernel.Kind() == kernel.SkewedChi2
	return histogramMethod{name, byChance, func(ctx context.Context, s split, shape float64, features int, c float64,
		seed uint64) (percent, used float64, err error) {
		cfg := cfg
		cfg.Seed = random.Hash(seed, "papers.histograms "+name, 0)
		z, err := mapHistograms(cfg, s, shape, features, times)
		if err != nil {
			return 0, 0, err
		}
		return accuracy(ctx, z.train, z.test, s.classes, c, seed)
	}}
}

// mapHistograms maps a split to features of the random maps, whose kernels have γ or c of shape, or to the first
// principal components of a multiple of D features.
func mapHistograms(cfg feature.Config, s split, shape float64, features, times int) (split, error) {
	switch cfg.Kernel.Kind() {
	case kernel.ExpChi2:
		cfg.Kernel.Gamma, cfg.Features = shape, times*features
	case kernel.SkewedChi2:
		cfg.Kernel.Coef0, cfg.Features = shape, features
	}
	z, err := mapSplit(cfg, s)
	if err != nil || times == 1 {
		return z, err
	}
	return components(z, features)
}

// histogramMethods are the rows of the comparison. Those by a random map depend on D.
func histogramMethods() []histogramMethod {
	exponential := func(first string, times int) histogramMethod {
		name := "exp-chi2, " + first
		if times > 1 {
			name += fmt.Sprintf(", PCA of %dD", times)
		}
		return byMap(name, feature.Config{Map: first, Kernel: kernel.Kernel{Name: "exp-chi2"}}, times)
	}
	all := []histogramMethod{
		{"linear", false, func(ctx context.Context, s split, _ float64, _ int, c float64, seed uint64) (percent, used float64, err error) {
			return accuracy(ctx, s.train, s.test, s.classes, c, seed)
		}},
		byMap("chi2, homogeneous", feature.Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "chi2"}}, 1),
		byMap("intersection, homogeneous", feature.Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "intersection"}}, 1),
		byMap("skewed-chi2", feature.Config{Map: "skewed", Kernel: kernel.Kernel{Name: "skewed-chi2"}}, 1),
	}
	for _, times := range []int{1, 3} {
		for _, first := range []string{"chebyshev", "elementary", "homogeneous"} {
			all = append(all, exponential(first, times))
		}
	}
	return append(all, histogramMethod{"exp-chi2, exact", false,
		func(ctx context.Context, s split, gamma float64, _ int, c float64, seed uint64) (percent, used float64, err error) {
			return exactMachine(ctx, kernel.Kernel{Name: "exp-chi2", Gamma: gamma}, s, c, seed)
		}})
}

// skewness is the c of skewed-chi2, out of a few powers of ten, with which machines on 2,000
// features have the least error on held-out training rows, each with the best C. It is
// the scale below which numbers count as 0, and the kernel's only parameter.
func skewness(ctx context.Context, train labelled, classes int) (float64, error) {
	best, least := 0.0, math.Inf(1)
	for _, c := range []float64{1, 0.1, 0.01, 0.001} {
		m, err := feature.New(feature.Config{Map: "skewed", Kernel: kernel.Kernel{Name: "skewed-chi2", Coef0: c},
			Features: 2000, Seed: 1}, train.x.Dim())
		if err != nil {
			return 0, err
		}
		z := learn.InMemory(feature.Apply(m, train.x, &matrix.Dense{}, &matrix.CSR{}))
		_, path, err := learn.ChooseC(ctx, z, train.class, classes, nil, learn.SVM{Seed: 1, MaxIter: passes})
		if err != nil {
			return 0, err
		}
		for _, p := range path {
			if p.Error < least {
				best, least = c, p.Error
			}
		}
	}
	return best, nil
}

// histogramFeatures are D of L12's tables. The first is that of L12-1, which also has the rows that do not depend on D.
var histogramFeatures = []int{7000, 3000, 5000}

// chebyshevColumns are the data of L12's tables 1 to 4, which are not to be had.
var chebyshevColumns = []string{"their VOC, HOG", "their VOC, SIFT words", "their segmentation", "their ImageNet"}

// chebyshevFigures are L12's figures of a method with d features, in these columns; "" if it has none.
func chebyshevFigures(method string, d int) string {
	at := map[int]int{3000: 0, 5000: 1, 7000: 2}[d]
	switch method {
	case "linear":
		return "- - - 11.6"
	case "chi2, homogeneous":
		return []string{"29.15 41.91", "30.50 42.32", "31.22 42.12"}[at] + " - -"
	case "skewed-chi2":
		return []string{"30.08±0.74 39.82±0.73", "30.37±0.63 40.79±0.55", "30.51±0.35 40.90±0.82"}[at] + " - -"
	case "exp-chi2, chebyshev":
		return []string{"31.26±0.62 41.48±0.95 - 16.30±0.04", "32.75±0.71 42.52±0.88 - 17.11±0.04",
			"33.03±0.87 42.65±0.47 26.25±0.41 17.63±0.09"}[at]
	case "exp-chi2, homogeneous":
		return []string{"31.37±0.77 41.08±1.22 - 16.05±0.04", "32.19±0.83 42.06±0.92 - 16.97±0.08",
			"32.66±0.78 42.46±0.72 25.50±0.54 17.46±0.09"}[at]
	case "exp-chi2, chebyshev, PCA of 3D":
		return []string{"32.74±0.62 42.80±0.74 - 16.66±0.08", "33.35±0.68 43.25±0.55 - 18.05±0.08",
			"33.49±0.45 43.42±0.42 26.95±0.35 18.85±0.10"}[at]
	case "exp-chi2, exact":
		return "34.34 44.19 30.47 -"
	}
	return ""
}

// histograms are comparisons of kernels and maps of histograms after K10 (S. Kumar, Large-scale
// kernel methods, lecture, 2010) and L12 (F. Li, G. Lebanon, C. Sminchisescu, Chebyshev
// approximations to the histogram χ² kernel, 2012), on available data.
func histograms() []*Table {
	var all []*Table
	for i, d := range histogramFeatures {
		t := &Table{
			Name:   "L12-1",
			Cost:   90,
			Title:  "Accuracy of linear, additive and exponential χ² kernels on histograms",
			Source: "after Li, Lebanon, Sminchisescu 2012, tables 1 to 4, and Kumar 2010, on other data: theirs are not to be had",
			Protocol: fmt.Sprintf("Linear SVMs, squared hinge, one against all. D = %d for skewed-chi2 and exp-chi2; "+
				"the additive maps have their default number of features. ", d) +
				"γ of exp-chi2 is that of the median distance of training rows; c of skewed-chi2 is the power of ten " +
				"from 0.001 to 1 that does best, with 2,000 features, on held-out training rows of the first " +
				"seed. Every method chooses its C on held-out training rows of the first seed and keeps it. What " +
				"depends on no random number runs once. " +
				"PCA of 3D is of the 3D features of training rows, down to D; of D + 1 training rows and fewer it " +
				"keeps all there is, which for an SVM is as good as no PCA: rows are from 2,173 (Wikipedia) to 5,485 (R8). " +
				"Official splits of wikipedia, optdigits and R8 (the seeds draw maps only), two thirds at random to " +
				"train on of the others. optdigits is divided by 16, spambase by the largest value of each " +
				"column, R8 are counts of words divided by their sum. The last columns are the paper's figures on its own data, to which " +
				"ours are not to be compared: segments of PASCAL VOC 2010 by two descriptors (tables 1 and 2), their segmentation by " +
				"seven descriptors with 28,000 features, and with 19,200 components of training rows (table 3; of test rows as well 27.57±0.44; " +
				"Nyström 27.55±0.49), and ImageNet (table 4). Theirs in the row of the exact machine of table 3 is kernel SVR.",
			Data:   "wikipedia_sift",
			Corner: "accuracy, %",
			Gain:   true,
		}
		methods := histogramMethods()
		if i > 0 {
			t.Name += fmt.Sprintf("-%d", d)
			t.Title += fmt.Sprintf(", D = %d", d)
			methods = slices.DeleteFunc(methods, func(m histogramMethod) bool { return !m.random })
		}
		for _, s := range histogramSets {
			t.Columns = append(t.Columns, s.name)
		}
		t.Columns, t.LackingColumns = append(t.Columns, chebyshevColumns...), len(chebyshevColumns)
		for _, m := range methods {
			row := Row{Name: m.name}
			if text := chebyshevFigures(m.name, d); text != "" {
				row.Theirs = figures(strings.Repeat("- ", len(histogramSets)) + text)
			}
			t.Rows = append(t.Rows, row)
		}
		t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
			return compareHistograms(ctx, dir, quick, methods, d)
		}
		all = append(all, t)
	}
	return all
}

// compareHistograms runs the methods on the data sets, or on the first if quick.
func compareHistograms(ctx context.Context, dir string, quick bool, methods []histogramMethod, features int) (run, error) {
	sets := histogramSets
	if quick {
		sets = sets[:1]
	}
	splits := make([]func(uint64) split, len(sets))
	gammas, skews := make([]float64, len(sets)), make([]func() (float64, error), len(sets))
	for i, set := range sets {
		var err error
		if splits[i], err = set.open(ctx, dir); err != nil {
			return nil, err
		}
		if gammas[i], err = kernel.MedianGamma(splits[i](1).train.x, 1, "exp-chi2"); err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
		skews[i] = sync.OnceValues(func() (float64, error) {
			s := splits[i](1)
			return skewness(ctx, s.train, s.classes)
		})
	}
	cells := firsts(len(methods), len(sets))
	return func(seed uint64) (experiment, error) {
		return func(i int) ([]float64, error) {
			var all []float64
			for j := range sets {
				seed := seed
				if sets[j].fixed && !methods[i].random {
					seed = 1 // nothing depends on it
				}
				percent, err := cells[i][j].run(seed, func(seed uint64, c float64) (percent, used float64, err error) {
					shape := gammas[j]
					if methods[i].name == "skewed-chi2" {
						if shape, err = skews[j](); err != nil {
							return 0, 0, err
						}
					}
					return methods[i].run(ctx, splits[j](seed), shape, features, c, seed)
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", sets[j].name, err)
				}
				all = append(all, percent)
			}
			return all, nil
		}, nil
	}, nil
}
