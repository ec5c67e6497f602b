package papers

import (
	"context"
	"fmt"
	"strconv"

	"mercer/internal/engine/random"
	"mercer/internal/search/approx"
	"mercer/internal/solve/pool"
	"mercer/matrix"
)

// lopezFigures are the figures of LS18 and LS19 that tables do not hold, and the tables of sizes.
func lopezFigures() []*Table {
	return []*Table{
		lopezTerms("1b", "CIFAR-10", "cifar10", 12, []string{"0.147±0.006", "0.101±0.005", "0.091±0.002"},
			func(_ context.Context, dir string) (func(n int, seed uint64) matrix.Rows, error) {
				x, err := cifar10(dir)
				return func(n int, seed uint64) matrix.Rows { return draw(x, n, seed, "rows") }, err
			}),
		lopezTerms("2b", "ISOLET", "isolet", 3, []string{"0.139±0.019", "0.100±0.007", "0.092±0.003"},
			func(ctx context.Context, dir string) (func(n int, seed uint64) matrix.Rows, error) {
				_, all, err := isolet(ctx, dir)
				return func(n int, seed uint64) matrix.Rows { return draw(all, n, seed, "rows") }, err
			}),
		lopezSizes(), lopezAccuracyByTerms(), lopezRepetition(), poolingSizes(),
		poolingTimes("5.3", "SqueezeNet", 13*13, 512, "22", "105 113 123", "340 747 916", "483 859 1224"),
		poolingTimes("5.4", "GoogLeNet", 14*14, 832, "74", "156 171 182", "396 872 1074", "820 1477 2100"),
	}
}

// lopezTerms is the distortion of D2PK-RP by its number of terms.
func lopezTerms(figure, set, data string, cost float64, theirs []string,
	open func(ctx context.Context, dir string) (func(n int, seed uint64) matrix.Rows, error)) *Table {
	const dim = 160
	t := &Table{
		Name:  "LS18-F" + figure,
		Title: "Distortion of D2PK-RP by its number of terms, " + set,
		Source: fmt.Sprintf("López-Sánchez, Corchado, González Arrieta 2018, figure %s; the numbers at t = 2, 10 and "+
			"30 are those of its table", figure),
		Protocol: "200 random rows, all pairs, as in LS18-" + figure[:1] +
			"; D = 160, s = 1. The paper says that from t = 100 on nothing is left between D2PK-RP and a projection " +
			"of the feature space, " +
			"which is 0.0891 with normal entries, the mean of |χ²/D - 1|.",
		Data: data, Corner: "mean distortion, by t", Columns: []string{"D2PK-RP"}, Cost: cost,
	}
	terms := []int{2, 4, 6, 10, 20, 30, 50, 100, 150, 200}
	printed := map[int]string{2: theirs[0], 10: theirs[1], 30: theirs[2]}
	for _, n := range terms {
		row := Row{Name: strconv.Itoa(n)}
		if text := printed[n]; text != "" {
			row.Theirs = figures(text)
		}
		t.Rows = append(t.Rows, row)
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		choose, err := open(ctx, dir)
		if err != nil {
			return nil, err
		}
		n := 200
		if quick {
			n = quickRows
		}
		return func(seed uint64) (experiment, error) {
			x := choose(n, seed)
			exact, err := approx.Distances2(square, x)
			return func(i int) ([]float64, error) {
				cfg := d2pk(terms[i])
				cfg.Kernel, cfg.Features, cfg.Seed = square, dim, random.Hash(seed, "papers.terms", uint64(i))
				z, err := transformed(cfg, x, x)
				if err != nil {
					return nil, err
				}
				d, err := distortion(z, exact)
				return []float64{d}, err
			}, err
		}, nil
	}
	return t
}

