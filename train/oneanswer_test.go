package train

import (
	"context"
	"fmt"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// A model that predicts one class for all held-out rows says so; one that finds the rare class, and one with a threshold, do not.
func TestModelThatPredictsOneClassSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range []struct {
		name string
		away float64 // how far the rare class is from the other
		cfg  Config
		says bool
	}{
		{"noise, rfm", 0, Config{Learner: RFM{Leaf: 600}, Map: Map{Features: 60}, Kernel: Kernel{Name: "rbf"},
			Metric: Metric{Form: "diagonal"}, Scale: "standard"}, true},
		{"apart, rfm", 6, Config{Learner: RFM{Leaf: 600}, Map: Map{Features: 60}, Kernel: Kernel{Name: "rbf"},
			Metric: Metric{Form: "diagonal"}, Scale: "standard"}, false},
		{"noise, svm", 0, Config{Learner: SVM{}, Kernel: Kernel{Name: "linear"}}, true},
		{"noise, svm of the primal", 0, Config{Learner: SVM{Solver: "primal"}, Kernel: Kernel{Name: "linear"}}, true},
		{"noise, logistic", 0, Config{Learner: Logistic{}, Kernel: Kernel{Name: "linear"}}, true},
		{"apart, svm", 6, Config{Learner: SVM{}, Kernel: Kernel{Name: "linear"}}, false},
		{"noise, a threshold", 0, Config{Learner: SVM{}, Kernel: Kernel{Name: "linear"}, Threshold: "max-f1"}, false},
	} {
		draw := random.New(1, "one class")
		x, names := matrix.NewDense(600, 2), make([]string, 600)
		for i := range names {
			rare := draw.Uniform() < 0.04
			for j := range 2 {
				x.Row(i)[j] = float32(draw.Normal())
				if rare {
					x.Row(i)[j] += float32(c.away)
				}
			}
			names[i] = fmt.Sprint("rare ", rare)
		}
		m, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 1, names), c.cfg, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if why := m.Info().Training.Why["one class"]; (why != "") != c.says {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}
