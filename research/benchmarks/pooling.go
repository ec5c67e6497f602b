package main

import "fmt"

// methods of bilinear pooling, as package pool names them.
var methods = []string{"full", "tensorsketch", "cbp-krp", "maclaurin"}

// pooling is the time and memory of bilinear pooling, at the sizes of LS19's table 5.1.
func pooling(s sizes) *section {
	bench := func(what string) string { return goBench("./internal/solve/pool", what, 1, s.text("200ms", "1x")) }
	out := &section{
		name:  "pooling",
		title: "Bilinear pooling",
		intro: "Milliseconds an image on one thread, the least of many calls; half of the descriptors' numbers are 0, and root and L2 norm " +
			"are included. Sizes are those of the thesis (LS19, table 5.1): 13×13 locations of 512 channels (SqueezeNet, fire9) and " +
			"14×14 of 832 (GoogLeNet, incept-4e), D = 5,000, m = 5,000, t = 2, s = 100. NumPy's are written as in the thesis, with a " +
			"Fourier transform a location; with SciPy's `fft` in place of its older `fftpack` in brackets.",
	}
	least := func(id, name string) value { return milliseconds(id, name, "best-ns/op") }
	out.turns(
		command{"pool", bench("Pool/.*/thesis/(1|49|169|784)x512|Pool/.*/thesis/196x832"), readGo(1)},
		command{"numpy", python("pooling.py", "--locations 169 --channels 512 --features 5000"), readJSON})
	const both = "Pool/.*/thesis/(169x512|196x832)"
	out.turns(
		command{"avx2", "MERCER_CPU=avx2 " + bench(both), readGo(1)},
		command{"generic", "MERCER_CPU=generic " + bench(both), readGo(1)})
	out.turns(command{"backward", bench("Backward/.*/(49|169)x512"), readGo(1)})
	out.turns(command{"classifier", bench("Classifier"), readGo(1)})

	levels := table{head: []string{"", "169×512", "AVX2", "generic", "NumPy", "196×832", "AVX2", "generic"}}
	locations := table{
		intro: "By the number of locations, 512 channels; gradients are without root and norm.",
		head:  []string{"", "1 location", "49", "169", "784", "gradient, 49", "169"},
	}
	memory := table{
		intro: "What the pooling holds, and what a linear classifier of 200 classes behind it holds and takes a row. " +
			"LS19's table 5.1 has 0, 8, 280 and 19,500 KB of parameters at 512 channels.",
		head: []string{"", "pooling, 512 channels", "832", "classifier, 512 channels", "scores of a row"},
	}
	for _, m := range methods {
		name := label("`" + m + "`")
		small, large := "Pool/"+m+"/thesis/169x512", "Pool/"+m+"/thesis/196x832"
		var peer cell = val("numpy", m)
		if m == "tensorsketch" {
			peer = phrase{val("numpy", m+" fftpack"), label(" ("), val("numpy", m+" rfft"), label(")")}
		}
		levels.add(name, least("pool", small), least("avx2", small), least("generic", small), peer,
			least("pool", large), least("avx2", large), least("generic", large))

		row := []cell{name}
		for _, n := range []int{1, 49, 169, 784} {
			row = append(row, least("pool", fmt.Sprintf("Pool/%s/thesis/%dx512", m, n)))
		}
		locations.add(append(row, least("backward", "Backward/"+m+"/49x512"), least("backward", "Backward/"+m+"/169x512"))...)

		kilobytes := func(name string) cell {
			return value{metric: metric{"pool", name + " held-bytes"}, scale: 1e-3, format: integer, unit: " KB"}
		}
		scores := "Classifier/5000"
		if m == "full" {
			scores = "Classifier/262144"
		}
		memory.add(name, kilobytes(small), kilobytes(large), megabytes("classifier", scores+" held-bytes"),
			phrase{least("classifier", scores), label(" ms")})
	}
	out.tables = []table{levels, locations, memory}
	return out
}

// photographs are accuracies of pooled descriptors, in place of LS19's tables 5.3, 5.4 and 5.6,
// whose data are not to be had.
func photographs(s sizes) *section {
	out := &section{
		name:  "photographs",
		title: "Pooling of photographs",
		intro: "240 photographs of six look-alike flowers of Oxford Flowers 17 and 899 of 20 classes of Caltech-101, 13×13 locations of " +
			"384 channels (gradient histograms of three colour planes), 20 and 15 images of a class to train on, C = 10: mean and " +
			"deviation over splits, each with random numbers of its own. Milliseconds are of one image of Caltech-101 on one thread, the " +
			"least of all; memory is that of pooling and classifier. The thesis's tables 5.3 and 5.4 have descriptors of neural " +
			"networks, which are not to be had, so only the order of methods can be set beside them.",
		notes: "Second moments are worth some 20 points over the mean, and 2,000 numbers keep them. That no pooling does well is due to " +
			"objects in the middle of their photographs. The thesis has `cbp-krp` before `tensorsketch`, by half a point to three, and " +
			"`maclaurin` last; its nine settings of t and s are within 0.6 to 2.1 points of each other.",
	}
	const (
		flowers = "$DATA/flowers17_subset/flowers17_6classes_x40.tar.gz"
		caltech = "-train 15 -test 29 $DATA/caltech101_subset/caltech101_20classes_x45.tar.gz"
	)
	once := func(id, flags string, splits int, line string) {
		line = fmt.Sprintf("GOMAXPROCS=1 go run -C research ./pooling %s-splits %d %s", flags, s.n(splits, 1), line)
		out.groups = append(out.groups, group{once: true, commands: []command{{id, line, readPhotographs}}})
	}
	once("flowers", "", 10, flowers)
	once("caltech", "", 5, caltech)
	once("flowers grid", "-grid ", 10, flowers)
	once("caltech grid", "-grid ", 5, caltech)

	right := func(id, name string) cell {
		mean, scatter := metric{id, name + " accuracy"}, metric{id, name + " scatter"}
		return phrase{value{metric: mean, format: tenths}, label(" ± "), value{metric: scatter, format: tenths}}
	}
	t := table{head: []string{"pooling", "features", "Flowers-17, % right", "Caltech-101, % right", "pooling, ms", "scores, ms", "memory, MB"}}
	rows := []string{"no pooling", "mean", "mean of orf, 2,000", "full bilinear"}
	for _, m := range []string{"cbp-krp", "tensorsketch", "maclaurin"} {
		for _, d := range []int{2000, 3500, 5000} {
			rows = append(rows, fmt.Sprintf("%s, %d", m, d))
		}
	}
	for _, name := range rows {
		t.add(label(name), value{metric: metric{"caltech", name + " features"}, format: integer}, right("flowers", name), right("caltech", name),
			val("caltech", name+" pooling"), val("caltech", name+" scores"), value{metric: metric{"caltech", name + " memory"}, format: tenths})
	}
	grid := table{
		intro: "`cbp-krp`, D = 2,000 and m = 5,000, by t and s, % right (LS19, table 5.6).",
		head:  []string{"", "Flowers-17, s = 50", "100", "200", "Caltech-101, s = 50", "100", "200"},
	}
	for _, products := range []int{2, 4, 6} {
		row := []cell{label(fmt.Sprintf("t = %d", products))}
		for _, id := range []string{"flowers grid", "caltech grid"} {
			for _, sparsity := range []int{50, 100, 200} {
				row = append(row, right(id, fmt.Sprintf("cbp-krp, t = %d, s = %d", products, sparsity)))
			}
		}
		grid.add(row...)
	}
	out.tables = []table{t, grid}
	return out
}
