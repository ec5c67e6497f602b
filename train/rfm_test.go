package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/rfm"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// chosen is a training up to the choice of the default learner.
func chosen(t *testing.T, src dataset.Source, cfg Config, opt Options) *problem {
	t.Helper()
	f, err := beginRows(context.Background(), src, cfg, opt)
	if err == nil {
		f.surveyed, err = f.survey(src, nil)
	}
	if err == nil {
		f.answers, err = f.findTask()
	}
	if err == nil {
		f.cfg, f.lacking, err = f.chooseDefault()
	}
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	return &f.problem
}

// tabular is n rows of d numbers with two classes, and share of them not 0.
func tabular(t *testing.T, n, d int, share float64, csr bool) dataset.Source {
	t.Helper()
	r := random.New(3, "tabular")
	x, names := matrix.NewDense(n, d), make([]string, n)
	for i := range n {
		for j := range d {
			if r.Uniform() < share {
				x.Row(i)[j] = float32(r.Normal())
			}
		}
		names[i] = fmt.Sprint("class ", r.Intn(2))
	}
	if csr {
		return source(t, matrix.Rows{CSR: sparse(x)}, nil, 1, names)
	}
	return source(t, matrix.Rows{Dense: x}, nil, 1, names)
}

// The learner rfm is the default for tables of numbers, and only where nothing was asked for that it lacks.
func TestWhereRFMIsTheDefault(t *testing.T) {
	parts := streams(t, 5, 1200)
	table := tabular(t, fewestRows, 5, 1, false)
	for name, c := range map[string]struct {
		src dataset.Source
		cfg Config
		opt Options
		rfm bool
	}{
		"a table": {table, Config{}, Options{}, true},
		"said to be automatic": {table, Config{Learner: Named{Name: "AUTO"}, Task: "Classify", Scale: "minmax", Seed: 7,
			Kernel: Kernel{Gamma: "median"}}, Options{}, true},
		"numbers":       {parts["regress"](0, 1200, false), Config{}, Options{}, true},
		"class weights": {table, Config{ClassWeight: "balanced", Calibrate: Calibration{Method: "platt", Folds: 3}}, Options{}, true},
		"leaf": {tabular(t, 300, 5, 1, false), Config{Learner: Named{Name: "Auto",
			Options: map[string]any{"leaf": 100}}}, Options{}, true},
		"members":              {table, Config{Learner: Named{Options: map[string]any{"members": 1}}, Task: "classify"}, Options{}, true},
		"sparse, few columns":  {tabular(t, 1000, 50, 0.2, true), Config{}, Options{}, true},
		"dense in sparse form": {tabular(t, 1000, 120, 0.7, true), Config{}, Options{}, true},
		"one-hot, dense":       {tabular(t, 1000, 120, 0.2, false), Config{}, Options{}, true},
		"wide and sparse":      {tabular(t, 1000, 120, 0.2, true), Config{}, Options{}, false},
		"wide":                 {tabular(t, 1000, wideRows+1, 1, false), Config{}, Options{}, true},
		"wide, mostly zeros":   {tabular(t, 1000, wideRows+1, 0.2, false), Config{}, Options{}, false},
		"few rows":             {tabular(t, fewestRows-1, 5, 1, false), Config{}, Options{}, false},
		"quick":                {table, Config{Quick: true}, Options{}, false},
		"several labels":       {parts["multilabel"](0, 1200, false), Config{Task: "multilabel"}, Options{}, false},
		"outliers":             {table, Config{Task: "outliers"}, Options{}, false},
		"another learner":      {table, Config{Learner: SVM{}}, Options{}, false},
		"kernel":               {table, Config{Kernel: Kernel{Name: "rbf"}}, Options{}, false},
		"gamma":                {table, Config{Kernel: Kernel{Gamma: "median*2"}}, Options{}, false},
		"sigma":                {table, Config{Kernel: Kernel{Sigma: 2}}, Options{}, false},
		"map":                  {table, Config{Map: Map{Name: "rff"}}, Options{}, false},
		"features":             {table, Config{Map: Map{Features: 100}}, Options{}, false},
		"options of maps":      {table, Config{Map: Map{Options: feature.Options{Landmarks: "kmeans"}, Name: "nystrom"}}, Options{}, false},
		"lambda":               {table, Config{Learner: Named{Options: map[string]any{"lambda": 1}}}, Options{}, false},
		"lambda-by":            {table, Config{Learner: Named{Options: map[string]any{"lambda_by": "folds"}}}, Options{}, false},
		"c":                    {table, Config{Learner: Named{Options: map[string]any{"c": 1}}}, Options{}, false},
		"loss":                 {table, Config{Learner: Named{Options: map[string]any{"loss": "hinge"}}}, Options{}, false},
		"components":           {table, Config{Reduce: Reduction{Components: 3}}, Options{}, false},
		"metric":               {table, Config{Metric: Metric{Form: "diagonal"}}, Options{}, false},
		"variance": {parts["regress"](0, 1200, false), Config{Learner: Named{Options: map[string]any{"variance": true}}},
			Options{}, false},
		"statistics to be kept": {table, Config{}, Options{Keep: func(*Statistics) error { return nil }}, false},
		"rows without labels": {table, Config{Reduce: Reduction{Components: 3}},
			Options{Unlabelled: func(dataset.Schema) (dataset.Source, error) { return table, nil }},
			false},
		"memory enough":     {table, Config{}, Options{Memory: 1 << 30}, true},
		"memory too little": {table, Config{}, Options{Memory: 1 << 20}, false},
	} {
		if f := chosen(t, c.src, c.cfg, c.opt); (f.cfg.LearnerName() == "rfm") != c.rfm {
			t.Errorf("%s: the learner is %s", name, f.cfg.LearnerName())
		}
	}
}

