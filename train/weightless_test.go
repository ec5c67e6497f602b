package train

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mercer/dataset"
)

// No learner trains where the weights leave nothing to learn from, at once or by adding rows.
func TestNothingToLearnFromIsAnError(t *testing.T) {
	ctx := context.Background()
	table := func(weight func(class int) int, numbers bool) dataset.Source {
		var text strings.Builder
		for i := range 60 {
			y := fmt.Sprintf("c%d", i%2)
			if numbers {
				y = fmt.Sprintf("%g", float64(i)/7)
			}
			fmt.Fprintf(&text, "%d,%d,%s,%d\n", i%7, i%5+i%2, y, weight(i%2))
		}
		src, err := dataset.OpenBytes(ctx, "f", []byte(text.String()), dataset.Options{Label: "2", Weight: "3"})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	none, one := func(int) int { return 0 }, func(class int) int { return class }
	all := func(int) int { return 1 }
	for _, learner := range Learners() {
		numbers := learner == "svr"
		if _, _, err := Fit(ctx, table(none, numbers), Config{Learner: Named{Name: learner}}, Options{}); err == nil ||
			!strings.Contains(err.Error(), "there is nothing to learn from") && !strings.Contains(err.Error(), "cannot do") {
			t.Errorf("%s, weights of 0: %v", learner, err)
		}
		if _, _, err := Fit(ctx, table(one, false), Config{Learner: Named{Name: learner}},
			Options{}); !numbers && learner != "one-class" && learner != "residual" && learner != "kmeans" && (err == nil ||
			!strings.Contains(err.Error(), `only rows of the class "c1"`) && !strings.Contains(err.Error(), "cannot do")) {
			t.Errorf("%s, one class: %v", learner, err)
		}
	}
	if _, _, err := Fit(ctx, table(all, false), Config{Learner: SVM{}, Map: Map{Features: 16}, ClassWeight: "c0=0"}, Options{}); err == nil {
		t.Error("a class weight of 0 left one class, and svm trained")
	}
	if _, _, err := Fit(ctx, table(none, false), Config{Learner: SGD{SurveyRows: 20}, Map: Map{Features: 16}}, Options{}); err == nil {
		t.Error("online with a survey of the first rows trained")
	}
	if _, _, err := Fit(ctx, table(one, false), Config{Learner: SGD{SurveyRows: 20}, Map: Map{Features: 16}}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "rows of one class alone") {
		t.Errorf("online with a survey of the first rows trained on one class: %v", err)
	}

	m, _, err := Fit(ctx, table(all, false), Config{Learner: SGD{}, Map: Map{Features: 16}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := Continue(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.PartialFitSource(ctx, table(none, false), nil); err == nil {
		t.Error("an online model learned rows without weight")
	}
	var kept *Statistics
	keep := Options{Keep: func(s *Statistics) error { kept = s; return nil }}
	if _, _, err := Fit(ctx, table(all, false), Config{Learner: Ridge{}, Map: Map{Features: 16}}, keep); err != nil {
		t.Fatal(err)
	}
	if _, _, err := FitStatistics(ctx, table(none, false), kept, Config{}, Options{}); err == nil {
		t.Error("statistics took rows without weight")
	}
}
