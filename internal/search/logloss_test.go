package search

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/train"
)

// Candidates are judged by log loss where a class is rare: of the model's own probabilities, or of such by Platt's method.
func TestRareClassesAreJudgedByLogLoss(t *testing.T) {
	rows := func(share float64, n int, seed uint64) dataset.Source {
		var text strings.Builder
		text.WriteString("a,b,y\n")
		draw := random.New(seed, "rare")
		for range n {
			at, name := 0.0, "no"
			if draw.Uniform() < share {
				at, name = 1.5, "yes"
			}
			fmt.Fprintf(&text, "%.3f,%.3f,%s\n", at+draw.Normal(), at+draw.Normal(), name)
		}
		src, err := dataset.OpenBytes(context.Background(), "rare.csv", []byte(text.String()), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	src := rows(0.05, 1200, 1)
	for _, learner := range []string{"logistic", "svm"} {
		cfg := train.Config{Learner: train.Named{Name: learner, Options: map[string]any{"c": 1}}, Kernel: train.Kernel{Name: "linear"}}
		m, _, err := train.Fit(context.Background(), src, cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		losses, err := logLosses(context.Background(), m, src)
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := meanError(losses)
		// Frequencies alone lose 0.2; two columns 1.5 apart tell more than half of it.
		if entropy := -0.05*math.Log(0.05) - 0.95*math.Log(0.95); len(losses) != 1200 || mean > 0.75*entropy || mean < 0.2*entropy {
			t.Errorf("%s: a log loss of %g over %d rows", learner, mean, len(losses))
		}
	}
}