// Bags have no tables of numbers; their default stays.
func TestBagsAreNoTables(t *testing.T) {
	m := fittedBags(t, spreadBags(t, 1, 1100, 2), Config{Bag: &pipeline.BagConfig{Features: 8}})
	if name := m.Info().Training.Learner; name == "rfm" {
		t.Errorf("the learner of bags is %s", name)
	}
}

// Without the memory for rfm the default is what it was before, and the model says why.
func TestTooLittleMemoryForTheDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(1, 1200, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	m, _, err := Fit(context.Background(), src, Config{}, Options{Memory: 30 << 20})
	if err != nil {
		t.Fatal(err)
	}
	training := m.Info().Training
	if why := training.Why["learner"]; training.Learner != "svm" || !strings.Contains(why, "features fit into memory; rfm would hold ") || !strings.HasSuffix(why, " allowed: more memory allows it") {
		t.Errorf("%s, %q", training.Learner, why)
	}
	if _, _, err := Fit(context.Background(), src, Config{Learner: RFM{}}, Options{Memory: 30 << 20}); err == nil ||
		!strings.Contains(err.Error(), "use fewer features, which are") {
		t.Errorf("too little memory for rfm: %v", err)
	}
	// As much as is asked for is enough, and its advice is right.
	f := chosen(t, src, Config{Learner: RFM{}}, Options{})
	all, _ := f.rfmMemory()
	f = chosen(t, src, Config{Learner: RFM{}, Map: Map{Features: 100}}, Options{})
	fewer, _ := f.rfmMemory()
	if !(fewer < all/2) {
		t.Errorf("%g bytes, %g with fewer landmarks", all, fewer)
	}
}

