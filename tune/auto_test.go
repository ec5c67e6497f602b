package tune

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/dataset"
	"mercer/internal/random"
	"mercer/model"
)

func TestTheConfigOfAutoTrainsTheSameModel(t *testing.T) {
	src, given := made(t, 300, 3, ringRow), AutoOptions{Config: model.Config{Features: 64, Learner: "ridge"}}
	m, _, report, err := Auto(t.Context(), src, given)
	if err != nil {
		t.Fatal(err)
	}
	if report.Config.Kernel == "linear" {
		t.Errorf("rings: %s", Describe(report.Config))
	}
	again, _, err := model.Fit(t.Context(), src, report.Config, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, m := range map[string]*model.Model{"/a": m, "/b": again} {
		if err := m.Save(dir + name); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := os.ReadFile(dir + "/a")
	b, _ := os.ReadFile(dir + "/b")
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the models differ")
	}
	// Without a budget nothing depends on time.
	_, _, second, err := Auto(t.Context(), src, given)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := Describe(report.Config), Describe(second.Config); a != b {
		t.Errorf("%s, and then %s", a, b)
	}
}

func TestAutoKeepsToWhatIsGiven(t *testing.T) {
	src := made(t, 300, 3, ringRow)
	_, _, report, err := Auto(t.Context(), src, AutoOptions{Config: model.Config{Kernel: "laplacian", Scale: "minmax", Learner: "ridge", Features: 64, Seed: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range report.Heats {
		for _, r := range h.Racers {
			if c := r.Config; c.Kernel != "laplacian" || c.Scale != "minmax" || c.Learner != "ridge" || c.Features != 64 || c.Seed != 5 {
				t.Errorf("a candidate is %s of seed %d", Describe(c), c.Seed)
			}
		}
	}
	if c := report.Config; c.Kernel != "laplacian" || c.Features != 64 {
		t.Errorf("chosen: %s", Describe(c))
	}
	if _, _, _, err := Auto(t.Context(), src, AutoOptions{Config: model.Config{Kernel: "nothing"}}); err == nil {
		t.Error("an unknown kernel is no error")
	}
}

func TestAutoGivesUpATrainingThatTakesTooLong(t *testing.T) {
	var tried []int
	a := AutoOptions{Budget: time.Minute, Config: model.Config{Kernel: "rbf", Learner: "ridge", Lambda: 1, Scale: "none"}}
	a.clock = func() time.Time { return time.Time{} } // nothing takes time
	a.fit = func(ctx context.Context, src dataset.Source, cfg model.Config, opt model.Options) (*model.Model, *model.Report, error) {
		if tried = append(tried, cfg.Features); len(tried) == 1 {
			return nil, nil, fmt.Errorf("data: %w", context.DeadlineExceeded)
		}
		return model.Fit(ctx, src, cfg, opt)
	}
	_, _, report, err := Auto(t.Context(), made(t, 1100, 3, ringRow), a)
	if err != nil {
		t.Fatal(err)
	}
	if len(tried) != 2 || tried[1] != max(leastFeatures, tried[0]/4) || report.Config.Features != tried[1] {
		t.Errorf("tried %v features, chose %d", tried, report.Config.Features)
	}
	if !slices.ContainsFunc(report.Why, func(s string) bool { return strings.Contains(s, "given up") }) {
		t.Errorf("why: %q", report.Why)
	}
}

func TestAutoSizesByMemory(t *testing.T) {
	a := AutoOptions{Budget: time.Minute, Config: model.Config{Kernel: "rbf", Learner: "ridge", Lambda: 1, Scale: "none"}, Training: model.Options{Memory: 20 << 20}}
	a.clock = func() time.Time { return time.Time{} }
	_, report, auto, err := Auto(t.Context(), made(t, 4200, 3, ringRow), a)
	if err != nil {
		t.Fatal(err)
	}
	if b := auto.Cost.Plan.Bytes; b > 20<<20 || 4*b < 20<<20 || report == nil {
		t.Errorf("D = %d takes %d bytes of %d", auto.Config.Features, b, 20<<20)
	}
}

func TestAutoOnDataOfAllKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		src  dataset.Source
		task string
		want string // in the error, "" if there is none
	}{
		{"20 rows", made(t, 20, 3, linearRow), "", ""},
		{"3 rows", made(t, 3, 3, linearRow), "regress", "3 rows"},
		{"one class", made(t, 30, 3, func(r *random.Stream, x []float32) float64 { x[0] = float32(r.Normal()); return 1 }), "classify", "class"},
		{"constant targets", made(t, 100, 3, func(r *random.Stream, x []float32) float64 { x[0] = float32(r.Normal()); return 1 }), "regress", ""},
		{"constant inputs", made(t, 100, 3, func(r *random.Stream, x []float32) float64 { return r.Normal() }), "regress", "all rows are equal"},
		{"many classes", made(t, 200, 3, func(r *random.Stream, x []float32) float64 {
			x[0] = float32(r.Normal())
			return float64(r.Intn(60))
		}), "classify", ""},
		{"outliers", made(t, 30, 3, linearRow), "outliers", "one-class"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _, report, err := Auto(t.Context(), c.src, AutoOptions{Config: model.Config{Task: c.task, Kernel: "rbf", Features: 16}})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v; it is to say %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m == nil || len(report.Heats) == 0 || len(report.Why) == 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	f := draw(t, made(t, 500, 24, histogramRow), 500, "").facts()
	if !f.Positive || !f.Histograms || f.Classes != 2 || f.Least > 0.5 || f.Least+f.Most != 1 || f.Dim != 24 || f.Rows != 500 {
		t.Errorf("%+v", f)
	}
	f = draw(t, made(t, 500, 4, func(r *random.Stream, x []float32) float64 { x[1] = float32(r.Normal()); return 3 * r.Normal() }), 500, "").facts()
	// The deviation of 500 numbers has a relative standard error of 1/√1000.
	if f.Positive || f.Histograms || f.Task != "regress" || f.Deviation < 3*0.87 || f.Deviation > 3*1.13 {
		t.Errorf("%+v", f)
	}
}
