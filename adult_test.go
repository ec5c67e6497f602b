package mercer

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/train"
)

// adult is a part of the original table of a9a, as comma-separated values with a header. The file of test rows has
// a remark in its first line and a dot behind each label.
func adult(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(testenv.Data(t, "adult_uci/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("age,workclass,fnlwgt,education,years,marital,occupation,relationship,race,sex,gain,loss,hours,country,income\n")
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), "."); strings.Contains(line, ",") {
			b.WriteString(strings.ReplaceAll(line, ", ", ",") + "\n")
		}
	}
	return b.String()
}

// TestCalibratedModelsOfAdultDoNotContradictThemselves: the label of each of the 16,281 test rows is that of the
// larger probability, from a batch and from a single row, and the accuracy is that of these labels. The scores alone
// would say something else of some.
func TestCalibratedModelsOfAdultDoNotContradictThemselves(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	test := adult(t, "adult.test.gz")
	cfg := Config{
		Config: train.Config{Learner: train.SVM{C: 1}, Map: train.Map{Features: 256}, Calibrate: train.Calibration{Method: "platt"}},
		Test:   file(test, Options{Missing: "mean"}),
	}
	r, err := Train(context.Background(), file(adult(t, "adult.data.gz"), Options{Missing: "mean"}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Predict(context.Background(), r.Model, file(test, Options{Missing: "mean"}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPredictor(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	columns := len(p.Columns())
	byScores, right := 0, 0
	lines := strings.Split(strings.TrimSpace(test), "\n")[1:]
	for i, line := range lines {
		cells := strings.Split(line, ",")
		likeliest := 0
		if all[i].Probabilities[1] > all[i].Probabilities[0] {
			likeliest = 1
		}
		if want := r.Model.Classes()[likeliest]; all[i].Label != want {
			t.Fatalf("row %d: %q of the probabilities %v", i, all[i].Label, all[i].Probabilities)
		}
		values := make([]any, columns)
		for j := range values {
			values[j] = cells[j]
		}
		got, err := p.Values(values...)
		if err != nil {
			t.Fatal(err)
		}
		if got.Label != all[i].Label || !slices.Equal(got.Probabilities, all[i].Probabilities) {
			t.Fatalf("row %d: alone %+v, in a batch %+v", i, *got, all[i])
		}
		if (all[i].Scores[0] > 0) != (likeliest == 1) {
			byScores++
		}
		if all[i].Label == cells[len(cells)-1] {
			right++
		}
	}
	if len(lines) != 16281 || byScores == 0 {
		t.Errorf("%d rows, of which the scores contradict the probabilities in %d: the test shows nothing", len(lines), byScores)
	}
	if got, want := *r.Test.Accuracy, float64(right)/float64(len(lines)); got != want {
		t.Errorf("accuracy %g, and %g of the labels are right", got, want)
	}
	t.Logf("%d of %d rows have another class by their scores; accuracy %g", byScores, len(lines), *r.Test.Accuracy)
}