// With too little memory for the rows as well, they are in a file, and the model is the same; with less, leaves are larger.
func TestRFMOutOfMemory(t *testing.T) {
	testenv.Long(t, "every limit of memory has its reason in words")
	n, d := 2050, 40
	dense := matrix.NewDense(n, d)
	var names []string
	for i := range n {
		for j := range d {
			dense.Row(i)[j] = float32((i*(j+3)*7919)%1000) / 500
		}
		names = append(names, strconv.Itoa(int(dense.Row(i)[0])+int(dense.Row(i)[1])))
	}
	cfg := Config{Learner: RFM{Members: 1}, Kernel: Kernel{Name: "rbf"}, Metric: Metric{Form: "diagonal"}, Map: Map{Features: 50}}
	for kind, rows := range map[string]matrix.Rows{"dense": {Dense: dense}, "sparse": {CSR: sparse(dense)}} {
		src := source(t, rows, nil, 0, names)
		f := chosen(t, src, cfg, Options{})
		whole := f.rfmRest() + f.denseBytes()
		one := f.rfmOptions()
		one.Leaf = n
		least := 8*n*f.outputs + int(rfm.Bytes(n, d, f.outputs, one))
		var first []byte
		for _, c := range []struct {
			memory int64
			place  string
			leaf   int
		}{{int64(whole) + 1, inMemory, 2000}, {int64(whole) - 1000, inFile, 2000}, {int64(least) + 1000, inFile, 4000}} {
			if kind == "sparse" && c.leaf > 2000 {
				continue
			}
			m, report, err := Fit(context.Background(), src, cfg, Options{Memory: c.memory})
			if err != nil {
				t.Fatalf("%s rows, %d bytes: %v", kind, c.memory, err)
			}
			told := model.ReportOf[*rfm.Report](&m.Info().Training)
			if report.Features != c.place || told.LeafRows != c.leaf || (m.Info().Training.Why["leaf"] != "") != (c.leaf > 2000) {
				t.Errorf("%s rows, %d bytes: %s, leaves of %d rows, %q", kind, c.memory, report.Features, told.LeafRows, m.Info().Training.Why["leaf"])
			}
			switch b := fileOf(t, m); {
			case first == nil:
				first = b
			case c.leaf == 2000 && !bytes.Equal(b, first):
				t.Errorf("%s rows, %d bytes: another model", kind, c.memory)
			}
		}
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
		if _, _, err := Fit(context.Background(), src, cfg, Options{Memory: int64(whole) - 1000}); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
			t.Errorf("%s rows, no place for a file: %v", kind, err)
		}
		t.Setenv("TMPDIR", "")
	}
}

// rfmConfigs are the ways of the learner, small enough for tests.
var rfmConfigs = []Config{
	{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}},
	{Learner: RFM{Leaf: 150}, Kernel: Kernel{Name: "matern"}, Metric: Metric{Form: "full"}, Map: Map{Features: 40}},
	{Learner: RFM{Lambda: 0.1, Members: 1}, Kernel: Kernel{Name: "laplacian"}, Scale: "standard"},
}

func TestRFMLearnsAndLoads(t *testing.T) {
	x, names := rings(1, 400, 3)
	xt, want := rings(2, 200, 3)
	y := make([]float64, 2*400)
	for i := range 400 {
		row := x.Row(i)
		y[2*i], y[2*i+1] = math.Hypot(float64(row[0]), float64(row[1])), 1000*float64(row[0]*row[1])
	}
	configs := rfmConfigs
	if testing.Short() {
		configs = configs[:1]
	}
	for _, cfg := range configs {
		for _, src := range []dataset.Source{source(t, matrix.Rows{Dense: x}, nil, 0, names), source(t, matrix.Rows{Dense: x}, y, 2, nil)} {
			m := fitted(t, src, cfg)
			scores := matrix.NewDense(200, m.Outputs())
			if err := m.Scores(scores, matrix.Rows{Dense: xt}); err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i := range 200 {
				if row := xt.Row(i); m.Classes() == nil {
					if math.Abs(float64(scores.Row(i)[0])-math.Hypot(float64(row[0]), float64(row[1]))) > 0.3 {
						wrong++
					}
				} else if m.Classes()[m.Class(scores.Row(i))] != want[i] {
					wrong++
				}
			}
			if wrong > 10 { // rings of deviation 0.2 at a distance of 1 overlap by 1 in 100
				t.Errorf("%+v: %d of 200 wrong", cfg, wrong)
			}
			report := model.ReportOf[*rfm.Report](&m.Info().Training)
			if report == nil || Size(m) != report.Centres || (report.Leaves > 1) != (cfg.Get("leaf").(int) > 0) {
				t.Errorf("%+v: size %d, %+v", cfg, Size(m), report)
			}
			loaded, err := read(fileOf(t, m))
			if err != nil {
				t.Fatal(err)
			}
			again := matrix.NewDense(200, m.Outputs())
			if err := loaded.Scores(again, matrix.Rows{Dense: xt}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(again.Data, scores.Data) {
				t.Errorf("%+v: the loaded model gives other scores", cfg)
			}
			if !slices.Equal(loaded.Relevance(), m.Relevance()) {
				t.Errorf("%+v: the loaded model says %v, not %v", cfg, loaded.Relevance(), m.Relevance())
			}
		}
	}
}

func TestRFMBytesDependOnDataConfigAndSeedAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(3, 300, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, cfg := range rfmConfigs {
		var want []byte
		for _, c := range []struct{ threads, batch int }{{1, 300}, {3, 7}} {
			runtime.GOMAXPROCS(c.threads)
			got := fileOf(t, fitted(t, &batched{src, c.batch}, cfg))
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%+v: other bytes with %+v", cfg, c)
			}
		}
		if other := cfg; i == 0 {
			if other.Seed = 2; bytes.Equal(fileOf(t, fitted(t, src, other)), want) {
				t.Error("another seed gives the same bytes")
			}
		}
	}
}

