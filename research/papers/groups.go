package papers

import (
	"context"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// groups are L12's machines of several kernels, a sum of one for each descriptor (its section 6 and table 3), on articles of Wikipedia: words of SIFT of
// their picture, topics of their text, and its words.

// descriptors are the files of the groups.
var descriptors = []struct {
	name, file, end string
	opt             dataset.Options
}{
	{"SIFT words", "image_sift_bow128", "csv", dataset.Options{Label: "0", Header: "no"}},
	{"topics", "text_lda10", "csv", dataset.Options{Label: "0", Header: "no"}},
	{"words", "text_tfidf1000", "svm", dataset.Options{Format: "libsvm", Dim: 1000}},
}

const (
	groupFeatures   = 3000 // of each kernel
	groupComponents = 1500
)

// groupMethod is a row: some of the groups, and by how many rows components are found.
type groupMethod struct {
	name       string
	groups     []int
	components string // "", "train" or "both"
}

func groupMethods() (all []groupMethod) {
	for i, d := range descriptors {
		all = append(all, groupMethod{d.name, []int{i}, ""})
	}
	three := []int{0, 1, 2}
	return append(all, groupMethod{"sum of all", three, ""}, groupMethod{"sum of all, PCA on train", three, "train"},
		groupMethod{"sum of all, PCA on train and test", three, "both"})
}

// severalKernels is the stand-in of L12's table 3.
func severalKernels() *Table {
	t := &Table{
		Name:   "L12-3",
		Cost:   40,
		Title:  "Accuracy of several exponential χ² kernels, one for each descriptor",
		Source: "after Li, Lebanon, Sminchisescu 2012, table 3, on other data: theirs are not to be had",
		Protocol: fmt.Sprintf("Articles of Wikipedia, official split: 2,173 to train on, 693 to test. exp-chi2 by the map chebyshev, D = %d for each kernel, γ "+
			"of each group by the median distance of training rows; features side by side are the sum of the kernels. Linear SVMs, squared hinge, one against all, "+
			"C by held-out training rows of the first seed. PCA keeps %d components of all features, found on the training rows, or on training and test "+
			"rows without their labels. The last column has the paper's figures on its own data, which ours are not to be compared to: segmentation by seven "+
			"descriptors with 28,000 features and 19,200 components.", groupFeatures, groupComponents),
		Data:           "wikipedia_sift",
		Corner:         "accuracy, %",
		Gain:           true,
		Columns:        []string{"Wikipedia", "their segmentation"},
		LackingColumns: 1,
	}
	theirs := map[string]string{"sum of all": "26.25±0.41", "sum of all, PCA on train": "26.95±0.35", "sum of all, PCA on train and test": "27.57±0.44"}
	methods := groupMethods()
	for _, m := range methods {
		row := Row{Name: m.name}
		if text := theirs[m.name]; text != "" {
			row.Theirs = figures("- " + text)
		}
		t.Rows = append(t.Rows, row)
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		splits, err := readDescriptors(ctx, dir)
		if err != nil {
			return nil, err
		}
		cells := firsts(len(methods), 1)
		return func(seed uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				percent, err := cells[i][0].run(seed, func(seed uint64, c float64) (percent, used float64, err error) {
					return methods[i].run(ctx, splits, c, seed, quick)
				})
				return []float64{percent}, err
			}, nil
		}, nil
	}
	return t
}

// readDescriptors reads the groups, whose rows are the same articles in the same order.
func readDescriptors(ctx context.Context, dir string) (splits []split, err error) {
	for _, d := range descriptors {
		s, err := twoFiles(ctx, dir, "wikipedia_sift", d.file+".train."+d.end, d.file+".test."+d.end, d.opt)
		if err != nil {
			return nil, err
		}
		if len(splits) > 0 && (!slices.Equal(s.train.class, splits[0].train.class) || !slices.Equal(s.test.class, splits[0].test.class)) {
			return nil, fmt.Errorf("%s has other articles than %s", d.file, descriptors[0].file)
		}
		splits = append(splits, s)
	}
	return splits, nil
}

func (m groupMethod) run(ctx context.Context, splits []split, c float64, seed uint64, quick bool) (percent, used float64, err error) {
	features := groupFeatures
	if quick {
		features = 200
	}
	var train, test []*matrix.Dense
	for _, g := range m.groups {
		of := kernel.Kernel{Name: "exp-chi2"}
		if of.Gamma, err = kernel.MedianGamma(splits[g].train.x, 1, of.Name); err != nil {
			return 0, 0, err
		}
		z, err := mapSplit(feature.Config{Map: "chebyshev", Kernel: of, Features: features, Seed: random.Hash(seed, "papers.groups", uint64(g))}, splits[g])
		if err != nil {
			return 0, 0, err
		}
		train, test = append(train, z.train.x.Dense), append(test, z.test.x.Dense)
	}
	z := splits[0]
	z.train.x, z.test.x = beside(train), beside(test)
	switch m.components {
	case "train":
		z, err = components(z, groupComponents)
	case "both":
		n := z.train.x.Len()
		both := z
		both.train.x = matrix.Rows{Dense: matrix.NewDense(n+z.test.x.Len(), z.train.x.Dim())}
		copy(both.train.x.Dense.Data, z.train.x.Dense.Data)
		copy(both.train.x.Dense.Data[n*z.train.x.Dim():], z.test.x.Dense.Data)
		both, err = components(both, groupComponents)
		z.train.x, z.test.x = both.train.x.Slice(0, n), both.test.x
	}
	if err != nil {
		return 0, 0, err
	}
	return accuracy(ctx, z.train, z.test, z.classes, c, seed)
}

// beside are the columns of several matrices side by side.
func beside(parts []*matrix.Dense) matrix.Rows {
	width := 0
	for _, p := range parts {
		width += p.Cols
	}
	all := matrix.NewDense(parts[0].Rows, width)
	for i := range all.Rows {
		row := all.Row(i)
		for _, p := range parts {
			row = row[copy(row, p.Row(i)):]
		}
	}
	return matrix.Rows{Dense: all}
}
