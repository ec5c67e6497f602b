package main

import (
	"fmt"
	"strings"
)

// mapped is a map beside one of scikit-learn's.
type mapped struct {
	name, flags       string
	d, features, rows int // features 0: the map decides
	nnz               int // elements of a row, 0: all
	peer              string
}

// shape is what our command and theirs have in common.
func (c mapped) shape() string {
	var b strings.Builder
	if c.features > 0 {
		fmt.Fprintf(&b, "--features %d ", c.features)
	}
	fmt.Fprintf(&b, "--d %d --rows %d", c.d, c.rows)
	if c.nnz > 0 {
		fmt.Fprintf(&b, " --nnz %d", c.nnz)
	}
	return b.String()
}

// featureMaps are maps beside scikit-learn's.
func featureMaps(s sizes) *section {
	out := &section{
		name:  "maps",
		title: "Maps",
		intro: fmt.Sprintf("Microseconds a row on %d threads, of generated rows; the output is written to memory. ", s.threads) +
			"A row alone is on one thread. scikit-learn's maps take the same shapes, in float32.",
		notes: "A Gaussian projection is one product of matrices here and there, so there is next to nothing to win.",
	}
	t := table{head: []string{"map", "shape", "Mercer", "a row alone", "scikit-learn", "its time", "times as fast"}}
	many, some, few := s.n(10_000, 200), s.n(2000, 40), s.n(200, 4)
	d, features, short := s.n(784, 100), s.n(4096, 256), s.n(1024, 64)
	poly := "--kernel poly --degree "
	measured := map[string]string{} // commands of scikit-learn: their ids
	for _, c := range []mapped{
		{"`rff`", "rff", d, features, many, 0, "RBFSampler"},
		{"`orf`", "orf", d, features, many, 0, "RBFSampler"},
		{"`sorf`", "sorf", d, features, many, 0, "RBFSampler"},
		{"`sorf`", "sorf", s.n(1024, 128), 4 * features, 2 * some, 0, "RBFSampler"},
		{"`fastfood`", "fastfood", s.n(1024, 128), 4 * features, 2 * some, 0, "RBFSampler"},
		{"`tensorsketch`, degree 2", "tensorsketch " + poly + "2", d, features, some, 0, "PolynomialCountSketch --degree 2"},
		{"`tensorsketch`, degree 3", "tensorsketch " + poly + "3", d, features, some, 0, "PolynomialCountSketch --degree 3"},
		{"`tensorsketch`, degree 2, 100 elements a row", "tensorsketch " + poly + "2", s.n(20_000, 1000), short, few, 100,
			"PolynomialCountSketch --degree 2"},
		{"`tensorsrht --complex`, degree 3", "tensorsrht --complex " + poly + "3", d, features, many, 0, ""},
		{"`maclaurin`, degree 3", "maclaurin " + poly + "3", d, features, some, 0, ""},
		{"`pk-rp --pool 488 --t 1`, degree 2", "pk-rp --pool 488 --t 1 --gamma 1 --coef0 0 " + poly + "2", d, s.n(2000, 200), many, 0, ""},
		{"`rp`", "rp --kernel linear", d, short, many, 0, "GaussianRandomProjection"},
		{"`rp --sparsity 28`", "rp --kernel linear --entries sparse --sparsity 28", d, short, many, 0, "SparseRandomProjection"},
		{"`countsketch`", "countsketch --kernel linear", d, short, many, 0, ""},
		{"`homogeneous`, chi2", "homogeneous --kernel chi2 --terms 5", s.n(300, 30), 0, many, 0, "AdditiveChi2Sampler --steps 3"},
		{"`chebyshev`, chi2, 10 terms", "chebyshev --kernel chi2 --terms 10", s.n(300, 30), 0, many, 0, ""},
	} {
		id := fmt.Sprintf("%s %d", c.name, c.d)
		commands := []command{{id, fmt.Sprintf("mercer bench --json --map %s %s --threads %d", c.flags, c.shape(), s.threads), readJSON}}
		row := []cell{label(c.name), phrase{label(fmt.Sprintf("%d→", c.d)), value{metric: metric{id, "features"}, format: integer}},
			val(id, "us_per_row"), val(id, "us_one_row"), nothing, nothing, nothing}
		if c.peer != "" {
			line := python("maps.py", "%s %s --threads %d", c.peer, c.shape(), s.threads)
			theirs := measured[line]
			if theirs == "" {
				theirs = id + "/scikit-learn"
				measured[line] = theirs
				commands = append(commands, command{theirs, line, readJSON})
			}
			name, _, _ := strings.Cut(c.peer, " ")
			copy(row[4:], []cell{label(name), val(theirs, "us_per_row"), faster(id, "us_per_row", theirs, "us_per_row")})
		}
		out.turns(commands...)
		t.add(row...)
	}
	out.tables = []table{t}
	return out
}

