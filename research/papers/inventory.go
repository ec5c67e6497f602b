package papers

import (
	"slices"
	"strings"
)

// Item is a table or a figure of one of the papers.
type Item struct {
	Paper  string // its mark, such as S14
	Number string // such as table 4.1
	Shows  string

	// By are the names of the tables that reproduce it.
	By []string

	// Lacks names the data it needs that are not available; for an item that
	// tables reproduce, the part that needs them.
	Lacks string

	// Near is the nearest substitute if data are lacking: tables by their names, or another place.
	Near string

	// Drawing is what an item is that shows no experiment: a drawing, a formula.
	Drawing string
}

// Mark describes why an item, or a part of one, is not reproduced by any table.
func (i Item) Mark() string {
	switch {
	case i.Lacks != "" && i.Near != "":
		return string(NoData) + ": " + i.Lacks + "; nearest: " + i.Near
	case i.Lacks != "":
		return string(NoData) + ": " + i.Lacks
	case i.Drawing != "":
		return "no experiment: " + i.Drawing
	}
	return ""
}

// How is what reproduces an item, its mark, or both.
func (i Item) How() string {
	how := strings.Join(i.By, ", ")
	if mark := i.Mark(); how == "" {
		return mark
	} else if mark != "" {
		return how + "; " + mark
	}
	return how
}

// item makes an Item with tables of the names by, separated by blanks.
func item(paper, number, shows, by string) Item {
	return Item{Paper: paper, Number: number, Shows: shows, By: strings.Fields(by)}
}

func lacking(paper, number, shows, lacks, near string) Item {
	return Item{Paper: paper, Number: number, Shows: shows, Lacks: lacks, Near: near}
}

// partly is an item with a part that lacks data.
func partly(i Item, lacks string) Item {
	i.Lacks = lacks
	return i
}

func drawing(paper, number, shows, what string) Item {
	return Item{Paper: paper, Number: number, Shows: shows, Drawing: what}
}

// Inventory lists all tables and figures of the five papers. K10 numbers none, so that they have the
// titles of their slides.
func Inventory() []Item {
	return slices.Concat(sivertsenItems(), lopez2018Items(), lopez2019Items(), kumarItems(), chebyshevItems())
}

func sivertsenItems() []Item {
	const p = "S14"
	return []Item{
		drawing(p, "figure 1.1", "a feature space in which classes are separable", "a drawing"),
		drawing(p, "table 1.1", "definitions", "a list of symbols"),
		drawing(p, "figure 2.1", "properties of HGH", "a drawing"),
		drawing(p, "figure 2.2", "how V is stacked from blocks", "a drawing"),
		drawing(p, "figure 2.3", "a CountSketch", "a drawing"),
		drawing(p, "figure 3.1", "overview of an implementation", "a drawing"),
		drawing(p, "table 3.1", "properties that tests check", "a list"),
		item(p, "figure 4.1", "Fastfood's estimates against the kernel", "S14-F4.1"),
		item(p, "figure 4.2", "TensorSketch's estimates on two ranges of inputs", "S14-F4.2"),
		item(p, "figure 4.3", "error by D (plots table 4.1)", "S14-4.1"),
		item(p, "table 4.1", "error of Fastfood and TensorSketch by D", "S14-4.1"),
		item(p, "figure 4.4", "error of Fastfood by D, σ = 3", "S14-F4.4"),
		item(p, "figure 4.5", "Fastfood's estimates by σ", "S14-F4.5"),
		item(p, "figure 4.6", "error over the kernel's range", "S14-F4.6"),
		item(p, "figure 4.7", "error of TensorSketch by the sparsity of inputs", "S14-F4.7"),
		item(p, "figure 4.8", "estimates of one kernel turned into the other's", "S14-F4.8"),
		drawing(p, "table 4.2", "time and storage", "formulas"),
		drawing(p, "table 4.3", "cost by n", "formulas"),
		item(p, "figure 4.9", "time by n", "S14-F4.9"),
		drawing(p, "table 4.4", "cost by D", "formulas"),
		item(p, "figure 4.10", "time by D", "S14-F4.10"),
		drawing(p, "table 4.5", "cost by d", "formulas"),
		item(p, "figure 4.11", "time by d", "S14-F4.11"),
		item(p, "table 4.6", "MNIST by linear machines on both maps, and by both kernels", "S14-4.6"),
		item(p, "figure A.1", "time of the Walsh-Hadamard transform", "S14-FA.1"),
		item(p, "figure C.1", "time by n, with phases", "S14-F4.9"),
		item(p, "figure C.2", "time by D, with phases", "S14-F4.10"),
		item(p, "figure C.3", "time by d, with phases", "S14-F4.11"),
		item(p, "figure C.4", "error by D, with phases", "S14-F4.4"),
		item(p, "figure D.1", "estimates turned into the other's by the inputs' lengths", "S14-F4.8"),
	}
}