// lopezRepetition is LS19's comparison of ways to take vectors from a pool.
func lopezRepetition() *Table {
	const dim = 300
	pools := []int{488, 976, 2000}
	terms := []int{1, 2, 5, 10, 20, 30}
	t := &Table{
		Name:   "LS19-F4.6",
		Title:  "Distortion of PK-RP with and without repetition minimisation, MNIST",
		Source: "López-Sánchez 2019 (thesis), figure 4.6",
		Protocol: "500 random test rows, all pairs; (x·y)², D = 300, normal entries. The thesis has plots over other " +
			"t and m, and says that minimisation improves a little, most at small t. " +
			pixels,
		Data: "mnist", Corner: "mean distortion, by t", Cost: 4,
	}
	for _, m := range pools {
		t.Columns = append(t.Columns, fmt.Sprintf("m = %d, random", m), fmt.Sprintf("m = %d, even", m))
	}
	for _, n := range terms {
		t.Rows = append(t.Rows, Row{Name: strconv.Itoa(n)})
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		_, test, err := mnist(ctx, dir)
		if err != nil {
			return nil, err
		}
		n := 500
		if quick {
			n = quickRows
		}
		return func(seed uint64) (experiment, error) {
			x := draw(test, n, seed, "rows")
			exact, err := approx.Distances2(square, x)
			return func(i int) ([]float64, error) {
				var all []float64
				for j, m := range pools {
					for _, reuse := range []string{"random", "even"} {
						cfg := pk("normal", 0, m)
						cfg.Reuse, cfg.T, cfg.Kernel, cfg.Features = reuse, terms[i], square, dim
						cfg.Seed = random.Hash(seed, "papers.repetition", uint64(i*len(pools)+j))
						z, err := transformed(cfg, x, x)
						if err != nil {
							return nil, err
						}
						d, err := distortion(z, exact)
						if err != nil {
							return nil, err
						}
						all = append(all, d)
					}
				}
				return all, nil
			}, err
		}, nil
	}
	return t
}

// lopezAccuracyByTerms is LS19's figure of accuracies by t.
func lopezAccuracyByTerms() *Table {
	a := accuracies{kernel: square, dims: []int{1500}, open: func(ctx context.Context, dir string) (split, error) {
		s, err := digits(ctx, dir)
		if err != nil {
			return s, err
		}
		spread(s.train.x)
		spread(s.test.x)
		return s, nil
	}}
	for _, n := range []int{1, 2, 5, 10, 20, 30} {
		theirs := map[int]string{1: "96.95±0.12", 10: "96.98±0.11"}[n]
		if theirs == "" {
			theirs = "-"
		}
		cfg := pk("normal", 0, 488)
		cfg.T = n
		a.methods = append(a.methods, classified{strconv.Itoa(n), theirs, cfg})
	}
	t := a.table(Table{
		Name:   "LS19-F4.5",
		Title:  "Accuracy of linear SVMs on features of PK-RP by its number of terms, MNIST",
		Source: "López-Sánchez 2019 (thesis), figure 4.5; the numbers at t = 1 and 10 are those of its table 4.4",
		Protocol: "As LS19-4.4: normal entries, D = 1,500 and m = 488 (the figure does not say which). The thesis " +
			"calls the effect of t almost negligible. " +
			pixels,
		Data: "mnist", Cost: 60,
	})
	t.Corner = "accuracy in percent, by t"
	return t
}

// lopezSizes is LS18's and LS19's table of data sets.
func lopezSizes() *Table {
	t := &Table{
		Name:   "LS19-3.5",
		Title:  "Sizes of data sets of two classes",
		Source: "López-Sánchez 2019 (thesis), table 3.5 (LS18's table 5)",
		Protocol: "Ours are counted in the files. Of covtype 403,388 rows are at hand, cut 80 to 20; the size of the " +
			"feature space of (x·y)² is d(d + 1)/2. Webspam is not at hand.",
		Data: "ijcnn1", Corner: "data set", Columns: []string{"dimensions", "size of the feature space", "training rows", "test rows"},
		Rows: []Row{
			{"ijcnn1", figures("22 253 49990 91701")},
			{"MNIST 3 vs 8", figures("784 307720 11982 1984")},
			{"covtype", figures("54 1485 464809 116203")},
			{"webspam", figures("254 32385 280000 70000")},
		},
		LackingRows: 1,
		Certain:     true,
		Cost:        3,
	}
	t.Unmarked = every(t)
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		sets := lopezTwoClasses
		var sizes [][]float64
		for _, d := range sets {
			open, err := d.open(ctx, dir)
			if err != nil {
				return nil, err
			}
			s := open(1)
			d := float64(s.train.x.Dim())
			sizes = append(sizes, []float64{d, d * (d + 1) / 2, float64(s.train.x.Len()), float64(s.test.x.Len())})
			if quick {
				break
			}
		}
		return func(uint64) (experiment, error) {
			return func(i int) ([]float64, error) {
				if i >= len(sizes) {
					return nil, nil
				}
				return sizes[i], nil
			}, nil
		}, nil
	}
	return t
}

