package train

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

var update = flag.Bool("update", false, "write the golden model files anew")

// goldenData are made-up rows of one kind, which the golden models are trained on.
func goldenData(t testing.TB, kind string) (rows dataset.Source, bags dataset.Bags) {
	t.Helper()
	const n = 160
	s := random.New(7, "golden-"+kind)
	d := map[string]int{"wide": 24}[kind]
	if d == 0 {
		d = 5
	}
	x := matrix.NewDense(n, d)
	names, y := make([]string, n), make([]float64, n)
	for i := range n {
		row := x.Row(i)
		for j := range row {
			row[j] = float32(s.Normal())
			if kind == "histograms" {
				row[j] = float32(math.Abs(s.Normal()))
			}
			if kind == "sparse" && s.Uniform() < 0.6 {
				row[j] = 0
			}
		}
		a, b := float64(row[0]), float64(row[1])
		names[i] = string(rune('a' + int(math.Abs(2*a*b))%3))
		if kind == "two" {
			names[i] = []string{"no", "yes"}[int(math.Abs(2*a*b))%2]
		}
		y[i] = math.Sin(2*a) + b*b + 0.1*s.Normal()
	}
	var err error
	switch kind {
	case "classes", "wide", "two", "histograms":
		rows, err = dataset.FromRows(matrix.Rows{Dense: x}, nil, 1, names)
	case "sparse":
		rows, err = dataset.FromRows(matrix.Rows{CSR: sparse(x)}, nil, 1, names)
	case "numbers":
		rows, err = dataset.FromRows(matrix.Rows{Dense: x}, y, 1, nil)
	case "targets":
		both := make([]float64, 0, 2*n)
		for _, v := range y {
			both = append(both, v, -v*v)
		}
		rows, err = dataset.FromRows(matrix.Rows{Dense: x}, both, 2, nil)
	case "table", "labels":
		var text strings.Builder
		text.WriteString("size,colour,weight,label\n")
		for i := range n {
			row := x.Row(i)
			label := names[i]
			if kind == "labels" {
				label = strings.Trim(strings.Join([]string{label, []string{"", "big"}[int(math.Abs(float64(row[2])))%2]}, "|"), "|")
			}
			fmt.Fprintf(&text, "%g,%s,%g,%s\n", row[0], []string{"red", "green", "blue"}[int(math.Abs(float64(row[3])))%3], row[1], label)
		}
		path := filepath.Join(t.TempDir(), "table.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		var opt dataset.Options
		if kind == "labels" {
			opt.LabelSeparator = "|"
		}
		file, err := dataset.Open(context.Background(), path, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file, nil
	case "bags":
		ends := []int{0}
		for ends[len(ends)-1] < n {
			ends = append(ends, min(n, ends[len(ends)-1]+2+len(ends)%3))
		}
		bags, err = dataset.FromBags(matrix.Rows{Dense: x}, ends, nil, 1, names[:len(ends)-1])
	default:
		t.Fatalf("no data %q", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows, bags
}

// goldenConfigs are the configurations of the golden models, by name; data is a kind of goldenData.
var goldenConfigs = []struct {
	name, data string
	cfg        Config
}{
	{"default-classes", "classes", Config{}},
	{"default-numbers", "numbers", Config{}},
	{"default-wide", "wide", Config{Map: Map{Features: 64}}},
	{"quantile", "numbers", Config{Scale: "quantile", Map: Map{Features: 32}}},
	{"quantile-sparse", "sparse", Config{Scale: "quantile", Map: Map{Features: 32}}},
	{"robust", "classes", Config{Scale: "robust", Map: Map{Features: 32}}},
	{"metric-diagonal", "table", Config{Scale: "quantile", Kernel: Kernel{Name: "laplacian"},
		Metric: Metric{Form: "diagonal", Landmarks: 40}, Map: Map{Features: 32}}},
	{"metric-full", "numbers", Config{Kernel: Kernel{Name: "matern"}, Metric: Metric{Form: "full", Landmarks: 40},
		Map: Map{Name: "nystrom", Features: 32}}},
	{"metric-low-rank", "classes", Config{Metric: Metric{Form: "low-rank", Rank: 2, Landmarks: 40}, Learner: Falkon{},
		Map: Map{Features: 32}}},
	{"ridge-folds", "classes", Config{Learner: Ridge{LambdaBy: "folds"}, Map: Map{Features: 32}}},
	{"ridge-held-out", "two", Config{Learner: Ridge{LambdaBy: "held-out"}, Map: Map{Features: 32}}},
	{"ridge-gcv", "classes", Config{Learner: Ridge{LambdaBy: "gcv"}, Map: Map{Features: 32}}},
	{"ridge-path", "numbers", Config{Learner: Ridge{Path: true}, Map: Map{Features: 32}}},
	{"ridge-variance", "numbers", Config{Learner: Ridge{Variance: true}, Map: Map{Features: 16}}},
	{"ridge-conformal", "targets", Config{Learner: Ridge{Conformal: 0.9, Lambda: 0.5}, Map: Map{Features: 32}}},
	{"ridge-trace", "numbers", Config{Learner: Ridge{Lambda: 0.001, LambdaBy: "trace"}, Map: Map{Features: 32}}},
	{"ridge-components", "classes", Config{Learner: Ridge{}, Map: Map{Features: 64}, Reduce: Reduction{Components: 10, Whiten: true}}},
	{"lda", "classes", Config{Learner: LDA{}, Map: Map{Features: 32}}},
	{"lda-priors", "two", Config{Learner: LDA{Priors: "no=0.3,yes=0.7"}, Map: Map{Features: 32}, Shrinkage: Shrinkage{Value: 0.1}}},
	{"svm-discriminants", "classes", Config{Learner: SVM{C: 1}, Map: Map{Features: 64}, Reduce: Reduction{Method: "lda"}}},
	{"lasso", "numbers", Config{Learner: Lasso{}, Map: Map{Features: 32}}},
	{"elastic-net", "targets", Config{Learner: ElasticNet{Lambda: 0.01}, Map: Map{Features: 32}}},
	{"group-lasso-sum", "numbers", Config{Learner: GroupLasso{},
		Map: Map{Name: "sum", Steps: []feature.Config{{Map: "rff", Features: 16}, {Map: "orf", Features: 16}}}}},
	{"svm-squared-hinge", "classes", Config{Learner: SVM{}, Map: Map{Features: 32}}},
	{"svm-hinge-balanced", "classes", Config{Learner: SVM{Loss: "hinge", C: 1}, Map: Map{Features: 32}, ClassWeight: "balanced"}},
	{"svm-crammer-singer", "classes", Config{Learner: SVM{Multiclass: "crammer-singer", C: 1}, Map: Map{Features: 32}}},
	{"svm-l1", "two", Config{Learner: SVM{Penalty: "l1"}, Map: Map{Features: 32}}},
	{"svm-primal", "classes", Config{Learner: SVM{Solver: "primal", C: 1}, Map: Map{Features: 32}}},
	{"svm-components", "classes", Config{Learner: SVM{C: 1}, Map: Map{Features: 64}, Reduce: Reduction{Share: 0.9}}},
	{"svm-labels", "labels", Config{Learner: SVM{}, Map: Map{Features: 32}}},
	{"svr", "numbers", Config{Learner: SVR{}, Map: Map{Features: 32}}},
	{"svr-epsilon", "targets", Config{Learner: SVR{Loss: "epsilon", Epsilon: 0.1, C: 1}, Map: Map{Features: 32}}},
	{"svr-primal", "numbers", Config{Learner: SVR{Solver: "primal"}, Map: Map{Features: 32}}},
	{"logistic-multinomial", "classes", Config{Learner: Logistic{}, Map: Map{Features: 32}}},
	{"logistic-dual", "two", Config{Learner: Logistic{Solver: "dual"}, Map: Map{Features: 32}}},
	{"logistic-l1", "classes", Config{Learner: Logistic{Penalty: "l1", C: 1}, Map: Map{Features: 32}}},
	{"logistic-labels", "labels", Config{Learner: Logistic{}, Map: Map{Features: 32}}},
	{"one-class", "numbers", Config{Learner: OneClass{Outliers: 0.2}, Map: Map{Features: 32}}},
	{"residual", "numbers", Config{Learner: Residual{Outliers: 0.2}, Map: Map{Features: 32}}},
	{"online-sgd", "classes", Config{Learner: SGD{}, Map: Map{Features: 32}}},
	{"online-adagrad", "numbers", Config{Learner: SGD{Optimizer: "adagrad", Loss: "huber", Epochs: 2}, Map: Map{Features: 32}}},
	{"kernel-ridge", "classes", Config{Learner: KernelRidge{}}},
	{"kernel-ridge-tree", "numbers", Config{Learner: KernelRidge{Product: "tree", Lambda: 0.1}, Kernel: Kernel{Name: "laplacian"}}},
	{"falkon", "two", Config{Learner: Falkon{Lambda: 1e-4}, Map: Map{Features: 20}}},
	{"rfm", "classes", Config{Learner: RFM{}, Map: Map{Features: 20}}},
	{"rfm-leaves", "numbers", Config{Learner: RFM{Leaf: 100, Members: 1, Smooth: true}, Map: Map{Features: 12}}},
	{"rfm-full", "two", Config{Learner: RFM{Leaf: 100, Lambda: 0.1}, Map: Map{Features: 12}, Kernel: Kernel{Name: "matern"},
		Metric: Metric{Form: "full"}}},
	{"rfm-targets", "targets", Config{Learner: RFM{Smooth: true}, Map: Map{Features: 12}, Kernel: Kernel{Name: "rbf"}}},
	{"kernel-svm-ovo", "classes", Config{Learner: KernelSVM{C: 10}}},
	{"kernel-svm-lookup", "histograms", Config{Learner: KernelSVM{Multiclass: "ovr", Predict: Prediction{Lookup: 64}},
		Kernel: Kernel{Name: "intersection"}}},
	{"kernel-svm-lookup-constant", "histograms", Config{Learner: KernelSVM{Multiclass: "ovr",
		Predict: Prediction{Lookup: 64, Form: "constant"}}, Kernel: Kernel{Name: "intersection"}}},
	{"knn", "classes", Config{Learner: KNN{}}},
	{"knn-distance", "targets", Config{Learner: KNN{Neighbours: 4, Weighting: "distance"}, Kernel: Kernel{Name: "laplacian"}}},
	{"kernel-ridge-subsample", "numbers", Config{Learner: KernelRidge{Lambda: 0.1, Predict: Prediction{Subsample: 40}}}},
	{"kernel-svm-nu", "numbers", Config{Learner: KernelSVM{Nu: 0.3}}},
	{"kernel-svm-outliers", "numbers", Config{Learner: KernelSVM{}, Task: "outliers"}},
	{"platt", "classes", Config{Learner: SVM{C: 1}, Map: Map{Features: 32}, Calibrate: Calibration{Method: "platt"}}},
	{"isotonic", "two", Config{Learner: Ridge{}, Map: Map{Features: 32}, Calibrate: Calibration{Method: "isotonic", Folds: 3}}},
	{"temperature", "classes", Config{Learner: Ridge{}, Map: Map{Features: 32}, Calibrate: Calibration{Method: "temperature"}}},
	{"quota", "classes", Config{Learner: Ridge{}, Map: Map{Features: 32}, Calibrate: Calibration{Method: "quota"}}},
	{"platt-kernel-ridge", "two", Config{Learner: KernelRidge{Lambda: 0.1}, Calibrate: Calibration{Method: "platt"}}},
	{"laplacian-rff", "numbers", Config{Kernel: Kernel{Name: "laplacian"}, Map: Map{Name: "rff", Features: 32}, Learner: Ridge{}}},
	{"cauchy-qmc", "numbers", Config{Kernel: Kernel{Name: "cauchy"}, Map: Map{Name: "qmc", Features: 32}, Learner: Ridge{}}},
	{"matern-fastfood", "wide", Config{Kernel: Kernel{Name: "matern", Nu: 2.5}, Map: Map{Name: "fastfood", Features: 64}, Learner: Ridge{}}},
	{"arccos-orf", "numbers", Config{Kernel: Kernel{Name: "arccos", Degree: 1}, Map: Map{Name: "orf", Features: 32}, Learner: Ridge{}}},
	{"poly-tensorsketch", "classes", Config{Kernel: Kernel{Name: "poly", Degree: 2}, Map: Map{Features: 32}, Learner: Ridge{}}},
	{"poly-explicit", "numbers", Config{Kernel: Kernel{Name: "poly", Degree: 2, Coef0: 1}, Map: Map{Name: "explicit-poly"},
		Learner: Ridge{}}},
	{"exp-maclaurin", "classes", Config{Kernel: Kernel{Name: "exp"}, Map: Map{Features: 32}, Learner: Ridge{}}},
	{"exp-taylorsketch", "sparse", Config{Kernel: Kernel{Name: "exp"}, Map: Map{Name: "taylorsketch", Features: 32}, Learner: Ridge{}}},
	{"rbf-taylorsketch", "classes", Config{Map: Map{Name: "taylorsketch", Features: 64}, Learner: Ridge{}}},
	{"chi2-homogeneous", "histograms", Config{Kernel: Kernel{Name: "chi2"}, Learner: Ridge{}}},
	{"intersection-unary", "histograms", Config{Kernel: Kernel{Name: "intersection"},
		Map:     Map{Name: "unary", Options: feature.Options{Terms: 8}},
		Learner: SVM{C: 1}}},
	{"exp-chi2", "histograms", Config{Kernel: Kernel{Name: "exp-chi2"}, Map: Map{Features: 32}, Learner: Ridge{}}},
	{"skewed", "histograms", Config{Kernel: Kernel{Name: "skewed-chi2"}, Map: Map{Features: 32}, Learner: Ridge{}}},
	{"nystrom", "classes", Config{Map: Map{Name: "nystrom", Features: 20, Options: feature.Options{Landmarks: "kmeans"}},
		Learner: SVM{C: 1}}},
	{"kg-rp", "numbers", Config{Map: Map{Name: "kg-rp", Features: 20}, Learner: Ridge{}}},
	{"rbf-network", "numbers", Config{Map: Map{Name: "rbf-network", Features: 16}, Learner: Ridge{}}},
	{"rbf-network-widths", "numbers", Config{Map: Map{Name: "rbf-network", Features: 16, Options: feature.Options{Widths: "own"}},
		Learner: Ridge{}}},
	{"words", "classes", Config{Map: Map{Name: "words", Features: 12}, Learner: Ridge{}}},
	{"wavelets", "numbers", Config{Map: Map{Name: "wavelets", Options: feature.Options{Terms: 10}}, Learner: Ridge{}}},
	{"chain", "sparse", Config{Map: Map{Name: "chain", Steps: []feature.Config{{Map: "countsketch", Features: 4},
		{Map: "rff", Features: 32}}}, Learner: Ridge{}}},
	{"sum-map-components", "classes", Config{Map: Map{Name: "sum", Weights: []float64{1, 0.5},
		Steps: []feature.Config{{Map: "orf", Features: 24}, {Map: "rff", Features: 16}}}, Learner: Ridge{}, Reduce: Reduction{MapComponents: 6, Components: 8}}},
	{"linear-sparse", "sparse", Config{Kernel: Kernel{Name: "linear"}, Learner: SVM{C: 1}}},
	{"linear-rp", "wide", Config{Kernel: Kernel{Name: "linear"}, Map: Map{Name: "rp", Features: 10}, Learner: Ridge{}}},
	{"linear-rp-orthonormal", "wide", Config{Kernel: Kernel{Name: "linear"},
		Map:     Map{Name: "rp", Options: feature.Options{Entries: "orthonormal"}, Features: 10},
		Learner: Ridge{}}},
	{"table", "table", Config{Map: Map{Features: 32}, Scale: "minmax"}},
	{"bags-mean", "bags", Config{Bag: &pipeline.BagConfig{Features: 64}}},
	{"bags-words", "bags", Config{Bag: &pipeline.BagConfig{Map: "words", Features: 8, Norm: "none"}, Kernel: Kernel{Name: "chi2"},
		Learner: Ridge{}}},
	{"bags-tensorsketch", "bags", Config{Bag: &pipeline.BagConfig{Pooling: "tensorsketch", Features: 32}, Learner: Ridge{}}},
}

// TestGoldenModels: training many configurations gives the model files that older code wrote, bit for
// bit. The bits are those of AVX-512 and AVX2; portable code rounds differently, and its files only have to load.
func TestGoldenModels(t *testing.T) {
	for _, c := range goldenConfigs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, bags := goldenData(t, c.data)
			var m *model.Model
			var err error
			if bags != nil {
				m, _, err = FitBags(context.Background(), bags, c.cfg, Options{})
			} else {
				m, _, err = Fit(context.Background(), rows, c.cfg, Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			var now bytes.Buffer
			if err := m.Write(&now); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "golden", c.name+".mercer")
			if *update {
				if err := os.WriteFile(path, now.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			old, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := old.Write(&again); err != nil {
				t.Fatal(err)
			}
			bits, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Bytes(), bits) {
				t.Errorf("%s: loaded and written again, the file differs from byte %d on", path, differ(again.Bytes(), bits))
			}
			if vec.Level() != "generic" {
				if !bytes.Equal(now.Bytes(), bits) {
					t.Errorf("%s: training gives another file, from byte %d on", path, differ(now.Bytes(), bits))
				}
			}
		})
	}
}

// differ is the first byte in which two files differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// Models of before the map orf had coupled radii, sorf an order, and the default was by d and D, keep their maps: they load,
// are written again as they are, and give their golden rows the same scores.
func TestEarlierModelsPredictTheSame(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "earlier", "*.mercer"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, path := range paths {
		bits, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := m.Write(&again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes(), bits) {
			t.Errorf("%s: loaded and written again, the file differs from byte %d on", path, differ(again.Bytes(), bits))
		}
		_, tensors, err := safetensors.Read(bytes.NewReader(bits), int64(len(bits)))
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := m.Golden()
		scores := matrix.NewDense(rows.Rows, m.Outputs())
		if err := m.Learned(scores, matrix.Rows{Dense: rows}); err != nil {
			t.Fatal(err)
		}
		if want := tensors["golden.scores"].F32; vec.Level() == "avx512" && !slices.Equal(scores.Data, want) {
			t.Errorf("%s: the scores are %v, were %v", path, scores.Data, want)
		}
	}
}
