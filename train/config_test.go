package train

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/solve/pipeline"
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
		{Config{Map: Map{Name: "sum", Steps: []feature.Config{{Map: "magic", Features: 1}}}},
			`feature: sum: step 1: feature: "magic" is not a map`},
		{Config{Learner: Named{Name: "tree"}}, `learner "tree" is not known; known are auto, ridge, `},
		{Config{Map: Map{Name: "rff", Options: feature.Options{Form: "round"}}},
			`feature: rff: form "round" is not known; known are pair, phase`},
		{Config{Learner: Named{Options: map[string]any{"loss": "cubic"}}}, `loss "cubic" is not known; known are squared_hinge, hinge`},
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
		{Config{Learner: Named{Options: map[string]any{"lambda": -1}}}, "lambda -1 is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"lambda": math.NaN()}}}, "lambda NaN is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"c": -1}}}, "c -1 is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"c": math.Inf(1)}}}, "c +Inf is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"tolerance": -1}}}, "tolerance -1 is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"tolerance": math.NaN()}}}, "tolerance NaN is not a positive number"},
		{Config{Learner: Named{Options: map[string]any{"max_iter": -1}}}, "max_iter -1 is not a positive number"},
		{Config{Reduce: Reduction{Components: -1}}, "components -1 is not a positive number"},
		{Config{Reduce: Reduction{Share: 1.5}}, "variance_share 1.5 is not a number above 0 and up to 1"},
		{Config{Reduce: Reduction{Share: math.NaN()}}, "variance_share NaN is not a number"},
		{Config{Reduce: Reduction{MapComponents: 3}}, "map_components are those of each map of a sum"},
		{Config{Learner: SGD{}, Reduce: Reduction{Components: 3}},
			"the learner online goes on from features when it is continued and takes no principal components"},
		{Config{Reduce: Reduction{Whiten: true}}, "whiten is for principal components"},
		{Config{Learner: ElasticNet{L1Ratio: -0.5}}, "l1_ratio -0.5 is not a number above 0 and up to 1"},
		{Config{Learner: Named{Options: map[string]any{"l1_ratio": 0.5}}}, "the option l1-ratio belongs to the learner elastic-net; name it"},
		{Config{Learner: Named{Name: "lasso", Options: map[string]any{"l1_ratio": 0.5}}},
			"the learner lasso has no option l1-ratio; it belongs to elastic-net"},
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
			Learner: Named{Name: "auto"}, Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "Laplacian"}, Map: Map{Options: feature.Options{Form: "PHASE"}, Features: 33}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "laplacian",
				Gamma: "median"}, Map: Map{Options: feature.Options{Form: "phase"}, Features: 33},
			Learner: Named{Name: "auto"}, Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "poly"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "poly", Degree: 3, Gamma: "median"},
			Learner: Named{Name: "auto"}, Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "matern"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "matern", Nu: 1.5, Gamma: "median"},
			Learner: Named{Name: "auto"}, Seed: 1,
		}},
		{Config{Kernel: Kernel{Name: "linear"}}, Config{
			Task: "auto", Scale: "auto", Kernel: Kernel{Name: "linear", Gamma: "median"},
			Learner: Named{Name: "auto"}, Seed: 1,
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
		Map: Map{Options: feature.Options{Series: []float64{1, 0, 2}}, Steps: []feature.Config{{Map: "rff", Features: 2}},
			Weights: []float64{3}},
		Bag: &pipeline.BagConfig{Pooling: "mean"},
	}
	for _, l := range learners() {
		full.Learner = l.options
		for i, s := range Settings() {
			v := reflect.New(s.Type).Elem()
			switch s.Type.Kind() {
			case reflect.String:
				v.SetString(s.Name)
			case reflect.Float64:
				v.SetFloat(float64(i) + 0.1)
			case reflect.Int:
				v.SetInt(int64(i + 1))
			case reflect.Bool:
				v.SetBool(true)
			case reflect.Uint64:
				v.SetUint(math.MaxUint64)
			default:
				continue
			}
			if has, common := l.Has(s.Name); s.Name != "learner" && (has || common) {
				full.Set(s.Name, v.Interface())
				if got := full.Get(s.Name); got != v.Interface() {
					t.Errorf("%s: %s is %v, not %v", l.name, s.Name, got, v)
				}
			}
		}
		if reflect.TypeOf(full.Learner) != reflect.TypeOf(l.options) {
			t.Errorf("%s became %T", l.name, full.Learner)
		}
		text, err := json.Marshal(full)
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, full) {
			t.Errorf("%+v became %+v by way of %s: %v", full, back, text, err)
		}
	}
}

