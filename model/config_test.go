package model

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestConfigMessages(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Task: "guess"}, `task "guess" is not known; known are auto, classify, regress`},
		{Config{Scale: "big"}, `scale "big" is not known; known are auto, none, standard, minmax, maxabs, global, l1, l2`},
		{Config{Kernel: "poly"}, `kernel "poly" is not known; known are rbf, laplacian, linear`},
		{Config{Learner: "tree"}, `learner "tree" is not known; known are auto, ridge, svm`},
		{Config{Form: "round"}, `form "round" is not known; known are pair, phase`},
		{Config{Loss: "cubic"}, `loss "cubic" is not known; known are squared_hinge, hinge`},
		{Config{Map: "magic"}, `map "magic" is not known; known are orf, rff`},
		{Config{Gamma: "wide"}, `gamma "wide" is neither a positive number nor median nor scale`},
		{Config{Gamma: "0"}, `gamma "0" is neither a positive number nor median nor scale`},
		{Config{Gamma: "NaN"}, `gamma "NaN" is neither a positive number nor median nor scale`},
		{Config{Gamma: "Inf"}, `gamma "Inf" is neither a positive number nor median nor scale`},
		{Config{Sigma: -1}, "sigma -1 is not a positive number"},
		{Config{Sigma: math.Inf(1)}, "sigma +Inf is not a positive number"},
		{Config{Gamma: "2", Sigma: 1}, "gamma and sigma are two names for one thing; give one of them"},
		{Config{Gamma: "scale", Sigma: 1}, "gamma and sigma are two names for one thing; give one of them"},
		{Config{Features: -2}, "features -2 is not a positive number"},
		{Config{Features: -3}, "features -3 is not a positive number"},
		{Config{Features: 33}, "features 33 is odd, but a cos and a sin make two; use 34, or form phase"},
		{Config{Kernel: "linear", Features: 8}, "the linear kernel needs no map; leave out map and features, or choose another kernel"},
		{Config{Kernel: "linear", Map: "rff"}, "the linear kernel needs no map; leave out map and features, or choose another kernel"},
		{Config{Kernel: "laplacian", Map: "orf"}, "map orf is for the rbf kernel; use map rff for laplacian"},
		{Config{Lambda: -1}, "lambda -1 is not a positive number"},
		{Config{Lambda: math.NaN()}, "lambda NaN is not a positive number"},
		{Config{C: -1}, "c -1 is not a positive number"},
		{Config{C: math.Inf(1)}, "c +Inf is not a positive number"},
		{Config{Tolerance: -1}, "tolerance -1 is not a positive number"},
		{Config{Tolerance: math.NaN()}, "tolerance NaN is not a positive number"},
		{Config{MaxIter: -1}, "max_iter -1 is not a positive number"},
	} {
		if err := c.cfg.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	for _, c := range []struct{ given, want Config }{
		{Config{}, Config{
			Task: "auto", Scale: "auto", Kernel: "rbf", Gamma: "median", Map: "orf", Form: "pair",
			Learner: "auto", Loss: "squared_hinge", Seed: 1,
		}},
		{Config{Kernel: "Laplacian", Form: "PHASE", Features: 33}, Config{
			Task: "auto", Scale: "auto", Kernel: "laplacian", Gamma: "median", Map: "rff", Form: "phase", Features: 33,
			Learner: "auto", Loss: "squared_hinge", Seed: 1,
		}},
		{Config{Kernel: "linear"}, Config{
			Task: "auto", Scale: "auto", Kernel: "linear", Gamma: "median", Form: "pair",
			Learner: "auto", Loss: "squared_hinge", Seed: 1,
		}},
	} {
		if got, err := c.given.withDefaults(); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v; want %+v", c.given, got, err, c.want)
		}
	}
}

func TestConfigSurvivesJSON(t *testing.T) {
	if text, err := json.Marshal(Config{}); err != nil || string(text) != "{}" {
		t.Errorf("the zero Config as JSON: %s, %v", text, err)
	}
	var full Config
	for v, i := reflect.ValueOf(&full).Elem(), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.1)
		case reflect.Int:
			f.SetInt(int64(i))
		case reflect.Uint64:
			f.SetUint(math.MaxUint64)
		default:
			t.Fatalf("field %s is not set by this test", v.Type().Field(i).Name)
		}
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(text, &back); err != nil || back != full {
		t.Errorf("%+v became %+v by way of %s: %v", full, back, text, err)
	}
}

func TestDefaultFeatures(t *testing.T) {
	for _, c := range []struct{ rows, want int }{
		{2, 256}, {1024, 256}, {1028, 512}, {16_000, 4096}, {math.MaxInt32, 4096},
	} {
		if got := defaultFeatures(c.rows); got != c.want {
			t.Errorf("%d rows: %d features, want %d", c.rows, got, c.want)
		}
	}
}