// poolings are LS19's ways to pool local descriptors.
func poolings(features int) []pool.Config {
	return []pool.Config{
		{Method: "cbp-krp", Features: features, Pool: 5000, T: 2, Sparsity: 100},
		{Method: "tensorsketch", Features: features},
		{Method: "maclaurin", Features: features},
	}
}

var poolingNames = []string{"CBP-KRP", "TensorSketch", "Random Maclaurin"}

// poolingSizes is LS19's table of the memory of bilinear pooling.
func poolingSizes() *Table {
	const classes, features = 200, 5000
	t := &Table{
		Name:   "LS19-5.1",
		Title:  "Sizes of bilinear pooling for two networks",
		Source: "López-Sánchez 2019 (thesis), table 5.1; its 19.5 and 31.7 MB are MiB",
		Protocol: "Linear classifiers of 200 classes in float32, as in the thesis; our parameters are what the " +
			"package pool holds. D = 5,000, CBP-KRP with m = 5,000, t = 2, s = 100. " +
			"The thesis's Random Maclaurin holds float32 for signs.",
		Corner: "network, method", Columns: []string{"descriptor", "parameters, KiB", "classifier, MiB"}, Cost: 0.5,
	}
	t.Unmarked = every(t)
	type cell struct {
		channels int
		cfg      pool.Config
	}
	var cells []cell
	for _, net := range []struct {
		name     string
		channels int
		theirs   []string
	}{
		{"SqueezeNet", 512, []string{"262144 0 200", "5000 280 3.8", "5000 8 3.8", "5000 19968 3.8"}},
		{"GoogLeNet", 832, []string{"692224 0 528", "5000 406 3.8", "5000 13 3.8", "5000 32461 3.8"}},
	} {
		all := append([]pool.Config{{Method: "full"}}, poolings(features)...)
		for i, name := range append([]string{"full"}, poolingNames...) {
			t.Rows = append(t.Rows, Row{net.name + ", " + name, figures(net.theirs[i])})
			cells = append(cells, cell{net.channels, all[i]})
		}
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		cfg := cells[i].cfg
		cfg.Seed = seed
		p, err := pool.New(cfg, cells[i].channels)
		if err != nil {
			return nil, err
		}
		_, d := p.Dims()
		return []float64{float64(d), float64(p.Bytes()) / 1024, 4 * classes * float64(d) / (1 << 20)}, nil
	})
	return t
}

// poolingTimes are the times of LS19's tables of bilinear pooling, which need no images.
func poolingTimes(number, network string, locations, channels int, full string, theirs ...string) *Table {
	t := &Table{
		Name:  "LS19-" + number + "-time",
		Title: "Time to pool the descriptors of an image, " + network,
		Source: "López-Sánchez 2019 (thesis), table " + number +
			": the second of its three times, of a Raspberry Pi 3 B+; ours of the machine that made this table",
		Protocol: fmt.Sprintf("One image of %d random descriptors ≥ 0 of %d channels, in place of the network's; the "+
			"least of three runs. m = 5,000, t = 2, s = 100. ", locations, channels) +
			"The accuracies beside them need " + birds + ".",
		Corner: "method", Columns: []string{"an image, ms"}, Timed: true, Cost: 1,
		Rows: []Row{{"full", figures(full)}},
	}
	t.Unmarked = every(t)
	configs := []pool.Config{{Method: "full"}}
	dims := []int{2000, 3500, 5000}
	for m, name := range poolingNames {
		for j, f := range figures(theirs[m]) {
			t.Rows = append(t.Rows, Row{fmt.Sprintf("%s, D = %d", name, dims[j]), []Figure{f}})
			configs = append(configs, poolings(dims[j])[m])
		}
	}
	t.open = drawn(func(_ context.Context, i int, seed uint64, _ bool) ([]float64, error) {
		cfg := configs[i]
		cfg.Seed = seed
		p, err := pool.New(cfg, channels)
		if err != nil {
			return nil, err
		}
		x := uniform(locations, channels, seed, "papers.descriptors")
		_, d := p.Dims()
		v := matrix.NewDense(1, d)
		ms, err := fastest(func() error {
			p.Pool(v, matrix.Rows{Dense: x}, []int{0, locations})
			return nil
		})
		return []float64{ms}, err
	})
	return t
}