const (
	stl     = "STL-10, 96×96 images"
	webspam = "webspam, 350,000 pages by single words"
	birds   = "CUB-200-2011, Stanford Cars and Oxford Flowers 102, and the weights of SqueezeNet and GoogLeNet"
	pascal  = "segments of PASCAL VOC 2010 with their descriptors"
	caltech = "Caltech-101 with the lecture's histograms"
)

// The nearest substitutes for tables whose data are not available.
const (
	nearSTL      = "LS18-1 and LS18-F1b, images of CIFAR-10"
	nearPooling  = "the order of methods on photographs of Flowers-17 and Caltech-101, docs/benchmarks.md"
	nearBags     = "means of a map on photographs of Flowers-17 and Caltech-101, docs/benchmarks.md"
	nearSegments = "L12-1, other histograms"
)

func lopez2018Items() []Item {
	const p = "LS18"
	return []Item{
		item(p, "figure 1a", "distortion by D, CIFAR-10 (plots table 1)", "LS18-1"),
		item(p, "figure 1b", "distortion of D2PK-RP by t, CIFAR-10", "LS18-F1b"),
		item(p, "table 1", "distortion and times, CIFAR-10", "LS18-1 LS18-1-time"),
		item(p, "figure 2a", "distortion by D, ISOLET (plots table 2)", "LS18-2"),
		item(p, "figure 2b", "distortion of D2PK-RP by t, ISOLET", "LS18-F2b"),
		item(p, "table 2", "distortion and times, ISOLET", "LS18-2 LS18-2-time"),
		lacking(p, "figure 3", "distortion by D and by t, STL-10", stl, nearSTL),
		lacking(p, "table 3", "distortion and times, STL-10", stl, nearSTL),
		item(p, "table 4", "tests over tables 1 to 3", "LS19-3.4"),
		partly(item(p, "table 5", "sizes of data sets", "LS19-3.5"), webspam),
		partly(item(p, "table 6", "accuracies on features of (x·y)²", "LS19-3.6"), webspam),
	}
}

