package train

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/learn"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

func TestLassoDropsColumnsThatDoNotMatter(t *testing.T) {
	s := random.New(1, "lasso-columns")
	x, y := matrix.NewDense(500, 6), make([]float64, 500)
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			row[j] = float32(s.Normal())
		}
		y[i] = 3*float64(row[1]) - 2*float64(row[4]) + 0.1*s.Normal()
	}
	src := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	for _, learner := range []string{"lasso", "elastic-net", "group-lasso"} {
		m := fitted(t, src, Config{Learner: Named{Name: learner, Options: map[string]any{"lambda": 0.2}}, Kernel: Kernel{Name: "linear"}})
		r := model.ReportOf[*learn.LassoReport](&m.Info().Training)
		if r.Weights != 2 || r.Features != 2 || len(r.Kept) != 2 || len(r.Dropped) != 4 || !r.Converged {
			t.Errorf("%s: %+v", learner, r)
		}
		if text := strings.Join(m.Info().Training.Lines(), "\n"); !strings.Contains(text, "2 of 6 weights are not 0") ||
			!strings.Contains(text, "dropped out: dimension 0 (from 0), dimension 2") {
			t.Errorf("%s: %s", learner, text)
		}
	}
}

// A column of categories is one group; a map of its own that matters to nothing drops out.
func TestGroupsAreColumnsOrMaps(t *testing.T) {
	s := random.New(2, "lasso-groups")
	x, y := matrix.NewDense(600, 5), make([]float64, 600)
	for i := range x.Rows {
		row := x.Row(i)
		row[s.Intn(3)] = 1
		row[3], row[4] = float32(s.Normal()), float32(s.Normal())
		y[i] = float64(row[3]) + 0.1*s.Normal()
	}
	plain := source(t, matrix.Rows{Dense: x}, y, 1, nil)
	schema := *plain.Schema()
	schema.Columns = []dataset.Column{{Place: dataset.Place{Name: "colour"}, Categories: []string{"a", "b", "c"}},
		{Place: dataset.Place{Name: "size"}}, {Place: dataset.Place{Name: "noise"}}}
	src := withSchema{plain, &schema}
	m := fitted(t, src, Config{Learner: GroupLasso{Lambda: 0.3}, Kernel: Kernel{Name: "linear"}, Scale: "none"})
	r := model.ReportOf[*learn.LassoReport](&m.Info().Training)
	if !slices.Equal(r.Kept, []string{`column "size"`}) ||
		!slices.Equal(r.Dropped, []string{`column "colour"`, `column "noise"`}) || r.Features != 1 {
		t.Errorf("%+v", r)
	}
	steps := []feature.Config{
		{Map: "rff", Features: 32, Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.2}},
		{Map: "rff", Features: 16, Kernel: kernel.Kernel{Name: "rbf", Gamma: 1000}}, // as good as noise
	}
	m = fitted(t, plain, Config{Learner: GroupLasso{Lambda: 0.01}, Map: Map{Name: "sum", Steps: steps}, Scale: "none"})
	r = model.ReportOf[*learn.LassoReport](&m.Info().Training)
	if !slices.Equal(r.Kept, []string{"map 1 (rff)"}) || !slices.Equal(r.Dropped, []string{"map 2 (rff)"}) || r.Weights != 32 {
		t.Errorf("%+v", r)
	}
	for i := range x.Data {
		x.Data[i] = max(0, x.Data[i])
	}
	m = fitted(t, src, Config{Learner: GroupLasso{Lambda: 0.05}, Kernel: Kernel{Name: "chi2"}, Scale: "none"})
	r = model.ReportOf[*learn.LassoReport](&m.Info().Training)
	if !slices.Equal(r.Kept, []string{`column "size"`}) || r.Features != r.All/5 {
		t.Errorf("%+v", r)
	}
	for _, cfg := range []Config{{}, {Reduce: Reduction{Components: 3}}} {
		cfg.SetLearner("group-lasso")
		if _, _, err := Fit(context.Background(), plain, cfg, Options{}); err == nil ||
			!strings.Contains(err.Error(), "group-lasso chooses among the maps of a sum, or among the columns of the input, but ") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// withSchema is a source with another schema.
type withSchema struct {
	dataset.Source
	schema *dataset.Schema
}

func (s withSchema) Schema() *dataset.Schema { return s.schema }

func TestLassoOfClassesLearnsRings(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, names := rings(21, 800, 3)
	src := source(t, matrix.Rows{Dense: x}, nil, 0, names)
	for _, learner := range []string{"lasso", "elastic-net"} {
		m := fitted(t, src, Config{Learner: Named{Name: learner}, Map: Map{Features: 64}})
		r := model.ReportOf[*learn.LassoReport](&m.Info().Training)
		if r.HeldOut < 40 || len(r.Path) < 5 || r.Weights == 0 || r.Weights == r.All {
			t.Errorf("%s: %+v", learner, r)
		}
		scores := matrix.NewDense(800, 3)
		if err := m.Scores(scores, matrix.Rows{Dense: x}); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i := range names {
			if m.Classes()[m.Class(scores.Row(i))] != names[i] {
				wrong++
			}
		}
		// Rings of deviation 0.2 at a distance of 1 overlap by 0.6 %; the middle one has two sides.
		if wrong > 24 {
			t.Errorf("%s: %d of 800 rows are wrong", learner, wrong)
		}
	}
}

func TestLassoKeepsToItsMemory(t *testing.T) {
	x, names := rings(22, 300, 2)
	_, _, err := Fit(context.Background(), source(t, matrix.Rows{Dense: x}, nil, 0, names),
		Config{Learner: Lasso{}, Map: Map{Features: 512}}, Options{Memory: 1 << 20})
	if want := "40·D² bytes"; err == nil || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "whose memory does not grow") {
		t.Errorf("%v, want %s", err, fmt.Sprintf("%q", want))
	}
}
