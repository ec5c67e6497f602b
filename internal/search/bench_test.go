package search

import (
	"context"
	"testing"

	"mercer/train"
)

// BenchmarkSearch is what sharing saves: 2 γ × 7 λ of a ridge regression and 2 γ × 5 C of an svm,
// over five folds.
func BenchmarkSearch(b *testing.B) {
	src := rings(b, 2000, 6, 3)
	for _, learner := range []string{"ridge", "svm"} {
		for _, c := range []struct {
			name  string
			alone bool
		}{{"shared", false}, {"alone", true}} {
			b.Run(learner+"/"+c.name, func(b *testing.B) {
				space := Space{Base: train.Config{Map: train.Map{Features: 512}, Learner: train.Named{Name: learner}},
					Axes: []Axis{axis(b, "gamma", "median,median*4")}}
				var r *TuneResult
				for b.Loop() {
					var err error
					if r, err = Tune(context.Background(), src, space, TuneOptions{Alone: c.alone}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(r.Work.Mapped), "rows-mapped")
				b.ReportMetric(float64(r.Work.Collected), "rows-collected")
			})
		}
	}
}
