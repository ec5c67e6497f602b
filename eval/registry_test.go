package eval

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestMetricsOfTheRegistryAreThoseOfTheJSON sets each number of Metrics alone: a metric of the
// same name has its value, and no other has one.
func TestMetricsOfTheRegistryAreThoseOfTheJSON(t *testing.T) {
	fields := reflect.TypeFor[Metrics]()
	met := map[string]bool{}
	beside := map[string]bool{"weight": true, "auc_within": true, "average_precision_within": true,
		"median_ae_within": true, "bias": true, "quantile": true}
	for i := range fields.NumField() {
		if fields.Field(i).Type != reflect.TypeFor[*float64]() {
			continue
		}
		m := new(Metrics)
		v := 0.25
		reflect.ValueOf(m).Elem().Field(i).Set(reflect.ValueOf(&v))
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		for name := range keys {
			if _, err := MetricNamed(name); err != nil && name != "n" && !beside[name] {
				t.Errorf("%s is in the JSON, and by no metric", name)
			}
		}
		for _, name := range MetricNames("") {
			metric, err := MetricNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			got := metric.Value(m)
			if _, named := keys[name]; named != (got != nil) || named && *got != v {
				t.Errorf("metric %s of %s: %v", name, text, got)
			}
			met[name] = met[name] || got != nil
		}
	}
	for _, name := range MetricNames("") {
		if !met[name] {
			t.Errorf("metric %s is no number of Metrics", name)
		}
	}
}

func TestEveryTaskHasAMetricOfItsOwn(t *testing.T) {
	for task, want := range map[string]string{"classify": "accuracy", "outliers": "accuracy", "regress": "rmse", "multilabel": "micro_f1"} {
		m, err := MetricOf("", task)
		if err != nil || m.Name != want || !m.Suits(task) {
			t.Errorf("%s: %v, %v; want %s", task, m, err, want)
		}
	}
	rmse, err := MetricOf("rmse", "regress")
	if err != nil || !rmse.Better(1, 2) || rmse.Better(2, 1) {
		t.Errorf("a smaller RMSE is better: %v", err)
	}
	if auc, err := MetricOf("auc", "classify"); err != nil || !auc.Better(2, 1) {
		t.Errorf("a larger AUC is better: %v", err)
	}
	if _, err := MetricOf("rmse", "classify"); err == nil {
		t.Error("RMSE of classes")
	}
	if _, err := MetricOf("rsme", "regress"); err == nil {
		t.Error("a metric that is not known")
	}
}