// Dense and sparse rows of the same numbers are one table.
func TestRFMOfSparseRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := counts(1, 300)
	wide := matrix.NewDense(300, 40)
	x.Densify(wide)
	cfg := Config{Learner: RFM{}, Kernel: Kernel{Name: "laplacian"}, Map: Map{Features: 50}, Scale: "none"}
	a := fitted(t, source(t, matrix.Rows{CSR: x}, nil, 0, names), cfg)
	b := fitted(t, source(t, matrix.Rows{Dense: wide}, nil, 0, names), cfg)
	sameScores(t, "sparse and dense", a, b, matrix.Rows{Dense: wide}, 0)
	sameScores(t, "sparse rows", a, b, matrix.Rows{CSR: x}, 0)
}

// Weights of rows and of classes reach the learner: with class weights, a row's weight is the product.
func TestWeightsOfRFM(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := waves(1, 300)
	one := make([]float64, 300)
	for i := range one {
		one[i] = y[2*i]
		if i%3 == 0 { // of weight 1, the others have 2 and 3
			one[i] += 40
		}
	}
	src := source(t, matrix.Rows{Dense: x}, one, 1, nil)
	cfg := Config{Learner: RFM{Lambda: 1e6, Smooth: true}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}} // the mean, nearly
	plain, weighted := fitted(t, src, cfg), fitted(t, &weightedSource{src}, cfg)
	mean := func(w func(i int) float64) float64 {
		sum, total := 0.0, 0.0
		for i, v := range one {
			sum, total = sum+w(i)*v, total+w(i)
		}
		return sum / total
	}
	for m, want := range map[*model.Model]float64{plain: mean(func(int) float64 { return 1 }), weighted: mean(func(i int) float64 { return float64(1 + i%3) })} {
		p, err := m.Predict(x.Row(0))
		if err != nil || math.Abs(float64(p[0].Values[0])-want) > 0.1 {
			t.Errorf("%+v, %v, want %g", p, err, want)
		}
	}

	rows, names := rings(4, 300, 2)
	for i := range rows.Data {
		rows.Data[i] = float32(math.Mod(float64(rows.Data[i])*1e4, 1)) // nothing to learn: the shares of classes decide
	}
	source := source(t, matrix.Rows{Dense: rows}, nil, 0, names)
	share := func(weights string) (second int) {
		m := fitted(t, source, Config{Learner: RFM{Lambda: 1e6}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}, ClassWeight: weights})
		scores := matrix.NewDense(300, 1)
		if err := m.Scores(scores, matrix.Rows{Dense: rows}); err != nil {
			t.Fatal(err)
		}
		for _, v := range scores.Data {
			if v > 0 {
				second++
			}
		}
		return second
	}
	names = slices.Clone(names)
	slices.Sort(names)
	if a, b := share(names[0]+"=9"), share(names[299]+"=9"); a != 0 || b != 300 {
		t.Errorf("%d and %d rows of the second class where all weight is on the first, or on the second", a, b)
	}
}

