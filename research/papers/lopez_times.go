package papers

import (
	"context"
	"fmt"
	"time"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// timings describes a table of times of maps: methods by D.
type timings struct {
	kernel  kernel.Kernel
	dims    []int
	methods []method
	unit    float64 // of a second
	apart   bool    // two columns for each D: to fit the map, and to map rows

	// open reads the data. Its function draws the rows that are mapped, and
	// rows to fit maps to.
	open func(ctx context.Context, dir string) (func(seed uint64) (x, train matrix.Rows), error)
}

// table completes a table from its description.
func (d timings) table(t Table) *Table {
	for _, dim := range d.dims {
		if d.apart {
			t.Columns = append(t.Columns, fmt.Sprintf("D = %d, fit", dim), fmt.Sprintf("D = %d, map", dim))
		} else {
			t.Columns = append(t.Columns, fmt.Sprintf("D = %d", dim))
		}
	}
	for _, m := range d.methods {
		t.Rows = append(t.Rows, Row{m.name, figures(m.theirs)})
	}
	t.Unmarked, t.Timed = every(&t), true
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		choose, err := d.open(ctx, dir)
		if err != nil {
			return nil, err
		}
		dims := d.dims
		if quick {
			dims = dims[:1]
		}
		return func(seed uint64) (experiment, error) {
			x, train := choose(seed)
			if quick {
				x = x.Slice(0, min(quickRows, x.Len()))
			}
			return func(i int) ([]float64, error) {
				if quick && d.methods[i].cfg.Map == "kg-rp" && d.methods[i].cfg.Pool > quickPool {
					return nil, nil
				}
				var all []float64
				for j, dim := range dims {
					cfg := d.methods[i].cfg
					cfg.Kernel, cfg.Features = d.kernel, dim
					cfg.Seed = random.Hash(seed, "papers.times", uint64(i*len(d.dims)+j))
					sample := x.Slice(0, 1) // not used by a map that is drawn
					if n := max(cfg.Pool, dim); feature.NeedsSample(cfg) {
						sample = draw(train, n, cfg.Seed, "sample")
						if cfg.Map == "nystrom" {
							sample = sample.Slice(0, min(dim, sample.Len()))
						} else {
							sample = sample.Slice(0, min(cfg.Pool, sample.Len()))
						}
					}
					start := time.Now()
					m, err := feature.Fit(ctx, cfg, sample)
					if err != nil {
						return nil, err
					}
					fitted := time.Now()
					_ = feature.Apply(m, x, &matrix.Dense{}, &matrix.CSR{})
					fit, mapped := fitted.Sub(start).Seconds()/d.unit, time.Since(fitted).Seconds()/d.unit
					if d.apart {
						all = append(all, fit, mapped)
					} else {
						all = append(all, fit+mapped)
					}
				}
				return all, nil
			}, nil
		}, nil
	}
	return &t
}

// projections are rows of LS19's tables: PK-RP by three kinds of entries, and KG-RP.
func projections(t, m int, normal, s1, s3, kulis string) []method {
	name := func(what string) string { return fmt.Sprintf("%s, t = %d, m = %d", what, t, m) }
	pool := func(entries string, s float64) feature.Config {
		cfg := pk(entries, s, m)
		cfg.T = t
		return cfg
	}
	return []method{
		{name("PK-RP normal"), normal, pool("normal", 0)},
		{name("PK-RP s = 1"), s1, pool("sparse", 1)},
		{name("PK-RP s = 3"), s3, pool("sparse", 3)},
		{name("KG-RP"), kulis, kg(m, t)},
	}
}

// together appends lists.
func together(lists ...[]method) (all []method) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// lopezTimes are the times that LS18 and LS19 give beside their figures.
func lopezTimes() []*Table {
	return append(lopezTimes2018(), lopezTimes2019()...)
}

