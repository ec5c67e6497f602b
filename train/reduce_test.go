package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/solve/reduce"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// twoMaps is a sum of two maps.
func twoMaps() []feature.Config {
	return []feature.Config{
		{Map: "rff", Features: 40, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.5}},
		{Map: "orf", Features: 24, Kernel: kernel.Kernel{Name: "rbf", Gamma: 3}},
	}
}

// beforeFold trains up to where the projection would become part of the weights.
func beforeFold(t *testing.T, src dataset.Source, cfg Config) (*job, *solution) {
	t.Helper()
	f, err := beginRows(context.Background(), src, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.cfg.Calibrate.Method = "none"
	if err := f.take(ofRows); err != nil {
		t.Fatal(err)
	}
	return f.job, f.solved
}

func TestFoldedWeightsScoreLikeProjectedRows(t *testing.T) {
	x, names := rings(11, 400, 3)
	for i := range x.Data {
		x.Data[i] += 20 // far from 0
	}
	for name, cfg := range map[string]Config{
		"ridge":           {Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 12}},
		"ridge, share":    {Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Share: 0.8}},
		"ridge, whitened": {Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 12, Whiten: true}},
		"svm":             {Learner: SVM{C: 1}, Map: Map{Features: 64}, Reduce: Reduction{Components: 12}},
		"svm, whitened":   {Learner: SVM{C: 1}, Map: Map{Features: 64}, Reduce: Reduction{Components: 12, Whiten: true}},
		"lasso":           {Learner: Lasso{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 12}},
		"linear kernel":   {Learner: Ridge{}, Kernel: Kernel{Name: "linear"}, Scale: "none", Reduce: Reduction{Components: 1}},
		"maps":            {Learner: SVM{C: 1}, Map: Map{Name: "sum", Steps: twoMaps()}, Reduce: Reduction{MapComponents: 10}},
		"maps, ridge": {Learner: Ridge{}, Map: Map{Name: "sum", Steps: twoMaps()},
			Reduce: Reduction{MapComponents: 10, Whiten: true}},
		"maps, then all": {Learner: SVM{C: 1}, Map: Map{Name: "sum", Steps: twoMaps()},
			Reduce: Reduction{MapComponents: 10, Components: 7}},
		"maps, then all, ridge": {Learner: Ridge{}, Map: Map{Name: "sum", Steps: twoMaps()},
			Reduce: Reduction{MapComponents: 10, Share: 0.9, Whiten: true}},
		"maps, then all, sparse": {Learner: ElasticNet{}, Map: Map{Name: "sum", Steps: twoMaps()},
			Reduce: Reduction{MapComponents: 10, Components: 15}},
	} {
		f, solved := beforeFold(t, source(t, matrix.Rows{Dense: x}, nil, 0, names), cfg)
		want, got := matrix.NewDense(400, 3), matrix.NewDense(400, 3)
		if err := f.pipe.Each(matrix.Rows{Dense: x}, func(i, j int, z matrix.Rows) error {
			solved.predictor.Scores(want.Slice(i, j), z)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		_, k := f.pipe.Dims()
		parts, err := f.folded(solved)
		if err != nil {
			t.Fatal(err)
		}
		r := parts.Info.Training.Reduction
		if r == nil || r.Components != k || cfg.Reduce.Components > 0 && k != cfg.Reduce.Components {
			t.Fatalf("%s: %+v", name, r)
		}
		m, err := model.New(parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Scores(got, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		// A score is a sum of up to 64 products; each of those and its weight is rounded to float32.
		size := 0.0
		for _, v := range parts.Predictor.(model.Linear).W.Data {
			size = math.Max(size, math.Abs(float64(v)))
		}
		for i, v := range got.Data {
			if d := math.Abs(float64(v - want.Data[i])); d > 1e-6*(1+64*size) {
				t.Fatalf("%s: score %d is %g folded, %g projected; the largest weight is %g", name, i, v, want.Data[i], size)
			}
		}
	}
}

// The report's share is that of the rows' own variance, also where maps are reduced first.
func TestShareIsThatOfTheVarianceOfAllFeatures(t *testing.T) {
	x, names := rings(19, 300, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	variance := func(cfg Config) (sum float64, r *reduce.Report) {
		p, _, err := FitPipeline(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, k := p.Dims()
		z := matrix.NewDense(300, k)
		if err := p.Transform(z, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		for c := range k {
			mean, square := 0.0, 0.0
			for i := range 300 {
				v := float64(z.Row(i)[c])
				mean, square = mean+v/300, square+v*v/300
			}
			sum += square - mean*mean
		}
		return sum, p.Reduction()
	}
	all, _ := variance(Config{Map: Map{Name: "sum", Steps: twoMaps()}})
	for _, cfg := range []Config{{Reduce: Reduction{MapComponents: 6}}, {Reduce: Reduction{MapComponents: 6, Components: 4}}, {Reduce: Reduction{Components: 4}},
		{Reduce: Reduction{MapComponents: 6, Share: 0.5}}} {
		cfg.Map.Name, cfg.Map.Steps = "sum", twoMaps()
		part, r := variance(cfg)
		if math.Abs(r.Share-part/all) > 1e-4 || math.Abs(r.Variance-all) > 1e-4*all || r.Features != 64 {
			t.Errorf("components %d, of maps %d: the report says %g of %g of %d, rows %g of %g", cfg.Reduce.Components, cfg.Reduce.MapComponents,
				r.Share, r.Variance, r.Features, part/all, all)
		}
	}
}

func TestAllComponentsLoseNothing(t *testing.T) {
	x, names := rings(12, 600, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	a := fitted(t, src, Config{Learner: Ridge{Lambda: 0.1}, Map: Map{Features: 32}})
	b := fitted(t, src, Config{Learner: Ridge{Lambda: 0.1}, Map: Map{Features: 32}, Reduce: Reduction{Share: 1}})
	za, zb := matrix.NewDense(600, 3), matrix.NewDense(600, 3)
	if err := a.Scores(za, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	if err := b.Scores(zb, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range za.Data {
		if math.Abs(float64(v-zb.Data[i])) > 1e-3 {
			t.Fatalf("score %d: %g of features, %g of all components", i, v, zb.Data[i])
		}
	}
}

func TestMappingProjectsAndWhitens(t *testing.T) {
	x, names := rings(13, 500, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, cfg := range []Config{
		{Map: Map{Features: 32}, Reduce: Reduction{Components: 5, Whiten: true}},
		{Map: Map{Name: "sum", Steps: twoMaps()}, Reduce: Reduction{MapComponents: 8, Components: 5, Whiten: true}},
	} {
		p, _, err := FitPipeline(context.Background(), src, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, k := p.Dims(); k != 5 || p.Reduction() == nil || p.Reduction().Components != 5 {
			t.Fatalf("%d features, %+v", k, p.Reduction())
		}
		z := matrix.NewDense(500, 5)
		if err := p.Transform(z, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		for a := range 5 {
			for b := range 5 {
				mean, product := 0.0, 0.0
				for i := range z.Rows {
					mean += float64(z.Row(i)[a]) / 500
					product += float64(z.Row(i)[a]) * float64(z.Row(i)[b]) / 500
				}
				want := 0.0
				if a == b {
					want = 1
				}
				if math.Abs(mean) > 1e-5 || math.Abs(product-want) > 1e-4 {
					t.Errorf("components %d and %d: mean %g, product %g", a, b, mean, product)
				}
			}
		}
	}
}

func TestModelOfComponentsIsReadBack(t *testing.T) {
	x, names := rings(14, 300, 3)
	m := fitted(t, source(t, matrix.Rows{Dense: x}, nil, 0, names),
		Config{Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 9, Whiten: true}})
	loaded, err := read(fileOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if r := loaded.Info().Training.Reduction; r == nil || r.Components != 9 || len(r.Variances) != 9 || !r.Whitened || r.Features != 64 {
		t.Errorf("%+v", r)
	}
	if d, k := loaded.Pipeline().Dims(); d != 2 || k != 64 {
		t.Errorf("the mapping of the model is %d to %d", d, k)
	}
}

// Deviations, intervals and probabilities are those of the components, too.
func TestFoldedDeviationsAreThoseOfComponents(t *testing.T) {
	x, y := waves(16, 300)
	src := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	cfg := Config{Learner: Ridge{Variance: true}, Map: Map{Features: 48}, Reduce: Reduction{Components: 9}}
	f, solved := beforeFold(t, src, cfg)
	want, got := matrix.NewDense(300, 2), matrix.NewDense(300, 2)
	components, err := f.unjudged(solved)
	if err != nil {
		t.Fatal(err)
	}
	if err := components.Deviations(want, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	m := fitted(t, src, cfg)
	loaded, err := read(fileOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if v := loaded.Predictor().(model.Ridge).Variance; v.Factor.Rows != 48 || v.Factor.Cols != 9 || len(v.Shift) != 9 {
		t.Errorf("a factor of %d×%d", v.Factor.Rows, v.Factor.Cols)
	}
	if err := loaded.Deviations(got, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Data {
		if math.Abs(float64(v-want.Data[i])) > 1e-4*float64(want.Data[i]) {
			t.Fatalf("deviation %d: %g folded, %g of components", i, v, want.Data[i])
		}
	}
	cfg.Set("conformal", 0.9)
	m = fitted(t, src, cfg)
	lower, upper, scores := matrix.NewDense(300, 2), matrix.NewDense(300, 2), matrix.NewDense(300, 2)
	if err := m.Intervals(0, lower, upper, scores, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	inside := 0
	for i, v := range y {
		if float64(lower.Data[i]) <= v && v <= float64(upper.Data[i]) {
			inside++
		}
	}
	// Of 600, 540 are expected; the quantile of 30 calibrating rows alone has a deviation of 5.5 %.
	if inside < 440 {
		t.Errorf("%d of 600 targets are in their intervals", inside)
	}
}

func TestModelsOfComponentsAreCalibrated(t *testing.T) {
	x, names := rings(17, 400, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, learner := range []string{"ridge", "svm", "lasso"} {
		cfg := Config{Learner: Named{Name: learner}, Map: Map{Features: 64}, Reduce: Reduction{Components: 20},
			Calibrate: Calibration{Method: "platt", Folds: 3}}
		m := fitted(t, src, cfg)
		plain := cfg
		plain.Calibrate.Method, plain.Calibrate.Folds = "", 0
		a, b := matrix.NewDense(400, 3), matrix.NewDense(400, 3)
		if err := m.Scores(a, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		if err := fitted(t, src, plain).Scores(b, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		p := make([]float64, 3)
		if err := m.Probabilities(p, a.Row(0)); err != nil || math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 {
			t.Errorf("%s: probabilities %g, %v", learner, p, err)
		}
		for i, v := range a.Data {
			if v != b.Data[i] {
				t.Fatalf("%s: score %d is %g calibrated, %g not", learner, i, v, b.Data[i])
			}
		}
		if c := m.Info().Training.Calibration; c.Used != 3 || c.Rows != 400 {
			t.Errorf("%s: %+v", learner, c)
		}
	}
}

func TestAppendedRowsGiveTheComponentsOfOnePass(t *testing.T) {
	x, y := waves(18, 400)
	all := source(t, matrix.Rows{Dense: x}, y, 2, nil)
	cfg := Config{Learner: Ridge{Lambda: 0.1}, Map: Map{Features: 48}, Reduce: Reduction{Components: 9}}
	whole, file := keeping(t, all, cfg)
	again := continued(t, nil, statisticsOf(t, file), cfg)
	a, b := matrix.NewDense(400, 2), matrix.NewDense(400, 2)
	if err := whole.Scores(a, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	if err := again.Scores(b, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 1e-4 {
			t.Fatalf("score %d: %g in one pass, %g from statistics", i, v, b.Data[i])
		}
	}
	if r := again.Info().Training.Reduction; r == nil || r.Components != 9 {
		t.Errorf("%+v", r)
	}
	// Other components, from the same statistics.
	cfg.Reduce.Components, cfg.Reduce.Share = 0, 0.5
	if r := continued(t, nil, statisticsOf(t, file), cfg).Info().Training.Reduction; r == nil || r.Share < 0.5 || r.Components > 9 {
		t.Errorf("%+v", r)
	}
	cfg = Config{Learner: Ridge{}, Map: Map{Name: "sum", Steps: twoMaps()}, Reduce: Reduction{MapComponents: 3}}
	if _, _, err := Fit(context.Background(), all, cfg, Options{Keep: func(*Statistics) error { return nil }}); err == nil ||
		!strings.Contains(err.Error(), "leave map_components out") {
		t.Errorf("statistics of components are kept: %v", err)
	}
	if _, _, err := FitStatistics(context.Background(), nil, statisticsOf(t, file), cfg, Options{}); err == nil ||
		!strings.Contains(err.Error(), "components of each map take all rows once more") {
		t.Errorf("%v", err)
	}
}

// Components with unlabelled rows are those of all rows together, and the learner trains on the
// labelled ones alone.
func TestUnlabelledRowsCountForTheComponentsAlone(t *testing.T) {
	x, names := rings(21, 400, 3)
	for i := 150; i < 400; i++ { // otherwise than the labelled ones
		x.Row(i)[0] += 1.5
	}
	whole := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	few := source(t, matrix.Rows{Dense: x.Slice(0, 150)}, nil, 0, names[:150])
	more := source(t, matrix.Rows{Dense: x.Slice(150, 400)}, nil, 0, nil)
	opened := 0
	opt := Options{Unlabelled: func(read dataset.Schema) (dataset.Source, error) {
		if opened++; read.Dim != 2 {
			t.Errorf("rows are read as %+v", read)
		}
		return more, nil
	}}
	for name, cfg := range map[string]Config{
		"ridge, given": {Learner: Ridge{Lambda: 0.1}, Reduce: Reduction{Components: 9}},
		"ridge, folds": {Learner: Ridge{LambdaBy: "folds"}, Reduce: Reduction{Share: 0.9}},
		"svm":          {Learner: SVM{C: 1}, Reduce: Reduction{Components: 9, Whiten: true}},
		"svm, maps":    {Learner: SVM{C: 1}, Map: Map{Name: "sum", Steps: twoMaps()}, Reduce: Reduction{MapComponents: 6}},
		"ridge, maps too": {Learner: Ridge{Lambda: 0.1}, Map: Map{Name: "sum", Steps: twoMaps()},
			Reduce: Reduction{MapComponents: 6, Components: 4}},
	} {
		cfg.Scale, cfg.Kernel.Gamma = "none", "0.5"
		if cfg.Map.Name == "" {
			cfg.Map.Features = 48
		}
		opened = 0
		m, report, err := Fit(context.Background(), few, cfg, opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all, got := fitted(t, whole, cfg).Info().Training.Reduction, m.Info().Training.Reduction
		if opened == 0 || got.Unlabelled != 250 || report.Summary.Rows != 150 || got.Components != all.Components {
			t.Errorf("%s: opened %d times, %d unlabelled of %d rows, %d components, of all rows %d", name, opened, got.Unlabelled,
				report.Summary.Rows, got.Components, all.Components)
			continue
		}
		if math.Abs(got.Share-all.Share) > 1e-9 || math.Abs(got.Variance-all.Variance) > 1e-9*all.Variance {
			t.Errorf("%s: share %g of %g, of all rows %g of %g", name, got.Share, got.Variance, all.Share, all.Variance)
		}
		for i, v := range got.Variances {
			if math.Abs(v-all.Variances[i]) > 1e-8*all.Variances[0] {
				t.Errorf("%s: variance %d is %g, of all rows %g", name, i, v, all.Variances[i])
			}
		}
		if alone := fitted(t, few, cfg).Info().Training.Reduction; math.Abs(alone.Variance-all.Variance) < 0.01*all.Variance {
			t.Errorf("%s: the labelled rows have the same variance, so nothing was seen", name)
		}
	}
	// A ridge regression on these components, by hand.
	cfg := Config{Learner: Ridge{Lambda: 0.1}, Reduce: Reduction{Components: 9}, Map: Map{Features: 48}, Scale: "none",
		Kernel: Kernel{Gamma: "0.5"}}
	m, _, err := Fit(context.Background(), few, cfg, opt)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := FitPipeline(context.Background(), whole, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	z := matrix.NewDense(400, 9)
	if err := p.Transform(z, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	byHand := fitted(t, source(t, matrix.Rows{Dense: z.Slice(0, 150)}, nil, 0, names[:150]),
		Config{Learner: Ridge{Lambda: 0.1}, Kernel: Kernel{Name: "linear"}, Scale: "none"})
	a, b := matrix.NewDense(400, 3), matrix.NewDense(400, 3)
	if err := m.Scores(a, matrix.Rows{Dense: x}); err != nil {
		t.Fatal(err)
	}
	if err := byHand.Scores(b, matrix.Rows{Dense: z}); err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Data {
		if math.Abs(float64(v-b.Data[i])) > 1e-4 {
			t.Fatalf("score %d: %g, on the projected rows %g", i, v, b.Data[i])
		}
	}
	if _, _, err := Fit(context.Background(), few, Config{Learner: Ridge{}, Map: Map{Features: 48}}, opt); err == nil ||
		!strings.Contains(err.Error(), "give a number of components") {
		t.Errorf("without components: %v", err)
	}
}

func TestRowsThatAreAllAlikeHaveNoComponents(t *testing.T) {
	x, _ := rings(15, 50, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = 3, 4 // no variance
	}
	y := make([]float64, 50)
	_, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, y, 1, nil),
		Config{Task: "regress", Kernel: Kernel{Name: "linear"}, Reduce: Reduction{Components: 1}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "no principal components") {
		t.Errorf("rows that are all alike: %v", err)
	}
}
