package papers

import (
	"context"

	"mercer/feature"
	"mercer/kernel"
)

// lopezAccuracy is LS19's table of accuracies on MNIST. Its p is m here.
func lopezAccuracy() *Table {
	pool := func(entries string, s float64, t, m int) feature.Config {
		return feature.Config{Map: "pk-rp", Options: feature.Options{Entries: entries, Sparsity: s, Pool: m, T: t, Reuse: "random"}}
	}
	return accuracies{
		kernel: kernel.Kernel{Name: "poly", Gamma: 1, Degree: 2},
		dims:   []int{1500, 2000},
		methods: []classified{
			{"Nyström", "97.67±0.05 97.96±0.02", feature.Config{Map: "nystrom", Options: feature.Options{Landmarks: "uniform"}}},
			{"D2PK-RP, t = 10", "96.96±0.04 97.33±0.12", d2pk(10)},
			{"PK-RP normal, t = 10, m = 488", "96.98±0.11 97.31±0.05", pool("normal", 0, 10, 488)},
			{"PK-RP s = 1, t = 10, m = 488", "96.97±0.11 97.37±0.07", pool("sparse", 1, 10, 488)},
			{"PK-RP s = 3, t = 10, m = 488", "97.03±0.20 97.30±0.14", pool("sparse", 3, 10, 488)},
			{"KG-RP, t = 10, m = 488", "96.15±0.04 96.27±0.11", kg(488, 10)},
			{"PK-RP normal, t = 1, m = 488", "96.95±0.12 97.31±0.13", pool("normal", 0, 1, 488)},
			{"KG-RP, t = 1, m = 488", "95.95±0.07 96.09±0.08", kg(488, 1)},
			{"PK-RP normal, t = 10, m = 244", "97.01±0.08 97.31±0.09", pool("normal", 0, 10, 244)},
			{"KG-RP, t = 10, m = 244", "94.19±0.26 94.44±0.23", kg(244, 10)},
			{"PK-RP normal, t = 1, m = 244", "96.84±0.09 97.20±0.09", pool("normal", 0, 1, 244)},
			{"KG-RP, t = 1, m = 244", "94.48±0.13 94.46±0.25", kg(244, 1)},
			{"PK-RP normal, t = 10, m = 122", "96.78±0.12 96.96±0.06", pool("normal", 0, 10, 122)},
			{"PK-RP s = 1, t = 10, m = 122", "96.70±0.17 97.00±0.20", pool("sparse", 1, 10, 122)},
			{"KG-RP, t = 10, m = 122", "? ?", kg(122, 10)},
			{"PK-RP normal, t = 1, m = 122", "96.65±0.11 96.82±0.14", pool("normal", 0, 1, 122)},
			{"PK-RP s = 3, t = 1, m = 122", "96.59±0.10 96.91±0.11", pool("sparse", 3, 1, 122)},
			{"KG-RP, t = 1, m = 122", "? ?", kg(122, 1)},
			// After the others, whose maps are drawn by the number of their row.
			{"PK-RP s = 1, t = 1, m = 488", "96.90±0.07 97.33±0.08", pool("sparse", 1, 1, 488)},
			{"PK-RP s = 3, t = 1, m = 488", "97.00±0.08 97.23±0.08", pool("sparse", 3, 1, 488)},
			{"PK-RP s = 1, t = 10, m = 244", "96.91±0.11 97.30±0.06", pool("sparse", 1, 10, 244)},
			{"PK-RP s = 3, t = 10, m = 244", "96.93±0.13 97.21±0.13", pool("sparse", 3, 10, 244)},
			{"PK-RP s = 1, t = 1, m = 244", "96.86±0.11 97.17±0.12", pool("sparse", 1, 1, 244)},
			{"PK-RP s = 3, t = 1, m = 244", "96.85±0.16 97.24±0.06", pool("sparse", 3, 1, 244)},
			{"PK-RP s = 3, t = 10, m = 122", "96.79±0.09 96.93±0.05", pool("sparse", 3, 10, 122)},
			{"PK-RP s = 1, t = 1, m = 122", "96.59±0.11 96.85±0.12", pool("sparse", 1, 1, 122)},
			{"φ + RP, normal (theirs alone)", "96.98±0.09 97.40±0.07", feature.Config{}},
		},
		open: func(ctx context.Context, dir string) (split, error) {
			s, err := digits(ctx, dir)
			if err != nil {
				return s, err
			}
			spread(s.train.x)
			spread(s.test.x)
			return s, nil
		},
	}.table(Table{
		Name:      "LS19-4.4",
		Cost:      520,
		AloneRows: 1,
		Title:     "Accuracy of linear SVMs on features of (x·y)², MNIST",
		Source:    "López-Sánchez 2019 (thesis), table 4.4: mean ± standard deviation of 10 runs",
		Protocol: "60,000 images to train on, 10,000 to test; features of mean 0 and deviation 1; linear SVMs, " +
			"squared hinge, C chosen on held-out training rows of the first seed (the paper: by cross-validation). " +
			"Nyström with D training rows, KG-RP with m of them. Theirs alone: the explicit map, whose 307,720 products " +
			"times D take the paper five hours. " + pixels,
		Data: "mnist",
	})
}