// digits are maps of rows that are mostly zeros.
func digits(s sizes) *section {
	out := &section{
		name:  "digits",
		title: "Rows that are mostly zeros",
		intro: "All 60,000 images of MNIST, of whose pixels a fifth is not 0, in batches of 4,096: " +
			fmt.Sprintf("milliseconds on %d threads. ", s.threads) +
			"Rows cost what their elements cost, dense or sparse, up to a third of them.",
	}
	out.turns(command{"digits", goBench("./feature", "Digits", s.threads, s.text("2x", "1x")), readGo(s.threads)})
	t := table{head: []string{"map", "dense rows", "sparse rows"}}
	for _, c := range [][2]string{
		{"rff", "`rff` 784→4096"},
		{"sorf", "`sorf` 784→4096"},
		{"pk-rp", "`pk-rp --pool 488 --t 1` 784→2000 (LS19, table 4.4: 1,740 on an i7-6700K)"},
	} {
		t.add(label(c[1]), milliseconds("digits", "Digits/"+c[0]+"/dense", "ns/op"), milliseconds("digits", "Digits/"+c[0]+"/sparse", "ns/op"))
	}
	out.tables = []table{t}
	return out
}

// nystrom is the map of landmarks beside scikit-learn's.
func nystrom(s sizes) *section {
	out := &section{
		name:  "nystrom",
		title: "Nyström's method",
		intro: fmt.Sprintf("rbf, γ = 0.01, 1,000 uniform landmarks, 10,000 rows of 784 uniform numbers, %d threads. ", s.threads) +
			"The fit decides by the condition of the landmarks whether float32 suffices, as it does here.",
	}
	theirs := python("nystroem.py", "--rows %d --features %d --threads %d", s.n(10_000, 500), s.n(1000, 50), s.threads)
	out.turns(
		command{"mercer", goBench("./feature", "Nystrom/fit/uniform|Nystrom/transform", s.threads, s.text("3x", "1x")), readGo(s.threads)},
		command{"scikit-learn", theirs, readJSON})
	t := table{head: []string{"", "Mercer", "scikit-learn", "times as fast"}}
	for _, c := range [][3]string{
		{"fit, float32 rows there", "fit/uniform", "float32.fit"},
		{"fit, float64 there", "fit/uniform", "float64.fit"},
		{"transform, float32 there", "transform", "float32.transform"},
		{"transform, float64 there", "transform", "float64.transform"},
		{"transform, float64 here and there", "transform/float64", "float64.transform"},
	} {
		ours, theirs := metric{"mercer", "Nystrom/" + c[1] + " ns/op"}, metric{"scikit-learn", c[2]}
		t.add(label(c[0]), value{metric: ours, scale: 1e-9, unit: " s"}, seconds(theirs.id, theirs.key),
			ratio{ours: ours, theirs: theirs, scale: 1e-9})
	}
	out.tables = []table{t}
	return out
}
