package mercer

import (
	"context"
	"path/filepath"
	"testing"

	"mercer/train"
)

// Records in a slice, and few from a channel, are trained on, evaluated and predicted without a file.
func TestRecordsInMemoryTouchNoDisk(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	type item struct {
		Size  float64
		Kind  string
		Label string
	}
	var items []item
	queue := make(chan item, 300)
	for i := range cap(queue) {
		it := item{float64(i*37%100) / 10, []string{"a", "b"}[i%2], "small"}
		if it.Size > 5 {
			it.Label = "large"
		}
		items = append(items, it)
		queue <- it
	}
	close(queue)
	cfg, opt := Config{Config: train.Config{Map: train.Map{Features: 32}, Learner: train.Ridge{}}}, Options{Label: "Label"}
	var accuracy []float64
	for _, data := range []Data{Slice(items, opt), Channel(queue, opt)} {
		model := trained(t, data, cfg)
		m, err := Evaluate(context.Background(), model, Slice(items, opt))
		if err != nil {
			t.Fatal(err)
		}
		accuracy = append(accuracy, *m.Accuracy)
	}
	if accuracy[0] != accuracy[1] || accuracy[0] < 0.9 {
		t.Errorf("accuracies %g", accuracy)
	}
}