// Probabilities of a calibrated machine are those of the classes, and the machine stays as it is. They come from rows that it held
// out, or from folds if these are asked for.
func TestCalibratedRFM(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(1, 500, 2)
	xt, want := rings(2, 300, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	cfg := Config{Learner: RFM{Leaf: 160}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 50}}
	cfg.Calibrate.Method = "none"
	plain := fitted(t, src, cfg)
	if plain.HasProbabilities() {
		t.Error("probabilities that nobody wants")
	}
	for _, c := range []struct {
		calibrate string
		folds     int
		leaf      int
		method    string
	}{{"platt", 3, 160, "platt"}, {"platt", 0, 160, "platt"}, {"auto", 0, 160, ""}, {"", 0, 2000, ""}} {
		cfg.Calibrate.Method = c.calibrate
		cfg.Calibrate.Folds = c.folds
		cfg.Set("leaf", c.leaf)
		m := fitted(t, src, cfg)
		own := c.method == ""
		if own { // as its machines are made
			c.method = rfm.Temperature(m.Info().Training.Report.(*rfm.Report).Logistic)
		}
		for name, tensor := range plain.Predictor().Tensors() {
			if got := m.Predictor().Tensors()[name]; c.leaf == 160 && (!slices.Equal(got.F32, tensor.F32) || !slices.Equal(got.F64, tensor.F64)) {
				t.Errorf("%+v: calibration has changed %s", c, name)
			}
		}
		loss := 0.0
		for i := range xt.Rows {
			p, err := m.Predict(xt.Row(i))
			if err != nil {
				t.Fatal(err)
			}
			loss -= math.Log(p[0].Probabilities[slices.Index(m.Classes(), want[i])]) / float64(xt.Rows)
			if by, _ := plain.Predict(xt.Row(i)); own && c.leaf == 160 && p[0].Label != by[0].Label {
				t.Errorf("%+v: the class %s, without probabilities %s", c, p[0].Label, by[0].Label)
			}
		}
		if !(loss < 0.1) { // log 2 is that of a coin
			t.Errorf("%+v: the log loss is %.3g", c, loss)
		}
		info := m.Info().Training.Calibration
		if info == nil || info.Folds != c.folds || info.Method != c.method || (info.Rows == 500) != (c.folds > 0) || info.Rows < 30 {
			t.Errorf("%+v: %+v", c, info)
		}
	}
	cfg.Calibrate.Method, cfg.ClassWeight = "", "balanced"
	if fitted(t, src, cfg).HasProbabilities() {
		t.Error("scores of weighted classes are taken for estimates of probabilities")
	}
}

func TestRelevanceOfRFM(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, y := hidden(1, 500, 8)
	for _, cfg := range rfmConfigs {
		m := fitted(t, source(t, matrix.Rows{Dense: x}, y, 1, nil), cfg)
		own := m.Predictor().(model.Recursive)
		want := make([]float64, 8) // by the definition
		whole := own.Whole()
		for l, leaf := range append(slices.Clone(own.Leaves()), whole.Leaf) {
			of := (1 - whole.Share) / float64(len(own.Leaves()))
			if l == len(own.Leaves()) {
				of = whole.Share
			}
			for _, one := range leaf {
				diagonal, sum := slices.Repeat([]float64{1}, 8), 8.0
				if one.Metric != nil {
					diagonal, sum = one.Metric.Relevance(), 0
					for _, v := range diagonal {
						sum += v
					}
				}
				for j, v := range diagonal {
					want[j] += one.Weight * of * v / sum
				}
			}
		}
		list, total := m.Relevance(), 0.0
		for i, r := range list {
			total += r.Share
			j := int(r.Column[len(r.Column)-1] - '0')
			if j < 8 && math.Abs(r.Share-want[j]) > 1e-9 && (j == 0 || math.Abs(r.Share-want[j-1]) > 1e-9) || i > 0 && r.Share > list[i-1].Share {
				t.Errorf("%+v: %v, want %v", cfg, list, want)
			}
		}
		if len(list) != 8 || math.Abs(total-1) > 1e-9 {
			t.Errorf("%+v: %v", cfg, list)
		}
	}
}