func lopezTimes2018() []*Table {
	table := func(number, title, data string, cost float64) Table {
		return Table{
			Name: "LS18-" + number + "-time", Title: title, Data: data, Corner: "milliseconds", Cost: cost,
			Source: "López-Sánchez, Corchado, González Arrieta 2018, table " + number +
				": times of its machine, of which it says nothing; ours of the machine that made this table",
			Protocol: "To draw or to fit the map, and to map 200 rows; one run a seed. Data and options as in LS18-" + number + ".",
		}
	}
	methods := func(figures ...string) []method {
		list := []method{
			{name: "φ + RP, normal", cfg: explicit("normal", 0)}, {name: "D2PK-RP, t = 1", cfg: d2pk(1)}, {name: "D2PK-RP, t = 2", cfg: d2pk(2)},
			{name: "D2PK-RP, t = 10", cfg: d2pk(10)}, {name: "D2PK-RP, t = 30", cfg: d2pk(30)},
		}
		for i := range list {
			list[i].theirs = figures[i]
		}
		return list
	}
	kulis := func(pool int, figures string) method {
		return method{fmt.Sprintf("KG-RP, m = %d", pool), figures, kg(pool, 10)}
	}
	base := timings{kernel: square, dims: []int{40, 80, 120, 160}, unit: 1e-3, apart: true}
	images, speech := base, base
	images.methods = append(methods(
		"7433.7 4837.7 9974.4 5263.4 18288.6 6142.6 36351.8 9226.9",
		"3.6 0.41 5.6 0.61 10.6 0.81 16.6 0.95",
		"2.14 0.81 5.05 1.29 6.85 1.36 12.5 1.66",
		"11.6 3.58 28.7 3.66 38.9 7.8 47.4 8.11",
		"35.2 9.9 70.0 16.9 116.8 18.5 148.7 23.4"),
		kulis(669, "3311.0 5.02 3344.5 5.44 3430.0 6.59 3527.6 6.86"),
		kulis(1338, "13473.4 9.38 13634 9.41 13878.2 11.61 14156.4 11.83"),
		kulis(2007, "31532.1 15.52 32111.9 15.63 32607.4 16.31 33442.0 18.0"))
	images.open = func(_ context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		x, err := cifar10(dir)
		return func(seed uint64) (test, train matrix.Rows) { return part(x, 200, seed) }, err
	}
	speech.methods = append(methods(
		"226.6 665.3 428.2 692.6 594.1 723.5 881.6 732.1",
		"0.9 0.09 1.4 0.14 1.8 0.19 2.7 0.25",
		"0.3 0.17 0.6 0.34 1.2 0.4 1.6 0.57",
		"2.2 0.84 5.2 1.4 9.3 1.96 9.7 2.59",
		"7.1 2.48 16.8 4.0 27.0 6.09 31.5 4.86"),
		kulis(234, "448.7 0.8 454.8 0.86 482.6 0.96 492.9 1.25"),
		kulis(468, "1668.9 1.45 1768.5 2.05 1845.9 2.13 1896.1 2.82"),
		kulis(702, "3588.1 2.49 3730.68 2.56 3820.1 3.33 4012.4 3.41"))
	speech.open = func(ctx context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		train, all, err := isolet(ctx, dir)
		return func(seed uint64) (matrix.Rows, matrix.Rows) { return draw(all, 200, seed, "rows"), train }, err
	}
	return []*Table{
		images.table(table("1", "Times of maps of (x·y)², CIFAR-10", "cifar10", 60)),
		speech.table(table("2", "Times of maps of (x·y)², ISOLET", "isolet", 3)),
	}
}