// A configuration is one flat object, in an order that files of models have had since the first.
func TestConfigIsFlatJSON(t *testing.T) {
	const text = `{"scale":"none","kernel":"poly","gamma":"2","degree":2,"form":"phase","features":8,"learner":"svr","c":1,"epsilon":0.1,` +
		`"calibrate":"none","tolerance":0.5,"seed":3}`
	want := Config{Scale: "none", Kernel: Kernel{Name: "poly", Gamma: "2", Degree: 2},
		Map:     Map{Features: 8, Options: feature.Options{Form: "phase"}},
		Learner: SVR{C: 1, Epsilon: 0.1, Tolerance: 0.5}, Calibrate: Calibration{Method: "none"}, Seed: 3}
	var got Config
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if again, err := json.Marshal(want); err != nil || string(again) != text {
		t.Errorf("%s, %v; want %s", again, err, text)
	}
	for wrong, message := range map[string]string{
		`{"gama":1}`:               `unknown field "gama"`,
		`{"features":"many"}`:      "Config.features of type int",
		`{"steps":[{"mapp":"x"}]}`: `unknown field "mapp"`,
	} {
		if err := json.Unmarshal([]byte(wrong), new(Config)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", wrong, err, message)
		}
	}
}

// An option that no learner of features has waits for its learner, and a value of another type is refused.
func TestNamedLearners(t *testing.T) {
	var c Config
	for _, step := range []struct {
		name  string
		value any
		want  Learner
	}{
		{"leaf", 200, Named{Options: map[string]any{"leaf": 200}}},
		{"learner", "ridge", Named{"ridge", map[string]any{"leaf": 200}}},
		{"learner", "rfm", RFM{Leaf: 200}},
		{"lambda", 1, RFM{Leaf: 200, Lambda: 1}},
		{"leaf", 0, RFM{Lambda: 1}},
		{"learner", "svm", Named{"svm", map[string]any{"lambda": 1.0}}},
		{"lambda", 0, SVM{}},
	} {
		if c.Set(step.name, step.value); !reflect.DeepEqual(c.Learner, step.want) {
			t.Fatalf("%s %v: %#v, want %#v", step.name, step.value, c.Learner, step.want)
		}
	}
	c.Learner = &SVM{C: 2}
	if c, err := c.withDefaults(); err != nil || c.Learner.(SVM).C != 2 {
		t.Errorf("%#v, %v", c.Learner, err)
	}
	c.Learner = Named{"svm", map[string]any{"c": "much"}}
	if err := c.Check(); err == nil || err.Error() != "c: the value much is no float64" {
		t.Error(err)
	}
	c.Learner = Named{"svm", map[string]any{"see": 1}}
	if err := c.Check(); err == nil || err.Error() != "no learner has an option see" {
		t.Error(err)
	}
}

// Each option is explained once, beside a learner that has it.
func TestOptionsAreExplained(t *testing.T) {
	explained := map[string]int{}
	for name := range predictionHelp {
		explained[name]++
	}
	for _, l := range learners() {
		for name := range l.help {
			if explained[name]++; !l.has(name) {
				t.Errorf("%s explains %s, which it does not have", l.name, name)
			}
		}
	}
	for _, s := range Settings() {
		if want := s.option && !strings.HasSuffix(s.Name, given); (explained[s.Name] == 1) != want || (s.Help != nil) != want {
			t.Errorf("%s is explained %d times", s.Name, explained[s.Name])
		}
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