func lopez2019Items() []Item {
	const p = "LS19"
	var chapter2 []Item
	for _, f := range []struct{ number, shows string }{
		{"2.1", "random projection"}, {"2.2", "kernel and feature map"}, {"2.3", "a feature map"}, {"2.4", "the image of a feature map"},
		{"2.5", ""}, {"2.6", "random projection from a feature space"}, {"2.7", "a bilinear CNN"},
	} {
		if f.number == "2.5" {
			chapter2 = append(chapter2, item(p, "figure 2.5", "a digit and the weights of a linear classifier in the feature space of (x·y)²", "LS19-F2.5"))
			continue
		}
		chapter2 = append(chapter2, drawing(p, "figure "+f.number, f.shows, "a drawing"))
	}
	return append(chapter2, []Item{
		item(p, "figure 3.1", "correlation of projection vectors in the feature space of (x·y)²", "LS19-F3.2"),
		item(p, "figure 3.2", "their distance correlation", "LS19-F3.2"),
		item(p, "figure 3.3", "their distance correlation by factors in common", "LS19-F3.2"),
		item(p, "figure 4.1", "correlation of products of random vectors", "LS19-F4.2"),
		item(p, "figure 4.2", "their distance correlation", "LS19-F4.2"),
		item(p, "figure 4.3", "their distance correlation by factors in common", "LS19-F4.2"),
		drawing(p, "figure 3.4", "images of CIFAR-10", "a picture"),
		item(p, "figure 3.5", "distortion by D and by t, CIFAR-10 (LS18's figure 1)", "LS18-1 LS18-F1b"),
		item(p, "table 3.1", "distortion and times, CIFAR-10 (LS18's table 1)", "LS18-1 LS18-1-time"),
		item(p, "figure 3.6", "distortion by D and by t, ISOLET (LS18's figure 2)", "LS18-2 LS18-F2b"),
		item(p, "table 3.2", "distortion and times, ISOLET (LS18's table 2)", "LS18-2 LS18-2-time"),
		lacking(p, "figure 3.7", "distortion by D and by t, STL-10", stl, nearSTL),
		lacking(p, "table 3.3", "distortion and times, STL-10", stl, nearSTL),
		item(p, "table 3.4", "tests over tables 3.1 to 3.3", "LS19-3.4"),
		partly(item(p, "table 3.5", "sizes of data sets", "LS19-3.5"), webspam),
		partly(item(p, "table 3.6", "accuracies on features of (x·y)²", "LS19-3.6"), webspam),
		drawing(p, "table 4.1", "complexities", "formulas"),
		drawing(p, "figure 4.4", "images of MNIST", "a picture"),
		item(p, "table 4.2", "distortion and times, (x·y)², MNIST", "LS19-4.2 LS19-4.2-time"),
		item(p, "table 4.3", "distortion and times, (x·y)³, MNIST", "LS19-4.3 LS19-4.3-time"),
		item(p, "table 4.4", "accuracies and times, MNIST", "LS19-4.4 LS19-4.4-time"),
		item(p, "figure 4.5", "accuracy of PK-RP by t, MNIST", "LS19-F4.5"),
		lacking(p, "table 4.5", "distortion and times, (x·y)², webspam", webspam, "LS19-4.8, w8a"),
		lacking(p, "table 4.6", "distortion and times, (x·y)³, webspam", webspam, "LS19-4.9, w8a"),
		lacking(p, "table 4.7", "accuracies and times, webspam", webspam, "LS19-4.10, w8a"),
		item(p, "table 4.8", "distortion and times, (x·y)², w8a", "LS19-4.8 LS19-4.8-time"),
		item(p, "table 4.9", "distortion and times, (x·y)³, w8a", "LS19-4.9 LS19-4.9-time"),
		item(p, "table 4.10", "F1 and times, w8a", "LS19-4.10 LS19-4.10-time"),
		item(p, "table 4.11", "choice of the degree, covtype", "LS19-4.11"),
		item(p, "figure 4.6", "distortion with and without repetition minimisation", "LS19-F4.6"),
		drawing(p, "figure 5.1", "bilinear pooling", "a drawing"),
		item(p, "table 5.1", "sizes of bilinear pooling", "LS19-5.1"),
		drawing(p, "table 5.2", "two devices", "their data sheets"),
		drawing(p, "figure 5.2", "two devices", "a picture"),
		item(p, "table 5.3, times", "time of bilinear pooling, SqueezeNet", "LS19-5.3-time"),
		lacking(p, "table 5.3, accuracies", "accuracies of bilinear pooling, SqueezeNet", birds, nearPooling),
		item(p, "table 5.4, times", "time of bilinear pooling, GoogLeNet", "LS19-5.4-time"),
		lacking(p, "table 5.4, accuracies", "accuracies of bilinear pooling, GoogLeNet", birds, nearPooling),
		lacking(p, "table 5.5", "accuracies with all layers trained", birds, nearPooling+" (no layers trained)"),
		lacking(p, "table 5.6", "accuracies of CBP-KRP by t and s", birds,
			"accuracies by t and s on photographs of Flowers-17 and Caltech-101, docs/benchmarks.md"),
		lacking(p, "figure 5.3", "accuracy and time of CBP-KRP by its pool and by D", birds, "accuracy and time by the pool and by D on photographs of Flowers-17, docs/papers-tables.md"),
	}...)
}

func kumarItems() []Item {
	const p = "K10"
	return []Item{
		partly(item(p, "example results", "errors and times of least squares on random features", "K10-1 K10-1-time"),
			"Census, 18,000 rows of 119 columns"),
		lacking(p, "learned low-dimensional features", "accuracies on Caltech-256 by match kernels",
			"Caltech-256 with its local descriptors", nearBags),
		drawing(p, "example kernels", "spectra of homogeneous kernels", "formulas; tests check them"),
		{Paper: p, Number: "additive kernels", Shows: "accuracies and times on " + caltech + "; here on other histograms", By: []string{"K10-2"}},
		{Paper: p, Number: "intersection kernel",
			Shows: "accuracies and times on " + caltech + "; here on other histograms", By: []string{"K10-3"}},
		{Paper: p, Number: "prediction with the intersection kernel",
			Shows: "times on INRIA, DaimlerChrysler and Caltech-101; here on other histograms", By: []string{"K10-4"}},
	}
}

func chebyshevItems() []Item {
	const p = "L12"
	return []Item{
		item(p, "figure 1", "the constant C of the series by the input", "L12-F1"),
		{Paper: p, Number: "table 1", Shows: "accuracies on " + pascal + " (HOG); here on other histograms",
			By: []string{"L12-1", "L12-1-3000", "L12-1-5000"}},
		{Paper: p, Number: "table 2", Shows: "accuracies on " + pascal + " (SIFT words); here on other histograms",
			By: []string{"L12-1", "L12-1-3000", "L12-1-5000"}},
		{Paper: p, Number: "table 3", Shows: "segmentation of PASCAL VOC 2010 with several kernels; here articles with three descriptors", By: []string{"L12-3"}},
		lacking(p, "table 4", "accuracies on ImageNet", "ILSVRC 2010 with its bags of words", nearSegments+", beside its figures"),
	}
}
