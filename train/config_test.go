package train

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/pipeline"
)

func TestConfigMessages(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Task: "guess"}, `task "guess" is not known; known are auto, classify, regress`},
		{Config{Scale: "big"}, `scale "big" is not known; known are auto, none, standard, minmax, maxabs, global, l1, l2, quantile, robust`},
		{Config{Kernel: Kernel{Name: "gauss"}}, `kernel: "gauss" is not a kernel; it is called rbf here; ` +
			`known are linear, poly, exp, arccos, rbf, laplacian, cauchy, matern`},
		{Config{Kernel: Kernel{Name: "poly", Degree: -1}}, "kernel: poly: degree is -1; it must be 1 or more"},
		{Config{Kernel: Kernel{Name: "arccos", Degree: 2}}, "kernel: arccos: degree is 2; it must be 0 or 1"},
		{Config{Kernel: Kernel{Name: "matern", Nu: -1}}, "kernel: matern: nu is -1; it must be a number from 0.001 to 100 (rbf is the limit)"},
		{Config{Map: Map{Name: "sum"}}, "feature: sum: no steps are given"},
		{Config{Map: Map{Name: "sum", Steps: []feature.Config{{Map: "magic", Features: 1}}}}, `feature: sum: step 1: feature: "magic" is not a map`},
		{Config{Learner: "tree"}, `learner "tree" is not known; known are auto, ridge, `},
		{Config{Map: Map{Name: "rff", Options: feature.Options{Form: "round"}}}, `feature: rff: form "round" is not known; known are pair, phase`},
		{Config{Loss: "cubic"}, `loss "cubic" is not known; known are squared_hinge, hinge`},
		{Config{Map: Map{Name: "magic"}}, `feature: "magic" is not a map`},
		{Config{Kernel: Kernel{Gamma: "wide"}}, `gamma "wide" is neither a positive number nor median nor scale`},
		{Config{Kernel: Kernel{Gamma: "0"}}, `gamma "0" is neither a positive number nor median nor scale`},
		{Config{Kernel: Kernel{Gamma: "NaN"}}, `gamma "NaN" is neither a positive number nor median nor scale`},
		{Config{Kernel: Kernel{Gamma: "Inf"}}, `gamma "Inf" is neither a positive number nor median nor scale`},
		{Config{Kernel: Kernel{Sigma: -1}}, "sigma -1 is not a positive number"},
		{Config{Kernel: Kernel{Sigma: math.Inf(1)}}, "sigma +Inf is not a positive number"},
		{Config{Kernel: Kernel{Gamma: "2", Sigma: 1}}, "gamma and sigma are two names for one thing; give one of them"},
		{Config{Kernel: Kernel{Gamma: "scale", Sigma: 1}}, "gamma and sigma are two names for one thing; give one of them"},
		{Config{Map: Map{Features: -2}}, "features -2 is not a positive number"},
		{Config{Map: Map{Features: -3}}, "features -3 is not a positive number"},
		{Config{Map: Map{Name: "orf", Features: 33}}, "feature: orf: features is 33, but a cos and a sin make two: use 34, or form phase"},
		{Config{Kernel: Kernel{Name: "linear"}, Map: Map{Features: 8}},
			"the linear kernel needs no map; leave out features, or name a map such as rp, or choose another kernel"},
		{Config{Kernel: Kernel{Name: "linear"}, Map: Map{Name: "rff"}}, "feature: rff does not approximate the linear kernel"},
		{Config{Kernel: Kernel{Name: "laplacian"}, Map: Map{Name: "orf"}}, "feature: orf does not approximate the laplacian kernel"},
		{Config{Lambda: -1}, "lambda -1 is not a positive number"},
		{Config{Lambda: math.NaN()}, "lambda NaN is not a positive number"},
		{Config{C: -1}, "c -1 is not a positive number"},
		{Config{C: math.Inf(1)}, "c +Inf is not a positive number"},
		{Config{Tolerance: -1}, "tolerance -1 is not a positive number"},
		{Config{Tolerance: math.NaN()}, "tolerance NaN is not a positive number"},
		{Config{MaxIter: -1}, "max_iter -1 is not a positive number"},
		{Config{Reduce: Reduction{Components: -1}}, "components -1 is not a positive number"},
		{Config{Reduce: Reduction{Share: 1.5}}, "variance_share 1.5 is not a number above 0 and up to 1"},
		{Config{Reduce: Reduction{Share: math.NaN()}}, "variance_share NaN is not a number"},
		{Config{Reduce: Reduction{MapComponents: 3}}, "map_components are those of each map of a sum"},
		{Config{Learner: "online", Reduce: Reduction{Components: 3}},
			"the learner online goes on from features when it is continued and takes no principal components"},
		{Config{Reduce: Reduction{Whiten: true}}, "whiten is for principal components"},
		{Config{L1Ratio: -0.5}, "l1_ratio -0.5 is not a number above 0 and up to 1"},
		{Config{L1Ratio: 0.5}, "the option l1-ratio belongs to the learner elastic-net; name it"},
		{Config{Learner: "lasso", L1Ratio: 0.5}, "the learner lasso has no option l1-ratio; it belongs to elastic-net"},
	} {
		if err := c.cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	for _, c := range []struct{ given, want Config }{
		{Config{}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "rbf", Gamma: "median"},
			Learner: "auto", TargetMeans: "auto", Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "Laplacian"}, Map: Map{Options: feature.Options{Form: "PHASE"}, Features: 33}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "laplacian", Gamma: "median"}, Map: Map{Options: feature.Options{Form: "phase"}, Features: 33},
			Learner: "auto", TargetMeans: "auto", Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "poly"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "poly", Degree: 3, Gamma: "median"},
			Learner: "auto", TargetMeans: "auto", Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "matern"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "matern", Nu: 1.5, Gamma: "median"},
			Learner: "auto", TargetMeans: "auto", Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "linear"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "linear", Gamma: "median"},
			Learner: "auto", TargetMeans: "auto", Seed: 1,
		}},
	} {
		if got, err := c.given.withDefaults(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, %v; want %+v", c.given, got, err, c.want)
		}
	}
}

func TestConfigSurvivesJSON(t *testing.T) {
	if text, err := json.Marshal(Config{}); err != nil || string(text) != "{}" {
		t.Errorf("the zero Config as JSON: %s, %v", text, err)
	}
	full := Config{
		Map: Map{Options: feature.Options{Form: "phase", Sparsity: 3, Pool: 4, T: 2, Complex: true, Series: []float64{1, 0, 2}}, Steps: []feature.Config{{Map: "rff", Features: 2}}, Weights: []float64{3}},
	}
	for v, i := reflect.ValueOf(&full).Elem(), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.1)
		case reflect.Int:
			f.SetInt(int64(i))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Uint64:
			f.SetUint(math.MaxUint64)
		case reflect.Struct, reflect.Slice:
		case reflect.Pointer: // landmarks are no part of the JSON; a model file has them in its map
		default:
			t.Fatalf("field %s is not set by this test", v.Type().Field(i).Name)
		}
	}
	full.Map.GivenFile = "" // as the landmarks themselves
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("%+v became %+v by way of %s: %v", full, back, text, err)
	}
}

func TestDefaultFeatures(t *testing.T) {
	for _, c := range []struct{ rows, want int }{
		{2, 256}, {1024, 256}, {1028, 512}, {16_000, 4096}, {math.MaxInt32, 4096},
	} {
		if got := pipeline.DefaultFeatures(c.rows); got != c.want {
			t.Errorf("%d rows: %d features, want %d", c.rows, got, c.want)
		}
	}
}