func TestRFMErrors(t *testing.T) {
	x, names := rings(1, 300, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Learner: RFM{}, Kernel: Kernel{Gamma: "1"}}, "leave out gamma"},
		{Config{Learner: RFM{}, Kernel: Kernel{Gamma: "median*2"}}, "leave out gamma"},
		{Config{Learner: RFM{}, Kernel: Kernel{Sigma: 1}}, "leave out gamma"},
		{Config{Learner: RFM{}, Metric: Metric{Form: "low-rank"}}, "falkon takes one"},
		{Config{Learner: RFM{Leaf: 99}}, "leaf 99"},
		{Config{Learner: RFM{Leaf: -1}}, "leaf -1"},
		{Config{Learner: RFM{Members: -1}}, "members -1"},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "poly"}}, "it takes rbf"},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "magic"}}, "magic"},
		{Config{Learner: RFM{}, Kernel: Kernel{Name: "laplacian"}, Metric: Metric{Form: "full"}}, "no full metric"},
		{Config{Learner: RFM{}, Map: Map{Name: "rff"}}, "leave out the map"},
		{Config{Learner: Named{Name: "rfm", Options: map[string]any{"c": 1}}}, "no option c"},
		{Config{Learner: RFM{}, Task: "outliers"}, "does not detect outliers"},
		{Config{Learner: RFM{}, Task: "multilabel"}, "cannot multilabel"},
		{Config{Learner: Named{Name: "svm", Options: map[string]any{"leaf": 200}}}, "the learner svm has no option leaf; it belongs to rfm"},
		{Config{Learner: Named{Name: "ridge", Options: map[string]any{"members": 2}}},
			"the learner ridge has no option members; it belongs to rfm"},
	} {
		if _, _, err := Fit(context.Background(), src, c.cfg, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	x.Row(7)[1] = float32(math.NaN())
	if _, _, err := Fit(context.Background(), src, Config{Learner: RFM{}}, Options{}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("a NaN: %v", err)
	}
	if got := (&Config{}).kinds(5); len(got) != len(rfm.Kinds(5)) {
		t.Errorf("kinds %v", got)
	}
	for _, name := range []string{kernel.RBF.Name(), "cauchy"} {
		for _, k := range (&Config{Kernel: Kernel{Name: name}}).kinds(5) {
			if k.Kernel.Name != name {
				t.Errorf("the kernel %s gives %+v", name, k)
			}
		}
	}
}

// Where a column has long tails quantiles are taken unless the usual scaling is much better on held-out rows, and the
// model says so.
func TestLongTailsAreScaledByQuantiles(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, _ := hidden(1, 600, 6)
	y := make([]float64, x.Rows)
	for i := range y {
		row := x.Row(i)
		y[i] = math.Sin(2*float64(row[0])) + float64(row[1])
		y[i] += 0.5 * float64(row[2])
		row[2] = float32(math.Exp(3 * float64(row[2])))
	}
	m := fitted(t, source(t, matrix.Rows{Dense: x}, y, 1, nil), Config{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 60}})
	if info := m.Info(); info.Scale != "quantile" || !strings.Contains(info.Training.Why["scale"], "long tails") {
		t.Errorf("scaling %s, %q", info.Scale, info.Training.Why["scale"])
	}
	sparse := &matrix.CSR{Rows: 2, Cols: 3, Ptr: []int{0, 1, 2}, Idx: []int32{0, 2}, Val: []float32{3, -11}}
	dense := &matrix.Dense{Rows: 2, Cols: 2, Stride: 3, Data: []float32{1, -7, 99, 2, 3, 99}}
	if a, b := farthest(matrix.Rows{CSR: sparse}), farthest(matrix.Rows{Dense: dense}); a != 11 || b != 7 {
		t.Errorf("farthest %g and %g, want 11 and 7", a, b)
	}
}

func TestBytesOfTheDefaultDependOnDataAndSeedAlone(t *testing.T) {
	testenv.Long(t, "the default of a table, with all its choices by held-out rows, has the same bytes on one and three threads and in any batches")
	x, names := rings(3, 1000, 2)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := fileOf(t, fitted(t, &batched{src, 300}, Config{}))
	runtime.GOMAXPROCS(3)
	if !bytes.Equal(fileOf(t, fitted(t, &batched{src, 7}, Config{})), want) {
		t.Error("other bytes")
	}
}
