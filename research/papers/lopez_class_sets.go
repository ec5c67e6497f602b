package papers

import (
	"context"
	"math"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// twoClasses is a data set of two classes.
type twoClasses struct {
	name     string
	fixed    bool // the split does not depend on the seed
	features int  // k of the table
	rows     int  // N of the paper, by which KG-RP's p = 9√N is
	open     func(ctx context.Context, dir string) (func(seed uint64) split, error)
}

// lopezTwoClasses are the available ones of LS19's table 3.6.
var lopezTwoClasses = []twoClasses{
	{"IJCNN, k = 250", true, 250, 49990, func(ctx context.Context, dir string) (func(uint64) split, error) {
		s, err := twoFiles(ctx, dir, "ijcnn1", "ijcnn1.trn.bz2", "ijcnn1.tst.bz2", dataset.Options{Format: "libsvm", Dim: 22})
		dense(&s)
		return always(s), err
	}},
	{"MNIST 3 vs 8, k = 2000", true, 2000, 11982, func(ctx context.Context, dir string) (func(uint64) split, error) {
		s, err := digits(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, part := range []*labelled{&s.train, &s.test} {
			*part = part.only(func(class int) int { return map[int]int{3: 1, 8: 2}[class] - 1 })
			scale(part.x, func(int) float32 { return 1. / 255 })
		}
		s.classes = 2
		return always(s), nil
	}},
	{"covtype, k = 500", false, 500, 464809, func(ctx context.Context, dir string) (func(uint64) split, error) {
		all, err := covtype(ctx, dir)
		return func(seed uint64) split { return shares(all, 2, seed, 0.8, 0.2) }, err
	}},
}

// only are the rows of the classes that number gives a number of 0 or more.
func (l labelled) only(number func(class int) int) labelled {
	var rows []int
	out := labelled{}
	for i, c := range l.class {
		if n := number(c); n >= 0 {
			rows = append(rows, i)
			out.class = append(out.class, n)
		}
	}
	out.x = matrix.Pick(l.x, rows)
	return out
}

// first are the first n rows at most.
func (l labelled) first(n int) labelled {
	n = min(n, l.x.Len())
	return labelled{l.x.Slice(0, n), l.class[:n]}
}

// dense makes sparse rows dense.
func dense(s *split) {
	for _, part := range []*labelled{&s.train, &s.test} {
		if part.x.CSR != nil {
			var d matrix.Dense
			part.x.CSR.Densify(&d)
			part.x = matrix.Rows{Dense: &d}
		}
	}
}

// shares splits rows at random into a training and a test part of the given shares.
func shares(all labelled, classes int, seed uint64, train, test float64) split {
	perm := random.New(seed, "papers.shares").Perm(all.x.Len())
	take := func(rows []int) labelled {
		l := labelled{x: matrix.Pick(all.x, rows)}
		for _, i := range rows {
			l.class = append(l.class, all.class[i])
		}
		return l
	}
	n, m := int(math.Round(train*float64(len(perm)))), int(math.Round(test*float64(len(perm))))
	return split{take(perm[:n]), take(perm[len(perm)-m:]), classes}
}

// digits reads MNIST with its classes and unscaled pixels.
func digits(ctx context.Context, dir string) (split, error) {
	var s split
	var names [2][]string
	for i, name := range []string{"train", "t10k"} {
		images, err := find(dir, "mnist", name+"-images-idx3-ubyte")
		if err != nil {
			return s, err
		}
		list, err := find(dir, "mnist", name+"-labels-idx1-ubyte")
		if err != nil {
			return s, err
		}
		part := []*labelled{&s.train, &s.test}[i]
		if part.x, names[i], err = readLabelled(ctx, images, dataset.Options{Format: "idx", LabelsFile: list}); err != nil {
			return s, err
		}
	}
	classes, numbers := labels(names[0], names[1])
	s.classes, s.train.class, s.test.class = classes, numbers[0], numbers[1]
	return s, nil
}

// covtype reads the forest cover types, the second against the rest, columns scaled to [0, 1].
func covtype(ctx context.Context, dir string) (labelled, error) {
	path, err := find(dir, "covtype", "covtype.data", "covtype.sample403k.data")
	if err != nil {
		return labelled{}, err
	}
	x, names, err := readLabelled(ctx, path, dataset.Options{Format: "csv", Header: "no"})
	if err != nil {
		return labelled{}, err
	}
	d := x.Dim()
	low, high := make([]float32, d), make([]float32, d)
	copy(low, x.Dense.Row(0))
	copy(high, x.Dense.Row(0))
	for i := range x.Len() {
		for j, v := range x.Dense.Row(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	for i := range x.Len() {
		row := x.Dense.Row(i)
		for j := range row {
			row[j] = (row[j] - low[j]) / max(high[j]-low[j], math.SmallestNonzeroFloat32)
		}
	}
	l := labelled{x: x}
	for _, name := range names {
		class := 0
		if name == "2" {
			class = 1
		}
		l.class = append(l.class, class)
	}
	return l, nil
}
