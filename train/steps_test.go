package train

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// A plan is made without a look at the rows, is the same after JSON, and its configuration trains the model of the one that was asked for.
func TestPlansTrainTheSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(1, 300, 2)
	more, named := rings(2, 1100, 2)
	y := make([]float64, x.Rows)
	for i := range y {
		y[i] = float64(x.Row(i)[0]) * float64(x.Row(i)[1])
	}
	few, numbers := source(t, matrix.Rows{Dense: x}, nil, 0, names), source(t, matrix.Rows{Dense: x}, y, 1, nil)
	many := source(t, matrix.Rows{Dense: more}, nil, 0, named)
	for _, c := range []struct {
		src  dataset.Source
		cfg  Config
		says string // names of steps
	}{
		{few, Config{Quick: true}, "survey task scaling kernel map learner"},
		{few, Config{}, "survey task scaling learner calibrate"},
		{numbers, Config{Map: Map{Features: 64}, Calibrate: Calibration{Method: "none"}}, "survey task scaling kernel map learner"},
		{numbers, Config{Metric: Metric{Form: "diagonal", Rows: 200}, Map: Map{Features: 64}}, "survey task scaling metric kernel map learner"},
		{few, Config{Kernel: Kernel{Name: "poly", Degree: 2}, Map: Map{Features: 80}, Reduce: Reduction{Components: 10},
			Learner: Ridge{}}, "survey task scaling kernel map components learner"},
		{few, Config{Learner: KernelSVM{}, Scale: "none"}, "survey task kernel learner"},
		{few, Config{Kernel: Kernel{Name: "linear"}, Learner: Logistic{C: 1}}, "survey task scaling learner"},
		{few, Config{Learner: SVM{C: 1}, Map: Map{Features: 32}, Calibrate: Calibration{Method: "platt"}, Threshold: "0.3"},
			"survey task scaling kernel map learner calibrate threshold"},
		{many, Config{Seed: 3}, "survey task scaling learner calibrate"},
		{numbers, Config{Learner: RFM{}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 40}}, "survey task scaling learner"},
		{few, Config{Learner: SGD{SurveyRows: 100}, Map: Map{Features: 64}, Kernel: Kernel{Gamma: "median*2"}},
			"survey task scaling kernel map learner"},
	} {
		o, err := c.cfg.SurveyOptions()
		if err != nil {
			t.Fatal(err)
		}
		sum, err := dataset.Survey(context.Background(), c.src, o)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(sum)
		plan, err := Resolve(Survey{c.src.Name(), *c.src.Schema(), sum}, c.cfg, Options{})
		if err != nil {
			t.Fatalf("%+v: %v", c.cfg, err)
		}
		if after, _ := json.Marshal(sum); !bytes.Equal(before, after) {
			t.Errorf("%+v: planning has changed the survey", c.cfg)
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var again Plan
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(*plan, again) {
			t.Errorf("%+v: after JSON the plan is %+v, before %+v: %v", c.cfg, again, *plan, err)
		}
		var says []string
		for _, s := range plan.Steps {
			says = append(says, s.Name)
		}
		if got := strings.Join(says, " "); got != c.says {
			t.Errorf("%+v: the steps are %s, want %s", c.cfg, got, c.says)
		}
		if plan.Config.own() && c.cfg.LearnerName() == "" {
			continue // it takes its time, and the learner by its name is the next case
		}
		asked, planned := fitted(t, c.src, c.cfg), fitted(t, c.src, again.Config)
		if !sameTensors(asked, planned) {
			t.Errorf("%+v: %+v trains another model", c.cfg, again.Config)
		}
		if a, b := asked.Info(), planned.Info(); a.Training.Learner != plan.Config.LearnerName() || a.Scale != b.Scale || a.Task != plan.Config.Task ||
			!slices.Equal(a.Classes, b.Classes) || a.Outputs != plan.Outputs {
			t.Errorf("%+v: the model is %+v, as planned %+v", c.cfg, a, b)
		}
		if !c.cfg.reduces() && !plan.Exact && Size(asked) != plan.Features {
			t.Errorf("%+v: %d features, %d as planned", c.cfg, Size(asked), plan.Features)
		}
	}
}

// sameTensors says that two models predict by the same numbers.
func sameTensors(a, b *model.Model) bool {
	x, y := a.Predictor().Tensors(), b.Predictor().Tensors()
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for name, tensor := range x {
		if other := y[name]; other == nil || !slices.Equal(tensor.F32, other.F32) || !slices.Equal(tensor.F64, other.F64) {
			return false
		}
	}
	return true
}