func lopezTimes2019() []*Table {
	table := func(number, title, data string, cost float64) Table {
		return Table{
			Name: "LS19-" + number + "-time", Title: title, Data: data, Corner: "seconds", Cost: cost,
			Source: "López-Sánchez 2019 (thesis), table " + number + ": times of an Intel i7-6700K; ours of the machine that made this table",
		}
	}
	const distances = "To draw or to fit the map and to map 500 rows; one run a seed. Data and options as in LS19-"
	const classes = "To draw or to fit the map, and to map the training rows; one run a seed. Data and options as in LS19-"
	landmarks := feature.Config{Map: "nystrom"}
	cube := square
	cube.Degree = 3

	digits500 := func(ctx context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		train, test, err := mnist(ctx, dir)
		return func(seed uint64) (matrix.Rows, matrix.Rows) { return draw(test, 500, seed, "rows"), train }, err
	}
	web500 := func(ctx context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		x, err := w8a(ctx, dir)
		return func(seed uint64) (test, train matrix.Rows) { return part(x, 500, seed) }, err
	}
	base := timings{dims: []int{200, 500, 1000}, unit: 1}
	make500 := func(t Table, k kernel.Kernel,
		open func(context.Context, string) (func(uint64) (matrix.Rows, matrix.Rows), error), methods []method) *Table {
		d := base
		d.kernel, d.open, d.methods = k, open, methods
		return d.table(t)
	}
	two := table("4.2", "Times of maps of (x·y)², MNIST", "mnist", 60)
	two.Protocol = distances + "4.2."
	three := table("4.3", "Times of maps of (x·y)³, MNIST", "mnist", 5)
	three.Protocol = distances + "4.3."
	eight := table("4.8", "Times of maps of (x·y)², w8a", "w8a", 10)
	eight.Protocol = distances + "4.8."
	nine := table("4.9", "Times of maps of (x·y)³, w8a", "w8a", 5)
	nine.Protocol = distances + "4.9."

	all := timings{kernel: square, dims: []int{1500, 2000}, unit: 1, apart: true}
	images := all
	images.open = func(ctx context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		train, _, err := mnist(ctx, dir)
		return func(uint64) (matrix.Rows, matrix.Rows) { return train, train }, err
	}
	images.methods = together(
		[]method{{"Nyström", "0.957 3.510 2.434 5.394", landmarks}, {"D2PK-RP, t = 10", "0.172 18.65 0.302 45.19", d2pk(10)}},
		projections(10, 488, "0.012 3.162 0.013 4.073", "0.010 3.165 0.012 4.067", "0.011 3.165 0.012 4.067", "3.918 1.652 4.577 2.036"),
		projections(1, 488, "0.012 1.409 0.011 1.736", "0.010 1.390 0.010 1.738", "0.011 1.404 0.010 1.729", "3.833 1.652 4.626 2.018"),
		projections(10, 244, "0.006 2.950 0.008 3.859", "0.006 2.958 0.006 3.872", "0.006 2.956 0.006 3.861", "1.295 1.121 1.586 1.374"),
		projections(1, 244, "0.006 1.204 0.006 1.511", "0.005 1.186 0.005 1.513", "0.006 1.208 0.005 1.504", "1.294 1.122 1.583 1.372"),
		projections(10, 122, "0.003 2.869 0.004 3.750", "0.003 2.903 0.003 3.752", "0.003 2.834 0.003 3.752", "0.572 0.827 ? 1.044"),
		projections(1, 122, "0.004 1.096 0.003 1.418", "0.003 1.073 0.003 1.422", "0.003 1.088 0.003 1.414", "0.565 ? 0.707 1.051"))
	four := table("4.4", "Times of maps of (x·y)², 60,000 images of MNIST", "mnist", 60)
	four.Protocol = classes + "4.4. Left out: the explicit map, which takes the paper five hours."

	pages := all
	pages.open = func(ctx context.Context, dir string) (func(uint64) (matrix.Rows, matrix.Rows), error) {
		path, err := find(dir, "w8a", "w8a")
		if err != nil {
			return nil, err
		}
		x, err := read(ctx, path, dataset.Options{Format: "libsvm", Dim: 300})
		return func(uint64) (matrix.Rows, matrix.Rows) { return x, x }, err
	}
	pages.methods = together(
		[]method{{"Nyström", "0.743 2.117 2.127 3.480", landmarks}, {"D2PK-RP, t = 10", "0.068 8.713 0.087 11.935", d2pk(10)}},
		projections(10, 446, "0.004 2.273 0.005 2.927", "0.004 2.255 0.004 2.917", "0.004 2.265 0.004 2.938", "? ? ? ?"),
		projections(1, 446, "0.004 0.795 0.004 1.014", "0.003 0.803 0.004 1.016", "0.003 0.805 0.004 1.004", "? 1.056 ? 1.336"),
		projections(10, 223, "0.003 2.167 0.003 2.879", "0.002 2.180 0.002 2.903", "0.002 2.179 0.002 2.888", "1.208 0.724 1.498 0.934"),
		projections(1, 223, "0.002 0.717 0.002 0.932", "0.002 0.719 0.002 0.923", "0.002 0.728 0.002 0.933", "1.210 0.727 1.481 0.949"),
		projections(10, 111, "0.002 2.126 0.002 2.828", "0.002 2.133 0.002 2.838", "0.002 2.128 0.002 2.823", "0.539 0.566 0.679 0.744"),
		projections(1, 111, "0.001 0.670 0.001 0.883", "0.002 0.664 0.002 0.888", "0.002 0.664 0.001 0.882", "? 0.555 ? 0.746"))
	ten := table("4.10", "Times of maps of (x·y)², 49,749 pages of w8a", "w8a", 30)
	ten.Protocol = classes + "4.10, all 49,749 rows of them. Left out: the explicit map, which takes the paper half an hour."

	return []*Table{
		make500(two, square, digits500, together(
			[]method{
				{"φ + RP, normal", "4.416 10.124 19.724", explicit("normal", 0)},
				{"φ + RP, s = 1", "4.314 9.893 19.338", explicit("sparse", 1)},
				{"φ + RP, s = 3", "3.616 8.899 19.495", explicit("sparse", 3)},
				{"Nyström", "0.064 0.102 0.309", landmarks},
				{"D2PK-RP", "0.121 0.311 0.651", d2pk(30)},
				{"PK-RP normal, t = 30, m = 16000", "0.583 0.611 0.609", pk("normal", 0, 16000)},
				{"PK-RP normal, t = 30, m = 8000", "0.299 0.315 0.334", pk("normal", 0, 8000)},
				{"PK-RP normal, t = 30, m = 3000", "0.122 0.134 0.152", pk("normal", 0, 3000)},
			},
			projections(30, 976, "0.039 0.054 0.079", "0.038 0.050 0.075", "0.038 0.051 0.074", "7.525 8.602 10.509"),
			projections(30, 488, "0.025 0.036 0.058", "0.023 0.037 0.058", "0.022 0.037 0.061", "1.957 2.378 3.136"),
			projections(30, 244, "0.015 0.028 0.053", "0.015 0.027 0.050", "0.016 0.030 0.055", "0.546 0.714 1.018"),
			projections(30, 122, "0.011 0.026 0.051", "0.011 0.024 0.045", "0.012 0.024 0.045", "0.180 0.268 0.427"))),
		make500(three, cube, digits500, together(
			[]method{{"Nyström", "0.065 0.116 0.334", landmarks}},
			projections(30, 976, "0.045 0.060 0.089", "0.040 0.055 0.088", "0.039 0.057 0.082", "7.578 8.708 10.576"),
			projections(30, 488, "0.029 0.043 0.072", "0.024 0.042 0.071", "0.027 0.041 0.067", "2.001 2.415 3.145"),
			projections(30, 244, "0.018 0.034 0.062", "0.018 0.033 0.063", "0.018 0.034 0.061", "? ? ?"),
			projections(30, 122, "0.013 0.032 0.059", "0.013 0.030 0.059", "0.013 0.029 0.057", "? ? ?"))),
		images.table(four),
		make500(eight, square, web500, together(
			[]method{
				{"φ + RP, normal", "9.693 10.532 11.951", explicit("normal", 0)},
				{"φ + RP, s = 1", "9.684 10.474 11.890", explicit("sparse", 1)},
				{"φ + RP, s = 3", "9.561 10.351 11.687", explicit("sparse", 3)},
				{"Nyström", "? 0.056 ?", landmarks},
				{"D2PK-RP", "0.077 0.334 0.331", d2pk(30)},
			},
			projections(30, 892, "0.021 0.034 0.054", "0.019 0.035 0.055", "0.021 0.033 0.053", "? ? 10.591"),
			projections(30, 446, "0.015 0.029 0.049", "0.015 0.026 0.047", "0.014 0.027 0.048", "? 2.241 ?"),
			projections(30, 223, "0.012 0.023 0.045", "0.010 0.027 0.047", "0.010 0.025 0.047", "? ? ?"),
			projections(30, 111, "0.009 0.024 0.044", "0.009 0.021 0.044", "0.009 0.022 0.046", "? ? ?"))),
		make500(nine, cube, web500, together(
			[]method{{"Nyström", "? ? ?", landmarks}},
			projections(30, 892, "0.022 0.039 0.067", "0.022 0.040 0.063", "0.021 0.040 0.067", "? ? ?"),
			projections(30, 446, "0.016 0.034 0.061", "0.016 0.032 0.060", "0.016 0.033 0.061", "? ? ?"),
			projections(30, 223, "0.013 0.032 0.058", "0.013 0.029 0.056", "0.012 0.030 0.059", "? ? ?"),
			projections(30, 111, "0.012 0.028 0.056", "0.013 0.028 0.057", "0.011 0.030 0.056", "? ? ?"))),
		pages.table(ten),
	}
}
